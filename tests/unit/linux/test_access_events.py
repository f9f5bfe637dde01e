"""Accesses that a PMU samples: asked for as sysfs says, refused with a reason, read like faults."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from autofinity.linux.access_events import PAGE_FAULTS, AccessEvent, pmu_events
from autofinity.linux.address_sampling import usable_events
from autofinity.linux.event_tables import Encoding
from autofinity.linux.record_ring import FORK, SWITCH, RecordRing, born, told_by
from autofinity.linux.watched_program import watch_touches
from tests.support.kernel_ring import SWITCHED_OUT

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
        os.close(PAGE_FAULTS.open(0))
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
    assert usable_events(tmp_path) == (
        (),
        "no PMU here samples accesses (AMD ibs_op, Arm arm_spe_0, Intel mem-loads)",
    )
    events, why_not = usable_events(pmu(tmp_path, "ibs_op", {"type": "99999"}))
    assert events == ()
    assert why_not.startswith("accesses sampled by ibs_op are not recorded: E")


PAGES = 2000  # of both threads, and of the start, in one CPU's ring: nobody need look at it before
TOUCHER = f"""
import mmap, threading
def touch(memory):
    for page in range({PAGES}):
        memory[page * 4096] = 1
memories = [mmap.mmap(-1, 4096 * {PAGES}) for _ in range(2)]
threads = [threading.Thread(target=touch, args=(memory,)) for memory in memories]
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


SWITCHING = """
import threading, time
def work():
    for _ in range(20):
        time.sleep(0.001)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
DUMMY = Encoding(1, 9)


@pytest.mark.usefixtures("_perf")
def test_the_kernel_tells_of_switches_with_thread_and_time_as_they_are_read() -> None:
    """On an event that counts nothing: these are the records that come beside SPE's."""
    event = AccessEvent("dummy", DUMMY, spe=True)
    go, ready = os.pipe()
    waits = f"import os, sys; os.read({go}, 1); os.execv(sys.executable, sys.argv)"
    cpus = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-c", waits, "-c", SWITCHING]
    with subprocess.Popen(command, pass_fds=[go]) as program:
        rings = [
            RecordRing(event.open(program.pid, cpu=cpu, following=True), 64 << 10) for cpu in cpus
        ]
        os.write(ready, b"1")
    os.close(go)
    os.close(ready)
    threads, outs = {program.pid}, Counter[int]()
    for cpu, ring in zip(cpus, rings, strict=True):
        times = []
        for kind, misc, body in ring.take():
            told = told_by(body)
            assert told.cpu == cpu
            times.append(told.time_ns)
            if kind == FORK:
                threads.add(born(body).tid)
            if kind == SWITCH and misc & SWITCHED_OUT:
                outs[told.tid] += 1
                assert told.pid in (program.pid, -1 % (1 << 32))  # the latter as it ends
        assert times == sorted(times)
        ring.close()
    assert len(threads) == 3
    assert all(outs[tid] >= 20 for tid in threads - {program.pid})


SPE = {
    "type": "9",
    "cpumask": "0-3,8",
    "format/ts_enable": "config:0",
    "format/load_filter": "config:33",
    "format/store_filter": "config:34",
    "format/jitter": "config:16",
    "format/min_latency": "config2:0-11",
    "caps/min_interval": "1024",
}


def test_spe_is_asked_for_loads_and_stores_with_times_by_a_period(tmp_path: Path) -> None:
    (spe,) = pmu_events(pmu(tmp_path, "arm_spe_0", SPE))
    assert spe.name == "accesses sampled by arm_spe_0"
    assert spe.encoding == Encoding(9, 1 | 1 << 16 | 1 << 33 | 1 << 34)
    assert (spe.config1, spe.config2) == (0, 0)
    assert spe.per_s == 0  # its driver refuses rates
    assert spe.period > 1024
    assert spe.cpus == {0, 1, 2, 3, 8}
    assert spe.spe
    assert spe.users_only


def test_each_core_kind_has_its_spe_and_one_that_is_described_otherwise_has_none(
    tmp_path: Path,
) -> None:
    pmu(tmp_path, "arm_spe_0", SPE)
    pmu(tmp_path, "arm_spe_1", SPE | {"type": "10", "cpumask": "4-7"})
    pmu(tmp_path, "arm_spe_2", SPE | {"cpumask": ""})
    pmu(tmp_path, "arm_spe_3", SPE | {"format/ts_enable": "config9:0"})
    found = pmu_events(tmp_path)
    assert [event.encoding.type for event in found] == [9, 10]
    assert found[1].cpus == {4, 5, 6, 7}


@pytest.mark.usefixtures("_perf")
def test_an_event_without_spe_behind_it_is_refused_and_nothing_is_held(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    # The kernel's own CPU clock, whose event opens, is mapped, and has no area.
    empty = {name: "config1:0" for name in SPE if name.startswith("format")}
    events, why_not = usable_events(pmu(tmp_path, "arm_spe_0", SPE | empty | {"type": SOFTWARE}))
    assert events == ()
    assert why_not.startswith("accesses sampled by arm_spe_0 are not recorded: ")
    assert len(os.listdir("/proc/self/fd")) == before
