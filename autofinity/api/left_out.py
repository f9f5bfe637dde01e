"""Counters that samples leave out: refused where the answer depends on them."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.api.samples import OF_OBSERVATIONS, Sample, refuse_left_out
from autofinity.model.ratios import START
from autofinity.policy.answers import Steps
from autofinity.policy.possible import open_step

_ARGUMENTS = {"first look": "first", "second look": "second", "trial": "trial"}
"""Argument of `Policy.decide`, by the name of its step."""


def refuse_open(found: Steps, samples: Mapping[str, Sample | None]) -> None:
    """Raise `SampleError` where the answer depends on counters that a sample leaves out. `samples`
    are by argument.
    """
    unsure = open_step(found)
    if unsure is None:
        return
    own = _ARGUMENTS[unsure.step.name]
    lacking: dict[str, list[str]] = {}
    for counter in unsure.possible.lacking:
        name = "first" if counter.startswith(START) else own
        lacking.setdefault(name, []).append(counter.removeprefix(START))
    for name, counters in lacking.items():
        sample = samples[name]
        named = set() if sample is None else set(sample.keys())
        left_out = [one for one in counters if not {one, OF_OBSERVATIONS + one} & named]
        refuse_left_out(name, named, left_out)
