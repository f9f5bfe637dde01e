"""docs/mechanisms.md says of each headline in docs/papers.md whether it is met, and if not, why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
SAME = ("of", "machine, threads", "met")


def rows_of(document: str, first: Sequence[str]) -> list[dict[str, str]]:
    """Rows of the table whose columns begin so."""
    text = (DOCS / document).read_text(encoding="utf-8")
    lines = iter(text.partition("\n| " + " | ".join(first) + " |")[2].splitlines())
    heads = [*first, *(each.strip() for each in next(lines).strip(" |").split(" | "))]
    assert set(next(lines)) == {"|", "-"}
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [each.strip() for each in line.removeprefix("|").removesuffix("|").split(" | ")]
        found.append(dict(zip(heads, cells, strict=True)))
    return found


def test_each_headline_is_met_in_one_document_where_it_is_met_in_the_other() -> None:
    printed = rows_of("papers.md", ("where", "what"))
    said = rows_of("mechanisms.md", ("headline", "figure"))
    assert len(printed) > 30
    assert [(row["headline"], row["figure"], *(row[of] for of in SAME)) for row in said] == [
        (row["where"], row["what"], *(row[of] for of in SAME)) for row in printed
    ]
    assert {row["met"] for row in said} <= {"yes", "within the interval", "no"}


def test_what_is_not_met_has_a_cause_and_a_page_that_shows_it() -> None:
    missed = [
        row for row in rows_of("mechanisms.md", ("headline", "figure")) if row["met"] != "yes"
    ]
    assert missed
    assert [row for row in missed if not re.search(r"\w.+\[.+\]\(.+\.md#.+\)", row["cause"])] == []


def test_what_is_better_than_the_paper_beyond_the_interval_has_a_cause() -> None:
    """Such a row is met, but not reproduced."""
    causes = {
        (row["headline"], row["figure"], row["of"], row["machine, threads"]): row["cause"]
        for row in rows_of("mechanisms.md", ("headline", "figure"))
    }
    beyond = [
        tuple(row[of] for of in ("where", "what", *SAME[:2]))
        for row in rows_of("papers.md", ("where", "what"))
        if row["met"] == "yes" and _outside(row["95 %"], row["paper"])
    ]
    assert len(beyond) > 3
    assert [
        each for each in beyond if not re.search(r"\w.+\[.+\]\(.+\.md#.+\)", causes[each])
    ] == []


def _outside(interval: str, number: str) -> bool:
    low, _, high = interval.partition("-")
    return bool(high) and not float(low) <= float(number) <= float(high)
