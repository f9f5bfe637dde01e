"""Recordings by `record-machine` of machines that are not here: many nodes, two kinds of cores."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from made_up_machine import machine as regular

from autofinity._core import measure
from autofinity.free_memory import free_bytes, free_bytes_of_node
from autofinity.model.topology import Cache, Topology
from autofinity.recording import bench, node_bandwidth, record
from autofinity.recording.assumed import Assumed
from autofinity.recording.bench import Bench
from autofinity.recording.cpuid import TlbShape, inclusive, tlb_shape
from autofinity.recording.host_caches import HostCache, host_caches
from autofinity.recording.node_bandwidth import bytes_each, held_bytes, some_readers
from autofinity.recording.rows import idle, peak, several
from autofinity.sim.native import machine_model
from autofinity.sim.preset import read_preset
from autofinity.sim.sources import count_marks
from autofinity.sim.spec import MachineSpec, SystemSpec

KIB = 1024


def test_a_time_is_that_of_the_fastest_round_and_a_rate_that_of_the_best() -> None:
    assert idle([12.0, 10.0, 20.0]).value == 10
    assert idle([12.0, 10.0, 20.0]).spread == pytest.approx(0.2)
    assert peak([8.0, 10.0, 5.0]).value == 10
    assert peak([8.0, 10.0, 5.0]).spread == pytest.approx(0.2)
    places = several([idle([10.0]), idle([12.0]), idle([11.0])])
    assert places.value == 11
    assert places.spread == pytest.approx(2 / 11)


# --- CPUID: registers of processors of both makers.

ZEN3 = {
    (0, 0): (16, 0x68747541, 0x444D4163, 0x69746E65),
    (0x80000005, 0): (0xFF40FF40, 0xFF40FF40, 0, 0),
    (0x80000006, 0): (0x48002200, 0x68004200, 0, 0),
    (0x8000001D, 0): (0x121, 0, 0, 0),
    (0x8000001D, 1): (0x122, 0, 0, 0),
    (0x8000001D, 2): (0x143, 0, 0, 2),
    (0x8000001D, 3): (0x163, 0, 0, 1),
}
GOLDEN_COVE = {
    (0, 0): (32, 0x756E6547, 0x6C65746E, 0x49656E69),
    (0x18, 0): (4, 0, 0, 0),
    (0x18, 1): (0, 0x00080001, 32, 0x22),  # instructions: not ours
    (0x18, 2): (0, 0x00040003, 16, 0x24),  # loads, small and large pages
    (0x18, 3): (0, 0x00100001, 1, 0x125),  # stores: not ours
    (0x18, 4): (0, 0x00080003, 256, 0x43),  # second level, all pages
    (0x4, 0): (0x21, 0, 0, 0),
    (0x4, 1): (0x43, 0, 0, 0),
    (0x4, 2): (0x163, 0, 0, 2),
}


def cpuid_of(
    table: dict[tuple[int, int], tuple[int, int, int, int]],
) -> Callable[[int, int], tuple[int, int, int, int] | None]:
    return lambda leaf, subleaf: table.get((leaf, subleaf))


def test_amd_tells_of_its_tlbs_in_two_leaves() -> None:
    assert tlb_shape(cpuid_of(ZEN3)) == TlbShape(64, 0, 2048, 8, 64, 0)


def test_intel_tells_of_its_tlbs_in_a_list() -> None:
    assert tlb_shape(cpuid_of(GOLDEN_COVE)) == TlbShape(64, 4, 2048, 8, 64, 0)


def test_other_processors_and_hypervisors_tell_nothing() -> None:
    assert tlb_shape(cpuid_of({})) is None
    assert tlb_shape(cpuid_of({(0, 0): ZEN3[0, 0]})) is None
    assert tlb_shape(cpuid_of({(0, 0): GOLDEN_COVE[0, 0]})) is None
    assert inclusive(cpuid_of({}), 3) is None


def test_inclusion_is_that_of_the_level_asked_for() -> None:
    assert [inclusive(cpuid_of(ZEN3), level) for level in (1, 2, 3)] == [False, True, False]
    assert [inclusive(cpuid_of(GOLDEN_COVE), level) for level in (1, 2, 3)] == [False, False, True]


# --- sysfs and procfs


def test_caches_of_a_cpu_come_innermost_first_without_instructions(tmp_path: Path) -> None:
    folder = tmp_path / "devices" / "system" / "cpu" / "cpu3" / "cache"
    entries = [
        ("index3", "Unified", "3", "36864K", "12", "0-31"),
        ("index0", "Data", "1", "48K", "12", "2-3"),
        ("index1", "Instruction", "1", "32K", "8", "2-3"),
        ("index2", "Unified", "2", "2M", "0", "2-3"),
    ]
    for name, *texts in entries:
        (folder / name).mkdir(parents=True)
        keys = ("type", "level", "size", "ways_of_associativity", "shared_cpu_list")
        for key, text in zip(keys, texts, strict=True):
            (folder / name / key).write_text(text + "\n")
    found = host_caches(3, tmp_path)
    assert [(c.level, c.size_bytes, c.ways) for c in found] == [
        (1, 48 * KIB, 12),
        (2, 2048 * KIB, 0),
        (3, 36864 * KIB, 12),
    ]
    assert found[1].cpus == {2, 3}
    assert host_caches(4, tmp_path) == ()


def test_the_limit_of_a_container_bounds_the_buffers(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   4194304 kB\n")
    assert free_bytes(tmp_path, tmp_path) == 4 << 30
    (tmp_path / "memory.max").write_text("1073741824\n")
    (tmp_path / "memory.current").write_text("536870912\n")
    assert free_bytes(tmp_path, tmp_path) == 512 << 20
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes(tmp_path, tmp_path) == 4 << 30


# --- whole machines, with measurements that are made up


@dataclass
class FakeMeasure:
    """Measurements that know which CPU and node they are asked about."""

    slow: Sequence[int] = ()
    bind: bool = True
    switches: Sequence[float] = (1500.0, 1400.0)

    def clock_ghz(self, cpu: int, rounds: int) -> list[float]:
        return [2.0 if cpu in self.slow else 4.0] * rounds

    def chase_ns(self, cpu: int, lines: int, **options: int) -> list[float]:
        node = options.get("node", -1)
        if node >= 0:
            if not self.bind:
                raise OSError("memory cannot be bound to node 1: Operation not permitted")
            return [100.0 + 50 * abs(node - cpu // 2), 300.0]
        if options.get("chains", 1) > 1:
            return [10.0]
        return [1.0 if lines * 64 <= 32 * KIB else 5.0 if lines * 64 <= 512 * KIB else 100.0]

    def atomic_ns(self, cpu: int, rounds: int) -> list[float]:
        return [6.0]

    def page_fault_ns(self, cpu: int, rounds: int) -> list[float]:
        return [700.0]

    def handover_ns(self, cpu: int, other: int, rounds: int) -> list[float]:
        return [40.0 + 60 * abs(cpu // 2 - other // 2)]

    def switch_ns(self, cpu: int, rounds: int) -> list[float]:
        return list(self.switches)

    def wake_and_switch_ns(self, cpu: int, rounds: int) -> list[float]:
        return [2600.0]

    def move_ns(self, cpu: int, other: int, rounds: int) -> list[float]:
        assert cpu != other
        return [5000.0]

    def read_gbs(self, cpus: Sequence[int], node: int, size: int, rounds: int) -> list[float]:
        if node >= 0 and not self.bind:
            raise OSError("no")
        return [30.0 - 10 * abs(node - cpus[0] // 2) if node >= 0 else 25.0]

    def cpuid(self, cpu: int, leaf: int, subleaf: int) -> tuple[int, int, int, int] | None:
        return ZEN3.get((leaf, subleaf))


MEASUREMENTS = [
    name for name in vars(FakeMeasure) if name.endswith(("_ns", "_ghz", "_gbs", "cpuid"))
]
CACHES = (
    HostCache(1, 32 * KIB, 8, frozenset({0})),
    HostCache(2, 512 * KIB, 8, frozenset({0})),
    HostCache(3, 16384 * KIB, 16, frozenset({0, 1})),
)


type Record = Callable[..., tuple[MachineSpec, str]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Record:
    """Records a machine by measurements that are made up; the machine, and its file's text."""

    def recorded(
        topology: Topology, fake: object = None, caches: tuple[HostCache, ...] = CACHES
    ) -> tuple[MachineSpec, str]:
        made_up = fake or FakeMeasure()
        for name in MEASUREMENTS:
            monkeypatch.setattr(measure, name, getattr(made_up, name))
        monkeypatch.setattr(record, "host_caches", lambda cpu: caches)
        steps: list[str] = []
        announced: list[int] = []

        def begin(count: int) -> Callable[[str], None]:
            announced.append(count)
            return steps.append

        text = record.record("made-up", True, begin, topology)
        assert announced == [len(steps)]
        path = tmp_path / "machine.toml"
        path.write_text(text)
        spec = read_preset(path)
        machine_model(spec)
        assert count_marks(text)[""] == 0
        return spec, text

    return recorded


def machine(nodes: int, cores: int, efficiency: Sequence[int] = ()) -> Topology:
    """`cores` cores on every node; each node a package and an LLC domain."""
    made_up = regular(nodes, cores=cores)
    pus = (
        dataclasses.replace(pu, efficiency=kind)
        for pu, kind in zip(made_up.pus, efficiency or [0] * nodes * cores, strict=True)
    )
    distances = tuple(tuple(10 + 11 * abs(a - b) for b in range(nodes)) for a in range(nodes))
    return dataclasses.replace(made_up, pus=tuple(pus), distances=distances, model='AMD "Test"')


def test_distances_of_several_nodes_are_measured_class_by_class(recorded: Record) -> None:
    here = dataclasses.replace(machine(3, 2), memoryless_nodes=frozenset({2}))
    spec, text = recorded(here)
    assert spec.home_nodes == (0, 1)
    assert spec.node_distance[0] == (0, 2, 3)
    # Class 1 (another domain of the package) is not there: as the class before.
    assert spec.latency.dram == (100, 100, 150, 200)
    assert spec.latency.load_modified == (40, 40, 100, 160)
    assert spec.bandwidth.memory_gbs == (30, 30, 30)
    assert [link.gbs for link in spec.bandwidth.links] == [20, 10, 20]
    assert "class 1 is not here" in text
    assert spec.protocol == "moesi"
    assert spec.model == 'AMD "Test"'
    assert (spec.ghz, spec.l1.latency_ns, spec.llc.latency_ns) == (4.0, 1.0, 100.0)
    assert spec.core.misses_in_flight == 10
    assert spec.tlb.l2_entries == 2048
    assert spec.llc.inclusion == "victim"


def test_with_sub_numa_clusters_a_domain_has_its_part_of_the_cache(recorded: Record) -> None:
    clustered = dataclasses.replace(machine(2, 2), llc_parts=2, model="Intel")
    spec, text = recorded(clustered)
    assert (spec.llc.size_bytes, spec.llc_by_home) == (8192 * KIB, True)
    assert "a node's part of 16777216, of 2" in text
    of_amd, _ = recorded(dataclasses.replace(clustered, model="AMD"))
    assert (of_amd.llc.size_bytes, of_amd.llc_by_home) == (8192 * KIB, False)


def test_a_switch_takes_no_longer_than_one_with_a_wake_up(recorded: Record) -> None:
    busy = FakeMeasure(switches=(8e6,))  # others ran as well
    spec, _ = recorded(machine(1, 2), busy)
    assert spec.system.context_switch_us == 2.6
    assert spec.system.wake_us == 0


def test_where_memory_cannot_be_bound_the_remote_one_is_marked(recorded: Record) -> None:
    spec, text = recorded(machine(2, 2), FakeMeasure(bind=False))
    assert spec.latency.dram[0] == 100
    assert spec.latency.dram[2] == pytest.approx(100 * 145 / 90, rel=1e-3)
    assert "E ±30 %: remote not allowed to bind memory" in text
    assert ": assumed.toml (nothing could be measured)" in text


def test_kinds_of_cores_are_classes_fastest_first(recorded: Record) -> None:
    hybrid = machine(1, 4, efficiency=[0, 1, 1, 0])
    spec, _ = recorded(hybrid, FakeMeasure(slow=[0, 3]))
    assert [kind.ghz for kind in spec.core_classes] == [4.0, 2.0]
    assert spec.class_of_core == (1, 0, 0, 1)
    assert [pu.efficiency for pu in spec.topology.pus] == [0, 1, 1, 0]


def test_a_page_size_that_is_not_simulated_becomes_the_next_smaller(recorded: Record) -> None:
    large = dataclasses.replace(machine(1, 2), page_sizes_bytes=(65536, 2 << 20))
    spec, text = recorded(large)
    assert spec.page_bytes == 16384
    assert "D: 65536 in truth (sysconf R)" in text


def test_one_core_without_known_caches_is_a_machine_too(recorded: Record) -> None:
    spec, text = recorded(machine(1, 1), caches=())
    assert spec.l1.size_bytes == 32 * KIB
    assert spec.l2 is None
    assert "E ±50 %: no two cores to measure" in text
    assert len(spec.latency.dram) == 3


def test_a_wake_up_is_what_a_pipe_takes_longer_than_a_switch(recorded: Record) -> None:
    spec, text = recorded(machine(1, 2))
    assert spec.system.context_switch_us == spec.system.spin_us == 1.4
    assert spec.system.wake_us == pytest.approx(1.2)
    assert spec.system.migration_us == 5
    assert "context_switch_us = 1.4          # M: spread 4%" in text


def test_where_threads_never_met_or_cannot_move_the_system_is_assumed(recorded: Record) -> None:
    spec, text = recorded(machine(1, 1), FakeMeasure(switches=()))
    assert spec.system == assumed_system()
    assert re.search(r"migration_us = 4 +# E [\d.]+\.\.[\d.]+: assumed.toml", text)


def assumed_system() -> SystemSpec:
    assumed = Assumed().table("system")
    return SystemSpec(**{key: float(str(value)) for key, value in assumed.items()})


def test_a_buffer_is_beyond_the_cache_but_within_the_memory() -> None:
    some = Bench(rounds=3, pairs=1, most_bytes=3 << 30)
    assert some.beyond(16 << 20) == 64 << 20
    assert some.beyond(1 << 30) == 3 << 30
    assert some.beyond(1 << 20) == 8 << 20
    # Caches of unknown size may be large.
    assert some.beyond(0) == 1 << 30


def many_caches(domains: int, cores: int) -> Topology:
    """One node with LLC domains of 32 MiB; each core has 1 MiB of its own."""
    caches = (Cache(2, 1 << 20, 64, 8, 1), Cache(3, 32 << 20, 64, 16, cores))
    return dataclasses.replace(regular(1, 1, domains, cores), caches=caches)


def test_the_buffers_of_all_readers_are_beyond_all_their_caches_together() -> None:
    node = many_caches(domains=12, cores=8)
    assert held_bytes(node, node.pus) == 12 * (32 + 8) << 20
    readers = some_readers(node.pus)
    assert len(readers) == 48 and {pu.llc for pu in readers} == set(range(12))
    each = bytes_each(node, readers, 0, Bench(3, 1, 64 << 30))
    assert each is not None and len(readers) * each >= 4 * held_bytes(node, readers) - len(readers)


def test_where_caches_would_hold_half_of_the_buffers_no_bandwidth_is_measured(
    recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = many_caches(domains=2, cores=2)
    assert bytes_each(node, node.pus, 0, Bench(3, 1, 128 << 20)) is None
    assert bytes_each(node, node.pus, 0, Bench(3, 1, 136 << 20)) == 34 << 20
    monkeypatch.setattr(bench, "free_bytes", lambda: 4 * (128 << 20))
    _, text = recorded(node)
    assert re.search(r"memory_gbs = [\d.]+ +# .*assumed.toml", text)


def test_a_node_with_little_free_memory_is_not_filled(
    recorded: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    meminfo = tmp_path / "node3" / "meminfo"
    meminfo.parent.mkdir()
    meminfo.write_text(
        "\nNode 3 MemTotal: 900 kB\nNode 3 MemFree: 100 kB\nNode 3 Inactive(file):  28 kB\n"
    )
    assert free_bytes_of_node(3, tmp_path) == 128 << 10
    assert free_bytes_of_node(0, tmp_path) is None
    full = 1

    def free(node: int) -> int | None:
        return 1 << 20 if node == full else None

    monkeypatch.setattr(node_bandwidth, "free_bytes_of_node", free)
    caches = (Cache(3, 32 << 20, 64, 16, 2),)
    spec, text = recorded(dataclasses.replace(machine(2, 2), caches=caches))
    assert spec.bandwidth.memory_gbs == (30, 30)
    assert "the least of others for nodes with too little free memory" in text


# --- the native measurements refuse what they cannot do


ALLOWED = min(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measure.clock_ghz(100_000), "CPU 100000 cannot be used"),
        (lambda: measure.chase_ns(ALLOWED, 4), "at least 32 lines"),
        (lambda: measure.chase_ns(ALLOWED, 64, chains=3), "1 or 32 chains"),
        (lambda: measure.read_gbs([100_000], -1, 1 << 20), "CPU 100000 cannot be used"),
        (lambda: measure.handover_ns(ALLOWED, 100_000), "CPU 100000 cannot be used"),
        (lambda: measure.read_gbs([ALLOWED], 5000, 1 << 20), "node 5000"),
        (lambda: measure.switch_ns(100_000), "CPU 100000 cannot be used"),
        (lambda: measure.wake_and_switch_ns(100_000), "CPU 100000 cannot be used"),
        (lambda: measure.move_ns(ALLOWED, 100_000), "CPU 100000 cannot be used"),
    ],
)
def test_what_cannot_be_measured_is_an_error_that_says_which(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(OSError, match=message):
        call()
