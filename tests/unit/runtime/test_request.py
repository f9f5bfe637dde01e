"""A monitor's request, as the launcher writes it."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.topology import OsIndex
from autofinity.runtime.request import Request

NEEDED = ("--pid", "7", "--program", "/bin/app", "--key", "k", "--allowed", "0-3")
LEAST = Request(7, "/bin/app", "k", "0-3")


@pytest.fixture(autouse=True)
def _no_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOFINITY_SITE_DB", raising=False)


def test_options_that_are_not_given_have_the_defaults_of_the_fields() -> None:
    assert Request.parse(NEEDED) == LEAST


@pytest.mark.parametrize("at", [0, 2, 4, 6])
def test_a_request_without_its_program_is_refused(at: int) -> None:
    with pytest.raises(KeyError):
        Request.parse([*NEEDED[:at], *NEEDED[at + 2 :]])


def test_every_option_sets_its_field() -> None:
    given = (
        *("--pidfd", "5", "--started", "1.5", "--threads", "4", "--bind", "core"),
        *("--tier", "hardware counters", "--ladder", "a ladder", "--policy", "/p", "--db", "/d"),
        *("--bound", "0-1;2", "--seats", "4*0-3", "--seated", "6", "--sample-s", "2"),
        *("--every-s", "3", "--mechanism", "kmaf", "--hint", "slp", "--fallback", "SLP"),
        *("--near", "eth0", "--near-node", "1", "--policy-origin", "the user's own"),
        *("--migrate-pages", "", "--keep-pages", "", "--arm", ""),
        *("--auto-rebuild", "", "--json", ""),
        *("--launcher", "Open MPI", "--ranks", "4", "--rank", "2"),
        *("--counters", "cycles=8,instructions=9", "--of-a-later-launcher", "1"),
    )
    request = Request.parse([*NEEDED, *given])
    same = {
        each.name
        for each in fields(Request)
        if getattr(request, each.name) == getattr(LEAST, each.name)
    }
    assert same == {"pid", "program", "key", "allowed", "earlier_run", "site"}
    assert (request.bind, request.policy, request.db) == ("core", Path("/p"), Path("/d"))
    assert (request.hint, request.fallback) == (PACKED, SPREAD)
    assert (request.near_node, request.seated, request.pidfd) == (OsIndex(1), 6, 5)
    assert request.totals == (("cycles", 8), ("instructions", 9))


@pytest.mark.parametrize("option", ["--policy", "--db", "--hint", "--fallback", "--counters"])
def test_an_empty_value_means_none(option: str) -> None:
    assert Request.parse([*NEEDED, option, ""]) == LEAST


@pytest.mark.parametrize(
    "given", [("--bind", "all"), ("--threads", "x"), ("--seated", ""), ("--arm",)]
)
def test_a_value_that_cannot_be_read_is_refused(given: tuple[str, ...]) -> None:
    with pytest.raises(ValueError):
        Request.parse([*NEEDED, *given])


def test_the_site_comes_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments can be read by every user."""
    monkeypatch.setenv("AUTOFINITY_SITE_DB", "postgresql://site/runs")
    wanted = replace(LEAST, site="postgresql://site/runs")
    assert Request.parse([*NEEDED, "--site", "postgresql://other"]) == wanted
