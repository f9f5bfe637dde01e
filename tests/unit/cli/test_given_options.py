"""Options without a meaning in the asked way of working are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.errors import UsageError

OF_RUNS = [
    *("--latencies assumed", "--page-size 4K", "--suite nosuch.toml", "--program cg"),
    *("--size tiny", "--affinities hints", "--period 1ms", "--jobs 1", "--on slurm"),
    *("--threads 8", "--train-threads 8"),
]


OF_PROFILES = [
    *("--latencies assumed", "--page-size 4K", "--size tiny", "--affinities hints"),
    *("--period 1ms", "--jobs 1", "--on slurm"),
]
OF_REPLAYS = ["--latencies assumed", "--page-size 4K", "--hint packed", "--with tlb", "--seed 1"]
MISFITS = [
    ("evaluate --policy any-machine --train-threads 8", "--train-threads: --policy is judged as"),
    ("evaluate --policy any-machine --metric ipc", "--metric: --policy is judged as it is"),
    ("simulate t --policy any-machine --start 0", "--start: --policy places one program"),
    ("simulate t --policy any-machine --after --restart", "--after, --restart: --policy places"),
    ("simulate t --policy any-machine --error 0.1", "--error: --policy places one program"),
    ("simulate t --policy any-machine --all", "--all: --policy places one program"),
    ("simulate t u --error 0.1", "--error: a replay with --placement os, or of several"),
    ("simulate t u --all", "--all: of several programs only some counters are shown"),
    ("advise t --suite s --size tiny --work w", "--suite, --size, --work: they are for --curve"),
    ("advise t --curve 2 --size tiny", "--size: they are for --curve with --program"),
    ("advise --latencies assumed -- true", "--latencies: a program that runs is on this machine"),
    ("detect --threads 2 -- true", "--threads: the program itself says how many"),
    ("export any-machine --format json --prefix p", "--prefix: json has no names"),
    ("machines --json --markdown", "--markdown: --json prints no table"),
    ("attach 1 --mechanism spcd --migrate-pages", "--migrate-pages needs a mechanism"),
    ("attach 1 --mechanism kmaf --migrate-pages --keep-pages", "--keep-pages and --migrate-pages"),
    ("attach 1 --mechanism kmaf --policy any-machine", "--policy and --every are for rules"),
    ("attach 1 --mechanism spcd --every 2", "--policy and --every are for rules"),
    ("profile -p cg --certify lu,cg", "--certify lu: expected programs that --program names"),
    ("profile -t 4,8 --thin 8,16 -o o", "--thin 8,16: expected thread counts of --threads, 4,8"),
    ("figure 2a --folds 3", "--folds: figure 2a has no folds"),
    ("figure 11 --size tiny --jobs 2 --work w", "--size, --jobs, --work: figure 11 is drawn from"),
    ("figure tlb-3 --observations o", "--observations: figure tlb-3 is drawn from runs of mech"),
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


@pytest.mark.parametrize("words", OF_PROFILES)
def test_named_observations_are_judged_without_options_of_profiling(words: str) -> None:
    said = refusal("evaluate", "--observations", "o.parquet", *words.split())
    assert said.startswith(f"{words.partition(' ')[0]}: --observations says what to judge by")


@pytest.mark.parametrize("words", OF_REPLAYS)
def test_a_program_that_runs_here_takes_no_option_of_replays(words: str) -> None:
    said = refusal("detect", *words.split(), "--", "true")
    assert said.startswith(f"{words.partition(' ')[0]}: a program that runs is on this machine")


@pytest.mark.parametrize(("words", "said"), MISFITS)
def test_an_option_that_would_have_no_effect_is_refused(
    words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("autofinity.sim.replay_cost.replay_cost", lambda trace: None)
    assert refusal(*words.split()).startswith(said)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("profile --thin many -o o.parquet", "--thin"),
        ("evaluate --train-threads many", "--train-threads"),
        ("evaluate --threads many", "--threads"),
    ],
)
def test_a_wrong_thread_count_is_refused_with_its_option(words: str, option: str) -> None:
    assert refusal(*words.split()).startswith(f"{option} 'many': expected thread counts")
