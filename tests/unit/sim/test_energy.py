"""Energy: exact sums of prices and static power; what the machine hands on."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from sim_programs import BASE, cpus

from autofinity._core.trace import TraceBuilder
from autofinity.model.errors import TopologyError
from autofinity.resources import shipped
from autofinity.sim.energy import PRICED_EVENTS, dram_j, dynamic_j, energy_j, static_j
from autofinity.sim.events import EVENTS
from autofinity.sim.preset import load_preset, preset_names, read_preset
from autofinity.sim.replay import simulate
from autofinity.sim.spec import EnergySpec

PRICES = EnergySpec(1, 10, 100, 1000, 10_000, 20_000, 5, core_w=4, idle_core_w=1, uncore_w=10)
OPTERON = load_preset("opteron-6164he")  # 48 cores, 8 LLC domains
SPEC = replace(OPTERON, core_classes=(replace(OPTERON.core_classes[0], ghz=2.0),), energy=PRICES)
NOTHING = dict.fromkeys((*PRICED_EVENTS, "cycles"), 0.0)


def test_every_event_has_its_price() -> None:
    counts = {
        "instructions": 7.0,
        "data_cache_accesses": 6.0,
        "l2_accesses": 5.0,
        "page_walks": 2.0,
        "prefetches_issued": 3.0,
        "llc_requests": 4.0,
        "dram_reads_local": 2.0,
        "dram_reads_remote": 1.0,
        "dram_writes": 2.0,
        "link_bytes": 8.0,
        "link_request_bytes": 16.0,
    }
    picojoules = 7 + 60 + 500 + 500 + 4000 + 30_000 + 40_000 + 40 + 80
    assert dynamic_j(PRICES, counts) == pytest.approx(picojoules * 1e-12, rel=1e-15)
    assert set(PRICED_EVENTS) <= set(EVENTS)


def test_the_memory_takes_what_its_lines_cost_that_are_read_and_written() -> None:
    counts = NOTHING | {"instructions": 9.0, "dram_reads_local": 2.0, "dram_reads_remote": 1.0}
    counts |= {"dram_writes": 2.0, "link_bytes": 64.0}
    assert dram_j(PRICES, counts) == pytest.approx(70_000e-12)


def test_an_idle_machine_takes_its_static_power() -> None:
    assert energy_j(SPEC, NOTHING, 2.0) == 2 * (48 * 1 + 8 * 10)


def test_a_core_costs_more_while_a_thread_runs_on_it() -> None:
    # Three cores busy for one of the two seconds.
    assert static_j(SPEC, 3 * 2.0e9, 2.0) == 2 * (48 * 1 + 8 * 10) + 3 * (4 - 1)


def test_cores_are_not_busy_for_longer_than_the_time() -> None:
    assert static_j(SPEC, 1e15, 1.0) == 48 * 4 + 8 * 10


def test_a_machine_without_prices_has_no_energy() -> None:
    assert math.isnan(energy_j(replace(SPEC, energy=None), NOTHING, 1.0))


# Watts of a package, from each file's [energy] table.
TDP_W = {
    "altix-450": 104,
    "ampere-altra": 250,
    "epyc-9654": 360,
    "epyc-9654-nps1": 360,
    "epyc-9755": 500,
    "graviton4": 300,
    "i9-13900k": 253,
    "kmaf16-simulated": 65,
    "opteron-6164he": 85,
    "opteron-6386": 140,
    "ryzen-9-7950x": 170,
    "tlb-simulated": 65,
    "xeon-6972p": 500,
    "xeon-8480": 350,
    "xeon-e5-2650": 95,
    "xeon-x7550": 130,
}


@pytest.mark.parametrize("name", preset_names())
def test_shipped_cores_stay_below_the_power_of_their_package(name: str) -> None:
    spec = load_preset(name)
    prices = spec.energy
    assert prices is not None
    instruction_j = (prices.instruction_pj + 0.4 * prices.l1_access_pj) * 1e-12
    kinds = [spec.core_classes[kind] for kind in spec.class_of_core]
    per_s = sum(kind.core.base_ipc * kind.ghz * 1e9 for kind in kinds)
    cores = len(kinds) * prices.core_w + per_s * instruction_j
    topology = spec.topology
    package = (cores + prices.uncore_w * topology.n_llcs) / topology.n_packages
    assert 0.3 * TDP_W[name] < package < TDP_W[name]
    assert prices.idle_core_w < prices.core_w


def test_a_preset_may_leave_energy_out_but_not_half_of_it(tmp_path: Path) -> None:
    text = shipped("data", "machines", "opteron-6164he.toml").read_text()
    head, _, tail = text.partition("[energy]")
    path = tmp_path / "machine.toml"
    path.write_text(head)
    assert read_preset(path).energy is None
    path.write_text(head + "[energy]" + tail.replace("uncore_w", "uncore_watts"))
    with pytest.raises(
        TopologyError, match=r"energy\.uncore_watts: unknown key; did you mean uncore_w"
    ):
        read_preset(path)


def test_a_result_adds_up_the_whole_machine() -> None:
    builder = TraceBuilder()
    for stream in [builder.stream() for _ in range(2)]:
        for i in range(100):
            builder.access(stream, BASE + 100 * stream + i, gap=50)
    result = simulate(SPEC, builder.build(), cpus(0, 6))
    counts = {name: float(result.total(name)) for name in NOTHING}
    assert counts["dram_reads_local"] + counts["dram_reads_remote"] > 0
    assert result.energy_j(SPEC) == energy_j(SPEC, counts, result.roi_ns / 1e9)
