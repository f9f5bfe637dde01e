"""Ctrl-C, SIGTERM and a closed terminal: nothing is left behind, and the parent sees which."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_run import Runner
from permitted import skip_unless_touches_are_seen
from processes import runs, state_of

COMMAND = (sys.executable, "-m", "autofinity")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SUITE = """
[suite]
name = "lasting"
[programs.lasting]
build = "touch {out}/built"
run = ["sh", "-c", "echo $$ >{dir}/pid.new; mv {dir}/pid.new {dir}/pid; exec sleep 600"]
roi = "whole"
[programs.lasting.inputs]
small = ""
"""


def eventually(holds: Callable[[], object]) -> bool:
    for _ in range(6000):
        if holds():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def lasting(tmp_path: Path) -> tuple[str, ...]:
    """The capture of a program that would run for minutes, into `tmp_path`/traces."""
    suite = tmp_path / "suite.toml"
    suite.write_text(SUITE)
    return (*COMMAND, "capture", "--suite", str(suite), "-t", "1", "-o", str(tmp_path / "traces"))


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process that does not outlive a test that fails."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def program_of(folder: Path) -> int:
    assert eventually((folder / "pid").exists)
    return int((folder / "pid").read_text())


@pytest.mark.parametrize("number", SIGNALS)
def test_a_captured_program_ends_with_the_capture(
    tmp_path: Path, lasting: tuple[str, ...], number: signal.Signals
) -> None:
    with started(lasting, stderr=subprocess.PIPE, start_new_session=True) as process:
        pid = program_of(tmp_path)
        process.send_signal(number)
        _, said = process.communicate(timeout=600)
    assert process.returncode == -number
    assert said.splitlines()[-1] == (
        b"autofinity: interrupted; recorded results are kept, "
        b"and the same command goes on from there"
    )
    assert b"Traceback" not in said
    assert eventually(lambda: not runs(pid))
    left = {path.name for path in (tmp_path / "traces").iterdir()}
    assert left == {".builds"}
    builds = [path for path in (tmp_path / "traces/.builds").iterdir() if path.is_dir()]
    assert len(builds) == 1
    assert (builds[0] / ".complete").exists()


BUILDING = """
[suite]
name = "building"
[programs.building]
build = "sh -c 'echo $$ >{dir}/pid.new; mv {dir}/pid.new {dir}/pid; sleep 600; true'; true"
run = ["true"]
roi = "whole"
[programs.building.inputs]
small = ""
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_compiler_has_ended_before_the_capture_that_started_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text(BUILDING)
    options = ("--suite", str(suite), "-t", "1", "-o", str(tmp_path / "traces"))
    with started((*COMMAND, "capture", *options), start_new_session=True) as process:
        pid = program_of(tmp_path)
        process.send_signal(number)
        assert process.wait(timeout=600) == -number
    assert not runs(pid)


def test_a_program_ends_when_the_terminal_of_its_capture_is_closed(
    tmp_path: Path, lasting: tuple[str, ...]
) -> None:
    ours, theirs = pty.openpty()
    with started(
        lasting,
        **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
    ) as process:
        os.close(theirs)
        pid = program_of(tmp_path)
        os.close(ours)
        assert process.wait(timeout=600) == -signal.SIGHUP
    assert eventually(lambda: not runs(pid))
    assert {path.name for path in (tmp_path / "traces").iterdir()} == {".builds"}


def test_who_ignores_a_hangup_is_not_ended_by_it(tmp_path: Path, lasting: tuple[str, ...]) -> None:
    with started(["nohup", *lasting], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        pid = program_of(tmp_path)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert process.poll() is None
        assert runs(pid)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
    assert process.returncode == -signal.SIGTERM


def test_an_interrupted_import_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(60)\n"
    )
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [*COMMAND, "machines"], env={**os.environ, "PYTHONPATH": paths}, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_ctrl_c_while_python_starts_is_no_traceback(run: Runner, tmp_path: Path) -> None:
    source = (
        "import os, runpy, signal, sys, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(0.1);"
        "sys.argv[:2] = []; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -c "{source}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [run.launcher, "machines"],
        env={**run.env, "AUTOFINITY_PYTHON": str(python)},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


NATIVE = """
import ctypes, sys
def work():
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(mutex)
    print("begun", flush=True)
    library.pthread_mutex_lock(mutex)
"""
UNDER_WAY = """
import time
def work():
    try:
        print("begun", flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        time.sleep(600)
"""
IN_A_CALLBACK = """
import os, signal, time, weakref
class Object: pass
def interrupt(_):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(1)
def work():
    followed = Object()
    reference = weakref.ref(followed, interrupt)
    print("begun", flush=True)
    del followed
    time.sleep(600)
"""
HANDED_ON = """
import time
def work():
    try:
        print("begun", flush=True)
        time.sleep(600)
    except KeyboardInterrupt as interrupt:
        raise {error} from {cause}
"""
AT_THE_EDGES = """
import os, signal, time
from autofinity.cli.interruption import Interruption
def interrupt():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(1)
class Edges(Interruption):
    def listen(self):
        super().listen()
        {before}
    def stop_listening(self):
        {after}
        super().stop_listening()
def work():
    print("begun", flush=True)
"""


def working(source: str, *more: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A process that does that as a command would; `more` is given to `reported`."""
    end = f"from autofinity.cli.errors import reported\nreported({', '.join(('work', *more))})\n"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return started([sys.executable, "-c", source + end], text=True, **pipes)


def begun(process: subprocess.Popen[str]) -> bool:
    return process.stdout is not None and process.stdout.readline() == "begun\n"


@pytest.mark.parametrize("number", SIGNALS)
def test_native_code_that_is_at_work_for_minutes_is_ended(number: signal.Signals) -> None:
    with working(NATIVE) as process:
        assert begun(process)
        process.send_signal(number)
        _, said = process.communicate(timeout=600)
    assert process.returncode == -number
    assert said == "autofinity: interrupted\n", "what keeps nothing promises nothing"


def test_an_interruption_that_a_callback_of_python_drops_comes_again() -> None:
    with working(IN_A_CALLBACK) as process:
        assert begun(process)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (-signal.SIGTERM, "autofinity: interrupted\n")


@pytest.mark.parametrize(
    ("error", "cause"),
    [("ImportError('initialization failed')", "None"), ("RuntimeError", "interrupt")],
)
def test_an_interruption_that_others_hand_on_as_an_error_is_no_fault(
    error: str, cause: str
) -> None:
    with working(HANDED_ON.format(error=error, cause=cause)) as process:
        assert begun(process)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (-signal.SIGTERM, "autofinity: interrupted\n")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_signal_at_the_edges_of_the_work_is_no_traceback(when: str) -> None:
    edges = {"before": "pass", "after": "pass"} | {when: "interrupt()"}
    with working(AT_THE_EDGES.format(**edges), "Edges()") as process:
        assert begun(process) == (when == "after")
        _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert said == ("autofinity: interrupted\n" if when == "before" else "")


def test_who_does_not_want_to_wait_for_what_is_under_way_interrupts_again() -> None:
    with working(UNDER_WAY) as process:
        assert begun(process) and process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert "present runs are ended" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=600) == -signal.SIGINT


def test_a_watched_program_gets_the_sigterm_of_who_watches_it(tmp_path: Path) -> None:
    skip_unless_touches_are_seen()
    slowly = "trap 'sleep 3; exit 9' TERM"
    written = f"echo $$ >{tmp_path}/p; mv {tmp_path}/p {tmp_path}/pid"
    words = ("sh", "-c", f"{slowly}; {written}; while :; do sleep 0.1; done")
    with started([*COMMAND, "detect", "--", *words], stderr=subprocess.PIPE) as process:
        pid = program_of(tmp_path)
        process.terminate()
        _, said = process.communicate(timeout=600)
    assert process.returncode == 9, said
    assert not runs(pid)


COUNTING = "trap 'echo >>{0}/came' INT; trap 'exit 9' TERM; echo $$ >{0}/p; mv {0}/p {0}/pid; "
ADVISED = COUNTING + "while :; do sleep 0.1; done"


def came(folder: Path) -> int:
    """Number of interrupts that the program has got."""
    return len((folder / "came").read_text().splitlines()) if (folder / "came").exists() else 0


def test_an_interrupt_for_advise_alone_reaches_the_program(tmp_path: Path) -> None:
    words = (*COMMAND, "advise", "--", "sh", "-c", ADVISED.format(tmp_path))
    with started(words, stderr=subprocess.PIPE, start_new_session=True) as process:
        pid = program_of(tmp_path)
        process.send_signal(signal.SIGINT)
        assert eventually(lambda: came(tmp_path) == 1)
        os.kill(pid, signal.SIGTERM)
        process.communicate(timeout=600)
    assert (process.returncode, came(tmp_path)) == (9, 1)


WAITING = """
from autofinity.workflow.advice import launched
launched.seen_here = lambda *_: None
print(launched.seen_launched(("sleep", "60"), None).exit_code)
"""


@pytest.mark.parametrize("time_", range(4))
def test_a_signal_for_a_stopped_advise_reaches_the_program_when_advise_goes_on(time_: int) -> None:
    """Any thread that takes the signal may get it, so it is tried some times."""
    with started([sys.executable, "-c", WAITING], stdout=subprocess.PIPE) as process:
        tasks = Path(f"/proc/{process.pid}/task")
        assert eventually((tasks / str(process.pid) / "children").read_text)
        assert eventually(lambda: len(list(tasks.iterdir())) > 1)
        process.send_signal(signal.SIGSTOP)
        assert eventually(lambda: {state_of(int(task.name)) for task in tasks.iterdir()} == {"T"})
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=600)
    assert said == b"143\n"


def test_ctrl_c_reaches_a_program_that_is_advised_on_once(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with started(
        (*COMMAND, "advise", "--", "sh", "-c", ADVISED.format(tmp_path)),
        **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
    ) as process:
        os.close(theirs)
        pid = program_of(tmp_path)
        os.write(ours, b"\x03")
        assert eventually(lambda: came(tmp_path) > 0)
        time.sleep(0.5)  # for a second one, which must not come
        os.kill(pid, signal.SIGTERM)
        assert process.wait(timeout=600) == 9
        os.close(ours)
    assert came(tmp_path) == 1
