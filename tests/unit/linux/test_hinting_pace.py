"""How often the kernel takes pages away: as the program's size asks for, and put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity.linux.hinting_pace import DELAY, LONGEST, SHORTEST, Pace, pace_files, sweep_ms
from autofinity.linux.numa_hinting import armed
from autofinity.ports import Interval

LOOK = Interval(0, 1, ())
DEBUGFS = "sys/kernel/debug/sched/numa_balancing/{}"
OLD_SYSCTL = "proc/sys/kernel/numa_balancing_{}"
DEFAULTS = {DELAY: "1000\n", SHORTEST: "1000\n", LONGEST: "60000\n"}


def kernel(root: Path, layout: str) -> dict[str, Path]:
    """A kernel's settings, as they are when nobody has touched them."""
    files = {name: root / layout.format(name) for name in DEFAULTS}
    for name, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(DEFAULTS[name])
    return files


@pytest.mark.parametrize("layout", [DEBUGFS, OLD_SYSCTL])
def test_a_program_is_swept_by_its_size_and_the_settings_are_put_back(
    tmp_path: Path, layout: str
) -> None:
    files = kernel(tmp_path, layout)
    assert pace_files(tmp_path) == files
    sysctl, statm = tmp_path / "sysctl", tmp_path / "7" / "statm"
    sysctl.write_text("0\n")
    statm.parent.mkdir()
    with armed(sysctl, tmp_path / "state", tmp_path) as switched:
        assert sysctl.read_text() == "1\n" and not switched.trouble
        assert int(files[DELAY].read_text()) == 100
        pace = Pace(switched.pace, 7, tmp_path)
        seen = []
        for pages in (500, 550, 10_000, 100_000_000):
            statm.write_text(f"{2 * pages} {pages} 0 0 0 0 0\n")
            pace.saw(None, None, LOOK, None)
            seen.append((int(files[SHORTEST].read_text()), int(files[LONGEST].read_text())))
        assert seen == [(100, 250), (100, 250), (200, 2_000), (1_000, 10_000)]
    assert {name: path.read_text() for name, path in files.items()} == DEFAULTS
    assert sysctl.read_text() == "0\n"


def test_a_kernel_without_the_settings_keeps_its_own_pace_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "sysctl").write_text("0\n")
    with armed(tmp_path / "sysctl", tmp_path / "state", tmp_path) as switched:
        assert "at the kernel's own pace: debugfs is not mounted" in switched.trouble
        assert not switched.pace


def test_large_programs_are_swept_at_the_papers_tenth_a_second_and_small_ones_sooner() -> None:
    assert sweep_ms(0) == 250
    assert sweep_ms(10_000_000) == 10_000
    assert sweep_ms(5_000) < sweep_ms(50_000)
