"""`perf script` of what `perf mem record` (or `perf c2c record`) sampled.

Source: tools/perf/builtin-script.c. Fields stand in perf's order, whatever the order of `-F`:

    comm [pid/]tid [cpu] time: [period] event: [address] number |OP …|LVL … [weight] [ip …]

Fields that are not asked for are absent. The parser reads the number before the first `|` and the
fields left of it, and no words: their spelling differs between versions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import islice

from autofinity.measured.counts import (
    MOST_THREADS,
    Count,
    Measured,
    MeasuredError,
    Samples,
    at_work,
)
from autofinity.measured.data_source import Source, counts_of, source_of
from autofinity.measured.lines import is_cut, lines_of

FORMAT = "perf script"
COMMAND = "perf script -F comm,tid,cpu,time,event,addr,data_src"

_PROBED = 1000
_HEX = re.compile(r"(?:0x)?[0-9a-f]{1,16}")
_TIME = re.compile(r"\d{1,12}[.,]\d{1,9}:")
_CPU = re.compile(r"\[(\d{1,6})\]")
_TID = re.compile(r"(?:-?\d{1,10}/)?(\d{1,10})")
_PAGE_BITS = 12


def is_perf_script(text: str) -> bool:
    """Whether one of the first lines is a sample with the source of its data."""
    return any(_sample(line) is not None for line in islice(lines_of(text), _PROBED))


def has_no_sources(text: str) -> bool:
    """Whether its first line is a sample without the source of its data: perf's own choice of
    fields for other events has none.
    """
    words = next((line for line in lines_of(text) if line.strip()), "").split()
    time = next((at for at, word in enumerate(words) if _TIME.fullmatch(word)), 0)
    named = [word for word in words[time + 1 : time + 3] if word.endswith(":")]
    before = words[time - 2 : time] if time > 1 else words[:time]
    return bool(named) and any(_TID.fullmatch(word) for word in before)


def read_perf_script(text: str) -> Measured:
    """Raises `MeasuredError`."""
    samples, last_cpu = Samples(), {}
    work: Counter[int] = Counter()
    found, line = None, ""
    for line in lines_of(text):
        found = _sample(line)
        if found is None:
            continue
        tid, cpu, address, source = found
        samples.tids.append(tid)
        samples.cpus.append(cpu)
        samples.pages.append(address >> _PAGE_BITS if address >= 0 else -1)
        samples.sources.append(source)
        work[tid] += 1
        last_cpu[tid] = cpu
        if len(work) > MOST_THREADS:
            raise MeasuredError(f"got more than {MOST_THREADS} threads, expected those of a run")
    if is_cut(text) and found is None and line.strip():
        raise MeasuredError(
            f"got a last line '{line[:60]}' without its end, expected whole lines of {FORMAT}: the "
            "file is cut off"
        )
    counts = counts_of(Counter(map(Source, samples.sources)))
    if not counts["llc_requests"]:
        raise MeasuredError(
            f"got {len(samples)} samples, none of a load that left its core, expected some: "
            "record for longer, with `perf mem record -t load -- PROGRAM`"
        )
    threads = [tid for tid in at_work(work) if tid > 0]
    cpus = tuple(last_cpu[tid] for tid in threads)
    return Measured(
        FORMAT,
        {name: Count(float(count)) for name, count in counts.items()},
        threads=len(threads),
        cpus=cpus if all(cpu >= 0 for cpu in cpus) else (),
        samples=samples,
        shows=_shows(samples, threads),
    )


def _sample(line: str) -> tuple[int, int, int, Source] | None:
    """Thread, CPU, address and source; -1 for what the line does not say."""
    left, bar, _ = line.partition("|")
    words = left.split()
    if not bar or len(words) < 2 or not _HEX.fullmatch(words[-1]):
        return None
    time = next((at for at, word in enumerate(words) if _TIME.fullmatch(word)), None)
    tid, cpu = -1, -1
    if time is not None:
        before = words[:time]
        if before and (found := _CPU.fullmatch(before[-1])):
            cpu = int(found[1])
            before.pop()
        if before and (found := _TID.fullmatch(before[-1])):
            tid = int(found[1])
    address = -1
    if _HEX.fullmatch(words[-2]) and (time is None or len(words) - 2 > time + 1):
        address = int(words[-2], 16)
    elif time is None and not words[-2].endswith(":"):
        return None
    return tid, cpu, address, source_of(int(words[-1], 16))


_TOLD = 8
"""Threads that are listed one by one."""


def _shows(samples: Samples, threads: list[int]) -> tuple[str, ...]:
    by_thread: defaultdict[int, Counter[Source]] = defaultdict(Counter)
    for tid, source in zip(samples.tids, samples.sources, strict=True):
        by_thread[tid][Source(source)] += 1
    everything: Counter[Source] = Counter(map(Source, samples.sources))
    lines = [f"{len(samples)} samples: {told(everything)}"]
    lines += [f"thread {tid}: {told(by_thread[tid])}" for tid in threads[:_TOLD]]
    if len(threads) > _TOLD:
        lines.append(f"and {len(threads) - _TOLD} threads more")
    return tuple(lines)


def told(found: Counter[Source]) -> str:
    """Where loads were answered, for people."""
    counts = counts_of(found)
    local, remote = found[Source.BESIDE_CHANGED], found[Source.OTHER_CHANGED]
    return (
        f"loads that the own LLC missed {counts['llc_misses']}, of remote memory "
        f"{counts['dram_reads_remote']}, HITM in the own LLC domain {local}, in others {remote}"
    )
