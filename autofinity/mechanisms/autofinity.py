"""AutoFinity within the run: Moore & Childers, Automatic Generation of Program Affinity Policies
Using Machine Learning, CC 2013, figure 3.

Decided by the same decider as in `autofinity run` (`runtime.decider`). Threads begin in the spread
affinity, as where such a number of them ran before, are sampled, and placed; the policy may look
twice, and the guard may take the placement back. Without a core for each thread they begin with the
operating system.

Deviations: samples take a fifth of a second to 2 s, the paper's 10 s. A run that stands for a
longer one and cannot be repeated (programs side by side) is shown to the decider as if it had been
that much longer: times and counts alike, so that counts per second are those measured. How long it
waits for caches to fill after a move is not scaled.
"""

from __future__ import annotations

from collections.abc import Callable

from autofinity.affinity.hints import get_affinity
from autofinity.mechanisms.recipe import NS_PER_S, UNMANAGED, Setting, Start
from autofinity.mechanisms.stretched import stretched
from autofinity.model.affinity import SPREAD
from autofinity.model.errors import UsageError
from autofinity.model.memory import MemoryByNode
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.selector import decide
from autofinity.ports import Interval, Sensors
from autofinity.profiling.placements import bound
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.live_state import LiveState, Settings, Turn
from autofinity.runtime.looking import SAMPLING_LOSS, refill_ns
from autofinity.runtime.masks import Binding


class InRun:
    """`autofinity`."""

    name = "autofinity"

    def __init__(
        self,
        setting: Setting,
        bind: Binding = "core",
        sampling_loss: float = SAMPLING_LOSS,
    ) -> None:
        """Who binds nothing needs no policy: it only looks."""
        policy = policy_of(setting) if bind != "none" else setting.policy
        seated = bind != "none" and _has_seats(setting)
        self.start = Start(bound(_spread(setting))) if seated else UNMANAGED
        self._stretch = NS_PER_S / setting.paper_second_ns
        self._clock_hz = setting.clock_hz
        self._live = LivePolicy(
            setting.topology,
            policy,
            decide,
            available=lambda: setting.topology.allowed,
            known=lambda threads: None,
            settings=Settings(
                threads=setting.placed,
                seated=seated,
                bind=bind,
                settle_ns=self._settle_ns(setting),
                sampling_loss=sampling_loss,
            ),
        )
        self.sensors = Sensors(tuple(dict.fromkeys((*self._live.sensors.counters, "cycles"))))

    def _settle_ns(self, setting: Setting) -> int:
        """Caches fill at their own pace, whatever a run stands for: so that they are warm before
        anything counts, the decider waits for longer than on a running program.
        """
        refills_ns = 2 * refill_ns(setting.topology, setting.placed)
        return max(Settings().settle_ns, round(refills_ns * self._stretch))

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> LiveState:
        """No thread has been seen."""
        return self._live.begin(topology, available, threads)

    def period_ns(self, state: LiveState) -> int:
        """The decider's, scaled."""
        return max(1000, round(self._live.period_ns(state) / self._stretch))

    def sees_memory(self, memory: Callable[[], MemoryByNode | None]) -> None:
        """As the decider."""
        self._live.sees_memory(memory)

    def decided(self, state: LiveState) -> LiveState:
        """The state itself: pages follow the threads that it places."""
        return state

    def step(self, state: LiveState, interval: Interval) -> Turn:
        """The decider's, shown a longer run."""
        return self._live.step(state, stretched(interval, self._stretch, self._clock_hz))


def _has_seats(setting: Setting) -> bool:
    """Whether each thread has a seat from its creation on."""
    return setting.threads <= min(setting.placed, len(setting.topology.allowed))


def _spread(setting: Setting) -> tuple[OsIndex, ...]:
    return get_affinity(setting.topology, setting.threads, SPREAD).cpus


def policy_of(setting: Setting) -> RulePolicy:
    """The policy to ask. Raises `UsageError` where there is none."""
    if setting.policy is None:
        raise UsageError("autofinity needs a policy; name one with --policy")
    return setting.policy
