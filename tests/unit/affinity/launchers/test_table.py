"""Core sets in other launchers' words: what is written, and what the kernel makes of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launcher_tools import INSTALL
from launcher_tools import tool as launcher
from made_up_machine import machine

from autofinity.affinity.launchers.table import LAUNCHERS, launcher_line, rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED
from autofinity.model.errors import UsageError
from autofinity.model.topology import Cache, OsIndex

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
        (
            "gomp",
            "env -u OMP_PLACES -u OMP_PROC_BIND OMP_NUM_THREADS=4 GOMP_CPU_AFFINITY=40,0,1030,6",
        ),
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
    assert launcher_line("srun", few).endswith("--cpu-bind=mask_cpu:0x10000000200000001")
    mask = int(launcher_line("srun", CPUS).rpartition(":")[2], 16)
    assert mask == 1 << 40 | 1 << 0 | 1 << 1030 | 1 << 6


LINES = [tool for tool, form in LAUNCHERS.items() if not form.file]
WHOLE = machine(packages=2, llcs=2, cores=4, caches=(Cache(3, 1 << 20, 64, 16, 4),))


@pytest.mark.parametrize("tool", LINES)
@pytest.mark.parametrize("ranks", [1, 4])
def test_no_line_has_anything_that_a_shell_would_take_apart(
    tool: str, ranks: int, tmp_path: Path
) -> None:
    for line in rank_texts(tool, place_ranks(WHOLE, ranks, 2, PACKED), WHOLE):
        said = subprocess.run(
            ["sh", "-c", f"printf '%s ' {line}"],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        assert said.stdout.split() == line.split()


@pytest.mark.parametrize("tool", LAUNCHERS)
def test_ranks_get_a_text_each_or_one_for_all(tool: str) -> None:
    ranks = place_ranks(WHOLE, 4, 2, PACKED)
    texts = rank_texts(tool, ranks, WHOLE)
    assert len(texts) in (1, 4)
    if len(texts) == 4:
        for number, (text, rank) in enumerate(zip(texts, ranks, strict=True)):
            alone = launcher_line(tool, rank.cores.cpus, WHOLE)
            label = f"# rank {number}: " if LAUNCHERS[tool].file else ""
            first, _, rest = text.partition("\n")
            assert text == alone if not label else first.startswith(label) and rest == alone


def test_every_tool_that_the_tests_call_is_said_to_check_its_texts() -> None:
    """Tests of the other forms hold the grammar, and where it is documented."""
    by_grammar = {tool for tool, form in LAUNCHERS.items() if "grammar" in form.checked}
    assert by_grammar == {"kubelet", "balloons", "scx_layered"}


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


def test_the_schema_of_kubernetes_takes_a_pod_and_not_a_field_of_another_name(
    tmp_path: Path,
) -> None:
    validate = launcher(str(Path(sys.executable).with_name("kubernetes-validate")))
    path = tmp_path / "pod.json"
    for ranks in (1, 4):
        (text,) = rank_texts("pod", place_ranks(WHOLE, ranks, 2, PACKED), WHOLE)
        path.write_text(text)
        said = subprocess.run([validate, "--strict", path], capture_output=True, text=True)
        assert said.returncode == 0, said.stdout + said.stderr
    path.write_text(text.replace('"resources"', '"resource"'))
    assert subprocess.run([validate, "--strict", path], capture_output=True).returncode == 1


@pytest.mark.parametrize(
    "others",
    [{}, {"OMP_PLACES": "{0}", "OMP_PROC_BIND": "primary"}, {"OMP_PROC_BIND": "false"}],
    ids=["alone", "other places", "no binding"],
)
@pytest.mark.parametrize(
    ("tool", "runtime"),
    [
        ("omp", "libgomp.so.1"),
        ("gomp", "libgomp.so.1"),
        ("omp", "libomp.so.5"),
        ("kmp", "libomp.so.5"),
    ],
)
def test_openmp_puts_thread_i_on_the_ith_cpu(
    tool: str, runtime: str, others: dict[str, str], tmp_path: Path
) -> None:
    """Whatever the environment asks for otherwise."""
    if len(ALLOWED) < 2:
        pytest.skip("one CPU is allowed here: there is no order to see")
    source, program = tmp_path / "each_thread.c", tmp_path / "each_thread"
    source.write_text(EACH_THREAD)
    part = source.with_suffix(".o")
    compiled = subprocess.run(
        ["cc", "-fopenmp", "-c", source, "-o", part], capture_output=True, text=True
    )
    if compiled.returncode:
        pytest.skip(f"cc does not know OpenMP: {compiled.stderr.strip()}")
    # LLVM's runtime has GCC's functions, too.
    linked = subprocess.run(
        ["cc", part, f"-l:{runtime}", "-o", program], capture_output=True, text=True
    )
    if linked.returncode:
        pytest.skip(f"{runtime} is not installed: {INSTALL}: {linked.stderr.strip()}")
    for cpus in ((ALLOWED[0], ALLOWED[1]), (ALLOWED[1], ALLOWED[0])):
        prefix = launcher_line(tool, tuple(OsIndex(cpu) for cpu in cpus)).split()
        said = subprocess.run(
            [*prefix, str(program)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | others,
        )
        # LLVM's runtime warns that it leaves out the others.
        assert said.stderr == "" or (others and "ignored because KMP_AFFINITY" in said.stderr)
        assert said.stdout.split() == f"{cpus[0]} of 1 {cpus[1]} of 1".split()
