"""Open MPI 4 and 5: what mpirun itself binds ranks to, on simulated machines and here."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from launcher_tools import (
    MASK,
    SHAPES,
    allowed_here,
    numbers,
    open_mpi,
    run,
    simulated,
    surroundings,
)
from made_up_machine import cpus, machine
from small_cpuset import small_cpuset

from autofinity.affinity.launchers.form import Job, Task
from autofinity.affinity.launchers.table import LAUNCHERS, launcher_form, rank_texts
from autofinity.affinity.ranks import Rank, place_ranks
from autofinity.linux.topology import host_topology
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.errors import UsageError
from autofinity.model.topology import Cache, OsIndex, Topology

WAYS = [
    (ranks, threads, hint)
    for ranks, threads in ((2, 2), (4, 2), (3, 1))
    for hint in (PACKED, SPREAD)
]
L3 = (Cache(3, 1 << 20, 64, 16, 4),)


def bound_by(
    version: int, words: list[str], topology: Topology, xml: Path, folder: Path
) -> list[set[int]]:
    """CPUs of each rank by the map that mpirun shows before it starts anything."""
    mpirun = open_mpi(version)
    if version == 4:
        env = surroundings(folder, HWLOC_XMLFILE=str(xml), HWLOC_THISSYSTEM="1")
        show = ["--host", "localhost:64", "--display-map"]
        done = run([mpirun, *show, *words, "true"], env)  # binding may fail here, later
        lines = re.findall(r"Process rank: \d+ Bound: (.*?):\[", done.stdout)
        return [_cpus_of_cores(topology, line) for line in lines]
    show = ["--prtemca", "hwloc_use_topo_file", str(xml), "--display", "map"]
    done = run([mpirun, *show, "--rtos", "donotlaunch", *words, "true"], surroundings(folder))
    found = []
    for line in re.findall(r"Binding: (.*)", done.stdout):
        bound: set[int] = set()
        for kind, listed in re.findall(r"\[(hwt|core):L?([\d,-]+)\]", line):
            if kind == "hwt":
                bound |= set(numbers(listed))
            else:
                cores = set(numbers(listed))
                bound |= {pu.os_index for pu in topology.pus if pu.core in cores}
        if bound:
            found.append(bound)
    return found


def _cpus_of_cores(topology: Topology, line: str) -> set[int]:
    """CPUs of `socket 0[core 1[hwt 0-1]], …`: cores by their logical numbers."""
    return {
        pu.os_index
        for core, ranks in re.findall(r"core (\d+)\[hwt ([\d,-]+)\]", line)
        for pu in topology.pus
        if pu.core == int(core) and pu.smt_rank in numbers(ranks)
    }


def command(text: str, file: Path) -> list[str]:
    """Words of the command that the first line of a rankfile shows, with the file's name."""
    file.write_text(text + "\n")
    shown = text.splitlines()[0].partition("mpirun ")[2]
    return shlex.split(shown.replace("FILE", str(file)))


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("shape", SHAPES)
def test_mpirun_binds_each_rank_to_the_cpus_of_the_rankfile(
    version: int, shape: str, tmp_path: Path
) -> None:
    topology, xml = simulated(shape, tmp_path)
    for ranks, threads, hint in WAYS:
        places = place_ranks(topology, ranks, threads, hint)
        (text,) = rank_texts(f"openmpi{version}-rankfile", places, topology)
        words = command(text, tmp_path / "ranks")
        bound = bound_by(version, words, topology, xml, tmp_path)
        assert bound == [set(rank.cores.cpus) for rank in places], (ranks, threads, hint)


def test_second_pus_of_cores_are_bound_one_by_one(tmp_path: Path) -> None:
    topology, xml = simulated("smt", tmp_path)
    places = place_ranks(topology, 2, 12, PACKED)
    for version in (4, 5):
        (text,) = rank_texts(f"openmpi{version}-rankfile", places, topology)
        words = command(text, tmp_path / "ranks")
        assert bound_by(version, words, topology, xml, tmp_path) == [
            set(rank.cores.cpus) for rank in places
        ]


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize(
    ("shape", "ranks", "threads", "pattern"),
    [
        ("smt", 2, 8, "ppr:1:SOCKET:PE=8"),
        ("smt", 4, 4, "ppr:2:SOCKET:PE=4"),
        ("smt", 4, 2, "ppr:1:l3cache:PE=2"),
        ("smt", 3, 2, "ppr:1:l3cache:PE=2"),
        ("smt", 2, 3, "ppr:1:SOCKET:PE=3"),
        ("plain", 2, 2, "ppr:1:SOCKET:PE=2"),
        ("interleaved", 4, 2, "ppr:2:SOCKET:PE=2"),
    ],
)
def test_mpirun_binds_ranks_by_the_pattern_to_their_cores(
    version: int, shape: str, ranks: int, threads: int, pattern: str, tmp_path: Path
) -> None:
    topology, xml = simulated(shape, tmp_path)
    places = place_ranks(topology, ranks, threads, PACKED)
    (line,) = rank_texts(f"openmpi{version}", places, topology)
    said = pattern.replace("SOCKET", "socket" if version == 4 else "package")
    assert line == f"mpirun -n {ranks} --map-by {said} --bind-to core"
    whole = [
        {pu.os_index for pu in topology.pus if pu.core in _cores(topology, rank)} for rank in places
    ]
    assert bound_by(version, line.split()[1:], topology, xml, tmp_path) == whole


def _cores(topology: Topology, rank: Rank) -> set[int]:
    return {topology.by_os_index[cpu].core for cpu in rank.cores.cpus}


@pytest.mark.parametrize("version", [4, 5])
def test_places_without_a_pattern_are_refused(version: int) -> None:
    whole = machine(2, 1, 2, 4, caches=L3)
    part = whole.restricted(cpus(*range(12)))
    for topology, hint, said in (
        (whole, SPREAD, "no pattern for these places: use a rankfile"),
        (part, PACKED, "the machine is not whole"),
    ):
        with pytest.raises(UsageError, match=said):
            rank_texts(f"openmpi{version}", place_ranks(topology, 2, 4, hint), topology)


@pytest.mark.parametrize("version", [4, 5])
def test_a_pattern_names_caches_where_they_are_whole(version: int) -> None:
    whole = machine(1, 1, 4, 4, caches=L3)
    places = place_ranks(whole, 4, 2, PACKED)
    (line,) = rank_texts(f"openmpi{version}", places, whole)
    assert "ppr:1:l3cache:PE=2" in line
    with pytest.raises(UsageError, match="no pattern"):
        rank_texts(f"openmpi{version}", places, replace(whole, llc_parts=4))


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("within", ["nothing", "a mask", "a cpuset"])
def test_numbers_of_rankfiles_hold_within_masks_and_cpusets(
    version: int, within: str, tmp_path: Path
) -> None:
    mpirun = open_mpi(version)
    last = allowed_here(2)[-1]
    topology = host_topology()
    shown = frozenset({last}) if within == "a cpuset" else frozenset(topology.by_os_index)
    form = launcher_form(f"openmpi{version}-rankfile")
    (text,) = form.texts(Job((Task((last,)),), topology.restricted(frozenset({last})), shown))
    words = [mpirun, *command(text, tmp_path / "ranks"), "sh", "-c", MASK]
    if within == "a mask":
        words = ["taskset", "-c", str(last), *words]
    if within != "a cpuset":
        done = run(words, surroundings(tmp_path))
    else:
        with small_cpuset([last]) as group:
            done = run([*group.command(), *words], surroundings(tmp_path))
    assert done.stdout.split() == ["Cpus_allowed_list:", str(last)], done.stderr


def test_the_two_versions_are_told_apart_in_all_that_is_shown() -> None:
    for version in (4, 5):
        for name in (f"openmpi{version}", f"openmpi{version}-rankfile"):
            assert f"Open MPI {version}" in LAUNCHERS[name].meaning
    (four,) = rank_texts("openmpi4-rankfile", place_ranks(machine(), 1, 1, PACKED), machine())
    assert four.splitlines()[0].startswith("# Open MPI 4: mpirun -n 1 --rankfile FILE")


def test_open_mpi_5_counts_the_cpus_that_its_cgroup_shows() -> None:
    odd = machine(1, 1, 1, 4, number=lambda core, _: 10 + 2 * core)
    job = Job((Task((OsIndex(16), OsIndex(14))),), odd, cpus(12, 14, 16))
    (text,) = launcher_form("openmpi5-rankfile").texts(job)
    assert text.splitlines()[1] == "rank 0=localhost slot=1,2"
    (text,) = launcher_form("openmpi4-rankfile").texts(job)
    assert text.splitlines()[1] == "rank 0=localhost slot=14,16"
