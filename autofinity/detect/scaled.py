"""Detectors whose periods fit a run of milliseconds; the papers' fit runs of minutes.

Each keeps what a run of the paper's had in relation to its length, and is made from what a run
without detectors showed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autofinity.model.detection import (
    Detector,
    FaultSampling,
    RemoteAccesses,
    TlbAccessCounters,
    TlbMatching,
)

FAULTS_PER_PAGE = 20
"""Extra faults of each page in a run: kMAF'16's default made about 2000 % (section 6.4); of SP
4,828,171 on 235,520 pages (table 5), in 349 s."""
ROUNDS = 1000
"""Rounds of the thread that clears present bits, in a run that is long enough."""
LEAST_ROUND_NS = 50_000
"""So that interrupts of 1 us and shootdowns of 2 us each round are no matter."""
TRIGGERS = 100
"""Triggers of each core's TLB in a run, where T · E misses would give fewer."""
SAMPLES = 1000
"""Samples of each core's remote accesses in a run."""
UPDATES = 10
"""Updates of each page by SAMMU in a run whose pages all stay in the TLBs: 32 bits would never be
full."""


@dataclass(frozen=True, slots=True)
class RunWithout:
    """A run that no detector watched."""

    roi_ns: int
    threads: int
    page_walks: int
    remote_accesses: int
    """Cache-to-cache transfers from other LLC domains."""
    accesses_per_page: float
    tlb_entries: int
    """Entries of the last TLB of a core."""


def faults_of_pages(faults_per_page: float, run: RunWithout) -> FaultSampling:
    """Extra faults, so many of each page in the run."""
    return FaultSampling(
        share_per_s=faults_per_page * 1e9 / max(1, run.roi_ns),
        round_ns=max(LEAST_ROUND_NS, run.roi_ns // ROUNDS),
    )


def _faults(run: RunWithout) -> FaultSampling:
    return faults_of_pages(FAULTS_PER_PAGE, run)


def _sub_blocks(run: RunWithout) -> FaultSampling:
    like = _faults(run)
    return FaultSampling(like.share_per_s, like.round_ns, table="sub-blocks", block_bytes=1024)


def _tlb(run: RunWithout) -> TlbMatching:
    misses = max(1, run.page_walks // (run.threads * TRIGGERS))
    return TlbMatching(misses=min(misses, run.threads * run.tlb_entries))


def _sammu(run: RunWithout) -> TlbAccessCounters:
    full = int(run.accesses_per_page / UPDATES)
    return TlbAccessCounters(access_counter_bits=min(32, max(1, full.bit_length() - 1)))


def _lapt(_: RunWithout) -> TlbAccessCounters:
    return TlbAccessCounters(held_in="page table")


def _remote(run: RunWithout) -> RemoteAccesses:
    return RemoteAccesses(period=max(1, run.remote_accesses // (run.threads * SAMPLES)))


SCALED: Mapping[str, Callable[[RunWithout], Detector]] = {
    "faults": _faults,
    "sub-blocks": _sub_blocks,
    "tlb": _tlb,
    "sammu": _sammu,
    "lapt": _lapt,
    "remote": _remote,
}
"""Every source of sharing by the name that `autofinity detect --with` gives it."""
