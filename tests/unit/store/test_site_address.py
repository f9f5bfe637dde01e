"""A URL is shown without its password, however it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.store.site_address import is_other_url, is_site, site_name, site_of


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


def test_files_and_urls_are_told_apart() -> None:
    assert is_site("postgresql://db/runs") and is_site("postgres://")
    assert not is_site("postgresql.db") and not is_site("./postgresql://x")
    for other in ("POSTGRESQL://me:secret@db/runs", "mysql://db", "postgres:/db", "Postgresql:db"):
        assert is_other_url(other) and not is_site(other)
    for other in ("postgresql://db/runs", "postgresql.db", "./postgresql://x", "a/b://c", "://"):
        assert not is_other_url(other) or other == "://"
    assert site_of({"AUTOFINITY_SITE_DB": "/a/file"}) == ""
    assert site_of({"AUTOFINITY_SITE_DB": "postgresql://db/runs"}) == "postgresql://db/runs"
