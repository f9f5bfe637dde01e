"""How long a mapping algorithm keeps a core busy: charged, in simulated time, whenever it runs.

Which mechanism has which is in the table (`registry`). Those that map every so often are charged as
`Setting.mapping_charge_ns` says, others all of it.

- EagerMap: 37 µs · (T/64)² at T threads (kMAF'16, table 5: 130 ms for 3,487 mappings of 64 threads;
  the square is what the public C program's times at 64 and 256 threads show).
- Dual recursive bipartitioning: ten times that (kMAF'16, section 4.4: EagerMap is "about 10 x
  faster").
- Edmonds' matching, level by level: 48 ms · (T/256)³ (a public implementation at 256 threads; the
  order is that of Cruz, Diener & Navaux, section 5.2).
"""

from __future__ import annotations


def eagermap_ns(threads: int) -> int:
    """Time of one run of EagerMap."""
    return round(37_300 * (threads / 64) ** 2)


def bipartition_ns(threads: int) -> int:
    """Time of one run of SCOTCH's dual recursive bipartitioning."""
    return 10 * eagermap_ns(threads)


def edmonds_ns(threads: int) -> int:
    """Time of one hierarchical matching."""
    return round(48e6 * (threads / 256) ** 3)
