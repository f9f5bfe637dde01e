"""Pages that NUMA hinting unmaps, by the kernel's own count; a run notes where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autofinity.linux.numa_hinting import Armed
from autofinity.linux.unmapped_pages import NOTHING_UNMAPPED, unmapped_pages
from autofinity.runtime import sensors


def test_small_and_large_entries_are_counted_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text(
        "nr_free_pages 7\nnuma_pte_updates 40\nnuma_huge_pte_updates 2\nnuma_hint_faults 9\n"
    )
    assert unmapped_pages(tmp_path) == 42


def test_a_kernel_that_does_not_count_them_says_nothing(tmp_path: Path) -> None:
    assert unmapped_pages(tmp_path) is None
    (tmp_path / "vmstat").write_text("nr_free_pages 7\n")
    assert unmapped_pages(tmp_path) is None


@pytest.mark.parametrize(
    ("counts", "said"), [((5, 5), [NOTHING_UNMAPPED]), ((5, 6), []), ((None, None), [])]
)
def test_a_run_whose_hinting_unmapped_nothing_says_so_at_its_end(
    monkeypatch: pytest.MonkeyPatch, counts: tuple[int | None, int | None], said: list[str]
) -> None:
    seen: Iterator[int | None] = iter(counts)
    monkeypatch.setattr(sensors, "armed", lambda: nullcontext(Armed({}, "")))
    monkeypatch.setattr(sensors, "unmapped_pages", lambda: next(seen))
    notes: list[str] = []
    request: Any = SimpleNamespace(arm=True, pid=1)
    journal: Any = SimpleNamespace(note=notes.append)
    with sensors.hinting(request, journal) as pace:
        assert (pace, notes) == ((), [])
    assert notes == said
