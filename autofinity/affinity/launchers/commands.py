"""Tools that start a process on CPUs: taskset, numactl, hwloc-bind, systemd-run, docker."""

from __future__ import annotations

from collections.abc import Iterable

from autofinity.affinity.launchers.form import LauncherForm, for_each
from autofinity.model.cpu_lists import format_cpu_list


def _hwloc_mask(cpus: Iterable[int]) -> str:
    """Mask of 32 bits a word, the highest first, as hwloc writes sets of OS indices."""
    bits = sum(1 << cpu for cpu in set(cpus))
    words = []
    while bits:
        words.append(f"{bits & 0xFFFFFFFF:#010x}")
        bits >>= 32
    return ",".join(reversed(words))


TASKSET = LauncherForm(
    "util-linux",
    for_each(lambda task: f"taskset -c {format_cpu_list(task.cpus)}"),
    checked="by the tool",
)
NUMACTL = LauncherForm(
    "numactl; pages on the node that first touches them",
    for_each(lambda task: f"numactl --physcpubind={format_cpu_list(task.cpus)} --localalloc"),
    checked="by the tool",
)
HWLOC = LauncherForm(
    "hwloc-bind",
    for_each(lambda task: f"hwloc-bind {_hwloc_mask(task.cpus)} --"),
    checked="by the tool",
)
SYSTEMD_RUN = LauncherForm(
    "a scope of its own, with the cgroup's cpuset",
    for_each(lambda task: f"systemd-run --scope -p AllowedCPUs={format_cpu_list(task.cpus)}"),
    checked="by the tool",
)
DOCKER = LauncherForm(
    "docker and podman; before the image",
    for_each(lambda task: f"--cpuset-cpus={format_cpu_list(task.cpus)}"),
    checked="by podman",
)
