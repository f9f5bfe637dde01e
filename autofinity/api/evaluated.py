"""A policy judged on programs that it has not seen."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.arguments import counts_of, path_if_any
from autofinity.api.learned import settings
from autofinity.api.machines import Machine, name_of
from autofinity.api.policies import Policy, file_of
from autofinity.api.wanted import wanted_by_arguments
from autofinity.reporter import SILENT, Reporter

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.workflow.evaluate import Evaluated


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """Cases, each a program with a thread count, and the verdict. Notebooks show both.

    * `inside`: internal type, which may change.

    >>> given = dict(threads=8, policy="opteron-6164he", programs="lu")
    >>> judged = af.evaluate("opteron-6164he", **given)
    >>> judged.cases[["program", "threads", "name", "win"]].to_numpy().tolist()
    [['lu', 8, 'packed', True]]
    >>> judged.summary["cases"]
    1
    """

    inside: Evaluated

    @property
    def cases(self) -> pd.DataFrame:
        """Table with one row for each case.

        Columns: `program`, `input`, `threads`, the chosen `hint` in letters and its `name`,
        `interesting` (packed and spread differ by a fifth), `win` (within 1 % of the better of
        these), `regret` (share of time lost against the best hint), and seconds of the region of
        interest in `autofinity_s`, `packed_s`, `spread_s`, `os_s`, `best_hint_s`, `oracle_s`
        …, NaN where unknown.
        """
        import pandas as pd

        from autofinity.report.evaluation_table import COLUMNS

        return pd.DataFrame(
            [
                {
                    "program": case.workload.program,
                    "input": case.workload.input,
                    "threads": case.workload.threads,
                    "hint": str(case.decision.hint),
                    "name": case.decision.hint.name,
                    "interesting": case.interesting,
                    "win": case.win,
                    "regret": case.regret,
                    **{f"{name}_s": case.roi_s.get(name, float("nan")) for name in COLUMNS},
                }
                for case in self.inside.cases
            ]
        )

    @property
    def summary(self) -> Mapping[str, float]:
        """Figures over all cases: `cases`, `interesting`, `wins`, and geometric means of time
        ratios such as `oracle_ratio` (1: as fast as the oracle); NaN where unknown.
        """
        from autofinity.evaluation.verdict import figures

        found = self.inside.verdict.restart
        counts = {"cases": found.cases, "interesting": found.interesting, "wins": found.wins}
        return {**counts, **figures(found)}

    def __repr__(self) -> str:
        found = self.inside.verdict.restart
        won = f"{found.wins} of {found.interesting} interesting ones won"
        return f"Evaluation({found.cases} cases; {won})"

    def __str__(self) -> str:
        from autofinity.report.evaluation_table import sentences

        return "\n".join(sentences(self.inside.verdict))

    def _repr_html_(self) -> str:
        from autofinity.api.html import lines_html

        table: str = self.cases.to_html(index=False, float_format="{:.4g}".format)
        return table + lines_html(str(self).splitlines())


def evaluate(
    machine: Machine | str,
    *,
    threads: Sequence[int] | int = (),
    train_threads: Sequence[int] | int = (),
    policy: Policy | Path | str | None = None,
    observations: Path | str | None = None,
    programs: Sequence[str] | str = (),
    sizes: Sequence[str] | str = ("small",),
    suite: Path | str | None = None,
    work: Path | str | None = None,
    jobs: int | None = None,
    on: str = "",
    paper: bool = False,
    reporter: Reporter = SILENT,
) -> Evaluation:
    """Judge policies on programs that they have not seen. Each program is left out in turn and
    judged at `threads`; its policy is learned from the others at `train_threads` (by default
    all observed counts; with `paper` 8). A given `policy` is judged as it is.

    `observations` is a file or folder of `profile`, by default the shipped observations of the
    machine. Where there are none, or a `suite` is given, programs are profiled first (minutes to
    hours; arguments are those of `profile`). Raises `AutofinityError` where no case can be judged.

    >>> given = dict(threads=8, policy="opteron-6164he", programs=["lu", "stencil"])
    >>> af.evaluate("opteron-6164he", **given).summary["wins"]
    2
    """
    from autofinity.workflow.evaluate import evaluate as evaluated
    from autofinity.workflow.observations import shipped_observations

    name = name_of(machine)
    given = path_if_any(observations, "observations")
    wanted = wanted_by_arguments(
        machine,
        programs=programs,
        sizes=sizes,
        threads=threads,
        suite=suite,
        work=work,
        jobs=jobs,
        on=on,
    )
    with tempfile.TemporaryDirectory() as folder:
        return Evaluation(
            evaluated(
                wanted,
                settings(paper),
                train_threads=counts_of(train_threads, "train_threads"),
                policy=None if policy is None else file_of(policy, Path(folder)),
                observations=given or (shipped_observations(name) if suite is None else None),
                reporter=reporter,
            )
        )
