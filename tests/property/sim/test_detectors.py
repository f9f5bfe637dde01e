"""Random detectors on random small programs and machines: what they say is never nonsense."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from random_simulations import check_sums, machines, programs
from sim_programs import BASE

from autofinity._core import sim as core
from autofinity._core.trace import Trace
from autofinity.model.detection import (
    AccessSampling,
    Detector,
    FaultSampling,
    HintingFaults,
    RemoteAccesses,
    TlbAccessCounters,
    TlbMatching,
)
from autofinity.sim.detecting import native_detectors
from autofinity.sim.native import machine_model
from autofinity.sim.spec import MachineSpec

FEW = st.integers(1, 4)
NS = st.sampled_from([0.0, 1.0, 400.0])
SENSORS: st.SearchStrategy[Detector] = st.one_of(
    st.builds(
        FaultSampling,
        share_per_s=st.sampled_from([0.0, 1e6, 1e9]),
        round_ns=st.sampled_from([500, 5000]),
        table=st.sampled_from(["blocks", "sub-blocks", "none"]),
        block_bytes=st.sampled_from([64, 256, 4096]),
        entries=st.sampled_from([1, 8, 1024]),
        sharers=st.integers(1, 8),
        counter_bits=st.sampled_from([4, 8]),
        halve_on_move=st.booleans(),
        fault_ns=NS,
        update_ns=NS,
    ),
    st.builds(HintingFaults, st.sampled_from([500, 5000]), st.sampled_from([4096, 1 << 20]), NS),
    st.builds(
        TlbAccessCounters,
        held_in=st.sampled_from(["tlb", "page table"]),
        access_counter_bits=FEW,
        sharers=st.integers(1, 8),
    ),
    st.builds(
        TlbMatching,
        trigger=st.sampled_from(["time", "global misses", "local misses", "shared pages"]),
        period_ns=st.sampled_from([500, 5000]),
        misses=st.one_of(st.none(), FEW),
        misses_scale=st.sampled_from([1e-4, 1.0]),
        most_share=st.sampled_from([1e-3, 0.5, 1.0]),
        entry_cycles=NS,
        compare_cycles=NS,
    ),
    st.builds(RemoteAccesses, period=FEW, sample_ns=NS),
    st.builds(
        AccessSampling,
        what=st.sampled_from(["accesses", "long-latency loads"]),
        period=FEW,
        least_latency_ns=NS,
        pages=FEW,
        sample_ns=NS,
    ),
)


@settings(max_examples=60)
@given(
    trace=programs(),
    spec=machines(),
    detector=SENSORS,
    spread=st.integers(0, 7),
    helpers=st.integers(0, 2),
    moved=st.integers(0, 3),
)
def test_whatever_is_detected_is_consistent_at_every_stop(
    trace: Trace, spec: MachineSpec, detector: Detector, spread: int, helpers: int, moved: int
) -> None:
    program = core.Program(trace)
    pus = [(thread * spread) % len(spec.topology.pus) for thread in range(program.streams)]
    threads = list(range(program.streams))[helpers:]
    run = core.Simulation(
        machine_model(spec),
        program,
        pus,
        detectors=native_detectors([detector]),
        threads=threads,
    )
    ended = False
    while not ended:
        ended = run.advance(5_000)
        run.check()
        check_seen(run, spec, len(threads))
        if moved:
            run.move_page(BASE // 64 + moved, moved % spec.topology.n_nodes)
            run.spend(0, 100 * moved)
            if not ended:
                run.bind(0, (pus[0] + moved) % len(spec.topology.pus))
            run.check()
            moved = 0
    accesses = run.take_unit_accesses()
    assert isinstance(detector, TlbAccessCounters) or accesses == 0
    check_sums(run, spec, accesses // 2)
    check_seen(run, spec, len(threads))
    assert not any(map(any, run.take_sharing()))  # it has been handed out


def check_seen(run: core.Simulation, spec: MachineSpec, threads: int) -> None:
    """Symmetric, nothing shared with oneself; pages that exist, on nodes that exist."""
    cells = run.take_sharing()
    assert len(cells) == threads
    assert cells == [list(row) for row in zip(*cells, strict=True)]
    assert all(cells[i][i] == 0 for i in range(threads))
    pages = run.take_pages()
    assert len({page for page, _, _ in pages}) == len(pages)
    for page, node, counts in pages:
        assert run.node_of_page(page) == node
        assert len(counts) == spec.topology.n_nodes
        assert sum(counts) > 0
    assert run.take_triggers() >= 0
    assert all(time_ns >= 0 for time_ns in run.take_overhead_ns().values())
