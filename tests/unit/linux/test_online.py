"""The tree that describes this machine."""

from __future__ import annotations

import pytest

from autofinity.linux.online import SYSFS, sysfs_root


@pytest.mark.parametrize(("value", "root"), [("/other", "/other"), ("", SYSFS)])
def test_an_empty_name_of_a_tree_means_the_systems_own_as_for_the_launcher(
    value: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOFINITY_SYSFS", value)
    assert sysfs_root() == root
