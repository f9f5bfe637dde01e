"""No name in a policy is anything but a name in what is exported of it."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hostile_text import PWNED, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from autofinity.foreign_text import one_line
from autofinity.model.affinity import HINTS
from autofinity.model.errors import PolicyError
from autofinity.model.policy import Condition, Rule, RulePolicy, SecondLook, looked_at
from autofinity.model.ratios import START, Ratio
from autofinity.model.sharing import SharingMatrix
from autofinity.policy import files
from autofinity.policy.export import FORMATS, exported
from autofinity.recording.rows import Row, text_row, toml_of
from autofinity.report.heat_map import heat_svg

pytestmark = pytest.mark.any_user

CASE = Path(__file__).parent / "comment-injection.json"
COMPILERS = {
    "c": (os.environ.get("CC") or "cc", "-std=c99"),
    "c++": (os.environ.get("CXX") or "c++", "-std=c++98"),
}
INF = math.inf


def named(names: tuple[str, ...], made_of: dict[str, str]) -> RulePolicy:
    """A policy with rules, ratios and a second look, over two counters and a ratio."""
    a, b, ratio, gain = names
    first = RulePolicy(
        (a, b),
        {a: (1.0,), ratio: (0.5, 2.0)},
        (
            Rule((Condition(a, -INF, 1.0), Condition(ratio, 0.5, 2.0)), HINTS[1], 3.0, 1.0),
            Rule((Condition(b, -INF, INF), Condition(ratio, 2.0, INF)), HINTS[5], 2.0, 0.0),
        ),
        HINTS[0],
        made_of,
        ratios=(Ratio(ratio, (a, b), (b,), 1000.0),),
    )
    again = RulePolicy(
        looked_at(first.counters),
        {},
        (Rule((Condition(gain, 1.0, INF), Condition(START + a, -INF, 4.0)), HINTS[2], 1.0, 0.0),),
        HINTS[3],
        ratios=(Ratio(gain, (a,), (START + b,)),),
    )
    return replace(first, second=SecondLook(HINTS[6], (HINTS[1], HINTS[5]), again))


BLAND = named(("name_a", "name_b", "name_c", "name_d"), {"k": "made", "l": "of"})


@st.composite
def policies(draw: st.DrawFn) -> RulePolicy:
    """`BLAND` with other names."""
    names = draw(
        st.lists(texts(), min_size=4, max_size=4, unique=True).filter(
            lambda four: not any(name.startswith(START) for name in four)
        )
    )
    made_of = draw(st.dictionaries(texts(0), texts(0), min_size=2, max_size=2))
    return named(tuple(names), made_of)


def code(header: str, language: str) -> str:
    """Tokens of a header for the compiler, without the content of its strings."""
    compiler = COMPILERS[language]
    done = subprocess.run(
        [*compiler, "-x", language, "-trigraphs", "-E", "-P", "-Wall", "-Wno-trigraphs", "-"],
        input=header,
        capture_output=True,
        text=True,
        check=True,
    )
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', done.stdout)


@cache
def bland_code(language: str) -> str:
    return code(exported(BLAND, "c"), language)


@pytest.mark.parametrize("language", list(COMPILERS))
def test_provenance_that_closes_the_comment_stays_a_comment(tmp_path: Path, language: str) -> None:
    """An attack: a backslash became a slash after `*/` had been looked for."""
    header = exported(files.load(CASE), "c")
    assert "pwned" in header
    assert "pwned" not in code(header, language)
    (tmp_path / "policy.h").write_text(header)
    main = tmp_path / "main.c"
    main.write_text('#include <stdio.h>\n#include "policy.h"\nint main(void) { return 0; }\n')
    program = tmp_path / "main"
    flags = ("-x", language, "-Wall", "-Wextra", "-Werror", "-o", program, main)
    subprocess.run([*COMPILERS[language], *flags], check=True)
    assert subprocess.run([program], capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize("language", list(COMPILERS))
@settings(max_examples=60)
@given(policy=policies())
def test_the_compiler_sees_the_same_code_whatever_the_names(
    policy: RulePolicy, language: str
) -> None:
    header = exported(policy, "c")
    assert header.isascii() and header.replace("\n", "").isprintable()
    assert code(header, language) == bland_code(language)


def test_the_header_compiles_with_all_warnings_whatever_the_names(tmp_path: Path) -> None:
    hostile = named((PWNED, "??/\n*/", '"\\', "/*\\"), {"*\\": "*\\ int;", "\n*/ int": "??/"})
    path = tmp_path / "policy.h"
    path.write_text(exported(hostile, "c"))
    for compiler in COMPILERS.values():
        flags = ("-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-x")
        language = "c" if compiler == COMPILERS["c"] else "c++"
        subprocess.run([*compiler, *flags, language, path], check=True)


@given(policies())
def test_the_python_module_is_the_same_code_whatever_the_names(policy: RulePolicy) -> None:
    text = exported(policy, "python")
    assert text.isascii() and text.replace("\n", "").isprintable()
    assert shape(text) == shape(exported(BLAND, "python"))
    module: dict[str, object] = {}
    exec(text, module)
    assert module["COUNTERS"] == policy.counters


def shape(source: str) -> str:
    """A module's syntax tree without the names of the counters."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COUNTERS":
            node.value = ast.Tuple([])
    return ast.dump(tree)


@given(policies())
def test_the_sql_expression_reads_columns_of_any_name(policy: RulePolicy) -> None:
    columns = {name: f"c{i}" for i, name in enumerate(policy.counters)}
    text = exported(policy, "sql")
    unquoted = re.sub(
        r'"(?:[^"]|"")*"', lambda found: columns[found[0][1:-1].replace('""', '"')], text
    )
    bland = exported(BLAND, "sql").replace('"name_a"', "c0").replace('"name_b"', "c1")
    assert unquoted == bland
    if len({name.casefold() for name in columns}) == len(columns):  # as SQLite distinguishes them
        database = sqlite3.connect(":memory:")
        quoted = ", ".join('"' + name.replace('"', '""') + '" REAL' for name in columns)
        database.execute(f"CREATE TABLE samples ({quoted})")
        database.execute("INSERT INTO samples VALUES (0.5, 1000)")
        assert database.execute(f"SELECT {text} FROM samples").fetchall() == [(str(HINTS[5]),)]


@given(policies())
def test_a_markdown_page_has_the_same_blocks_whatever_the_names(policy: RulePolicy) -> None:
    got, expected = blocks(exported(policy, "markdown")), blocks(exported(BLAND, "markdown"))
    assert [kind for kind, _ in got] == [kind for kind, _ in expected]
    shown = dict(zip(names(BLAND), map(one_line, names(policy)), strict=True))
    pattern = re.compile(r"\b(" + "|".join(shown) + r")\b")
    for (_, text), (_, bland) in zip(got, expected, strict=True):
        assert text.split() == pattern.sub(lambda found: shown[found[0]], bland).split()


def names(policy: RulePolicy) -> list[str]:
    assert policy.second is not None
    ratios = (*policy.ratios, *policy.second.policy.ratios)
    return [*policy.counters, *(ratio.name for ratio in ratios)]


def blocks(page: str) -> list[tuple[str, str]]:
    """Blocks of a page, and what is read in each; other marks in lines are kinds of their own."""
    found = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page):
        inner = token.children or []
        marks = {child.type for child in inner} - {"text", "text_special"}
        found.append((f"{token.type} {sorted(marks)}", "".join(child.content for child in inner)))
    return found


@given(policies())
def test_json_reads_back_and_holds_nothing_that_a_terminal_obeys(policy: RulePolicy) -> None:
    text = exported(policy, "json")
    assert text.replace("\n", "").isprintable()
    assert files.loads(text.encode()) == policy
    assert json.loads(text)["provenance"] == policy.provenance


@given(policies())
def test_the_listing_has_the_same_lines_whatever_the_names(policy: RulePolicy) -> None:
    text = exported(policy, "text")
    assert text.replace("\n", "").isprintable()
    assert text.count("\n") == exported(BLAND, "text").count("\n")


@pytest.mark.parametrize("form", list(FORMATS))
@pytest.mark.parametrize("name", ["\0", "a\0b", "\ud800", "\udcff*/"])
def test_a_name_that_no_file_can_hold_is_refused_by_every_exporter(form: str, name: str) -> None:
    for policy in (
        named((name, "b", "c", "d"), {}),
        named(("a", "b", name, "d"), {}),
        named(("a", "b", "c", name), {}),
    ):
        with pytest.raises(PolicyError, match=r"expected|surrogate"):
            exported(policy, form)


@given(texts(any_code=True), texts(any_code=True))
def test_a_recorded_machine_file_holds_any_model_and_comment(model: str, comment: str) -> None:
    text = toml_of("[machine]", [text_row("model", model, comment), Row("ways", "8", comment)])
    plain = model.encode("utf-8", "replace").decode()
    assert tomllib.loads(text) == {"machine": {"model": plain, "ways": 8}}
    assert text.replace("\n", "").isprintable()


@given(texts(any_code=True))
def test_a_heat_map_is_well_formed_under_any_title(title: str) -> None:
    root = ElementTree.fromstring(heat_svg(SharingMatrix(((0.0, 1.0), (1.0, 0.0))), title))
    assert root[0].text == one_line(title)


@given(st.lists(texts(any_code=True), min_size=2, max_size=3, unique=True))
@pytest.mark.filterwarnings("ignore:Glyph")
@settings(max_examples=10)
def test_a_chart_takes_any_names(names: Iterable[str]) -> None:
    pytest.importorskip("matplotlib")
    from autofinity.report.chart import Chart
    from autofinity.report.chart_image import png

    title, *series = names
    chart = Chart(title, title, title, (title, "b"), dict.fromkeys(series, (1.0, 2.0)))
    assert png(chart).startswith(b"\x89PNG")


def test_compilers_are_there() -> None:
    assert all(shutil.which(compiler) for compiler, _ in COMPILERS.values())
