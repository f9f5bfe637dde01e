"""Options about learning: each step has its own and those of the steps before it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from autofinity.cli.options.hint import LettersOf
from autofinity.learning.settings import (
    BIN_NUMBERS,
    CONDENSE,
    FEATURES,
    LABELS,
    LEARNERS,
    METHODS,
    METRICS,
    MOST_BINS,
    PAPER,
    PROBES,
    SELECTIONS,
    LearningSettings,
)
from autofinity.model.affinity import Hint

type Command = Callable[..., None]
type Values = tuple[str, ...] | click.IntRange | LettersOf | type[int] | None

_DEFAULTS = LearningSettings()
_AT_LEAST_0, _AT_LEAST_1 = click.IntRange(min=0), click.IntRange(min=1)

_SETTINGS: Mapping[str, tuple[str, Values, str]] = {
    "labels": (
        "--labels",
        LABELS,
        "Label a behaviour by whole runs in each affinity, or by matching sample periods.",
    ),
    "features": (
        "--features",
        FEATURES,
        "Features of rules. portable: ratios that every PMU counts; both: rates and all ratios.",
    ),
    "selection": (
        "--selection",
        SELECTIONS,
        "Choose counters by correlation with the metric, the paper's four where the PMU has them, "
        "or by the least loss on held-out programs.",
    ),
    "metric": ("--metric", METRICS, "Metric to maximise."),
    "k": ("--k", _AT_LEAST_1, "Number of counters to choose; at most what the PMU counts at once."),
    "discretisation": ("--discretisation", METHODS, "Method of cutting counters into bins."),
    "bins": (
        "--bins",
        _AT_LEAST_1,
        f"Number of bins of a counter: a maximum for equal width; up to {MOST_BINS}.",
    ),
    "bin_number": (
        "--bin-number",
        BIN_NUMBERS,
        "Choice of the number of equal-width bins. automatic: by entropy; weka-corrected: as "
        "WEKA's Discretize -O; weka: with its fault, too; fixed: always --bins.",
    ),
    "condense": (
        "--condense",
        CONDENSE,
        "Statistic that makes one performance of those of several runs.",
    ),
    "leeway": (
        "--leeway",
        _AT_LEAST_0,
        "Threads that may sit elsewhere in an affinity that still belongs to a hint.",
    ),
    "learner": (
        "--learner",
        LEARNERS,
        "Learner of rules: WEKA's JRip (needs Java), our own RIPPER, or a tree of least loss.",
    ),
    "probe": (
        "--probe",
        LettersOf(PROBES),
        "Take a second sample in this hint's affinity before moving threads, if that pays.",
    ),
    "other_counts": (
        "--other-counts/--one-count",
        None,
        "Learn, too, which hint an answer stands for with thread counts that were not profiled.",
    ),
    "most_rules": ("--most-rules", _AT_LEAST_1, "Maximum number of rules of a regret-tree."),
    "seed": ("--seed", int, "Random seed of the learner."),
}
"""Field of the settings → option, its values (None: a switch), and what it says."""

_COUNTERS = ("labels", "features", "selection", "metric", "k")
_BINS = (*_COUNTERS, "counters", "discretisation", "bins", "bin_number")
_TABLE = (*_BINS, "condense", "leeway")
_OF_COMMAND = {
    "counters": _COUNTERS,
    "bins": _BINS,
    "table": _TABLE,
    "rules": (*_TABLE, *(field for field in _SETTINGS if field not in _TABLE)),
    "coverage": ("features", "selection", "counters", "bins", "bin_number"),
    "train": ("metric", "features", "learner", "k"),
    "evaluate": ("metric",),
}

_LEARN = ("rules", "train", "evaluate")
"""Commands that learn rules; the others stop before."""

_PAPER = click.option(
    "--paper",
    is_flag=True,
    help="Use the settings of Moore & Childers for all options that are not given.",
)
_NAMED = click.option(
    "--counters",
    metavar="NAME,…",
    default=None,
    help="Use these counters or ratios instead of chosen ones.",
)


def _option(field: str) -> Callable[[Command], Command]:
    """The option of one learning setting, which has that setting's default."""
    if field == "counters":
        return _NAMED
    option, values, help_text = _SETTINGS[field]
    default = getattr(_DEFAULTS, field)
    if values is None:
        return click.option(
            option, field, is_flag=True, default=default, show_default="/" in option, help=help_text
        )
    if isinstance(values, LettersOf):
        shown = Hint.from_letters(default).shown
        said = f"{help_text}  [default: {shown}]"
        return click.option(
            option, field, type=values, metavar="HINT|none", default=default, help=said
        )
    kind = click.Choice(values) if isinstance(values, tuple) else values
    return click.option(
        option, field, type=kind, default=default, show_default=True, help=help_text
    )


def learning_options(command: str) -> Callable[[Command], Command]:
    """The options of a command; `settings` of it are those, with the defaults of all others.

    The command's function takes a keyword `settings: LearningSettings` in their place.
    """
    fields = _OF_COMMAND[command]

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def collected(**given: Any) -> None:
            as_in_paper = given.pop("paper")
            source = click.get_current_context().get_parameter_source
            chosen = {field: given.pop(field) for field in fields}
            if as_in_paper:
                chosen = {
                    field: value
                    for field, value in chosen.items()
                    if source(field) is not ParameterSource.DEFAULT
                }
            if chosen.get("counters") is not None:
                chosen["counters"] = tuple(name.strip() for name in chosen["counters"].split(","))
            settings = replace(PAPER if as_in_paper else _DEFAULTS, **chosen)
            if command in _LEARN and settings.learner == "jrip":
                from autofinity.learning import weka

                weka.require_installed()  # it is an extra: say so before minutes of profiling
            function(settings=settings, **given)

        wrapped: Command = collected
        for field in reversed(fields):
            wrapped = _option(field)(wrapped)
        return _PAPER(wrapped)

    return decorate


observations_argument = click.argument(
    "observations", metavar="OBS", type=click.Path(path_type=Path)
)
"""A folder of observations, or one Parquet file of it."""

machine_option = click.option(
    "--machine",
    "-m",
    default=None,
    help="Machine of the hints.  [default: the machine of the observations]",
)
