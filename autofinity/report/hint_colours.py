"""A colour of each hint, the same on all pages: blue where sockets are spread, warm where not."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.affinity import HINTS, Hint

HINT_COLOURS: Mapping[Hint, str] = dict(
    zip(
        HINTS,
        (
            *("#2f6fb3", "#6aa5d8", "#3f9d96", "#8cc7bd"),
            *("#d9b13b", "#b8923a", "#e08a4e", "#c8553d"),
        ),
        strict=True,
    )
)
"""In the documented order of hints."""
