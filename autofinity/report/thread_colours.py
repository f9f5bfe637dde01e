"""Colours of threads in drawings: neighbours in number differ, and text on them is readable."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

_FEW = (
    *("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#b07aa1"),
    *("#edc948", "#9c755f", "#d37295", "#499894", "#8cd17d", "#6b6ecf"),
)
_HUE_STEP = 0.381966
"""Share of a turn: the golden angle, which never comes back close to an earlier hue."""
_LIGHTNESS = (0.42, 0.60, 0.50)
_DARK_TEXT_ABOVE = 0.53


def colours(count: int) -> Sequence[str]:
    """As many colours, `#rrggbb` each."""
    if count <= len(_FEW):
        return _FEW[:count]
    return [_hue(number) for number in range(count)]


def text_on(colour: str) -> str:
    """Colour of a text on `colour`: nearly black or white."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    light = 0.299 * red + 0.587 * green + 0.114 * blue
    return "#1b1f24" if light > _DARK_TEXT_ABOVE else "#ffffff"


def _hue(number: int) -> str:
    lightness = _LIGHTNESS[number % len(_LIGHTNESS)]
    parts = colorsys.hls_to_rgb((0.58 + number * _HUE_STEP) % 1.0, lightness, 0.48)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
