"""The balloons policy of Kubernetes' nri-resource-policy: a balloon of fixed size for each rank.

A balloon is near nodes and has a number of CPUs; the policy chooses these, among the CPUs that
the ranks use. Ranks on the same nodes share a type of balloons. A rank on several nodes has a
balloon made of one component a node. Sources: nri-plugins,
docs/resource-policy/policy/balloons.md ("Parameters", "Combining Balloons") and
config/crd/bases/config.nri_balloonspolicies.yaml. JSON is YAML, too.
"""

from __future__ import annotations

import json
from collections import Counter

from autofinity.affinity.launchers.form import (
    Job,
    LauncherForm,
    Task,
    ascending,
    cores_of,
    for_all,
)
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology

type _Shape = tuple[tuple[OsIndex, int], ...]
"""CPUs on each node, by the kernel's number of the node."""


def _policy(job: Job) -> str:
    topology = job.machine
    spread = len(cores_of(topology, job.cpus)) == len(set(job.cpus))
    types: dict[str, dict[str, object]] = {}
    for shape, count in Counter(_shape(topology, task) for task in job.tasks).items():
        parts = [_near(node, cpus, spread=spread) for node, cpus in shape]
        name = "-".join(str(part["name"]) for part in parts)
        if len(parts) == 1:
            rank = parts[0]
        else:
            types |= {str(part["name"]): part for part in parts}
            rank = {"components": [{"balloonType": part["name"]} for part in parts]}
        types[f"rank-{name}"] = {
            **rank,
            "name": f"rank-{name}",
            "minBalloons": count,
            "maxBalloons": count,
            "preferNewBalloons": True,
        }
    reserved = topology.allowed.difference(job.cpus)
    if not reserved:
        raise UsageError("balloons leave CPUs for the system: leave a CPU without a thread")
    document = {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": "default", "namespace": "kube-system"},
        "spec": {
            "availableResources": {"cpu": f"cpuset:{ascending(topology.allowed)}"},
            "reservedResources": {"cpu": f"cpuset:{ascending(reserved)}"},
            "pinCPU": True,
            "pinMemory": True,
            "balloonTypes": list(types.values()),
        },
    }
    return json.dumps(document, indent=2)


def _shape(topology: Topology, task: Task) -> _Shape:
    counts = Counter(topology.node_os_indices[topology.by_os_index[cpu].node] for cpu in task.cpus)
    return tuple(sorted(counts.items()))


def _near(node: OsIndex, cpus: int, *, spread: bool) -> dict[str, object]:
    """A type of balloons near one node; near any where its number is not known."""
    near = {} if node < 0 else {"preferCloseToDevices": [f"/sys/devices/system/node/node{node}"]}
    return {
        "name": f"cpus{cpus}" if node < 0 else f"node{node}-cpus{cpus}",
        "minCPUs": cpus,
        "maxCPUs": cpus,
        "preferSpreadOnPhysicalCores": spread,
        **near,
    }


BALLOONS = LauncherForm(
    "nri-resource-policy-balloons: near these nodes; CPUs are chosen by it",
    for_all(_policy),
    file="kubectl apply -f",
    checked="by its documented grammar; a parser needs Go",
)
