"""Facts of the present machine, for a policy that needs them.

Facts from its topology are always known. Its speeds are known where they were measured, or where
the machine is on record (policies/speeds.txt).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path

from autofinity.linux.machine_key import machine_key
from autofinity.linux.online import sysfs_root
from autofinity.model.facts import FactsOf, Speeds, facts_of
from autofinity.model.topology import Topology
from autofinity.policy.shipped import (
    names_of_machine,
    read_speeds,
    shape_of,
    speeds_of_machine,
)
from autofinity.runtime.policies import configuration_folder, this_cpu_model

MEASURED = "speeds.txt"


def facts_here(topology: Topology, environment: Mapping[str, str] | None = None) -> FactsOf:
    """Thread count → facts of the whole machine of `topology`, whichever CPUs may be used."""
    return functools.partial(facts_of, topology, speeds_here(topology, environment))


def speeds_here(topology: Topology, environment: Mapping[str, str] | None = None) -> Speeds:
    """Measured speeds of this machine, else those on record; NaN throughout where there are
    none.
    """
    env = os.environ if environment is None else environment
    path = measured_speeds(env)
    if path is not None and (own := dict(read_speeds(path)).get(name_here(env))) is not None:
        return own
    return speeds_of_machine(this_cpu_model(env), shape_of(topology))


def kind_here(topology: Topology, environment: Mapping[str, str] | None = None) -> str:
    """Name of the known kind of machine (a preset's) that this machine is of; empty: none."""
    env = os.environ if environment is None else environment
    return next(iter(names_of_machine(this_cpu_model(env), shape_of(topology))), "")


def name_here(environment: Mapping[str, str]) -> str:
    """Name of this kind of machine in the file of measured speeds: nodes of several kinds may share
    a home directory.
    """
    return machine_key(sysfs_root(environment))


def measured_speeds(environment: Mapping[str, str]) -> Path | None:
    """Path of the speeds that were measured, whether the file exists or not.

    It is `speeds.txt` in the configuration folder. None when nothing names that folder.
    """
    folder = configuration_folder(environment)
    return None if folder is None else folder / MEASURED
