"""Calls that seccomp forbids cost us the monitor at most, never the application its life."""

from __future__ import annotations

import json
import re
import resource
import subprocess
from pathlib import Path

import pytest
from compiled import compiled
from live_run import Runner

HERE = Path(__file__).parent
NAMES = re.findall(r"CALL\((\w+)\),", (HERE / "deny.c").read_text())
PROGRAM = ("expr", "7", "-", "7")  # no shell, which would make calls of its own
RAN = (1, b"0\n")
NO_FILTER, NOT_OF_THIS_PROCESSOR = 96, 97
# Where each is needed for the monitor; nothing else that we do needs one of them.
NEEDED = [
    "close_range",
    "getxattr",
    "perf_event_open",
    "pidfd_open",
    "prctl",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_setscheduler",
    "setsid",
    "umask",
    "wait4",
]


@pytest.fixture(scope="module")
def deny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled([HERE / "deny.c"], tmp_path_factory.mktemp("deny") / "deny")


def with_cores() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)


def under(
    deny: Path, what: str, name: str, command: list[str | bytes | Path], folder: Path, run: Runner
) -> subprocess.CompletedProcess[bytes]:
    folder.mkdir(parents=True)
    done = subprocess.run(
        [deny, what, name, "--", *command],
        cwd=folder,
        env=run.env,
        capture_output=True,
        timeout=600,
        preexec_fn=with_cores,
    )
    if done.returncode == NO_FILTER:
        pytest.skip("this kernel takes no seccomp filter from us")
    if done.returncode == NOT_OF_THIS_PROCESSOR:
        pytest.skip(f"{name} is no system call of this processor")
    return done


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["kill", "errno"])
def test_the_application_lives_wherever_it_would_without_us(
    deny: Path, run: Runner, tmp_path: Path, what: str, name: str
) -> None:
    alone = under(deny, what, name, list(PROGRAM), tmp_path / "alone", run)
    if (alone.returncode, alone.stdout) != RAN:
        pytest.skip(f"the application itself needs {name}")
    done = under(deny, what, name, run.command("--", *PROGRAM), tmp_path / "here", run)
    assert (done.returncode, done.stdout) == RAN, done.stderr
    # A stream that might block is not written to, and poll alone shows that.
    ours = done.stderr.count(b"autofinity: ")
    assert ours == ((what, name) != ("errno", "poll")), done.stderr
    assert not list((tmp_path / "here").iterdir())  # no core file of ours


@pytest.mark.parametrize("name", NEEDED)
def test_one_line_says_which_call_ended_the_set_up(
    deny: Path, run: Runner, tmp_path: Path, name: str
) -> None:
    done = under(deny, "kill", name, run.command("--", *PROGRAM), tmp_path / "here", run)
    expected = f"autofinity: no monitor: a seccomp filter kills the caller of {name} "
    assert done.stderr.startswith(expected.encode())
    assert done.stderr.endswith(b"the program runs alone\n")


def test_doctor_and_detect_say_what_is_forbidden_and_live(
    deny: Path, run: Runner, tmp_path: Path
) -> None:
    def told(call: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        return under(deny, "kill", call, [run.launcher, *words], tmp_path / words[0] / call, run)

    def doctor(call: str) -> dict[str, dict[str, str]]:
        done = told(call, "doctor", "--json")
        assert done.returncode == 0, done.stderr
        return {each["name"]: each for each in json.loads(done.stdout)["capabilities"]}

    for call, name in (
        ("sched_setaffinity", "thread binding"),
        ("move_pages", "page migration"),
        ("pidfd_open", "monitor"),
    ):
        found = doctor(call)[name]
        assert found["detail"] == "a seccomp filter kills the caller"
        assert not found["available"]
    counters = doctor("perf_event_open")["hardware counters"]
    assert "allow perf_event_open in the container's seccomp profile" in counters["detail"]
    done = told("perf_event_open", "detect", "--", "true")
    assert done.returncode > 0  # by an error of ours
    assert b"EPERM" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_quiet_is_quiet_about_it(deny: Path, run: Runner, tmp_path: Path) -> None:
    command = run.command("--quiet", "--", *PROGRAM)
    done = under(deny, "kill", "perf_event_open", command, tmp_path / "here", run)
    assert (done.returncode, done.stdout, done.stderr) == (*RAN, b"")
