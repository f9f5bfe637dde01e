"""`autofinity advise`: the advice as text, JSON and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofinity.cli.advise_page import keep_advice
from autofinity.cli.printer import say_json, say_wrapped
from autofinity.foreign_text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from autofinity.model.sharing import SharingMatrix
    from autofinity.workflow.advice.given import Given
    from autofinity.workflow.advice.seen import Section, Seen


def tell_advice(
    seen: Seen,
    html: Path | None,
    whole: SharingMatrix | None = None,
    *,
    as_json: bool,
    err: bool = False,
    exit_code: int | None = None,
) -> None:
    """Print the advice; on stderr (`err`) where stdout is a program's. `whole` is the sharing in a
    whole trace, where there is one.
    """
    from autofinity.workflow.advice.advice import advice_on

    sections = advice_on(seen)
    if as_json:
        say_json(_document(seen, sections, exit_code), indent=2)
    else:
        _print(seen, sections, err=err)
    if html is not None:
        keep_advice(html, seen, sections, whole)


def _print(seen: Seen, sections: tuple[Section, ...], *, err: bool) -> None:
    lines = [one_line(f"advice on {seen.program}, on {seen.topology.name}; nothing was done")]
    for section in sections:
        lines += ["", f"{section.question}: {one_line(section.advice)}"]
        lines += [f"  {one_line(line)}" for line in section.evidence]
    if seen.not_measured:
        lines += ["", "not measured here" if seen.given is None else "not in the file"]
        lines += [f"  {one_line(line)}" for line in seen.not_measured]
    say_wrapped(*lines, err=err)


def _document(
    seen: Seen, sections: tuple[Section, ...], exit_code: int | None
) -> dict[str, object]:
    return {
        "program": seen.program,
        "machine": seen.topology.name,
        "watched_s": seen.watched_s,
        "exit_code": exit_code,
        **{
            section.question.lower().replace(" ", "_"): {
                "advice": section.advice,
                "evidence": list(section.evidence),
                **section.facts,
            }
            for section in sections
        },
        "not_measured": list(seen.not_measured),
        **({} if seen.given is None else {"given": _given_facts(seen.given)}),
    }


def _given_facts(given: Given) -> dict[str, object]:
    return {
        "file": given.file,
        "format": given.format,
        "per_second": given.timed,
        "values": dict(given.values),
        "made_of": {name: list(events) for name, events in given.used.items()},
        "unused": list(given.unused),
        "lacking": list(given.lacking),
        "uncountable": list(given.uncountable),
        "measure": given.measure or None,
        "shows": list(given.shows),
    }
