"""Agreement of the two readers of this machine, and the shape of a synthetic machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.linux.topology import host_topology, synthetic_topology
from autofinity.model.errors import TopologyError


def test_sysfs_and_hwloc_see_the_same_machine() -> None:
    assert read_sysfs() == host_topology()


def test_only_what_this_process_may_use_is_allowed() -> None:
    assert host_topology().allowed == os.sched_getaffinity(0)


def test_the_sysfs_reader_needs_neither_hwloc_nor_numpy() -> None:
    code = (
        "import sys; from autofinity.linux.sysfs_topology import read_sysfs; read_sysfs();"
        "print([m for m in ('numpy', 'pyhwloc', 'rich', 'click') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_hwloc_settings_of_the_environment_do_not_change_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:7 core:3 pu:1")
    assert host_topology() == read_sysfs()


def test_a_synthetic_machine_has_what_it_says() -> None:
    topology = synthetic_topology("pack:4 numa:2 l3:1 core:6 pu:1")
    assert (topology.n_packages, topology.n_nodes, topology.n_llcs) == (4, 8, 8)
    assert (topology.n_cores, len(topology.pus)) == (48, 48)
    assert topology.distances[0][:2] == (10, 20)
    assert topology.origin == "synthetic"


def test_several_nodes_in_one_cache_and_several_caches_in_one_node() -> None:
    topology = synthetic_topology("pack:1 l3:2 numa:2 core:2 pu:2")
    assert [pu.llc for pu in topology.pus[::2]] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [pu.node for pu in topology.pus[::2]] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert topology.llc_parts == 2
    topology = synthetic_topology("pack:2 numa:1 l3:3 core:2 pu:1")
    assert (topology.n_nodes, topology.n_llcs) == (2, 6)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "pack:2 core:3", "pack:0 core:1 pu:1", "pack:9999 core:9999 pu:9"]
)
def test_a_description_that_makes_no_machine_is_an_error_that_repeats_it(text: str) -> None:
    with pytest.raises(TopologyError, match="synthetic description") as caught:
        synthetic_topology(text)
    assert repr(text) in str(caught.value)
