"""Facts of the machine at hand, for a policy that asks for them.

What its topology shows is always known. Its speeds are where somebody measured them, or where the
machine is one of those that are on record (policies/speeds.txt).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path

from autofinity.linux.cpu_model import CPUINFO, cpu_model
from autofinity.model.facts import FactsOf, Speeds, facts_of
from autofinity.model.topology import Topology
from autofinity.policy.shipped import (
    names_of_machine,
    read_speeds,
    shape_of,
    speeds_of_machine,
)
from autofinity.runtime.policies import configuration_folder

MEASURED = "speeds.txt"
HERE = "here"
"""The name of this machine in the file of measured speeds."""


def facts_here(topology: Topology, environment: Mapping[str, str] | None = None) -> FactsOf:
    """Thread count → facts of the machine that `topology` is of, whatever of it may be used."""
    return functools.partial(facts_of, topology, speeds_here(topology, environment))


def speeds_here(topology: Topology, environment: Mapping[str, str] | None = None) -> Speeds:
    """Those that were measured, else those on record; NaN throughout where there are none."""
    env = os.environ if environment is None else environment
    path = measured_speeds(env)
    if path is not None and (own := dict(read_speeds(path)).get(HERE)) is not None:
        return own
    return speeds_of_machine(_cpu_model(env), shape_of(topology))


def kind_here(topology: Topology, environment: Mapping[str, str] | None = None) -> str:
    """Name of the known kind of machine (a preset's) that this one is of; empty: of none."""
    env = os.environ if environment is None else environment
    return next(iter(names_of_machine(_cpu_model(env), shape_of(topology))), "")


def measured_speeds(environment: Mapping[str, str]) -> Path | None:
    """Where speeds that were measured on this machine are kept, whether there are any or not:
    `speeds.txt` in the configuration folder. None when nothing names that folder.
    """
    folder = configuration_folder(environment)
    return None if folder is None else folder / MEASURED


def _cpu_model(environment: Mapping[str, str]) -> str:
    return cpu_model(Path(environment.get("AUTOFINITY_CPUINFO") or CPUINFO))
