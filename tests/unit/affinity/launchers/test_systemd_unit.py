"""A drop-in that systemd itself verifies."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from launcher_tools import tool
from made_up_machine import machine

from autofinity.affinity.launchers.table import rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED, SPREAD

UNIT = "[Unit]\nDescription=placed\n[Service]\nExecStart=/bin/true\n"
HEAD = "[Service]\nCPUAffinity=\n"
"""A unit of its own, or an earlier drop-in, may name CPUs: systemd would merge both."""
FAR = machine(2, 1, 1, 4, number=lambda core, _: 600 * core)


def verified(drop_in: str, folder: Path) -> str:
    """Complaints of systemd-analyze about a service with this drop-in."""
    analyze = tool("systemd-analyze")
    service = folder / "placed.service"
    service.write_text(UNIT)
    extra = folder / "placed.service.d"
    extra.mkdir(exist_ok=True)
    (extra / "placement.conf").write_text(drop_in + "\n")
    done = subprocess.run([analyze, "verify", service], capture_output=True, text=True)
    return "\n".join(line for line in done.stderr.splitlines() if "placement.conf" in line)


def test_threads_on_one_node_prefer_its_memory_and_ranks_are_named() -> None:
    texts = rank_texts("systemd-unit", place_ranks(FAR, 2, 2, PACKED), FAR)
    file = "# rank {0}: SERVICE@{0}.service.d/placement.conf\n"
    first = HEAD + "CPUAffinity=0 600\nNUMAMask=\nNUMAPolicy=preferred\nNUMAMask=0"
    second = HEAD + "CPUAffinity=2400 3000\nNUMAMask=\nNUMAPolicy=preferred\nNUMAMask=1"
    assert texts == [file.format(0) + first, file.format(1) + second]
    assert rank_texts("systemd-unit", place_ranks(FAR, 1, 2, PACKED), FAR) == [first]


def test_threads_on_several_nodes_have_local_memory() -> None:
    (text,) = rank_texts("systemd-unit", place_ranks(FAR, 1, 2, SPREAD), FAR)
    assert text == HEAD + "CPUAffinity=0 2400\nNUMAMask=\nNUMAPolicy=local"


@pytest.mark.parametrize("ranks", [1, 2])
def test_systemd_takes_every_line(ranks: int, tmp_path: Path) -> None:
    for text in rank_texts("systemd-unit", place_ranks(FAR, ranks, 3, SPREAD), FAR):
        assert verified(text, tmp_path) == ""


def test_systemd_would_complain_of_a_wrong_line(tmp_path: Path) -> None:
    wrong = "[Service]\nCPUAffinity=0 x\nNUMAPolicy=near\nNUMAMask=0-"
    complaints = verified(wrong, tmp_path)
    for word in ("CPU affinity", "NUMA policy type", "NUMA node mask"):
        assert word in complaints


def test_systemd_takes_the_property_of_a_scope(tmp_path: Path) -> None:
    # systemd-run sets what stands in a unit; systemd.resource-control(5) is for both.
    (text, _) = rank_texts("systemd", place_ranks(FAR, 2, 2, PACKED), FAR)
    words = text.split()
    assert words[:3] == ["systemd-run", "--scope", "-p"]
    assert verified(f"[Service]\n{words[3]}", tmp_path) == ""
    assert "CPU affinity" in verified("[Service]\nAllowedCPUs=0-", tmp_path)
