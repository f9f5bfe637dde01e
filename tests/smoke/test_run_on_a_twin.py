"""A dry run on the tree and CPU name of a shipped machine: which policy it takes, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from topology_sysfs_tree import write_sysfs

from autofinity.policy.shipped import ANY_MACHINE, policy_names, policy_path
from autofinity.sim.preset import cpu_models_of, load_preset, preset_names

type Runner = Any  # of conftest.py


def twin(folder: Path, name: str) -> dict[str, str]:
    """Variables that make this machine look like a shipped one."""
    model = cpu_models_of(name)[0]
    implementer, _, part = model.partition(" ")
    arm = f"processor: 0\nCPU implementer: {implementer}\nCPU part: {part}\n"
    (folder / "cpuinfo").write_text(
        arm if model.startswith("0x") else f"processor: 0\nmodel name: {model}\n"
    )
    return {
        "AUTOFINITY_SYSFS": str(write_sysfs(folder / "sys", load_preset(name).topology)),
        "AUTOFINITY_CPUINFO": str(folder / "cpuinfo"),
    }


@pytest.mark.parametrize("name", [name for name in preset_names() if cpu_models_of(name)])
def test_a_run_on_a_twin_says_which_policy_it_takes_and_why(
    run: Runner, tmp_path: Path, name: str
) -> None:
    # The variables of the fixture name a policy for all tests.
    env = {key: value for key, value in run.env.items() if key != "AUTOFINITY_POLICY"}
    done = run("--dry-run", "--json", "--", "true", env=env | twin(tmp_path, name))
    assert (done.returncode, done.stderr) == (0, b"")
    seen = json.loads(done.stdout)
    own = name in policy_names()
    assert seen["machine"] == name
    assert seen["policy"] == str(policy_path(name if own else ANY_MACHINE))
    assert seen["policy_origin"] == f"shipped for {'this' if own else 'any'} machine"


def test_the_text_says_as_what_the_machine_is_known(run: Runner, tmp_path: Path) -> None:
    done = run("--dry-run", "--", "true", env=run.env | twin(tmp_path, "epyc-9654"))
    (machine,) = (line for line in done.stdout.decode().splitlines() if line.startswith("machine"))
    assert machine.endswith("384 CPUs, known as epyc-9654")
