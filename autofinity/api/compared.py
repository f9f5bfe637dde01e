"""Published mechanisms, baselines and ours, side by side on a simulated machine."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.arguments import count_of, names_of
from autofinity.api.machines import Machine
from autofinity.api.policies import Policy, file_of
from autofinity.api.wanted import wanted_by_arguments
from autofinity.reporter import SILENT, Reporter

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.evaluation.comparison import MechanismCase


@dataclass(frozen=True, slots=True, repr=False)
class Compared:
    """Every run, and each mechanism compared with the operating system. Notebooks show the
    comparison.

    Runs are those that the simulated runs stand for, of `paper_s` seconds (a minute); with
    `repeats=1` they are the simulated runs.

    * `inside`: internal type, which may change.

    >>> given = dict(threads=2, programs="prodcons", size="tiny", mechanisms="packed", work="work")
    >>> beside = af.compare("opteron-6164he", **given)
    >>> bool(beside.summary.time_vs_os["packed"] > 0), len(beside.cases), len(beside.failed)
    (True, 3, 0)
    """

    inside: Sequence[MechanismCase]

    @property
    def cases(self) -> pd.DataFrame:
        """Table with one row for each run.

        Columns: `program`, `mechanism`, `seed`, `time` (seconds), `traffic` (bytes), `energy`
        (joules), `overhead` (share of the threads' time) and counts.
        """
        import pandas as pd

        from autofinity.evaluation.comparison import shown
        from autofinity.report.comparison_table import runs_json

        return pd.DataFrame(runs_json(shown(self.inside)))

    @property
    def summary(self) -> pd.DataFrame:
        """Table with one row for each mechanism, by name.

        The columns are geometric means over programs: a mechanism's figures divided by those of the
        operating system (`time_vs_os`: smaller is faster), with intervals of 95 %, and the oracle's
        time divided by the mechanism's (`of_oracle`).
        """
        import pandas as pd

        from autofinity.evaluation.comparison import shown
        from autofinity.evaluation.comparison_summary import summarise
        from autofinity.report.comparison_table import summary_json

        return pd.DataFrame.from_dict(summary_json(summarise(shown(self.inside))), orient="index")

    @property
    def as_simulated(self) -> Compared:
        """The same, of the simulated runs, which are much shorter; mechanisms that only run for as
        long as the others stand for are left out.
        """
        from autofinity.evaluation.comparison import as_simulated

        return Compared([replace(case, minute=None) for case in as_simulated(self.inside)])

    @property
    def failed(self) -> pd.DataFrame:
        """Table with one row for each run without a result: `program`, `mechanism`, `seed`,
        `reason`.
        """
        import pandas as pd

        from autofinity.report.comparison_table import failed_json

        columns = ["program", "mechanism", "seed", "reason"]
        return pd.DataFrame(failed_json(self.inside), columns=columns)

    def __repr__(self) -> str:
        names = dict.fromkeys(case.mechanism for case in self.inside)
        return f"Compared({len(self.inside)} runs of {', '.join(names)})"

    def __str__(self) -> str:
        return str(self._shown().to_string(float_format="{:.3f}".format))

    def _shown(self) -> pd.DataFrame:
        return self.summary.reindex(columns=["programs", "time_vs_os", "of_oracle", "overhead"])

    def _repr_html_(self) -> str:
        from autofinity.api.html import bars_html, lines_html

        summary = self._shown()
        times = {str(name): float(time) for name, time in summary["time_vs_os"].items()}
        bars = bars_html("time over the operating system's: shorter is faster", times)
        table: str = summary.to_html(float_format="{:.3f}".format)
        failed = len(self.failed)
        return bars + table + (lines_html([f"runs without a result: {failed}"]) if failed else "")


def compare(
    machine: Machine | str,
    *,
    threads: int = 8,
    mechanisms: Sequence[str] | str = (),
    programs: Sequence[str] | str = (),
    size: str = "small",
    seeds: int = 1,
    repeats: int = 10,
    paper_s: float = 60.0,
    policy: Policy | Path | str | None = None,
    suite: Path | str | None = None,
    work: Path | str | None = None,
    jobs: int | None = None,
    on: str = "",
    reporter: Reporter = SILENT,
) -> Compared:
    """Run mechanisms (`autofinity compare --list`; empty: all) on the same programs, together with
    their baselines `os` and `oracle`.

    `seeds` is the number of runs of each mechanism, `repeats` the number of times that a program's
    region of interest runs in a simulated run, `paper_s` the length of the run that figures are of,
    in seconds, to which periods and rates of mechanisms are scaled. `policy` is for our own
    mechanisms, by default the machine's. Other arguments are those of `profile`, `on` among them.
    Takes minutes to hours. Raises `AutofinityError`.

    >>> given = dict(threads=2, programs="prodcons", size="tiny", mechanisms="packed", work="work")
    >>> beside = af.compare("opteron-6164he", **given)
    >>> beside.summary.index.to_list()
    ['os', 'packed', 'oracle']
    """
    from autofinity.mechanisms.registry import pick
    from autofinity.workflow.compare import Asked, compared

    wanted = wanted_by_arguments(
        machine,
        programs=programs,
        sizes=size,
        threads=threads,
        suite=suite,
        work=work,
        jobs=jobs,
        on=on,
    )
    counts = count_of(seeds, "seeds"), count_of(repeats, "repeats")
    with tempfile.TemporaryDirectory() as folder:
        named = None if policy is None else file_of(policy, Path(folder))
        asked = Asked(wanted, *counts, paper_s, policy=named)
        return Compared(compared(asked, pick(names_of(mechanisms, "mechanisms")), reporter))
