"""Core sets in other launchers' words: what is written, and what the kernel makes of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from made_up_machine import machine

from autofinity.affinity.launchers import LAUNCHERS, launcher_line
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex

CPUS = tuple(OsIndex(cpu) for cpu in (40, 0, 1030, 6))

ALLOWED = sorted(os.sched_getaffinity(0))

READ_BACK = "import os; print(*sorted(os.sched_getaffinity(0)))"

EACH_THREAD = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 2; ++i) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &set)) ++cpu;
#pragma omp ordered
    printf("%d of %d ", cpu, CPU_COUNT(&set));
  }
  return 0;
}
"""


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("taskset", "taskset -c 0,6,40,1030"),
        ("numactl", "numactl --physcpubind=0,6,40,1030 --localalloc"),
        ("omp", "env OMP_NUM_THREADS=4 OMP_PLACES={40},{0},{1030},{6} OMP_PROC_BIND=close"),
        ("gomp", "env OMP_NUM_THREADS=4 GOMP_CPU_AFFINITY=40,0,1030,6"),
        (
            "kmp",
            "env OMP_NUM_THREADS=4 KMP_AFFINITY=granularity=fine,proclist=[40,0,1030,6],explicit",
        ),
        ("likwid", "likwid-pin -c 40,0,1030,6"),
        ("systemd", "systemd-run --scope -p AllowedCPUs=0,6,40,1030"),
        ("docker", "--cpuset-cpus=0,6,40,1030"),
    ],
)
def test_tools_that_pin_threads_get_cpus_in_thread_order_and_others_sorted(
    tool: str, line: str
) -> None:
    assert launcher_line(tool, CPUS) == line


def test_masks_hold_cpu_ids_of_any_size() -> None:
    few = tuple(OsIndex(cpu) for cpu in (0, 33, 64))
    assert launcher_line("hwloc", few) == "hwloc-bind 0x00000001,0x00000002,0x00000001 --"
    assert launcher_line("srun", few).endswith(
        "--cpus-per-task=3 --cpu-bind=mask_cpu:0x10000000200000001"
    )
    mask = int(launcher_line("srun", CPUS).rpartition(":")[2], 16)
    assert mask == 1 << 40 | 1 << 0 | 1 << 1030 | 1 << 6


@pytest.mark.parametrize("tool", LAUNCHERS)
def test_no_line_has_anything_that_a_shell_would_take_apart(tool: str, tmp_path: Path) -> None:
    line = launcher_line(tool, CPUS)
    said = subprocess.run(
        ["sh", "-c", f"printf '%s ' {line}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert said.stdout.split() == line.split()


@pytest.mark.parametrize(
    ("allowed", "line"),
    [
        ({1, 2, 3, 5, 6, 7}, "likwid-pin -c 2,0,4"),  # 1,2,3, then their siblings 5,6,7
        ({1, 3, 6}, "likwid-pin -c 1,0,2"),
        (set(range(8)), "likwid-pin -c 3,1,6"),  # no cpuset: the kernel's numbers
    ],
)
def test_likwid_counts_the_cpus_of_a_cpuset(allowed: set[int], line: str) -> None:
    whole = machine(cores=4, smt=2, number=lambda core, rank: 4 * rank + core)
    cpus = tuple(OsIndex(cpu) for cpu in (3, 1, 6))
    within = whole.restricted(frozenset(map(OsIndex, allowed)))
    assert launcher_line("likwid", cpus, within) == line
    assert launcher_line("taskset", cpus, within) == "taskset -c 1,3,6"


def test_an_unknown_tool_is_answered_with_those_that_are_known() -> None:
    with pytest.raises(
        UsageError, match=r"unknown launcher 'slurm'; expected one of taskset, .*srun"
    ):
        launcher_line("slurm", CPUS)


@pytest.mark.parametrize(
    ("tool", "program"), [("taskset", "taskset"), ("numactl", "numactl"), ("hwloc", "hwloc-bind")]
)
def test_the_kernel_reads_back_what_was_asked_for(tool: str, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    last = OsIndex(ALLOWED[-1])
    prefix = launcher_line(tool, (last,)).split()
    done = subprocess.run(
        [*prefix, sys.executable, "-c", READ_BACK], capture_output=True, text=True
    )
    if "set_mempolicy" in done.stderr or "mbind" in done.stderr:
        pytest.skip(f"{program} may not set memory policies here: {done.stderr.strip()}")
    assert (done.stdout.strip(), done.stderr) == (str(last), "")


@pytest.mark.parametrize("tool", ["omp", "gomp"])
def test_openmp_puts_thread_i_on_the_ith_cpu(tool: str, tmp_path: Path) -> None:
    if len(ALLOWED) < 2:
        pytest.skip("one CPU is allowed here: there is no order to see")
    source, program = tmp_path / "each_thread.c", tmp_path / "each_thread"
    source.write_text(EACH_THREAD)
    built = subprocess.run(
        ["cc", "-fopenmp", str(source), "-o", str(program)], capture_output=True, text=True
    )
    if built.returncode:
        pytest.skip(f"cc does not know OpenMP: {built.stderr.strip()}")
    for cpus in ((ALLOWED[0], ALLOWED[1]), (ALLOWED[1], ALLOWED[0])):
        prefix = launcher_line(tool, tuple(OsIndex(cpu) for cpu in cpus)).split()
        said = subprocess.run([*prefix, str(program)], capture_output=True, text=True, check=True)
        assert said.stdout.split() == f"{cpus[0]} of 1 {cpus[1]} of 1".split()
