"""A program on a simulated machine for a minute: under the operating system, with each hint from
the start, and with decisions within the run, all costs included.

The best hint of the first seed, packed, spread and the policy's answer run with every seed,
since page colours alone move a run by up to a twentieth; times are compared by their medians. Other
hints run with the first seed. Inputs at real size are sampled: they are replayed in windows
(`sim/repeated_windows.py`), one seed and without the operating system's scheduler, which moves
threads within a window. Results are kept in a folder, and used again while the code that they
depend on is the same.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from autofinity._core.trace import is_sampled
from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.across import PolicyFor
from autofinity.evaluation.cases import INTERESTING, WITHIN
from autofinity.evaluation.lasting import MINUTE_S, Lasting, LastingProcess, region_of
from autofinity.evaluation.within_minute import within_minute
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.own_code import digest_of_code
from autofinity.policy.answers import last_answer
from autofinity.policy.on_machine import on_machine
from autofinity.ports import Sensors
from autofinity.profiling.campaign import ReadyProgram
from autofinity.profiling.placements import bound
from autofinity.profiling.sampling import behaviour_of
from autofinity.reporter import SILENT
from autofinity.sim.machine import SimMachine
from autofinity.sim.sampled import Precision
from autofinity.sim.sampled_process import SampledProcess
from autofinity.sim.speeds import facts_of_machine
from autofinity.workflow.backends import simulated
from autofinity.workflow.policies import policy_for

THREADS = 8
_MOST = 100
"""Repeats of a run in one place: more than are replayed."""
_ERROR = 0.02
"""Relative standard error of the time of a region that is replayed in windows. Windows are the same
in all places, and with them most of the error."""
_REPLAYS = (
    *("model", "profiling", "sim", "ports.py"),
    *("evaluation/lasting.py", "evaluation/lasting_samples.py", "evaluation/repeat_record.py"),
)
"""Code that decides the times and samples of a region in one place, beside the native code."""
_DECIDES = (
    *("affinity", "mapping", "mechanisms", "policy", "runtime", *_REPLAYS),
    *("evaluation/decider_notes.py", "evaluation/machine_around.py", "evaluation/real_minute.py"),
    *("evaluation/within_minute.py", "evaluation/mechanism_run.py"),
)
"""Code that decides a run within which threads are placed."""


@dataclass(frozen=True)
class Asked:
    """The programs to run, and their length."""

    programs: tuple[str, ...]
    sizes: tuple[str, ...]
    seeds: int
    minute_of: str
    losses: tuple[float, ...]
    work: Path


@dataclass(frozen=True)
class Within:
    """A run whose affinity was decided while it ran."""

    time_s: float
    hint: str
    looking: float
    """Share of a minute that looks take."""
    decided_s: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """Seconds of a minute's work of one program on one machine, simulated."""

    program: str
    os_s: tuple[float, ...]
    """One for each seed; none for a sampled program."""
    hints_s: Mapping[str, tuple[float, ...]]
    """One for each seed; hints that ran with fewer seeds than others are not compared."""
    restart: str
    within: Mapping[float, tuple[Within, ...]]
    """Results by the assumed loss of sampling: one for each seed."""

    @property
    def best(self) -> str:
        """Hint with the least time."""
        most = max(map(len, self.hints_s.values()))
        compared = [hint for hint, times in self.hints_s.items() if len(times) == most]
        return min(compared, key=self.hint_s)

    @property
    def best_s(self) -> float:
        return self.hint_s(self.best)

    def hint_s(self, hint: str) -> float:
        return statistics.median(self.hints_s[hint])

    @property
    def interesting(self) -> bool:
        a, b = self.hint_s(str(PACKED)), self.hint_s(str(SPREAD))
        return abs(a - b) / min(a, b) >= INTERESTING

    def won(self, time_s: float) -> bool:
        better = min(self.hint_s(str(PACKED)), self.hint_s(str(SPREAD)))
        return time_s <= better * (1 + WITHIN)

    def within_s(self, loss: float) -> float:
        return statistics.median(run.time_s for run in self.within[loss])

    @property
    def system_s(self) -> float:
        return statistics.median(self.os_s) if self.os_s else math.nan


class Kept:
    """Finished runs, one in each line."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._known: dict[str, object] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    name, value = json.loads(line)
                except ValueError:
                    continue  # cut short
                self._known[name] = value

    def __call__[T](self, name: str, make: Callable[[], T]) -> T:
        if name not in self._known:
            self._known[name] = make()
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, self._known[name]]) + "\n")
        return self._known[name]  # type: ignore[return-value]


class OnMachine:
    """A machine, and the runs on it. `policies` gives the policy for a machine and a program."""

    def __init__(self, name: str, asked: Asked, policies: PolicyFor) -> None:
        self.asked = asked
        self.name = name
        self.machine: SimMachine = simulated(name, precision=Precision(_ERROR), reporter=SILENT)
        self.kept = Kept(asked.work / f"{name}.jsonl")
        self._policies = policies
        self._facts = facts_of_machine(self.machine.spec)(THREADS)
        self._on = f"{self.machine.spec!r} {_ERROR}"
        replayed = digest_of_code(*_REPLAYS) + self._on.encode()
        self.replayed = sha256(replayed).hexdigest()[:12]
        self._decides = digest_of_code(*_DECIDES)

    def decided(self, policy: RulePolicy) -> str:
        """Key of runs that this policy decides."""
        decided = self._decides + f"{self._on} {policy!r}".encode()
        return sha256(decided).hexdigest()[:12]

    def policy(self, program: str) -> RulePolicy:
        return on_machine(self._policies(self.name, program), self._facts)

    def counters(self, policy: RulePolicy) -> tuple[str, ...]:
        """Counters of the runs with hints: those of the shipped policy, so that such runs serve
        other policies too, and others that this policy asks for.
        """
        known = policy_for(self.name)
        assert known is not None
        shipped = on_machine(known, self._facts).counters
        return tuple(dict.fromkeys(("instructions", *shipped, *policy.counters)))

    def row(self, program: ReadyProgram) -> Row:
        return _RunsOf(program, self).row()


class _RunsOf:
    """The runs of one program on a machine."""

    def __init__(self, program: ReadyProgram, on: OnMachine) -> None:
        self._on = on
        self._program = program
        self._sampled = is_sampled(program.request.program)
        self._policy = on.policy(program.name)
        self._sensors = Sensors(on.counters(self._policy))
        self._key = f"{program.name} {program.input} {program.origin}"
        self._region = on.kept(f"{self._key} region {on.replayed}", self._instructions)

    def row(self) -> Row:
        seeds = range(1, 1 + (1 if self._sampled else self._on.asked.seeds))
        system = [] if self._sampled else [self._under_system(seed) for seed in seeds]
        first = {str(hint): self._best_match(hint, 1) for hint in HINTS}
        restart = self._restart(first)
        lasting = {hint: [Lasting(*seen["lasting"])] for hint, seen in first.items()}
        quickest = min(lasting, key=lambda hint: lasting[hint][0].repeat_s)
        for hint in dict.fromkeys((quickest, str(PACKED), str(SPREAD), restart)):
            every = [self._best_match(Hint.parse(hint), seed) for seed in seeds]
            lasting[hint] = [Lasting(*seen["lasting"]) for seen in every]
        if self._sampled or self._on.asked.minute_of == "best":
            repeat_s = lasting[quickest][0].repeat_s
        else:
            repeat_s = statistics.median(each.repeat_s for each in system)
        repeats = MINUTE_S / repeat_s
        within = {
            loss: tuple(self._within(seed, repeats, loss) for seed in seeds)
            for loss in self._on.asked.losses
        }
        times = {
            hint: tuple(each.time_s(repeats) for each in every) for hint, every in lasting.items()
        }
        system_s = tuple(each.time_s(repeats) for each in system)
        label = f"{self._program.name}, {self._program.input}"
        return Row(label, system_s, times, restart, within)

    def _instructions(self) -> float:
        """Instructions of a repeat."""
        machine = self._on.machine
        cpus = get_affinity(machine.topology, THREADS, SPREAD).cpus
        sensors = Sensors(("instructions",))
        return region_of(machine.start(self._program.request, bound(cpus), sensors))

    def _started(self, cpus: Sequence[OsIndex] | None, seed: int) -> LastingProcess:
        process = self._on.machine.start(
            replace(self._program.request, repeats=_MOST),
            bound(cpus) if cpus is not None else None,
            self._sensors,
            seed,
        )
        assert not isinstance(process, SampledProcess)  # which runs once
        return LastingProcess(process, self._region)

    def _under_system(self, seed: int) -> Lasting:
        name = f"{self._key} os {seed} {self._on.replayed}"
        return Lasting(*self._on.kept(name, lambda: astuple(self._started(None, seed).lasting())))

    def _best_match(self, hint: Hint, seed: int) -> dict[str, Any]:
        """Seconds and behaviour in a hint's best match; hints with the same cores run once."""
        cpus = get_affinity(self._on.machine.topology, THREADS, hint).cpus
        name = f"{self._key} {','.join(map(str, cpus))} {self._on.replayed}"
        name += " " + " ".join(self._sensors.counters)
        if seed > 1:
            name += f" seed {seed}"

        def run() -> dict[str, Any]:
            process = self._started(cpus, seed)
            lasting = process.lasting()
            seen = behaviour_of(process.advance(round(process.repeat_ns)), THREADS)
            return {"lasting": astuple(lasting), "seen": dict(seen.values)}

        return self._on.kept(name, run)

    def _restart(self, hints: Mapping[str, Mapping[str, Any]]) -> str:
        """The policy's answer from whole runs."""

        def seen(hint: Hint) -> Mapping[str, float]:
            values: Mapping[str, float] = hints[str(hint)]["seen"]
            return values

        cores = all_cores(self._on.machine.topology)
        return str(last_answer(self._policy, seen, THREADS, cores))

    def _within(self, seed: int, repeats: float, loss: float) -> Within:
        """The run within which the policy decides."""
        machine = self._on.machine
        setting = Setting(
            topology=machine.topology,
            threads=THREADS,
            clock_hz=machine.clock_hz,
            seed=seed,
            policy=self._policy,
        )

        def run() -> dict[str, Any]:
            request = self._program.request
            done = within_minute(machine, request, setting, repeats, self._region, seed, loss)
            return asdict(
                Within(
                    done.run.time_s,
                    str(done.hint),
                    done.looking_s / MINUTE_S,
                    done.decided_s,
                    done.notes,
                )
            )

        decided = self._on.decided(self._policy)
        return Within(**self._on.kept(f"{self._key} within {seed} {loss} {repeats} {decided}", run))
