"""Caches and TLBs of a core, or of cores that share an L2, count what lists in order of use count,
on any stream.
"""

from __future__ import annotations

import dataclasses
import random

from counter_case import Turns
from hand_machine import INCLUSIVE, VICTIM, with_shared_l2
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_caches import ExclusiveCore, InclusiveCore, ReferenceModule, reference_tlb
from sim_programs import LINES_PER_PAGE
from single_core import run_stream, with_caches

from autofinity._core import sim as core
from autofinity.sim.native import machine_model
from autofinity.sim.result import EVENT_INDEX

COUNTED = (
    "data_cache_misses",
    "data_cache_refills_from_l2",
    "clean_data_cache_lines_evicted",
    "modified_data_cache_lines_evicted",
    "l2_evictions",
    "l2_writebacks",
    "llc_hits",
    "llc_misses",
    "llc_evictions",
    "llc_writebacks",
    "dram_writes",
)

COUNTED_OF_MODULE = (
    *COUNTED,
    "invalid_data_cache_lines_evicted",
    "coherence_misses",
    "back_invalidations",
    "upgrades",
    "invalidations_sent",
    "invalidations_received",
    "downgrades_received",
)


type Shape = tuple[int, int]
"""Sets (a power of two) and ways."""


def shapes(most_ways: int) -> st.SearchStrategy[Shape]:
    return st.tuples(st.sampled_from([1, 2, 4, 8, 16]), st.integers(1, most_ways))


def numbers(seed: int, length: int, below: int, hot: int) -> list[int]:
    """Random numbers; half of them are the `hot` lowest ones."""
    rng = random.Random(seed)
    return [rng.randrange(min(hot, below) if rng.random() < 0.5 else below) for _ in range(length)]


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32),
    length=st.sampled_from([10, 100, 600]),
    lines=st.sampled_from([7, 30, 100, 400]),
    hot=st.integers(1, 40),
    stores=st.sampled_from([0.0, 0.1, 0.5]),
    levels=st.tuples(shapes(4), shapes(6), shapes(9)),
    inclusive=st.booleans(),
)
def test_the_caches_of_one_core_count_as_the_reference(
    seed: int,
    length: int,
    lines: int,
    hot: int,
    stores: float,
    levels: tuple[Shape, Shape, Shape],
    inclusive: bool,
) -> None:
    rng = random.Random(seed)
    accesses = [(line, rng.random() < stores) for line in numbers(seed, length, lines, hot)]
    reference = (InclusiveCore if inclusive else ExclusiveCore)(*levels)
    for line, store in accesses:
        reference.access(line, store)
    result = run_stream(with_caches(INCLUSIVE if inclusive else VICTIM, *levels), accesses)
    assert {e: result.total(e) for e in COUNTED} == {e: reference.counts[e] for e in COUNTED}


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32),
    length=st.sampled_from([10, 100, 400]),
    lines=st.sampled_from([7, 30, 100]),
    hot=st.integers(1, 20),
    stores=st.sampled_from([0.0, 0.1, 0.5]),
    cores=st.integers(2, 3),
    levels=st.tuples(shapes(4), shapes(6), shapes(9)),
    inclusive=st.booleans(),
)
def test_cores_that_share_an_l2_count_as_the_reference(
    seed: int,
    length: int,
    lines: int,
    hot: int,
    stores: float,
    cores: int,
    levels: tuple[Shape, Shape, Shape],
    inclusive: bool,
) -> None:
    rng = random.Random(seed)
    reference = ReferenceModule(cores, *levels, inclusive)
    turns = Turns(cores)
    for line in numbers(seed, length, lines, hot):
        thread, store = rng.randrange(cores), rng.random() < stores
        reference.access(thread, line, store)
        (turns.store if store else turns.load)(thread, line)
    spec = with_shared_l2(with_caches(INCLUSIVE if inclusive else VICTIM, *levels), cores)
    program = core.Program(turns.builder.build())
    run = core.Simulation(machine_model(spec), program, list(range(cores)))
    run.run()
    run.check()
    got = [
        {event: int(counts[EVENT_INDEX[event]]) for event in COUNTED_OF_MODULE}
        for counts in run.totals()
    ]
    assert got == [{e: count[e] for e in COUNTED_OF_MODULE} for count in reference.counts]


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32),
    length=st.sampled_from([10, 100, 600]),
    pages=st.sampled_from([3, 9, 20, 41]),
    hot=st.integers(1, 20),
    l1=shapes(12),
    l2=shapes(5),
)
def test_the_tlbs_count_as_the_reference(
    seed: int, length: int, pages: int, hot: int, l1: Shape, l2: Shape
) -> None:
    (cores,) = VICTIM.core_classes
    tlb = dataclasses.replace(
        cores.tlb,
        l1_entries=l1[0] * l1[1],
        l1_ways=l1[1],
        l2_entries=l2[0] * l2[1],
        l2_ways=l2[1],
    )
    spec = dataclasses.replace(VICTIM, core_classes=(dataclasses.replace(cores, tlb=tlb),))
    touched = numbers(seed, length, pages, hot)
    expected = reference_tlb(l1, l2, touched)
    result = run_stream(spec, [(page * LINES_PER_PAGE, False) for page in touched])
    events = ("dtlb_misses", "l2_tlb_hits", "page_walks")
    assert {e: result.total(e) for e in events} == {e: expected[e] for e in events}
    assert result.total("page_faults") == len(set(touched))
