"""Observations: what programs showed in affinities, as tables of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.machines import Machine, name_of
from autofinity.reporter import SILENT, Reporter

if TYPE_CHECKING:
    import pandas as pd


def observations(source: Machine | Path | str, threads: int | None = None) -> pd.DataFrame:
    """Those that are shipped of a machine, or those in a file or folder of `profile`; with
    `threads` only of runs with so many that affinities placed.

    A row an observation, a sample of one run: `program`, `input`, `threads`, `affinity` as text,
    `sample` (its number), `progress` (share of the run that was done), `performance` (by default
    instructions per cycle and thread), `roi_s` (seconds of the run's region of interest),
    `machine`, `seed`, `energy_j` (joules of the run, the whole machine's) …, and a column
    `counter:NAME` for each counter, per thread and second; NaN for what was not measured.

    Raises `AutofinityError` where there are none.
    """
    from autofinity.workflow.observations import observations_of, shipped_observations

    name = str(source) if isinstance(source, Path) else name_of(source)
    shipped = shipped_observations(name) if not isinstance(source, Path) else None
    own = isinstance(source, Path) or (shipped is None and Path(name).exists())
    return observations_of(name, threads, Path(name) if own else None).to_pandas()


def profile(
    machine: Machine | str,
    *,
    threads: Sequence[int] = (8,),
    programs: Sequence[str] = (),
    sizes: Sequence[str] = ("small",),
    suite: Path | None = None,
    work: Path | None = None,
    jobs: int = 1,
    reporter: Reporter = SILENT,
) -> pd.DataFrame:
    """Capture programs of a suite and run them in every selected affinity: observations, as
    `observations` has them. What is in the work folder already is not done again.

    `suite` is a manifest, by default the shipped one; `programs` empty are all; `work` a folder, by
    default one in the user's cache; `jobs` how many runs at a time. Takes minutes to hours.
    Raises `AutofinityError`.
    """
    from autofinity.workflow.profile import gather
    from autofinity.workflow.wanted import wanted_on

    wanted = wanted_on(
        name_of(machine),
        programs=tuple(programs),
        sizes=tuple(sizes),
        threads=tuple(threads),
        jobs=jobs,
        suite=suite,
        work=work,
    )
    return gather(wanted, reporter).to_pandas()
