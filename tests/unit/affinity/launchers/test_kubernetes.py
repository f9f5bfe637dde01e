"""Kubernetes' files, by their documented fields: no kubelet is started here."""

from __future__ import annotations

import json
from typing import Any

import pytest
from made_up_machine import machine

from autofinity.affinity.launchers.form import Job, Task
from autofinity.affinity.launchers.table import launcher_form, rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology

SMT = machine(2, 1, 1, 4, 2, number=lambda core, rank: 8 * rank + core)


def document(tool: str, topology: Topology, ranks: int, threads: int, hint: Hint) -> Any:
    (text,) = rank_texts(tool, place_ranks(topology, ranks, threads, hint), topology)
    return json.loads(text)


def test_a_kubelet_reserves_the_cores_without_threads_and_aligns_ranks_to_nodes() -> None:
    # Fields and values: kubernetes.io, "Kubelet Configuration (v1beta1)", "CPU Management Policies
    # on the Node" (options of the static policy are strings), "Topology Management Policies on a
    # Node".
    assert document("kubelet", SMT, 2, 3, PACKED) == {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
        "topologyManagerPolicy": "single-numa-node",
        "topologyManagerScope": "container",
        "reservedSystemCPUs": "3,7,11,15",
    }


WIDE = machine(4, 1, 1, 6)


def test_a_kubelet_fills_one_node_after_another_for_uneven_shares() -> None:
    found = document("kubelet", WIDE, 1, 8, PACKED)
    assert found["topologyManagerPolicy"] == "best-effort"
    assert found["cpuManagerPolicyOptions"] == {"full-pcpus-only": "true"}
    ranks = document("kubelet", WIDE, 2, 8, PACKED)
    assert ranks["cpuManagerPolicyOptions"] == {"full-pcpus-only": "true"}


def test_one_rank_needs_no_option_that_old_kubelets_refuse() -> None:
    # All CPUs that are not reserved are the rank's, so a kubelet has no choice.
    found = document("kubelet", SMT, 1, 6, SPREAD)
    assert found["topologyManagerPolicy"] == "best-effort"
    assert found["cpuManagerPolicyOptions"] == {"full-pcpus-only": "true"}
    assert "featureGates" not in found
    assert found["reservedSystemCPUs"] == "3,7,11,15"


def test_several_ranks_are_distributed_by_an_option_with_its_feature_gate() -> None:
    # kubernetes.io, "Feature Gates": CPUManagerPolicyAlphaOptions, off unless set, shows options of
    # alpha level. KEP-2902: distribute-cpus-across-numa is alpha from 1.23 and beta from 1.33 on.
    found = document("kubelet", WIDE, 2, 8, SPREAD)
    assert found["cpuManagerPolicyOptions"] == {
        "full-pcpus-only": "true",
        "distribute-cpus-across-numa": "true",
    }
    assert found["featureGates"] == {"CPUManagerPolicyAlphaOptions": True}


def test_ranks_that_a_kubelet_would_put_on_fewer_nodes_are_refused() -> None:
    # "CPU Management Policies on the Node": distribute-cpus-across-numa is for "cases where more
    # than one NUMA node is required to satisfy the allocation".
    def task(*cpus: int) -> Task:
        return Task(tuple(map(OsIndex, cpus)), (OsIndex(0), OsIndex(1)))

    with pytest.raises(UsageError, match="rank 0 has room on fewer than its 2"):
        rank_texts_of((task(0, 6), task(1, 7)))
    with pytest.raises(UsageError, match="need both"):
        rank_texts_of((task(0, 1, 6, 7), task(12, 13, 14, 18)))


def rank_texts_of(tasks: tuple[Task, ...]) -> list[str]:
    return launcher_form("kubelet").texts(Job(tasks, WIDE))


@pytest.mark.parametrize(
    ("tool", "said"), [("kubelet", "leave a core"), ("balloons", "leave a CPU")]
)
def test_the_system_needs_a_cpu_of_its_own(tool: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        document(tool, machine(2, 1, 1, 4), 2, 4, PACKED)


def test_a_pod_asks_for_whole_cores_so_that_its_cpus_are_exclusive() -> None:
    # "CPU Management Policies on the Node": only containers of Guaranteed pods (requests equal
    # limits, of CPU and memory) with integer CPU requests get exclusive CPUs; with full-pcpus-only
    # they must be whole cores.
    pod = document("pod", SMT, 2, 3, PACKED)
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    containers = pod["spec"]["containers"]
    assert [each["name"] for each in containers] == ["rank0", "rank1"]
    for container in containers:
        resources = container["resources"]
        assert resources["requests"] == resources["limits"]
        assert resources["limits"]["cpu"] == "6"
        assert "memory" in resources["limits"]
        assert {"name": "OMP_NUM_THREADS", "value": "3"} in container["env"]


# Fields of a balloon type and of the policy, with their types: nri-plugins,
# config/crd/bases/config.nri_balloonspolicies.yaml (v1alpha1) and balloons.md, "Parameters".
TYPE_FIELDS = {
    "name": str,
    "minBalloons": int,
    "maxBalloons": int,
    "minCPUs": int,
    "maxCPUs": int,
    "preferNewBalloons": bool,
    "preferSpreadOnPhysicalCores": bool,
    "preferCloseToDevices": list,
    "components": list,
}
SPEC_FIELDS = {
    "availableResources": dict,
    "reservedResources": dict,
    "pinCPU": bool,
    "pinMemory": bool,
    "balloonTypes": list,
}


@pytest.mark.parametrize(
    ("ranks", "threads", "hint"), [(2, 3, PACKED), (3, 2, PACKED), (1, 6, SPREAD)]
)
def test_a_balloons_policy_has_only_fields_that_it_knows(
    ranks: int, threads: int, hint: Hint
) -> None:
    found = document("balloons", SMT, ranks, threads, hint)
    assert (found["apiVersion"], found["kind"]) == ("config.nri/v1alpha1", "BalloonsPolicy")
    for name, value in found["spec"].items():
        assert type(value) is SPEC_FIELDS[name]
    names = [each["name"] for each in found["spec"]["balloonTypes"]]
    assert len(set(names)) == len(names)
    for balloon in found["spec"]["balloonTypes"]:
        for name, value in balloon.items():
            assert type(value) is TYPE_FIELDS[name]
        parts = [part["balloonType"] for part in balloon.get("components", [])]
        assert set(parts) <= set(names)
        # "CPU allocation parameters are not allowed in composite balloon types"
        assert not (parts and {"minCPUs", "maxCPUs", "preferCloseToDevices"} & balloon.keys())


def test_ranks_on_the_same_node_share_a_type_of_balloons_of_fixed_size() -> None:
    spec = document("balloons", SMT, 4, 1, PACKED)["spec"]
    assert spec["balloonTypes"] == [
        {
            "name": f"rank-node{node}-cpus1",
            "minBalloons": 2,
            "maxBalloons": 2,
            "minCPUs": 1,
            "maxCPUs": 1,
            "preferNewBalloons": True,
            "preferSpreadOnPhysicalCores": True,
            "preferCloseToDevices": [f"/sys/devices/system/node/node{node}"],
        }
        for node in range(2)
    ]
    assert spec["reservedResources"] == {"cpu": "cpuset:1,3,5,7,8,9,10,11,12,13,14,15"}


def test_a_rank_on_several_nodes_is_a_balloon_of_parts() -> None:
    types = document("balloons", SMT, 1, 6, SPREAD)["spec"]["balloonTypes"]
    assert [each["name"] for each in types] == [
        "node0-cpus3",
        "node1-cpus3",
        "rank-node0-cpus3-node1-cpus3",
    ]
    assert types[2]["components"] == [
        {"balloonType": "node0-cpus3"},
        {"balloonType": "node1-cpus3"},
    ]
