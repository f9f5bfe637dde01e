"""The tests that take long, and the part of them that is due with a commit.

tests ─┬─ of functions that `tests/slow.txt` does not list ─► every time
       └─ of those that it lists, file by file ─► `PARTS` parts of equal length, one at a time
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

PARTS = 8
LEAST_S = 1.5
"""Time of a case from which on its function is slow, with all cores of a small machine busy."""
LIST = Path(__file__).parents[1] / "slow.txt"


def function_of(node_id: str) -> str:
    """The function of a case, without its parameters: `tests/unit/test_this.py::test_that`."""
    return node_id.partition("[")[0]


def listed(path: Path = LIST) -> dict[str, float]:
    """Seconds of each function that is slow, all its cases together."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {function: float(seconds) for seconds, function in lines}


def part_of_files(seconds: Mapping[str, float]) -> dict[str, int]:
    """Number of the part of each file: files share fixtures among their tests. The longest file
    goes first, to the part that is shortest so far.
    """
    files = Counter[str]()
    for function, took_s in seconds.items():
        files[function.partition("::")[0]] += took_s
    long_s, found = [0.0] * PARTS, {}
    for file, took_s in sorted(files.items(), key=lambda item: (-item[1], item[0])):
        found[file] = long_s.index(min(long_s))
        long_s[found[file]] += took_s
    return found


def due(asked: str, seconds: Mapping[str, float]) -> frozenset[str]:
    """The slow functions that run. `asked`: "all", "none", or the hexadecimal number of a commit.
    Raises `ValueError` for any other word.
    """
    if asked in ("all", "none"):
        return frozenset(seconds if asked == "all" else ())
    if not re.fullmatch(r"[0-9a-f]+", asked):
        raise ValueError(f"got --slow {asked}, expected all, none, or a commit (hexadecimal)")
    part, parts = int(asked, 16) % PARTS, part_of_files(seconds)
    return frozenset(each for each in seconds if parts[each.partition("::")[0]] == part)


def slow_in(reports: Sequence[Path]) -> dict[str, float]:
    """Seconds of the functions that are slow in JUnit reports of pytest."""
    total, most = Counter[str](), Counter[str]()
    for report in reports:
        for case in ET.parse(report).iter("testcase"):
            path = case.get("classname", "").replace(".", "/") + ".py"
            function = function_of(f"{path}::{case.get('name')}")
            took_s = float(case.get("time", 0))
            total[function] += took_s
            most[function] = max(most[function], took_s)
    return {each: total[each] for each in sorted(total) if most[each] >= LEAST_S}
