"""Sampled accesses: `perf script`, `perf c2c report`, and where data came from."""

from __future__ import annotations

from collections import Counter

import pytest
from measurement_files import THREADS, measured, text_of

from autofinity.measured.counts import MeasuredError
from autofinity.measured.data_source import Source, source_of
from autofinity.measured.perf_c2c import read_perf_c2c
from autofinity.measured.perf_script import read_perf_script

SHARES = {
    "llc_requests": 45,
    "llc_misses": 30,
    "cache_to_cache_transfers_other_llc": 6,
    "dram_reads_local": 16,
    "dram_reads_remote": 8,
}


@pytest.mark.parametrize(
    ("word", "source"),
    [
        (0x68100142, Source.CORE),  # LVL L1 hit
        (0x68100242, Source.CORE),  # LVL LFB hit
        (0x68100842, Source.OWN_LLC),  # LVL L3 hit, SNP None
        (0x68200842, Source.BESIDE),  # SNP Hit
        (0x68800842, Source.BESIDE_CHANGED),  # SNP HitM
        (0x8688000842, Source.BESIDE),  # Arm: L3, SNP Peer
        (0x68101042, Source.LOCAL_MEMORY),
        (0x68102042, Source.REMOTE_MEMORY),
        (0x68208042, Source.OTHER_CACHE),
        (0x68808042, Source.OTHER_CHANGED),
        (0x10668100842, Source.OWN_LLC),  # with the level's number, as newer kernels have it
        (0x1A00000002, Source.LOCAL_MEMORY),  # the number alone: RAM
        (0x3A00000002, Source.REMOTE_MEMORY),
        (0x2600000002, Source.OTHER_CACHE),  # L3, remote
        (0x68100144, Source.STORE),
        (0x68100084, Source.STORE),
        (0x0, Source.UNKNOWN),
        (0x68100062 & ~0x40, Source.UNKNOWN),  # a level that is not known
    ],
)
def test_the_number_says_what_answered_an_access(word: int, source: Source) -> None:
    assert source_of(word) is source


@pytest.mark.parametrize("name", ["perf-script-4.15.txt", "perf-script-6.6.txt"])
def test_samples_are_counted_by_what_answered_them(name: str) -> None:
    found = measured(name)
    assert {name: found.counts[name].value for name in SHARES} == SHARES
    assert found.counts["cache_to_cache_transfers_same_llc"].value == 2
    assert found.threads == THREADS
    assert found.cpus == (0, 1, 4, 5)
    assert found.shows[0].startswith("55 samples: loads that the own LLC missed 30, of remote")
    assert [line.split(":")[0] for line in found.shows[1:]] == [
        f"thread {tid}" for tid in range(4711, 4715)
    ]


def test_samples_keep_thread_cpu_and_page() -> None:
    samples = measured("perf-script-6.6.txt").samples
    assert samples is not None
    assert set(samples.tids) == {4711, 4712, 4713, 4714}
    assert set(samples.cpus) == {0, 1, 4, 5}
    assert {page >> 20 for page in samples.pages} == {0x7F0000000000 >> 32}
    assert Counter(samples.sources)[Source.STORE] == 4


@pytest.mark.parametrize(
    ("line", "tid", "cpu", "page"),
    [
        ("app 7 [003] 1.5: mem-loads: 7f001040 68101042 |OP LOAD|LVL x", 7, 3, 0x7F001),
        ("my app 6/7 [003] 1.5:   100 cpu/mem-loads/P: 7f001040 68101042 |OP LOAD", 7, 3, 0x7F001),
        ("app 7 1.5: mem-loads: 7f001040 68101042 |OP LOAD", 7, -1, 0x7F001),
        ("app 7 1.5: mem-loads: 68101042 |OP LOAD", 7, -1, -1),
        ("mem-loads: 68101042 |OP LOAD", -1, -1, -1),
        ("7f001040 68101042 |OP LOAD", -1, -1, 0x7F001),
    ],
)
def test_fields_that_were_not_asked_for_are_not_missed(
    line: str, tid: int, cpu: int, page: int
) -> None:
    samples = read_perf_script(line + "\n").samples
    assert samples is not None
    assert (list(samples.tids), list(samples.cpus), list(samples.pages)) == ([tid], [cpu], [page])


@pytest.mark.parametrize("name", ["perf-c2c-4.15.txt", "perf-c2c-6.6.txt"])
def test_the_statistics_of_c2c_are_counts_of_loads(name: str) -> None:
    found = measured(name)
    assert {name: found.counts[name].value for name in SHARES} == {
        name: 10 * value for name, value in SHARES.items()
    }
    assert found.threads == 0
    assert found.shows[-1] == "HITM in the own LLC domain 20, in others 50"


def test_a_report_without_any_load_beyond_the_core_says_how_to_get_one() -> None:
    text = "".join(
        line if ":" not in line else line.rpartition(":")[0] + ": 0\n"
        for line in text_of("perf-c2c-6.6.txt").splitlines(keepends=True)
    )
    with pytest.raises(MeasuredError, match="record for longer"):
        read_perf_c2c(text)
