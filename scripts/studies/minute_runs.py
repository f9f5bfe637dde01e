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
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from autofinity._core.trace import is_sampled
from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.cases import INTERESTING, WITHIN
from autofinity.evaluation.lasting import MINUTE_S, Lasting, LastingProcess, region_of
from autofinity.evaluation.within_minute import within_minute
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Hint
from autofinity.model.policy import RulePolicy
from autofinity.own_code import digest_of_code
from autofinity.policy.answers import last_answer
from autofinity.policy.on_machine import on_machine
from autofinity.ports import Sensors
from autofinity.profiling.campaign import ReadyProgram
from autofinity.profiling.placements import bound
from autofinity.profiling.sampling import behaviour_of
from autofinity.reporter import SILENT
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess
from autofinity.sim.repeated_windows import RepeatedWindows
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
    """A machine, its policy, and the runs on it."""

    def __init__(self, name: str, asked: Asked) -> None:
        self._asked = asked
        self.name = name
        self.machine: SimMachine = simulated(name, precision=Precision(_ERROR), reporter=SILENT)
        chosen = policy_for(name)
        assert chosen is not None
        facts = facts_of_machine(self.machine.spec)(THREADS)
        self.policy: RulePolicy = on_machine(chosen, facts)
        self._kept = Kept(asked.work / f"{name}.jsonl")
        spec = f"{self.machine.spec!r}"
        replayed = digest_of_code(*_REPLAYS) + f"{spec} {_ERROR}".encode()
        self._replayed = sha256(replayed).hexdigest()[:12]
        decided = digest_of_code(*_DECIDES) + f"{spec} {_ERROR} {self.policy!r}".encode()
        self._decided = sha256(decided).hexdigest()[:12]
        names = ("instructions", *self.policy.counters)
        self._sensors = Sensors(tuple(dict.fromkeys(names)))

    def row(self, program: ReadyProgram) -> Row:
        sampled = is_sampled(program.request.program)
        key = f"{program.name} {program.input} {program.origin}"
        region = self._kept(f"{key} region {self._replayed}", lambda: self._region(program))
        seeds = range(1, 1 + (1 if sampled else self._asked.seeds))
        system = [
            Lasting(
                *self._kept(
                    f"{key} os {n} {self._replayed}",
                    lambda n=n: astuple(self._started(program, None, region, n).lasting()),
                )
            )
            for n in ([] if sampled else seeds)
        ]
        hints = self._hints(program, key, region)
        restart = self._restart(hints)
        lasting = {hint: [Lasting(*seen["lasting"])] for hint, seen in hints.items()}
        quickest = min(lasting, key=lambda hint: lasting[hint][0].repeat_s)
        for hint in dict.fromkeys((quickest, str(PACKED), str(SPREAD), restart)):
            lasting[hint] = [
                Lasting(*self._best_match(program, Hint.parse(hint), key, region, seed)["lasting"])
                for seed in seeds
            ]
        if sampled or self._asked.minute_of == "best":
            repeat_s = lasting[quickest][0].repeat_s
        else:
            repeat_s = statistics.median(each.repeat_s for each in system)
        repeats = MINUTE_S / repeat_s
        within = {
            loss: tuple(
                Within(
                    **self._kept(
                        f"{key} within {seed} {loss} {repeats} {self._decided}",
                        lambda s=seed, lost=loss: self._within(program, s, repeats, region, lost),
                    )
                )
                for seed in seeds
            )
            for loss in self._asked.losses
        }
        times = {
            hint: tuple(each.time_s(repeats) for each in every) for hint, every in lasting.items()
        }
        system_s = tuple(each.time_s(repeats) for each in system)
        label = f"{program.name}, {program.input}"
        return Row(label, system_s, times, restart, within)

    def _region(self, program: ReadyProgram) -> float:
        """Instructions of a repeat."""
        cpus = get_affinity(self.machine.topology, THREADS, SPREAD).cpus
        sensors = Sensors(("instructions",))
        return region_of(self.machine.start(program.request, bound(cpus), sensors))

    def _started(
        self, program: ReadyProgram, hint: Hint | None, region: float, seed: int = 1
    ) -> LastingProcess:
        return LastingProcess(self._process(program, hint, seed), region)

    def _process(
        self, program: ReadyProgram, hint: Hint | None, seed: int
    ) -> SimProcess | RepeatedWindows:
        cpus = get_affinity(self.machine.topology, THREADS, hint).cpus if hint else None
        process = self.machine.start(
            replace(program.request, repeats=_MOST),
            bound(cpus) if cpus is not None else None,
            self._sensors,
            seed,
        )
        assert not isinstance(process, SampledProcess)  # which runs once
        return process

    def _hints(self, program: ReadyProgram, key: str, region: float) -> dict[str, dict[str, Any]]:
        """Seconds and behaviour of each hint's best match, with the first seed."""
        return {str(hint): self._best_match(program, hint, key, region, 1) for hint in HINTS}

    def _best_match(
        self, program: ReadyProgram, hint: Hint, key: str, region: float, seed: int
    ) -> dict[str, Any]:
        """The same, of one hint; hints with the same cores run once."""
        cpus = get_affinity(self.machine.topology, THREADS, hint).cpus
        name = f"{key} {','.join(map(str, cpus))} {self._replayed}"
        name += " " + " ".join(self._sensors.counters)
        if seed > 1:
            name += f" seed {seed}"
        return self._kept(name, lambda: self._hint(program, hint, region, seed))

    def _hint(self, program: ReadyProgram, hint: Hint, region: float, seed: int) -> dict[str, Any]:
        process = self._started(program, hint, region, seed)
        lasting = process.lasting()
        seen = behaviour_of(process.advance(round(process.repeat_ns)), THREADS)
        return {"lasting": astuple(lasting), "seen": dict(seen.values)}

    def _restart(self, hints: Mapping[str, Mapping[str, Any]]) -> str:
        """The policy's answer from whole runs."""

        def seen(hint: Hint) -> Mapping[str, float]:
            values: Mapping[str, float] = hints[str(hint)]["seen"]
            return values

        return str(last_answer(self.policy, seen, THREADS, all_cores(self.machine.topology)))

    def _within(
        self, program: ReadyProgram, seed: int, repeats: float, region: float, loss: float
    ) -> dict[str, object]:
        machine = self.machine
        setting = Setting(
            topology=machine.topology,
            threads=THREADS,
            clock_hz=machine.clock_hz,
            seed=seed,
            policy=self.policy,
        )
        done = within_minute(machine, program.request, setting, repeats, region, seed, loss)
        return asdict(
            Within(
                done.run.time_s,
                str(done.hint),
                done.looking_s / MINUTE_S,
                done.decided_s,
                done.notes,
            )
        )
