"""Workers in jobs of Slurm, submitted by dask-jobqueue; the scheduler runs in this process.

Partition, time, cores … of a job are those of dask-jobqueue's own configuration (`jobqueue.slurm`).
All connections are encrypted by certificates made for this one call: on a login node others could
reach the scheduler.
"""

from __future__ import annotations

import math
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

import dask
from distributed import Client, Security

from autofinity.model.errors import ClusterError, UsageError
from autofinity.new_folder import make_missing
from autofinity.pool.cluster import ClusterPool

if TYPE_CHECKING:
    from dask_jobqueue.slurm import SLURMCluster

_AGAIN_S = 10.0
"""Period in which jobs that have ended are submitted again, and lost ones are looked for."""
_OF_A_JOB = ("cores", "memory")
"""Without these dask-jobqueue makes no job."""
_WAITING = {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED", "RESIZING", "SUSPENDED"}


class SlurmPool(ClusterPool):
    """A pool whose workers are jobs, from the first task on until the pool is closed."""

    def __init__(self, cores: int | None, folder: Path, notice: Callable[[str], None]) -> None:
        """`cores`: number of cores, as whole jobs; None: one job. `folder`: one that the nodes see.

        `notice` gets the number of submitted jobs. Raises `UsageError` without Slurm, for an
        incomplete configuration, and with Slurm's words for jobs that it refuses.
        """
        self._notice = notice
        self._asked_s = -math.inf
        self._came: set[str] = set()
        """Jobs that were there while there were workers: they may end, and are submitted again."""
        with ExitStack() as opened:
            make_missing(folder)
            certificates = opened.enter_context(tempfile.TemporaryDirectory(dir=folder))
            scratch = opened.enter_context(tempfile.TemporaryDirectory(prefix="autofinity-"))
            self._cluster = opened.enter_context(_cluster(certificates, scratch))
            script = self._cluster.job_script()
            _tried(script, Path(certificates))
            of_a_job: int = dask.config.get("jobqueue.slurm.cores")
            self._jobs: int = math.ceil((cores or of_a_job) / of_a_job)
            client = opened.enter_context(Client(self._cluster, set_as_default=False))
            super().__init__(client, "slurm", self._cluster.scheduler_address, math.inf)
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Forget all tasks and cancel the jobs."""
        super().__exit__(*error)
        self._opened.close()

    def slots(self) -> int:
        """As many as the workers take, and at least one for each job that is to come."""
        return max(self._jobs, super().slots())

    def _ask_for_workers(self) -> None:
        if self._threads:
            self._came |= self._job_ids()
        now_s = time.monotonic()
        if now_s - self._asked_s < _AGAIN_S:
            return
        if math.isinf(self._asked_s):
            self._notice(f"{self._jobs} Slurm jobs are submitted; runs begin when they start")
        elif not self._threads:
            self._see_if_jobs_live()
        self._asked_s = now_s
        self._cluster.scale(jobs=self._jobs)

    def _job_ids(self) -> set[str]:
        return {str(job.job_id) for job in self._cluster.workers.copy().values() if job.job_id}

    def _see_if_jobs_live(self) -> None:
        """Raises `ClusterError` where all jobs have ended, and no worker has come."""
        ids = sorted(self._job_ids() - self._came)
        if not ids:
            return
        states = set(_slurm("squeue", "-h", "-t", "all", "-o", "%T", "-j", ",".join(ids)).split())
        if not states & _WAITING:
            raise ClusterError(
                f"slurm: the jobs {', '.join(ids)} ended ({', '.join(sorted(states)) or 'gone'}) "
                "and no worker has come from them; read the reason in their output: in this "
                "folder, or in jobqueue.slurm.log-directory of Dask's configuration"
            )


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the handlers of signals: dask-jobqueue puts its own ones, which end the process with
    code 0, in their places when it is imported.
    """
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _cluster(certificates: str, scratch: str) -> SLURMCluster:
    """Jobs, and the scheduler of their workers here, whose files are in the folder `scratch`."""
    with _own_signals():
        from dask_jobqueue.slurm import SLURMCluster
    if shutil.which("sbatch") is None:
        raise UsageError("--on slurm: there is no sbatch in PATH; expected a node of a Slurm site")
    missing = [name for name in _OF_A_JOB if dask.config.get(f"jobqueue.slurm.{name}") is None]
    if missing:
        raise UsageError(
            f"--on slurm: {' and '.join(missing)} of a job are not known; set them under "
            "jobqueue.slurm in ~/.config/dask/jobqueue.yaml (docs/howto/cluster.md)"
        )
    with warnings.catch_warnings(), dask.config.set({"temporary-directory": scratch}):
        warnings.simplefilter("ignore")
        return SLURMCluster(
            processes=dask.config.get("jobqueue.slurm.processes") or 1,
            security=Security.temporary(),
            shared_temp_directory=certificates,
            scheduler_options={
                "dashboard": False,
                **dask.config.get("jobqueue.slurm.scheduler-options"),
            },
        )


def _tried(script: str, folder: Path) -> None:
    """Raise `UsageError` with Slurm's words for a job that it would refuse."""
    path = folder / "job.sh"
    path.write_text(script)
    tried = subprocess.run(
        ["sbatch", "--test-only", str(path)], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        raise UsageError(
            f"--on slurm: sbatch refuses the jobs: {' '.join(tried.stderr.split())}. They are "
            "described under jobqueue.slurm in ~/.config/dask/jobqueue.yaml (docs/howto/cluster.md)"
        )


def _slurm(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
