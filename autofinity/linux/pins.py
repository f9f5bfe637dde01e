"""Other authorities that decide where a program's threads run: found, reported and not
overridden.
"""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.linux.bind import cpuset_of
from autofinity.linux.online import isolated, listed_online
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.topology import OsIndex

PIN_VARIABLES = (
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "SLURM_CPU_BIND",
    "I_MPI_PIN_DOMAIN",
    "I_MPI_PIN_PROCESSOR_LIST",
    "MV2_CPU_BINDING_POLICY",
    "PRTE_MCA_hwloc_default_binding_policy",
    "OMPI_MCA_hwloc_base_binding_policy",
)
"""Variables by which runtimes and launchers are asked to pin threads."""

_NOTHING = frozenset({"", "false", "none", "disabled", "off", "no"})
_BESIDE = frozenset(
    {"quiet", "verbose", "noverbose", "warnings", "nowarnings", "respect", "norespect"}
)
"""Words of Slurm (`quiet,none`) and of KMP_AFFINITY that pin nothing by themselves."""


def other_pins(
    pid: int, environment: Mapping[str, str], started_with: frozenset[OsIndex]
) -> tuple[str, ...]:
    """One line for each authority other than autofinity that limits where process `pid` runs.

    `started_with` are the CPUs that were allowed when the process began.
    """
    lines = [
        f"{name}={environment[name]}: its runtime pins threads itself"
        for name in PIN_VARIABLES
        if _pins(environment.get(name, ""))
    ]
    everywhere = listed_online() - isolated() | started_with
    cpuset = cpuset_of(pid)
    if cpuset is not None and everywhere - cpuset:
        lines.append(f"its cgroup allows CPUs {format_cpu_list(cpuset)} only")
        everywhere &= cpuset
    if everywhere - started_with:
        lines.append(
            f"it was started with CPUs {format_cpu_list(started_with)} only "
            "(taskset, numactl, a batch system)"
        )
    return tuple(lines)


def _pins(value: str) -> bool:
    words = (word.strip() for word in value.lower().split(","))
    return any(
        word not in _NOTHING | _BESIDE and not word.startswith("granularity=") for word in words
    )
