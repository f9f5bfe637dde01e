"""The commands that show machines, affinities and hints, as people and programs call them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autofinity.affinity.hints import all_hints
from autofinity.affinity.launchers.table import LAUNCHERS
from autofinity.affinity.openmp import OPENMP
from autofinity.linux.topology import synthetic_topology
from autofinity.model.affinity import HINTS
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.policy.readable import hint_text

SMALL = "synthetic:pack:2 numa:2 l3:1 core:3 pu:1"


def run(*argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Into a pipe, which has no width but that of `env`."""
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        [sys.executable, "-m", "autofinity", *argv],
        env=inherited | env,
        capture_output=True,
        text=True,
        timeout=300,
    )


def document(*argv: str) -> Any:
    done = run(*argv, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_topology_as_json_has_every_cpu() -> None:
    found = document("topology", "--machine", SMALL)
    assert found["machine"] == SMALL
    assert found["origin"] == "synthetic"
    counts = [found[key] for key in ("packages", "nodes", "llcs", "cores", "pus")]
    assert counts == [2, 4, 4, 12, 12]
    assert found["allowed"] == list(range(12))
    assert found["pu"][4] == {
        "os_index": 4,
        "package": 0,
        "node": 1,
        "llc": 1,
        "core": 4,
        "smt_rank": 0,
        "efficiency": 0,
    }
    assert len(found["distances"]) == 4
    assert found["caches"][0]["level"] == 3


def test_a_hint_that_puts_threads_on_siblings_says_so_beside_its_answer() -> None:
    machine = "synthetic:pack:2 l3:1 core:2 pu:2"
    words = ("hints", "--machine", machine, "--threads", "4")
    packed = run(*words, "--hint", "slP", "--as", "taskset")
    assert packed.stdout == "taskset -c 0-3\n"
    assert (
        "few-sockets-shared-caches (slP) puts 4 threads on 2 cores, several to a core, and leaves 2"
        in packed.stderr
    )
    assert "several to a core" not in run(*words, "--hint", "SLP").stderr
    assert "several to a core" not in run(*words).stderr


def test_a_hint_can_be_given_to_another_launcher() -> None:
    asked = ("hints", "--machine", SMALL, "--threads", "5", "--hint", "SLP")
    cpus = document(*asked)["hints"][0]["cpus"]
    line = f"taskset -c {format_cpu_list(cpus)}"
    assert run(*asked, "--as", "taskset").stdout == line + "\n"
    assert document(*asked, "--as", "taskset") == {"tool": "taskset", "line": line}


RANKS = ("hints", "--machine", SMALL, "--ranks", "4", "--threads", "2", "--hint", "packed")


def test_ranks_are_shown_with_their_cpus_and_nodes() -> None:
    found = document(*RANKS)
    assert [(rank["rank"], rank["cpus"], rank["nodes"]) for rank in found["ranks"]] == [
        (at, [3 * at, 3 * at + 1], [at]) for at in range(4)
    ]
    (one,) = document(*RANKS, "--rank", "2")["ranks"]
    assert one == found["ranks"][2]
    assert "4 ranks of 2 threads" in run(*RANKS).stdout


def test_ranks_have_a_line_each_or_one_text_for_all() -> None:
    lines = [f"taskset -c {3 * at}-{3 * at + 1}" for at in range(4)]
    assert run(*RANKS, "--as", "taskset").stdout.splitlines() == lines
    assert run(*RANKS, "--as", "taskset", "--rank", "3").stdout.splitlines() == lines[3:]
    assert document(*RANKS, "--as", "taskset") == {"tool": "taskset", "texts": lines}
    said = run(*RANKS, "--as", "mpich").stdout
    assert said == "mpiexec -n 4 -bind-to user:0+1,3+4,6+7,9+10\n"


def test_ranks_with_more_threads_than_cores_are_said_to_share_cores() -> None:
    words = ("hints", "--machine", "synthetic:pack:2 l3:1 core:2 pu:2", "--hint", "packed")
    assert run(*words, "--ranks", "2", "--threads", "2").stderr == ""
    said = run(*words, "--ranks", "2", "--threads", "3").stderr
    assert "packed (slp) puts 6 threads on 4 cores, several to a core: there are no more" in said


def test_the_tools_of_as_are_those_of_the_table() -> None:
    shown = run("hints", "--as", "list", COLUMNS="300").stdout
    helped = " ".join(run("hints", "--help", COLUMNS="300").stdout.split())
    for name, form in LAUNCHERS.items():
        assert f"│ {name} " in shown
        assert form.meaning in shown
        assert f" {name}," in helped or f" {name};" in helped
    listed = document("hints", "--as", "list")
    assert list(listed) == list(LAUNCHERS)
    assert listed["taskset"]["checked"] == "by the tool"


def test_hints_of_one_affinity_name_spread_or_packed_and_the_table_fits_into_100_columns() -> None:
    shown = run("hints", "--machine", "opteron-6164he", "--threads", "8", COLUMNS="100").stdout
    assert max(map(len, shown.splitlines())) <= 100
    same = {
        cells[1].strip(): cells[4].strip()
        for line in shown.splitlines()
        if len(cells := line.split("│")) > 5
    }
    assert same["few-sockets-shared-caches (slP)"] == "packed"
    assert same["own-caches-few-sockets (sLp)"] == "spread"
    assert same["packed (slp)"] == same["spread (SLP)"] == ""


def test_hints_as_json_are_the_eight_best_matches_in_order() -> None:
    found = document("hints", "--machine", SMALL, "--threads", "5")
    matches = all_hints(synthetic_topology(SMALL.removeprefix("synthetic:")), 5)
    assert found["threads"] == 5
    for entry, hint, match in zip(found["hints"], HINTS, matches, strict=True):
        assert entry == {
            "hint": str(hint),
            "name": hint.name,
            "spread_sockets": hint.spread_sockets,
            "spread_llcs": hint.spread_llcs,
            "socket_first": hint.socket_first,
            "cpus": list(match.cpus),
            "occupancy": [list(counts) for counts in match.affinity.occupancy],
        }


def test_hints_without_a_thread_count_say_what_each_means_and_in_openmp() -> None:
    shown = run("hints").stdout
    for hint in HINTS:
        (row,) = (line for line in shown.splitlines() if f"│ {hint} " in line)
        assert row.split()[3] == hint.name
        assert hint_text(hint) in row
        words = OPENMP[hint]
        assert row.split("│")[-3].strip() == (words.places if words else "a list")
        assert row.split("│")[-2].strip() == (words.bind if words else "close")
    found = document("hints", "--hint", "own-caches-few-sockets")["hints"]
    assert [entry["hint"] for entry in found] == ["sLp"]
    assert found[0]["openmp"]["OMP_PLACES"] == "ll_caches"


@pytest.mark.parametrize("command", ["hints", "topology"])
def test_a_hint_by_its_name_is_the_hint_by_its_letters(command: str) -> None:
    for hint in HINTS:
        asked = (command, "--machine", SMALL, "--threads", "5", "--hint")
        assert document(*asked, hint.name) == document(*asked, str(hint))


def test_a_wrong_hint_is_answered_with_all_names_and_letters() -> None:
    done = run("topology", "--threads", "2", "--hint", "\x1b[2Jscatter")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "\x1b" not in done.stderr
    assert all(hint.shown in done.stderr for hint in HINTS)


def test_hints_keep_to_the_available_cpus() -> None:
    found = document("hints", "--machine", SMALL, "--threads", "3", "--available", "1,4-6,11")
    assert all(set(entry["cpus"]) <= {1, 4, 5, 6, 11} for entry in found["hints"])


def test_affinities_as_json_count_and_list() -> None:
    found = document("affinities", "--machine", SMALL, "--threads", "3")
    assert found["count"] == len(found["affinities"]) == 4
    assert found["affinities"][0] == {"occupancy": [[3]]}


def test_more_affinities_than_anyone_reads_need_a_limit() -> None:
    many = "synthetic:pack:2 l3:12 core:8 pu:1"
    done = run("affinities", "--machine", many, "--threads", "64", "--json")
    assert done.returncode == 2
    assert "38580711" in done.stderr
    listed = run("affinities", "--machine", many, "--threads", "64", "--limit", "3")
    assert "38580711 affinities" in listed.stdout
    assert listed.returncode == 0


def test_the_picture_shows_threads_and_what_may_not_be_used() -> None:
    done = run(
        *("topology", "--machine", SMALL, "--threads", "4", "--hint", "slp", "--available", "1-11")
    )
    assert done.returncode == 0, done.stderr
    assert "│ node 0 LLC 0  · 0 - │" in done.stdout
    assert "│ node 1 LLC 1  1 2 3 │" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("columns", ["20", "60", "200"])
def test_the_picture_keeps_to_the_width_of_the_terminal(columns: str) -> None:
    done = run("topology", "--machine", "synthetic:pack:3 l3:2 core:16 pu:2", COLUMNS=columns)
    boxes = [line for line in done.stdout.splitlines() if line[:1] in "┌│└"]
    assert boxes
    assert max(map(len, boxes)) <= max(int(columns), 40)
    for cpu in (0, 47, 95, 191):
        assert str(cpu) in done.stdout


def test_the_picture_needs_no_unicode() -> None:
    done = run("topology", "--machine", SMALL, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "+- socket 0 -" in done.stdout


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("hints", "--machine", SMALL, "--threads", "13"), "13 threads on 12 available CPUs"),
        (("hints", "--machine", SMALL, "--threads", "0"), "0 threads; expected 1 to 12"),
        (("hints", "--machine", SMALL, "--threads", "2", "--available", "3"), "2 threads on 1"),
        (("hints", "--machine", SMALL, "--threads", "1", "--available", "3-1"), "descending order"),
        (("hints", "--machine", SMALL, "--threads", "1", "--available", "12"), "CPU 12"),
        (("hints", "--machine", SMALL, "--threads", "1", "--available", "a"), "not a CPU list"),
        (
            ("topology", "--machine", SMALL, "--threads", "1", "--hint", "xyz"),
            "spread (SLP), own-caches",
        ),
        (
            ("hints", "--machine", SMALL, "--threads", "2", "--as", "taskset"),
            "choose it with --hint",
        ),
        (
            ("hints", "-m", SMALL, "-t", "2", "--hint", "slp", "--as", "x"),
            "one of taskset, numactl",
        ),
        (
            ("hints", "-m", SMALL, "--ranks", "2", "-t", "2"),
            "--ranks needs --hint and --threads",
        ),
        ((*RANKS, "--rank", "4"), "there is no rank 4"),
        ((*RANKS, "--near", "eth0"), "expected it without --near"),
        (("hints", "-m", SMALL, "-t", "2", "--rank", "0"), "there is no rank 0"),
        ((*RANKS, "--as", "mpich", "--rank", "0"), "mpich starts all ranks with one text"),
        (
            ("hints", "-m", SMALL, "--ranks", "5", "-t", "3", "--hint", "slp"),
            "15 threads on 12 available CPUs",
        ),
        (
            ("hints", "-m", SMALL, "-t", "2", "--hint", "SLP", "--as", "openmpi4"),
            "no pattern for these places",
        ),
        (("topology", "--machine", SMALL, "--hint", "SLP"), "needs --threads"),
        (("topology", "--machine", "no-such-machine"), "opteron-6164he"),
        (("topology", "--machine", ""), "unknown machine"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_two(argv: tuple[str, ...], reason: str) -> None:
    done = run(*argv)
    assert done.returncode == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["opteron-6164he", "data/machines/opteron-6164he.toml"])
def test_a_preset_is_known_by_name_and_by_file(name: str) -> None:
    if name.endswith(".toml"):
        name = str(Path(__file__).resolve().parents[2] / name)
    found = document("hints", "--machine", name, "--threads", "8")
    assert found["machine"] == name
    occupancies = {entry["hint"]: entry["occupancy"] for entry in found["hints"]}
    assert occupancies["Slp"] == [[6], [2]]
    assert occupancies["SLP"] == [[1, 1], [1, 1], [1, 1], [1, 1]]


@pytest.mark.parametrize("command", ["doctor", "status", "machines"])
def test_a_command_whose_output_is_closed_ends_without_a_traceback(
    command: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {shlex.quote(sys.executable)} -m autofinity {command} >&-"],
        env=os.environ | {"HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stderr
