"""How policies are laid out as text: to be read, and the same document."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofinity.policy.json_layout import WIDTH, laid_out

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé\"", max_size=150),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text("ab"), inner),
)  # fmt: skip


@given(documents)
def test_the_text_is_the_document(document: object) -> None:
    assert json.loads(laid_out(document)) == document


@given(documents)
def test_what_is_wider_than_a_page_cannot_be_broken(document: object) -> None:
    for line in laid_out(document).split("\n"):
        assert len(line) <= WIDTH or ", " not in line


def test_what_fits_on_a_line_stands_on_one_and_numbers_fill_lines() -> None:
    text = laid_out({"rule": {"hint": "sLP", "when": [1, None]}, "cuts": [1.25] * 40})
    first, second, *numbers, _, _ = text.splitlines()[1:]
    assert (first, second) == (' "rule": {"hint": "sLP", "when": [1, null]},', ' "cuts": [')
    assert [line.count("1.25") for line in numbers] == [16, 16, 8]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_has_no_number_for_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        laid_out({"a": [number]})
