"""Containers that show a made-up machine, and streams that are closed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from live_run import Runner
from permitted import needs_two_cpus

from autofinity.linux.bind import StartMask, allowed_now
from autofinity.linux.online import SYSFS, running
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.linux.topology import host_topology
from autofinity.model.topology import OsIndex

ONLINE = "/sys/devices/system/cpu/online"


def shown_other_cpus(
    tmp_path: Path, *command: str | Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command where `online` lists one CPU that no mask here has, as lxcfs may."""
    fake = tmp_path / "online"
    fake.write_text("4000\n")
    inside = ["unshare", "-rm", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh"]
    done = subprocess.run([*inside, fake, ONLINE, "true"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no mount of our own here: {done.stderr.strip()}")
    return subprocess.run(
        [*inside, fake, ONLINE, *command], capture_output=True, text=True, env=env, timeout=600
    )


def asked(tmp_path: Path, code: str) -> str:
    done = shown_other_cpus(tmp_path, sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_may_be_used_is_the_affinity_mask_whatever_sys_says(tmp_path: Path) -> None:
    code = "import os; from autofinity.linux.bind import StartMask, allowed_now as now; "
    code += "mask = StartMask(frozenset(os.sched_getaffinity(0))); "
    code += "print(sorted(now(os.getpid(), mask)))"
    mask = frozenset(map(OsIndex, os.sched_getaffinity(0)))
    assert (
        asked(tmp_path, code)
        == str(sorted(allowed_now(os.getpid(), StartMask(mask))))
        == str(sorted(mask))
    )


@pytest.mark.parametrize(
    "reader",
    ["sysfs_topology import read_sysfs as read", "topology import host_topology as read"],
)
def test_the_machine_has_the_cpus_of_the_mask(tmp_path: Path, reader: str) -> None:
    code = f"from autofinity.linux.{reader}; print(sorted(read().allowed))"
    assert asked(tmp_path, code) == str(sorted(os.sched_getaffinity(0)))
    assert host_topology().allowed == read_sysfs().allowed == os.sched_getaffinity(0)


@needs_two_cpus
def test_run_plans_on_the_cpus_of_the_mask(run: Runner, tmp_path: Path) -> None:
    words = ("--dry-run", "--hint", "slp", "-t", "2", "--", "true")
    plain = run(*words)
    assert plain.returncode == 0, plain.stderr
    shown = shown_other_cpus(tmp_path, *map(str, run.command(*words)), env=run.env)
    assert "none of" not in shown.stderr
    assert shown.returncode == 0, shown.stderr
    cpus = [line for line in plain.stdout.decode().splitlines() if "slp" in line]
    assert cpus
    assert [line for line in shown.stdout.splitlines() if "slp" in line] == cpus


def test_where_sys_is_not_there_the_mask_is_the_machine() -> None:
    mask = frozenset({OsIndex(3), OsIndex(70_000)})
    assert running(mask, SYSFS) == mask  # no file of 70000's says that it is off


def test_a_machine_that_cannot_be_read_is_the_reason_on_record(run: Runner, tmp_path: Path) -> None:
    empty = {**run.env, "AUTOFINITY_SYSFS": str(tmp_path)}
    with run.lasting("--quiet", "--", "sleep", "300", env=empty):
        assert run.eventually(lambda: (found := run.last()) and found.notes)
    found = run.last()
    assert found is not None
    assert found.notes.startswith("nothing was decided: ")
    assert "names no CPU" in found.notes


CLOSED = {"none": "", "stdin": "<&-", "stdout": ">&-", "stderr": "2>&-", "all": "<&- >&- 2>&-"}


@pytest.mark.parametrize("json", ["", "--json"])
@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("how", ["run", "detect"])
def test_a_program_runs_whichever_streams_are_closed_and_finds_them_closed(
    run: Runner, tmp_path: Path, how: str, closed: str, json: str
) -> None:
    if how == "run" and json:
        pytest.skip("run has no --json")
    out = tmp_path / "open"
    # The shell opens the file for `ls` alone, whose own descriptors are 1 and that of the folder.
    see = f"for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && echo $fd; done > {out}; exit 7"
    script = f'exec "$@" {CLOSED[closed]}'
    command = [run.launcher, how, *filter(None, [json]), "--", "sh", "-c", see]
    done = subprocess.run(
        ["sh", "-c", script, "sh", *command],
        env=run.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=600,
    )
    if b"perf_event_open" in done.stderr:
        pytest.skip("page faults cannot be watched here")
    assert done.returncode == 7, done.stderr
    expected = {"0", "1", "2"} - {
        "none": set(),
        "stdin": {"0"},
        "stdout": {"1"},
        "stderr": {"2"},
        "all": {"0", "1", "2"},
    }[closed]
    if json:
        expected |= {"1"}  # the report has our stdout, the program's goes to stderr
    # The shell's redirection of the loop itself is descriptor 1 while it runs.
    assert set(out.read_text().split()) == expected | {"1"}
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words", ["export any-machine", "export any-machine -o -", "record-machine --quick -o -"]
)
def test_a_file_for_stdout_that_is_closed_is_an_error_in_words(run: Runner, words: str) -> None:
    command = ["sh", "-c", 'exec "$@" >&-', "sh", run.launcher, *words.split()]
    done = subprocess.run(command, env=run.env, capture_output=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith(b"autofinity: standard output is closed")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("closed", ["none", "stdin", "stderr"])
@pytest.mark.parametrize(
    "words", [("machines",), ("hints", "-t", "2", "--machine", "opteron-6164he"), ("nonsense",)]
)
def test_other_commands_end_as_ever(run: Runner, closed: str, words: tuple[str, ...]) -> None:
    script = f'exec "$@" {CLOSED[closed]}'
    done = subprocess.run(
        ["sh", "-c", script, "sh", run.launcher, *words], env=run.env, capture_output=True
    )
    assert done.returncode == (2 if words == ("nonsense",) else 0), done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["stdout", "all"])
@pytest.mark.parametrize(
    "words",
    [
        *("--help", "--version", "status", "status --json", "status --runs 0", "machines"),
        *("hints", "show any-machine", "show", "hints -t 2 --machine opteron-6164he", "doctor"),
        "explain any-machine --sample instructions=1e9",
    ],
)
def test_a_result_that_closed_stdout_cannot_take_is_an_error(
    run: Runner, closed: str, words: str
) -> None:
    command = ["sh", "-c", f'exec "$@" {CLOSED[closed]}', "sh", run.launcher, *words.split()]
    done = subprocess.run(command, env=run.env, capture_output=True, timeout=60)
    assert done.returncode == 1
    said = b"autofinity: the output could not be written: standard output is closed\n"
    assert done.stderr == (said if closed == "stdout" else b"")


def test_a_command_that_prints_no_result_works_with_closed_stdout(
    run: Runner, tmp_path: Path
) -> None:
    words = ("export", "any-machine", "-o", str(tmp_path / "policy.h"))
    command = ["sh", "-c", 'exec "$@" >&-', "sh", run.launcher, *words]
    done = subprocess.run(command, env=run.env, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "policy.h").stat().st_size > 0
