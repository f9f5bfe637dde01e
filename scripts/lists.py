"""Lists in documents of what there is, made from the tables and files that say it.

    python scripts/lists.py [--check]

Each stands between two marks that name it: mechanisms (autofinity/mechanisms/registry.py), mappers
(autofinity/mapping/mappers.py), machines (data/machines), functions that order threads
(autofinity/capture/synchronisation.toml). With --check nothing is written; the
documents that would change are named, and the exit code is 1.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from autofinity.capture import synchronisation
from autofinity.mapping import mappers
from autofinity.mechanisms import lists as mechanisms
from autofinity.report.marked import between_marks

HERE = Path(__file__).resolve().parents[1]


def printed(*words: str) -> Callable[[], str]:
    """What a command of autofinity prints."""
    command = [sys.executable, "-m", "autofinity", *words]
    return lambda: subprocess.run(command, check=True, capture_output=True, text=True).stdout


LISTS = {
    "docs/mechanisms.md": {"mechanisms": mechanisms.all_in_markdown},
    "docs/run.md": {"mechanisms": mechanisms.live_in_markdown},
    "docs/suites.md": {"synchronisation": synchronisation.in_markdown},
    "docs/mapping.md": {"mappers": mappers.all_in_markdown},
    "docs/machines.md": {
        "machines": printed("machines", "--markdown"),
        "sources": printed("machines", "--sources", "--markdown"),
    },
}


def stale() -> Iterator[tuple[Path, str]]:
    """Documents that say something else, and what they should say."""
    for name, lists in LISTS.items():
        path = HERE / name
        before = text = path.read_text(encoding="utf-8")
        for mark, made in lists.items():
            text = between_marks(text, f"make lists, {mark}", made())
        if text != before:
            yield path, text


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    found = list(stale())
    for path, text in found:
        print(f"{path.relative_to(HERE)}: {'is stale; `make lists`' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
