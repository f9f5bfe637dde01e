"""A program that computes is sampled, decided about and bound; the next time before it starts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, fake_sysfs, masks_of
from live_run import become_subreaper, preferred
from permitted import needs_two_cpus

from autofinity.linux.identity import identity_of, this_host
from autofinity.linux.machine_key import machine_key
from autofinity.linux.seated_threads import SEATED
from autofinity.model.affinity import PACKED, Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import StoreError
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.policy.files import save
from autofinity.runtime.claims import CLAIMS_HEAD
from autofinity.runtime.creation_seats import NO_SEATS, seats_text
from autofinity.runtime.decisions import CachedDecision, read_decisions, write_decision
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord

type Runner = Any  # of conftest.py

pytestmark = needs_two_cpus


def hints(db: Path) -> list[Hint | None]:
    try:
        with BehaviourDB.open(db, read_only=True) as database:
            return [known.hint for known in database.programs()]
    except StoreError:  # the monitor is just making it
        return []


def records(db: Path) -> tuple[RunRecord, ...]:
    try:
        with BehaviourDB.open(db, read_only=True) as database:
            return database.runs()
    except StoreError:  # as above
        return ()


def test_threads_are_bound_as_the_policy_says_and_known_before_the_next_start(
    run: Runner, spinner: Path, policy: Path
) -> None:
    options = ("--policy", policy, "--threads", "2", "--bind", "core", "--period", "0.3s")
    with run.lasting(*options, "--", spinner, "2", "300") as process:
        # The hint is on record, and every computing thread is where it says: one CPU each.
        assert run.eventually(lambda: hints(run.db) == [PACKED])
        assert run.eventually(lambda: [len(mask) for mask in masks_of(process.pid)][1:] == [1, 1])
        main, first, second = masks_of(process.pid)
        assert first != second
        assert main == allowed()  # it only waits for the others
        monitor = run.monitors_of(process.pid)[0]
        status = Path(f"/proc/{monitor}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        assert int(peak.split()[1]) <= 25 * 1024, peak
    assert run.eventually(lambda: not run.monitors_of(process.pid))

    with BehaviourDB.open(run.db, read_only=True) as database:
        (known,) = database.programs()
        assert known.threads == 2
        assert known.sample["task_clock_ns"] > 0
        assert Path(known.path) == spinner.resolve()
        assert database.runs()[0].ended is not None
        assert database.runs()[0].bound == 3

    again = run(*options, "--", spinner, "2", "0")
    assert b"known with 2 threads: hint packed (slp), bound to CPUs" in again.stderr


def test_a_run_on_record_lasts_from_the_start_of_the_program_not_of_its_monitor(
    run: Runner,
) -> None:
    length_s = 0.5
    before = time.time()
    run("--", "sleep", str(length_s))
    assert run.eventually(lambda: [each.ended is not None for each in records(run.db)] == [True])
    (record,) = records(run.db)
    assert record.ended is not None
    assert before <= record.started <= record.ended - length_s


def test_a_known_program_is_bound_before_exec(run: Runner, probe: Path, policy: Path) -> None:
    cpus = format_cpu_list(sorted(allowed())[:2])
    _write_cache(run, probe, policy, cpus)
    done = run("--policy", policy, "--threads", "2", "--", probe, "0")
    assert b"bound to CPUs" in done.stderr
    assert f"Cpus_allowed_list:\t{cpus}\n".encode() in done.stdout


def test_a_known_program_whose_runtime_pins_its_threads_keeps_all_cpus(
    run: Runner, probe: Path, policy: Path
) -> None:
    """A runtime leaves out places that it may not use."""
    _write_cache(run, probe, policy, format_cpu_list(sorted(allowed())[:1]), threads=1)
    words = ("--policy", policy, "--threads", "1", "--", probe, "0")
    bound = run(*words)
    assert f"Cpus_allowed_list:\t{min(allowed())}\n".encode() in bound.stdout
    asked = run(*words, env=run.env | {"OMP_PLACES": "cores"})
    assert f"Cpus_allowed_list:\t{format_cpu_list(allowed())}\n".encode() in asked.stdout
    assert b"bound to CPUs" not in asked.stderr


@dataclass(frozen=True)
class Seated:
    """Starts a known program that has seats, beside a monitor that never begins."""

    run: Runner
    policy: Path
    python: Path

    @property
    def cpus(self) -> tuple[OsIndex, OsIndex]:
        first, second, *_ = sorted(allowed())
        return first, second

    @contextmanager
    def lasting(
        self, *program: str | Path, threads: int = 2, **options: Any
    ) -> Iterator[subprocess.Popen[bytes]]:
        """With a seat for each of its `threads` beside the first, on the second CPU, the first, the
        second …
        """
        both = format_cpu_list(self.cpus)
        each = [self.cpus[(number + 1) % 2] for number in range(threads)]
        seats = ";".join([f"1*{both}", *(f"1*{cpu}" for cpu in each)])
        _write_cache(self.run, Path(program[0]), self.policy, both, bind="core", seats=seats)
        words = ("--policy", self.policy, "--threads", "2", "--bind", "core", "--", *program)
        env = self.run.env | {"AUTOFINITY_PYTHON": str(self.python)} | options.pop("env", {})
        with self.run.lasting(*words, env=env, **options) as process:
            yield process


@pytest.fixture
def seated(run: Runner, policy: Path, tmp_path: Path) -> Seated:
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexec sleep 300\n")
    python.chmod(0o755)
    return Seated(run, policy, python)


def test_threads_of_a_known_program_are_seated_as_they_are_created(
    run: Runner, spinner: Path, seated: Seated
) -> None:
    first, second = seated.cpus
    with seated.lasting(spinner, "2", "300") as process:
        expected = [{first, second}, {second}, {first}]
        assert run.eventually(lambda: masks_of(process.pid) == expected)
    with seated.lasting(spinner, "2", "300", env={"OMP_PROC_BIND": "true"}) as process:
        assert run.eventually(lambda: len(masks_of(process.pid)) == 3)
        time.sleep(0.1)  # its runtime is not disturbed
        assert masks_of(process.pid) == [{first, second}] * 3


def test_the_seat_of_a_thread_that_ended_is_given_again(
    run: Runner, makers: Path, seated: Seated
) -> None:
    first, second = seated.cpus
    with seated.lasting(makers, "waves", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"2\n"
        assert run.eventually(lambda: masks_of(process.pid)[1:] == [{second}, {first}])


def test_a_thread_that_makes_all_others_has_all_cpus(
    run: Runner, makers: Path, seated: Seated
) -> None:
    """And they have: what it makes would have its mask."""
    both = frozenset(seated.cpus)
    with seated.lasting(makers, "java", threads=8, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"2\n"
        assert run.eventually(lambda: len(masks_of(process.pid)) == 5)
        assert run.eventually(lambda: masks_of(process.pid)[:4] == [both] * 4)


def test_a_program_that_a_seated_thread_becomes_has_all_cpus(makers: Path, seated: Seated) -> None:
    with seated.lasting(makers, "exec", threads=8, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"2\n"
        assert masks_of(process.pid) == [frozenset(seated.cpus)]


def test_no_process_of_ours_stays_behind_as_a_zombie_beside_a_subreaper(
    run: Runner, spinner: Path, seated: Seated
) -> None:
    def states_below(pid: int) -> list[str]:
        found = []
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found.append(Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2][0])
            found += states_below(int(child))
        return found

    def only_the_native_half_and_python() -> bool:
        try:
            states = states_below(process.pid)
        except (FileNotFoundError, ProcessLookupError):  # a child ended meanwhile: look again
            return False
        return len(states) == 2 and "Z" not in states

    # With more threads than seats nothing is left to be seated.
    with seated.lasting(spinner, "3", "300", preexec_fn=become_subreaper) as process:
        assert run.eventually(only_the_native_half_and_python)


def test_the_monitor_keeps_threads_on_the_seats_that_they_were_created_on(
    run: Runner, spinner: Path, policy: Path
) -> None:
    """And `autofinity restore` knows which masks they had before."""
    options = ("--policy", policy, "--threads", "2", "--bind", "core", "--period", "0.3s")
    with run.lasting(*options, "--", spinner, "2", "300"):
        assert run.eventually(lambda: hints(run.db) == [PACKED])
        assert run.eventually(lambda: read_decisions(run.db.with_name("decisions")))
    own = read_decisions(run.db.with_name("decisions"))[-1]

    def seated() -> bool:
        """The latest run on record is still the first, until the second run's monitor begins."""
        found = run.placed()
        return found is not None and SEATED in found.notes.splitlines()

    with run.lasting(*options, "--", spinner, "2", "300") as process:
        assert run.eventually(seated)
        assert seats_text(tuple(masks_of(process.pid)[1:])) == own.seats.partition(";")[2]
        subprocess.run([run.launcher, "restore", str(process.pid)], env=run.env, check=True)
        assert masks_of(process.pid) == [allowed()] * 3


def test_a_decision_is_for_a_thread_count_that_was_promised(
    run: Runner, probe: Path, policy: Path
) -> None:
    _write_cache(run, probe, policy, format_cpu_list(allowed()))
    options = ("--policy", policy, "--", probe, "0")
    assert b"bound to CPUs" not in run(*options).stderr
    assert b"bound to CPUs" in run(*options, env=run.env | {"OMP_NUM_THREADS": "2"}).stderr


@pytest.mark.parametrize(
    ("asked", "limit", "threads"),
    [("8", "2", 2), ("4,2", "6", 6), ("2", "8", 2), ("2", "none", 2), ("2", "0", 2), ("", "2", 0)],
)
def test_openmp_runs_no_more_threads_than_its_limit(
    run: Runner, asked: str, limit: str, threads: int
) -> None:
    env = run.env | {"OMP_NUM_THREADS": asked, "OMP_THREAD_LIMIT": limit}
    said = run("--explain", "--", "true", env=env).stderr
    expected = f"threads {threads};" if threads else "threads not given"
    assert f"autofinity: {expected}".encode() in said


def test_what_other_live_runs_claim_is_not_bound_before_exec(
    run: Runner, probe: Path, policy: Path
) -> None:
    cpus = format_cpu_list(sorted(allowed())[:2])
    _write_cache(run, probe, policy, cpus)
    options = ("--policy", policy, "--threads", "2", "--", probe, "0")
    me, ticks = os.getpid(), identity_of(os.getpid()).start_ticks
    claims = run.db.with_name("claims")
    host = this_host()
    claims.write_text(f"{CLAIMS_HEAD}\n{host} 1 7 {cpus}\n{host} {me} {ticks} {cpus}\n")
    done = run(*options)
    assert b"not bound before start: other runs claim some of CPUs" in done.stderr
    assert f"Cpus_allowed_list:\t{format_cpu_list(allowed())}\n".encode() in done.stdout
    claims.write_text(f"{CLAIMS_HEAD}\n{host} {me} {ticks + 1} {cpus}\n")  # of who had this pid
    assert b"hint packed (slp), bound to CPUs" in run(*options).stderr


def test_ranks_that_begin_together_are_not_all_bound_to_the_same_cpus(
    run: Runner, probe: Path, policy: Path
) -> None:
    cpus = format_cpu_list(sorted(allowed())[:2])
    _write_cache(run, probe, policy, cpus)
    options = ("--policy", policy, "--threads", "2", "--", probe, "0")
    for ranks, bound in (("1", True), ("2", False)):
        rank = {"OMPI_COMM_WORLD_LOCAL_SIZE": ranks, "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
        done = run(*options, env=run.env | rank)
        assert (b"bound to CPUs" in done.stderr) == bound


def test_without_a_named_policy_the_users_own_counts(
    run: Runner, probe: Path, policy: Path
) -> None:
    _write_cache(run, probe, policy, format_cpu_list(allowed()))
    own = Path(run.env["XDG_CONFIG_HOME"]) / "autofinity" / "policy.json"
    own.parent.mkdir(parents=True)
    shutil.copy(policy, own)
    options = ("--threads", "2", "--", probe, "0")
    assert b"bound to CPUs" in run(*options).stderr
    save(RulePolicy((), {}, (), PACKED), own)  # another policy of the same name
    assert b"bound to CPUs" not in run(*options).stderr


def test_threads_are_bound_to_the_cpus_of_a_cache_by_default(
    run: Runner, spinner: Path, policy: Path, tmp_path: Path
) -> None:
    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path))}
    options = ("--policy", policy, "--period", "0.3s")
    with run.lasting(*options, "--", spinner, "2", "300", env=env) as process:
        assert run.eventually(lambda: hints(run.db) == [PACKED])
        # A cache of one CPU each: two threads in two of them.
        assert run.eventually(lambda: [len(mask) for mask in masks_of(process.pid)][1:] == [1, 1])
        assert len(set(masks_of(process.pid)[1:])) == 2


def test_pins_of_the_program_are_not_fought(run: Runner, spinner: Path, policy: Path) -> None:
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    pinned = frozenset(sorted(allowed())[-1:])
    with run.lasting(*options, "--", spinner, "2", "300", "pin") as process:
        assert run.eventually(lambda: hints(run.db) == [PACKED])
        assert masks_of(process.pid)[1:] == [pinned, pinned]
        with BehaviourDB.open(run.db, read_only=True) as database:
            assert "pinned by the program or by others" in database.runs()[0].notes


def test_no_bind_decides_and_leaves_every_mask(run: Runner, spinner: Path, policy: Path) -> None:
    options = ("--policy", policy, "--bind", "none", "--period", "0.3s")
    with run.lasting(*options, "--", spinner, "2", "300") as process:
        assert run.eventually(lambda: hints(run.db) == [PACKED])
        assert set(masks_of(process.pid)) == {allowed()}


def test_children_of_a_script_are_followed(
    run: Runner, spinner: Path, policy: Path, tmp_path: Path
) -> None:
    script = tmp_path / "wrapper"
    script.write_text(f"#!/bin/sh\n{spinner} 2 300\nexit 0\n")
    script.chmod(0o755)
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    with preferred(), run.start(*options, "--", script, start_new_session=True) as process:
        try:
            assert run.eventually(lambda: hints(run.db) == [PACKED])
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            child = int(children[0])
            assert run.eventually(lambda: [len(mask) for mask in masks_of(child)][1:] == [1, 1])
        finally:
            os.killpg(process.pid, 9)


def test_status_and_doctor_speak_json(run: Runner, launcher: Path, policy: Path) -> None:
    def ask(*words: str) -> Any:
        done = subprocess.run([launcher, *words, "--json"], env=run.env, capture_output=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with run.lasting("--policy", policy, "--", "sleep", "300") as process:
        assert run.eventually(lambda: _noted(run.db))
        process.terminate()
        process.wait(timeout=300)
    assert run.eventually(lambda: _noted(run.db, ended=True))
    (note,) = ask("status")["runs"][0]["notes"].splitlines()
    assert note.startswith("nothing was decided: fewer than two threads computed at once")
    doctor = ask("doctor")
    assert doctor["tier"] in doctor["tiers"]
    assert all(set(c) == {"name", "available", "detail", "remedy"} for c in doctor["capabilities"])


def _write_cache(
    run: Runner,
    probe: Path,
    policy: Path,
    cpus: str,
    *,
    threads: int = 2,
    bind: str = "llc",
    seats: str = NO_SEATS,
) -> None:
    """A decision as the monitor would write it."""
    from autofinity.runtime.policies import digest_of

    key = _key_of(run, probe)
    cache = run.db.with_name("decisions")
    cache.unlink(missing_ok=True)
    write_decision(
        cache,
        CachedDecision(
            program=key,
            threads=threads,
            policy=digest_of(policy),
            bind=bind,
            machine=machine_key(),
            hint=PACKED,
            allowed=format_cpu_list(allowed()),
            mask=cpus,
            seats=seats,
        ),
    )


def _key_of(run: Runner, probe: Path) -> str:
    """The key the launcher gives the probe, from a run that lasts until it is noted."""
    shutil.rmtree(run.state, ignore_errors=True)
    with run.lasting("--quiet", "--", probe, "300000", stdout=subprocess.DEVNULL):
        assert run.eventually(lambda: _noted(run.db))
    key = run.eventually(lambda: _noted(run.db, ended=True))
    assert len(key) == 64
    return key


def _noted(db: Path, ended: bool = False) -> str:
    """Program of the last run on record, if that has `ended`; empty: there is none."""
    try:
        with BehaviourDB.open(db, read_only=True) as database:
            runs = database.runs()
    except StoreError:  # the monitor is just making it
        return ""
    return runs[0].program if runs and (runs[0].ended or not ended) else ""
