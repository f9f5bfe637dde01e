"""Slow tests run in parts, each of them with some commits, and all with `make test-all`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from slow_tests import LEAST_S, PARTS, due, listed, part_of_files, slow_in

ROOT = Path(__file__).parents[2]


def test_every_slow_test_is_due_with_one_commit_in_eight() -> None:
    seconds = listed()
    parts = [due(f"{number:x}", seconds) for number in range(PARTS)]
    assert sum(map(len, parts)) == len(seconds)
    assert frozenset().union(*parts) == due("all", seconds) == frozenset(seconds)
    assert due("361f197c" * 5, seconds) == parts[0x361F197C % PARTS]
    assert due("none", seconds) == frozenset()


def test_a_word_that_is_no_commit_is_refused() -> None:
    with pytest.raises(ValueError, match="expected all, none, or a commit"):
        due("HEAD", {})


def test_parts_are_about_as_long_as_each_other() -> None:
    seconds = listed()
    lengths = [sum(seconds[each] for each in due(f"{part:x}", seconds)) for part in range(PARTS)]
    assert max(lengths) <= 1.2 * min(lengths)


def test_tests_of_a_file_are_in_one_part() -> None:
    parts = part_of_files({"a.py::one": 3, "a.py::two": 3, "b.py::one": 5})
    assert parts == {"a.py": 0, "b.py": 1}


def test_the_list_names_tests_that_there_are() -> None:
    for file, names in _by_file(listed()).items():
        tree = ast.parse((ROOT / file).read_text())
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert names <= there, file


def test_a_function_is_slow_by_its_slowest_case(tmp_path: Path) -> None:
    cases = (
        ("one[a]", LEAST_S),
        ("one[b]", 0.5),
        ("two[a]", 0.9 * LEAST_S),
        ("two[b]", LEAST_S / 2),
    )
    lines = (f'<testcase classname="tests.unit.test_it" name="{n}" time="{t}"/>' for n, t in cases)
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites>{''.join(lines)}</testsuites>")
    assert slow_in([report]) == {"tests/unit/test_it.py::one": LEAST_S + 0.5}


def _by_file(functions: dict[str, float]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for function in functions:
        file, _, name = function.partition("::")
        found.setdefault(file, set()).add(name)
    return found
