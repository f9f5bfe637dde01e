"""The decider of a run: the policy, with the settings that its request asks for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.facts import no_facts
from autofinity.runtime.asked_for import is_blind, near_of, settings_of, sharing_shows
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.machine_facts import facts_here
from autofinity.runtime.request import Request
from autofinity.runtime.surroundings import Surroundings


def by_policy(request: Request, around: Surroundings) -> LivePolicy:
    """The policy decides; without counters, sharing between threads decides their neighbours."""
    from autofinity.policy.selector import decide

    asked_for = AnswerOnRecord(request.hint) if request.hint else None
    return LivePolicy(
        around.topology,
        around.policy,
        decide,
        around.available,
        (lambda threads: asked_for) if asked_for else around.journal.answer_on_record,
        replace(
            settings_of(request),
            by_sharing=sharing_shows(request, around.topology),
            blind=is_blind(request, around.policy),
            fallback=request.fallback,
            near=near_of(request, around.topology),
            divided=around.divided,
        ),
        partial(around.journal.reserve, around.topology),
        facts_here(around.topology) if around.policy and around.policy.facts else no_facts,
    )
