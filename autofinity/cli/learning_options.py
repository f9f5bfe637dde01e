"""Options about learning, shared by `counters`, `bins`, `table`, `rules` and `train`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autofinity.learning.settings import (
    BIN_NUMBERS,
    BIN_TYPES,
    CONDENSE,
    ENGINES,
    LEARNERS,
    MATCHING,
    METHODS,
    METRICS,
    SAMPLED_IN,
    WEIGHTINGS,
    LearningSettings,
)

if TYPE_CHECKING:
    from autofinity.learning.action_table import HintsOf
    from autofinity.store.observation_table import ObservationTable

type Command = Callable[..., None]

_DEFAULTS = LearningSettings()

_SELECTION = (
    click.option(
        "--metric",
        type=click.Choice(METRICS),
        default=_DEFAULTS.metric,
        show_default=True,
        help="What to make as large as possible.",
    ),
    click.option(
        "--k",
        type=click.IntRange(min=1),
        default=_DEFAULTS.k,
        show_default=True,
        help="Counters to choose: what the PMU counts at once.",
    ),
    click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default=_DEFAULTS.engine,
        show_default=True,
        help="Who ranks the counters: WEKA, or the same formula in numpy.",
    ),
    click.option(
        "--standardise/--raw",
        default=_DEFAULTS.standardise,
        show_default=True,
        help="Rank counters whatever their units, or weigh large numbers more (WEKA's default).",
    ),
    click.option(
        "--drop-repeats/--keep-repeats",
        default=_DEFAULTS.drop_repeats,
        show_default=True,
        help="Choose only one of counters that are multiples of each other.",
    ),
    click.option(
        "--drop-insensitive/--keep-insensitive",
        default=_DEFAULTS.drop_insensitive,
        show_default=True,
        help="Leave out programs whose time varies by less than 1 % across affinities.",
    ),
)
_BINS = (
    click.option(
        "--counters",
        metavar="NAME,…",
        default=None,
        help="These counters instead of chosen ones.",
    ),
    click.option(
        "--discretisation",
        type=click.Choice(METHODS),
        default=_DEFAULTS.discretisation,
        show_default=True,
        help="How counters are cut into bins.",
    ),
    click.option(
        "--bins",
        type=click.IntRange(min=1),
        default=_DEFAULTS.bins,
        show_default=True,
        help="Bins of a counter (at most, for equal width).",
    ),
    click.option(
        "--bin-number",
        type=click.Choice(BIN_NUMBERS),
        default=_DEFAULTS.bin_number,
        show_default=True,
        help="Bins of equal width: by entropy, as WEKA -O does (with its fault), or always all.",
    ),
)
_TABLE = (
    click.option(
        "--condense",
        type=click.Choice(CONDENSE),
        default=_DEFAULTS.condense,
        show_default=True,
        help="One performance of many.",
    ),
    click.option(
        "--leeway",
        type=click.IntRange(min=0),
        default=_DEFAULTS.leeway,
        show_default=True,
        help="Threads that may be moved for an affinity still to belong to a hint.",
    ),
    click.option(
        "--normalise/--no-normalise",
        default=_DEFAULTS.normalise,
        show_default=True,
        help="Performance relative to the smallest of the same program.",
    ),
    click.option(
        "--literal",
        is_flag=True,
        help="Figure 6 as printed: the last destination of a hint overwrites the others.",
    ),
    click.option(
        "--tie-within",
        type=click.FloatRange(0, 1, max_open=True),
        default=_DEFAULTS.tie_within,
        show_default=True,
        help="Hints this close to the best (a share) are as good; the first is the label.",
    ),
    click.option(
        "--sampled-in",
        type=click.Choice(SAMPLED_IN),
        default=_DEFAULTS.sampled_in,
        show_default=True,
        help="Behaviours seen in any affinity, or only where a run starts (distributed).",
    ),
    click.option(
        "--match",
        "matching",
        type=click.Choice(MATCHING),
        default=_DEFAULTS.matching,
        show_default=True,
        help="Match sample periods by progress (simulator) or index (elapsed time).",
    ),
)
_RULES = (
    click.option(
        "--learner",
        type=click.Choice(LEARNERS),
        default=_DEFAULTS.learner,
        show_default=True,
        help="WEKA's JRip, or our own RIPPER, which needs no Java.",
    ),
    click.option(
        "--bin-type",
        type=click.Choice(BIN_TYPES),
        default=_DEFAULTS.bin_type,
        show_default=True,
        help="Bins enter the learner as ordered numbers or as names.",
    ),
    click.option(
        "--weighting",
        type=click.Choice(WEIGHTINGS),
        default=_DEFAULTS.weighting,
        show_default=True,
        help="A row weighs as often as it was observed, times what is at stake there, or 1.",
    ),
    click.option(
        "--learn-seed",
        type=int,
        default=_DEFAULTS.seed,
        show_default=True,
        help="Of the learner's draws.",
    ),
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
            chosen = {
                field: given.pop(field)
                for field in LearningSettings.__dataclass_fields__
                if field in given
            }
            if "learn_seed" in given:
                chosen["seed"] = given.pop("learn_seed")
            if chosen.get("counters") is not None:
                chosen["counters"] = tuple(name.strip() for name in chosen["counters"].split(","))
            command(settings=LearningSettings(**chosen), **given)

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
    help="Machine whose hints are meant. Default: the one the observations are from.",
)


def hints_for(observations: ObservationTable, machine: str | None, leeway: int) -> HintsOf:
    """Hints of affinities on the machine named, or on the one the observations name."""
    from autofinity.cli.backends import machine_topology
    from autofinity.learning.leeway_hints import hints_on

    return hints_on(machine_topology(machine or machine_of(observations)), leeway)


def machine_of(observations: ObservationTable) -> str:
    """Name of the machine of the first observation (learning refuses several)."""
    name: str = observations.machine.names[int(observations.machine.codes[0])]
    return name
