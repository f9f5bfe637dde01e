"""Programs of a few events whose counts are worked out by hand, a file for each group of events.

A new event needs a case here in which it is not zero; the comments derive the answer from the
geometry that `hand_machine` lists. Most stand in tables (`counter_table`), others in
Python (`counter_case`).
"""

from __future__ import annotations

from pathlib import Path

from counter_case import CASES
from counter_table import read_cases

from counter_cases import bursts

for _table in sorted(Path(__file__).parent.glob("*.toml")):
    read_cases(_table)

__all__ = ["CASES", "bursts"]
