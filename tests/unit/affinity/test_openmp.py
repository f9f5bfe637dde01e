"""OpenMP's words for a hint give the affinity of the hint, by OpenMP's own rules."""

from __future__ import annotations

import pytest

from autofinity.affinity.hints import get_affinity
from autofinity.affinity.openmp import OPENMP
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.topology import Topology
from autofinity.sim.preset import load_preset

MACHINES = ("opteron-6164he", "xeon-x7550", "epyc-9654", "altix-450")


def by_places(threads: int, places: int, bind: str) -> list[int]:
    """Threads on each place, the primary thread on the first (OpenMP 5.1, section 2.6.2)."""
    on = [0] * places
    if threads > places or bind == "close":  # consecutive threads, in lots that differ by one
        for thread in range(threads):
            on[thread if threads <= places else thread * places // threads] += 1
        return on
    for thread in range(threads):  # the first place of each of as many stretches
        on[-(-thread * places // threads)] += 1
    return on


def openmp_affinity(topology: Topology, threads: int, hint: Hint) -> Affinity:
    words = OPENMP[hint]
    assert words is not None
    llcs: dict[int, list[list[int]]] = {}
    for package in range(topology.n_packages):
        own = [pu for pu in topology.pus if pu.package == package and pu.smt_rank == 0]
        llcs[package] = [[pu.core for pu in own if pu.llc == llc] for llc in {pu.llc for pu in own}]
    caches = [(package, len(cores)) for package, of in llcs.items() for cores in of]
    if words.places == "cores":
        places = [(package, llc) for llc, (package, n) in enumerate(caches) for _ in range(n)]
    else:
        places = [(package, llc) for llc, (package, _) in enumerate(caches)]
    if words.places == "ll_caches(N)":
        a_socket = len(llcs[0]) * caches[0][1]
        places = places[: -(-threads // a_socket) * len(llcs[0])]
    occupancy = {package: {} for package in llcs}  # type: ignore[var-annotated]
    for (package, llc), count in zip(
        places, by_places(threads, len(places), words.bind), strict=True
    ):
        occupancy[package][llc] = occupancy[package].get(llc, 0) + count
    return Affinity.of([of.values() for of in occupancy.values()])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("hint", [hint for hint in HINTS if OPENMP[hint]], ids=str)
def test_the_words_place_as_the_hint_does(machine: str, hint: Hint) -> None:
    topology = load_preset(machine).topology
    # With as many threads as cores, hints that pack take SMT siblings, which no OpenMP word does.
    most = topology.n_cores - (len(topology.pus) > topology.n_cores)
    counts = range(1, min(most, 64) + 1)
    found = {n: openmp_affinity(topology, n, hint) for n in counts}
    wanted = {n: get_affinity(topology, n, hint).affinity for n in counts}
    exact = [n for n in counts if is_exact(wanted[n])]
    assert len(exact) >= 4
    assert {n: str(found[n]) for n in exact} == {n: str(wanted[n]) for n in exact}
    for n in counts:  # a thread more in whichever cache
        assert found[n].sockets == wanted[n].sockets
        assert in_caches(found[n]) == in_caches(wanted[n])


def in_caches(affinity: Affinity) -> list[int]:
    return sorted(count for socket in affinity.occupancy for count in socket)


def is_exact(affinity: Affinity) -> bool:
    """Whether threads go up evenly in caches: else OpenMP leaves one more to the runtime."""
    counts = in_caches(affinity)
    return len(set(counts)) == 1 or affinity.sockets == 1


@pytest.mark.parametrize("hint", [hint for hint in HINTS if not OPENMP[hint]], ids=str)
def test_no_words_place_as_a_hint_that_has_none(hint: Hint) -> None:
    topology = load_preset("opteron-6164he").topology
    wanted = get_affinity(topology, 8, hint).affinity
    assert wanted not in {openmp_affinity(topology, 8, other) for other in HINTS if OPENMP[other]}
