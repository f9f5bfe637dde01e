"""Description of the wanted observations, and the folder in which all their data are stored.

    WORK/traces/PROGRAM-SIZE-THREADSt/    captured once
    WORK/observations/MACHINE/            run by run

Observations are in `MACHINE-20us/` for another sample period than the default, and in
`MACHINE-2M-pages/` for a requested page size: different kinds are never mixed.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

from autofinity.model.errors import UsageError
from autofinity.new_folder import why_not_made
from autofinity.profiling.selection import check_selection
from autofinity.resources import shipped
from autofinity.trace.manifest import Suite, load_suite

DEFAULT_PERIOD_US = 500.0
"""Sample period, simulated. The paper samples for 10 s in runs of some 100 s; a `small` input runs
5 to 30 ms."""

HOST_PERIOD_US = 100_000.0
"""Sample period on the present machine, where `--size large` runs for seconds."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Wanted observations, and the folder for them. A name or a count that is given twice counts
    once. Raises `UsageError` for an impossible number.
    """

    machine: str
    suite: Suite
    programs: tuple[str, ...]
    """Names of the programs; empty for all of the suite."""
    sizes: tuple[str, ...]
    """Sizes of the programs' inputs; each is a workload of its own."""
    threads: tuple[int, ...]
    jobs: int | None
    """Number of runs at a time, here or in jobs of Slurm; None: as many as this machine has cores,
    or one job. A Dask scheduler's workers make as many as they have threads."""
    work: Path
    affinities: str = "hints"
    seed: int = 1
    """Random seed for the choice of affinities."""
    page_seeds: int = 1
    period_us: float | None = None
    """Sample period; None: the backend's own."""
    latencies: str | None = None
    """Latencies for a machine that is only a topology: a file, a preset or `ASSUMED`. The present
    machine is simulated with them; without any, programs run on it."""
    page_size: str | None = None
    """Page size, one of `PAGE_SIZES`; None: the machine's own."""
    baselines: bool = False
    """Whether to run the baselines of policies, and switches, too (`profiling.placements`)."""
    search: int = 0
    """Number of affinities of each program that a search may add near the best of the selected
    ones."""
    certify: tuple[str, ...] = ()
    """Programs to run in all affinities, whatever the selection."""
    error: float = 0.01
    """Relative standard error of the time that replays of sampled traces have to reach."""
    on: str = ""
    """Where runs are made: `dask://HOST:PORT`, `tls://HOST:PORT` or `slurm`; empty: on this
    machine."""

    def __post_init__(self) -> None:
        for name in ("programs", "sizes", "threads"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        jobs = 1 if self.jobs is None else self.jobs
        counts = {"threads": min(self.threads, default=1), "jobs": jobs}
        for name, number in {**counts, "page_seeds": self.page_seeds}.items():
            if number < 1:
                raise UsageError(f"{name} {number}: expected at least 1")
        if self.period_us is not None and not 0 < self.period_us < math.inf:
            raise UsageError(f"period_us {self.period_us}: expected microseconds, more than 0")
        if self.page_size is not None and self.native:
            raise UsageError(
                f"--page-size {self.page_size}: programs that run on this machine have the pages "
                "that its kernel gives them; expected no --page-size, or --latencies, with which "
                "this machine is simulated"
            )
        check_selection(self.affinities)

    @property
    def native(self) -> bool:
        """Whether programs run on the present machine itself."""
        return self.machine == "host" and self.latencies is None

    @property
    def at_once(self) -> int:
        """Number of runs that are made on this machine at a time."""
        if self.native or self.on:
            return 1  # a native run has the machine to itself
        return self.jobs or len(os.sched_getaffinity(0))


def wanted_on(
    machine: str,
    *,
    programs: tuple[str, ...] = (),
    sizes: tuple[str, ...] = ("small",),
    threads: tuple[int, ...] = (8,),
    jobs: int | None = 1,
    suite: Path | None = None,
    work: Path | None = None,
    on: str = "",
) -> Wanted:
    """Programs of a suite, by default the shipped suite, with the defaults of `Wanted`.

    Their data are stored in `work_folder`. Raises `SuiteError`, and `UsageError` without such a
    folder or for an impossible number.
    """
    path = suite or shipped("training", "suite.toml")
    wanted = Wanted(machine, load_suite(path), programs, sizes, threads, jobs, Path(), on=on)
    return replace(wanted, work=work_folder(work, path))


def observations_folder(wanted: Wanted) -> Path:
    """Folder for the observations of a machine; the machine's name may be a path or a
    description.
    """
    safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in wanted.machine)
    if wanted.period_us not in (None, HOST_PERIOD_US if wanted.native else DEFAULT_PERIOD_US):
        safe += f"-{wanted.period_us:g}us"
    if wanted.page_size is not None:
        safe += f"-{wanted.page_size}-pages"
    if wanted.machine == "host" and not wanted.native:
        safe += "-simulated"
    return wanted.work / "observations" / safe


def work_folder(given: Path | None, suite: Path) -> Path:
    """The given folder, or one in the user's cache that belongs to this suite manifest; what is
    kept there first makes it.

    Raises `UsageError` where there is no such folder and none can be made.
    """
    if given is None:
        cache = _cache_folder()
        place = Path(os.path.realpath(suite))  # `resolve` would fail for a link to itself
        key = hashlib.sha256(os.fsencode(place)).hexdigest()[:12]
        given = cache / "autofinity" / f"{place.parent.name}-{key}"
    if reason := why_not_made(given):
        raise UsageError(f"cannot make the work folder {given}: {reason}; name another with --work")
    return given


def _cache_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        # A relative one does not count, says the specification.
        return Path(named) if named.startswith("/") else Path.home() / ".cache"
    except RuntimeError:  # a user id without a home, as in containers
        raise UsageError(
            "there is no cache folder: expected XDG_CACHE_HOME or HOME to name one; set it, or "
            "name a work folder with --work"
        ) from None
