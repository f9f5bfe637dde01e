"""Options without a meaning in the asked way of working are refused by name."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.errors import UsageError

OF_RUNS = [
    *("--latencies assumed", "--page-size 4K", "--suite nosuch.toml", "--program cg"),
    *("--size tiny", "--affinities hints", "--period 1ms", "--jobs 1", "--on slurm"),
    *("--threads 8", "--train-threads 8"),
]


def refusal(*words: str) -> str:
    with pytest.raises(UsageError) as error:
        CliRunner().invoke(cli, words, catch_exceptions=False)
    return str(error.value)


@pytest.mark.parametrize("words", OF_RUNS)
def test_a_policy_for_any_machine_is_judged_without_options_of_runs(words: str) -> None:
    option = words.partition(" ")[0]
    assert refusal("evaluate", "-m", "any", *words.split()).startswith(f"{option}: --machine any")


def test_all_of_them_are_named_at_once() -> None:
    said = refusal("evaluate", "-m", "any", "-t", "8", "-p", "cg", "--size", "tiny")
    assert said.startswith("--program, --size, --threads: ")


def test_a_given_policy_needs_no_work_folder_there() -> None:
    said = refusal("evaluate", "-m", "any", "--policy", "any-machine", "--work", "w")
    assert said.startswith("--work: ")


def test_it_needs_observations_and_says_so_before_any_work() -> None:
    said = refusal("evaluate", "-m", "any", "--observations", "none")
    assert "got --observations none, expected a folder" in said
