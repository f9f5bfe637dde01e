"""Neutral event names on the CPUs of every family; raw encodings against libpfm."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autofinity.linux.event_tables import (
    Encoding,
    all_encodings,
    cross_core_events,
    event_table,
    this_cpu,
)
from autofinity.model.cpu import Cpu
from autofinity.model.errors import LinuxError
from autofinity.model.ratios import CROSS_CORE_COUNTERS, OTHER_LLC, SAME_LLC
from autofinity.sim.events import EVENTS

MAGNY_COURS = Cpu("AuthenticAMD", 16, 9)
PAPERS_FOUR = (
    "data_cache_accesses",
    "invalid_data_cache_lines_evicted",
    "exclusive_read_requests_to_llc_any_core",
    "retired_uops",
)
REMOTE = "cache_to_cache_transfers_remote"

_CLEAN_OR_CHANGED = "MEM_LOAD_L3_HIT_RETIRED:XSNP_HIT", "MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM"
_NOT_OR_FORWARDED = "MEM_LOAD_L3_HIT_RETIRED:XSNP_NO_FWD", "MEM_LOAD_L3_HIT_RETIRED:XSNP_FWD"
_OLD_BESIDE = (
    "MEM_LOAD_UOPS_LLC_HIT_RETIRED:XSNP_HIT",
    "MEM_LOAD_UOPS_LLC_HIT_RETIRED:XSNP_HITM",
)
_BEYOND = "MEM_LOAD_L3_MISS_RETIRED:REMOTE_HITM", "MEM_LOAD_L3_MISS_RETIRED:REMOTE_FWD"
_OLD_BEYOND = (
    "MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_HITM",
    "MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_FWD",
)
_FIRST_BESIDE = ("MEM_LOAD_RETIRED:OTHER_CORE_L2_HIT_HITM",)
_ZEN_3 = ("ANY_DATA_CACHE_FILLS_FROM_SYSTEM:EXT_CACHE_LCL:EXT_CACHE_RMT",)
_ZEN_4 = ("ANY_DATA_CACHE_FILLS_FROM_SYSTEM:NEAR_CACHE_NEAR_FAR:FAR_CACHE_NEAR_FAR",)

CROSS_CORE: dict[str, tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]] = {
    # libpfm's table: models of the family, events of a core beside, events beyond the own LLC
    "nhm": ((26, 30, 31), _FIRST_BESIDE, ()),
    "nhm_ex": ((46,), _FIRST_BESIDE, ()),
    "wsm": ((37,), _FIRST_BESIDE, ()),
    "wsm_dp": ((44, 47), _FIRST_BESIDE, ()),
    "snb": ((42,), _OLD_BESIDE, ()),
    "snb_ep": ((45,), _OLD_BESIDE, ()),
    "ivb": ((58,), _OLD_BESIDE, ()),
    "ivb_ep": ((62,), _OLD_BESIDE, _OLD_BEYOND),
    "hsw": ((60, 69, 70), _OLD_BESIDE, ()),
    "hsw_ep": ((63,), _OLD_BESIDE, _OLD_BEYOND),
    "bdw": ((61, 71), _OLD_BESIDE, ()),
    "bdw_ep": ((79,), _OLD_BESIDE, _OLD_BEYOND),
    "skl": ((78, 94, 142, 158), _CLEAN_OR_CHANGED, ()),
    "skx": ((85,), _CLEAN_OR_CHANGED, _BEYOND),
    "clx": ((85,), _CLEAN_OR_CHANGED, _BEYOND),
    "icl": ((125, 126, 140), _CLEAN_OR_CHANGED, ()),
    "icx": ((106, 108), _CLEAN_OR_CHANGED, _BEYOND),
    "spr": ((143, 207, 173, 174), _NOT_OR_FORWARDED, _BEYOND),  # later ones by the kernel's tables
}
SEVERAL_PACKAGES = (63, 79, 85, 106, 108, 143, 173, 174, 207)
INTEL = [
    (pmu, Cpu("GenuineIntel", 6, model)) for pmu, row in CROSS_CORE.items() for model in row[0]
]


def test_the_papers_four_counters_have_encodings_on_its_machine() -> None:
    table = event_table(MAGNY_COURS)
    assert all(table[name].type == 4 for name in PAPERS_FOUR)
    assert table["exclusive_read_requests_to_llc_any_core"].config == 0x40000F1E0
    assert table["cycles"].type == 0


def test_a_family_wins_over_the_generic_table_and_another_family_has_no_say() -> None:
    assert event_table(MAGNY_COURS)["llc_misses"].type == 4
    assert event_table(Cpu("", 0, 0))["llc_misses"].type == 0
    assert "retired_uops" not in event_table(Cpu("GenuineIntel", 6, 1))


def test_a_damaged_table_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text("[events]\nx = { type = 'unheard', config = 1 }")
    with pytest.raises(LinuxError, match=r"odd\.toml"):
        event_table(Cpu("", 0, 0), tmp_path)


def test_this_cpu_is_read_from_its_first_paragraph(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("vendor_id\t: A\ncpu family\t: 25\nmodel\t\t: 17\n\nvendor_id\t: B\n")
    assert this_cpu(file) == Cpu("A", 25, 17)
    assert this_cpu(tmp_path / "missing") == Cpu("", 0, 0)
    file.write_text("CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n\n")
    assert this_cpu(file) == Cpu("0x41", 8, 0xD0C)


@pytest.mark.parametrize(
    ("cpu", "name", "config"),
    [
        (Cpu("GenuineIntel", 6, 46), "page_walks", 0x0249),  # Nehalem-EX: Xeon X7550
        (Cpu("GenuineIntel", 6, 45), "retired_uops", 0x01C2),  # Sandy Bridge: Xeon E5-2650
        (Cpu("GenuineIntel", 6, 143), "retired_uops", 0x02C2),  # Sapphire Rapids
        (Cpu("AuthenticAMD", 21, 2), "data_cache_accesses", 0x0040),  # Abu Dhabi: Opteron 6386
        (Cpu("AuthenticAMD", 23, 49), "llc_misses", 0x5843),  # Zen 2: Rome
        (Cpu("AuthenticAMD", 25, 17), "llc_requests", 0x5E44),  # Zen 4: EPYC 9654
        (Cpu("AuthenticAMD", 26, 2), "llc_requests", 0x5E44),  # Zen 5: Turin
        (Cpu("0x41", 8, 0xD0C), "llc_misses", 0x37),  # Neoverse N1
    ],
)
def test_machines_of_many_kinds_have_encodings_of_their_own(
    cpu: Cpu, name: str, config: int
) -> None:
    encoding = event_table(cpu)[name]
    assert (encoding.type, encoding.config) == (4, config)


def test_where_a_family_has_no_cache_event_the_generic_one_counts() -> None:
    for cpu in (Cpu("GenuineIntel", 6, 143), Cpu("0x41", 8, 0xD03)):
        assert event_table(cpu)["llc_misses"].type == 0


def test_zen_1_which_cannot_tell_what_the_llc_missed_has_no_name_for_it() -> None:
    zen_1, zen_2 = event_table(Cpu("AuthenticAMD", 23, 1)), event_table(Cpu("AuthenticAMD", 23, 49))
    assert zen_1["llc_requests"].config == 0x0864
    assert {"llc_misses", "dram_reads_remote"}.isdisjoint(zen_1)
    assert {"llc_misses", "dram_reads_remote"} <= set(zen_2)


@pytest.mark.parametrize("model", SEVERAL_PACKAGES)
def test_reads_of_memory_of_intels_servers_since_haswell_have_no_lines_of_other_caches(
    model: int,
) -> None:
    table = event_table(Cpu("GenuineIntel", 6, model))
    local, remote = table["dram_reads_local"], table["dram_reads_remote"]
    assert (local.type, local.config) == (4, 0x01D3)
    assert (remote.type, remote.config) == (4, 0x04D3 if model in (63, 79) else 0x02D3)
    beyond = _configs(table[OTHER_LLC])
    assert {local.config, remote.config}.isdisjoint(beyond)


@pytest.mark.parametrize(
    "cpu",
    [
        *(Cpu("GenuineIntel", 6, model) for model in (26, 30, 37, 44, 46, 47, 42, 45, 58, 62)),
        *(Cpu("AuthenticAMD", family, 1) for family in (16, 21, 23)),
        Cpu("", 0, 0),
    ],
)
def test_node_loads_that_are_of_all_nodes_are_no_reads_of_the_own_node(cpu: Cpu) -> None:
    assert "dram_reads_local" not in event_table(cpu)


@pytest.mark.parametrize(("pmu", "cpu"), INTEL)
def test_intels_names_of_cross_core_traffic_are_those_of_the_family(pmu: str, cpu: Cpu) -> None:
    _, beside, beyond = CROSS_CORE[pmu]
    table = event_table(cpu)
    assert len(table[SAME_LLC].events) == len(beside)
    assert (OTHER_LLC in table) == bool(beyond)
    # A package has one LLC: what is beyond it is another package.
    assert _configs(table.get(OTHER_LLC)) == _configs(table.get(REMOTE))


@pytest.mark.parametrize("model", [1, 17, 33, 97])
def test_on_zen_3_and_4_a_line_of_another_ccx_has_a_name_wherever_its_memory_is(model: int) -> None:
    assert event_table(Cpu("AuthenticAMD", 25, model))[OTHER_LLC].config == 0x1444
    assert event_table(Cpu("AuthenticAMD", 26, 2))[OTHER_LLC].config == 0x1444


@pytest.mark.parametrize(
    "cpu",
    [
        MAGNY_COURS,
        Cpu("AuthenticAMD", 21, 2),
        Cpu("AuthenticAMD", 23, 1),  # Zen 1
        Cpu("AuthenticAMD", 23, 49),  # Zen 2: near caches are counted with the own L3
        *(Cpu("0x41", 8, part) for part in (0xD0C, 0xD40, 0xD49, 0xD4F)),
        Cpu("GenuineIntel", 6, 183),  # two core kinds
        Cpu("", 0, 0),
    ],
)
def test_what_does_not_tell_lines_of_other_cores_has_no_name_for_them(cpu: Cpu) -> None:
    table = event_table(cpu)
    assert not cross_core_events(table)
    assert REMOTE not in table


def test_every_neutral_name_is_an_event_of_the_simulator() -> None:
    assert {name for _, name in all_encodings()} <= set(EVENTS)
    assert set(CROSS_CORE_COUNTERS) <= set(EVENTS)


def test_an_entry_of_several_events_names_a_source_for_each(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(
        "[events]\nx = { type = 'raw', config = [1, 2], libpfm = ['a'] }"
    )
    with pytest.raises(LinuxError, match=r"odd\.toml"):
        event_table(Cpu("", 0, 0), tmp_path)


@pytest.fixture(scope="module")
def libpfm() -> Callable[[str], int | None]:
    """The code of an event by its name there; None for one of another architecture."""
    library = ctypes.util.find_library("pfm")
    if library is None:
        pytest.skip("libpfm4 is not installed")
    os.environ["LIBPFM_ENCODE_INACTIVE"] = "1"
    pfm = ctypes.CDLL(library)
    assert pfm.pfm_initialize() == 0
    kernels_own = 0x530000  # user, OS, interrupt and enable bits, which the kernel sets itself

    def code(event: str) -> int | None:
        if event.startswith("arm_") and os.uname().machine != "aarch64":
            return None  # builds for other machines have none of Arm's tables
        codes, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_int(0)
        user_space = 8  # PFM_PLM3
        result = pfm.pfm_get_event_encoding(
            event.encode(), user_space, None, None, ctypes.byref(codes), ctypes.byref(count)
        )
        assert result == 0, event
        return int(codes[0]) & ~kernels_own

    return code


def test_raw_encodings_are_libpfms(libpfm: Callable[[str], int | None]) -> None:
    checked = 0
    for (table, name), encoding in all_encodings().items():
        for event in encoding.events:
            if not event.libpfm:
                assert event.type != 4, f"{table} {name} has no source"
                continue
            code = libpfm(event.libpfm)
            if code is not None:
                assert code == event.config, f"{table} {name}"
                checked += 1
    assert checked >= 50


@pytest.mark.parametrize("pmu", CROSS_CORE)
def test_cross_core_encodings_are_those_of_each_of_intels_tables_in_libpfm(
    pmu: str, libpfm: Callable[[str], int | None]
) -> None:
    models, beside, beyond = CROSS_CORE[pmu]
    for model in models:
        table = event_table(Cpu("GenuineIntel", 6, model))
        assert _configs(table[SAME_LLC]) == [libpfm(f"{pmu}::{event}") for event in beside]
        assert _configs(table.get(OTHER_LLC)) == [libpfm(f"{pmu}::{event}") for event in beyond]


@pytest.mark.parametrize(
    ("pmu", "events"), [("amd64_fam19h_zen3", _ZEN_3), ("amd64_fam19h_zen4", _ZEN_4)]
)
def test_cross_core_encodings_are_those_of_each_of_amds_tables_in_libpfm(
    pmu: str, events: tuple[str, ...], libpfm: Callable[[str], int | None]
) -> None:
    for cpu in (Cpu("AuthenticAMD", 25, 1), Cpu("AuthenticAMD", 25, 17)):
        found = [libpfm(f"{pmu}::{event}") for event in events]
        assert _configs(event_table(cpu)[OTHER_LLC]) == found


def _configs(encoding: Encoding | None) -> list[int]:
    return [] if encoding is None else [event.config for event in encoding.events]
