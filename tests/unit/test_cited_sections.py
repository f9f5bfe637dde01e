"""Sections of the two kMAF papers that code and documents cite: those that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autofinity.papers.registry import OF_MECHANISMS

ROOT = Path(__file__).resolve().parents[2]
KMAF14 = """
    1 2 2.1 2.2 2.2.1 2.2.2 2.3 2.3.1 2.3.2 2.3.3 3 3.1 3.1.1 3.1.2 3.2 3.3 3.4 3.4.1 3.4.2 3.5
    3.5.1 3.5.2 3.6 4 5 5.1 5.2 5.3 5.4 6 7 8
"""
KMAF16 = """
    1 2 2.1 2.1.1 2.1.2 2.1.3 2.2 3 3.1 3.2 4 4.1 4.2 4.2.1 4.2.2 4.3 4.3.1 4.3.2 4.3.3 4.4 4.5
    4.5.1 4.5.2 4.5.3 4.5.4 4.6 4.7 4.8 4.8.1 4.8.2 5 5.1 5.2 5.3 6 6.1 6.2 6.3 6.4 6.5 6.6 7
"""
SECTIONS = {
    "kMAF'14": frozenset(KMAF14.split()),
    "PACT 2014": frozenset(KMAF14.split()),
    "kMAF'16": frozenset(KMAF16.split()),
    "TPDS 2016": frozenset(KMAF16.split()),
}
NUMBER = r"\d(?:\.\d)*"
CITED = re.compile(
    rf"({'|'.join(SECTIONS)})[^.;]{{0,45}}?\bsections? ({NUMBER}(?:(?:, | and ){NUMBER})*)"
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


def test_cited_sections_of_kmaf14_and_kmaf16_are_there() -> None:
    found = list(cited())
    assert len(found) > 40
    assert {paper for _, paper, _ in found} >= {"kMAF'14", "kMAF'16"}
    assert [each for each in found if each[2] not in SECTIONS[each[1]]] == []


@pytest.mark.parametrize("version", ["14", "16"])
def test_a_recipe_of_kmaf_cites_sections_of_its_paper(version: str) -> None:
    text = (ROOT / f"autofinity/mechanisms/kmaf{version}.py").read_text()
    found = set(re.findall(r"(?<![\d.])[1-7]\.[1-8](?:\.\d)?(?![\d.]|\s*%|/N)", text))
    assert len(found) > 4
    assert found <= SECTIONS[f"kMAF'{version}"]


def test_figures_of_kmaf_are_of_sections_of_their_paper() -> None:
    for version in ("14", "16"):
        own = [of for name, of in OF_MECHANISMS.items() if name.startswith(f"kmaf{version}-")]
        assert len(own) > 8
        assert {of.section for of in own} <= SECTIONS[f"kMAF'{version}"]
