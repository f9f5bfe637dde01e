"""The best mapping that we can find quickly (ours).

The mappings of EagerMap and of recursive bisection are the start. The threads of two parts of the
machine (nodes, LLC domains, L2s, cores, PUs) are exchanged wherever that makes the mapping cheaper
by `autofinity.mapping.cost`, the large parts first, until no exchange on any level does. Unlike
EagerMap, this mapper uses the different distances between nodes. With up to 32 threads, some
threads are then moved beside others that they share with, and further exchanges that now pay are
made, up to 200 times, always in the same way. With more threads, sweeps of exchanges, each O(T²)
for T threads, end when one saves less than a ten-thousandth of the cost.
"""

from __future__ import annotations

from autofinity.mapping.native_mapper import native_mapper

refined = native_mapper("refined")
"""The refined mapper; never costs more than `eagermap` and `bisection` on the same seats."""
