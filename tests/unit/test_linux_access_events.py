"""Accesses that a PMU samples: asked for as sysfs says, refused with a reason, read like faults."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from autofinity.linux.access_events import PAGE_FAULTS, pmu_events, usable_events
from autofinity.linux.event_tables import Encoding
from autofinity.linux.watched_program import watch_touches

# As an Intel core PMU shows itself (Sapphire Rapids).
PEBS = {
    "type": "4",
    "format/event": "config:0-7",
    "format/umask": "config:8-15",
    "format/ldlat": "config1:0-15",
    "events/mem-loads": "event=0xcd,umask=0x1,ldlat=3",
    "events/mem-stores": "event=0xcd,umask=0x2",
}
SOFTWARE, CPU_CLOCK = "1", "0x0"
PAGE_FAULT = "0x2"


def pmu(devices: Path, name: str, files: dict[str, str]) -> Path:
    for file, text in files.items():
        path = devices / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return devices


def made_of_software(devices: Path, event: str) -> Path:
    """A PMU whose loads are one of the kernel's own events: for machines without one."""
    return pmu(
        devices,
        "cpu",
        {
            "type": SOFTWARE,
            "format/event": "config:0-7",
            "events/mem-loads": f"event={event}",
        },
    )


@pytest.fixture
def _perf() -> None:
    try:
        os.close(PAGE_FAULTS.open(0, 0))
    except OSError as error:
        pytest.skip(f"perf is refused here: {error}")


def test_pebs_is_asked_for_loads_that_took_long_and_for_stores(tmp_path: Path) -> None:
    loads, stores = pmu_events(pmu(tmp_path, "cpu", PEBS))
    assert (loads.encoding, loads.config1) == (Encoding(4, 0x1CD), 30)
    assert (stores.encoding, stores.config1) == (Encoding(4, 0x2CD), 0)
    assert loads.precise
    assert loads.users_only
    assert [loads.name, stores.name] == ["loads sampled by cpu", "stores sampled by cpu"]


def test_each_core_kind_samples_by_itself(tmp_path: Path) -> None:
    pmu(tmp_path, "cpu_core", PEBS)
    pmu(tmp_path, "cpu_atom", PEBS | {"type": "10"})
    assert [event.encoding.type for event in pmu_events(tmp_path)] == [4, 4, 10, 10]


def test_ibs_leaves_the_kernel_out_only_where_it_can(tmp_path: Path) -> None:
    (old,) = pmu_events(pmu(tmp_path / "old", "ibs_op", {"type": "11"}))
    assert (old.users_only, old.config2) == (False, 0)
    new = {"type": "11", "format/swfilt": "config2:0"}
    (filtering,) = pmu_events(pmu(tmp_path / "new", "ibs_op", new))
    assert (filtering.users_only, filtering.config2) == (True, 1)
    assert not filtering.precise


@pytest.mark.parametrize(
    "damage",
    [
        {"format/ldlat": "config9:0"},
        {"format/umask": "nonsense"},
        {"type": "x"},
        {"events/mem-loads": "event=?", "events/mem-stores": ""},
    ],
)
def test_a_pmu_that_is_described_otherwise_has_no_such_event(
    tmp_path: Path, damage: dict[str, str]
) -> None:
    assert len(pmu_events(pmu(tmp_path, "cpu", PEBS | damage))) < 2


def test_bits_are_placed_in_the_parts_that_a_format_names(tmp_path: Path) -> None:
    files = {"type": "4", "format/event": "config:0-7,32-35", "events/mem-loads": "event=0x1cd"}
    (event,) = pmu_events(pmu(tmp_path, "cpu", files))
    assert event.encoding.config == 0xCD | 1 << 32


def test_without_such_a_pmu_and_when_refused_the_reason_is_told(tmp_path: Path) -> None:
    assert usable_events(tmp_path) == ((), "no PMU named ibs_op, or cpu with mem-loads")
    events, why_not = usable_events(pmu(tmp_path, "ibs_op", {"type": "99999"}))
    assert events == ()
    assert why_not.startswith("accesses sampled by ibs_op: E")


PAGES = 4000
TOUCHER = f"""
import mmap, threading
def touch():
    memory = mmap.mmap(-1, 4096 * {PAGES})
    for page in range({PAGES}):
        memory[page * 4096] = 1
threads = [threading.Thread(target=touch) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.usefixtures("_perf")
def test_what_a_pmu_samples_is_seen_with_thread_and_address(tmp_path: Path) -> None:
    events, why_not = usable_events(made_of_software(tmp_path, PAGE_FAULT))
    assert why_not == ""
    each = [dataclasses.replace(event, per_s=0) for event in events]  # not only a sample of them
    code, tally, lost = watch_touches([sys.executable, "-c", TOUCHER], events=each)
    assert code == 0
    assert len(tally.tids) == 3
    of_threads = [seen for seen in tally.pages.pages.values() if any(seen[1:])]
    assert len(of_threads) + lost >= 2 * PAGES


@pytest.mark.usefixtures("_perf")
def test_samples_without_an_address_are_no_accesses(tmp_path: Path) -> None:
    events, _ = usable_events(made_of_software(tmp_path, CPU_CLOCK))
    _, tally, _ = watch_touches([sys.executable, "-c", "sum(range(3_000_000))"], events=events)
    assert tally.touches == 0
