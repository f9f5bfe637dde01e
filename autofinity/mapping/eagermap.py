"""EagerMap: greedy grouping, level by level.

Source: Cruz et al., "An efficient algorithm for communication-based task mapping" (PDP 2015), as
Diener et al. describe and use it (TPDS 2016, section 4.4). Threads are grouped for the innermost
parts of the machine (PUs, cores, shared caches), those groups for the parts around them, up to the
root; then the groups are assigned to parts from the root down. A group begins with the first
remaining thread and adds the thread that shares most with the group until it is full. Ties go to
the lower thread number, so small changes of the matrix change little. Where parts hold different
numbers of seats, the largest are filled first.
"""

from __future__ import annotations

from autofinity.mapping.native_mapper import native_mapper

eagermap = native_mapper("eagermap")
"""EagerMap; O(T²) for T threads."""
