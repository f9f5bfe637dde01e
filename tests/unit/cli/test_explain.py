"""`explain` of given samples ends with one answer, or asks for one more sample."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli

SAMPLE = "instructions=1e9,llc_requests=5e7,cache_to_cache_transfers_other_llc=1e4"


def explained(*words: str) -> dict[str, Any]:
    """The JSON document."""
    done = CliRunner().invoke(cli, ["explain", "any-machine", "--sample", SAMPLE, "--json", *words])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize(
    ("words", "tries", "final"),
    [
        ((), None, None),
        (("--second", "instructions=0.5e9"), None, "SLP"),
        (("--second", "instructions=3e9"), None, "slp"),
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


def test_the_final_answer_is_the_last_line() -> None:
    words = ["--second", "instructions=1.1e9", "--trial", "instructions=1.2e9"]
    done = CliRunner().invoke(cli, ["explain", "any-machine", "--sample", SAMPLE, *words])
    assert done.stdout.splitlines()[-1] == "final answer: few-sockets-own-caches (sLP)"
