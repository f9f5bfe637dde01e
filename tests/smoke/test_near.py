"""`--near DEVICE`: hints prefer the node of a device, down to the kernel's masks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from device_sysfs_tree import add_devices
from live_masks import allowed, masks_of
from live_run import last_run
from made_up_machine import machine
from permitted import needs_two_cpus
from topology_sysfs_tree import write_sysfs
from warm_commands import run_warm

import autofinity as af
from autofinity.model.affinity import PACKED
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import dumps
from autofinity.runtime.decisions import read_decisions

type Runner = Any  # of conftest.py

FUNCTIONS = [
    {"address": "0000:3b:00.0", "ids": "0x030200 0x10de 0x20b0", "node": 1},
    {"address": "0000:17:00.0", "ids": "0x020000 0x15b3 0x1017", "node": 0},
    {"address": "0000:18:00.0", "ids": "0x020000 0x15b3 0x1017", "node": -1},
]
MEMBERS = [
    {"class": "net", "name": "eth0", "hardware": "pci0000:16/0000:17:00.0"},
    {"class": "net", "name": "eth1", "hardware": "pci0000:16/0000:18:00.0"},
]


@pytest.fixture
def two_nodes(run: Runner, tmp_path: Path) -> dict[str, str]:
    """Environment of two allowed CPUs, each of a node of its own, a GPU on the second one's."""
    first, second = sorted(allowed())[:2]
    shown = machine(packages=2, cores=1, number=lambda core, _: (first, second)[core])
    root = add_devices(write_sysfs(tmp_path / "sys", shown), FUNCTIONS, MEMBERS)
    return run.env | {"AUTOFINITY_SYSFS": str(root)}


def from_the_device_on(pid: int, which: int) -> bool:
    """Whether the two computing threads are on the node of this number, and on the other."""
    near = sorted(allowed())[which]
    (far,) = set(sorted(allowed())[:2]) - {near}
    return masks_of(pid)[1:] == [frozenset({near}), frozenset({far})]


@needs_two_cpus
@pytest.mark.parametrize(("device", "which"), [("gpu0", 1), ("3b:00.0", 1), ("eth0", 0)])
def test_threads_of_a_run_are_placed_from_the_node_of_its_device_on(
    run: Runner, spinner: Path, two_nodes: dict[str, str], device: str, which: int
) -> None:
    words = ("--near", device, "--hint", "packed", "--threads", "2", "--", spinner, "2", "300")
    with run.lasting(*words, env=two_nodes) as process:
        assert run.eventually(lambda: from_the_device_on(process.pid, which))
    told = last_run(run)
    assert f"near {device}: hints prefer node {which}" in told["notes"]


@needs_two_cpus
def test_a_dry_run_shows_the_device_and_the_same_affinities(
    run: Runner, two_nodes: dict[str, str]
) -> None:
    def table(*words: str) -> tuple[list[str], list[str]]:
        done = run("--dry-run", *words, "--threads", "1", "--", "true", env=two_nodes)
        lines = done.stdout.decode().splitlines()
        hints = [line.split(")")[1] for line in lines if "(S" in line or "(s" in line]
        return lines, [text for text in hints if "{" in text]

    lines, near = table("--near", "gpu0")
    _, plain = table()
    assert "near      gpu0, on node 1" in lines
    assert near == plain
    assert f"      thread 0 on CPUs {sorted(allowed())[1]}" in lines


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("eth7", "there is no such device; expected a PCI address or gpu0, eth0, eth1"),
        ("eth1", "the kernel does not know its NUMA node"),
        ("\x1b[2J", "there is no such device"),
    ],
)
@needs_two_cpus
def test_a_run_whose_device_has_no_node_runs_and_one_line_says_so(
    run: Runner, two_nodes: dict[str, str], device: str, said: str
) -> None:
    done = run("--near", device, "--", "sh", "-c", "exit 37", env=two_nodes)
    assert done.returncode == 37
    (line,) = (line for line in done.stderr.decode().splitlines() if "--near" in line)
    assert line.startswith(f"autofinity: --near {device.replace(chr(27), '?')} has no effect: ")
    assert said.split("expected")[0] in line
    assert "\x1b" not in line


def test_near_needs_a_placement_by_a_hint(run: Runner) -> None:
    for words in (
        (
            "--bind",
            "none",
        ),
        ("--mechanism", "spcd"),
    ):
        done = run("--near", "eth0", *words, "--", "true")
        assert done.returncode == 2
        assert b"--near is for threads that a hint places" in done.stderr


@needs_two_cpus
def test_cores_near_a_device_are_no_answer_for_a_run_without_one(
    run: Runner, spinner: Path, policy: Path, two_nodes: dict[str, str]
) -> None:
    env = two_nodes | {"AUTOFINITY_POLICY": str(policy)}
    words = ("--threads", "2", "--", spinner, "2", "300")
    with run.lasting("--near", "gpu0", *words, env=env) as process:
        assert run.eventually(lambda: from_the_device_on(process.pid, 1))
        assert run.eventually(lambda: last_run(run)["hint"] is not None)
    assert read_decisions(run.db.with_name("decisions")) == ()
    with run.lasting(*words, env=env) as process:
        assert run.eventually(lambda: len(read_decisions(run.db.with_name("decisions"))) == 1)
    # The known decision is that of no device either.
    with run.lasting("--near", "gpu0", *words, env=env) as process:
        assert run.eventually(lambda: from_the_device_on(process.pid, 1))


WITH_GPU = """<?xml version="1.0" encoding="UTF-8"?>
<topology>
 <object type="Machine" os_index="0" cpuset="0x0000000f" online_cpuset="0x0000000f">
  <object type="NUMANode" os_index="0" cpuset="0x00000003" nodeset="0x00000001" local_memory="4096">
   <object type="Socket" os_index="0" cpuset="0x00000003"><object type="Core" os_index="0">
    <object type="PU" os_index="0"/></object><object type="Core" os_index="1">
    <object type="PU" os_index="1"/></object></object>
   <object type="PCIDev" pci_busid="0000:02:00.0" pci_type="0200 [8086:10c9] [003c:003f] 01">
    <object type="OSDev" name="eth0" osdev_type="2"/></object>
  </object>
  <object type="NUMANode" os_index="1" cpuset="0x0000000c" nodeset="0x00000002" local_memory="4096">
   <object type="Socket" os_index="1" cpuset="0x0000000c"><object type="Core" os_index="0">
    <object type="PU" os_index="2"/></object><object type="Core" os_index="1">
    <object type="PU" os_index="3"/></object></object>
   <object type="PCIDev" pci_busid="0000:82:00.0" pci_type="0302 [10de:20b0] [0000:0000] a1"/>
  </object>
 </object>
</topology>
"""


@pytest.fixture
def box(tmp_path: Path) -> str:
    """A file of two nodes of two cores, a network card on one and a GPU on the other."""
    path = tmp_path / "box.xml"
    path.write_text(WITH_GPU)
    return str(path)


def call(*words: str) -> subprocess.CompletedProcess[str]:
    return run_warm(words)


def test_topology_shows_devices_and_the_nodes_that_they_hang_on(box: str) -> None:
    shown = call("topology", "--machine", box).stdout.splitlines()
    assert shown[-3:] == [
        "devices",
        "  node 0 (socket 0)  network  eth0 0000:02:00.0",
        "  node 1 (socket 1)  gpu      gpu0 0000:82:00.0",
    ]
    document = json.loads(call("topology", "--machine", box, "--json").stdout)
    assert document["devices"][1] == {
        "names": ["gpu0"],
        "kind": "gpu",
        "pci": "0000:82:00.0",
        "node_os_indices": [1],
        "nodes": [1],
        "packages": [1],
    }


def test_hints_and_topology_place_near_a_device(box: str) -> None:
    words = ("--machine", box, "--threads", "2", "--hint", "packed", "--near", "gpu0")
    found = json.loads(call("hints", *words, "--json").stdout)
    assert found["hints"][0]["cpus"] == [2, 3]
    assert call("hints", *words, "--as", "taskset").stdout == "taskset -c 2-3\n"
    placed = json.loads(call("topology", *words, "--json").stdout)["placement"]
    assert placed["cpus"] == [2, 3]
    assert "2 threads as {2}, near gpu0" in call("topology", *words).stdout


def test_python_places_near_a_device_too(box: str) -> None:
    assert af.get_affinity(box, 2, "packed").cpus == (0, 1)
    assert af.get_affinity(box, 2, "packed", near="gpu0").cpus == (2, 3)
    with pytest.raises(af.AutofinityError, match="no device 'gpu1'"):
        af.get_affinity(box, 2, "packed", near="gpu1")


def test_an_unknown_device_is_refused_with_the_names_that_exist(box: str) -> None:
    refused = call("hints", "--machine", box, "-t", "2", "--near", "gpu1")
    assert refused.returncode == 2
    assert "no device 'gpu1'" in refused.stderr
    assert "expected eth0, gpu0, or a PCI address" in refused.stderr
    bare = call("hints", "--machine", "opteron-6164he", "-t", "2", "--near", "gpu0")
    assert bare.returncode == 2
    assert "opteron-6164he records no devices" in bare.stderr
    without = call("topology", "--near", "gpu0")
    assert "--near gpu0 needs --threads N" in without.stderr


def test_advice_places_near_a_device_and_refuses_an_unknown_one_before_anything_starts(
    box: str, tmp_path: Path
) -> None:
    table = tmp_path / "counters.csv"
    table.write_text("instructions,llc_requests,llc_misses\n5.1e9,8.0e7,6.5e7\n")
    packed = tmp_path / "packed.json"
    packed.write_text(dumps(RulePolicy(("llc_misses",), {"llc_misses": (1.0,)}, (), PACKED)))
    words = ("advise", "--from", str(table), "--machine", box, "--policy", str(packed))
    words = (*words, "--threads", "2", "--json")
    far = json.loads(call(*words).stdout)["placement"]
    near = json.loads(call(*words, "--near", "gpu0").stdout)["placement"]
    assert near["affinity"] == far["affinity"]
    assert (far["near"], far["cpus"]) == (None, [0, 1])
    assert (near["near"], near["cpus"]) == ("gpu0", [2, 3])
    assert "near gpu0: node 1 is preferred, in the same affinity" in near["evidence"]
    started = tmp_path / "started"
    refused = call("advise", "--near", "no-such", "--", "touch", str(started))
    assert refused.returncode == 2
    assert "no device 'no-such'" in refused.stderr
    assert not started.exists()
