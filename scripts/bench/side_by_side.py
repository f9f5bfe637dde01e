"""The full replay compared with other simulators, as a table: rates of CPU time, and the ratios."""

from __future__ import annotations

from collections.abc import Mapping

KINDS = (("L1-friendly", "l1_"), ("mix", ""), ("everything misses", "miss_"))
PEERS = ("pycachesim", "pycachesim_call_by_call", "cachegrind")


def side_by_side(values: Mapping[str, float | None]) -> list[str]:
    """A line for each kind of program; none where no peer has been measured."""
    rows = []
    for title, kind in KINDS:
        ours = values.get(f"full_{kind or 'mix_'}maccs")
        theirs = [values.get(f"{peer}_{kind}maccs") for peer in PEERS]
        if ours and any(theirs):
            cells = (f"{each:8.2f} ({ours / each:5.1f} x)" if each else "-" for each in theirs)
            rows.append(f"{title:18}{ours:11.1f}" + "".join(f"{cell:>27}" for cell in cells))
    if not rows:
        return []
    names = (peer.replace("_", " ") for peer in PEERS)
    return [f"{'M accesses/s':18}{'autofinity':>11}" + "".join(f"{n:>27}" for n in names), *rows]
