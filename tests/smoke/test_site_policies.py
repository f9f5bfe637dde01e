"""A site learns a policy for each kind of its machines from all hosts, and knows which lack one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from postgres_server import Server, running
from site_rows import TIER, spooled

from autofinity.cli.main import cli
from autofinity.learning.settings import PAPER
from autofinity.model.affinity import PACKED, SPREAD, Affinity
from autofinity.model.errors import StoreError, UsageError
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import load, save
from autofinity.policy.selector import decide
from autofinity.policy.shipped import read_machines
from autofinity.resources import shipped
from autofinity.runtime.machine_text import read_machine_text
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.site_address import site_name
from autofinity.store.site_db import SiteDB
from autofinity.workflow import site_policies
from autofinity.workflow.push import push
from autofinity.workflow.site_policies import file_name

ALIKE = "sockets:2 llcs:4 cores:8 pus:16 nodes:2 Made-up CPU"
UNLIKE = "sockets:2 llcs:3 cores:8 pus:8 nodes:2 Odd CPU"
TOGETHER, APART = Affinity.parse("{2}"), Affinity.parse("{1}{1}")


def ask(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, words)])


def document(*words: str | Path) -> Any:
    done = ask(*words, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def host(folder: Path, url: str, first: int, *, likes_packed: bool) -> None:
    """Send runs of a host with four programs, which touch more data the higher their number."""
    spool = folder / f"host{first}" / "behaviour.db"
    with BehaviourDB.open(spool) as database:
        for number in range(first, first + 4):
            name = f"program{number}"
            run = database.begin_run(
                name, f"/bin/{name}", 1, TIER, machine=ALIKE, site=site_name(url)
            )
            for affinity in (APART, TOGETHER):
                happy = (affinity == TOGETHER) == likes_packed
                sample = {
                    "instructions": 3e9 if happy else 2e9,
                    "accesses": 125e6 * number,
                }
                database.remember_observation(run, name, 2, affinity, ALIKE, sample, TIER)
            database.update_run(run, ended=True)
    assert push(url, spool).sent == 4


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A site with two hosts of one kind, one of parts that are not alike, and a known machine."""
    folder = tmp_path_factory.mktemp("hosts")
    machines = read_machines(shipped("policies", "machines.txt"))
    known = next(each for each in machines if each.name == "opteron-6164he")
    sockets, nodes, llcs, cores = known.shape
    text = (
        f"sockets:{sockets} llcs:{sockets * llcs} cores:{sockets * llcs * cores} "
        f"pus:{sockets * llcs * cores} nodes:{nodes} {known.cpu_model}"
    )
    with running("fsync=off") as started:
        with started.admin() as admin:
            admin.execute("CREATE ROLE ann LOGIN")
            admin.execute("CREATE ROLE bob LOGIN")
        with SiteDB.open(started.url()) as site:
            site.init("own")
        host(folder, started.url("ann"), 0, likes_packed=True)
        host(folder, started.url("bob"), 4, likes_packed=False)
        for machine in (UNLIKE, text):
            spool = folder / machine[:20] / "db"
            spooled(spool, started.url("ann"), machine=machine)
            push(started.url("ann"), spool)
        yield started


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A policy of one counter, whose settings need no Java."""
    settings = replace(PAPER, leeway=0, bin_number="fixed", learner="ripper").as_dict()
    path = tmp_path / "old.json"
    save(RulePolicy(("accesses",), {"accesses": (1.0,)}, (), PACKED, {"settings": settings}), path)
    return path


def test_a_policy_is_learned_from_the_runs_of_all_hosts_and_users(
    server: Server, old: Path, tmp_path: Path
) -> None:
    words = ("rebuild", "--db", server.url(), "--each-machine", "-o", tmp_path / "site")
    found = {each["machine"]: each for each in document(*words, "--policy", old)}
    assert set(found) >= {ALIKE, UNLIKE} and len(found) == 3
    assert found[ALIKE]["own_rows"] == 16
    assert found[UNLIKE]["rebuilt"] is False and "not alike" in found[UNLIKE]["reason"]
    path = tmp_path / "site" / file_name(ALIKE)
    assert Path(found[ALIKE]["policy"]) == path
    assert [each.name for each in (tmp_path / "site").iterdir()] == [path.name]
    learned = load(path)
    assert decide(learned, {"accesses": 9e8}).hint == SPREAD
    assert decide(learned, {"accesses": 1e8}).hint != SPREAD
    assert learned.provenance["machine_text"] == ALIKE
    assert learned.provenance["model"] == "Made-up CPU"


def test_the_policy_of_machines_as_this_one_is_learned_alone(
    server: Server, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = site_policies.topology_of(ALIKE)
    monkeypatch.setattr(site_policies, "whole_machine_here", lambda: here)
    words = ("rebuild", "--db", server.url(), "--policy", old, "-o", tmp_path / "own" / "p.json")
    tried = document(*words, "--dry-run")
    assert (tried["rebuilt"], tried["own_rows"]) == (False, 16)
    assert not (tmp_path / "own").exists()
    assert document(*words)["rebuilt"]
    assert load(tmp_path / "own" / "p.json").provenance["machine_text"] == ALIKE
    alone = ask("rebuild", "--db", server.url("ann"), "--policy", old, "--dry-run")
    assert "from 8 rows of own runs" in alone.output


def test_a_user_learns_from_rows_that_the_setting_lets_that_user_read(
    server: Server, old: Path, tmp_path: Path
) -> None:
    words = ("rebuild", "--each-machine", "-o", tmp_path / "site", "--policy", old, "--dry-run")

    def rows() -> int:
        found = document(*words, "--db", server.url("bob"))
        return int(next(each["own_rows"] for each in found if each["machine"] == ALIKE))

    assert rows() == 8
    assert ask("site", "--db", server.url(), "--init", "--read", "observations").exit_code == 0
    assert rows() == 16
    assert ask("site", "--db", server.url(), "--init", "--read", "own").exit_code == 0
    assert not (tmp_path / "site").exists()


def test_doctor_lists_the_machines_and_which_lack_a_policy(
    server: Server, old: Path, tmp_path: Path
) -> None:
    words = ("doctor", "--site", "--db", server.url())
    before = {each["machine"]: each for each in document(*words)}
    assert before[ALIKE]["policy"] is None and before[UNLIKE]["policy"] is None
    assert (before[ALIKE]["runs"], before[ALIKE]["users"]) == (8, 2)
    document("rebuild", "--db", server.url(), "--each-machine", "-o", tmp_path, "--policy", old)
    (tmp_path / "no-policy.json").write_text("{}")
    after = {each["machine"]: each for each in document(*words, "--policies", tmp_path)}
    assert after[ALIKE]["policy"] == file_name(ALIKE)
    assert after[UNLIKE]["policy"] is None
    known = [text for text in after if text not in (ALIKE, UNLIKE)]
    assert after[known[0]]["policy"].startswith("shipped: ")
    said = ask(*words, "--policies", tmp_path).output
    assert "1 of 3 kinds of machines lack a policy of their own." in said


def test_the_site_is_shown_with_its_setting(server: Server) -> None:
    found = document("site", "--db", server.url("bob"))
    assert found["read"] == "own"
    assert found["readable_rows"] == {"program": 4, "run": 4, "observation": 8}
    assert "a role reads rows of its own" in ask("site", "--db", server.url("bob")).output


def test_a_site_is_named_by_a_url_and_by_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUTOFINITY_SITE_DB", raising=False)
    for words, said in (
        (("site",), "AUTOFINITY_SITE_DB names none"),
        (("push", "--to", "a-file"), "got 'a-file'"),
        (("doctor", "--site"), "AUTOFINITY_SITE_DB names none"),
        (("doctor", "--db", "postgresql://x/y"), "are for --site"),
        (("site", "--db", "postgresql://x/y", "--read", "all"), "with --init"),
        (("rebuild", "--each-machine", "-o", tmp_path), "is for a site's database"),
        (("rebuild", "--db", "postgresql://x/y", "--if-due"), "database alone"),
        (("rebuild", "--db", "postgresql://x/y", "--each-machine"), "expected -o"),
    ):
        assert isinstance(error := ask(*words).exception, UsageError), words
        assert said in str(error), words
    for command in ("status", "explain", "restore", "top"):
        done = ask(command, *(["last"] if command == "explain" else []), "--db", "postgresql://x/y")
        assert done.exit_code == 2 and "expected a file" in done.output, command
    monkeypatch.setenv("AUTOFINITY_SITE_DB", "postgresql://127.0.0.1:1/runs")
    assert isinstance(ask("site").exception, StoreError)


def test_machines_are_read_from_their_text() -> None:
    kind = read_machine_text(ALIKE)
    assert kind is not None
    assert kind.synthetic == "pack:2 numa:1 l3:2 core:2 pu:2"
    assert kind.shape == (2, 2, 2, 2)
    clusters = read_machine_text("sockets:1 llcs:1 cores:8 pus:8 nodes:2 Clustered CPU")
    assert clusters is not None
    assert clusters.synthetic == "pack:1 l3:1 numa:2 core:4 pu:1"
    odd = read_machine_text(UNLIKE)
    assert odd is not None and odd.synthetic is None and odd.shape is None
    assert read_machine_text("a machine") is None
    assert read_machine_text("sockets:0 llcs:0 cores:0 pus:0 nodes:0 None") is not None
    assert "/" not in file_name("../../etc/passwd") and file_name(ALIKE).startswith("made-up-cpu.")
