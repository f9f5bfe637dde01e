"""Which policy a run asks: the policy that the user names, else the user's own, else one for this
very machine, else one for any machine. Another machine's policy is never asked unless it is named.

The launcher looks in the same places (native/launcher/default_policy.c); a table of cases checks
that both agree (tests/support/twin_cases.toml).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from autofinity.linux.cpu_model import CPUINFO, cpu_model
from autofinity.linux.online import sysfs_root, whole_machine
from autofinity.linux.sha256 import sha256_hex
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.errors import PolicyError, TopologyError
from autofinity.private_file import read_regular

type Origin = Literal[
    "named by --policy",
    "named by AUTOFINITY_POLICY",
    "the user's own",
    "shipped for this machine",
    "shipped for any machine",
]
"""Origin of a policy, in order of precedence."""

NO_POLICY = "there is no policy for this machine"
NO_POLICY_REMEDY = (
    "`autofinity train --machine host` trains a policy, `autofinity rebuild` "
    "trains from your runs; --policy NAME uses another machine's, --hint HINT uses none"
)
CHOSEN_BY_USER: tuple[str, ...] = ("", "named by --policy", "named by AUTOFINITY_POLICY")
"""Origins that need no note; empty: the origin is not known."""
CHOSEN = "policy: "
"""Beginning of the note on the origin of a policy that the user did not name."""

if TYPE_CHECKING:
    from autofinity.model.policy import RulePolicy
    from autofinity.policy.shipped import Shape


@dataclass(frozen=True, slots=True)
class Choice:
    """The policy that is asked, and its origin."""

    path: Path
    origin: Origin


def chosen_policy(
    wish: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Choice | None:
    """The policy of a run; None where there is none.

    `wish` is a file or the name of a shipped policy (None: the user names none). Shipped policies
    are those in `folder` instead of autofinity's own.

    Raises `PolicyError` where a named policy is not found.
    """
    from autofinity.policy.shipped import policy_of_any_machine, policy_of_machine, policy_path

    env = os.environ if environment is None else environment
    if wish:
        return Choice(policy_path(wish, folder), "named by --policy")
    if env.get("AUTOFINITY_POLICY"):
        path = policy_path(env["AUTOFINITY_POLICY"], folder)
        return Choice(path, "named by AUTOFINITY_POLICY")
    own = user_policy(env)
    if own is not None and own.exists():
        return Choice(own, "the user's own")
    path_here = policy_of_machine(*this_machine(env), folder)
    if path_here is not None:
        return Choice(path_here, "shipped for this machine")
    path_anywhere = policy_of_any_machine(folder)
    return Choice(path_anywhere, "shipped for any machine") if path_anywhere else None


def this_machine(environment: Mapping[str, str]) -> tuple[str, Shape | None]:
    """CPU model and shape; those of another machine with AUTOFINITY_SYSFS and
    AUTOFINITY_CPUINFO.
    """
    from autofinity.policy.shipped import shape_of

    root = sysfs_root(environment)
    model = this_cpu_model(environment)
    try:
        return model, shape_of(read_sysfs(root, allowed=whole_machine(root)))
    except TopologyError:
        return model, None


def this_cpu_model(environment: Mapping[str, str]) -> str:
    """CPU model, which AUTOFINITY_CPUINFO may replace."""
    return cpu_model(Path(environment.get("AUTOFINITY_CPUINFO") or CPUINFO))


def user_policy(environment: Mapping[str, str] | None = None) -> Path | None:
    """Path of the user's own policy, whether it exists or not.

    It is `autofinity/policy.json` in the configuration folder (XDG base directories). None when
    nothing names that folder.
    """
    folder = configuration_folder(os.environ if environment is None else environment)
    return None if folder is None else folder / "policy.json"


def configuration_folder(environment: Mapping[str, str]) -> Path | None:
    """The user's configuration folder, whether it exists or not; None when nothing names it."""
    config, home = environment.get("XDG_CONFIG_HOME", ""), environment.get("HOME", "")
    if config.startswith("/"):  # a relative one does not count, says the specification
        return Path(config) / "autofinity"
    return Path(home) / ".config" / "autofinity" if home.startswith("/") else None


def digest_of(path: Path) -> str:
    """SHA-256 of a regular file's bytes, as the launcher computes it. Raises `PolicyError`."""
    from autofinity.policy.reading import LARGEST_FILE_BYTES  # only where there is a policy

    try:
        return sha256_hex(read_regular(path, LARGEST_FILE_BYTES))
    except OSError as error:
        raise PolicyError(
            f"the policy {path} cannot be read: {error.strerror}; expected a policy file"
        ) from error


def read_policy(path: Path) -> tuple[RulePolicy, str]:
    """The policy in a file, and its digest. Raises `PolicyError`."""
    from autofinity.policy.files import load

    digest = digest_of(path)  # first: it waits for no FIFO
    return load(path), digest
