"""Message when a program of a suite fails under capture, and the files kept then."""

import errno
import os
from pathlib import Path

import pytest

from autofinity.capture.suite_capture import capture_suite
from autofinity.model.errors import CaptureError, NoSpaceError
from autofinity.trace.manifest import load_suite

SOURCES = {
    "good": 'int main(void) { puts("right"); return 0; }',
    "wrong": 'int main(void) { puts("left"); return 0; }',
    "crash": "int main(void) { raise(SIGSEGV); return 0; }",
    "code": 'int main(void) { fputs("no input", stderr); return 3; }',
    "hang": "int main(void) { for (;;) pause(); }",
    # LLVM's OpenMP runtime, as ours recognises it.
    "llvm": 'void __kmpc_fork_call(void) {} int main(void) { puts("right"); return 0; }',
}
PROGRAM = """
[programs.NAME]
build = "{cc} {cflags} -rdynamic -o {out}/NAME '{dir}/NAME.c' {ldflags}"
run = ["{out}/NAME"]
roi = "whole"
expect = "right"
timeout_s = TIMEOUT
[programs.NAME.inputs]
small = ""
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("süite with spaces")
    for name, source in SOURCES.items():
        headers = "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n"
        (folder / f"{name}.c").write_text(headers + source)
    manifest = folder / "suite.toml"
    manifest.write_text(
        '[suite]\nname = "failing"\n'
        + "".join(
            PROGRAM.replace("NAME", name).replace("TIMEOUT", "0.1" if name == "hang" else "30")
            for name in SOURCES
        )
    )
    return manifest


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("wrong", "did not print what its manifest expects, /right/; it said: left"),
        ("crash", "was ended by SIGSEGV under capture"),
        ("code", "ended with exit code 3 under capture, expected 0; it said: no input"),
        ("hang", "did not end within 2 s under capture"),
        ("llvm", "uses LLVM's OpenMP runtime, which cannot be captured; build it with gcc"),
    ],
)
def test_a_failing_program_is_named_with_its_reason_and_the_others_are_kept(
    suite: Path, tmp_path: Path, program: str, reason: str
) -> None:
    with pytest.raises(CaptureError) as caught:
        capture_suite(load_suite(suite), (program, "good"), 1, "small", tmp_path)
    assert program in str(caught.value)
    assert reason in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".builds", "good-small-1t"]


def test_a_full_disk_is_not_taken_for_a_wrong_answer(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autofinity.capture.recorded_run._FULL_BYTES", 1 << 62)
    with pytest.raises(CaptureError, match="no space is left for the trace of wrong"):
        capture_suite(load_suite(suite), ("wrong",), 1, "small", tmp_path)


def test_a_full_disk_leaves_no_program_out_of_what_is_learned(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autofinity.capture.recorded_run._FULL_BYTES", 1 << 62)
    with pytest.raises(NoSpaceError, match="finished traces are kept"):
        capture_suite(load_suite(suite), ("good", "wrong"), 1, "small", tmp_path, keep_going=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".builds", "good-small-1t"]


def test_a_quota_that_is_used_up_is_a_full_disk(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(descriptor: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr("autofinity.capture.recorded_run.os.fsync", refused)
    with pytest.raises(NoSpaceError, match="no space is left for the trace of wrong"):
        capture_suite(load_suite(suite), ("wrong",), 1, "small", tmp_path)
