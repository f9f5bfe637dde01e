"""Rules from 100,000 rows: our own RIPPER, CPU seconds of one core."""

from __future__ import annotations

from time import process_time

import numpy as np
from parts import Part, Settings

from autofinity.learning.value_rules import first_to_fire, learn_rules

ROWS, FEATURES, CLASSES = 100_000, 4, 8
NOISE = 0.1


def run(settings: Settings) -> Part:
    """The quickest of a few rounds; the labels of each table are one of ten random concepts.

    Nominal bins make most rules. Continuous values are separated by boxes, or by eight slanted
    borders, which rules can only approach by stairs (the hardest case known; --quick leaves it
    out).
    """
    draw = np.random.default_rng(1)
    bins = draw.integers(0, 8, (ROWS, FEATURES)).astype(float)
    numbers = draw.normal(size=(ROWS, FEATURES))
    slopes = draw.normal(size=(FEATURES, CLASSES))
    boxes = (numbers[:, 0] > 0) * 4 + (numbers[:, 1] > 0.5) * 2 + (numbers[:, 2] > -0.3)
    tables = {
        "ripper_nominal_s": (bins, True, _of_bins(bins)),
        "ripper_ordered_s": (bins, False, _of_bins(bins)),
        "ripper_continuous_s": (numbers, False, boxes),
    }
    if not settings.quick:
        tables["ripper_slanted_s"] = (numbers, False, (numbers @ slopes).argmax(axis=1))
    values: dict[str, float | None] = {}
    lines = []
    for key, (table, nominal, clean) in tables.items():
        noise = draw.random(ROWS) < NOISE
        labels = np.where(noise, draw.integers(0, CLASSES, ROWS), clean)
        seconds = []
        for _ in range(1 if key == "ripper_slanted_s" else 3):
            begin = process_time()
            rules = learn_rules(table, [nominal] * FEATURES, labels, np.ones(ROWS), CLASSES)
            seconds.append(process_time() - begin)
        said = np.array([rule.label for rule in rules])[first_to_fire(rules, table)]
        values[key] = min(seconds)
        lines.append(
            f"{key:22}{min(seconds):8.2f} s {len(rules):5} rules, right for "
            f"{(said == clean).mean():.1%} of the rows before noise"
        )
    return Part(values, lines)


def _of_bins(bins: np.ndarray) -> np.ndarray:
    """A concept of eight classes over bins 0 to 7."""
    high = bins[:, 0] * 3 // 8 * 2 + (bins[:, 1] > 4) + (bins[:, 2] >= 7) * (bins[:, 3] < 4) * 2
    labels: np.ndarray = (high % CLASSES).astype(int)
    return labels
