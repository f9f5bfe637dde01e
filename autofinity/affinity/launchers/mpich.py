"""mpiexec of MPICH (hydra): CPUs of a rank joined by +, ranks by commas, by the kernel's numbers.

Source: `mpiexec -bind-to -help`. hydra ignores a rank whose CPUs it may not use.
"""

from __future__ import annotations

from autofinity.affinity.launchers.form import Job, LauncherForm, ascending, for_all


def _mpiexec(job: Job) -> str:
    ranks = ",".join(ascending(task.cpus, "+") for task in job.tasks)
    return f"mpiexec -n {len(job.tasks)} -bind-to user:{ranks}"


MPICH = LauncherForm("mpiexec of MPICH (hydra)", for_all(_mpiexec), checked="by the tool")
