"""The page on Python says what is: its examples run, its names are all there are."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import re
from pathlib import Path

import pytest
from captured_binary import missing

import autofinity
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

PAGES = Path(__file__).resolve().parents[3] / "docs"
PAGE = (PAGES / "python.md").read_text(encoding="utf-8")
CAPTURES = "capture_traces"
CAPTURING = ("af.capture_traces(", "af.profile(", "af.train(", "af.compare(")


def test_every_example_gives_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 13
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    names: dict[str, object] = {}
    said: list[str] = []
    for number, block in enumerate(blocks):
        if (CAPTURES in block or "(trace," in block) and (why := not_captured()):
            print(f"left out: {why}")
            continue
        test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", None, None)
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).attempted > 15
    assert not said, "".join(said)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all examples of docstrings: what one captures, another finds."""
    return tmp_path_factory.mktemp("examples")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.weka] if name == "JRipClassifier" else [])
        for name in sorted(set(autofinity.__all__) - {"HINTS"})
    ],
)
def test_every_name_has_an_example_that_gives_what_its_docstring_says(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = inspect.getdoc(getattr(autofinity, name)) or ""
    test = doctest.DocTestParser().get_doctest(text, {"af": autofinity}, name, None, None)
    assert test.examples, "users of pandas look for an example first"
    if any(word in text for word in CAPTURING) and (why := not_captured()):
        pytest.skip(f"programs cannot be captured: {why}")
    if name == "capture_program" and (why := missing()):
        pytest.skip(why)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test, out=said.append)
    assert not said, "".join(said)


def not_captured() -> str | None:
    """Why a program cannot be captured here."""
    suite = load_suite(shipped("training", "suite.toml"))
    return skip_reason(suite.programs["prodcons"], Compilers.find(os.environ))


def test_the_page_names_all_that_there_is() -> None:
    table = PAGE.split("|---|---|\n")[1].split("\n\n")[0]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(autofinity.__all__)


def test_calls_that_take_too_long_to_run_here_have_arguments_that_exist() -> None:
    code = "\n".join(re.findall(r"^    (\S.*)$", PAGE, re.MULTILINE))
    calls = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("af.")
    ]
    assert len(calls) == 4
    for call in calls:
        function = getattr(autofinity, ast.unparse(call.func).removeprefix("af."))
        given = {keyword.arg or "": None for keyword in call.keywords}
        inspect.signature(function).bind(*call.args, **given)


def test_the_reference_has_every_name_with_its_docstring() -> None:
    reference = (PAGES / "reference/api.rst").read_text(encoding="utf-8")
    named = re.findall(r"^\.\. (?:auto|py:)\w+:: (\w+)$", reference, re.MULTILINE)
    assert sorted(named) == sorted(autofinity.__all__)
