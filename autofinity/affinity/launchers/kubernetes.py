"""Kubernetes: what its static CPU manager and topology manager need to choose places like these.

Kubernetes takes no CPU numbers: a kubelet chooses whole cores for containers that ask for whole
CPUs, near each other, and aligned to a node where the topology manager is so set. So the
kubelet's file reserves the CPUs that no rank uses, and the pod asks for the CPUs of each rank's
cores. Both are JSON, which kubelet and kubectl read as YAML. Source: the kubelet's configuration
v1beta1 and "Control CPU (Topology) Management Policies on the Node".

A kubelet gives a container CPUs that are not reserved, on the fewest nodes that have room: one node
after another, or evenly with `distribute-cpus-across-numa`. Kubernetes 1.23 to 1.32 refuse this
option without the feature gate CPUManagerPolicyAlphaOptions. From 1.33 on the option is beta and
needs no gate, but the gate is still known (KEP-2902). So:

    one rank                          gets exactly its CPUs: no others are left
    {4,4} beside others               evenly, over any two nodes without room for all
    {6,2} beside others               one node after another: no option asks for 6 and 2
    {2}{2} where a node has room for 4, or ranks that need both ways: cannot be had, and is refused
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from autofinity.affinity.launchers.form import (
    Job,
    LauncherForm,
    ascending,
    for_all,
    whole_cores,
)
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology


def _kubelet(job: Job) -> str:
    used = whole_cores(job.machine, job.cpus)
    reserved = job.machine.allowed.difference(used)
    if not reserved:
        raise UsageError(
            "the static CPU manager keeps CPUs for the system: leave a core without a thread"
        )
    one_node = all(len(task.nodes) == 1 for task in job.tasks)
    options = {"full-pcpus-only": "true"}
    gates = {}
    if not one_node and len(job.tasks) > 1 and _evenly(job):
        options["distribute-cpus-across-numa"] = "true"
        gates = {"featureGates": {"CPUManagerPolicyAlphaOptions": True}}
    return json.dumps(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            **gates,
            "cpuManagerPolicy": "static",
            "cpuManagerPolicyOptions": options,
            "topologyManagerPolicy": "single-numa-node" if one_node else "best-effort",
            "topologyManagerScope": "container",
            "reservedSystemCPUs": ascending(reserved),
        },
        indent=2,
    )


def _evenly(job: Job) -> bool:
    """Whether each of several ranks has as many CPUs on each of its nodes as on the others.

    Raises `UsageError` where a kubelet would place a rank otherwise.
    """
    wanted = [_by_node(job.machine, task.cpus) for task in job.tasks]
    free = sum(wanted, Counter[int]())
    for rank, counts in enumerate(wanted):
        fullest = sorted((free[node] for node in free), reverse=True)
        if sum(fullest[: len(counts) - 1]) >= counts.total():
            raise UsageError(
                f"a kubelet takes the fewest NUMA nodes that have room, and rank {rank} has room "
                f"on fewer than its {len(counts)}; expected another hint, or --as cgroup"
            )
    ways = {len(set(counts.values())) == 1 for counts in wanted if len(counts) > 1}
    if len(ways) > 1:
        raise UsageError(
            "a kubelet distributes all containers evenly over nodes, or none; these ranks need "
            "both; expected another hint, or --as cgroup"
        )
    return ways == {True}


def _by_node(topology: Topology, cpus: Sequence[OsIndex]) -> Counter[int]:
    """CPUs of whole cores on each logical node."""
    return Counter(topology.by_os_index[cpu].node for cpu in whole_cores(topology, cpus))


def _pod(job: Job) -> str:
    containers = []
    for rank, task in enumerate(job.tasks):
        # CPUs are exclusive if requests and limits, of memory too, are the same and whole.
        amounts = {"cpu": str(len(whole_cores(job.machine, task.cpus))), "memory": "1Gi"}
        containers.append(
            {
                "name": f"rank{rank}",
                "image": "image-of-the-program",
                "env": [{"name": "OMP_NUM_THREADS", "value": str(len(task.cpus))}],
                "resources": {"requests": amounts, "limits": amounts},
            }
        )
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "placed"},
        "spec": {"containers": containers},
    }
    return json.dumps(pod, indent=2)


KUBELET = LauncherForm(
    "Kubernetes: a node's static CPU manager and topology manager; CPUs are chosen by it",
    for_all(_kubelet),
    file="kubelet --config",
    checked="by its documented grammar; a parser needs Go",
)
POD = LauncherForm(
    "Kubernetes: a pod with exclusive CPUs on such a node; image and memory are yours to fill in",
    for_all(_pod),
    file="kubectl apply -f",
    checked="by Kubernetes' schema",
)
