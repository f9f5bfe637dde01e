"""Policies by name: a file, or a shipped policy."""

from __future__ import annotations

from pathlib import Path

from autofinity.model.policy import RulePolicy
from autofinity.policy import files
from autofinity.policy.shipped import policy_names, policy_of_any_machine, policy_path
from autofinity.reporter import SILENT, Reporter


def named_policy(name: str | Path) -> RulePolicy:
    """The policy in a file, or the shipped policy called `name`. Raises `PolicyError`."""
    return files.load(policy_path(str(name)))


def policy_for(machine: str, reporter: Reporter = SILENT) -> RulePolicy | None:
    """The shipped policy of a preset machine, else the one for any machine.

    None, with a notice, where there is neither: another machine's policy is used only where it is
    named.
    """
    if machine in policy_names():
        return files.load(policy_path(machine))
    anywhere = policy_of_any_machine()
    if anywhere is None:
        reporter.notice(
            f"no policy of {machine} is shipped: mechanisms that need a policy are left out; "
            "--policy names another machine's"
        )
        return None
    return files.load(anywhere)
