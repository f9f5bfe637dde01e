"""Policies that an evaluation has learned, kept so that an interrupted evaluation goes on.

    WORK/judged/KEY/NAME.json    the policy that has not seen NAME

KEY is a digest of all that the policies are learned from: observations, facts of the machine,
settings, and the code that learns. A policy is used only under the same key.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import PolicyError
from autofinity.model.policy import RulePolicy
from autofinity.new_folder import make_missing
from autofinity.own_code import digest_of_code
from autofinity.policy import files
from autofinity.whole_file import is_leftover

FOLDER = "judged"
MOST_KEYS = 8
"""Number of evaluations whose policies are kept, the latest ones: some hundred files of a few KiB
each."""
_DIGEST = re.compile(r"[0-9a-f]{32}")
_LEARNS = ("learning", "model", "policy", "affinity", "store", "workflow")


class KeptPolicies:
    """The policies of one evaluation, in the work folder."""

    def __init__(self, work: Path, settings: LearningSettings, *learned_from: str) -> None:
        """`learned_from`: digests of all that the policies depend on, beside settings and code."""
        key = hashlib.sha256(digest_of_code(*_LEARNS))
        key.update("\0".join((repr(settings), *learned_from)).encode())
        self._all = work / FOLDER
        self._own = self._all / key.hexdigest()[:32]

    def get(self, name: str, learn: Callable[[], RulePolicy]) -> RulePolicy:
        """The policy of that name; learned, and kept, where there is none.

        A file that is damaged or cannot be written costs time only.
        """
        path = self._own / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"
        with suppress(PolicyError):
            return files.load(path)
        policy = learn()
        with suppress(PolicyError, OSError):
            if path.exists() and not path.is_file():
                path.unlink()
            if not self._own.is_dir():
                make_missing(self._own)
                self._forget_oldest()
            files.save(policy, path)
        return policy

    def _forget_oldest(self) -> None:
        kept = [each for each in self._all.iterdir() if each != self._own and _is_kept(each)]
        kept.sort(key=lambda folder: folder.stat().st_mtime)
        for folder in kept[: max(0, len(kept) + 1 - MOST_KEYS)]:
            shutil.rmtree(folder, ignore_errors=True)


def _is_kept(folder: Path) -> bool:
    """Whether a folder is one of ours: nothing is in it but our files, whole or begun."""
    if not _DIGEST.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
        return False
    return all(map(_is_ours, folder.iterdir()))


def _is_ours(path: Path) -> bool:
    whole = path.suffix == ".json" and _DIGEST.fullmatch(path.stem) and path.is_file()
    return bool(whole) or is_leftover(path)
