"""One life of a guest: started, read from, and killed when its time is over."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from initramfs import initramfs
from machines import Machine
from packages import NoGuestError, Parts

_PR_SET_PDEATHSIG = 1
_KERNEL = (
    "console=ttyS0 quiet panic=-1 mitigations=off nokaslr nowatchdog "
    # On a loaded host CPUs stand still now and then.
    "tsc=reliable no_timer_check rcupdate.rcu_cpu_stall_suppress=1 "
    # Tests that need the kernel to move pages or to use large ones switch that on.
    "transparent_hugepage=never numa_balancing=disable"
)


def run(machine: Machine, parts: Parts, task: Path, accelerator: str, limit_s: float) -> int:
    """Boots a guest that runs the script `task/task`; its output goes to ours. Exit code of the
    task.

    Raises `NoGuestError` when the guest has not answered within `limit_s` or ended without an
    answer.
    """
    first = task / "initramfs"
    first.write_bytes(initramfs(parts))
    status = task / "status"
    status.unlink(missing_ok=True)
    command, environment = parts.qemu()
    command += [
        "-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-serial", "stdio",
        "-machine", "q35,hpet=off", *_processor(accelerator), *machine.options(),
        "-kernel", str(parts.kernel), "-initrd", str(first), "-append", _KERNEL,
        *_folder("host", Path("/"), ",readonly=on"), *_folder("task", task),
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_die_with_parent,
    )
    try:
        ended, last = _listen(process, time.monotonic() + limit_s)
    finally:
        process.kill()
        process.wait()
    if status.exists() and (answer := status.read_text().strip()):
        return int(answer)
    when = "ended without an answer" if ended else f"gave no answer within {limit_s:.0f} s"
    raise NoGuestError(f"the guest {when}; its last words: {last}")


def _processor(accelerator: str) -> list[str]:
    if accelerator == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    # One thread for all CPUs: with one for each they wait for QEMU's lock far longer than they run.
    # Dies exist in the CPUID of Intel's CPUs only.
    return ["-accel", "tcg,thread=single", "-cpu", "Nehalem"]


def _folder(tag: str, path: Path, more: str = "") -> list[str]:
    shared = f"local,id={tag},path={path},security_model=none,multidevs=remap{more}"
    return ["-fsdev", shared, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _listen(process: subprocess.Popen[bytes], end: float) -> tuple[bool, str]:
    """Pass on the guest's output until `end`. Returns whether the guest ended before, and its last
    line.
    """
    assert process.stdout is not None
    said, ended = b"", False
    ready = select.poll()
    ready.register(process.stdout, select.POLLIN | select.POLLHUP)
    while not ended and (left := end - time.monotonic()) > 0:
        if not ready.poll(min(left, 1.0) * 1000):
            continue
        heard = os.read(process.stdout.fileno(), 4096)
        ended = not heard
        said = (said + heard)[-4096:]
        sys.stdout.buffer.write(heard)
        sys.stdout.buffer.flush()
    lines = said.decode(errors="replace").strip().splitlines()
    return ended, lines[-1].strip() if lines else "none"
