"""Manual pages: a page a command, complete, and free of what a formatter stumbles over."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from autofinity.cli.main import COMMANDS, cli
from autofinity.cli.manual import pages, roff
from autofinity.runtime.launcher import find_launcher


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man1")
    for name, page in pages(find_launcher()).items():
        (folder / name).write_text(page, encoding="ascii")
    return folder


COLUMNS = 400
"""Wide enough that no line ends within the names of an option."""


def lines(page: Path) -> list[str]:
    """The page as a wide terminal shows it."""
    if shutil.which("groff") is None:
        pytest.skip("no groff")
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-P-cbou", "-rHY=0", f"-rLL={COLUMNS}n", page],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    return re.sub("[\u2010\u2212]", "-", done.stdout).splitlines()


def shown(page: Path) -> str:
    """The page as a terminal of any width shows it, words apart by one space."""
    return " ".join(" ".join(lines(page)).split())


def options(page: Path) -> list[str]:
    """The lines of the page that begin an option."""
    under_heading = False
    found = []
    for line in lines(page):
        if line and not line.startswith(" "):
            under_heading = line == "OPTIONS"
        elif under_heading and re.match(" {7}-", line):
            found.append(line.strip())
    return found


def assert_each_begins_a_line(names: list[str], page: Path) -> None:
    for line, name in zip(options(page), names, strict=True):
        assert f"{line} ".startswith(f"{name} ")


def test_every_command_has_a_page_that_the_first_page_names(written: Path) -> None:
    first = shown(written / "autofinity.1")
    assert {path.stem for path in written.iterdir()} == {
        "autofinity",
        *(f"autofinity-{name}" for name in COMMANDS),
    }
    for name, line in COMMANDS.items():
        assert f"autofinity-{name}(1) {line}" in first.replace("- ", "-")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "run"])
def test_a_page_has_every_option_with_its_text(written: Path, name: str) -> None:
    page = shown(written / f"autofinity-{name}.1")
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            for spelling in option.opts:
                assert spelling in page
    last = (command.help or "").split()[-1].strip("`.")
    assert last in page
    context = click.Context(command, info_name=name)
    records = [option.get_help_record(context) for option in command.get_params(context)]
    names = [record[0] for record in records if record and record[1]]
    assert_each_begins_a_line(names, written / f"autofinity-{name}.1")


def test_the_page_of_run_has_every_option_of_the_launcher(written: Path) -> None:
    page = shown(written / "autofinity-run.1")
    words = [find_launcher(), "run", "--help-all"]
    told = subprocess.run(words, capture_output=True, text=True).stdout
    names = re.findall(r"^  (-.*?)(?:  .*)?$", told, re.MULTILINE)
    assert len(names) > 10
    assert_each_begins_a_line(names, written / "autofinity-run.1")
    assert "kmaf14 page faults by sub-blocks" in page
    assert "127 PROGRAM not found." in page


def test_a_linter_of_manual_pages_finds_nothing(written: Path) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("no mandoc")
    done = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", *sorted(written.iterdir())],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_text_cannot_be_a_request_of_the_formatter() -> None:
    assert roff("a\\b -c … `d`") == r"a\eb \-c \[u2026] \fBd\fP"
    assert "\n.so" not in pages(find_launcher())["autofinity.1"]


def test_pages_and_completion_are_made_where_click_is_all_that_is_installed(
    tmp_path: Path,
) -> None:
    """As when a wheel is built: the compiled core is not there either."""
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition('.')[0]
        if name.startswith('autofinity._core') or top in {
        (
            "numpy",
            "pandas",
            "pyarrow",
            "pydantic",
            "rich",
            "scipy",
            "sklearn",
            "jinja2",
            "rustworkx",
            "pyhwloc",
            "jpype",
        )
    }:
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from autofinity.cli import completion, manual
sys.argv[1:] = [{str(tmp_path)!r}]
completion.main()
sys.argv[1:] = [{str(find_launcher())!r}, {str(tmp_path / "man1")!r}]
manual.main()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(list((tmp_path / "man1").iterdir())) == len(COMMANDS) + 1
    assert (tmp_path / "zsh/site-functions/_autofinity").read_text().startswith("#compdef")
