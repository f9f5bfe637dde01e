"""Options about learning, shared by `counters`, `bins`, `table`, `rules` and `train`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from autofinity.learning.settings import (
    BIN_NUMBERS,
    BIN_TYPES,
    CONDENSE,
    EDGES,
    ENGINES,
    FEATURES,
    LABELS,
    LEARNERS,
    MATCHING,
    METHODS,
    METRICS,
    PAPER,
    PROBES,
    SAMPLED_IN,
    SELECTIONS,
    WEIGHTINGS,
    LearningSettings,
)

type Command = Callable[..., None]

_DEFAULTS = LearningSettings()


def _setting(
    option: str,
    field: str,
    help_text: str,
    values: tuple[str, ...] | click.IntRange | click.FloatRange | type[int] | None = None,
) -> Callable[[Command], Command]:
    """The option of one learning setting, which has that setting's default. None: a switch."""
    names = (option,) if "/" in option else (option, field)
    kind = click.Choice(values) if isinstance(values, tuple) else values
    default = getattr(_DEFAULTS, field)
    return click.option(*names, type=kind, default=default, show_default=True, help=help_text)


_SELECTION = (
    click.option(
        "--paper",
        is_flag=True,
        help="Learn as Moore & Childers did: their choice for every option not given here.",
    ),
    _setting(
        "--labels",
        "labels",
        "What labels a behaviour: whole runs in each affinity, or matching sample periods.",
        LABELS,
    ),
    _setting(
        "--features",
        "features",
        "Rules look at rates of counters, at ratios, at ratios that every PMU counts, or at both.",
        FEATURES,
    ),
    _setting(
        "--selection",
        "selection",
        "Counters that correlate with the metric, or those that lose least on held-out programs.",
        SELECTIONS,
    ),
    _setting(
        "--edges",
        "edges",
        "Judge a feature by the worst of equally good edges, or by the one in the middle.",
        EDGES,
    ),
    _setting(
        "--warmup",
        "warmup",
        "Cold periods at the start of a run that are left out (--labels runs).",
        click.IntRange(min=0),
    ),
    _setting(
        "--window",
        "window",
        "Periods a behaviour is the mean of; 0: the whole run (--labels runs).",
        click.IntRange(min=0),
    ),
    _setting("--metric", "metric", "What to make as large as possible.", METRICS),
    _setting("--k", "k", "Counters to choose: what the PMU counts at once.", click.IntRange(min=1)),
    _setting(
        "--engine",
        "engine",
        "Who ranks the counters: WEKA, or the same formula in numpy.",
        ENGINES,
    ),
    _setting(
        "--standardise/--raw",
        "standardise",
        "Rank counters whatever their units, or weigh large numbers more (WEKA's default).",
    ),
    _setting(
        "--drop-repeats/--keep-repeats",
        "drop_repeats",
        "Choose only one of counters that are multiples of each other.",
    ),
    _setting(
        "--drop-insensitive/--keep-insensitive",
        "drop_insensitive",
        "Leave out programs whose time varies by less than 1 % across affinities.",
    ),
)
_BINS = (
    click.option(
        "--counters",
        metavar="NAME,…",
        default=None,
        help="These counters or ratios instead of chosen ones.",
    ),
    _setting("--discretisation", "discretisation", "How counters are cut into bins.", METHODS),
    _setting(
        "--bins",
        "bins",
        "Bins of a counter (at most, for equal width).",
        click.IntRange(min=1),
    ),
    _setting(
        "--bin-number",
        "bin_number",
        "Bins of equal width: by entropy, as WEKA -O does (with its fault), or always all.",
        BIN_NUMBERS,
    ),
)
_TABLE = (
    _setting("--condense", "condense", "One performance of many.", CONDENSE),
    _setting(
        "--leeway",
        "leeway",
        "Threads that may be moved for an affinity still to belong to a hint.",
        click.IntRange(min=0),
    ),
    _setting(
        "--normalise/--no-normalise",
        "normalise",
        "Performance relative to the smallest of the same program.",
    ),
    click.option(
        "--literal",
        is_flag=True,
        help="Figure 6 as printed: the last destination of a hint overwrites the others.",
    ),
    _setting(
        "--tie-within",
        "tie_within",
        "Hints this close to the best (a share) are as good; the first is the label.",
        click.FloatRange(0, 1, max_open=True),
    ),
    _setting(
        "--sampled-in",
        "sampled_in",
        "Behaviours seen in any affinity, or only where a run starts (distributed).",
        SAMPLED_IN,
    ),
    _setting(
        "--match",
        "matching",
        "Match sample periods by progress (simulator) or index (elapsed time).",
        MATCHING,
    ),
)
_RULES = (
    _setting(
        "--learner",
        "learner",
        "WEKA's JRip, our own RIPPER, or a tree that loses least (these two need no Java).",
        LEARNERS,
    ),
    _setting(
        "--probe",
        "probe",
        "Take a second sample in this hint's affinity before threads are moved, if that pays.",
        PROBES,
    ),
    _setting(
        "--edge-at-par/--edge-anywhere",
        "edge_at_par",
        "Let a second look tell slower from as fast, where what was seen leaves the edge open.",
    ),
    _setting(
        "--other-counts/--one-count",
        "other_counts",
        "Learn what answers mean with thread counts that nothing was profiled with, too.",
    ),
    _setting("--most-rules", "most_rules", "Rules of a regret-tree.", click.IntRange(min=1)),
    _setting(
        "--bin-type",
        "bin_type",
        "Bins enter the learner as ordered numbers or as names.",
        BIN_TYPES,
    ),
    _setting(
        "--weighting",
        "weighting",
        "A row weighs as often as it was observed, times what is at stake there, or 1.",
        WEIGHTINGS,
    ),
    _setting("--learn-seed", "seed", "Of the learner's draws.", int),
)
_UP_TO = {"counters": 1, "bins": 2, "table": 3, "rules": 4}


def learning_options(step: str) -> Callable[[Command], Command]:
    """All options up to a step (`counters`, `bins`, `table`, `rules`); the command gets `settings`.

    The command's function takes a keyword `settings: LearningSettings` in their place.
    """
    options = [
        option for group in (_SELECTION, _BINS, _TABLE, _RULES)[: _UP_TO[step]] for option in group
    ]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def collected(**given: Any) -> None:
            as_in_paper = given.pop("paper")
            source = click.get_current_context().get_parameter_source
            chosen = {
                field: getattr(PAPER, field)
                if as_in_paper and source(field) is ParameterSource.DEFAULT
                else given[field]
                for field in LearningSettings.__dataclass_fields__
                if field in given
            }
            for field in chosen:
                del given[field]
            if chosen.get("counters") is not None:
                chosen["counters"] = tuple(name.strip() for name in chosen["counters"].split(","))
            command(settings=replace(PAPER if as_in_paper else _DEFAULTS, **chosen), **given)

        wrapped: Command = collected
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorate


observations_argument = click.argument(
    "observations", metavar="OBS", type=click.Path(path_type=Path)
)
"""A folder of observations, or one Parquet file of it."""

machine_option = click.option(
    "--machine",
    "-m",
    default=None,
    help="Machine whose hints are meant.  [default: the one the observations are from]",
)
