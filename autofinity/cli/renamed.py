"""Options that were renamed in version 0.1: the old name works until 0.2, and is not shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Renamed(NamedTuple):
    """An old spelling of an option that takes a value."""

    spelling: str
    commands: tuple[str, ...]
    now: str
    unit: str
    """Unit that now follows the value."""


RENAMED = (
    Renamed("--period-us", ("profile", "train", "evaluate", "simulate"), "--period", "us"),
    Renamed("--sample-s", ("attach",), "--period", "s"),
)


def in_present_words(command: str, words: Sequence[str]) -> list[str]:
    """The words after `command` with present spellings; what follows `--` is another program's."""
    end = words.index("--") if "--" in words else len(words)
    ours = list(words[:end])
    for renamed in RENAMED:
        if command not in renamed.commands:
            continue
        for at, word in enumerate(ours):
            name, equals, value = word.partition("=")
            if name != renamed.spelling:
                continue
            if equals:
                ours[at] = f"{renamed.now}={value}{renamed.unit}"
            else:
                ours[at] = renamed.now
                ours[at + 1 : at + 2] = [value + renamed.unit for value in ours[at + 1 : at + 2]]
    return [*ours, *words[end:]]
