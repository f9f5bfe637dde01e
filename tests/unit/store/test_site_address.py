"""A URL is shown without its password, however it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.store.site_address import site_name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://db/runs", "postgresql://db/runs"),
        ("postgresql://me@db:5433/runs", "postgresql://me@db:5433/runs"),
        ("postgres://me:secret@db/runs", "postgres://me@db/runs"),
        (
            "postgresql://me:sec:ret@db/runs?sslmode=require",
            "postgresql://me@db/runs?sslmode=require",
        ),
        ("postgresql:///runs?host=/run/pg&password=secret", "postgresql:///runs?host=/run/pg"),
        ("postgresql:///runs?passwor%64=secret", "postgresql:///runs"),
        ("postgresql://me:sec@ret@db/runs", "postgresql://me@db/runs"),
        ("postgresql://me:sec/ret@db/runs", "postgresql://me@db/runs"),
        ("postgresql://me:sec?ret@db/runs", "postgresql://me"),
        ("postgresql://me:secret", "postgresql://me"),
        ("postgresql://me:secret/runs", "postgresql://me/runs"),
        ("postgresql://[::1]:5433/runs", "postgresql://[::1]:5433/runs"),
        ("/home/me/behaviour.db", ""),
    ],
)
def test_names_of_sites(url: str, name: str) -> None:
    assert site_name(url) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(lambda t: f"<{t}>"))
def test_no_password_is_in_a_name(password: str) -> None:
    assert password not in site_name(f"postgresql://me:{password}@db/runs")
