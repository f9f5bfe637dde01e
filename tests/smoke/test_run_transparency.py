"""`autofinity run` is not there: what a program can see is what a plain exec would show it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import resource
import shutil
import signal
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest
from live_run import become_subreaper

type Runner = Any  # of conftest.py


def probed(output: bytes) -> list[bytes]:
    return output.splitlines()


def both(
    run: Runner, probe: Path, *arguments: bytes, **options: object
) -> tuple[list[bytes], list[bytes]]:
    plain = subprocess.run([probe, *arguments], capture_output=True, env=run.env, **options)  # type: ignore[call-overload]
    ours = run("--", probe, *arguments, **options)
    return probed(plain.stdout), probed(ours.stdout)


def test_every_argument_byte_is_the_applications_own(run: Runner, probe: Path) -> None:
    arguments = [
        b"0",
        b"",
        b"  two  spaces ",
        b"\xff\xfe\x80",
        b"--threads",
        b"$HOME",
        b"a\nb",
        b"--",
    ]
    plain, ours = both(run, probe, *arguments)
    assert ours == plain
    assert b"argument fffe80" in ours
    assert b"argument " in ours


def test_process_state_is_that_of_a_plain_exec(run: Runner, probe: Path, tmp_path: Path) -> None:
    def before() -> None:
        os.umask(0o137)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGUSR1, signal.SIGTTOU})
        resource.setrlimit(resource.RLIMIT_CORE, (0, 12345))
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 400))

    plain, ours = both(
        run, probe, b"0", preexec_fn=before, restore_signals=False, cwd=tmp_path, pass_fds=()
    )
    assert ours == plain
    assert any(line.startswith(b"SigBlk:") and line[-6:] != b"000000" for line in ours)


def test_open_descriptors_are_passed_on_and_none_added(
    run: Runner, probe: Path, tmp_path: Path
) -> None:
    with (tmp_path / "file").open("wb") as file:
        os.set_inheritable(file.fileno(), True)
        plain, ours = both(run, probe, b"0", pass_fds=(file.fileno(),))
    assert ours == plain
    assert sum(line.startswith(b"fd ") for line in ours) == 4


def test_closed_standard_streams_stay_closed(run: Runner, probe: Path, tmp_path: Path) -> None:
    def close_two() -> None:
        os.close(0)
        os.close(2)

    out = tmp_path / "out"
    found = []
    for command in ([probe, "0"], run.command("--", probe, "0")):
        with out.open("wb") as file:
            subprocess.run(command, env=run.env, stdout=file, preexec_fn=close_two, check=True)
        found.append([line for line in probed(out.read_bytes()) if line.startswith(b"fd ")])
    assert found[0] == found[1]
    assert not any(line.startswith((b"fd 0", b"fd 2")) for line in found[1])


def test_environment_is_unchanged(run: Runner) -> None:
    env = run.env | {"ODD NAME": "x", "LD_BIND_NOW": "1", "PYTHONPATH": "/nowhere"}
    plain = subprocess.run(["env", "-0"], env=env, capture_output=True, check=True).stdout
    assert run("--", "env", "-0", env=env).stdout == plain


def test_exit_code_is_the_applications(run: Runner) -> None:
    assert run("--", "sh", "-c", "exit 37").returncode == 37
    assert run("sh", "-c", "exit 0").returncode == 0


def test_death_by_sigterm_is_143_to_the_shell(run: Runner) -> None:
    script = f"'{run.launcher}' run --quiet -- sh -c 'kill -TERM $$'; echo $?"
    done = subprocess.run(["sh", "-c", script], env=run.env, capture_output=True)
    assert done.stdout.strip() == b"143"


def test_a_missing_program_is_127_and_one_that_may_not_run_126(run: Runner, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    missing, forbidden, folder = run("nosuchprogram"), run(plain), run(tmp_path)
    assert (missing.returncode, forbidden.returncode, folder.returncode) == (127, 126, 126)
    assert b"nosuchprogram: No such file" in missing.stderr
    assert forbidden.stderr.count(b"\n") == 1


def test_a_folder_of_path_that_helps_nobody_makes_a_missing_program_no_forbidden_one(
    run: Runner, tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "open" / "nosuchprogram").mkdir(parents=True)  # exec refuses it: not permitted
    path = f"{tmp_path}/closed:{tmp_path}/open:{os.environ['PATH']}"
    missing = run("nosuchprogram", env=run.env | {"PATH": path})
    assert missing.returncode == 127
    assert b"nosuchprogram: No such file" in missing.stderr


def test_a_script_without_a_first_line_runs_by_the_shell(run: Runner, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('echo "by $1"\n')
    script.chmod(0o755)
    assert run(script, "hand").stdout == b"by hand\n"


def test_standard_input_reaches_the_application(run: Runner) -> None:
    assert run("--", "cat", input=b"a\0b" * 5000).stdout == b"a\0b" * 5000


def test_nothing_is_added_to_standard_output(run: Runner) -> None:
    assert run("--explain", "--", "true").stdout == b""


def test_the_process_is_the_same_one(run: Runner) -> None:
    process = run.start("--", "sh", "-c", "echo $$", stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=300)
    assert int(out) == process.pid


def test_the_application_has_no_children_from_us_early_or_late(run: Runner, probe: Path) -> None:
    for live_ms in (b"0", b"700"):
        assert b"waitpid -1 No child processes" in probed(run("--", probe, live_ms).stdout)


def test_a_subreaper_does_not_see_the_monitor_as_its_child(run: Runner, probe: Path) -> None:
    lines = probed(run("--", probe, b"700", preexec_fn=become_subreaper).stdout)
    assert b"waitpid -1 No child processes" in lines
    assert any(line.startswith(b"subreaper 1") for line in lines)


def test_process_number_one_does_not_see_the_monitor_as_its_child(run: Runner, probe: Path) -> None:
    command = ["unshare", "--pid", "--fork", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("no permission for a PID namespace")
    done = subprocess.run(
        [*command, *run.command("--", probe, b"700")], env=run.env, capture_output=True, timeout=300
    )
    assert b"waitpid -1 No child processes" in probed(done.stdout)


def test_the_monitor_holds_no_descriptor_of_the_application(run: Runner) -> None:
    command = ("--", "sh", "-c", "echo hi; exec >&- 2>&-; sleep 300")
    with run.lasting(*command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert run.eventually(lambda: run.monitors_of(process.pid))
        # End of file comes while the application and its monitor live.
        assert process.stdout.read() == b"hi\n"
        assert process.poll() is None
        monitor = run.monitors_of(process.pid)[0]
        assert os.readlink(f"/proc/{monitor}/cwd") == "/"
        assert Path(f"/proc/{monitor}/oom_score_adj").read_text().strip() == "1000"
        assert os.getsid(monitor) != os.getsid(process.pid)
        for fd in Path(f"/proc/{monitor}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed since it was listed
                assert "pipe:" not in os.readlink(fd)


def test_a_full_or_broken_standard_error_harms_nothing(run: Runner) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            run.command("--", "echo", "on"), env=run.env, stdout=subprocess.PIPE, stderr=full
        )
    assert (done.returncode, done.stdout) == (0, b"on\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        run.command("--", "echo", "on"), env=run.env, stdout=subprocess.PIPE, stderr=writing
    )
    os.close(writing)
    assert (done.returncode, done.stdout) == (0, b"on\n")


def test_a_blocked_standard_error_does_not_hold_the_application_up(run: Runner) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    done = subprocess.run(
        run.command("--", "echo", "on"),
        env=run.env,
        stdout=subprocess.PIPE,
        stderr=writing,
        timeout=300,
    )
    os.close(reading)
    os.close(writing)
    assert done.stdout == b"on\n"


def test_control_c_on_a_terminal_reaches_the_application_alone(run: Runner) -> None:
    ours, theirs = pty.openpty()

    def control() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        # Tests may themselves run where it is ignored (nohup, a background job of a script).
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with run.lasting(
        # A shell that is about to fork waits for its child, which has not seen the signal.
        *("--", "sh", "-c", "echo up; exec sleep 300"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=control,
    ) as process:
        os.close(theirs)
        seen = b""
        while b"up" not in seen:
            seen += os.read(ours, 4096)
        assert run.eventually(lambda: run.monitors_of(process.pid))
        os.write(ours, b"\x03")
        assert process.wait(timeout=300) == -signal.SIGINT
        assert run.eventually(lambda: not run.monitors_of(process.pid))
    os.close(ours)


def test_the_monitor_is_gone_when_the_application_is(run: Runner) -> None:
    with run.lasting("--quiet", "--", "sleep", "300") as process:
        assert run.eventually(lambda: run.monitors_of(process.pid))
    assert run.eventually(lambda: not run.monitors_of(process.pid))


def test_wrong_use_is_exit_code_two_and_help_zero(run: Runner) -> None:
    for wrong in (
        ["--nosuch", "true"],
        ["--threads", "0", "true"],
        ["--bind", "node", "true"],
        ["--period", "x", "true"],
        ["--period", "1", "true"],
        ["--period", "0s", "true"],
        ["--period", "1min", "true"],
        ["--threads"],
        ["-t"],
        ["-t0", "true"],
        ["-t=2", "true"],
        ["-x2", "true"],
        ["--"],
        [],
    ):
        done = run(*wrong)
        assert (done.returncode, done.stdout) == (2, b""), wrong
        assert done.stderr
    helped = run("--help")
    assert helped.returncode == 0
    assert helped.stdout.startswith(b"Usage: autofinity run")
    assert len(helped.stdout.splitlines()) <= 40, "one screen"
    whole = run("--help-all")
    assert max(map(len, whole.stdout.splitlines())) <= 80
    assert whole.stdout.startswith(helped.stdout[: helped.stdout.index(b"\n\n`autofinity status`")])
    assert b"--mechanism" in whole.stdout


def test_the_old_spellings_of_run_work_until_the_next_release(run: Runner) -> None:
    old = run("--dry-run", "--no-bind", "--sample-s", "0.25", "--", "true").stdout
    assert b"nothing (--bind none)" in old
    now = run("--dry-run", "--bind", "none", "--period", "250ms", "--", "true").stdout
    assert now == old


def test_other_commands_go_to_python(run: Runner) -> None:
    done = subprocess.run([run.launcher, "--version"], env=run.env, capture_output=True)
    assert done.returncode == 0
    assert b"autofinity" in done.stdout
