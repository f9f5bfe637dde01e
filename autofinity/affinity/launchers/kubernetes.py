"""Kubernetes: what its static CPU manager and topology manager need to choose places like these.

Kubernetes takes no CPU numbers: a kubelet chooses whole cores for containers that ask for whole
CPUs, near each other, and aligned to a node where the topology manager is so set. So the
kubelet's file reserves the CPUs that no rank uses, and the pod asks for the CPUs of each rank's
cores. Both are JSON, which kubelet and kubectl read as YAML. Source: the kubelet's configuration
v1beta1 and "Control CPU (Topology) Management Policies on the Node".
"""

from __future__ import annotations

import json

from autofinity.affinity.launchers.form import (
    Job,
    LauncherForm,
    ascending,
    for_all,
    whole_cores,
)
from autofinity.model.errors import UsageError


def _kubelet(job: Job) -> str:
    used = whole_cores(job.machine, job.cpus)
    reserved = job.machine.allowed.difference(used)
    if not reserved:
        raise UsageError(
            "the static CPU manager keeps CPUs for the system: leave a core without a thread"
        )
    one_node = all(len(task.nodes) == 1 for task in job.tasks)
    options = {"full-pcpus-only": "true"}
    if not one_node:
        options["distribute-cpus-across-numa"] = "true"
    return json.dumps(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "cpuManagerPolicy": "static",
            "cpuManagerPolicyOptions": options,
            "topologyManagerPolicy": "single-numa-node" if one_node else "best-effort",
            "topologyManagerScope": "container",
            "reservedSystemCPUs": ascending(reserved),
        },
        indent=2,
    )


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
)
POD = LauncherForm(
    "Kubernetes: a pod with exclusive CPUs on such a node; image and memory are yours to fill in",
    for_all(_pod),
    file="kubectl apply -f",
)
