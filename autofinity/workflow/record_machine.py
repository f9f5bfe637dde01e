"""Measures the present machine and makes a machine file that can be simulated."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.errors import CapabilityError, StoreError
from autofinity.recording.record import record
from autofinity.reporter import SILENT, Reporter
from autofinity.sim.preset import read_preset
from autofinity.sim.spec import MachineSpec
from autofinity.whole_file import replace_file


@dataclass(frozen=True, slots=True)
class Recorded:
    """The machine file, and the machine that it describes."""

    text: str
    spec: MachineSpec


def record_machine(
    name: str, *, quick: bool = False, output: Path | None = None, reporter: Reporter = SILENT
) -> Recorded:
    """Measure this machine, check its machine file, and write the file to `output` if given.

    Raises `CapabilityError` when the machine cannot be measured, `StoreError` when the file cannot
    be written.
    """
    with ExitStack() as stack:

        def begin(steps: int) -> Callable[[str], None]:
            return stack.enter_context(reporter.progress("record", steps)).step

        try:
            text = record(name, quick, begin)
        except OSError as error:
            raise CapabilityError(
                f"this machine cannot be measured: {error}; expected CPUs that this process may "
                "be pinned to"
            ) from error
    with tempfile.TemporaryDirectory() as folder:
        check = Path(folder) / "machine.toml"
        check.write_text(text, encoding="utf-8")
        spec = read_preset(check)
    if output is not None:
        try:
            replace_file(output, text)
        except OSError as error:
            raise StoreError(
                f"cannot write {output}: {error.strerror}; name another place with --output"
            ) from error
    return Recorded(text, spec)
