"""Programs of a suite on the present machine, and what their runs are known by."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity.trace.manifest import load_suite
from autofinity.workflow.host_programs import host_programs
from autofinity.workflow.wanted import Wanted

MANIFEST = """
[suite]
name = "mine"

[programs.one]
sources = ["one.sh"]
run = ["sleep", "{input}"]
roi = "whole"
stdin = "{dir}/read"
threads.env = { COUNT = "{threads}" }
inputs.small = "1"
inputs.large = "2"
"""


@pytest.mark.parametrize(
    ("change", "sizes"),
    [
        (('inputs.small = "1"', 'inputs.small = "3"'), {"small"}),
        (('["sleep", "{input}"]', '["sleep", "{input}", "4"]'), {"small", "large"}),
        (('"{threads}" }', '"1" }'), {"small", "large"}),
        (None, {"small", "large"}),  # what it reads changes
    ],
)
def test_a_run_on_this_machine_is_another_where_what_it_does_has_changed(
    change: tuple[str, str] | None, sizes: set[str], tmp_path: Path
) -> None:
    manifest, read = tmp_path / "suite.toml", tmp_path / "read"

    def origins() -> dict[str, str]:
        suite = load_suite(manifest)
        wanted = Wanted("host", suite, ("one",), ("small", "large"), (2,), 1, tmp_path / "work")
        programs, _ = host_programs(wanted)
        return {program.input: program.origin for program in programs}

    (tmp_path / "one.sh").touch()
    manifest.write_text(MANIFEST)
    read.write_text("before")
    before = origins()
    assert origins() == before
    if change is None:
        read.write_text("after")
    else:
        manifest.write_text(MANIFEST.replace(*change))
    now = origins()
    assert {size for size in now if now[size] != before[size]} == sizes


def test_scripts_of_one_interpreter_are_measured_and_judged_each_by_its_own_terms(
    tmp_path: Path,
) -> None:
    manifest = tmp_path / "suite.toml"
    scripts = "".join(
        f"""
[programs.{name}]
sources = ["one.sh"]
run = ["sh", "{name}.sh"]
stdin = "{{dir}}/{{threads}}"
expect = "^{name}"
inputs.small = ""
"""
        for name in ("one", "two")
    )
    manifest.write_text(f'[suite]\nname = "mine"\n{scripts}')
    for name in ("one.sh", "2", "4"):
        (tmp_path / name).touch()
    wanted = Wanted("host", load_suite(manifest), (), ("small",), (2, 4), 1, tmp_path / "work")
    programs, conditions = host_programs(wanted)
    found = {
        (program.name, program.threads): conditions[program.request.argv, program.threads]
        for program in programs
    }
    assert {run: (each.expect, each.stdin.name) for run, each in found.items()} == {
        (name, threads): (f"^{name}", str(threads)) for name in ("one", "two") for threads in (2, 4)
    }
