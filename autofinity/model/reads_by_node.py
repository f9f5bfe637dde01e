"""Lines that a thread read from memory, by the node of the memory, as counts by name.

A simulated machine counts the reads of every node. A PMU separates reads from the thread's own node
and reads from other nodes: with two nodes that is every node. With more, other nodes stay together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from autofinity.model.topology import OsIndex

_OF_NODE: Final = "dram_reads_node_"
NODE_NOT_KNOWN: Final = "dram_reads_node_not_known"
"""Count of the lines whose node is not known."""


def counted(lines: Sequence[float], numbers: Sequence[OsIndex]) -> dict[str, float]:
    """Lines by logical node as counts by name; `numbers` are the kernel's numbers of the nodes."""
    return {_name(number): float(count) for number, count in zip(numbers, lines, strict=True)}


def separated(
    counts: Mapping[str, float], node: int | None, numbers: Sequence[OsIndex]
) -> dict[str, float]:
    """Counts by name, as far as counts of local and of remote reads say.

    `node` is the logical node that the thread was on; None: on several nodes, or not known.
    """
    found: dict[str, float] = {}
    other = 1 - node if node is not None and len(numbers) == 2 else None
    for name, at in (("dram_reads_local", node), ("dram_reads_remote", other)):
        if name in counts:
            key = NODE_NOT_KNOWN if at is None else _name(numbers[at])
            found[key] = found.get(key, 0.0) + counts[name]
    return found


def is_by_node(name: str) -> bool:
    """Whether this is a name of such a count."""
    return name.startswith(_OF_NODE)


def node_number(name: str) -> int | None:
    """The kernel's number of the node; None for lines whose node is not known."""
    digits = name.removeprefix(_OF_NODE)
    return int(digits) if is_by_node(name) and digits.isascii() and digits.isdigit() else None


def _name(number: OsIndex) -> str:
    return f"{_OF_NODE}{int(number)}"
