"""The best placements known: by times, and by times and accesses.

- `oracle-affinity` knows times: the fastest of the best matches of the hints.
- `oracle` is the bound that shares are taken of: the fastest of `oracle-trace` (`oracle`), of the
  core sets that a hint or numbering chooses, and of leaving threads to the operating system. In a
  core set threads sit by id and as EagerMap seats them, and pages are where they are first touched
  and where `oracle-trace` would have them.

Neither moves anything: where partners change, a mechanism may be faster.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofinity.affinity.hints import all_hints
from autofinity.mapping.eagermap import eagermap
from autofinity.mechanisms.oracle import homes, oracle
from autofinity.mechanisms.recipe import UNMANAGED, Setting, Start
from autofinity.mechanisms.static import Static
from autofinity.model.topology import OsIndex
from autofinity.profiling.placements import bound, compact_cpus


def measured(setting: Setting) -> tuple[Static, ...]:
    """Candidates of `oracle-affinity`: the distinct best matches of the hints."""
    return tuple(
        Static("oracle-affinity", setting, Start(setting.seated(cpus)))
        for cpus in _best_matches(setting)
    )


def best_known(setting: Setting) -> tuple[Static, ...]:
    """Candidates of `oracle`, each once."""
    compact = compact_cpus(setting.topology, setting.placed)
    starts = [UNMANAGED, oracle(setting, "both").start]
    for cpus in dict.fromkeys([*_best_matches(setting), compact]):
        starts += _starts_on(cpus, setting)
    distinct = [start for i, start in enumerate(starts) if start not in starts[:i]]
    return tuple(Static("oracle", setting, start) for start in distinct)


def _best_matches(setting: Setting) -> list[tuple[OsIndex, ...]]:
    hints = all_hints(setting.topology, setting.placed)
    return list(dict.fromkeys(cores.cpus for cores in hints))


def _starts_on(cpus: tuple[OsIndex, ...], setting: Setting) -> Iterator[Start]:
    """On one core set. Where threads take turns on it nobody has a seat, nor pages a node."""
    if len(cpus) < setting.threads:
        yield Start(setting.seated(cpus))
        return
    trace, topology = setting.known_trace(), setting.topology
    for seated in (cpus, eagermap(trace.sharing, topology, frozenset(cpus))):
        yield Start(bound(seated))
        if topology.n_nodes > 1:
            yield Start(bound(seated), trace.placed(homes(trace, seated, topology)))
