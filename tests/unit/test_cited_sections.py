"""Sections of the five papers that code and documents cite: those that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autofinity.papers.registry import OF_MECHANISMS, OF_OBSERVATIONS

ROOT = Path(__file__).resolve().parents[2]
KMAF14 = """
    1 2 2.1 2.2 2.2.1 2.2.2 2.3 2.3.1 2.3.2 2.3.3 3 3.1 3.1.1 3.1.2 3.2 3.3 3.4 3.4.1 3.4.2 3.5
    3.5.1 3.5.2 3.6 4 5 5.1 5.2 5.3 5.4 6 7 8
"""
KMAF16 = """
    1 2 2.1 2.1.1 2.1.2 2.1.3 2.2 3 3.1 3.2 4 4.1 4.2 4.2.1 4.2.2 4.3 4.3.1 4.3.2 4.3.3 4.4 4.5
    4.5.1 4.5.2 4.5.3 4.5.4 4.6 4.7 4.8 4.8.1 4.8.2 5 5.1 5.2 5.3 6 6.1 6.2 6.3 6.4 6.5 6.6 7
"""
CC13 = "1 2 2.1 2.2 2.3 3 3.1 3.2 3.3 3.4 3.5 3.6 4 5"
SAMMU = "1 2 3 3.1 3.2 3.3 4 4.1 4.2 4.3 4.4 5"
TLB = """
    1 2 3 4 4.1 4.2 4.2.1 4.2.2 4.2.3 4.2.4 4.2.5 4.2.6 4.3 4.3.1 4.3.2 4.3.3 4.3.4 4.3.5 4.4 5 5.1
    5.2 6 6.1 6.1.1 6.1.2 6.1.3 6.2 6.3 6.4 6.5 6.6 6.7 7
"""
SECTIONS = {
    "Moore & Childers": frozenset(CC13.split()),
    "CC 2013": frozenset(CC13.split()),
    "CC'13": frozenset(CC13.split()),
    "SAMMU": frozenset(SAMMU.split()),
    "Euro-Par 2016": frozenset(SAMMU.split()),
    "TLB paper": frozenset(TLB.split()),
    "CCPE 2014": frozenset(TLB.split()),
    "kMAF'14": frozenset(KMAF14.split()),
    "PACT 2014": frozenset(KMAF14.split()),
    "kMAF'16": frozenset(KMAF16.split()),
    "TPDS 2016": frozenset(KMAF16.split()),
}
NUMBER = r"\d(?:\.\d)*"
NAMES = "|".join(SECTIONS)
CITED = re.compile(
    rf"({NAMES})(?:(?!{NAMES})[^.;]){{0,45}}?\bsections? ({NUMBER}(?:(?:, | and ){NUMBER})*)"
)
SUFFIXES = {".py", ".pyi", ".cpp", ".hpp", ".c", ".md", ".toml"}
FOLDERS = ("autofinity", "data/machines", "docs", "scripts", "tests")


def text_of(file: Path) -> str:
    """In one line, without the marks of comments."""
    return re.sub(r"\s+(?:(?://|#)\s+)?", " ", file.read_text())


def cited() -> Iterator[tuple[str, str, str]]:
    """(file, paper, section)."""
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in SUFFIXES and file != Path(__file__):
                for paper, numbers in CITED.findall(text_of(file)):
                    for number in re.findall(NUMBER, numbers):
                        yield str(file.relative_to(ROOT)), paper, number


def test_cited_sections_are_there() -> None:
    found = list(cited())
    assert len(found) > 70
    assert {paper for _, paper, _ in found} >= SECTIONS.keys() - {"Euro-Par 2016"}
    assert [each for each in found if each[2] not in SECTIONS[each[1]]] == []


@pytest.mark.parametrize(
    ("recipe", "paper"),
    [
        ("kmaf14", "kMAF'14"),
        ("kmaf16", "kMAF'16"),
        ("sammu", "SAMMU"),
        ("tlb_matching", "TLB paper"),
    ],
)
def test_a_recipe_cites_sections_of_its_paper(recipe: str, paper: str) -> None:
    """But where it names another paper."""
    text = (ROOT / f"autofinity/mechanisms/{recipe}.py").read_text()
    text = re.sub(rf"({NAMES})[^:;]*?\bsections? {NUMBER}", "", text)
    found = set(re.findall(r"(?<![\d.])[1-7]\.[1-8](?:\.\d)?(?![\d.]|\s*%|/N)", text))
    assert len(found) > 4
    assert found <= SECTIONS[paper]


@pytest.mark.parametrize(
    ("prefix", "paper"),
    [("kmaf14-", "kMAF'14"), ("kmaf16-", "kMAF'16"), ("sammu-", "SAMMU"), ("tlb-", "TLB paper")],
)
def test_figures_are_of_sections_of_their_paper(prefix: str, paper: str) -> None:
    own = [of for name, of in OF_MECHANISMS.items() if name.startswith(prefix)]
    assert len(own) > 3
    assert {of.section for of in own} <= SECTIONS[paper]


def test_figures_of_observations_are_of_sections_of_cc13() -> None:
    assert len(OF_OBSERVATIONS) > 6
    assert {of.section for of in OF_OBSERVATIONS.values()} <= SECTIONS["CC 2013"]
