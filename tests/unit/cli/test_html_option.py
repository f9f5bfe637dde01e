"""`--html`: which commands have it, and its refusals before any work."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autofinity.cli.main import COMMANDS, cli
from autofinity.model.errors import AutofinityError, CapabilityError
from autofinity.report import chart_image, plotly_script

WITH = {"evaluate", "compare", "explain", "advise", "detect"}
SAMPLE = ("explain", "opteron-6164he", "--sample", "instructions=1,llc_requests=1,llc_misses=1")


def options(command: str) -> set[str]:
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    return {name for option in found.params for name in option.opts}


def refused(*arguments: str) -> AutofinityError:
    with pytest.raises(AutofinityError) as error:
        CliRunner().invoke(cli, arguments, catch_exceptions=False)
    return error.value


def test_results_that_people_look_at_are_pages_and_machines_pictures() -> None:
    assert {name for name in COMMANDS if "--html" in options(name)} == WITH
    assert {name for name in COMMANDS if "--svg" in options(name)} == {"topology", "map"}


def test_without_plotly_the_extra_is_named_and_without_the_option_nothing_is_missed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plotly_script, "find_spec", lambda name: None)
    error = refused(*SAMPLE, "--html", str(tmp_path / "page.html"))
    assert isinstance(error, CapabilityError)
    assert "autofinity[plots]" in str(error)
    assert CliRunner().invoke(cli, SAMPLE, catch_exceptions=False).exit_code == 0


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli, [*SAMPLE, "--html", str(tmp_path / "none" / "page.html")], terminal_width=500
    )
    assert done.exit_code == 2
    assert f"there is no folder {tmp_path / 'none'}" in done.output


FULL = "/dev/full"


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (("topology", "-m", "synthetic:pack:2 core:2 pu:1", "--svg", FULL), "2 sockets"),
        ((*SAMPLE, "--html", FULL), "few-sockets-shared-caches"),
        (
            ("map", "--matrix", "MATRIX", "-m", "opteron-6164he", "--svg", FULL),
            "CPUs in thread order",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_page_that_cannot_be_written_is_named_after_the_result_is_printed(
    arguments: tuple[str, ...], result: str, tmp_path: Path
) -> None:
    if not Path(FULL).exists():
        pytest.skip("there is no /dev/full here")
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("0,1\n1,0\n")
    words = [str(matrix) if word == "MATRIX" else word for word in arguments]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, OSError)
    assert done.exception.filename == FULL
    assert result in done.output


@pytest.mark.parametrize("command", ["figure", "map", "coverage", "compare"])
def test_a_picture_that_cannot_be_made_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    # Work would begin with a matrix, a machine or a figure that is not there.
    nothing = {"figure": ("none",), "map": ("--matrix", str(tmp_path / "none"))}
    words = (command, *nothing.get(command, ("-m", "none")))
    if command == "map":
        (tmp_path / "none").write_text("no matrix")
    assert "ends in .svg, .png, .pdf" in str(refused(*words, "-o", str(tmp_path / "x.gif")))
    monkeypatch.setattr(chart_image, "find_spec", lambda name: None)
    error = refused(*words, "-o", str(tmp_path / "x.png"))
    assert isinstance(error, CapabilityError) and "autofinity[plots]" in str(error)
