"""Free memory of nodes, as the kernel shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity.free_memory import free_bytes_of_node, has_room

MIB = 1 << 20


def node(folder: Path, total: int, free: int, files: int) -> Path:
    """A node of so many MiB."""
    lines = {"MemTotal": total, "MemFree": free, "Inactive(file)": files}
    (folder / "node1").mkdir()
    (folder / "node1" / "meminfo").write_text(
        "".join(f"Node 1 {name}:   {1024 * size} kB\n" for name, size in lines.items())
    )
    return folder


@pytest.mark.parametrize(
    ("free", "files", "room"), [(100, 0, True), (0, 100, True), (8, 8, False), (9, 8, True)]
)
def test_a_sixty_fourth_of_a_node_stays_free(
    free: int, files: int, room: bool, tmp_path: Path
) -> None:
    nodes = node(tmp_path, 1024, free, files)
    assert free_bytes_of_node(1, nodes) == (free + files) * MIB
    assert has_room(1, nodes) == room


def test_a_node_that_shows_no_memory_may_have_room(tmp_path: Path) -> None:
    assert free_bytes_of_node(1, tmp_path) is None
    assert has_room(1, tmp_path)
