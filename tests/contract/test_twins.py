"""Twins in C (launcher) and Python (package) say the same: one table asks both."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from device_sysfs_tree import add_devices, sysfs_devices
from hypothesis import given
from hypothesis import strategies as st
from made_up_machine import machine
from planted import plant, plant_way
from topology_sysfs_tree import write_sysfs

from autofinity.affinity.hints import get_affinity
from autofinity.cli.options.site import spool_and_site
from autofinity.linux.access_events import pmu_events
from autofinity.linux.capabilities import TIERS, probe
from autofinity.linux.devices import device_called
from autofinity.linux.identity import identity_of, this_host
from autofinity.linux.machine_key import machine_key
from autofinity.linux.online import whole_machine
from autofinity.linux.perf import explain
from autofinity.linux.pins import other_pins
from autofinity.linux.program_key import running_program
from autofinity.linux.sha256 import sha256_hex
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.linux.thread_roll import SOFTWARE_EVENTS
from autofinity.model.affinity import HINTS, PACKED, Hint
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import PolicyError, StoreError, UsageError
from autofinity.model.policy import POLICY_VERSION, RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.own_python import ISOLATED, give_back, own_environment
from autofinity.policy.evidence import can_ask
from autofinity.policy.files import dumps, loads
from autofinity.policy.reading import LARGEST_FILE_BYTES
from autofinity.policy.shipped import policy_names, policy_path
from autofinity.runtime.claims import CLAIMS_HEAD, claimed, live_runs, write_claims
from autofinity.runtime.creation_seats import masks_of_seats, seats_text
from autofinity.runtime.decisions import CachedDecision, read_decisions, write_decision
from autofinity.runtime.evidence import nothing_to_choose
from autofinity.runtime.policies import (
    Choice,
    chosen_policy,
    digest_of,
    this_machine,
    user_policy,
)
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import SCHEMA_VERSION, default_path
from autofinity.store.site_address import SITE_VARIABLE, site_name, site_of

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "autofinity" / "native"
ASKED = (
    "attach",
    "claims",
    "cpu_model",
    "cpuset",
    "creation",
    "default_policy",
    "devices",
    "hints",
    "machine",
    "policy_file",
    "policy_whole",
    "program",
    "python",
    "site_address",
    "this_machine",
)
CASES: dict[str, Any] = tomllib.loads((ROOT / "tests/support/twin_cases.toml").read_text())


def each(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", CASES[name], ids=lambda case: str(case)[:60])


class Launcher:
    """The launcher's own files, which `twins.c` asks."""

    def __init__(self, executable: Path) -> None:
        self.executable = executable

    def says(
        self, *words: object, given: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> list[str]:
        command = [str(self.executable), *map(str, words)]
        env = os.environ if environment is None else environment
        done = subprocess.run(command, input=given, capture_output=True, check=True, env=env)
        return done.stdout.decode().split("\n")[:-1]


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler: expected cc, gcc or clang")
    sources = [
        NATIVE / "launcher" / f"{name}.c"
        for name in (*ASKED, "aside", "private_file", "say", "sha256", "state")
    ]
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O1", f"-I{NATIVE}"]
    flags += os.environ.get("LAUNCHER_CFLAGS", "").split()  # `make check-native` adds sanitizers
    out = tmp_path_factory.mktemp("twins") / "twins"
    subprocess.run(
        [compiler, *flags, "-o", out, ROOT / "tests/contract/twins.c", *sources], check=True
    )
    return Launcher(out)


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


@each("sha256")
def test_a_digest_is_sha256(launcher: Launcher, case: dict[str, Any], tmp_path: Path) -> None:
    data = case["text"].encode() * case["times"]
    assert sha256_hex(data) == case["digest"]
    assert launcher.says("sha256", given=data) == [case["digest"]]
    (tmp_path / "policy").write_bytes(data)
    assert digest_of(tmp_path / "policy") == case["digest"]


@each("cpus")
def test_a_cpu_list_is_read_and_written(launcher: Launcher, case: dict[str, str]) -> None:
    text = case["text"]
    if "written" in case:
        assert launcher.says("cpus", text) == [case["written"]]
        assert format_cpu_list(parse_cpu_list(text)) == case["written"]
    else:
        assert launcher.says("cpus", text) == ["no list"]
        with pytest.raises(UsageError, match="0-5,12"):
            parse_cpu_list(text)


@each("machine")
def test_a_machine_has_a_key(launcher: Launcher, case: dict[str, Any], tmp_path: Path) -> None:
    sysfs = write_files(tmp_path, {**CASES["machine"][0]["files"], **case["files"]})
    assert machine_key(str(sysfs)) == case["key"]
    assert launcher.says("machine", environment={"AUTOFINITY_SYSFS": str(sysfs)}) == [case["key"]]


def test_keys_of_machines_differ_where_their_core_sets_may() -> None:
    first, newer_kernel, *others = (case["key"] for case in CASES["machine"])
    assert newer_kernel == first
    assert len({first, *others}) == 1 + len(others)


@pytest.fixture(scope="session")
def sleeper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sleeper") / "sleeper"
    code = b'#include <unistd.h>\nint main(void) { return write(1, ".", 1) + pause(); }\n'
    subprocess.run(["cc", "-x", "c", "-", "-o", out], input=code, check=True)
    return out


@each("program")
def test_a_program_has_a_key(
    launcher: Launcher,
    sleeper: Path,
    case: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / case["name"]
    files = {"SCRIPT": tmp_path / "script"}
    files |= {name.upper(): tmp_path / "bin" / name for name in ("app", "nice", "python3")}
    files["SCRIPT"].write_text("whatever")
    files["APP"].parent.mkdir()
    for program in (file, *files.values()):
        if program != files["SCRIPT"]:
            shutil.copy(sleeper, program)
    os.utime(files["SCRIPT"], ns=(0, 1_700_000_000_000_000_007))

    def described(path: Path) -> bytes:
        info = path.stat()
        seconds, ns = divmod(info.st_mtime_ns, 1_000_000_000)
        return f"{path.resolve()}\0{info.st_size} {seconds}.{ns:09}\0".encode()

    def there(word: str) -> str:
        return re.sub("[A-Z]+[0-9]?", lambda found: str(files.get(found[0], found[0])), word)

    counts = (
        described(files[word]) if word in files else f"{there(word.removeprefix('='))}\0".encode()
        for word in case["counts"]
    )
    key = hashlib.sha256(described(file) + b"".join(counts)).hexdigest()
    command = [str(file), *map(there, case["arguments"])]
    monkeypatch.setenv("PATH", f"{files['APP'].parent}:{os.environ['PATH']}")
    assert launcher.says("program", *command) == [str(file.resolve()), key]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.read(1)  # it has its arguments
            found = running_program(process.pid)
        finally:
            process.kill()
    assert (found.path, found.key) == (str(file.resolve()), key)


@each("claims")
def test_a_claim_holds_while_its_process_lives(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path
) -> None:
    me = identity_of(os.getpid())
    with subprocess.Popen(["true"]) as ended:
        pass
    host = case["host"].replace("HERE", me.host)
    pid = {"ME": me.pid, "GONE": ended.pid}[case["pid"]]
    ticks = me.start_ticks + (case["ticks"] == "LATER")
    line = f"{host} {pid} {ticks} {case['cpus']}"
    (tmp_path / "by-hand").write_text(f"{CLAIMS_HEAD}\n{line}\n")
    (tmp_path / "mixed").write_text(f"{CLAIMS_HEAD}\nnonsense\n\n-1 -1 -\n{line}\n")
    with BehaviourDB.open(tmp_path / "db") as database:
        run = database.begin_run("k", "/bin/k", pid, "t", host=host, start_ticks=ticks)
        database.update_run(run, cpus=case["cpus"])
        write_claims(database)
        taken = bool(claimed(live_runs(database)) & parse_cpu_list(case["asked"]))
    assert taken == case["taken"]
    for copy in ("by-hand", "mixed", "claims"):
        said = launcher.says("claimed", tmp_path / copy, case["asked"])
        assert said == ["yes" if case["taken"] else "no"]
    if taken:
        assert (tmp_path / "claims").read_text() == (tmp_path / "by-hand").read_text()
    (tmp_path / "headless").write_text(f"{line}\n{line}\n")
    assert launcher.says("claimed", tmp_path / "headless", case["asked"]) == ["no"]


def test_a_claim_holds_in_another_time_namespace(launcher: Launcher, tmp_path: Path) -> None:
    inside = ["unshare", "--time", "--boottime", "12345", "--fork"]
    if shutil.which("unshare") is None or subprocess.run([*inside, "true"]).returncode:
        pytest.skip("no time namespace can be made here")
    me = identity_of(os.getpid())
    (tmp_path / "claims").write_text(f"{CLAIMS_HEAD}\n{me.host} {me.pid} {me.start_ticks} 0\n")
    words = [launcher.executable, "claimed", tmp_path / "claims", "0"]
    assert subprocess.run([*inside, *words], capture_output=True).stdout == b"yes\n"
    code = (
        "import sys; from autofinity.linux.identity import identity_of;"
        "print(identity_of(int(sys.argv[1])).start_ticks)"
    )
    seen = subprocess.run([*inside, sys.executable, "-c", code, str(me.pid)], capture_output=True)
    assert int(seen.stdout) == me.start_ticks


def test_a_claim_holds_where_the_boot_is_hidden(launcher: Launcher, tmp_path: Path) -> None:
    """As under systemd's `ProcSubset=pid`; runs of another host are not of this one."""
    hide = 'mount -t tmpfs none /proc/sys && exec "$@"'
    inside = ["unshare", "--mount", "sh", "-c", hide, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*inside, "true"]).returncode:
        pytest.skip("no mount namespace can be made here")
    code = "from autofinity.linux.identity import this_host; print(this_host())"
    seen = subprocess.run([*inside, sys.executable, "-c", code], capture_output=True, text=True)
    host = seen.stdout.strip()
    assert host.split() == [f"@{os.uname().nodename}", this_host().split()[1]]
    me = identity_of(os.getpid())
    for name, taken in ((host, b"yes\n"), (host.replace("@", "@another-"), b"no\n")):
        (tmp_path / "claims").write_text(f"{CLAIMS_HEAD}\n{name} {me.pid} {me.start_ticks} 0\n")
        words = [launcher.executable, "claimed", tmp_path / "claims", "0"]
        assert subprocess.run([*inside, *words], capture_output=True).stdout == taken


@each("folders")
def test_the_environment_names_the_folders(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path
) -> None:
    def here(text: str) -> str:
        return text.replace("/TMP", str(tmp_path))

    environment = {name: here(text) for name, text in case["environment"].items()}
    policy = Path(here(case["policy"])) if "policy" in case else None
    assert user_policy(environment) == policy
    if policy is not None:
        policy.parent.mkdir(parents=True)
        policy.touch()  # the launcher takes one that exists
    if "database" in case:
        database = Path(here(case["database"]))
        assert default_path(environment) == database
        state = [str(database.with_name(n)) for n in (database.name, "decisions", "claims")]
    else:
        state = ["", "", ""]
        with pytest.raises(StoreError, match="XDG_STATE_HOME"):
            default_path(environment)
    said = launcher.says("folders", environment=environment)
    assert said == [*state, str(policy or ""), ""]


@pytest.mark.parametrize("case", CASES["choosing"]["cases"], ids=str)
def test_the_same_policy_is_asked(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, here = tmp_path / "package", tmp_path / "here"
    shipped = package / "share" / "policies"
    for folder in (shipped / "schema", here / "folder", tmp_path / "autofinity"):
        folder.mkdir(parents=True)
    (shipped / "machines.txt").write_text(CASES["choosing"]["machines"].lstrip())
    places = {"own": tmp_path / "autofinity" / "policy.json", "file in the folder": Path("file")}
    for name in case.get("shipped", ()):
        places.setdefault(name, shipped / f"{name}.json").touch()
    (here / "file").touch()
    (tmp_path / "mine.json").touch()
    if case.get("own"):
        places["own"].touch()
    cpu = case.get("cpu", "Acme  9000 16-Core Processor")
    x86 = f"processor\t: 0\nmodel\t\t: 7\nmodel name\t: {cpu}\nflags\t: x\n\n"
    (tmp_path / "cpuinfo").write_text(case.get("cpuinfo", x86))
    topology = machine(*case.get("machine", [2, 2, 2, 2]), smt=2)
    environment = {
        "XDG_CONFIG_HOME": str(tmp_path),
        "AUTOFINITY_POLICY": case.get("variable", "").replace("/TMP", str(tmp_path)),
        "AUTOFINITY_SYSFS": str(write_sysfs(tmp_path / "sys", topology)),
        "AUTOFINITY_CPUINFO": str(tmp_path / "cpuinfo"),
    }
    says = case["says"].replace("/TMP", str(tmp_path)) if "says" in case else None
    monkeypatch.chdir(here)
    words = ("chosen", package, *([says] if says else []))
    path, origin = launcher.says(*words, environment=environment)
    if "refused" in case:
        assert path == "refused"
        assert case["refused"] in origin
        with pytest.raises(PolicyError, match=re.escape(case["refused"])):
            chosen_policy(says, environment, shipped)
        return
    expected = case["path"].replace("/TMP", str(tmp_path))
    assert path == str(places.get(expected, expected))
    assert origin == case.get("origin", "")
    choice = chosen_policy(says, environment, shipped)
    assert choice == (Choice(Path(path), case["origin"]) if path else None)


@pytest.mark.parametrize("case", CASES["shapes"], ids=str)
def test_a_machine_has_a_shape_and_its_cpus_leave_a_choice(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path
) -> None:
    made = machine(*case["machine"])
    fast = case.get("fast", range(len(made.pus)))
    pus = tuple(dataclasses.replace(pu, efficiency=int(pu.os_index in fast)) for pu in made.pus)
    clustered = case.get("clustered", False)
    sysfs = write_sysfs(tmp_path, dataclasses.replace(made, pus=pus), clustered=clustered)
    for cpu, capacity in enumerate(case.get("capacities", ())):
        (sysfs / f"devices/system/cpu/cpu{cpu}/cpu_capacity").write_text(f"{capacity}\n")
    for cpu in case.get("off", ()):
        shutil.rmtree(sysfs / f"devices/system/cpu/cpu{cpu}")
    if case.get("nodeless", False):
        shutil.rmtree(sysfs / "devices/system/node")
    environment = {"AUTOFINITY_SYSFS": str(sysfs), "AUTOFINITY_CPUINFO": str(tmp_path / "none")}
    cpu, shape = this_machine(environment)
    assert ["", case["shape"]] == launcher.says("here", environment=environment)
    assert (cpu, " ".join(map(str, shape)) if shape else "uneven") == ("", case["shape"])
    topology = read_sysfs(sysfs, allowed=whole_machine(sysfs))
    for answer in ("some", "none"):
        for text in case[answer]:
            cpus = parse_cpu_list(text)
            why = nothing_to_choose(topology, cpus)
            assert bool(why) == (answer == "none")
            assert launcher.says("choice", text, environment=environment) == [why or "some"]
            if answer == "none":
                for threads in range(1, 1 + len(cpus)):
                    (_,) = {get_affinity(topology, threads, h, cpus).affinity for h in HINTS}


@pytest.mark.parametrize(
    ("at_boot", "partitions", "allowed", "expected"),
    [
        ("", "", "0-7", "0-7"),
        ("4-7", "", "0-7", "0-3"),
        ("4-7", "", "4-6", "4-6"),  # all are: their user has chosen them
        ("4-7", "1", "0-7", "0,2-3"),
        (None, "0-1", "1-7", "2-7"),
        ("nonsense", "", "0-7", "0-7"),
    ],
)
def test_cpus_that_the_kernel_has_isolated_are_left_out(
    launcher: Launcher,
    at_boot: str | None,
    partitions: str,
    allowed: str,
    expected: str,
    tmp_path: Path,
) -> None:
    sysfs = write_sysfs(tmp_path, machine(2, 1, 2, 2, 1))
    files = {"fs/cgroup/cpuset.cpus.isolated": f"{partitions}\n"}
    if at_boot is not None:
        files["devices/system/cpu/isolated"] = f"{at_boot}\n"
    write_files(sysfs, files)
    topology = read_sysfs(sysfs, allowed=parse_cpu_list(allowed))
    assert format_cpu_list(topology.balanced(topology.allowed)) == expected
    environment = {"AUTOFINITY_SYSFS": str(sysfs)}
    assert launcher.says("balanced", allowed, environment=environment) == [expected]


def test_this_machine_is_the_same_to_both(launcher: Launcher) -> None:
    cpu, shape = this_machine({})
    assert launcher.says("here", environment={}) == [
        cpu,
        " ".join(map(str, shape)) if shape else "uneven",
    ]
    topology = read_sysfs()
    expected = nothing_to_choose(topology, topology.allowed) or "some"
    allowed = format_cpu_list(topology.allowed)
    assert launcher.says("choice", allowed, environment={}) == [expected]


@pytest.mark.parametrize("newer", [0, 1])
def test_the_launcher_knows_the_schema_of_the_database(
    launcher: Launcher, newer: int, tmp_path: Path
) -> None:
    with BehaviourDB.open(tmp_path / "db"):
        pass
    data = bytearray((tmp_path / "db").read_bytes())
    data[60:64] = (int.from_bytes(data[60:64]) + newer).to_bytes(4)  # PRAGMA user_version
    (tmp_path / "db").write_bytes(data)
    said = launcher.says("folders", tmp_path / "db")[-1]
    expected = (
        f"it has schema {SCHEMA_VERSION + 1} and this autofinity knows up to {SCHEMA_VERSION}"
    )
    assert said == (expected if newer else "")


def test_the_launcher_finds_the_decision_of_this_very_policy_threads_cpus_and_machine(
    launcher: Launcher, tmp_path: Path
) -> None:
    path, sysfs = tmp_path / "decisions", write_files(tmp_path, CASES["machine"][0]["files"])
    made = CachedDecision(
        "k" * 64, 4, "p" * 64, "llc", machine_key(str(sysfs)), PACKED, "0-7", "0-3"
    )
    environment = {"AUTOFINITY_SYSFS": str(sysfs)}

    def said(asked: CachedDecision) -> list[str]:
        words = (asked.program, asked.threads, asked.policy, asked.bind, asked.allowed)
        return launcher.says("decision", path, *words, environment=environment)

    for hint in HINTS:
        write_decision(path, dataclasses.replace(made, hint=hint))
        assert said(made) == [f"{hint} 0-3"]
    for other in ({"threads": 3}, {"policy": "q" * 64}, {"bind": "core"}, {"allowed": "0-6"}):
        assert said(dataclasses.replace(made, **other)) == ["unknown"]  # type: ignore[arg-type]
    write_decision(path, dataclasses.replace(made, mask="0-2"))
    assert said(made) == ["unknown"]  # fewer CPUs than threads
    path.unlink()
    write_decision(path, dataclasses.replace(made, machine="0" * 16))
    assert said(made) == ["unknown"]


@given(st.lists(st.frozensets(st.integers(0, 300), min_size=1, max_size=8), max_size=12))
def test_the_launcher_reads_the_seats_of_threads_as_they_were_written(
    launcher: Launcher, masks: list[frozenset[OsIndex]]
) -> None:
    lists = [format_cpu_list(mask) for mask in masks]
    text = seats_text(tuple(masks))
    count, *said = launcher.says("seats", text, "0-300")
    assert int(count) == len(masks)
    assert said == lists
    assert masks_of_seats(text) == tuple(masks)
    if masks:
        outside = f"0-{max(frozenset().union(*masks)) - 1}" if max(map(max, masks)) else "1"
        assert launcher.says("seats", text, outside) == ["0"]


@pytest.mark.parametrize(
    "text",
    ["2", "2*", "*0", "x*0", "1*0;", "1*0,", "-1*0", "1*3-1", "0*0", "4097*0", "4096*0;1*1"],
)
def test_the_launcher_seats_nobody_by_another_text(launcher: Launcher, text: str) -> None:
    assert launcher.says("seats", text, "0-300") == ["0"]
    with pytest.raises(UsageError):
        masks_of_seats(text)


@each("databases")
def test_a_database_that_others_could_have_written_is_used_by_neither(
    launcher: Launcher, case: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "state" / "behaviour.db"
    BehaviourDB.open(path).close()
    assert launcher.says("folders", path)[-1] == ""
    plant(case["planted"], path)
    assert launcher.says("folders", path)[-1] == case["flaw"]
    with pytest.raises(StoreError) as told:
        BehaviourDB.open(path)
    assert case["flaw"] in str(told.value)


@each("unmade")
def test_a_folder_that_others_could_exchange_is_made_by_neither(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path
) -> None:
    path = plant_way(case["way"], tmp_path) / "new" / "state" / "behaviour.db"
    before = sorted(tmp_path.rglob("*"))
    assert launcher.says("folders", path)[-1] == case["flaw"]
    if case["flaw"]:
        with pytest.raises(StoreError) as told:
            BehaviourDB.open(path)
        assert case["flaw"] in str(told.value)
        assert sorted(tmp_path.rglob("*")) == before
    else:
        BehaviourDB.open(path).close()
        assert launcher.says("folders", path)[-1] == ""


@each("side_files")
def test_a_side_file_that_others_could_have_written_is_read_by_neither(
    launcher: Launcher, case: str, tmp_path: Path
) -> None:
    me = identity_of(os.getpid())
    decisions, claims = tmp_path / "decisions", tmp_path / "claims"
    made = CachedDecision("k" * 64, 2, "p" * 64, "llc", machine_key(), PACKED, "0-3", "0-1")
    asked = (made.program, made.threads, made.policy, made.bind, made.allowed)
    write_decision(decisions, made)
    claims.write_text(f"{CLAIMS_HEAD}\n{me.host} {me.pid} {me.start_ticks} 0\n")
    assert launcher.says("decision", decisions, *asked) == [f"{PACKED} 0-1"]
    assert launcher.says("claimed", claims, "0") == ["yes"]
    plant(case, decisions)
    (tmp_path / "elsewhere").unlink(missing_ok=True)
    plant(case, claims)
    assert launcher.says("decision", decisions, *asked) == ["unknown"]
    assert launcher.says("claimed", claims, "0") == ["no"]
    assert read_decisions(decisions) == ()


@pytest.mark.parametrize("larger", [0, 1])
def test_a_side_file_is_read_up_to_a_size(launcher: Launcher, larger: int, tmp_path: Path) -> None:
    path, size = tmp_path / "decisions", CASES["side_file_bytes"] + larger
    made = CachedDecision("k" * 64, 2, "p" * 64, "llc", machine_key(), PACKED, "0-3", "0-1")
    write_decision(path, made)
    path.write_text(path.read_text().ljust(size, "\n"))
    asked = (made.program, made.threads, made.policy, made.bind, made.allowed)
    assert launcher.says("decision", path, *asked) == (["unknown"] if larger else [f"{PACKED} 0-1"])
    assert read_decisions(path) == (() if larger else (made,))


@each("policies")
def test_the_launcher_takes_whatever_the_monitor_reads(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path
) -> None:
    newer = str(POLICY_VERSION + 1)
    whole = dumps(RulePolicy((), {}, (), PACKED, version=POLICY_VERSION))
    text = case["text"].replace("NEWER", newer).replace("POLICY", whole)
    path = tmp_path / "policy.json"
    path.write_text(text)
    (said,) = launcher.says("policy", path)
    if case["launcher"]:
        assert said.startswith(case["launcher"].replace("NEWER", newer))
    else:
        assert said == digest_of(path)
    if case["monitor"]:
        assert not case["launcher"]
        loads(text.encode())
    else:
        with pytest.raises(PolicyError):
            loads(text.encode())


def changed(text: str) -> Iterator[str]:
    """The text with one character less, or another one, here and there."""
    for at in range(0, len(text), max(1, len(text) // 150)):
        yield text[:at] + text[at + 1 :]
        for other in '"0,]}x\\':
            yield text[:at] + other + text[at + 1 :]


def escaped(text: str) -> Iterator[str]:
    yield text.replace('"SLP"', r'"\u0053LP"').replace('"rules"', r'"rul\u0065s"')
    yield text.replace('"provenance": {', '"provenance": {"a\\\\": ' + "[" * 100 + "]" * 100 + ", ")


@pytest.mark.parametrize("name", ["any-machine", "opteron-6164he"])
def test_the_launcher_refuses_no_policy_that_the_monitor_reads(
    launcher: Launcher, name: str, tmp_path: Path
) -> None:
    path, text = tmp_path / "policy.json", policy_path(name).read_text()
    for other in (text, *escaped(text), *changed(text)):
        path.write_text(other)
        (said,) = launcher.says("policy", path)
        if said != digest_of(path):
            with pytest.raises(PolicyError):
                loads(other.encode())


def test_the_launcher_refuses_every_policy_that_is_cut_off(
    launcher: Launcher, tmp_path: Path
) -> None:
    path, text = tmp_path / "policy.json", policy_path("any-machine").read_text().rstrip()
    for size in range(0, len(text), 17):
        path.write_text(text[:size])
        (said,) = launcher.says("policy", path)
        assert said.startswith("it is ")


def looks_at(policy: RulePolicy) -> str:
    if can_ask(policy, ()):
        return "nothing"
    return "software" if can_ask(policy, SOFTWARE_EVENTS) else "hardware"


@each("asks")
def test_what_a_policy_looks_at_is_known(
    launcher: Launcher, case: dict[str, str], tmp_path: Path
) -> None:
    parts = json.loads(case["text"])
    whole = json.loads(dumps(RulePolicy((), {}, (), PACKED, version=parts["version"]))) | parts
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(whole))
    assert launcher.says("asks", path) == [case["looks_at"]] == [looks_at(loads(path.read_bytes()))]


@pytest.mark.parametrize("name", policy_names())
def test_what_a_shipped_policy_looks_at_is_known(launcher: Launcher, name: str) -> None:
    path = policy_path(name)
    assert launcher.says("asks", path) == [looks_at(loads(path.read_bytes()))]


def test_what_is_too_large_for_a_policy_is_refused_by_both(
    launcher: Launcher, tmp_path: Path
) -> None:
    path = tmp_path / "policy.json"
    path.write_text('{"version": 1}')
    for size, refused in ((LARGEST_FILE_BYTES, False), (LARGEST_FILE_BYTES + 1, True)):
        os.truncate(path, size)
        (said,) = launcher.says("policy", path)
        assert said.startswith("it is no regular file of at most 16 MiB") == refused


def test_the_ladder_has_one_order(launcher: Launcher) -> None:
    assert list(TIERS) == launcher.says("tiers") == CASES["capabilities"]["tiers"]


def test_the_step_that_decides_here_is_one(launcher: Launcher) -> None:
    assert launcher.says("ladder")[0] == probe().tier


@pytest.mark.parametrize("name", CASES["capabilities"]["refusals"])
def test_a_refusal_is_named_and_explained(launcher: Launcher, name: str) -> None:
    code = getattr(errno, name)
    plain = os.strerror(code)
    assert re.match(rf"{name}: (?!{plain})", explain(code))
    said = launcher.says("ladder", code)[1]
    assert re.search(rf"; no hardware counters: {name}, (?!{plain})", said)


@pytest.mark.parametrize(
    "case", CASES["capabilities"]["pmus"], ids=lambda case: next(iter(case["files"]))
)
def test_a_pmu_that_samples_memory_is_known(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path
) -> None:
    devices = write_files(tmp_path, case["files"])
    assert bool(pmu_events(devices)) == case["samples"]
    assert launcher.says("pmu", devices) == ["yes" if case["samples"] else "no"]


@each("environment")
def test_our_python_gets_one_environment_and_gives_it_back(
    launcher: Launcher, case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter = tmp_path / "bin" / "python3.12"
    write_files(tmp_path, {"bin/python3.12": "", case.get("library", "lib/none"): ""})
    expected = {name: text.replace("PREFIX", str(tmp_path)) for name, text in case["made"].items()}
    expected[ISOLATED] = "1"
    said = launcher.says("environment", interpreter, environment=case["given"])
    assert dict(line.split("=", 1) for line in said) == expected
    monkeypatch.setattr(sys, "executable", str(interpreter))
    made = own_environment(case["given"])
    assert made.pop("AUTOFINITY_IMPORT")
    assert made == expected
    give_back(made)
    given = {name: text for name, text in case["given"].items() if "ASIDE" not in name}
    assert made == given


# ---- hints ---------------------------------------------------------------------------------------
@each("pins")
def test_a_runtime_is_asked_to_pin_threads_or_not(launcher: Launcher, case: dict[str, str]) -> None:
    environment = {case["name"]: case["value"]}
    assert launcher.says("pins", environment=environment) == [case["pins"]]
    here = frozenset(map(OsIndex, os.sched_getaffinity(0)))
    told = other_pins(os.getpid(), environment, here)
    assert any(line.startswith(f"{case['name']}=") for line in told) == (case["pins"] == "yes")


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_hint_is_read_and_shown_by_name_and_letters(launcher: Launcher, hint: Hint) -> None:
    for text in (str(hint), hint.name, hint.name.upper()):
        assert launcher.says("hint", text) == [str(hint), hint.shown]


@pytest.mark.parametrize("case", CASES["no_hints"])
def test_what_is_no_hint_is_refused(launcher: Launcher, case: str) -> None:
    assert launcher.says("hint", case) == ["no hint"]
    with pytest.raises(ValueError, match="not a hint"):
        Hint.parse(case)


# ---- devices -------------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def devices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shown = CASES["devices"]
    return add_devices(tmp_path_factory.mktemp("devices"), shown["functions"], shown["members"])


@pytest.mark.parametrize("case", CASES["devices"]["asked"], ids=lambda case: case["name"])
def test_a_device_hangs_on_a_node(launcher: Launcher, devices: Path, case: dict[str, Any]) -> None:
    node, _ = launcher.says("device", case["name"], environment={"AUTOFINITY_SYSFS": str(devices)})
    assert int(node) == case["node"]
    found = device_called(sysfs_devices(devices), case["name"], "here")
    assert list(found.nodes) == ([case["node"]] if case["node"] >= 0 else [])


@pytest.mark.parametrize("name", CASES["devices"]["unknown"])
def test_an_unknown_device_is_known_to_neither(
    launcher: Launcher, devices: Path, name: str
) -> None:
    node, names = launcher.says("device", name, environment={"AUTOFINITY_SYSFS": str(devices)})
    assert int(node) == -2
    with pytest.raises(UsageError, match="expected") as refusal:
        device_called(sysfs_devices(devices), name, "here")
    assert all(known in str(refusal.value) for known in names.split(", "))


def test_the_devices_here_are_the_same_to_both(launcher: Launcher) -> None:
    found = sysfs_devices()
    for device in found:
        for name in (*device.names, *([device.pci] if device.pci else [])):
            node, names = launcher.says("device", name, environment={})
            assert int(node) == (device.nodes[0] if device.nodes else -1), name
            assert set(device.names) <= set(names.split(", "))


def test_a_machine_without_devices_shows_none(launcher: Launcher, tmp_path: Path) -> None:
    assert sysfs_devices(tmp_path) == ()
    environment = {"AUTOFINITY_SYSFS": str(tmp_path)}
    assert launcher.says("device", "eth0", environment=environment) == ["-2", ""]
    with pytest.raises(UsageError, match="it shows no device"):
        device_called((), "eth0", "here")


@each("database_names")
def test_a_database_is_a_file_or_a_site_and_no_other_url(
    launcher: Launcher, case: dict[str, str]
) -> None:
    text, kind = case["text"], case["is"]
    said = launcher.says("database", text)
    assert said[0] == kind
    if kind == "another URL":
        assert said == [kind]  # neither a file nor a site, whatever is asked next
        with pytest.raises(UsageError, match="a URL of another kind") as refused:
            spool_and_site(text)
        assert case.get("hidden", text) not in str(refused.value)
    elif kind == "file":
        assert said == [kind, ""]
        assert spool_and_site(text) == (Path(text), "")
    else:
        in_sight = said[2]
        assert said[1] == text and in_sight.rstrip("*").endswith("://")
        assert spool_and_site(text) == (None, text)
        assert "hidden" not in case or case["hidden"] not in in_sight + site_name(text)


@each("database_names")
def test_the_environment_names_a_site_or_nothing(launcher: Launcher, case: dict[str, str]) -> None:
    environment = {SITE_VARIABLE: case["text"]}
    site = case["text"] if case["is"] == "site" else ""
    assert launcher.says("site_set", environment=environment) == [site]
    assert site_of(environment) == site
