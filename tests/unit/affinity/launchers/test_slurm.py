"""srun of a real Slurm of one node, started here without root's services and without munge."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from launcher_tools import MASK, allowed_here, tool
from made_up_machine import machine

from autofinity.affinity.launchers.form import Job, Task
from autofinity.affinity.launchers.table import launcher_form, rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED

CONFIGURATION = """
ClusterName=autofinity-test
SlurmctldHost={host}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={control_port}
SlurmdPort={node_port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment of the commands of a Slurm of this machine; skips where none can be started."""
    for name in ("slurmctld", "slurmd", "salloc", "srun", "sinfo"):
        tool(name)
    if os.geteuid() != 0:
        pytest.skip("only root can run slurmd")
    allowed = allowed_here(2)
    if allowed != [0, 1]:
        pytest.skip("the CPUs 0 and 1 are not allowed here")
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    host = socket.gethostname().partition(".")[0]
    control_port, node_port = _free_ports(2)
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=host,
            folder=folder,
            control_port=control_port,
            node_port=node_port,
            cpus=os.cpu_count(),
        )
    )
    env = os.environ | {"SLURM_CONF": str(configuration)}
    with ExitStack() as stack:
        for name in ("slurmctld", "slurmd"):
            with (folder / f"{name}.out").open("w") as out:
                daemon = stack.enter_context(
                    subprocess.Popen(
                        [shutil.which(name) or name, "-D"], env=env, stdout=out, stderr=out
                    )
                )
            stack.callback(daemon.terminate)
        deadline = time.monotonic() + 60
        while "idle" not in _said(["sinfo", "-h", "-o", "%T"], env):
            if time.monotonic() > deadline:
                logs = "".join(path.read_text() for path in folder.glob("*.log"))
                pytest.skip(f"Slurm does not start here: {logs[-500:]}")
            time.sleep(0.2)
        yield env


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(closing(socket.socket())) for _ in range(count)]
        for each in sockets:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in sockets]


def _said(command: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    return done.stdout or done.stderr


@pytest.mark.parametrize("masks", [[(1,)], [(0,)], [(1, 0)], [(1,), (0,)]])
def test_each_task_reads_its_mask_back(slurm: dict[str, str], masks: list[tuple[int]]) -> None:
    cpus = allowed_here(2)
    tasks = tuple(Task(tuple(cpus[at] for at in task)) for task in masks)
    (line,) = launcher_form("srun").texts(Job(tasks))
    program = ["sh", "-c", f"echo $SLURM_PROCID $({MASK})"]
    said = _said(["salloc", "--exclusive", "--nodes=1", *line.split(), *program], slurm)
    shown = sorted(line for line in said.splitlines() if "Cpus_allowed_list" in line)
    assert shown == [
        f"{rank} Cpus_allowed_list: {'0-1' if len(task) == 2 else task[0]}"
        for rank, task in enumerate(masks)
    ], said


def test_several_ranks_have_a_mask_each_in_their_order() -> None:
    whole = machine(2, 1, 1, 4)
    (line,) = rank_texts("srun", place_ranks(whole, 2, 3, PACKED), whole)
    assert line == (
        "srun --nodes=1 --ntasks=2 --distribution=block:block --mem-bind=local "
        "--cpu-bind=mask_cpu:0x7,0x70"
    )
