"""Unmodified binaries under QEMU: counts are exact, order is as for compiled programs."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from autofinity._core import trace as core
from autofinity.capture.binary import BinaryRequest, capture_binary, emulator, library_folder
from autofinity.capture.build import Compilers, build_program
from autofinity.capture.run import CaptureRequest, arguments_of
from autofinity.capture.suite_capture import capture_suite
from autofinity.model.errors import CaptureError, UsageError
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite
from autofinity.trace.meta import TraceMeta

from .abstract_replay import NAMES, replay
from .captured import Workshop


def missing() -> str | None:
    try:
        emulator()
    except CaptureError as error:
        return str(error)
    return None


needs_qemu = pytest.mark.skipif(missing() is not None, reason=missing() or "")


def build(folder: Path, source: str, flags: str = "-O1") -> Path:
    (folder / "p.c").write_text(source)
    command = ["gcc", *flags.split(), "-w", str(folder / "p.c"), "-o", str(folder / "p")]
    subprocess.run(command, check=True)
    return folder / "p"


def capture(folder: Path, source: str, flags: str = "-O1", **more: Any) -> TraceMeta:
    done = capture_binary(BinaryRequest((str(build(folder, source, flags)),), folder, **more))
    assert done.exit_code == 0
    return done.meta


def replays(meta: TraceMeta) -> Any:
    trace = core.read(str(meta.path))
    for seed in range(3):
        replay(trace, seed)
    return trace


MARKED = """
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
static _Alignas(64) volatile long a[4096];
static _Alignas(64) char copy[8192];
int main(void) {
    autofinity_roi_begin();
    BODY
    autofinity_roi_end();
}
"""
# The loops are written in machine code, so that their counts are known.
LOOP = """
    for (int i = 0; i < 1; i++)
        __asm__ volatile("mov $1000, %%ecx\\n1: mov (%0), %%rax\\n mov %%rax, 8(%0)\\n"
                         "dec %%ecx\\n jnz 1b" :: "r"(a) : "rax", "rcx", "memory");
"""
STRING = """
    char* to = copy; long n = 5000;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(7) : "memory");
"""
VECTOR = """
    __asm__ volatile("mov $1000, %%ecx\\n1: movups (%0), %%xmm0\\n movups %%xmm0, 8(%0)\\n"
                     "dec %%ecx\\n jnz 1b" :: "r"(a) : "xmm0", "rcx", "memory");
"""
LOCKED = """
    __asm__ volatile("mov $1000, %%ecx\\n1: lock incq (%0)\\n dec %%ecx\\n jnz 1b"
                     :: "r"(a) : "rcx", "memory");
"""


@needs_qemu
def test_an_installation_below_a_folder_with_a_blank_captures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "site env: ours"
    elsewhere.symlink_to(library_folder())
    monkeypatch.setattr("autofinity.capture.binary.library_folder", lambda: elsewhere)
    work = "for (int i = 0; i < 1000; i++) a[i]++;"
    meta = capture(tmp_path, MARKED.replace("BODY", work), roi="marks")
    assert meta.roi_accesses >= 2000


@needs_qemu
@pytest.mark.parametrize(
    ("body", "accesses", "instructions"),
    [(LOOP, 2000, 4001), (STRING, 5000, 1), (VECTOR, 2000, 4001), (LOCKED, 2000, 3001)],
    ids=["loop", "string", "vector", "locked"],
)
def test_accesses_and_instructions_of_a_binary_are_exact(
    tmp_path: Path, body: str, accesses: int, instructions: int
) -> None:
    (base,) = capture(tmp_path, MARKED.replace("BODY", ""), roi="marks").streams
    (done,) = capture(tmp_path, MARKED.replace("BODY", body), roi="marks").streams
    assert 0 <= done.roi_accesses - base.roi_accesses - accesses <= 8
    assert 0 <= done.roi_instructions - base.roi_instructions - instructions <= 8


# Instruction, then loads and stores of its line, and of the next.
FORMS = (
    ("mov (%0), %%rax", (1, 0), (0, 0)),
    ("movzbl 3(%0), %%eax", (1, 0), (0, 0)),
    ("movslq 60(%0), %%rax", (1, 0), (0, 0)),
    ("mov 61(%0), %%eax", (1, 0), (1, 0)),
    ("add 2(%0), %%ax", (1, 0), (0, 0)),
    ("cmp %%al, 5(%0)", (1, 0), (0, 0)),
    ("test %%rax, (%0)", (1, 0), (0, 0)),
    ("add %%rax, (%0)", (1, 1), (0, 0)),
    ("mov %%r9w, 62(%0)", (0, 1), (0, 0)),
    ("mov %%rax, 60(%0)", (0, 1), (0, 1)),
    ("movb $7, 63(%0)", (0, 1), (0, 0)),
    ("movsd 56(%0), %%xmm0", (1, 0), (0, 0)),
    ("movss %%xmm0, 4(%0)", (0, 1), (0, 0)),
    ("mulsd (%0), %%xmm0", (1, 0), (0, 0)),
    ("movapd 16(%0), %%xmm8", (1, 0), (0, 0)),
    ("movaps %%xmm0, 48(%0)", (0, 1), (0, 0)),
    ("movdqa %%xmm0, (%0)", (0, 1), (0, 0)),
    ("mulpd 32(%0), %%xmm0", (1, 0), (0, 0)),
    ("movups 24(%0), %%xmm0", (1, 0), (0, 0)),
    ("movupd %%xmm0, 56(%0)", (0, 1), (0, 1)),
    ("movdqu 60(%0), %%xmm0", (1, 0), (1, 0)),
    ("unpcklpd 16(%0), %%xmm0", (1, 0), (0, 0)),
    ("xchg %%rax, (%0)", (1, 1), (0, 0)),
    ("pushq 8(%0)\\n pop 16(%0)", (1, 1), (0, 0)),
)


@needs_qemu
def test_each_kind_of_instruction_is_recorded_once_a_line(tmp_path: Path) -> None:
    loops = "".join(
        f'__asm__ volatile("mov $1000, %%ecx\\n1: {text}\\n dec %%ecx\\n jnz 1b"'
        f' :: "r"((char*)a + {128 * i}) : "rax", "rcx", "r9", "xmm0", "xmm8", "memory");'
        for i, (text, _, _) in enumerate(FORMS)
    )
    meta = capture(tmp_path, MARKED.replace("BODY", loops), flags="-O1 -mno-red-zone", roi="marks")
    events = core.read(str(meta.path)).events(0)
    accesses = events[events["kind"] == 0]
    counted: dict[int, list[int]] = {}
    for line, reads, writes in zip(
        accesses["value"], accesses["reads"], accesses["writes"], strict=True
    ):
        of_line = counted.setdefault(int(line), [0, 0])
        of_line[0] += int(reads)
        of_line[1] += int(writes)
    low = min(line for line, (reads, _) in counted.items() if reads >= 1000)
    found = [
        (text, *(tuple(counted.get(low + 2 * i + k, (0, 0))) for k in range(2)))
        for i, (text, _, _) in enumerate(FORMS)
    ]
    assert found == [
        (text, *((1000 * reads, 1000 * writes) for reads, writes in lines))
        for text, *lines in FORMS
    ]


THREADS = r"""
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static sem_t s;
static long total, part[3][4096];
static void* work(void* p) {
    long* mine = part[(long)p];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4096; i++) mine[i] += i;
        pthread_mutex_lock(&m); total += mine[7]; pthread_mutex_unlock(&m);
        pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw);
        pthread_barrier_wait(&b);
    }
    sem_post(&s);
    return 0;
}
int main(void) {
    pthread_t t[3];
    pthread_barrier_init(&b, 0, 3); sem_init(&s, 0, 0);
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 3; i++) sem_wait(&s);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    printf("total %p %p\n", (void*)&total, (void*)part);
    return total != 5 * 3 * 7 * 3;
}
"""
OWN_MEMORY = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* p) {
    for (int i = 0; i < 200; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    return p;
}
int main(void) {
    char line[4096];
    FILE* maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "libautofinity-preload") && strstr(line, " rw")) printf("own %s", line);
    fclose(maps);
    pthread_t t;
    work(0);
    autofinity_roi_begin();
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    autofinity_roi_end();
}
"""


@needs_qemu
def test_what_the_runtime_touches_itself_is_not_in_the_trace_of_a_binary(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    meta = capture(tmp_path, OWN_MEMORY, "-O1 -pthread -Wl,-z,now", roi="marks")
    said = [line.split()[1] for line in capfd.readouterr().out.splitlines() if "own" in line]
    assert said
    for first, last in ([int(at, 16) >> 6 for at in span.split("-")] for span in said):
        for stream in range(2):
            events = core.read(str(meta.path)).events(stream)
            lines = events["value"][(events["kind"] == 0) & (events["writes"] > 0)]
            assert not ((lines >= first) & (lines < last)).any(), stream


SHARED_LOOP = r"""
#include <stdio.h>
static double a[1 << 14];
int main(void) {
    double sum = 0;
    #pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum)
    for (int i = 0; i < 1 << 14; i++) { a[i] = i; sum += a[i]; }
    #pragma omp parallel
    #pragma omp single
    for (int i = 0; i < 8; i++)
        #pragma omp task
        a[i]++;
    return sum < 0;
}
"""


def synchronisation(trace: Any) -> dict[str, int]:
    """How often each kind of event comes, but for accesses and awaits, which depend on the run."""
    left_out = (NAMES.index("access"), NAMES.index("compute"), NAMES.index("await"))
    counts: dict[str, int] = {}
    for stream in range(trace.streams):
        for kind in trace.events(stream)["kind"].tolist():
            if kind not in left_out:
                counts[NAMES[kind]] = counts.get(NAMES[kind], 0) + 1
    return counts


@needs_qemu
@pytest.mark.parametrize(
    ("source", "flags"),
    [(THREADS, "-O1 -pthread"), (SHARED_LOOP, "-O1 -fopenmp")],
    ids=["pthreads", "openmp"],
)
def test_a_binary_synchronises_as_the_compiled_program_does(
    tmp_path: Path, source: str, flags: str
) -> None:
    environment = {"OMP_NUM_THREADS": "3", "AUTOFINITY_CAPTURE_ROI": "parallel"}
    compiled = Workshop(tmp_path).run(source, flags=flags, env=environment)
    assert compiled.code == 0
    trace = replays(capture(tmp_path, source, flags, threads=3))
    expected, found = synchronisation(compiled.trace), synchronisation(trace)
    # Each join, or end of a team, may be the end of the region: as many in both.
    assert found == expected


def first_level_misses(trace: Any, stream: int, lines: tuple[int, int]) -> int:
    """Misses in [first, last] of a 32 KiB, 8-way LRU cache of its own."""
    sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(64)]
    events = trace.events(stream)
    misses = 0
    for line in events["value"][events["kind"] == 0].tolist():
        ways = sets[line % 64]
        if line in ways:
            ways.move_to_end(line)
            continue
        misses += lines[0] <= line <= lines[1]
        ways[line] = None
        if len(ways) > 8:
            ways.popitem(last=False)
    return misses


REGIONS = r"""
#include <pthread.h>
#include <stdio.h>
enum { N = 12000, SMALL = 1000 };
static _Alignas(64) double stream[2][N], table[2][SMALL], random_[2][N];
static void* work(void* p) {
    const long me = (long)p;
    unsigned x = 1 + me;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < N; i++) {
            x = x * 1664525u + 1013904223u;
            stream[me][i] += table[me][i % SMALL];
            random_[me][x % N] += i;
        }
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf("stream %p table %p random %p\n", (void*)stream, (void*)table, (void*)random_);
}
"""


@needs_qemu
def test_first_level_misses_by_array_are_those_of_the_compiled_program(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flags = "-O2 -pthread -no-pie"  # the same addresses wherever it runs
    compiled = Workshop(tmp_path).run(REGIONS, flags=flags)
    capfd.readouterr()
    trace = core.read(str(capture(tmp_path, REGIONS, flags).path))
    printed = capfd.readouterr().out
    for name, size in (("stream", 2 * 12000 * 8), ("table", 2 * 1000 * 8), ("random", 192000)):
        here = int(printed.split(f"{name} ")[1].split()[0], 16)
        there = compiled.address(name)
        for thread in (1, 2):
            misses = [
                first_level_misses(of, thread, (at >> 6, (at + size - 1) >> 6))
                for of, at in ((compiled.trace, there), (trace, here))
            ]
            assert misses[0] > 100, (name, misses)
            assert abs(misses[1] / misses[0] - 1) <= 0.05, (name, thread, misses)


@needs_qemu
@pytest.mark.parametrize("name", ["cg", "stencil"])
def test_first_level_misses_of_a_training_program_are_those_of_the_compiled_one(
    name: str, tmp_path: Path
) -> None:
    suite = load_suite(shipped("training", "suite.toml"))
    spec = suite.programs[name]
    (meta,) = capture_suite(suite, [name], 4, "tiny", tmp_path)
    plain = build_program(suite, spec, Compilers.find({}), tmp_path / ".builds", instrumented=False)
    argv = arguments_of(CaptureRequest(suite, spec, plain, 4, "tiny", tmp_path))
    other = capture_binary(BinaryRequest(argv, tmp_path, 4, spec.roi)).meta
    # The main thread's stream holds the start of the process, which compiled programs do not see.
    workers, everything = (1, 2, 3), (0, 1 << 58)
    misses = [
        sum(first_level_misses(core.read(str(path)), i, everything) for i in workers)
        for path in (meta.path, other.path)
    ]
    assert misses[0] > 10_000
    assert abs(misses[1] / misses[0] - 1) <= 0.05, misses
    replays(other)


@needs_qemu
def test_the_exit_code_of_a_binary_is_told_and_its_trace_kept(tmp_path: Path) -> None:
    program = build(tmp_path, "int main(void) { return 3; }")
    done = capture_binary(BinaryRequest((str(program),), tmp_path, roi="whole"))
    assert done.exit_code == 3
    assert core.read(str(done.meta.path)).n_accesses > 0


@needs_qemu
def test_a_binary_without_threads_is_told_to_take_the_whole(tmp_path: Path) -> None:
    program = build(tmp_path, "int main(void) { return 0; }")
    with pytest.raises(CaptureError, match="--roi whole"):
        capture_binary(BinaryRequest((str(program),), tmp_path))


@needs_qemu
@pytest.mark.parametrize(
    ("flags", "reason"),
    [("-O1 -static", "is statically linked"), ("-O1 -m32 -nostdlib", "is no 64-bit x86 program")],
)
def test_what_cannot_be_captured_is_refused_before_it_runs(
    tmp_path: Path, flags: str, reason: str
) -> None:
    try:
        program = build(
            tmp_path,
            "void _start(void) {}" if "nostdlib" in flags else "int main(void) { return 0; }",
            flags,
        )
    except subprocess.CalledProcessError:
        pytest.skip(f"this compiler cannot build with {flags}")
    with pytest.raises(UsageError, match=reason):
        capture_binary(BinaryRequest((str(program),), tmp_path))


@needs_qemu
def test_scripts_and_missing_programs_are_refused_with_what_to_do(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    with pytest.raises(UsageError, match="name its interpreter"):
        capture_binary(BinaryRequest((str(script),), tmp_path))
    with pytest.raises(UsageError, match="no such executable file"):
        capture_binary(BinaryRequest((str(tmp_path / "nothing"),), tmp_path))


def test_without_qemu_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="apt install qemu-user"):
        capture_binary(BinaryRequest((sys.executable,), tmp_path), {"PATH": str(tmp_path)})


def test_another_qemu_is_refused_with_the_versions_expected(tmp_path: Path) -> None:
    fake = tmp_path / "qemu-x86_64"
    fake.write_text("#!/bin/sh\necho qemu-x86_64 version 10.0.2\n")
    fake.chmod(0o755)
    with pytest.raises(CaptureError, match=r"version 10\.0\.2; .* expected QEMU 6 to 8"):
        emulator({"PATH": str(tmp_path)})
