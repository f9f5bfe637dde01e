"""A real Slurm of one node, started here without root's services and without munge."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from launcher_tools import allowed_here, tool

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
JOBS = """
jobqueue:
  slurm:
    cores: 1
    memory: 500MB
    walltime: "00:10:00"
    queue: {queue}
    interface: lo
    local-directory: {folder}
    log-directory: {folder}
    job-directives-skip: ["--mem"]
    job-script-prologue: [{prologue}]
distributed:
  deploy:
    lost-worker-timeout: 1s
"""


def described_jobs(folder: Path, queue: str = "all", prologue: str = "") -> dict[str, str]:
    """The environment of a user who has described the jobs, whose files are in the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "jobqueue.yaml").write_text(
        JOBS.format(queue=queue, folder=folder, prologue=prologue)
    )
    return {"DASK_CONFIG": str(folder)}


def no_jobs_left(env: dict[str, str]) -> bool:
    """Whether this Slurm has no jobs, waiting or running."""
    return said(["squeue", "-h"], env).strip() == ""


@contextmanager
def slurm_here(folder: Path) -> Iterator[dict[str, str]]:
    """Environment of the commands of a Slurm of this machine; skips where none can be started."""
    for name in ("slurmctld", "slurmd", "salloc", "srun", "sinfo"):
        tool(name)
    if os.geteuid() != 0:
        pytest.skip("only root can run slurmd")
    allowed = allowed_here(2)
    if allowed != [0, 1]:
        pytest.skip("the CPUs 0 and 1 are not allowed here")
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
        while "idle" not in said(["sinfo", "-h", "-o", "%T"], env):
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


def said(command: list[str], env: dict[str, str]) -> str:
    """Output of a command of this Slurm."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    return done.stdout or done.stderr
