"""Events as others call them, back to neutral names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.linux.event_names import EventNames
from autofinity.linux.event_tables import all_encodings, event_spellings, event_table
from autofinity.model.cpu import Cpu
from autofinity.model.ratios import OTHER_LLC, SAME_LLC

SAPPHIRE_RAPIDS = Cpu("GenuineIntel", 6, 143)
ZEN_1, ZEN_2 = Cpu("AuthenticAMD", 23, 1), Cpu("AuthenticAMD", 23, 49)
ZEN_4 = Cpu("AuthenticAMD", 25, 17)
MAGNY_COURS = Cpu("AuthenticAMD", 16, 9)
NEOVERSE = Cpu("0x41", 8, 0xD0C)
RAPTOR_LAKE = Cpu("GenuineIntel", 6, 183)
IVY_BRIDGE_EP, HASWELL_EP = Cpu("GenuineIntel", 6, 62), Cpu("GenuineIntel", 6, 63)
GRANITE_RAPIDS = Cpu("GenuineIntel", 6, 173)
NOBODYS = Cpu("", 0, 0)
OF_ALL_VENDORS = tuple(map(EventNames, (SAPPHIRE_RAPIDS, ZEN_4, NEOVERSE)))
CPUS = (
    *(SAPPHIRE_RAPIDS, ZEN_1, ZEN_2, ZEN_4, MAGNY_COURS, NEOVERSE, RAPTOR_LAKE, NOBODYS),
    *(IVY_BRIDGE_EP, HASWELL_EP, GRANITE_RAPIDS),
)


def told(cpu: Cpu, *events: str) -> set[str]:
    """Counters that these events make up together."""
    names = EventNames(cpu)
    known = [found.code for event in events if (found := names.event(event)) is not None]
    return set(names.neutral(dict.fromkeys(known, 1.0)))


@pytest.mark.parametrize(
    ("cpu", "event", "counter"),
    [
        (NOBODYS, "cycles", "cycles"),
        (NOBODYS, "cpu-cycles:u", "cycles"),
        (NOBODYS, "instructions:upp", "instructions"),
        (NOBODYS, "cpu/cache-misses/u", "llc_misses"),
        (NOBODYS, "LLC-loads", "llc_read_requests"),
        (NOBODYS, "node-load-misses", "dram_reads_remote"),
        (NOBODYS, "dTLB-load-misses", "dtlb_misses"),
        (HASWELL_EP, "mem_load_uops_l3_miss_retired.local_dram", "dram_reads_local"),
        (HASWELL_EP, "r4d3:u", "dram_reads_remote"),
        (SAPPHIRE_RAPIDS, "mem_load_l3_miss_retired.local_dram:u", "dram_reads_local"),
        (GRANITE_RAPIDS, "mem_load_l3_miss_retired.remote_dram", "dram_reads_remote"),
        (IVY_BRIDGE_EP, "node-load-misses", "dram_reads_remote"),
        (RAPTOR_LAKE, "cpu_core/instructions/", "instructions"),
        (RAPTOR_LAKE, "instructions [cpu_core]", "instructions"),
        (SAPPHIRE_RAPIDS, "inst_retired.any", "instructions"),
        (SAPPHIRE_RAPIDS, "INSTR_RETIRED_ANY", "instructions"),
        (SAPPHIRE_RAPIDS, "CPU_CLK_UNHALTED_CORE", "cycles"),
        (SAPPHIRE_RAPIDS, "r412e", "llc_misses"),
        (SAPPHIRE_RAPIDS, "raw 0x4f2e", "llc_requests"),
        (SAPPHIRE_RAPIDS, "cpu/event=0x2e,umask=0x41,name=mine/", "llc_misses"),
        (SAPPHIRE_RAPIDS, "cpu/config=0x53412e/", "llc_misses"),
        (SAPPHIRE_RAPIDS, "uops_retired.retire_slots", "retired_uops"),
        (SAPPHIRE_RAPIDS, "skx::MEM_INST_RETIRED:ALL_LOADS", "data_cache_loads"),
        (ZEN_4, "ls_any_fills_from_sys.remote_cache", OTHER_LLC),
        (ZEN_4, "r1444:u", OTHER_LLC),
        (ZEN_4, "cpu/event=0x44,umask=0x5e/", "llc_requests"),
        (ZEN_4, "ls_any_fills_from_sys.mem_io_remote", "dram_reads_remote"),
        (ZEN_4, "L1_DC_REFILLS_EXT_CACHE", OTHER_LLC),
        (ZEN_4, "ANY_DATA_CACHE_FILLS_LOCAL_DRAM", "dram_reads_local"),
        (ZEN_4, "ANY_DATA_CACHE_FILLS_DRAM_IO_FAR", "dram_reads_remote"),
        (ZEN_2, "DATA_CACHE_REFILLS_LOCAL_DRAM", "dram_reads_local"),
        (ZEN_2, "DATA_CACHE_REFILLS_REMOTE_DRAM", "dram_reads_remote"),
        (ZEN_2, "RETIRED_UOPS", "retired_uops"),
        (ZEN_1, "LS_DISPATCH_LOADS", "data_cache_loads"),
        (ZEN_4, "LS_DISPATCH_STORES", "data_cache_stores"),
        (ZEN_4, "ex_ret_instr", "instructions"),
        (ZEN_4, "RETIRED_INSTRUCTIONS", "instructions"),
        (MAGNY_COURS, "r40000f1e0", "exclusive_read_requests_to_llc_any_core"),
        (MAGNY_COURS, "cpu/event=0x4e0,umask=0xf1/", "exclusive_read_requests_to_llc_any_core"),
        (NEOVERSE, "armv8_pmuv3_0/ll_cache_miss_rd/", "llc_misses"),
        (NEOVERSE, "r36", "llc_requests"),
        (NEOVERSE, "armv8_pmuv3_0/event=0x17/", "l2_misses"),
        (NEOVERSE, "inst_retired", "instructions"),
    ],
)
def test_an_event_has_its_neutral_name_whoever_spells_it(
    cpu: Cpu, event: str, counter: str
) -> None:
    assert counter in told(cpu, event)


@pytest.mark.parametrize(
    ("cpu", "event"),
    [
        (ZEN_4, "cache-misses"),  # the L2's there
        (ZEN_1, "cache-references"),
        (ZEN_4, "node-load-misses"),
        (IVY_BRIDGE_EP, "node-loads"),  # of all nodes there
        (MAGNY_COURS, "node-loads"),
        (SAPPHIRE_RAPIDS, "node-loads"),
        (SAPPHIRE_RAPIDS, "node-load-misses"),  # with lines that a cache of another package gave
        (NEOVERSE, "cache-misses"),  # the L1's
        (SAPPHIRE_RAPIDS, "LLC-load-misses"),
        (SAPPHIRE_RAPIDS, "ls_any_fills_from_sys.remote_cache"),
        (SAPPHIRE_RAPIDS, "uncore_imc_0/cas_count_read/"),
        (SAPPHIRE_RAPIDS, "cpu/event=0x2e,umask=0x41,cmask=0x1/"),
        (SAPPHIRE_RAPIDS, "cpu/event=0x2e,umask=0x41,offcore_rsp=0x10/"),
        (SAPPHIRE_RAPIDS, "task-clock"),
        (SAPPHIRE_RAPIDS, "sched:sched_switch"),
        (SAPPHIRE_RAPIDS, "cpu/event=many/"),
        (SAPPHIRE_RAPIDS, ""),
    ],
)
def test_what_only_sounds_alike_is_not_taken_for_it(cpu: Cpu, event: str) -> None:
    assert told(cpu, event) == set()


def test_a_counter_of_several_events_needs_them_all() -> None:
    hitm, fwd = "mem_load_l3_miss_retired.remote_hitm", "cpu/event=0xd3,umask=0x8/"
    assert OTHER_LLC in told(SAPPHIRE_RAPIDS, hitm, fwd)
    assert OTHER_LLC not in told(SAPPHIRE_RAPIDS, hitm)
    assert SAME_LLC in told(
        SAPPHIRE_RAPIDS, "mem_load_l3_hit_retired.xsnp_no_fwd", "MEM_LOAD_L3_HIT_RETIRED_XSNP_FWD"
    )


def test_events_of_single_sources_add_up_to_one_of_all() -> None:
    fills = "ls_any_fills_from_sys."
    sources = ("int_cache", "ext_cache_local", "mem_io_local", "ext_cache_remote", "mem_io_remote")
    assert told(ZEN_4, *(fills + source for source in sources)) == {
        "llc_requests",
        "llc_misses",
        OTHER_LLC,
        "dram_reads_local",
        "dram_reads_remote",
    }
    likwid = "DATA_CACHE_REFILLS_"
    parts = ("LOCAL_CACHE", "LOCAL_DRAM", "REMOTE_CACHE", "REMOTE_DRAM")
    assert {"llc_requests", "llc_misses"} < told(ZEN_2, *(likwid + part for part in parts))
    pairs = told(ZEN_4, fills + "remote_cache", fills + "dram_io_all")
    assert "llc_misses" in pairs
    assert "llc_requests" not in pairs
    overlapping = told(ZEN_4, fills + "far_all", fills + "dram_io_all", fills + "near_cache")
    assert "llc_misses" not in overlapping, "what is in both would count twice"


@pytest.mark.parametrize("cpu", CPUS)
def test_what_perf_is_told_to_count_is_understood_again(cpu: Cpu) -> None:
    names = EventNames(cpu)
    for counter in event_table(cpu):
        assert counter in told(cpu, *names.spelling(counter))
    assert names.spelling("useful_work") == ()


def test_every_spelling_stands_for_an_event_that_a_table_has_or_is_made_of() -> None:
    raw = {event.config for each in all_encodings().values() for event in each.events}
    parts = [each.config for each in all_encodings().values() if each.parts]
    for cpu in CPUS:
        generic = event_table(NOBODYS)
        for name, meant in event_spellings(cpu).items():
            if isinstance(meant, str):
                assert meant in generic, name
            else:
                assert meant in raw or any(
                    meant & 0xFF == whole & 0xFF and meant & ~whole & ~0xFF in (0, 0x4800, 0x5000)
                    for whole in parts
                ), name


@given(st.text(max_size=60) | st.from_regex(r"\w{1,9}/[^/]{0,40}/\w{0,3}", fullmatch=True))
def test_any_text_is_an_event_or_none(text: str) -> None:
    for names in OF_ALL_VENDORS:
        names.event(text)
