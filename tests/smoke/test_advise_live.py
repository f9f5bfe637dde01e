"""A program that runs here is advised on: it runs as it would alone, and nothing is moved."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, fake_sysfs, masks_of
from live_run import preferred
from made_up_machine import machine
from permitted import needs_two_cpus
from told import Told
from topology_sysfs_tree import write_sysfs

from autofinity.linux.numa_hinting import SYSCTL
from autofinity.model.affinity import HINTS
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex
from autofinity.runtime.attaching import masks_at_start
from autofinity.runtime.policies import Choice
from autofinity.workflow import meanwhile
from autofinity.workflow.advice import here, launched
from autofinity.workflow.advice.here import seen_here
from autofinity.workflow.advice.seen import Seen

type Runner = Any  # of conftest.py


def advise(run: Runner, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(run.launcher), "advise", *map(str, words)]
    return subprocess.run(command, env=run.env | env, capture_output=True, text=True)


def watches_a_process(pid: int) -> bool:
    """Whether it has opened a process in order to see its end."""
    with suppress(OSError):
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
        return any("pidfd" in os.readlink(each) for each in descriptors)
    return False


def seen_of(program: Path, choice: Choice | None = None, seconds: str = "300") -> Seen:
    """A program of two threads that compute, as `advise --pid` sees it."""
    with preferred(), subprocess.Popen([program, "2", seconds]) as process:
        try:
            found = seen_here(process.pid, choice)
            assert set(masks_of(process.pid)) == {allowed()}
        finally:
            process.kill()
    return found


def test_a_launched_program_has_its_own_streams_and_exit_code_and_advice_is_beside_it(
    run: Runner,
) -> None:
    done = advise(run, "--", "sh", "-c", "echo out; exit 37")
    assert done.returncode == 37
    assert done.stdout == "out\n"
    told = advise(run, "--json", "--", "sh", "-c", "echo out; kill -TERM $$")
    assert told.returncode == 128 + signal.SIGTERM
    assert json.loads(told.stdout)["exit_code"] == 128 + signal.SIGTERM
    assert "out\n" in told.stderr
    nowhere = advise(run, "--", "/nowhere")
    assert nowhere.returncode == 127
    assert "cannot run /nowhere" in nowhere.stderr
    nothing = advise(run, "--json", "--", "/nowhere")
    assert json.loads(nothing.stdout)["exit_code"] == 127
    assert advise(run, "--", "/").returncode == 126


def test_a_launched_script_has_its_own_name_whatever_runs_it(run: Runner, tmp_path: Path) -> None:
    script = tmp_path / "solve"
    script.write_text("#!/usr/bin/env sh\nsleep 1\n")
    script.chmod(0o755)
    told = advise(run, "--json", "--", script)
    assert Path(json.loads(told.stdout)["program"]).name == "solve"


def test_a_program_without_advice_has_no_page_and_the_line_says_so(
    run: Runner, tmp_path: Path
) -> None:
    done = advise(run, "--html", tmp_path / "page.html", "--", "true")
    assert (done.returncode, list(tmp_path.glob("*.html"))) == (0, [])
    assert done.stderr.splitlines()[-1].startswith("autofinity: no advice, so no page is written: ")


def test_a_program_that_ends_before_its_first_look_gets_no_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However slow this machine is: the program ends after it was found, and before it is seen."""
    with subprocess.Popen(["sleep", "300"]) as process:

        def mask_of_the_last_moment(pid: int) -> frozenset[OsIndex]:
            mask = masks_at_start(pid)
            process.kill()
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            return mask

        monkeypatch.setattr(here, "masks_at_start", mask_of_the_last_moment)
        with pytest.raises(UsageError, match=f"process {process.pid} ended before any"):
            seen_here(process.pid, None)


def test_a_program_that_runs_long_is_told_of_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    class Ending(Told):
        """The notice ends the program: however slow the machine is, it comes while that runs."""

        def notice(self, message: str) -> None:
            super().notice(message)
            fifo.write_bytes(b"")

    monkeypatch.setattr(meanwhile, "FIRST_S", 0.2)
    told = Ending()
    done = launched.seen_launched(("cat", str(fifo)), None, reporter=told)
    assert done.exit_code == 0
    (notice,) = told.notices
    assert re.fullmatch(r"cat has run for \d+ s; it is being watched", notice)
    monkeypatch.setattr(meanwhile, "FIRST_S", 3600)
    launched.seen_launched(("true",), None, reporter=told)
    assert len(told.notices) == 1


@pytest.mark.parametrize(("promised", "count"), [(0, "two"), (3, "3")])
def test_a_program_that_runs_already_and_does_not_compute_is_waited_for_with_notice(
    promised: int, count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen("cat", stdin=subprocess.PIPE) as process:

        class Ending(Told):
            def notice(self, message: str) -> None:
                super().notice(message)
                process.kill()

        monkeypatch.setattr(meanwhile, "FIRST_S", 0.5)
        told = Ending()
        seen_here(process.pid, None, promised, told)
    assert re.fullmatch(
        rf"cat has been watched for \d+ s; advice waits for {count} threads that compute; "
        "Ctrl-C ends this and leaves it running",
        told.notices[0],
    )


def ended_while_looked_at(run: Runner) -> dict[str, Any]:
    """The advice as JSON on a program that ends as soon as somebody watches."""
    words = [run.launcher, "advise", "--json", "--", "cat"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(words, env=run.env, text=True, **pipes) as process:
        assert run.eventually(lambda: watches_a_process(process.pid))
        said, errors = process.communicate("")  # the end of its input is the end of `cat`
    assert process.returncode == 0, errors
    document: dict[str, Any] = json.loads(said)
    return document


def test_a_program_that_ends_while_it_is_looked_at_ends_as_it_would(run: Runner) -> None:
    documents = (ended_while_looked_at(run) for _ in range(20))
    # On a busy machine `cat` may end between the opening of its descriptor and the first look.
    document = next(each for each in documents if "no_advice" not in each)
    assert document["placement"]["hint"] is None
    assert "fewer than two threads computed" in document["placement"]["undecided"]
    assert document["memory_policy"]["bytes_on_node"] is None


@needs_two_cpus
def test_a_running_program_is_advised_on_and_left_as_it_was(
    run: Runner, spinner: Path, policy: Path
) -> None:
    with preferred(), subprocess.Popen([spinner, "2", "300"]) as process:
        try:
            done = advise(run, "--pid", str(process.pid), "--policy", policy, "--json")
            assert set(masks_of(process.pid)) == {allowed()}
            assert process.poll() is None
        finally:
            process.kill()
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["program"] == "spinner"
    assert document["smt"]["threads"] == 2
    assert len(document["placement"]["cpus_seen"]) == 2
    assert document["exit_code"] is None
    assert not run.db.exists()


@needs_two_cpus
def test_where_two_nodes_are_shown_memory_is_told_of_by_node(
    spinner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/proc/self/numa_maps").exists():
        pytest.skip("the kernel has no numa_maps (CONFIG_NUMA)")
    first, second = sorted(allowed())[:2]
    topology = machine(packages=2, cores=1, number=lambda core, rank: (first, second)[core])
    monkeypatch.setenv("AUTOFINITY_SYSFS", str(write_sysfs(tmp_path / "sys", topology)))
    found = seen_of(spinner)
    assert found.topology.n_nodes == 2
    assert set(found.nodes) <= {0, 1}
    assert found.memory is not None
    assert found.memory.bytes_on[0] > 0


@needs_two_cpus
def test_a_kernel_without_numa_balancing_is_told_of_as_such(
    spinner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here, "SYSCTL", tmp_path / "nowhere")
    assert seen_of(spinner).numa_balancing == ""
    if SYSCTL.exists():
        monkeypatch.undo()
        assert seen_of(spinner).numa_balancing == SYSCTL.read_text().strip()


@needs_two_cpus
def test_memory_that_the_kernel_does_not_show_is_not_known(
    spinner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autofinity.linux.process.memory_of", lambda pids, numbers: None)
    assert seen_of(spinner).memory is None


def test_a_curve_runs_a_program_once_a_count_and_leaves_its_words_output_and_record_alone(
    run: Runner,
) -> None:
    words = ("sh", "-c", "echo $OMP_NUM_THREADS {threads}; sleep 0.05")
    done = advise(run, "--curve", "1", "--", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 1\n"
    assert "threads of sh, on" in done.stderr
    assert "speed, by threads" in done.stderr
    found = advise(run, "--curve", "1", "--repeats", "2", "--json", "--", *words)
    assert found.returncode == 0, found.stderr
    (point,) = json.loads(found.stdout)["points"]
    assert (point["threads"], point["speed"], point["hint"]) == (1, 1.0, None)
    assert point["time_s"] >= 0.05
    assert point["scatter"] >= 0
    assert found.stderr.count("1 1\n") == 2
    failed = advise(run, "--curve", "1", "--json", "--", "sh", "-c", "exit 37")
    assert failed.returncode == 37
    assert json.loads(failed.stdout) == {"program": "sh", "exit_code": 37, "points": []}
    assert "exit code 37 at 1 threads" in failed.stderr
    assert not run.db.exists()


@needs_two_cpus
def test_threads_of_a_curve_are_placed_as_a_run_places_them(
    run: Runner, spinner: Path, tmp_path: Path
) -> None:
    words = ("--curve", "2", "--json", "--", spinner, "{threads}", "0.5", "bound")
    env = {"AUTOFINITY_FALLBACK": "slp", "AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path))}
    with preferred():
        done = advise(run, *words, **env)
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["points"]
    assert point["hint"] == "slp"
    assert point["time_s"] >= 0.5


def test_a_program_of_the_suite_is_captured_at_each_count(run: Runner, tmp_path: Path) -> None:
    suite = ("-p", "power", "--size", "tiny", "--work", tmp_path)
    found = advise(run, *suite, "--curve", "2,4", "--json")
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    assert (document["program"], document["counted"]) == ("power tiny", "threads")
    assert [point["threads"] for point in document["points"]] == [2, 4]
    assert [point["cpus"] for point in document["points"]] == [2, 4]
    assert document["points"][1]["speed"] > 1.2
    captured = {path.name for path in (tmp_path / "traces").iterdir()}
    assert captured > {"power-tiny-2t", "power-tiny-4t"}
    table = advise(run, *suite, "--curve", "2,4").stdout
    hints = {point[key] for point in document["points"] for key in ("hint", "best_hint")}
    shown = [hint.shown for hint in HINTS if str(hint) in hints]
    assert f"hints: {', '.join(shown)}" in table


def test_what_is_not_there_or_is_no_program_is_one_clear_line(run: Runner, policy: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    with pytest.raises(UsageError, match="there is no process"):
        seen_here(gone.pid, None)
    for pid in (str(gone.pid), str(1 << 70)):
        done = advise(run, "--pid", pid)
        assert done.returncode == 2
        assert "there is no process" in done.stderr
    for words in (("--pid", "0"), ("--pid", "x")):
        assert advise(run, *words).returncode == 2
    broken = policy.with_name("broken.json")
    broken.write_text("{")
    done = advise(run, "--policy", broken, "--", "touch", policy.with_name("ran"))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert not policy.with_name("ran").exists()
