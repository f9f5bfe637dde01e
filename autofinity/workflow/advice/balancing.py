"""Whether the kernel's NUMA balancing is to be on for this program."""

from __future__ import annotations

from autofinity.workflow.advice.memory import ONE_NODE, Use
from autofinity.workflow.advice.seen import Section, Seen

WORTH_FOLLOWING = 0.2
"""Share of remote reads from which on faults to find pages may pay for themselves."""
_SYSCTL = "sysctl kernel.numa_balancing"
_MODES = {"0": "off", "1": "on", "2": "on, for memory tiers alone", "3": "on, and for memory tiers"}


def numa_balancing(seen: Seen, use: Use, policy: object) -> Section:
    """`policy` is the memory policy that is advised."""
    state = seen.numa_balancing
    facts: dict[str, object] = {"state": state or None, "wanted": None, "line": None}
    if seen.topology.n_nodes < 2:
        return Section("NUMA balancing", ONE_NODE, (), facts)
    if state is None and seen.given is not None:
        now = (f"a file does not say what {_SYSCTL} is on that machine",)
    elif state is None:
        now = ("a simulated machine has none unless a mechanism is it (`autofinity compare`)",)
    elif not state:
        now = (f"the kernel has no NUMA balancing ({_SYSCTL} is missing)",)
    else:
        now = (f"{_SYSCTL} is {state}: {_MODES.get(state, 'a mode that is not known')}",)
    wanted, why = _wanted(use, policy)
    line = None
    if wanted is not None and state and (state in ("1", "3")) != wanted:
        tiers = 2 if state in ("2", "3") else 0  # memory tiers stay as they are
        line = f"sudo {_SYSCTL.replace('sysctl', 'sysctl -w')}={int(wanted) + tiers}"
    facts |= {"wanted": wanted, "line": line}
    advice = {True: "on", False: "off", None: "as it is"}[wanted] + f": {why}"
    if line:
        advice += f" ({line}, for the whole system)"
    return Section("NUMA balancing", advice, (*now, use.share), facts)


def _wanted(use: Use, policy: object) -> tuple[bool | None, str]:
    if use.cached and not use.counted:
        return False, "all of its pages fit into one last-level cache, so few reads reach memory"
    if use.remote is None:
        return None, "whether reads are remote is not known"
    if policy == "interleave":
        return (
            False,
            "pages that are interleaved stay where they are, and the faults cost time",
        )
    if policy == "bind":
        return (
            False,
            "all pages are to be on one node, so the faults cost time and move nothing",
        )
    if use.shared is not None and use.shared >= 0.5:
        return (
            False,
            "pages that all nodes use have no node to go to, and the faults cost time",
        )
    if use.remote < WORTH_FOLLOWING:
        return False, "few reads are remote, so the faults cost time and move little"
    if use.shared is None:
        return None, "many reads are remote, and nothing shows whether one node uses each page"
    return True, "pages would go to the node that uses them, while threads stay on their nodes"
