"""Who shares with whom in a program that runs here; and the system is left as it was."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from permitted import skip_unless_touches_are_seen

from autofinity.linux.numa_hinting import STATE, SYSCTL, armed
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.unmapped_pages import NOTHING_UNMAPPED, unmapped_pages
from autofinity.linux.watched_program import watch_touches
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import process_and_page

type Runner = Any  # of conftest.py

PAIRS = ((1, 2), (3, 4))  # thread 0 is the main thread
PAGES = 64  # that each pair shares


@pytest.fixture(autouse=True)
def _can_sample() -> None:
    skip_unless_touches_are_seen()


def detect(run: Runner, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(run.launcher), "detect", *map(str, words)]
    return subprocess.run(command, env=run.env, capture_output=True, text=True)


def cpu_s(pid: int) -> float:
    """CPU time of all threads of a process; 0 of one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_known_pattern_is_recovered_exactly_and_hinting_is_switched_back(
    pairs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if not SYSCTL.exists():
        pytest.skip("the kernel has no kernel.numa_balancing")
    if os.geteuid() != 0 or not os.access(SYSCTL, os.W_OK) or not os.access(STATE.parent, os.W_OK):
        pytest.skip("only root may switch NUMA hinting on")
    before = SYSCTL.read_bytes()

    before_updates, enough_s = unmapped_pages(), 10.0
    ended: list[str] = []

    def stop_when_seen(tally: TouchSharing) -> None:
        cells = tally.sharing.cells
        if len(cells) > 4 and all(cells[a][b] >= PAGES // 2 for a, b in PAIRS):
            ended.append("seen")
        elif tally.tids and cpu_s(tally.tids[0]) > enough_s:
            ended.append("enough")
        if ended:
            os.kill(tally.tids[0], signal.SIGTERM)

    with armed():
        assert int(SYSCTL.read_bytes()) & 1
        # The kernel looks for pages to take away on the program's CPU time: in its first seconds,
        # then less and less often.
        code, tally, lost = watch_touches([str(pairs), "4", "60"], saw=stop_when_seen)
    assert SYSCTL.read_bytes() == before
    assert lost == 0
    assert code in (0, 128 + signal.SIGTERM)
    if unmapped_pages() == before_updates:
        pytest.skip(NOTHING_UNMAPPED)
    if ended[:1] != ["seen"]:
        pytest.skip("the kernel unmapped too few of the program's pages in the CPU time it got")
    cells = tally.sharing.cells
    for a, b in PAIRS:
        others = [cells[a][other] for other in range(1, 5) if other not in (a, b)]
        assert max(others) < cells[a][b] / 2  # some pages of the C library are everybody's
    # On the pages of the pattern itself nobody but the pair was ever seen, and both were.
    first = int(capfd.readouterr().out, 16) // 4096
    address = {process_and_page(page)[1]: seen for page, seen in tally.pages.pages.items()}
    for number, pair in enumerate(PAIRS):
        counts = [address[first + number * PAGES + page] for page in range(PAGES)]
        seen = [sum(column) for column in zip(*counts, strict=True)]
        assert [thread for thread, faults in enumerate(seen) if faults] == list(pair)


def test_detect_runs_the_program_as_it_is_and_reports_beside_it(
    run: Runner, tmp_path: Path
) -> None:
    picture = tmp_path / "matrix.svg"
    done = detect(run, "-o", picture, "--", "sh", "-c", "echo out; exit 37")
    assert done.returncode == 37
    assert done.stdout == "out\n"
    assert "sh, by page faults" in done.stderr
    assert picture.read_text().startswith("<svg")
    told = detect(run, "--json", "--", "sh", "-c", "echo out; kill -TERM $$")
    assert told.returncode == 128 + signal.SIGTERM
    document = json.loads(told.stdout)
    assert document["touches"] > 0
    assert len(document["sharing"]) == len(document["tids"])
    assert "out\n" in told.stderr
    nowhere = detect(run, "--", "/nowhere")
    assert nowhere.returncode == 127
    assert nowhere.stderr == "autofinity: cannot run /nowhere: not found\n"


def test_without_sysfs_the_cpus_that_are_allowed_are_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("autofinity.linux.online.read_text", lambda path: "")
    code, tally, _ = watch_touches(["true"])
    assert (code, len(tally.tids)) == (0, 1)


def test_a_trace_and_a_program_at_once_are_refused(run: Runner) -> None:
    for words in ((), ("folder", "--", "true"), ("--",)):
        done = detect(run, *words)
        assert done.returncode == 2
        assert "expected either" in done.stderr


def test_hinting_is_switched_back_after_kill_9_and_only_by_the_last_one(tmp_path: Path) -> None:
    sysctl, state = tmp_path / "sysctl", tmp_path / "state"
    sysctl.write_text("2\n")
    pace = tmp_path / "sys/kernel/debug/sched/numa_balancing/scan_delay_ms"
    pace.parent.mkdir(parents=True)
    pace.write_text("1000\n")
    holder = (
        "import sys, time; from pathlib import Path\n"
        "from autofinity.linux.numa_hinting import armed\n"
        "with armed(*map(Path, sys.argv[1:])):\n"
        "    print(flush=True); time.sleep(300)\n"
    )
    command = [sys.executable, "-c", holder, str(sysctl), str(state), str(tmp_path)]
    with armed(sysctl, state, tmp_path):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None and other.stdout.readline()
            assert sysctl.read_text() == "3\n"
            os.kill(other.pid, signal.SIGKILL)
        _wait_for_other_guardians(state)
        assert sysctl.read_text() == "3\n"  # we are still inside
        assert int(pace.read_text()) < 1000
    assert (sysctl.read_text(), pace.read_text()) == ("2\n", "1000\n")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline()
        os.kill(other.pid, signal.SIGKILL)
    _wait_for_other_guardians(state)
    assert (sysctl.read_text(), pace.read_text()) == ("2\n", "1000\n")


def test_what_a_killed_guardian_left_is_put_back_by_the_next_one(tmp_path: Path) -> None:
    sysctl, state = tmp_path / "sysctl", tmp_path / "state"
    sysctl.write_text("1\n")  # as a killed guardian left it
    state.write_text(f"0 {sysctl}\n")
    with armed(sysctl, state, tmp_path):
        assert sysctl.read_text() == "1\n"
    assert sysctl.read_text() == "0\n"
    assert state.read_text() == ""


def test_who_may_not_switch_hinting_is_told_the_remedy(tmp_path: Path) -> None:
    with (
        pytest.raises(CapabilityError, match="it needs root and a kernel with"),
        armed(tmp_path / "missing", tmp_path / "state", tmp_path),
    ):
        pytest.fail("it cannot have been armed")


def _wait_for_other_guardians(state: Path) -> None:
    """Until no process but this one and its own guardian holds the state file open."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            held = any(link.resolve() == state for link in (entry / "fd").iterdir())
            ours = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == os.getpid()
            if held and not ours:
                ended = select.poll()
                pidfd = os.pidfd_open(int(entry.name))
                ended.register(pidfd, select.POLLIN)
                assert ended.poll(120_000)
                os.close(pidfd)
        except OSError:
            continue
