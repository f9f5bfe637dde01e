"""Which counters of other cores' caches learning may use on which machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.model.errors import UsageError
from autofinity.model.ratios import OTHER_LLC, SAME_LLC
from autofinity.sim.events import PAPER_EVENTS
from autofinity.sim.preset import load_preset, preset_names
from autofinity.workflow.machine_events import settings_on

COUNTED = {
    "epyc-9654": (OTHER_LLC,),
    "epyc-9654-nps1": (OTHER_LLC,),
    "epyc-9755": (OTHER_LLC,),
    "ryzen-9-7950x": (OTHER_LLC,),
    "xeon-6972p": (SAME_LLC, OTHER_LLC),
    "xeon-8480": (SAME_LLC, OTHER_LLC),
    "xeon-e5-2650": (SAME_LLC,),
    "xeon-x7550": (SAME_LLC,),
}


@pytest.mark.parametrize("machine", preset_names())
def test_a_machine_counts_what_its_family_does(machine: str) -> None:
    found = settings_on(LearningSettings(), machine, ())
    assert found.cross_core == COUNTED.get(machine, ())
    assert found.as_dict()["cross_core"] == list(found.cross_core)


@pytest.mark.parametrize("machine", preset_names())
def test_every_machine_that_was_built_says_which_cpu_it_has(machine: str) -> None:
    imagined = {"kmaf16-simulated", "tlb-simulated"}
    without_table = {"altix-450"}  # Itanium
    cpu = load_preset(machine).cpu
    assert (cpu is None) == (machine in imagined | without_table)


def test_a_topology_alone_counts_nothing_of_them_and_other_settings_stay() -> None:
    synthetic = "synthetic:pack:2 numa:1 l3:1 core:4 pu:1"
    assert replace(settings_on(PAPER, synthetic, PAPER_EVENTS), uncounted=()) == PAPER
    assert settings_on(PAPER, "epyc-9654", PAPER_EVENTS).features == PAPER.features


@pytest.mark.parametrize("machine", preset_names())
def test_3_1_the_papers_four_counters_are_taken_where_the_pmu_has_them(machine: str) -> None:
    found = settings_on(PAPER, machine, PAPER_EVENTS)
    assert found.counters == (PAPER_EVENTS if machine == "opteron-6164he" else None)
    assert settings_on(PAPER, machine, PAPER_EVENTS[:3]).counters is None, "not observed"
    by_cfs = replace(PAPER, selection="cfs")
    assert settings_on(by_cfs, machine, PAPER_EVENTS).counters is None
    assert not settings_on(LearningSettings(), machine, ()).uncounted, (
        "ratios have ways of their own"
    )
    named = replace(PAPER, counters=("retired_uops",))
    assert settings_on(named, machine, PAPER_EVENTS).counters == ("retired_uops",)


def test_3_1_rates_are_of_counters_that_the_pmu_has() -> None:
    found = settings_on(PAPER, "opteron-6386", PAPER_EVENTS).uncounted
    assert {"useful_work", "await_waits", "link_bytes", "invalid_data_cache_lines_evicted"} <= {
        *found
    }
    assert not {"retired_uops", "data_cache_accesses", "sharing"} & {*found}
    unknown = settings_on(PAPER, "altix-450", PAPER_EVENTS).uncounted
    assert {"useful_work", "await_waits"} <= {*unknown}, "no PMU has them"
    assert "invalid_data_cache_lines_evicted" not in unknown, "some PMU has it"


@pytest.mark.parametrize("machine", ["opteron-6164he", "synthetic:pack:2 numa:1 l3:1 core:4 pu:1"])
@pytest.mark.parametrize("settings", [PAPER, LearningSettings()])
def test_counters_that_only_a_simulator_has_are_refused_by_name(
    machine: str, settings: LearningSettings
) -> None:
    named = replace(settings, counters=("useful_work", "instructions", "await_waits"))
    with pytest.raises(UsageError, match="counters await_waits, useful_work: no known PMU counts"):
        settings_on(named, machine, named.counters or ())


def test_counters_that_there_are_not_are_refused() -> None:
    with pytest.raises(UsageError, match=f"expected some of {SAME_LLC}, {OTHER_LLC}"):
        LearningSettings(cross_core=("llc_misses",))
