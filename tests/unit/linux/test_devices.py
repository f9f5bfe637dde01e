"""Devices: what they are called, of which kind they are, and where they hang."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_sysfs_tree import add_devices, sysfs_devices

from autofinity.linux.device_parts import DevicePart, assembled
from autofinity.linux.devices import device_called, host_devices, names_text
from autofinity.linux.pci_classes import kind_of
from autofinity.model.devices import Device
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex

GPU, PORT = "0x030200 0x10de 0x20b0", "0x020000 0x15b3 0x1017"


def test_all_names_of_a_function_are_one_device(tmp_path: Path) -> None:
    hardware = "pci0000:16/0000:17:00.0"
    add_devices(
        tmp_path,
        [{"address": "0000:17:00.0", "ids": PORT, "node": 1}],
        [
            {"class": "net", "name": "ib0", "hardware": hardware},
            {"class": "infiniband", "name": "mlx5_0", "hardware": hardware},
        ],
    )
    (found,) = sysfs_devices(tmp_path)
    assert found == Device(("ib0", "mlx5_0"), "network", "0000:17:00.0", (OsIndex(1),))


def test_gpus_are_counted_in_the_order_of_their_addresses() -> None:
    parts = [DevicePart("gpu", pci=pci) for pci in ("0000:c1:00.0", "0000:07:00.0", "0001:01:00.0")]
    assert [device.names for device in assembled(parts)] == [("gpu0",), ("gpu1",), ("gpu2",)]
    assert [device.pci for device in assembled(parts)] == [
        "0000:07:00.0",
        "0000:c1:00.0",
        "0001:01:00.0",
    ]


def test_a_device_that_is_called_gpu0_keeps_its_name() -> None:
    named = DevicePart("network", "gpu0", "0000:01:00.0")
    devices = assembled([named, DevicePart("gpu", pci="0000:02:00.0")])
    assert device_called(devices, "gpu0", "here").pci == "0000:01:00.0"


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        ((0x0300, 0x10DE, 0x1E04), "gpu"),
        ((0x0300, 0x0000, 0x0000), "gpu"),  # a recorded machine may hide its vendor
        ((0x0302, 0x10DE, 0x20B0), "gpu"),
        ((0x0380, 0x1002, 0x740F), "gpu"),
        ((0x1200, 0x1002, 0x74A1), "gpu"),
        ((0x0300, 0x1A03, 0x2000), "display"),
        ((0x0300, 0x1002, 0x515E), "display"),
        ((0x0300, 0x1AF4, 0x1050), "display"),
        ((0x1200, 0x1DA3, 0x1020), "accelerator"),
        ((0x0B40, 0x1BCF, 0x001C), "accelerator"),
        ((0x0207, 0x15B3, 0x1013), "network"),
        ((0x0C06, 0x15B3, 0x6746), "network"),
        ((0x0108, 0x144D, 0xA80A), "storage"),
        ((0x0604, 0x8086, 0x2030), None),
        ((0x0C03, 0x8086, 0xA36D), None),
    ],
)
def test_a_pci_function_is_of_a_kind(ids: tuple[int, int, int], kind: str | None) -> None:
    assert kind_of(*ids) == kind


def test_an_unknown_name_lists_those_that_exist() -> None:
    devices = assembled(
        [
            DevicePart("gpu", pci="0000:07:00.0"),
            DevicePart("network", pci="0000:08:00.0"),
            DevicePart("storage", pci="0000:09:00.0"),
            DevicePart("network", "eth0", "0000:0a:00.0"),
        ]
    )
    with pytest.raises(UsageError) as refusal:
        device_called(devices, "eth7", "box.xml")
    assert str(refusal.value) == (
        "no device 'eth7' on box.xml; expected gpu0, 0000:08:00.0, eth0, or a PCI address"
    )
    assert names_text(()) == "it shows no device"


def test_a_function_bridged_below_another_hangs_where_the_kernel_says(tmp_path: Path) -> None:
    # The function does not know its node, the bridge above does.
    hardware = "pci0000:00/0000:00:01.0/0000:02:00.0"
    add_devices(
        tmp_path,
        [{"address": "0000:02:00.0", "ids": GPU, "node": -1}],
        [{"class": "drm", "name": "card0", "hardware": hardware}],
    )
    (tmp_path / "devices/pci0000:00/0000:00:01.0/numa_node").write_text("3\n")
    (found,) = sysfs_devices(tmp_path)
    assert found.names == ("gpu0", "card0")
    assert found.nodes == (3,)


def test_links_out_of_the_tree_are_followed_no_further(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "numa_node").write_text("1\n")
    entry = tmp_path / "sys" / "class" / "net" / "eth0"
    entry.mkdir(parents=True)
    (entry / "device").symlink_to(outside)
    (found,) = sysfs_devices(tmp_path / "sys")
    assert found.nodes == ()


def test_this_machine_shows_what_sysfs_shows_and_perhaps_more() -> None:
    shown, found = sysfs_devices(), host_devices()
    by_name = {(device.pci, device.names[:1]) for device in found}
    for device in shown:
        assert (device.pci, device.names[:1]) in by_name
        same = next(
            each for each in found if (each.pci, each.names[:1]) == (device.pci, device.names[:1])
        )
        assert same.nodes == device.nodes
        assert set(device.names) <= set(same.names)
