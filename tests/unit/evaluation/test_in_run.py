"""A policy at work within a run: what it is shown, where it moves the threads, what is charged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from made_up_machine import machine

from autofinity.evaluation.in_run import InRun, Sampling, run_in
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.counters import CounterSample
from autofinity.model.placement import Placement
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import Ratio
from autofinity.model.topology import Topology
from autofinity.ports import Action, BindThreads, Interval, Outcome, RunRequest, Sensors

MS = 1_000_000
COUNTERS = ("instructions",)
BESIDE = Hint.parse("sLP")


MACHINE = machine(packages=2, llcs=2, cores=2)


@dataclass
class Fake:
    """A machine and its process: speed by the number of sockets in use."""

    work: float
    """Seconds on two sockets."""
    one_socket: float
    """Speed there, over that on two."""
    done: float = 0.0
    now: int = 0
    sockets: int = 2
    bound: list[tuple[int, ...]] = field(default_factory=list)

    topology: Topology = MACHINE

    def events(self) -> Mapping[str, str]:
        return dict.fromkeys(COUNTERS, "")

    def start(
        self, request: RunRequest, placement: Placement, sensors: Sensors, seed: int = 0
    ) -> Fake:
        assert sensors.counters == COUNTERS
        self._bind(placement)
        return self

    def advance(self, duration_ns: int) -> Interval:
        speed = 1.0 if self.sockets == 2 else self.one_socket
        took = min(duration_ns, round((self.work - self.done) / speed * 1e9))
        start, self.now = self.now, self.now + took
        self.done += speed * took / 1e9
        counts = {"instructions": round(speed * took)}
        samples = tuple(
            CounterSample(tid, start, self.now, counts, took, took)
            for tid in range(len(self.bound[0]))
        )
        return Interval(start, self.now, samples, ended=self.done >= self.work - 1e-12)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        for action in actions:
            assert isinstance(action, BindThreads)
            self._bind(action.placement)
        return Outcome(len(actions), 0)

    def _bind(self, placement: Placement) -> None:
        cpus = tuple(int(min(mask)) for mask in placement.masks)
        self.bound.append(cpus)
        self.sockets = len({cpu // 4 for cpu in cpus})


def policy(second: bool = True) -> RulePolicy:
    """Packs whatever it sees; at the second look only what got faster."""
    gain = Ratio("speed_gain", ("instructions",), ("start.instructions",))
    slower = Rule((Condition("speed_gain", float("-inf"), 1.0),), SPREAD)
    again = RulePolicy(looked_at(COUNTERS), {}, (slower,), PACKED, ratios=(gain,))
    look = SecondLook(BESIDE, (PACKED,), again) if second else None
    return RulePolicy(COUNTERS, {}, (), PACKED, second=look)


def run(machine: Fake, chosen: RulePolicy) -> InRun:
    return run_in(machine, RunRequest("p", threads=2), chosen, Sampling(MS, 1, 2))


def test_the_time_of_samples_and_of_the_wrong_affinity_is_charged() -> None:
    fast = run(Fake(0.1, 2.0), policy())
    assert fast.hints == (SPREAD, BESIDE, PACKED)
    assert fast.decided_at_s == pytest.approx(0.006)
    assert fast.roi_s == pytest.approx(0.003 + 0.097 / 2)
    slow = run(Fake(0.1, 0.5), policy())
    assert slow.hints == (SPREAD, BESIDE, SPREAD)
    assert slow.roi_s == pytest.approx(0.1 + 0.003 / 2)


def test_without_a_second_look_the_first_answer_stands() -> None:
    machine = Fake(0.1, 0.5)
    result = run(machine, policy(second=False))
    assert result.hints == (SPREAD, PACKED)
    assert result.roi_s == pytest.approx(0.003 + 0.097 * 2)
    assert len(machine.bound) == 2


@pytest.mark.parametrize(("work", "hints"), [(0.002, 1), (0.004, 2)])
def test_a_program_that_ends_before_it_is_decided_keeps_what_it_has(
    work: float, hints: int
) -> None:
    result = run(Fake(work, 1.0), policy())
    assert result.roi_s == pytest.approx(work)
    assert len(result.hints) == hints
    assert result.decided_at_s != result.decided_at_s
