"""`autofinity advise` on a machine with several nodes: pages and threads by node, as the kernel has
them.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from live_run import preferred

from autofinity.linux.memory import memory_of
from autofinity.model.affinity import Hint
from autofinity.model.topology import Topology

THREADS, MIB_EACH = 4, 6


def test_a_program_with_pages_on_every_node_is_advised_on_and_left_alone(
    run: Any, programs: Path, policy_of: Any, topology: Topology
) -> None:
    workers = [programs / "workers", str(THREADS), "3000", str(MIB_EACH)]
    policy = policy_of(Hint.parse("slp"))
    with preferred(), subprocess.Popen(workers) as process:
        try:
            words = ["advise", "--pid", str(process.pid), "--policy", policy, "--json"]
            words += ["--threads", str(THREADS)]
            done = subprocess.run([run.launcher, *words], env=run.env, capture_output=True)
            left = memory_of([process.pid], topology.node_os_indices)
        finally:
            process.kill()
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["placement"]["hint"] == "slp"
    on_node = found["memory_policy"]["bytes_on_node"]
    assert sum(size >= MIB_EACH << 20 for size in on_node) == min(THREADS, topology.n_nodes)
    assert found["memory_policy"]["policy"] == "bind"
    assert 0 < found["memory_policy"]["remote_share"] < 1
    assert found["numa_balancing"]["state"] in ("0", "1")
    assert left is not None and sum(size >= MIB_EACH << 20 for size in left.bytes_on) == THREADS
