"""`autofinity advise`: the policy that is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofinity.cli.progress import Terminal

if TYPE_CHECKING:
    from autofinity.model.policy import RulePolicy
    from autofinity.runtime.policies import Choice


def choice_here(wish: str | None) -> Choice | None:
    """The policy that a run on this machine asks; None: there is none. Raises `PolicyError`, before
    any program starts, for one that cannot be read, too.
    """
    choice, _ = _read_here(wish)
    return choice


def policy_on(machine: str, wish: str | None) -> RulePolicy | None:
    """The policy named `wish`, else that of the simulated machine; None where there is none."""
    from autofinity.workflow.policies import named_policy, policy_for

    return named_policy(wish) if wish is not None else policy_for(machine, Terminal())


def asked_on(machine: str, wish: str | None) -> tuple[RulePolicy | None, str]:
    """`policy_on`, with the name of the policy, and who chose it."""
    from autofinity.policy.shipped import policy_names

    own = machine if machine in policy_names() else "any machine"
    asked = f"{wish}, named by --policy" if wish else f"the shipped one for {own}"
    return policy_on(machine, wish), asked


def asked_here(wish: str | None) -> tuple[RulePolicy | None, str]:
    """The policy of `choice_here`, with its file, and who chose it."""
    choice, policy = _read_here(wish)
    return policy, "" if choice is None else f"{choice.path}, {choice.origin}"


def _read_here(wish: str | None) -> tuple[Choice | None, RulePolicy | None]:
    """Both None: there is no policy here. Raises `PolicyError`."""
    from autofinity.runtime.policies import chosen_policy, read_policy

    choice = chosen_policy(wish)
    return (None, None) if choice is None else (choice, read_policy(choice.path)[0])
