"""Cost of looks to the program, and the cost that a run can bear. Pure.

A sample is taken in an affinity that need not suit the program, and every thread moves there and on
to the answer. The program loses time by both. All looks of a run together may cost 0.3 % of a
minute. A longer run may spend more, so looks come further and further apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from autofinity.model.topology import Topology

SHARE = 0.003
"""Largest share of the time that looks may cost."""
LASTS_NS = 60e9
"""Least assumed length of every run, a minute."""
SAMPLING_LOSS = 0.08
"""Share of its time that a program is assumed to lose while it is sampled: spread against the
best hint, mean of the training programs."""
_REFILL_BYTES_PER_S = 5e9  # one core reading from memory; machines of ten years ago reach it


def refill_ns(topology: Topology, threads: int) -> float:
    """Cost of one move of all threads: each refills its share of a last-level cache."""
    if not topology.caches:
        return 0.0
    # All threads of a cache refill it together, each its share: so it is filled once.
    last, parts = topology.caches[-1], topology.llc_parts
    sharers = max(1, last.shared_by_cores // parts)
    share = last.size_bytes // parts / min(max(threads, 1), sharers)
    return share / _REFILL_BYTES_PER_S * 1e9


@dataclass(frozen=True, slots=True)
class LookCosts:
    """Cost of the looks of a run so far. Start with `LookCosts()`."""

    spent_ns: float = 0.0
    sampling_loss: float = SAMPLING_LOSS

    def moved(self, refill_ns: float) -> LookCosts:
        """The costs with one more move of all threads."""
        return replace(self, spent_ns=self.spent_ns + refill_ns)

    def sampled(self, elapsed_ns: int) -> LookCosts:
        """The costs with a sample of this length."""
        return replace(self, spent_ns=self.spent_ns + self.sampling_loss * elapsed_ns)

    def sample_left_ns(self, run_ns: int) -> float:
        """Time for which a program that has run for `run_ns` may still be sampled."""
        return max(0.0, SHARE * max(run_ns, LASTS_NS) - self.spent_ns) / self.sampling_loss
