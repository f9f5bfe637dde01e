"""Why a placement near a device prefers no node."""

from __future__ import annotations

import pytest
from made_up_machine import machine

from autofinity.affinity.near import NOWHERE
from autofinity.model.devices import Device
from autofinity.model.topology import OsIndex
from autofinity.workflow import devices
from autofinity.workflow.devices import near_device


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ((), "its NUMA node is not known"),
        ((0, 1), "it is as near to every node"),
        ((7,), "node 7 is none of this machine's"),
        ((10**9,), "node 1000000000 is none of this machine's"),
    ],
)
def test_it_is_said_why_a_device_makes_no_difference(
    nodes: tuple[int, ...], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = (Device(("eth3",), "network", nodes=tuple(map(OsIndex, nodes))),)
    monkeypatch.setattr(devices, "machine_devices", lambda topology, machine: known)
    found = near_device(machine(packages=2, cores=1), "host", "eth3")
    assert found.nodes == NOWHERE
    assert found.note == f"--near eth3 has no effect: {why}"
