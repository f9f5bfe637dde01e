"""The capability ladder of this machine: what can be measured and bound, and what enables more.

Every probe asks the kernel without any change, and returns an outcome, errno's name where the
kernel refused, and the remedy. The launcher takes the same steps natively before each run.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity.linux.access_events import (
    NO_ACCESS_PMU,
    PAGE_FAULTS,
    AccessEvent,
    pmu_events,
)
from autofinity.linux.event_tables import Encoding, cross_core_events, event_table, this_cpu
from autofinity.linux.forbidden import ends_us
from autofinity.linux.kernel_file import read_text
from autofinity.linux.perf import explain
from autofinity.linux.perf_event import open_event
from autofinity.linux.syscalls import syscall
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.ratios import CROSS_CORE_COUNTERS

_HARDWARE_CYCLES = Encoding(0, 0)
_TASK_CLOCK = Encoding(1, 1)

TIERS = (
    "memory sampling",
    "hardware counters",
    "software events",
    "page-fault sampling",
    "topology only",
)
"""Steps of the ladder, best first."""


@dataclass(frozen=True, slots=True)
class Capability:
    """A measurement or action, and whether this machine permits it."""

    name: str
    available: bool
    detail: str
    """Findings; where the capability is missing, errno's name and its meaning."""
    remedy: str = ""
    """Remedy; empty where nothing is missing or nothing helps."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Results of all probes, and the step that a run uses."""

    capabilities: tuple[Capability, ...]
    tier: str

    def __getitem__(self, name: str) -> Capability:
        """The capability of that name. Raises `KeyError`."""
        for capability in self.capabilities:
            if capability.name == name:
                return capability
        raise KeyError(name)


def probe(sysfs: Path = Path("/sys"), procfs: Path = Path("/proc")) -> Ladder:
    """Run every probe once: some milliseconds, no side effects."""
    capabilities = (
        _memory_sampling(sysfs),
        _event("hardware counters", lambda: open_event(_HARDWARE_CYCLES, 0), procfs),
        _cross_core(procfs),
        _software(procfs),
        _event(
            "page-fault sampling",
            lambda: PAGE_FAULTS.open(0),
            procfs,
        ),
        _numa_hinting(procfs),
        _lived_through("thread binding", _binding),
        _lived_through("page migration", _page_migration),
        _lived_through("monitor", _pidfd),
        _nodes(sysfs),
        _seccomp(procfs),
    )
    # Memory sampling shows which threads share, but no policy is learned from it: it is no tier.
    by_name = {capability.name: capability for capability in capabilities}
    tier = next((name for name in TIERS[1:-1] if by_name[name].available), TIERS[-1])
    return Ladder(capabilities, tier)


def _lived_through(name: str, probed: Callable[[], Capability]) -> Capability:
    """Result of a probe that a child makes first, in case a filter ends the process."""
    if ends_us(probed):
        return Capability(
            name,
            False,
            "a seccomp filter kills the caller",
            "allow it in the filter; beside systemd's SystemCallFilter=, "
            "SystemCallErrorNumber=EPERM refuses it instead",
        )
    return probed()


def _memory_sampling(sysfs: Path) -> Capability:
    events = pmu_events(sysfs / "bus/event_source/devices")
    why_not = _refusal(events)
    if not why_not:
        return Capability("memory sampling", True, ", ".join(event.name for event in events))
    if events:
        remedy = (
            "sudo sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON; for memory that is locked "
            "kernel.perf_event_mlock_kb=2048"
        )
    elif os.uname().machine == "aarch64":
        remedy = (
            "sudo modprobe arm_spe_pmu; where the kernel log says that the profiling buffer is "
            "inaccessible, boot with kpti=off; run on bare metal"
        )
    else:
        remedy = "run on bare metal, or let the hypervisor pass the PMU through (with PEBS or IBS)"
    return Capability("memory sampling", False, why_not, remedy)


def _refusal(events: Sequence[AccessEvent]) -> str:
    if not events:
        return NO_ACCESS_PMU
    # Rings load the native core in 5 ms, which most virtual machines do not need.
    from autofinity.linux.address_sampling import refusal

    return refusal(events)


def _event(name: str, opening: Callable[[], int], procfs: Path) -> Capability:
    try:
        os.close(opening())
    except OSError as error:
        code = error.errno or 0
        remedies = {
            errno.ENOENT: "run on bare metal, or let the hypervisor pass the PMU through",
            errno.EACCES: "sudo sysctl kernel.perf_event_paranoid=2, or CAP_PERFMON "
            f"(it is {_paranoid(procfs)})",
            errno.EPERM: "allow perf_event_open in the container's seccomp profile",
            errno.ENOSYS: "a kernel with CONFIG_PERF_EVENTS",
            errno.EMFILE: "ulimit -n",
        }
        return Capability(name, False, explain(code), remedies.get(code, ""))
    return Capability(name, True, f"permitted (kernel.perf_event_paranoid is {_paranoid(procfs)})")


def _cross_core(procfs: Path) -> Capability:
    """Whether this CPU's family has events for lines from other cores' caches, and which events."""
    cpu = this_cpu(procfs / "cpuinfo")
    found = cross_core_events(event_table(cpu))
    family = f"{cpu.vendor or 'unknown'}, family {cpu.family}, model {cpu.model}"
    if not found:
        detail = f"no known event of this CPU counts lines from other cores' caches ({family})"
        return Capability("cross-core events", False, detail)
    names = ", ".join(f"{CROSS_CORE_COUNTERS[name]} ({name})" for name in found)
    return Capability("cross-core events", True, f"lines from caches {names}")


def _software(procfs: Path) -> Capability:
    if (procfs / "self/stat").exists():
        by_perf = _event("software events", lambda: open_event(_TASK_CLOCK, 0), procfs)
        source = (
            "from /proc and perf" if by_perf.available else f"/proc; perf gives {by_perf.detail}"
        )
        return Capability("software events", True, source, by_perf.remedy)
    return Capability("software events", False, "/proc is not mounted", "mount -t proc proc /proc")


def _numa_hinting(procfs: Path) -> Capability:
    text = read_text(str(procfs / "sys/kernel/numa_balancing")).strip()
    if not text:
        return Capability(
            "NUMA hinting faults",
            False,
            "the kernel has no kernel.numa_balancing",
            "a kernel with CONFIG_NUMA_BALANCING",
        )
    may = os.access(procfs / "sys/kernel/numa_balancing", os.W_OK)
    return Capability(
        "NUMA hinting faults",
        may,
        f"kernel.numa_balancing is {text}"
        + (", and you may change it" if may else ", and only root may change it"),
        "" if may else "run as root, with --arm",
    )


def _binding() -> Capability:
    # An empty mask is refused with EINVAL after the permission checks, and changes nothing.
    try:
        os.sched_setaffinity(0, [])
    except OSError as error:
        if error.errno != errno.EINVAL:
            return Capability(
                "thread binding",
                False,
                f"sched_setaffinity: {errno.errorcode.get(error.errno or 0, '?')}",
                "allow sched_setaffinity in the container's seccomp profile",
            )
    count = len(os.sched_getaffinity(0))
    if count == 1:
        return Capability(
            "thread binding",
            False,
            "only one CPU is allowed here",
            "allow more CPUs (cpuset, mask)",
        )
    return Capability("thread binding", True, f"{count} CPUs are allowed")


def _page_migration() -> Capability:
    page = ctypes.create_string_buffer(1)
    addresses = (ctypes.c_void_p * 1)(ctypes.addressof(page))
    status = (ctypes.c_int * 1)()
    try:
        syscall("move_pages", 0, 1, addresses, ctypes.c_void_p(None), status, 0)
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "?")
        return Capability(
            "page migration",
            False,
            f"move_pages: {name}",
            "a kernel with CONFIG_NUMA; in a container CAP_SYS_NICE",
        )
    return Capability("page migration", True, "permitted (move_pages works)")


def _pidfd() -> Capability:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (OSError, AttributeError) as error:
        return Capability("monitor", False, f"pidfd_open: {error}", "a kernel from 5.3")
    return Capability("monitor", True, "permitted (pidfd_open works)")


def _nodes(sysfs: Path) -> Capability:
    text = read_text(str(sysfs / "devices/system/node/online"))
    count = len(parse_cpu_list(text)) if text.strip() else 1
    found = f"{count} nodes" if count > 1 else "1 node: all memory is equally near"
    return Capability("NUMA nodes", count > 1, found)


def _seccomp(procfs: Path) -> Capability:
    for line in read_text(str(procfs / "self/status")).splitlines():
        if line.startswith("Seccomp:"):
            mode = line.split(":")[1].strip()
            return Capability(
                "free of seccomp",
                mode == "0",
                {"0": "no filter is active", "1": "strict mode", "2": "a filter is active"}.get(
                    mode, mode
                ),
                "" if mode == "0" else "allow in the filter what fails with EPERM here",
            )
    return Capability("free of seccomp", True, "the kernel has no seccomp")


def _paranoid(procfs: Path) -> str:
    return read_text(str(procfs / "sys/kernel/perf_event_paranoid")).strip() or "unknown"
