"""`autofinity map` as people and programs call it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from warm_commands import run_warm

MACHINE = "synthetic:pack:2 numa:1 l3:1 core:4 pu:1"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Thread i shares with i + 4."""
    rows = [[9 if abs(i - j) == 4 else 0 for j in range(8)] for i in range(8)]
    path = tmp_path / "pairs.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def run(*argv: object) -> subprocess.CompletedProcess[str]:
    return run_warm(["map", *map(str, argv)])


def test_the_mapping_is_told_beside_what_the_others_cost(pairs: Path) -> None:
    done = run("--matrix", pairs, "-m", MACHINE, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    costs = {m["algorithm"]: m["cost"] for m in found["algorithms"] if "cost" in m}
    assert found["algorithm"] == "refined"
    assert found["cost"] == costs["exact"] == costs["eagermap"] == 4 * 9 * 4
    assert found["cost"] < costs["compact"]
    assert [a // 4 for a in found["cpus"][:4]] == [b // 4 for b in found["cpus"][4:]]


def test_the_machine_is_drawn_with_the_threads_on_it(pairs: Path, tmp_path: Path) -> None:
    picture = tmp_path / "map.svg"
    done = run("--matrix", pairs, "-m", MACHINE, "-a", "eagermap", "-o", picture)
    assert done.returncode == 0, done.stderr
    assert "eagermap: 8 threads at a cost of 144" in done.stdout
    assert "(hint packed (slp)): 0-7" in done.stdout
    assert "CPUs in thread order: 0,1,4,5,2,3,6,7" in done.stdout
    assert picture.read_text().startswith("<?xml")


def test_threads_hints_and_cpu_lists_choose_where(pairs: Path) -> None:
    few = ("--matrix", pairs, "-m", MACHINE, "--threads", 3, "--json")
    packed = json.loads(run(*few).stdout)
    apart = json.loads(run(*few, "--hint", "SLP").stdout)
    listed = json.loads(run(*few, "--available", "1,5-6").stdout)
    assert set(packed["cpus"]) == set(packed["used"]) == {0, 1, 2}
    assert len({cpu // 4 for cpu in apart["cpus"]}) == 2
    assert set(listed["cpus"]) == {1, 5, 6}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--threads", 9), "--threads 9: "),
        (("--hint", "xyz"), "not a hint"),
        (("--available", "8"), "CPU 8"),
        (("-o", "map.txt"), "expected a name that ends in .svg"),
        (("--matrix", "none.csv"), "no file none.csv; expected a CSV file of a sharing matrix"),
    ],
)
def test_a_wrong_request_is_one_line(pairs: Path, argv: tuple[object, ...], said: str) -> None:
    done = run("--matrix", pairs, "-m", MACHINE, *argv)
    assert done.returncode in {1, 2}
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
