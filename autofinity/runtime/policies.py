"""Which policy a run asks when none is named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.linux.sha256 import sha256_hex
from autofinity.model.errors import AutofinityError, PolicyError
from autofinity.policy.reading import LARGEST_FILE_BYTES
from autofinity.private_file import read_regular
from autofinity.resources import shipped

if TYPE_CHECKING:
    from autofinity.model.policy import RulePolicy


def default_policy(environment: Mapping[str, str] | None = None) -> Path | None:
    """AUTOFINITY_POLICY, else the user's own policy, else the shipped `policies/default.json`.

    The launcher looks in the same places (native/launcher/default_policy.c). None: there is none.
    """
    env = os.environ if environment is None else environment
    wish = env.get("AUTOFINITY_POLICY")
    if wish:
        return Path(wish)
    own = user_policy(env)
    if own is not None and own.exists():
        return own
    try:
        return shipped("policies", "default.json").resolve()
    except AutofinityError:
        return None


def user_policy(environment: Mapping[str, str] | None = None) -> Path | None:
    """Where the user's own policy is, whether it exists or not: `autofinity/policy.json` in the
    configuration folder (XDG base directories). None when nothing names that folder.
    """
    env = os.environ if environment is None else environment
    config, home = env.get("XDG_CONFIG_HOME", ""), env.get("HOME", "")
    if config.startswith("/"):  # a relative one does not count, says the specification
        return Path(config) / "autofinity" / "policy.json"
    if home.startswith("/"):
        return Path(home) / ".config" / "autofinity" / "policy.json"
    return None


def digest_of(path: Path) -> str:
    """SHA-256 of a regular file's bytes, as the launcher computes it. Raises `PolicyError`."""
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
