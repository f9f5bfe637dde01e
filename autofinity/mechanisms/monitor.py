"""The monitor of a run under `--mechanism`: the same as that of any run, with another decider.

The launcher starts `python -m autofinity.mechanisms.monitor` in the place of
`autofinity.runtime.monitor`, with the same arguments.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from autofinity.mechanisms.live import LiveRecipe
from autofinity.mechanisms.registry import BY_POLICY, LIVE
from autofinity.model.errors import UsageError
from autofinity.runtime.asked_for import settings_of
from autofinity.runtime.monitor import main
from autofinity.runtime.request import Request
from autofinity.runtime.surroundings import Deciding, Surroundings


def by_mechanism(request: Request, around: Surroundings) -> Deciding[Any]:
    """The decider that `request.mechanism` names. Raises `UsageError` for an unknown name."""
    if request.mechanism == BY_POLICY:
        from autofinity.runtime.by_policy import by_policy

        return by_policy(request, around)
    if request.mechanism not in LIVE:
        raise UsageError(
            f"unknown mechanism {request.mechanism}; expected one of {', '.join(LIVE)}"
        )
    return LiveRecipe(
        request.mechanism,
        around.topology,
        around.available,
        replace(settings_of(request), divided=around.divided),
        policy=around.policy,
        migrate_pages=request.migrate_pages,
        reserve=partial(around.journal.reserve, around.topology),
    )


if __name__ == "__main__":
    main(by_mechanism)
