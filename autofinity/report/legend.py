"""Lines of a legend: a word of a table and its meaning."""

from __future__ import annotations

from collections.abc import Mapping


def listed(meanings: Mapping[str, str], **values: object) -> list[str]:
    """A line for each word. `values` are put into the meanings."""
    return [f"  {name:<15}{text.format(**values)}" for name, text in meanings.items()]
