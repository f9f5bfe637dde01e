"""From programs, or from their observations, to a policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.machines import Machine, name_of
from autofinity.api.observed import observed_in
from autofinity.api.policies import Policy
from autofinity.api.wanted import wanted_by_arguments
from autofinity.reporter import SILENT, Reporter

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.learning.settings import LearningSettings


def train(
    machine: Machine | str,
    *,
    threads: Sequence[int] | int = (8,),
    programs: Sequence[str] | str = (),
    sizes: Sequence[str] | str = ("small",),
    suite: Path | str | None = None,
    work: Path | str | None = None,
    jobs: int | None = None,
    on: str = "",
    paper: bool = False,
    reporter: Reporter = SILENT,
) -> Policy:
    """Capture, `profile` and `learn` in one call; the arguments are those of `profile`.

    With `paper`, the method is that of Moore & Childers (CC 2013). Takes minutes to hours. Raises
    `AutofinityError`.

    >>> given = dict(threads=2, programs=["prodcons", "stencil"], sizes="tiny", work="work")
    >>> af.train("xeon-e5-2650", **given).made_of["machine"]
    'xeon-e5-2650'
    """
    from autofinity.workflow.train import train as trained

    wanted = wanted_by_arguments(
        machine,
        programs=programs,
        sizes=sizes,
        threads=threads,
        suite=suite,
        work=work,
        jobs=jobs,
        on=on,
    )
    learned = trained(wanted, settings(paper), reporter)
    return Policy(learned.policy, learned.notes)


def learn(
    observed: pd.DataFrame | Machine | Path | str,
    *,
    machine: Machine | str | None = None,
    paper: bool = False,
) -> Policy:
    """The policy of observations (a table of `observations` or `profile`, rows of one, or what
    `observations` takes).

    `machine` is the machine of their affinities, by default the machine that they name. With
    `paper`, the method is that of Moore & Childers. Takes seconds to minutes. Raises
    `AutofinityError` for a table with other columns, of several machines, or from which nothing can
    be learned.

    >>> seen = af.observations("opteron-6164he", threads=8)
    >>> policy = af.learn(seen[seen.program != "stencil"])
    >>> policy.default.name, len(policy.notes) > 0
    ('spread', True)
    """
    from autofinity.workflow.train import rules_of

    name = None if machine is None else name_of(machine)
    return Policy(*rules_of(observed_in(observed), settings(paper), machine=name))


def settings(paper: bool) -> LearningSettings:
    """Our settings, or those of the paper."""
    from autofinity.learning.settings import PAPER, LearningSettings

    return PAPER if paper else LearningSettings()
