"""Compare decisions within the run with decisions before it: docs/run.md.

    python scripts/studies/within_run.py [--machine M …] [--size S …] [--program P …] [--work DIR]
        [--seeds N] [--minute-of os|best] [--stretch N] [--sampling-loss L …] [--into DOCUMENT]

Training programs, and the public kernels (kernels/), from which nothing is learned, run for the
equivalent of a minute (`autofinity.evaluation.lasting`; of the best hint, or of the system): under
the operating system; with each hint from the start; started again with the hint that the policy
chose from whole runs; and with decisions within the run, all costs included. The policy is the
machine's own, else the one for any machine, as in `run`. Results are kept in the folder, and used
again while the code that they depend on is the same.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from hashlib import sha256
from pathlib import Path

from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.cases import INTERESTING, WITHIN
from autofinity.evaluation.lasting import MINUTE_S, Lasting, Watched
from autofinity.evaluation.times import geometric_mean
from autofinity.evaluation.within_minute import within_minute
from autofinity.mechanisms.recipe import Setting
from autofinity.model.affinity import DISTRIBUTED, HINTS, PACKED, Hint
from autofinity.model.errors import AutofinityError
from autofinity.model.policy import RulePolicy
from autofinity.own_code import digest_of_code, digest_of_core
from autofinity.policy.on_machine import on_machine
from autofinity.policy.selector import decide
from autofinity.ports import Sensors
from autofinity.profiling.campaign import ReadyProgram
from autofinity.profiling.placements import bound
from autofinity.report.marked import put_between_marks
from autofinity.reporter import SILENT
from autofinity.runtime.looking import SAMPLING_LOSS
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess
from autofinity.sim.speeds import facts_of_machine
from autofinity.workflow.backends import simulated
from autofinity.workflow.capture import capture
from autofinity.workflow.policies import policy_for
from autofinity.workflow.wanted import wanted_on

HERE = Path(__file__).resolve().parents[2]
SUITES = {
    HERE / "training" / "suite.toml": ("small",),
    HERE / "kernels" / "suite.toml": ("llc",),
}
"""Suites, with the sizes that are affordable."""
MACHINES = ("opteron-6164he", "epyc-9654", "xeon-8480", "xeon-e5-2650")
THREADS = 8
MARK = "scripts/studies/within_run.py, "
BEHIND = 0.015
"""Loss against the best hint above which programs are named."""
_MOST = 100
"""Repeats of a run before a decision leaves its start."""
_FEWEST = 60
"""Repeats of a minute: a look covers a part of one, and caches are full after few of them."""
DECIDES = (
    *("affinity", "mapping", "mechanisms", "model", "policy", "runtime", "sim"),
    *("evaluation/lasting.py", "evaluation/within_minute.py"),
)


@dataclass(frozen=True)
class Asked:
    """The programs to run, and their length."""

    programs: tuple[str, ...]
    sizes: tuple[str, ...]
    seeds: int
    stretch: float
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
    hints_s: Mapping[str, float]
    restart: str
    within: Mapping[float, tuple[Within, ...]]
    """Results by the assumed loss of sampling: one for each seed."""

    @property
    def best_s(self) -> float:
        return min(self.hints_s.values())

    @property
    def interesting(self) -> bool:
        a, b = self.hints_s[str(PACKED)], self.hints_s[str(DISTRIBUTED)]
        return abs(a - b) / min(a, b) >= INTERESTING

    def won(self, time_s: float) -> bool:
        better = min(self.hints_s[str(PACKED)], self.hints_s[str(DISTRIBUTED)])
        return time_s <= better * (1 + WITHIN)

    def within_s(self, loss: float) -> float:
        return statistics.median(run.time_s for run in self.within[loss])

    @property
    def system_s(self) -> float:
        return statistics.median(self.os_s)


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
        self.machine: SimMachine = simulated(name, None, None, reporter=SILENT)
        chosen = policy_for(name)
        assert chosen is not None
        facts = facts_of_machine(self.machine.spec)(THREADS)
        self.policy: RulePolicy = on_machine(chosen, facts)
        self._kept = Kept(asked.work / f"{name}.jsonl")
        spec = f"{self.machine.spec!r}"
        self._replayed = sha256(digest_of_core() + spec.encode()).hexdigest()[:12]
        decided = digest_of_code(*DECIDES) + f"{spec} {self.policy!r}".encode()
        self._decided = sha256(decided).hexdigest()[:12]
        names = ("instructions", *self.policy.counters)
        self._sensors = Sensors(tuple(dict.fromkeys(names)))

    def row(self, program: ReadyProgram) -> Row:
        key = f"{program.name} {program.input} {program.origin}"
        region = self._kept(f"{key} region {self._replayed}", lambda: self._region(program))
        system = [
            Lasting(
                *self._kept(
                    f"{key} os {n} {self._replayed}",
                    lambda n=n: astuple(self._started(program, None, region, n).to_the_end(2)),
                )
            )
            for n in range(1, 1 + self._asked.seeds)
        ]
        hints = self._hints(program, key, region)
        lasting = {hint: Lasting(*seen["lasting"]) for hint, seen in hints.items()}
        if self._asked.minute_of == "best":
            repeat_s = min(each.repeat_s for each in lasting.values())
        else:
            repeat_s = statistics.median(each.repeat_s for each in system)
        repeats = max(_FEWEST, round(MINUTE_S / (self._asked.stretch * repeat_s)))
        second_ns = round(repeats * repeat_s * 1e9 / MINUTE_S)
        within = {
            loss: tuple(
                Within(
                    **self._kept(
                        f"{key} within {seed} {loss} {repeats} {second_ns} {self._decided}",
                        lambda s=seed, lost=loss: self._within(
                            program, s, repeats, region, second_ns, lost
                        ),
                    )
                )
                for seed in range(1, 1 + self._asked.seeds)
            )
            for loss in self._asked.losses
        }
        times = {hint: each.time_s(repeats) for hint, each in lasting.items()}
        system_s = tuple(each.time_s(repeats) for each in system)
        label = f"{program.name}, {program.input}"
        return Row(label, system_s, times, self._restart(hints), within)

    def _region(self, program: ReadyProgram) -> float:
        """Instructions of a repeat."""
        return Watched.whole(self._process(program, DISTRIBUTED, repeats=1), 1).region

    def _started(
        self, program: ReadyProgram, hint: Hint | None, region: float, seed: int = 1
    ) -> Watched:
        watched = Watched(self._process(program, hint, seed), region)
        watched.begin()
        return watched

    def _process(
        self, program: ReadyProgram, hint: Hint | None, seed: int = 1, repeats: int = _MOST
    ) -> SimProcess:
        cpus = get_affinity(self.machine.topology, THREADS, hint).cpus if hint else None
        process = self.machine.start(
            replace(program.request, repeats=repeats),
            bound(cpus) if cpus is not None else None,
            self._sensors,
            seed,
        )
        assert isinstance(process, SimProcess)  # a sampled trace cannot be repeated
        return process

    def _hints(
        self, program: ReadyProgram, key: str, region: float
    ) -> dict[str, dict[str, object]]:
        """Seconds and behaviour of each best match, run once."""
        runs: dict[tuple[int, ...], dict[str, object]] = {}
        found = {}
        for hint in HINTS:
            cpus = get_affinity(self.machine.topology, THREADS, hint).cpus
            if cpus not in runs:
                name = f"{key} {','.join(map(str, cpus))} {self._replayed}"
                name += " " + " ".join(self._sensors.counters)
                runs[cpus] = self._kept(name, lambda h=hint: self._hint(program, h, region))
            found[str(hint)] = runs[cpus]
        return found

    def _hint(self, program: ReadyProgram, hint: Hint, region: float) -> dict[str, object]:
        watched = self._started(program, hint, region)
        lasting = watched.to_the_end()
        seen = watched.behaviour(THREADS)
        return {"lasting": astuple(lasting), "seen": dict(seen.values)}

    def _restart(self, hints: Mapping[str, Mapping[str, object]]) -> str:
        """The policy's answer from whole runs."""

        def seen(hint: Hint) -> Mapping[str, float]:
            values: Mapping[str, float] = hints[str(hint)]["seen"]  # type: ignore[assignment]
            return values

        start = seen(DISTRIBUTED)
        hint = decide(self.policy, start).hint
        second = self.policy.second_after(hint)
        if second is not None:
            probe = seen(second.sampled_in)
            hint = decide(second.policy, second.values(start, probe)).hint
        return str(self.policy.at(hint, THREADS, all_cores(self.machine.topology)))

    def _within(
        self,
        program: ReadyProgram,
        seed: int,
        repeats: int,
        region: float,
        second_ns: int,
        loss: float,
    ) -> dict[str, object]:
        machine = self.machine
        setting = Setting(
            topology=machine.topology,
            threads=THREADS,
            clock_hz=machine.clock_hz,
            seed=seed,
            paper_second_ns=second_ns,
            policy=self.policy,
        )
        done = within_minute(machine, program.request, setting, repeats, region, seed, loss)
        return asdict(
            Within(
                done.time_s,
                str(done.hint),
                done.looking_s / MINUTE_S,
                done.decided_s,
                done.notes,
            )
        )


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", action="append", help="default: " + ", ".join(MACHINES))
    words.add_argument("--program", action="append", default=[])
    words.add_argument("--size", action="append", help="of inputs (default: small, of kernels llc)")
    words.add_argument(
        "--seeds", type=int, default=3, help="number of seeds of the operating system"
    )
    words.add_argument(
        "--minute-of", choices=("best", "os"), default="best", help="whose run takes a minute"
    )
    words.add_argument(
        "--stretch", type=float, default=100, help="seconds that one of a run stands for"
    )
    words.add_argument(
        "--sampling-loss",
        type=float,
        action="append",
        help=f"share of its time that a program is taken to lose (default: {SAMPLING_LOSS})",
    )
    words.add_argument("--work", type=Path, default=HERE / "build" / "within")
    words.add_argument("--into", type=Path, help="a document with marks for the tables")
    wanted = words.parse_args()
    asked = Asked(
        tuple(wanted.program),
        tuple(wanted.size or ()),
        wanted.seeds,
        wanted.stretch,
        wanted.minute_of,
        tuple(wanted.sampling_loss or (SAMPLING_LOSS,)),
        wanted.work,
    )
    judged = {
        name: list(rows(OnMachine(name, asked), asked)) for name in wanted.machine or MACHINES
    }
    for name, lines in (("machines", machines_table(judged)), ("behind", behind_table(judged))):
        table = "\n".join(lines)
        print(f"\n{table}", flush=True)
        if wanted.into is not None:
            put_between_marks(wanted.into, MARK + name, table)


def rows(on: OnMachine, asked: Asked) -> Iterator[Row]:
    for suite, sizes in SUITES.items():
        wanted = wanted_on(
            on.name, sizes=asked.sizes or sizes, suite=suite, work=asked.work / "traces"
        )
        known = tuple(n for n in asked.programs if n in wanted.suite.programs)
        if asked.programs and not known:
            continue
        for program in capture(replace(wanted, programs=known), THREADS, SILENT):
            try:
                row = on.row(program)
            except AutofinityError as error:
                print(f"{on.name} {program.name} left out: {error}", flush=True)
                continue
            print(f"{on.name} {line_of(row)}", flush=True)
            yield row


def line_of(row: Row) -> str:
    """A line that shows progress."""
    best = row.best_s
    runs = next(iter(row.within.values()))
    return (
        f"{row.program}: os {best / row.system_s:.3f} restart "
        f"{best / row.hints_s[row.restart]:.3f} ({row.restart}) within "
        + ", ".join(
            f"{best / run.time_s:.3f} ({run.hint}, at {run.decided_s:.1f} s, looking "
            f"{run.looking:.2%})"
            for run in runs
        )
        + f" best {min(row.hints_s, key=lambda hint: row.hints_s[hint])}"
        + ("" if row.interesting else " not interesting")
    )


def machines_table(judged: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    yield (
        "| machine | | of the best hint | worst | interesting won | against the OS | worst | "
        "looking, of a minute | most |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, every in judged.items():
        yield figures(name, "operating system", every, lambda row: row.system_s)
        yield figures(name, "started again", every, lambda row: row.hints_s[row.restart])
        losses = list(every[0].within) if every else []
        for loss in losses:
            label = "within the run"
            if len(losses) > 1:
                label += f", sampling taken to lose {loss:.0%}"
            spent = [statistics.median(run.looking for run in row.within[loss]) for row in every]
            looking = f" {statistics.mean(spent):.2%} | {max(spent):.2%} |"
            time_of = lambda row, lost=loss: row.within_s(lost)  # noqa: E731
            yield figures(name, label, every, time_of, looking)


def figures(
    machine: str,
    label: str,
    every: Sequence[Row],
    time_of: Callable[[Row], float],
    looking: str = " | |",
) -> str:
    of_best = [row.best_s / time_of(row) for row in every]
    against = [row.system_s / time_of(row) for row in every]
    some = [row for row in every if row.interesting]
    won = sum(row.won(time_of(row)) for row in some)
    return (
        f"| `{machine}` | {label} | {geometric_mean(of_best):.3f} | {min(of_best):.3f} "
        f"| {won} of {len(some)} | {geometric_mean(against):.3f} | {min(against):.3f} |{looking}"
    )


def behind_table(judged: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    yield (
        "| machine | program | of the best hint | ran in | best | the OS | started again "
        "| because |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, every in judged.items():
        for row in every:
            loss, runs = next(iter(row.within.items()))
            mine = row.within_s(loss)
            if row.best_s / mine >= 1 - BEHIND and mine <= row.system_s * (1 + WITHIN):
                continue
            run = min(runs, key=lambda each: abs(each.time_s - mine))
            best = min(row.hints_s, key=lambda hint: row.hints_s[hint])
            again = row.best_s / row.hints_s[row.restart]
            notes = "; ".join(run.notes).replace("|", "/")
            yield (
                f"| `{name}` | {row.program} | {row.best_s / mine:.3f} | {run.hint} | {best} "
                f"| {row.best_s / row.system_s:.3f} | {again:.3f} | {notes} |"
            )


if __name__ == "__main__":
    main()
