"""The decider of a run: the policy, with the settings that its request asks for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autofinity.affinity.near import NOWHERE, nodes_near
from autofinity.linux.numa_hinting import hinting_is_on
from autofinity.model.answer_on_record import AnswerOnRecord
from autofinity.model.devices import Device
from autofinity.model.facts import no_facts
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.policy.evidence import can_ask
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.evidence import HARDWARE, measurable
from autofinity.runtime.live_state import Settings
from autofinity.runtime.machine_facts import facts_here
from autofinity.runtime.request import Request
from autofinity.runtime.surroundings import Surroundings

_NS_PER_S = 1_000_000_000


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


def near_of(request: Request, topology: Topology) -> frozenset[int]:
    """Logical nodes of the device that hints prefer; empty for none."""
    device = Device((request.near,), "network", nodes=(request.near_node,))
    return nodes_near(topology, device) if request.near else NOWHERE


def is_blind(request: Request, policy: RulePolicy | None) -> bool:
    """Whether nothing that the policy's rules ask for can be measured here."""
    return policy is not None and not can_ask(policy, measurable(request.tier))


def sharing_shows(request: Request, topology: Topology) -> bool:
    """Whether page faults may show more than counters, and the assignment of seats matters.

    Faults are watched only where the kernel lets pages fault again, for each fault has a small
    cost.
    """
    if request.tier == HARDWARE or request.bind == "none":
        return False
    caches = {topology.by_os_index[cpu].llc for cpu in topology.allowed}
    return len(caches) > 1 and hinting_is_on()


def settings_of(request: Request) -> Settings:
    """Settings of the watched run."""
    return Settings(
        threads=request.threads,
        seated=bool(request.seats),
        bind=request.bind,
        sample_ns=round(request.sample_s * _NS_PER_S),
        every_ns=round(request.every_s * _NS_PER_S),
    )
