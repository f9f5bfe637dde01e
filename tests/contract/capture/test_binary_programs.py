"""Which programs can be captured as they are, and what is said of those that cannot."""

import subprocess
import sys
from pathlib import Path

import pytest
from captured_binary import MARKED, build, capture, needs_qemu

from autofinity._core import trace as core
from autofinity.capture.binary import BinaryRequest, capture_binary, emulator, library_folder
from autofinity.model.errors import CaptureError, UsageError


@needs_qemu
def test_an_installation_below_a_folder_with_a_blank_captures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "site env: ours"
    elsewhere.symlink_to(library_folder())
    monkeypatch.setattr("autofinity.capture.binary.library_folder", lambda: elsewhere)
    work = "for (int i = 0; i < 1000; i++) a[i]++;"
    meta = capture(tmp_path, MARKED.replace("BODY", work), roi="marks")
    assert meta.roi_accesses >= 2000


@needs_qemu
def test_the_exit_code_of_a_binary_is_told_and_its_trace_kept(tmp_path: Path) -> None:
    program = build(tmp_path, "int main(void) { return 3; }")
    done = capture_binary(BinaryRequest((str(program),), tmp_path, roi="whole"))
    assert done.exit_code == 3
    assert core.read(str(done.meta.path)).n_accesses > 0


@needs_qemu
def test_a_binary_without_threads_is_told_to_take_the_whole(tmp_path: Path) -> None:
    program = build(tmp_path, "int main(void) { return 0; }")
    with pytest.raises(CaptureError, match="--roi whole"):
        capture_binary(BinaryRequest((str(program),), tmp_path))


@needs_qemu
@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("-O1 -static", "is statically linked"),
        ("-O1 -m32 -nostdlib", "is not a 64-bit x86 program"),
    ],
)
def test_what_cannot_be_captured_is_refused_before_it_runs(
    tmp_path: Path, flags: str, reason: str
) -> None:
    source = "void _start(void) {}" if "nostdlib" in flags else "int main(void) { return 0; }"
    try:
        program = build(tmp_path, source, flags)
    except subprocess.CalledProcessError:
        pytest.skip(f"this compiler cannot build with {flags}")
    with pytest.raises(UsageError, match=reason):
        capture_binary(BinaryRequest((str(program),), tmp_path))


@needs_qemu
def test_scripts_and_missing_programs_are_refused_with_what_to_do(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    with pytest.raises(UsageError, match="name its interpreter"):
        capture_binary(BinaryRequest((str(script),), tmp_path))
    with pytest.raises(UsageError, match="no such executable file"):
        capture_binary(BinaryRequest((str(tmp_path / "nothing"),), tmp_path))


def test_without_qemu_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"apt install qemu-user.* as a suite"):
        capture_binary(BinaryRequest((sys.executable,), tmp_path), {"PATH": str(tmp_path)})


def test_another_qemu_is_refused_with_the_versions_expected(tmp_path: Path) -> None:
    fake = tmp_path / "qemu-x86_64"
    fake.write_text("#!/bin/sh\necho qemu-x86_64 version 10.0.2\n")
    fake.chmod(0o755)
    with pytest.raises(CaptureError, match=r"version 10\.0\.2; .* expected QEMU 6 to 8"):
        emulator({"PATH": str(tmp_path)})
