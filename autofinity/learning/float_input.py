"""Whole numbers beyond float64 in what estimators are given: refused as other odd input is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within_float64(what: str) -> Iterator[None]:
    """Raise `ValueError`, as scikit-learn does for odd input, where numpy overflows. `what` is the
    plural name of the argument that is converted.
    """
    try:
        yield
    except OverflowError as error:
        raise ValueError(
            f"the {what} have a whole number beyond float64, expected numbers up to 1.8e308"
        ) from error
