"""Tables of one's own."""

from __future__ import annotations

import pytest
from measurement_files import OWN_CPUS, THREADS, measured

from autofinity.measured.counts import MeasuredError
from autofinity.measured.own_table import read_own_csv, read_own_json

KNOWN = ("instructions", "cycles", "llc_misses")


def test_rows_are_threads_where_they_say_so() -> None:
    found = measured("own.csv")
    assert (found.threads, found.cpus) == (THREADS, OWN_CPUS)
    assert found.counts["instructions"].value == 16e9
    assert found.counts["instructions"].seconds == 8.0
    assert found.failed == {"remarks": "left empty"}


def test_without_seconds_numbers_are_per_second_and_rows_are_averaged() -> None:
    found = read_own_csv("instructions;cycles\n1e9;2e9\n3e9;\n", KNOWN)
    assert found.counts["instructions"].value / found.counts["instructions"].seconds == 2e9
    assert found.counts["cycles"].value / found.counts["cycles"].seconds == 2e9
    assert found.threads == 0


def test_json_is_an_object_or_a_list_of_them_and_null_is_not_measured() -> None:
    one = read_own_json('{"instructions": 1e9, "cycles": null}', KNOWN)
    two = read_own_json('[{"instructions": 1e9, "thread": "a"}, {"instructions": 1e9}]', KNOWN)
    assert one.failed == {"cycles": "left empty"}
    assert two.counts["instructions"].value == 2e9
    assert two.threads == 2


def test_decimals_may_have_a_comma_where_cells_are_parted_otherwise() -> None:
    assert read_own_csv("instructions;cycles\n1,5;2\n", KNOWN).counts["instructions"].value == 1.5


@pytest.mark.parametrize("cell", ["1 000", "0x10", "inf", "1e999", "-0.5", "true", "1" * 50])
def test_what_is_no_finite_number_of_0_or_more_is_refused(cell: str) -> None:
    with pytest.raises(MeasuredError, match="expected a number of 0 or more"):
        read_own_csv(f"instructions,cycles\n1,{cell}\n", KNOWN)
