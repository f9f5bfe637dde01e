"""Policies by name: a file, or one that is shipped."""

from __future__ import annotations

from pathlib import Path

from autofinity.model.errors import AutofinityError, PolicyError
from autofinity.model.policy import RulePolicy
from autofinity.policy import files
from autofinity.reporter import SILENT, Reporter
from autofinity.resources import shipped


def named_policy(name: str) -> RulePolicy:
    """The policy in a file, or the shipped one called `name`. Raises `PolicyError`."""
    if Path(name).exists():
        return files.load(name)
    known = shipped_policies()
    if name in known:
        return files.load(shipped("policies", f"{name}.json"))
    also = f" or one of {', '.join(known)}" if known else ""
    raise PolicyError(f"there is no policy {name!r}; expected a policy file{also}")


def policy_for(machine: str, reporter: Reporter = SILENT) -> RulePolicy:
    """The shipped policy of a preset machine, or the default one where it has none: says so, unless
    that is the machine's.
    """
    if machine in shipped_policies():
        return files.load(shipped("policies", f"{machine}.json"))
    default = files.load(shipped("policies", "default.json"))
    learned_on = default.provenance["machine"]
    if machine != learned_on:
        reporter.notice(
            f"no policy of {machine} is shipped; taken is the default one, learned on {learned_on}"
        )
    return default


def shipped_policies() -> tuple[str, ...]:
    """Names of the policies that come with autofinity."""
    try:
        folder = shipped("policies")
    except AutofinityError:
        return ()
    return tuple(sorted(path.stem for path in folder.glob("*.json")))
