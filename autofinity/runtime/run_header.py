"""Subject of a run's rows in the behaviour database."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.runtime.masks import Binding


@dataclass(frozen=True, slots=True)
class RunHeader:
    """Program, settings and machine of a run."""

    program: str
    """Key of the program."""
    path: str
    pid: int
    tier: str
    threads: int
    """Promised thread count; 0: the count that was seen."""
    policy: str
    """Digest of the policy; empty without one."""
    bind: Binding
    allowed: str
    """CPU list allowed at the start."""
    machine: str = ""
    """The machine (`machine_text`): observations of different machines are never mixed."""
    place: str = ""
    """The part of the machine that the program may use at the start (`place_text`): an answer
    holds for CPUs of the same shape and model."""
    policy_path: str = ""
    earlier_run: int = 0
    """Number of the run that watched this process before; 0: none."""
    near: str = ""
    """Device that hints prefer; empty: none."""
    site: str = ""
    """Name of the site's database that the run is to be sent to; empty: to none."""
    started: float = 0.0
    """Unix time at which the program was started; 0: it ran already, and is watched from now on."""
    divided: bool = False
    """Whether the program is a rank that keeps to its share: its cores are those of no other."""
