"""Names in the documents exist: files they link to, commands, options and make's targets."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from script_module import script_module

from autofinity.cli.main import COMMANDS, cli
from autofinity.runtime.launcher import find_launcher
from autofinity.sim.preset import load_preset, preset_names

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    ROOT / "policies/README.md",
    ROOT / "scripts/README.md",
    ROOT / "training/README.md",
    ROOT / "kernels/README.md",
    ROOT / "solvers/README.md",
]
SCRIPTS = ROOT / "scripts"
gallery = script_module("tools/gallery.py")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SHOWN = re.compile(r"`([^`\n]+)`|^(?:time )?((?:autofinity|make) .*)$", re.MULTILINE)
NAME = re.compile(r"[a-z][a-z-]+")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def shown(document: Path) -> Iterator[list[str]]:
    """Command lines, in words: code spans and lines of code blocks, without shell comments."""
    for span, line in SHOWN.findall(document.read_text()):
        try:
            words = shlex.split(span or line, comments=True)
        except ValueError:  # prose with an apostrophe
            continue
        yield words[words[:1] == ["time"] :]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_of_a_document_leads_to_a_file(document: Path) -> None:
    targets = [t for t in LINK.findall(document.read_text()) if "://" not in t]
    paths = {t: (document.parent / t).resolve() for t in targets}
    made = {path for _, figures in gallery.blocks(gallery.PAGE.read_text()) for path in figures}
    missing = [t for t, path in paths.items() if not (path in made or path.exists())]
    assert not missing


def test_pictures_that_are_drawn_with_the_site_are_shown_in_the_gallery_only() -> None:
    shown_in = [
        str(document.relative_to(ROOT))
        for document in DOCUMENTS
        if any("build/docs/figures" in target for target in LINK.findall(document.read_text()))
    ]
    assert shown_in == [str(gallery.PAGE.relative_to(ROOT))]


def test_every_figure_of_the_gallery_is_drawn_by_the_commands_above_it() -> None:
    blocks = list(gallery.blocks(gallery.PAGE.read_text()))
    assert len(blocks) >= 5
    for commands, figures in blocks:
        assert figures, commands
        for figure in figures:
            assert f"-o {figure.relative_to(ROOT)}\n" in commands


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_and_option_that_a_document_shows_exists(document: Path) -> None:
    assert [words for words in shown(document) if unknown(words)] == []


def test_every_command_and_option_of_the_demo_exists() -> None:
    script = (SCRIPTS / "demo").read_text().replace("\\\n", " ")
    lines = re.findall(r"^shown (?:env \S+ )?autofinity (\w[^\n|>]*)", script, re.MULTILINE)
    commands = [["autofinity", *line.split()] for line in lines]
    assert len(commands) == 9
    assert [words for words in commands if unknown(words)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_command_asks_a_machine_for_more_threads_than_it_has(document: Path) -> None:
    wrong = []
    for words in shown(document):
        machine, threads = (value_of(words, name) for name in ("--machine", "--threads"))
        known = words[:1] == ["autofinity"] and machine in preset_names()
        for count in filter(str.isdigit, threads.split(",") if known else ()):
            wrong += [words] * (int(count) > len(load_preset(machine).topology.pus))
        # The reader's own machine is known to have two CPUs, no more.
        wrong += [words] * (words[1:2] == ["hints"] and not machine and int(threads or 1) > 2)
        wrong += [words] * (machine == "host" and words[1:2] == ["topology"] and threads > "2")
    assert not wrong


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_script_that_a_document_names_exists(document: Path) -> None:
    named = re.findall(r"\bscripts/[\w/-]+(?:\.\w+)?", document.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_command_is_a_feature_that_a_test_holds() -> None:
    page = ROOT / "docs/features.md"
    shown_there = {words[1] for words in shown(page) if words[:1] == ["autofinity"]}
    assert set(COMMANDS) <= shown_there
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    for row in rows:
        if row == "| feature | command | test |":
            continue
        tests = re.findall(r"`(tests/[\w/.]+)`", row)
        assert tests, row
        assert [name for name in tests if not (ROOT / name).is_file()] == []


def test_every_study_and_tool_has_a_line_and_somebody_who_needs_it() -> None:
    readme = (SCRIPTS / "README.md").read_text()
    needed_by = [
        *DOCUMENTS,
        ROOT / "Makefile",
        *ROOT.glob("tests/**/*.py"),
        *SCRIPTS.glob("*/*.py"),
        *(path for path in SCRIPTS.iterdir() if path.is_file()),
    ]
    texts = {path: path.read_text() for path in needed_by if path != SCRIPTS / "README.md"}
    for script in [*SCRIPTS.glob("studies/*.*"), *SCRIPTS.glob("tools/*.*")]:
        assert f"{script.name}`" in readme, script
        others = "\n".join(text for path, text in texts.items() if path != script)
        assert re.search(rf"\b{script.name}\b|\bfrom {script.stem} import", others), script


def test_the_lists_in_documents_are_those_of_the_tables() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/lists.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def unknown(words: list[str]) -> bool:
    """Whether a command line has a target of make, a command or an option that does not exist."""
    if words[:1] == ["make"] and len(words) > 1:
        return words[1] not in TARGETS
    if words[:1] != ["autofinity"] or len(words) < 2 or not NAME.fullmatch(words[1]):
        return False
    own = words[2 : words.index("--")] if "--" in words else words[2:]
    known = options_of(words[1]) if words[1] in COMMANDS else set()
    return any(option(word) not in known for word in ["--help", *own])


def value_of(words: list[str], option: str) -> str:
    """The word after an option; empty without it."""
    return words[words.index(option) + 1] if option in words[:-1] else ""


@functools.cache
def options_of(name: str) -> set[str]:
    """All that a command takes, by its own word; `run` is a program that reads its own options."""
    if name == "run":
        asked = [str(find_launcher()), "run", "--help-all"]
        text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return {"--help", "-h"}.union(*(param.opts + param.secondary_opts for param in command.params))


def option(word: str) -> str:
    """`--name` of `--name=value` and `[--name`; what is no option is `--help`, which all know."""
    found = re.match(r"\[?(--?[a-z][a-z-]*)", word)
    return found[1] if found else "--help"


def test_git_ignores_what_the_tutorial_makes_in_a_clone() -> None:
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
    text = "".join(page.read_text() for page in ROOT.glob("docs/tutorial/*.md"))
    made = re.findall(r"(?:-o |--work |mkdir -p |^cat >+)([a-z][\w./]*)", text, re.MULTILINE)
    assert len(made) > 8
    assert {path.partition("/")[0] for path in made} <= ignored
