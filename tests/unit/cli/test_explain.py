"""`explain` of given samples ends with one answer, or asks for one more sample."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.affinity import Hint
from autofinity.model.errors import UsageError
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.files import save

SAMPLE = "instructions=1e9,llc_requests=5e7,cache_to_cache_transfers_other_llc=1e4"


OPTERON = "opteron-6164he"


def explained(*words: str) -> dict[str, Any]:
    """The JSON document."""
    return explained_of(SAMPLE, "any-machine", *words)


def explained_of(sample: str, policy: str = "any-machine", *words: str) -> dict[str, Any]:
    """The JSON document of a sample."""
    done = CliRunner().invoke(cli, ["explain", policy, "--sample", sample, "--json", *words])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize(
    ("words", "tries", "final"),
    [
        ((), None, None),
        (("--second", "instructions=0.5e9"), "sLP", None),
        (("--second", "instructions=3e9"), "sLP", None),
        (("--second", "instructions=3e9", "--trial", "instructions=3.2e9"), "sLP", "sLP"),
        (("--second", "instructions=1.1e9"), "sLP", None),
        (("--second", "instructions=1.1e9", "--trial", "instructions=1.2e9"), "sLP", "sLP"),
        (("--second", "instructions=1.1e9", "--trial", "instructions=1.1e9"), "sLP", "slp"),
        (("--second", "instructions=0.92e9", "--trial", "instructions=1.05e9"), "sLP", "sLP"),
        (("--second", "instructions=0.92e9", "--trial", "instructions=1e9"), "sLP", "SLP"),
    ],
)
def test_the_final_answer_is_named_once_all_samples_are_there(
    words: tuple[str, ...], tries: str | None, final: str | None
) -> None:
    document = explained(*words)
    assert (document["tries"], document["final"]) == (tries, final)


@pytest.mark.parametrize("option", ["--sample", "--second", "--trial"])
def test_a_count_below_0_is_refused_by_name(option: str) -> None:
    words = ["explain", "any-machine", "--sample", SAMPLE][: 2 if option == "--sample" else 4]
    with pytest.raises(UsageError, match=f"{option} has -5 for instructions"):
        CliRunner().invoke(cli, [*words, option, "instructions=-5"], catch_exceptions=False)


@pytest.mark.parametrize("option", ["--sample", "--second", "--trial"])
@pytest.mark.parametrize("count", ["1e999", "inf", "-inf"])
def test_an_infinite_count_is_refused_by_name(option: str, count: str) -> None:
    words = ["explain", "any-machine", "--sample", SAMPLE][: 2 if option == "--sample" else 4]
    with pytest.raises(UsageError, match=f"{option} has -?inf for instructions; expected a finite"):
        CliRunner().invoke(cli, [*words, option, f"instructions={count}"], catch_exceptions=False)


@pytest.mark.parametrize(
    "words",
    [
        ("--second", "llc_requests=1e7"),
        ("--second", "llc_requests=1e7,instructions=nan"),
        ("--second", "instructions=1.1e9", "--trial", "llc_requests=1e7"),
    ],
)
def test_an_answer_without_a_speed_is_not_final_and_names_the_missing_counter(
    words: tuple[str, ...],
) -> None:
    assert explained(*words)["final"] is None
    done = CliRunner().invoke(cli, ["explain", "any-machine", "--sample", SAMPLE, *words])
    said = " ".join(done.stdout.split())
    assert said.startswith("not final: speeds cannot be compared, for instructions of a sample is ")
    assert "final answer" not in said


def test_an_answer_that_is_not_final_says_so_first() -> None:
    done = CliRunner().invoke(cli, ["explain", "any-machine", "--sample", SAMPLE])
    first = "not final yet: the policy asks for a sample in few-sockets-shared-caches (slP)"
    assert done.stdout.splitlines()[0] == first


def test_the_final_answer_is_the_first_line() -> None:
    words = ["--second", "instructions=1.1e9", "--trial", "instructions=1.2e9"]
    done = CliRunner().invoke(cli, ["explain", "any-machine", "--sample", SAMPLE, *words])
    assert done.stdout.splitlines()[0] == "final answer: few-sockets-own-caches (sLP)"


@pytest.mark.parametrize("option", ["--sample", "--second", "--trial"])
def test_a_sample_with_none_of_the_policys_counters_is_refused(option: str) -> None:
    words = ["explain", "any-machine", "--sample", SAMPLE][: 2 if option == "--sample" else 4]
    with pytest.raises(UsageError, match=f"{option} has none of the counters"):
        CliRunner().invoke(cli, [*words, option, "dram_reads_local=3"], catch_exceptions=False)


def test_a_trial_whose_speed_is_not_known_says_so() -> None:
    words = ["--second", "instructions=3e9", "--trial", "instructions=nan"]
    done = CliRunner().invoke(cli, ["explain", "any-machine", "--sample", SAMPLE, *words])
    assert "a speed is not known; threads return" in done.stdout


SECOND, TRIAL = ("--second", "instructions=1.1e9"), ("--trial", "instructions=1.2e9")


def text(*words: str) -> list[str]:
    done = CliRunner().invoke(cli, ["explain", "any-machine", "--sample", SAMPLE, *words])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_each_of_several_looks_has_a_heading() -> None:
    headings = [line for line in text(*SECOND, *TRIAL) if not line.startswith(" ")]
    assert headings == [
        "final answer: few-sockets-own-caches (sLP)",
        "first look, in spread (SLP):",
        "after any hint, sample again in few-sockets-shared-caches (slP):",
        "trial of few-sockets-own-caches (sLP):",
    ]


def test_a_change_that_leads_to_the_runner_up_is_said_once() -> None:
    (change,) = [line for line in text(*SECOND) if "speed_gain <=" in line]
    assert "one value alone would change the hint: speed_gain <= 0.9901" in change
    assert [line.strip() for line in text(*SECOND) if "runner-up" in line][1] == (
        "runner-up: spread (SLP), 9.99 % away"
    )


LEGEND = "N % away: the value would have to change by N % of the measured value"


def test_distances_in_percent_have_one_legend_where_they_are_first() -> None:
    lines = text(*SECOND)
    assert lines.count(f"  {LEGEND}") == 1
    first = next(n for n, line in enumerate(lines) if "% away" in line)
    headings = [n for n, line in enumerate(lines) if not line.startswith(" ") and n > first]
    assert first < lines.index(f"  {LEGEND}") < headings[0]


def test_a_value_of_zero_is_a_distance_away_and_no_percentage(tmp_path: Path) -> None:
    rule = Rule((Condition("page_faults", 3.5, math.inf),), Hint.parse("slp"))
    policy = RulePolicy(("page_faults",), {"page_faults": (3.5,)}, (rule,), Hint.parse("SLP"))
    save(policy, tmp_path / "p.json")
    words = ["explain", str(tmp_path / "p.json"), "--sample"]
    none = CliRunner().invoke(cli, [*words, "page_faults=0"]).stdout
    assert "page_faults > 3.5 (measured 0, 3.5 away)" in none
    assert "runner-up: packed (slp), 3.5 away" in none
    assert LEGEND not in none
    some = CliRunner().invoke(cli, [*words, "page_faults=2"]).stdout
    assert "page_faults > 3.5 (measured 2, 75 % away)" in some
    assert some.splitlines()[-1] == LEGEND


def test_only_counters_that_a_look_uses_are_missing_from_it() -> None:
    few = ["explain", "any-machine", "--sample", "instructions=1e9", *SECOND]
    said = CliRunner().invoke(cli, few).stdout
    assert said.count("cannot decide: ") == 1
    assert "no value alone" not in said.partition("after any hint")[0], "a missing value may"
    lacking = "the sample lacks cache_to_cache_transfers_other_llc, llc_requests, which"
    assert f"  cannot decide: {lacking} the rules ask for" in said
    nothing = CliRunner().invoke(cli, ["explain", "any-machine", "-s", SAMPLE[17:], *SECOND]).stdout
    assert "cannot decide: the sample lacks start.instructions" in nothing
    assert nothing.startswith("not final: speeds cannot be compared, for instructions of a sample")


def test_an_answer_that_a_missing_counter_decides_is_no_answer() -> None:
    few = explained_of("instructions=1e9,llc_requests=1e7")
    assert few["hint"] is None and few["final"] is None and not few["decided"]
    assert few["may_be"] == ["SLP", "slp"]
    assert few["depends_on"] == ["cache_to_cache_transfers_other_llc"]
    said = CliRunner().invoke(cli, ["explain", "any-machine", "-s", "instructions=1e9"]).stdout
    assert "give cache_to_cache_transfers_other_llc, llc_requests with --sample" in said


def test_a_missing_counter_that_changes_nothing_leaves_the_answer() -> None:
    words = ["explain", OPTERON, "--sample", "instructions=1e9,llc_requests=2e8"]
    said = CliRunner().invoke(cli, words).stdout
    assert "  not measured: llc_misses; the hint does not depend on that" in said
    one = explained_of("instructions=1e9,llc_requests=2e8", OPTERON)
    assert one["hint"] == "slp" and one["decided"] and one["missing"] == ["llc_misses"]


def test_json_has_the_speed_of_a_trial() -> None:
    assert explained(*SECOND)["trial"] is None
    trial = explained(*SECOND, *TRIAL)["trial"]
    assert trial.pop("speed_gain") == pytest.approx(1.2 / 1.1)
    assert trial == {"hint": "sLP", "faster": 1.01, "stays": True}


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_sample_that_is_not_used_is_named_on_stderr(form: tuple[str, ...]) -> None:
    words = ["explain", "any-machine", "--sample", SAMPLE, "--trial", "instructions=1e9", *form]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0
    assert done.stderr == "--trial is ignored without --second\n"


@pytest.mark.parametrize("option", ["--second", "--trial"])
def test_a_run_takes_no_samples_by_hand(option: str) -> None:
    words = ["explain", "last", option, "instructions=3"]
    with pytest.raises(UsageError, match="a run has its own samples"):
        CliRunner().invoke(cli, words, catch_exceptions=False)
