"""Compile small programs and capture them as unmodified binaries."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from workshop import Captured

from autofinity.capture.binary import BinaryRequest, capture_binary, emulator
from autofinity.model.errors import CaptureError
from autofinity.trace.meta import TraceMeta


def missing() -> str | None:
    try:
        emulator()
    except CaptureError as error:
        return str(error)
    return None


needs_qemu = pytest.mark.skipif(missing() is not None, reason=missing() or "")


def build(folder: Path, source: str, flags: str = "-O1") -> Path:
    (folder / "p.c").write_text(source)
    command = ["gcc", *flags.split(), "-w", str(folder / "p.c"), "-o", str(folder / "p")]
    subprocess.run(command, check=True)
    return folder / "p"


def capture(folder: Path, source: str, flags: str = "-O1", **more: Any) -> TraceMeta:
    """Build and capture a program; `more` are fields of the request, such as its `roi`."""
    done = capture_binary(BinaryRequest((str(build(folder, source, flags)),), folder, **more))
    assert done.exit_code == 0
    return done.meta


def captured(meta: TraceMeta) -> Captured:
    return Captured(0, "", "", meta.path)


MARKED = """
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
static _Alignas(64) volatile long a[4096];
static _Alignas(64) char copy[8192];
int main(void) {
    autofinity_roi_begin();
    BODY
    autofinity_roi_end();
}
"""
