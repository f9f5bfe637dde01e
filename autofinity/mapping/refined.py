"""The best mapping we know how to find quickly: ours.

EagerMap's mapping and that of recursive bisection; what two parts of the machine hold (nodes, LLC
domains, L2s, cores, PUs) is exchanged wherever that makes the mapping cheaper by
`autofinity.mapping.cost`, the large parts first, until no exchange on any level does. Unlike
EagerMap it also sees that some nodes are farther from each other than others. With up to 32 threads
some are then brought beside others that they share with and what that makes worth while is
exchanged, up to 200 times, always in the same way. With more, sweeps of exchanges, each O(T²) for T
threads, end when one saves less than a ten-thousandth of the cost.
"""

from __future__ import annotations

from autofinity.mapping.native_mapper import native_mapper

refined = native_mapper("refined")
"""Never costs more than `eagermap` and `bisection` on the same seats."""
