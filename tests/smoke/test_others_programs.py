"""Programs of another user: refused, with the remedy."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "call", "said", "remedy"),
    [
        (
            "autofinity.runtime.attaching",
            "check_permission(1)",
            "the threads of process 1 may not be bound",
            "as root",
        ),
        (
            "autofinity.workflow.advice.here",
            "seen_here(1, None)",
            "the program of process 1 cannot be read",
            "root's rights",
        ),
    ],
    ids=["attach", "advise"],
)
def test_another_users_program_is_refused_with_the_remedy(
    module: str, call: str, said: str, remedy: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user to be refused")
    check = (
        f"import os; import {module} as module; "
        f"os.setgroups([]); os.setgid(65534); os.setuid(65534); module.{call}"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert f"CapabilityError: {said}" in done.stderr
    assert remedy in done.stderr
