"""The script of `hints --as cgroup` in cgroup v2: a rank has the CPUs and memory of its node."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.topology import Topology

GROUPS = Path("/sys/fs/cgroup/placed")


def test_each_rank_is_confined_to_two_cpus_and_the_memory_of_its_node(
    run: Any, shape: Any, topology: Topology, tmp_path: Path
) -> None:
    words = ("--ranks", str(shape.nodes), "--threads", "2", "--hint", "packed", "--as", "cgroup")
    made = subprocess.run(
        [run.launcher, "hints", *words], env=run.env, capture_output=True, text=True, check=True
    )
    script = tmp_path / "groups.sh"
    script.write_text(made.stdout)
    subprocess.run(["sh", str(script), str(GROUPS)], check=True)
    folders = [GROUPS / f"rank{rank}" for rank in range(shape.nodes)]
    try:
        seen = []
        for folder in folders:
            command = (
                f"echo $$ > {folder}/cgroup.procs && exec grep _allowed_list /proc/self/status"
            )
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
            lines = dict(line.split(":") for line in done.stdout.splitlines())
            cpus = parse_cpu_list(lines["Cpus_allowed_list"].strip())
            nodes = {topology.by_os_index[cpu].node for cpu in cpus}
            seen.append((len(cpus), nodes, lines["Mems_allowed_list"].strip()))
    finally:
        for folder in (*folders, GROUPS):
            folder.rmdir()
    numbers = topology.node_os_indices
    assert seen == [(2, {node}, str(numbers[node])) for node in range(shape.nodes)]
