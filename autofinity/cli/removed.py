"""Options that are gone, and what to use instead: a line for who still gives them."""

from __future__ import annotations

from typing import NamedTuple

import click


class Removed(NamedTuple):
    """Spellings that some commands no longer know."""

    spellings: tuple[str, ...]
    commands: tuple[str, ...]
    instead: str


_COUNTERS = ("train", "evaluate", "coverage", "counters", "bins", "table", "rules")
_TABLE = ("train", "evaluate", "coverage", "table", "rules")
_RULES = ("train", "evaluate", "rules")
_PROFILING = ("train", "evaluate", "profile")
_IN_RULES = (
    *("--labels", "--selection", "--counters", "--discretisation", "--bins", "--bin-number"),
    *("--condense", "--leeway", "--normalise", "--no-normalise", "--literal"),
    *("--probe", "--other-counts", "--one-count", "--most-rules", "--bin-type", "--weighting"),
)
_NO_FIGURE = "no figure of docs/policy-study.md depends on it"

REMOVED = (
    Removed(("--warmup",), _COUNTERS, f"the first period is always left out: {_NO_FIGURE}"),
    Removed(
        ("--window",), _COUNTERS, "a behaviour is the mean of the whole run (--paper: periods)"
    ),
    Removed(("--edges",), _COUNTERS, "the worst of equally good edges always rates a feature"),
    Removed(
        ("--engine",),
        _COUNTERS,
        "WEKA ranks counters for --learner jrip (--paper), numpy for the others: the same ranking",
    ),
    Removed(("--standardise", "--raw"), _COUNTERS, "counters are always standardised"),
    Removed(
        ("--drop-repeats", "--keep-repeats"),
        _COUNTERS,
        "one of several proportional counters is chosen; name others with "
        "`autofinity rules OBS --counters NAME,…`",
    ),
    Removed(
        ("--drop-insensitive", "--keep-insensitive"),
        _COUNTERS,
        f"insensitive programs are always left out: {_NO_FIGURE}",
    ),
    Removed(
        ("--tie-within",),
        _TABLE,
        f"a loss of up to 1 % is always a tie, but no loss of sample periods: {_NO_FIGURE}",
    ),
    Removed(("--sampled-in",), _TABLE, "sample periods of all affinities are always used"),
    Removed(
        ("--match",), _TABLE, "by progress in the simulator, by elapsed time on a real machine"
    ),
    Removed(
        ("--edge-at-par", "--edge-anywhere"),
        _RULES,
        f"a second sample always distinguishes slower from equally fast: {_NO_FIGURE}",
    ),
    Removed(("--learn-seed",), ("rules",), "use --seed"),
    Removed(
        (*_IN_RULES, "--learn-seed"),
        ("train",),
        "use the steps `autofinity profile -o OBS` and `autofinity rules OBS`; `rules` has this "
        "option (--seed for --learn-seed)",
    ),
    Removed(
        (*_IN_RULES, "--learn-seed", "--k", "--learner", "--features"),
        ("evaluate",),
        "use Python: autofinity.workflow.evaluate.evaluate takes any LearningSettings; or judge a "
        "policy of `autofinity rules` with --policy",
    ),
    Removed(
        ("--samples",),
        ("evaluate",),
        "evaluate samples the whole run and one period; for other samples use Python: "
        "autofinity.workflow.evaluate.evaluate takes samples",
    ),
    Removed(
        ("--condense", "--leeway", "--normalise", "--no-normalise", "--literal"),
        ("coverage",),
        "behaviours do not depend on this option; `autofinity table` and `autofinity rules` have "
        "it",
    ),
    Removed(
        ("--bin-type", "--weighting", "--normalise", "--no-normalise", "--literal"),
        ("rules",),
        f"--paper has the paper's choice: {_NO_FIGURE}; in Python any LearningSettings may be used",
    ),
    Removed(
        ("--normalise", "--no-normalise", "--literal"),
        ("table",),
        "--paper has the paper's choice; in Python any LearningSettings may be used",
    ),
    Removed(
        ("--labels", "--metric", "--k", "--discretisation"),
        ("coverage",),
        "`autofinity bins OBS` has this option; name counters with --counters",
    ),
    Removed(("--page-seeds",), ("profile",), "use --seeds"),
    Removed(
        ("--seed", "--page-seeds"),
        ("train",),
        "use the steps `autofinity profile -o OBS`, which has --seed and --seeds, and `autofinity "
        "rules OBS`",
    ),
    Removed(
        ("--seed", "--page-seeds"),
        ("evaluate",),
        "use `autofinity profile -o OBS`, which has --seed and --seeds, then --observations OBS",
    ),
    Removed(("--fresh",), ("evaluate",), "use --observations none"),
    Removed(("--probe",), ("explain",), "use --second"),
    Removed(
        ("--simulated",),
        _PROFILING,
        "use --latencies assumed, which simulates --machine host with assumed latencies",
    ),
    Removed(("--workers",), (*_PROFILING, "compare", "figure"), "use -j/--jobs"),
    Removed(("--out",), ("detect", "compare", "capture"), "use -o/--output"),
    Removed(
        ("--programs",),
        ("compare",),
        "use -p/--program, repeated for several programs: -p cg -p lu",
    ),
    Removed(("--mechanisms",), ("compare",), "use --mechanism, repeated for several mechanisms"),
)


def refusal(error: click.NoSuchOption) -> click.UsageError:
    """Error for an unknown option; for an option that was removed, with its replacement."""
    command = error.ctx.info_name if error.ctx is not None else None
    for removed in REMOVED:
        if command in removed.commands and error.option_name in removed.spellings:
            return click.UsageError(
                f"{error.option_name} was removed: {removed.instead}", error.ctx
            )
    return error
