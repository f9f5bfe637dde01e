"""`autofinity advise`: the policy that is asked on a simulated machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofinity.cli.progress import Terminal

if TYPE_CHECKING:
    from autofinity.model.policy import RulePolicy


def policy_on(machine: str, wish: str | None) -> RulePolicy | None:
    """The policy named `wish`, else that of the machine; None where there is none."""
    from autofinity.workflow.policies import named_policy, policy_for

    return named_policy(wish) if wish is not None else policy_for(machine, Terminal())


def asked_on(machine: str, wish: str | None) -> str:
    """Name of the policy that `policy_on` gives, and who chose it."""
    from autofinity.policy.shipped import policy_names

    own = machine if machine in policy_names() else "any machine"
    return f"{wish}, named by --policy" if wish else f"the shipped one for {own}"
