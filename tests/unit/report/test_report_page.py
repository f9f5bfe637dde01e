"""Pages: one file, closed to everything outside, in which no text of others is markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hostile_text import texts
from hypothesis import given, settings

from autofinity.foreign_text import one_line
from autofinity.model.errors import CapabilityError
from autofinity.report import plotly_script
from autofinity.report.page import (
    Block,
    Cell,
    Drawing,
    Facts,
    Folded,
    Page,
    Plot,
    Section,
    Sentences,
    Table,
    html_of,
    plot_text,
)

SCRIPT = "<script>alert('x')</script>"


class Parsed(HTMLParser):
    """Tags with their attributes, and texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page(*blocks: Block, text: str = "plain") -> Page:
    return Page(text, text, (Section(text, blocks),), text)


def all_blocks(text: str) -> tuple[Block, ...]:
    figure: dict[str, Any] = {"data": [{"x": [1.0], "name": text}], "layout": {"title": text}}
    return (
        Sentences((text, f"  {text}")),
        Facts(((text, text),)),
        Table((text, "n"), ((Cell(text), Cell(text, 1.0, bar=0.5)),), text, choices=(0,), search=0),
        Drawing("<svg></svg>", text),
        Plot("plot", figure, text, 100),
        Folded(text, (Sentences((text,)),)),
    )


@pytest.fixture
def no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short script in place of plotly's."""
    monkeypatch.setattr(plotly_script, "plotly_script", lambda: "var Plotly = {};")


@pytest.mark.usefixtures("no_plotly")
@settings(max_examples=60)
@given(texts(1, any_code=True))
def test_no_text_of_others_is_markup_and_all_of_it_is_shown(text: str) -> None:
    plain, hostile = (
        Parsed(html_of(page(*all_blocks("plain")))),
        Parsed(html_of(page(*all_blocks(text), text=text))),
    )
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert [set(attributes) for _, attributes in hostile.tags] == [
        set(attributes) for _, attributes in plain.tags
    ]
    shown = " ".join(" ".join(hostile.texts).split())
    assert " ".join(one_line(text).split()) in shown
    assert html_of(page(*all_blocks(text), text=text)).encode(), "it can be written to a file"


@pytest.mark.usefixtures("no_plotly")
def test_a_page_names_nothing_outside_itself() -> None:
    parsed = Parsed(html_of(page(*all_blocks(SCRIPT), text=SCRIPT)))
    assert not any({"src", "href", "srcset", "action"} & set(found) for _, found in parsed.tags)
    assert not {tag for tag, _ in parsed.tags} & {"link", "iframe", "img", "object", "base"}
    own = html_of(page(*all_blocks("x")))
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/)", own)


@pytest.mark.usefixtures("no_plotly")
def test_only_the_scripts_of_the_page_itself_may_run() -> None:
    html = html_of(page(*all_blocks(SCRIPT)))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


@pytest.mark.usefixtures("no_plotly")
def test_a_figure_is_json_that_cannot_end_its_element_and_whose_gaps_are_null() -> None:
    figure = {
        "data": [{"y": [1.5, float("nan"), float("inf")], "name": "</script><!--"}],
        "layout": {},
    }
    html = html_of(page(Plot("p", figure, "", 100)))
    (found,) = re.findall(r'data-plot="p">(.*?)</script>', html)
    assert json.loads(found)["data"][0] == {"y": [1.5, None, None], "name": "</script><!--"}


def test_text_for_plotly_is_no_markup_there() -> None:
    assert plot_text("<a href='x'>&b\n") == "&lt;a href='x'&gt;&amp;b\\n"


def test_a_page_with_plots_has_plotlys_script_and_one_without_has_not() -> None:
    whole = html_of(page(*all_blocks("x")))
    assert "plotly.js v" in whole
    assert 4_000_000 < len(whole) < 6_000_000
    assert len(html_of(page(Sentences(("x",))))) < 30_000
    folded = html_of(page(Folded("x", (Plot("p", {"data": [], "layout": {}}, "", 1),))))
    assert "plotly.js v" in folded


def test_the_script_of_plotly_can_stand_in_a_page() -> None:
    script = plotly_script.plotly_script().lower()
    assert "</script" not in script and "<!--" not in script


def test_without_plotly_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly.offline", None)
    with pytest.raises(CapabilityError, match=r"install autofinity\[plots\]"):
        plotly_script.plotly_script()
    monkeypatch.setattr(plotly_script, "find_spec", lambda name: None)
    with pytest.raises(CapabilityError, match=r"install autofinity\[plots\], or omit --html"):
        plotly_script.check_plotly()


def test_indented_lines_are_levels_and_a_column_lists_each_of_its_texts_once() -> None:
    assert Sentences(("a", "  b", "    c")).levels == [(0, "a"), (1, "b"), (2, "c")]
    rows = tuple((Cell(text, float(text)),) for text in ("16", "4", "16", "8"))
    assert Table(("threads",), rows).texts_of(0) == ["4", "8", "16"]
