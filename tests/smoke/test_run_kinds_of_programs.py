"""Programs of all kinds run under `run` as they do without it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, mask_of_task, masks_of
from live_run import preferred
from permitted import needs_two_cpus

from autofinity.model.cpu_lists import parse_cpu_list

type Runner = Any  # of conftest.py

HERE = Path(__file__).parent


POOL = "import multiprocessing as m; print(sum(m.Pool(2).map(abs, range(-9, 0))))"
FORKS = "i=0; while [ $i -lt 150 ]; do /bin/true & i=$((i+1)); done; wait; echo $i"


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ((sys.executable, "-c", POOL), b"45\n"),
        (("sh", "-c", FORKS), b"150\n"),
        (("sh", "-c", "exec printf 'other program'"), b"other program"),
    ],
    ids=["multiprocessing", "fork-heavy", "exec"],
)
def test_a_program_does_what_it_does_without_us(
    run: Runner, policy: Path, words: tuple[str, ...], output: bytes
) -> None:
    done = run("--policy", policy, "--bind", "core", "--", *words)
    assert (done.returncode, done.stdout) == (0, output)


@pytest.mark.parametrize("words", [("java", "-version"), ("go", "help", "build")], ids=" ".join)
def test_a_program_of_a_runtime_with_threads_runs_as_it_does_without_us(
    run: Runner, policy: Path, words: tuple[str, ...]
) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    plain = subprocess.run(words, capture_output=True)
    done = run("--quiet", "--policy", policy, "--bind", "core", "--", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)


JAVA = """class Spin {
    public static void main(String[] none) {
        Runnable spin = () -> { for (long n = 0; ; n++) sink = n; };
        for (int i = 0; i < 2; i++) new Thread(spin, "spin").start();
    }
    static volatile long sink;
}
"""


@needs_two_cpus
def test_threads_of_java_are_placed_and_those_of_its_runtime_are_not(
    run: Runner, policy: Path, tmp_path: Path
) -> None:
    if shutil.which("java") is None or shutil.which("javac") is None:
        pytest.skip("no java and javac here")
    (tmp_path / "Spin.java").write_text(JAVA)
    subprocess.run(["javac", "Spin.java"], cwd=tmp_path, check=True)
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")

    def masks_by_name(pid: int) -> list[tuple[str, int]]:
        found = []
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # Java ends idle compilers
                name = (task / "comm").read_text().strip()
                found.append((name, len(mask_of_task(pid, int(task.name)))))
        return found

    def settled(pid: int) -> bool:
        seen = masks_by_name(pid)
        return [cpus for name, cpus in seen if name == "spin"] == [1, 1] and all(
            cpus == len(allowed()) for name, cpus in seen if name != "spin"
        )

    with run.lasting(*options, "--", "java", "-cp", tmp_path, "Spin") as process:
        assert run.eventually(lambda: settled(process.pid)), masks_by_name(process.pid)


OPENMP = """#include <omp.h>
int main(void) {
#pragma omp parallel
    for (double end = omp_get_wtime() + 300; omp_get_wtime() < end;) continue;
}
"""


@needs_two_cpus
def test_openmp_that_bound_its_threads_is_left_alone_and_hides_no_cpu_from_us(
    run: Runner, policy: Path, tmp_path: Path
) -> None:
    source, program = tmp_path / "bound.c", tmp_path / "bound"
    source.write_text(OPENMP)
    if subprocess.run(
        ["cc", "-fopenmp", "-o", program, source], capture_output=True, check=False
    ).returncode:
        pytest.skip("no compiler for OpenMP here")
    # The main thread's mask, which tools look at, becomes one CPU.
    last = max(allowed())
    bound = {"OMP_PROC_BIND": "true", "OMP_PLACES": f"{{{last}}}", "OMP_NUM_THREADS": "2"}
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    with run.lasting(*options, "--", program, env=run.env | bound) as process:
        assert run.eventually(lambda: run.placed()), run.last()
        found = run.last()
        assert masks_of(process.pid) == [{last}, {last}]
        assert found is not None and parse_cpu_list(found.allowed) == allowed()
        assert "pinned by the program or by others" in found.notes


def test_a_static_binary_is_run_and_watched(run: Runner, tmp_path: Path, policy: Path) -> None:
    static = tmp_path / "spinner"
    built = subprocess.run(
        ["cc", "-O1", "-static", "-o", static, HERE / "spinner.c", "-lpthread"],
        capture_output=True,
    )
    if built.returncode:
        pytest.skip("no static C library here")
    with run.lasting("--policy", policy, "--period", "0.3s", "--", static, "2", "300"):
        assert run.eventually(lambda: run.placed()), run.last()
        found = run.last()
        assert found is not None and found.path == str(static)


@needs_two_cpus
def test_what_a_program_becomes_by_exec_is_placed_too(
    run: Runner, spinner: Path, policy: Path
) -> None:
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    with run.lasting(*options, "--", "sh", "-c", 'exec "$0" 2 300', spinner) as process:
        assert run.eventually(lambda: run.placed()), run.last()
        assert run.eventually(lambda: [len(mask) for mask in masks_of(process.pid)][1:] == [1, 1])


def test_blocked_system_calls_are_told_and_harm_nothing(
    run: Runner, spinner: Path, policy: Path, blocked: Path
) -> None:
    calls = "set_mempolicy,move_pages,perf_event_open,sched_setaffinity"
    try:
        subprocess.run([blocked, calls, "true"], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        pytest.skip("seccomp filters are not permitted here")
    words = [
        blocked,
        calls,
        *run.command("--explain", "--policy", policy, "--", "sh", "-c", "exit 37"),
    ]
    done = subprocess.run(words, env=run.env, capture_output=True)
    assert done.returncode == 37
    assert b"EPERM" in done.stderr or b"still starting" in done.stderr
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    words = [blocked, calls, *run.command(*options, "--", spinner, "2", "300")]
    with (
        preferred(),
        subprocess.Popen(words, env=run.env, stderr=subprocess.DEVNULL) as process,
    ):
        try:
            assert run.eventually(lambda: (found := run.placed()) and found.pid == process.pid), (
                run.last()
            )
            found = run.last()
            assert found is not None
            if len(allowed()) > 1:
                assert "EPERM" in found.notes
            assert set(masks_of(process.pid)) == {allowed()}
        finally:
            process.kill()
