"""A binary that is captured, which takes many times as long as the program alone."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from told import Told

from autofinity.capture.binary import BinaryRequest
from autofinity.model.errors import CaptureError
from autofinity.workflow import capture, meanwhile


def test_a_capture_that_takes_long_is_told_of_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = threading.Event()

    class Waited(Told):
        def notice(self, message: str) -> None:
            super().notice(message)
            said.set()

    def until_said(request: BinaryRequest) -> None:
        assert said.wait(60)
        raise CaptureError("no trace")

    monkeypatch.setattr(meanwhile, "FIRST_S", 0.01)
    monkeypatch.setattr(capture, "capture_binary", until_said)
    told = Waited()
    with pytest.raises(CaptureError, match="no trace"):
        capture.capture_program(BinaryRequest(("./long\x1b",), tmp_path), told)
    assert re.fullmatch(
        r"\./long\S* has run for \d+ s; QEMU records each access to memory, which takes many times "
        "as long as the program alone",
        told.notices[0],
    )
    assert "\x1b" not in told.notices[0]
