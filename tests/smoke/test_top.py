"""`autofinity top`: a live run in one document, on a terminal with keys, and on odd terminals."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest
from permitted import needs_two_cpus
from processes import state_of

from autofinity.linux.identity import identity_of
from autofinity.model.affinity import PACKED
from autofinity.store.behaviour_db import BehaviourDB

type Runner = Any  # of conftest.py

ENTER_SCREEN, LEAVE_SCREEN, SHOW_CURSOR = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"
PATIENCE_S = 60


def top(run: Runner, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Without a terminal, whose width nothing else gives."""
    command = [str(run.launcher), "top", *words]
    inherited = {name: text for name, text in run.env.items() if name != "COLUMNS"}
    return subprocess.run(
        command, env=inherited | env, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def document(run: Runner, *words: str) -> list[Any]:
    done = top(run, "--once", "--json", *words)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)["runs"]
    return found


@needs_two_cpus
def test_a_live_run_is_shown_with_its_threads_cpus_memory_and_decision(
    run: Runner, spinner: Path
) -> None:
    words = ("--hint", "packed", "--threads", "2", "--", spinner, "2", "300")
    with run.lasting(*words) as process:
        assert run.eventually(run.placed)
        (seen,) = document(run)
        assert (seen["pid"], seen["program"]) == (process.pid, str(spinner))
        assert (seen["hint"], seen["hint_name"]) == ("slp", "packed")
        assert seen["decision"] == "packed (slp) was set by --hint: no policy decided"
        assert seen["alive"] and seen["watched"]
        assert len(seen["threads"]) == 3, "two that compute and the first one"
        assert {each["pid"] for each in seen["threads"]} == {process.pid}
        on = {each["cpu"] for each in seen["threads"]}
        assert on <= os.sched_getaffinity(0)
        assert set(seen["cpus"]) <= on
        assert seen["resident_bytes"] > 0
        shares = sorted(each["cpu_share"] for each in seen["threads"])
        assert shares[0] <= 0.1, "the first thread waits"
        assert 0 < shares[1] <= shares[2] < 2
        plain = top(run, "--once").stdout.splitlines()
        assert plain[0].startswith("1 run (")
        assert plain[1].startswith("run pid")
        assert plain[2].split()[:3] == [str(seen["run"]), str(process.pid), spinner.name]
        assert re.search(r" \d+/3 +\d+ ", plain[2]), "the share of CPU time is known"
        one = top(run, "last").stdout.splitlines()  # no terminal: as with --once
        assert one[0] == f"run {seen['run']}: {spinner}, pid {process.pid}, placed"
        assert one[1].endswith("was set by --hint: no policy decided")
        assert len(one) == 4 + 1 + 3
    ended = run.eventually(lambda: not document(run))
    assert ended
    gone = top(run, "last")
    assert gone.returncode == 0
    assert gone.stdout.startswith(f"run {seen['run']} has ended; `autofinity explain ")
    assert document(run, "last")[0]["alive"] is False


def test_without_any_run_it_says_so_and_ends(run: Runner) -> None:
    done = top(run)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no run is live (")
    assert document(run) == []
    assert top(run, "3").returncode == 1
    assert top(run, "--db", "/nowhere/behaviour.db").returncode == 1
    assert top(run, "--delay", "0").returncode == 2


def test_a_database_of_a_newer_version_is_said_to_be_newer_and_not_to_be_empty(run: Runner) -> None:
    with BehaviourDB.open(run.db):
        pass
    with closing(sqlite3.connect(run.db)) as connection:
        connection.execute("PRAGMA user_version = 1000")
    for words in ((), ("--json",)):
        done = top(run, *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert "newer" in done.stderr


@pytest.fixture
def live(run: Runner) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two programs on record as placed runs, numbers 1 and 2."""
    run.db.parent.mkdir(parents=True, mode=0o700)
    programs = [subprocess.Popen(["sleep", "300"]) for _ in range(2)]
    with BehaviourDB.open(run.db) as database:
        for name, program in zip(("first", "second"), programs, strict=True):
            process = identity_of(program.pid)
            number = database.begin_run(
                name * 10,
                f"/bin/{name}-program",
                program.pid,
                "software events",
                host=process.host,
                start_ticks=process.start_ticks,
                monitor_pid=program.pid,
                monitor_ticks=process.start_ticks,
                allowed="0",
            )
            database.update_run(number, threads=1, hint=PACKED, phase="placed")
    yield programs
    for program in programs:
        program.kill()
        program.wait()


def _heed_sigquit() -> None:
    """Jobs in the background of a shell without job control ignore the signal."""
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@contextmanager
def terminal(
    run: Runner, *words: str, size: tuple[int, int] = (24, 100), **env: str
) -> Iterator[Any]:
    """`top` on a terminal. Afterwards it has ended, and shows the screen and cursor of before."""
    environment = {name: text for name, text in run.env.items() if name not in ("COLUMNS", "LINES")}
    child = pexpect.spawn(
        str(run.launcher),
        ["top", "-d", "0.2", *words],
        env=environment | {"TERM": "xterm-256color", **env},
        dimensions=size,
        encoding="utf-8",
        timeout=PATIENCE_S,
        preexec_fn=_heed_sigquit,
    )
    child.delaybeforesend = None
    said = Transcript()
    child.logfile_read = said
    try:
        yield child
        child.expect(pexpect.EOF)
        child.close()
        text = said.text
        if ENTER_SCREEN in text:
            assert text.rindex(LEAVE_SCREEN) > text.rindex(ENTER_SCREEN)
            assert SHOW_CURSOR in text[text.rindex(ENTER_SCREEN) :]
    finally:
        child.close(force=True)


class Transcript:
    """All that a terminal got."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


SCREEN_SHELL = """
import subprocess, sys, termios
before = termios.tcgetattr(0)
code = subprocess.call(sys.argv[1:])
after = termios.tcgetattr(0)
print("code", code, "same" if before == after else "changed", flush=True)
"""


def test_keys_select_a_run_show_its_threads_and_quit(
    run: Runner, live: list[subprocess.Popen[bytes]]
) -> None:
    with terminal(run) as screen:
        screen.expect("> 2 .*second-program")
        screen.send("j")
        screen.expect("> 1 .*first-program")
        screen.send("\x1b[A")
        screen.expect("> 2 .*second-program")
        screen.send("\x1b[B\r")
        screen.expect(f"run 1: /bin/first-program, pid {live[0].pid}, placed")
        screen.expect(f"> {live[0].pid} +sleep +sleeps")
        screen.send("\x1b")
        screen.expect("2 runs ")
        screen.send("q")
    assert screen.exitstatus == 0


def test_a_run_that_ends_is_shown_as_ended_and_one_that_begins_appears(
    run: Runner, live: list[subprocess.Popen[bytes]]
) -> None:
    with terminal(run, size=(24, 160)) as screen:
        screen.expect("2 runs ")
        live[0].kill()
        live[0].wait()
        screen.expect("first-program.* ended .*nothing: it has ended")
        screen.send("q")
    assert screen.exitstatus == 0


def test_one_run_is_opened_at_once(run: Runner, live: list[subprocess.Popen[bytes]]) -> None:
    with terminal(run, "2") as screen:
        screen.expect("run 2: /bin/second-program")
        screen.send("Q")
    assert screen.exitstatus == 0


def test_a_new_size_is_drawn_at_once_down_to_20_columns(
    run: Runner, live: list[subprocess.Popen[bytes]]
) -> None:
    with terminal(run, "-d", "3600") as screen:
        screen.expect("would change")
        screen.setwinsize(6, 20)
        screen.expect("run program")  # the heading of a narrow terminal, without pid between
        screen.setwinsize(24, 100)
        screen.expect("would change")
        screen.setwinsize(1, 1)
        screen.send("q")
    assert screen.exitstatus == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_as_its_parent_expects_on_a_terminal_as_before(
    run: Runner, live: list[subprocess.Popen[bytes]], number: signal.Signals
) -> None:
    with terminal(run) as screen:
        screen.expect("2 runs ")
        if number == signal.SIGINT:
            screen.sendintr()  # Ctrl-C
        elif number == signal.SIGQUIT:
            screen.send("\x1c")  # Ctrl-\\
        else:
            screen.kill(number)
    assert screen.signalstatus == number


def shell(run: Runner, *words: str) -> Any:
    """`top` below a program that compares the terminal's settings before and after."""
    return pexpect.spawn(
        sys.executable,
        ["-c", SCREEN_SHELL, str(run.launcher), "top", "-d", "0.2", *words],
        env=run.env | {"TERM": "xterm-256color"},
        dimensions=(24, 100),
        encoding="utf-8",
        timeout=PATIENCE_S,
        preexec_fn=_heed_sigquit,
    )


@pytest.mark.parametrize("how", ["q", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_the_terminal_has_its_settings_back(
    run: Runner, live: list[subprocess.Popen[bytes]], how: str
) -> None:
    child = shell(run)
    child.expect("2 runs ")
    if how == "q":
        child.send("q")
    else:
        (pid,) = children_of(child.pid)
        os.kill(pid, getattr(signal, how))
    child.expect(r"code (-?\d+) (same|changed)")
    assert child.match.group(2) == "same"
    assert int(child.match.group(1)) == (0 if how == "q" else -getattr(signal, how))
    child.close(force=True)


def test_ctrl_z_stops_on_a_terminal_as_before_and_goes_on_where_it_was(
    run: Runner, live: list[subprocess.Popen[bytes]]
) -> None:
    with terminal(run) as screen:
        screen.expect("> 2 ")
        screen.send("j")
        screen.expect("> 1 ")
        screen.send("\x1a")
        screen.expect(re.escape(LEAVE_SCREEN))
        stopped = run.eventually(lambda: state_of(screen.pid) == "T")
        assert stopped
        assert termios.tcgetattr(screen.child_fd)[3] & termios.ICANON
        os.kill(screen.pid, signal.SIGCONT)
        screen.expect(re.escape(ENTER_SCREEN))
        screen.expect("> 1 ")
        screen.send("q")
    assert screen.exitstatus == 0


def test_it_is_drawn_again_after_it_was_stopped_from_outside(
    run: Runner, live: list[subprocess.Popen[bytes]]
) -> None:
    with terminal(run, "-d", "3600") as screen:
        screen.expect("> 2 ")
        os.kill(screen.pid, signal.SIGSTOP)
        assert run.eventually(lambda: state_of(screen.pid) == "T")
        settings = termios.tcgetattr(screen.child_fd)
        settings[3] |= termios.ICANON | termios.ECHO  # as a shell has them
        termios.tcsetattr(screen.child_fd, termios.TCSANOW, settings)
        os.kill(screen.pid, signal.SIGCONT)
        screen.expect(re.escape(ENTER_SCREEN))
        screen.expect("> 2 ")
        screen.send("q")
    assert screen.exitstatus == 0


def children_of(pid: int) -> list[int]:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if found:
            return [int(each) for each in found]
    return []


def test_no_color_and_a_dumb_terminal_get_what_they_bear(
    run: Runner, live: list[subprocess.Popen[bytes]]
) -> None:
    with terminal(run, NO_COLOR="1") as screen:
        screen.expect("> 2 ")
        assert not re.search(r"\x1b\[[0-9;]*[34][0-7]m", screen.before)
        screen.send("q")
    assert screen.exitstatus == 0
    with terminal(run, TERM="dumb") as screen:
        screen.expect("2 runs ")  # one plain view
        screen.expect(pexpect.EOF)
        assert "\x1b" not in screen.before
    assert screen.exitstatus == 0


def test_without_a_terminal_on_its_input_one_view_is_printed(
    run: Runner, live: list[subprocess.Popen[bytes]]
) -> None:
    done = top(run)
    assert done.returncode == 0
    assert done.stdout.startswith("2 runs ")
