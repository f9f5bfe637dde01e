"""Latencies and bandwidths of the machine this runs on (C++; see autofinity/native/measure).

Every function runs threads pinned to the OS indices given, and returns one value a round. A CPU or
a node that may not be used is an `OSError` that says which.
"""

from collections.abc import Sequence

MOST_CHAINS: int

def chase_ns(
    cpu: int,
    lines: int,
    *,
    stride_bytes: int = 64,
    node: int = -1,
    large_pages: bool = True,
    chains: int = 1,
    rounds: int = 5,
) -> list[float]:
    """Nanoseconds a load of a random pointer chase; `chains` is 1 or `MOST_CHAINS`."""

def clock_ghz(cpu: int, rounds: int = 5) -> list[float]: ...
def atomic_ns(cpu: int, rounds: int = 5) -> list[float]: ...
def page_fault_ns(cpu: int, rounds: int = 5) -> list[float]: ...
def handover_ns(cpu: int, other_cpu: int, rounds: int = 5) -> list[float]:
    """Nanoseconds from core to core; empty when the two never ran at the same time."""

def switch_ns(cpu: int, rounds: int = 5) -> list[float]:
    """Nanoseconds from thread to thread of one CPU by `sched_yield`; the median of each round.

    Rounds in which the other thread never ran have no value; so do the two functions below.
    """

def wake_and_switch_ns(cpu: int, rounds: int = 5) -> list[float]:
    """Nanoseconds from thread to thread of one CPU through a pipe; the median of each round."""

def move_ns(cpu: int, other_cpu: int, rounds: int = 5) -> list[float]:
    """Nanoseconds of moving the calling thread to another CPU; the median of each round."""

def read_gbs(cpus: Sequence[int], node: int, bytes_each: int, rounds: int = 3) -> list[float]: ...
def cpuid(cpu: int, leaf: int, subleaf: int = 0) -> tuple[int, int, int, int] | None:
    """EAX, EBX, ECX, EDX; None where there is no such leaf or no such instruction."""
