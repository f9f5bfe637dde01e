"""The commands from observations to an exported policy, one after the other."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from observed import observation

from autofinity.affinity.enumerate import enumerate_affinities
from autofinity.cli.main import cli
from autofinity.model.affinity import HINTS
from autofinity.model.counters import Behaviour
from autofinity.model.errors import AutofinityError
from autofinity.policy import files
from autofinity.store.observations import ObservationStore
from autofinity.workflow.backends import machine_topology

MACHINE = "opteron-6164he"
CUT = ("--bin-number", "automatic")
"""WEKA's rule cuts nothing that lies in two clumps, as `sharing` does."""


def call(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def observations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight programs in all affinities of four threads: half like company, half like room."""
    folder = tmp_path_factory.mktemp("observations")
    draw = random.Random(3)
    topology = machine_topology(MACHINE)
    rows = []
    for number in range(8):
        likes_company = number % 2 == 0
        for affinity in enumerate_affinities(topology, 4):
            domains = sum(map(len, affinity.occupancy))
            fit = (4 - domains if likes_company else domains) / 4
            for sample in range(5):
                behaviour = {
                    "sharing": (5.0 if likes_company else 1.0) + draw.random(),
                    "instructions": 1e9 * (0.5 + fit) * (1 + 0.1 * draw.random()),
                    "noise": draw.random(),
                    "constant": 1.0,
                }
                rows.append(
                    observation(
                        program=f"p{number}",
                        threads=4,
                        affinity=affinity,
                        sample=sample,
                        progress=(sample + 0.5) / 5,
                        behaviour=Behaviour(behaviour),
                        performance=0.5 + fit,
                        roi_s=1 / (0.5 + fit),
                        machine=MACHINE,
                    )
                )
    ObservationStore(folder).write(rows)
    return folder


def test_counters_says_what_was_chosen_and_where_the_search_stops(observations: Path) -> None:
    shown = call("counters", observations, "--paper", "--k", 2).stdout
    assert "instructions" in shown and "the search alone" in shown
    assert "constant" in shown.splitlines()[-1]
    data = json.loads(call("counters", observations, "--paper", "--k", 2, "--json").stdout)
    assert data["chosen"][0] == "instructions"
    assert data["left_out"] == ["constant"]
    choice = ("--selection", "cfs", "--features", "rates", "--labels", "periods", "--k", 2)
    ours = json.loads(call("counters", observations, *choice, "--metric", "ipc", "--json").stdout)
    assert ours["chosen"] == data["chosen"]


def test_our_way_learns_from_whole_runs_and_needs_no_java(
    observations: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.json"
    chosen = json.loads(call("counters", observations, "--features", "rates", "--json").stdout)
    assert chosen["chosen"] == ["sharing"]
    call("rules", observations, "--features", "rates", "-o", policy)
    (rule,) = files.load(policy).rules
    answers = [
        json.loads(call("explain", policy, "-s", f"sharing={value}", "--json").stdout)["hint"]
        for value in (5.5, 1.5)
    ]
    assert answers[0][1] == "l" and answers[1][1] == "L" and str(rule.hint) in answers
    with pytest.raises(AutofinityError, match="no ratio of the catalogue"):
        call("rules", observations)


def test_bins_counts_every_observation_once(observations: Path) -> None:
    data = json.loads(
        call(
            "bins", observations, "--paper", "--counters", "sharing,noise", "--bins", 4, "--json"
        ).stdout
    )
    for counter in data["counters"]:
        assert len(counter["observations"]) == len(counter["cut_points"]) + 1
        assert sum(counter["observations"]) == 8 * 11 * 5
    assert "sharing" in call("bins", observations, "--paper", "--counters", "sharing").stdout


@pytest.mark.weka
def test_a_table_gives_the_same_rules_as_its_observations(
    observations: Path, tmp_path: Path
) -> None:
    choice = ("--paper", "--counters", "sharing,noise", *CUT)
    shown = call("table", observations, *choice, "-o", tmp_path / "table.parquet")
    assert "best hints: " in shown.stdout
    assert f"action table kept in {tmp_path / 'table.parquet'}" in shown.stderr
    rows = json.loads(call("table", observations, *choice, "--json").stdout)["rows"]
    assert sum(row["weight"] for row in rows) == 8 * 11 * 5
    call("rules", tmp_path / "table.parquet", "--paper", "-o", tmp_path / "a.json")
    call("rules", observations, *choice, "-o", tmp_path / "b.json")
    one, other = files.load(tmp_path / "a.json"), files.load(tmp_path / "b.json")
    assert (one.rules, one.default) == (other.rules, other.default)
    assert one.rules, "half of the programs want another hint than the others"
    assert one.provenance["machine"] == other.provenance["machine"] == MACHINE


@pytest.mark.weka
def test_a_policy_can_be_shown_explained_and_exported(observations: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    learned = call(
        "rules", observations, "--paper", "--counters", "sharing", *CUT, "-o", policy
    ).stdout
    assert call("show", policy).stdout == learned
    assert json.loads(call("show", policy, "--json").stdout)["counters"] == ["sharing"]
    data = json.loads(call("explain", policy, "--sample", "sharing=5.5", "--json").stdout)
    assert data["margin"] > 0
    assert data["hint"] != data["runner_up"]
    company = call("explain", policy, "-s", "sharing=5.5").stdout.split(":")[0]
    room = call("explain", policy, "-s", "sharing=1.5").stdout.split(":")[0]
    hints = {hint.shown: hint for hint in HINTS}
    assert not hints[company].spread_llcs and hints[room].spread_llcs
    assert "by the default" in call("explain", policy, "-s", "sharing=nan").stdout
    said = call("export", policy, "--format", "c", "-o", tmp_path / "policy.h").stderr
    assert said == f"policy kept in {tmp_path / 'policy.h'}\n"
    assert (tmp_path / "policy.h").read_text() == call("export", policy).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "/nowhere/policy.json"), "there is no policy"),
        (("counters", "/nowhere"), "no observations at /nowhere"),
        (("rules", "/nowhere"), "no observations at /nowhere"),
        (("table", "{obs}", "--counters", "flops"), "'flops' is not in these observations"),
        (("table", "{obs}", "--counters", "noise", "-m", "pdp-11"), "pdp-11"),
        (("bins", "{obs}", "--counters", "noise,noise"), "named twice"),
        (("bins", "{obs}", "--counters", "noise", "--bins", "40"), "bins 40: expected at most 20"),
        (("bins", "{obs}", "--metric=-energy", "--counters", "noise"), "energy_j"),
        (
            ("evaluate", "--observations", "{obs}", "--threads", "5"),
            "4 threads; --observations none",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    observations: Path, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(AutofinityError, match=message) as caught:
        call(*(a.replace("{obs}", str(observations)) for a in arguments))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("sample", ["x", "x=", "=1", "x=y", "x=1,x=2"])
def test_a_malformed_sample_is_refused(tmp_path: Path, sample: str) -> None:
    from autofinity.model.affinity import HINTS
    from autofinity.model.policy import RulePolicy

    files.save(RulePolicy(("x",), {}, (), HINTS[0]), tmp_path / "p.json")
    with pytest.raises(AutofinityError, match="--sample"):
        call("explain", tmp_path / "p.json", "--sample", sample)


@pytest.mark.parametrize(
    "name", ["counters", "bins", "table", "rules", "show", "explain", "export"]
)
def test_help_needs_nothing_heavy(name: str) -> None:
    code = (
        "import sys\nfrom autofinity.cli.main import cli\n"
        f"cli.main(['{name}', '--help'], standalone_mode=False)\n"
        "print([m for m in ('numpy', 'pyarrow', 'jpype', 'jinja2') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert out.stdout.splitlines()[-1] == "[]", out.stderr
    assert "Usage:" in out.stdout
