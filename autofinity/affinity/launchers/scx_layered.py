"""scx_layered, a scheduler of sched_ext: a confined layer for each rank, by its cgroup.

A layer has a number of CPUs of given caches; the scheduler chooses these. No nodes are given: the
scheduler would add all their CPUs to those of the caches. A task belongs to the layer of rank 0 if
its cgroup is called `rank0`, as the form `cgroup` names groups; the scheduler sees paths with a
slash at their end. Sources: scheds/rust/scx_layered/src/config.rs (LayerSpec, LayerMatch,
LayerKind, LayerCommon), src/main.rs (Layer::new) and rust/scx_utils/src/topology.rs: caches are
numbered as CPUs are listed below /sys/devices/system/node, by name, so `cpu10` comes before `cpu2`.
"""

from __future__ import annotations

import json

from autofinity.affinity.launchers.form import Job, LauncherForm, Task, for_all
from autofinity.model.topology import OsIndex, Topology


def _layers(job: Job) -> str:
    topology = job.machine
    number = _cache_numbers(topology)
    layers = [_layer(rank, task, topology, number) for rank, task in enumerate(job.tasks)]
    layers.append({"name": "others", "comment": "all else", "matches": [[]], "kind": {"Open": {}}})
    return json.dumps(layers, indent=2)


def _layer(
    rank: int, task: Task, topology: Topology, number: dict[tuple[int, int], int]
) -> dict[str, object]:
    pus = [topology.by_os_index[cpu] for cpu in task.cpus]
    common: dict[str, object] = {
        "util_range": [0.0, 1.0],
        "cpus_range": [len(set(task.cpus))] * 2,
        "llcs": sorted({number[pu.node, pu.llc] for pu in pus}),
    }
    return {
        "name": f"rank{rank}",
        "comment": f"rank {rank}",
        "matches": [[{"CgroupSuffix": f"rank{rank}/"}]],
        "kind": {"Confined": common},
    }


def _cache_numbers(topology: Topology) -> dict[tuple[int, int], int]:
    """Number of each cache within a node, by logical node and cache."""

    def name(cpu: OsIndex) -> tuple[str, str]:
        node = topology.node_os_indices[topology.by_os_index[cpu].node]
        return str(node), str(cpu)

    numbers: dict[tuple[int, int], int] = {}
    for cpu in sorted(topology.by_os_index, key=name):
        pu = topology.by_os_index[cpu]
        numbers.setdefault((pu.node, pu.llc), len(numbers))
    return numbers


SCX_LAYERED = LauncherForm(
    "scx_layered: a layer for each rank's cgroup; CPUs of these caches are chosen by it",
    for_all(_layers),
    file="scx_layered f:FILE",
    checked="by its documented grammar; a parser needs Rust",
)
