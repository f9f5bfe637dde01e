"""srun: a mask for each task of a step on one node, whose allocation holds the whole node.

`--cpus-per-task` must not stand beside the masks: with it a step gets only as many CPUs as it
asks for, and srun refuses masks outside of these ("CPU binding outside of job step allocation").
Source: srun(1), --cpu-bind; tried with Slurm 22.05. Tasks of a node get the masks in their order.
Pages go to the node of the thread that first touches them.
"""

from __future__ import annotations

from autofinity.affinity.launchers.form import Job, LauncherForm, for_all, mask


def _srun(job: Job) -> str:
    masks = ",".join(mask(task.cpus) for task in job.tasks)
    words = ["srun", "--nodes=1", f"--ntasks={len(job.tasks)}"]
    if len(job.tasks) > 1:
        words += ["--distribution=block:block"]
    return " ".join([*words, "--mem-bind=local", f"--cpu-bind=mask_cpu:{masks}"])


SRUN = LauncherForm(
    "Slurm, in an allocation with a whole node (salloc --exclusive)",
    for_all(_srun),
    checked="by the tool",
)
