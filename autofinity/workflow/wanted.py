"""What is to be observed, and the folder in which everything about it is kept.

    WORK/traces/PROGRAM-SIZE-THREADSt/    captured once
    WORK/observations/MACHINE/            run by run

Observations are in `MACHINE-20us/` for another sample period than the default, in
`MACHINE-2M-pages/` for a page size asked for: different ones are never mixed.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.errors import UsageError
from autofinity.resources import shipped
from autofinity.trace.manifest import Suite, load_suite

DEFAULT_PERIOD_US = 500.0
"""Simulated. The paper samples for 10 s of some 100 s runs; a `small` input runs 5 to 30 ms."""

HOST_PERIOD_US = 100_000.0
"""On the machine at hand, where `--size large` runs for seconds."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be observed, and where it is kept. Raises `UsageError` for a number that cannot
    be.
    """

    machine: str
    suite: Suite
    programs: tuple[str, ...]
    """Empty for all of the suite."""
    sizes: tuple[str, ...]
    """Of the programs' inputs; each is a workload of its own."""
    threads: tuple[int, ...]
    jobs: int
    work: Path
    affinities: str = "hints"
    seed: int = 1
    """Of the draw of affinities."""
    page_seeds: int = 1
    period_us: float | None = None
    """None: the backend's own."""
    latencies: str | None = None
    """For a machine that is only a topology: a file or a preset."""
    page_size: str | None = None
    """One of `PAGE_SIZES`; None: the machine's own."""
    twin: bool = False
    """Simulate the machine at hand instead of running programs on it."""
    baselines: bool = False
    """Also run what policies are compared with, and switches (`profiling.placements`)."""
    search: int = 0
    """Affinities that may be added to the selected ones near the best of them, of each program."""
    certify: tuple[str, ...] = ()
    """Programs to run in all affinities, whatever is selected."""
    error: float = 0.01
    """Relative standard error of the time that replays of sampled traces go down to."""

    def __post_init__(self) -> None:
        counts = {"threads": min(self.threads, default=1), "jobs": self.jobs}
        for name, number in {**counts, "page_seeds": self.page_seeds}.items():
            if number < 1:
                raise UsageError(f"{name} {number}: expected at least 1")
        if self.period_us is not None and not 0 < self.period_us < math.inf:
            raise UsageError(f"period_us {self.period_us}: expected microseconds, more than 0")

    @property
    def native(self) -> bool:
        """Whether programs run on the machine at hand itself."""
        return self.machine == "host" and self.latencies is None and not self.twin


def wanted_on(
    machine: str,
    *,
    programs: tuple[str, ...] = (),
    sizes: tuple[str, ...] = ("small",),
    threads: tuple[int, ...] = (8,),
    jobs: int = 1,
    suite: Path | None = None,
    work: Path | None = None,
) -> Wanted:
    """Programs of a suite, by default the one that is shipped, all as `Wanted` has it by default.

    What they show is kept in `work_folder`. Raises `SuiteError`, and `UsageError` where there is no
    such folder or for a number that cannot be.
    """
    path = suite or shipped("training", "suite.toml")
    folder = work_folder(work, path)
    return Wanted(machine, load_suite(path), programs, sizes, threads, jobs, folder)


def observations_folder(wanted: Wanted) -> Path:
    """Where the observations of a machine are kept; its name may be a path or a description."""
    safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in wanted.machine)
    if wanted.period_us not in (None, DEFAULT_PERIOD_US):
        safe += f"-{wanted.period_us:g}us"
    if wanted.page_size is not None:
        safe += f"-{wanted.page_size}-pages"
    if wanted.twin:
        safe += "-simulated"
    return wanted.work / "observations" / safe


def work_folder(given: Path | None, suite: Path) -> Path:
    """The folder given, or one in the user's cache that belongs to this suite manifest.

    Raises `UsageError` where there is no such folder and none can be made.
    """
    if given is None:
        cache = _cache_folder()
        place = os.path.realpath(suite)  # which `resolve` refuses of a link to itself
        key = hashlib.sha256(os.fsencode(place)).hexdigest()[:12]
        given = cache / "autofinity" / f"{suite.parent.name}-{key}"
    try:
        given.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make the work folder {given}: {error.strerror}; name another with --work"
        ) from error
    return given


def _cache_folder() -> Path:
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user id that the system has no home for, as containers give out
        raise UsageError(
            "there is no cache folder: expected XDG_CACHE_HOME or HOME to name one; set it, or "
            "name a work folder with --work"
        ) from None
