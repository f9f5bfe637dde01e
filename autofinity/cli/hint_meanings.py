"""Each hint's meaning, in words and in OpenMP's."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.affinity.openmp import OPENMP
from autofinity.cli.page import print_table
from autofinity.cli.printer import say_json, say_wrapped
from autofinity.model.affinity import Hint
from autofinity.policy.readable import hint_text


def wishes(hint: Hint) -> dict[str, object]:
    """For JSON: letters, name, and the three wishes."""
    return {
        "hint": str(hint),
        "name": hint.name,
        "spread_sockets": hint.spread_sockets,
        "spread_llcs": hint.spread_llcs,
        "socket_first": hint.socket_first,
    }


def tell_meanings(hints: Sequence[Hint], *, as_json: bool) -> None:
    """Print them, a row a hint."""
    if as_json:
        say_json({"hints": [_document(hint) for hint in hints]})
        return

    from rich.table import Table

    table = Table()
    for heading in ("letters", "name", "meaning", "OMP_PLACES", "OMP_PROC_BIND"):
        table.add_column(heading)
    for hint in hints:
        words = OPENMP[hint]
        openmp = (words.places, words.bind) if words else ("a list", "close")
        table.add_row(str(hint), hint.name, hint_text(hint), *openmp)
    print_table(table)
    for words in {words for hint in hints if (words := OPENMP[hint]) and words.where}:
        say_wrapped(f"{words.places}: {words.where}")
    if any(OPENMP[hint] is None for hint in hints):
        say_wrapped(
            "a list: depends on machine and thread count; `autofinity hints -t N --hint HINT --as "
            "omp`"
        )


def _document(hint: Hint) -> dict[str, object]:
    words = OPENMP[hint]
    variables = (
        {"OMP_PLACES": words.places, "OMP_PROC_BIND": words.bind, "where": words.where}
        if words
        else None
    )
    return {**wishes(hint), "meaning": hint_text(hint), "openmp": variables}
