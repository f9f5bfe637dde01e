"""Settings of a run from its request, on this machine, whichever mechanism decides."""

from __future__ import annotations

from autofinity.affinity.near import NOWHERE, nodes_near
from autofinity.linux.numa_hinting import hinting_is_on
from autofinity.model.devices import Device
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.policy.evidence import can_ask
from autofinity.runtime.evidence import HARDWARE, measurable
from autofinity.runtime.live_state import Settings
from autofinity.runtime.page_rate import rate_here
from autofinity.runtime.request import Request

_NS_PER_S = 1_000_000_000


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


def pages_may_follow(request: Request, topology: Topology) -> bool:
    """Whether there are other nodes for pages, and threads that the policy or a hint moves there.

    The recipe of another mechanism moves its pages itself. --keep-pages is not asked here.
    """
    return request.mechanism == "autofinity" and request.bind != "none" and topology.n_nodes > 1


def kept_pages_note(request: Request, topology: Topology) -> str:
    """Note on pages that stay since the user wants so; empty where none would move anyway."""
    kept = request.keep_pages and pages_may_follow(request, topology)
    return "pages stay where they are (--keep-pages)" if kept else ""


def settings_of(request: Request) -> Settings:
    """Settings of the watched run."""
    return Settings(
        threads=request.threads,
        seated=bool(request.seats),
        bind=request.bind,
        sample_ns=round(request.sample_s * _NS_PER_S),
        every_ns=round(request.every_s * _NS_PER_S),
        page_rate=rate_here(),
        keep_pages=request.keep_pages,
    )
