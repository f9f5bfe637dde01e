"""Lists of the table of mechanisms for what cannot read it: the launcher, and documents.

    python -m autofinity.mechanisms.lists FILE     # the launcher's, when it is built

Needs no package but Python's own: it runs before anything is installed.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from autofinity.mechanisms.registry import BY_POLICY, LIVE, TABLE, Entry

_HELP_COLUMNS = 80
_NAME_AT, _ABOUT_AT = 22, 34


def names_live() -> str:
    """Mechanisms of `run` and `attach`, in words."""
    return _either(LIVE)


def names_moving_pages() -> str:
    """Those of them that move pages, in words."""
    return _either(name for name, entry in LIVE.items() if entry.moves_pages)


def names_by_rules() -> str:
    """Those of them that ask the policy, in words."""
    return _either(name for name, entry in LIVE.items() if entry.by_rules)


def launcher_header() -> str:
    """The list of `run --mechanism` as macros in C: names, and texts of its help and messages."""
    lines = [
        "// Made of autofinity/mechanisms/registry.py when the launcher is built.",
        f"#define BY_POLICY {_literal(BY_POLICY)}",
        f"#define MECHANISMS_LISTED {_literal(names_live())}",
        f"#define MECHANISMS_MOVING_PAGES {_literal(names_moving_pages())}",
        f"#define MECHANISMS_BY_RULES {_literal(names_by_rules())}",
        "#define MECHANISM_ABILITIES \\",
        ", \\\n".join(
            f"    {{{_literal(name)}, {int(entry.moves_pages)}, {int(entry.by_rules)}}}"
            for name, entry in LIVE.items()
        ),
        "#define MECHANISM_HELP \\",
        " \\\n".join(f"    {_literal(line)}" for line in _help()),
    ]
    return "\n".join(lines) + "\n"


def _help() -> list[str]:
    lines = []
    for name, entry in LIVE.items():
        about = _about(entry) + (" (default)" if name == BY_POLICY else "")
        wrapped = textwrap.wrap(about, _HELP_COLUMNS - _ABOUT_AT)
        for label, part in zip([name] + [""] * len(wrapped), wrapped, strict=False):
            lines.append(f"{' ' * _NAME_AT}{label:{_ABOUT_AT - _NAME_AT}}{part}\n")
    return lines


def _about(entry: Entry) -> str:
    """The line for users, with the name in `compare` where `run` has another one."""
    return entry.about if entry.name == entry.live else f"{entry.about} ({entry.name})"


def _literal(text: str) -> str:
    """A string literal of C. The texts of `run` are ASCII: a terminal may know nothing else."""
    text.encode("ascii")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _either(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


def all_in_markdown() -> str:
    """The table of docs/mechanisms.md."""
    head = "| name | what it does | moves pages | a mapping costs | `run --mechanism` |"
    rows = [
        f"| `{entry.name}` | {entry.about} | {'yes' if entry.moves_pages else ''} "
        f"| {_cost(entry.mapping_ns)} | {f'`{entry.live}`' if entry.live else ''} |"
        for entry in TABLE
    ]
    return "\n".join([head, "|---" * 5 + "|", *rows])


def live_in_markdown() -> str:
    """The list of docs/run.md."""
    return "\n".join(
        f"* `{name}`: {_about(entry)}" for name, entry in LIVE.items() if name != BY_POLICY
    )


def _cost(function: str) -> str:
    return f"`{function}`" if function else ""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(launcher_header(), encoding="ascii")
