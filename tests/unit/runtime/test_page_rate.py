"""The rate at which pages are assumed to move, by the release of the kernel."""

from __future__ import annotations

import pytest

from autofinity.model.memory import MOVED_BYTES_PER_S, ONE_BY_ONE_BYTES_PER_S
from autofinity.runtime.page_rate import PageRate


@pytest.mark.parametrize(
    ("release", "bytes_per_s"),
    [
        ("4.18.0-553.el8_10.x86_64", ONE_BY_ONE_BYTES_PER_S),
        ("5.14.0-427.el9.x86_64", ONE_BY_ONE_BYTES_PER_S),
        ("6.2.16", ONE_BY_ONE_BYTES_PER_S),
        ("6.3.0-rc1", MOVED_BYTES_PER_S),
        ("6.18.44-virt", MOVED_BYTES_PER_S),
        ("10.0", MOVED_BYTES_PER_S),
        ("", MOVED_BYTES_PER_S),
        ("unknown", MOVED_BYTES_PER_S),
    ],
)
def test_pages_move_one_by_one_before_linux_6_3(release: str, bytes_per_s: int) -> None:
    assert PageRate.of_kernel(release).bytes_per_s == bytes_per_s


def test_few_bytes_move_in_the_time_that_looks_may_cost() -> None:
    assert PageRate(MOVED_BYTES_PER_S).few_bytes == pytest.approx(184e6, rel=0.01)
    assert PageRate(ONE_BY_ONE_BYTES_PER_S).few_bytes == pytest.approx(74e6, rel=0.01)
