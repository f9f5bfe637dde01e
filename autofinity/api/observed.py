"""Observations of programs in affinities, as pandas tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.arguments import count_of, text_of_path
from autofinity.api.machines import Machine, name_of
from autofinity.api.wanted import wanted_by_arguments
from autofinity.model.errors import UsageError
from autofinity.reporter import SILENT, Reporter

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.store.observation_table import ObservationTable


def observations(source: Machine | Path | str, threads: int | None = None) -> pd.DataFrame:
    """The shipped observations of a machine, or those in a file or folder of `profile`. With
    `threads`, only those of runs with this number of threads that affinities placed.

    One row for each observation, a sample of one run: `program`, `input`, `threads`, `affinity` as
    text, `sample` (its number), `progress` (share of the run that was done), `performance` (by
    default instructions per cycle and thread), `roi_s` (seconds of the run's region of interest),
    `machine`, `seed`, `energy_j` (joules of the run, the whole machine's) …, and a column
    `counter:NAME` for each counter, per thread and second; NaN where a counter was not measured.

    Raises `AutofinityError` where there are none.

    >>> seen = af.observations("opteron-6164he", threads=8)
    >>> small = seen[seen.input == "small"]
    >>> mean_s = small.groupby(["program", "affinity"], observed=True).roi_s.mean()
    >>> bool(mean_s["stencil", "{1,1}{1,1}{1,1}{1,1}"] < mean_s["stencil", "{6,2}"])
    True
    """
    count = None if threads is None else count_of(threads, "threads")
    return observed_in(source, count).to_pandas()


def observed_in(
    source: pd.DataFrame | Machine | Path | str, threads: int | None = None
) -> ObservationTable:
    """The observations in a table of `observations`, or those of what `observations` takes.

    Raises `AutofinityError` where there are none, and for anything else.
    """
    import pandas as pd

    from autofinity.store.foreign_observations import check_meanings
    from autofinity.store.observation_table import ObservationTable
    from autofinity.workflow.observations import observations_of, shipped_observations

    if isinstance(source, pd.DataFrame):
        table = ObservationTable.from_pandas(source)
        check_meanings(table)
        return table
    if not isinstance(source, Machine | Path | str):
        raise UsageError(
            f"got {type(source).__name__}; expected a table of observations, a machine, or a file "
            "or folder of `profile`"
        )
    name = text_of_path(source, "source") if isinstance(source, Path) else name_of(source)
    shipped = shipped_observations(name) if not isinstance(source, Path) else None
    own = isinstance(source, Path) or (shipped is None and Path(name).exists())
    return observations_of(name, threads, Path(name) if own else None)


def profile(
    machine: Machine | str,
    *,
    threads: Sequence[int] | int = (8,),
    programs: Sequence[str] | str = (),
    sizes: Sequence[str] | str = ("small",),
    suite: Path | str | None = None,
    work: Path | str | None = None,
    jobs: int | None = None,
    on: str = "",
    reporter: Reporter = SILENT,
) -> pd.DataFrame:
    """Capture programs of a suite, run them in every selected affinity, and return the observations
    in the form of `observations`. Existing results in the work folder are not made again.

    `suite` is a manifest, by default the shipped one; empty `programs` means all; `work` is a
    folder, by default one in the user's cache; `jobs` is the number of runs at a time, by default
    1.

    `on` is where runs are made, as in the command's `--on`: `dask://HOST:PORT` or
    `tls://HOST:PORT`, the address of a Dask scheduler, whose workers make as many runs as they have
    threads (`jobs` is then left out), or `slurm`, with `jobs` cores; empty: here. Results are the
    same to the bit. Takes minutes to hours. Raises `AutofinityError` for a name, size or number
    that there is not, and where no scheduler answers.

    >>> seen = af.profile("xeon-e5-2650", threads=2, programs="prodcons", sizes="tiny", work="work")
    >>> bool((seen.roi_s > 0).all())
    True
    """
    from autofinity.workflow.profile import gather

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
    return gather(wanted, reporter).to_pandas()
