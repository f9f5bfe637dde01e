"""Unmodified binaries under QEMU: accesses and instructions are counted exactly."""

from pathlib import Path

import pytest
from captured_binary import MARKED, capture, captured, needs_qemu

from autofinity.trace.meta import StreamMeta

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


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> StreamMeta:
    """Content of an empty region of interest."""
    folder = tmp_path_factory.mktemp("unchanged")
    (stream,) = capture(folder, MARKED.replace("BODY", ""), roi="marks").streams
    return stream


@needs_qemu
@pytest.mark.parametrize(
    ("body", "accesses", "instructions"),
    [(LOOP, 2000, 4001), (STRING, 5000, 1), (VECTOR, 2000, 4001), (LOCKED, 2000, 3001)],
    ids=["loop", "string", "vector", "locked"],
)
def test_accesses_and_instructions_of_a_binary_are_exact(
    unchanged: StreamMeta, tmp_path: Path, body: str, accesses: int, instructions: int
) -> None:
    (done,) = capture(tmp_path, MARKED.replace("BODY", body), roi="marks").streams
    assert 0 <= done.roi_accesses - unchanged.roi_accesses - accesses <= 8
    assert 0 <= done.roi_instructions - unchanged.roi_instructions - instructions <= 8


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
    events = captured(meta).raw(0)
    counted: dict[int, list[int]] = {}
    for event in events[events["kind"] == 0]:
        of_line = counted.setdefault(int(event["value"]), [0, 0])
        of_line[0] += int(event["reads"])
        of_line[1] += int(event["writes"])
    low = min(line for line, (reads, _) in counted.items() if reads >= 1000)
    found = [
        (text, *(tuple(counted.get(low + 2 * i + k, (0, 0))) for k in range(2)))
        for i, (text, _, _) in enumerate(FORMS)
    ]
    assert found == [
        (text, *((1000 * reads, 1000 * writes) for reads, writes in lines))
        for text, *lines in FORMS
    ]


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
    int own = 0;  // in the library's mappings, and the one without a name behind them: its zeros
    FILE* maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        const int named = strstr(line, "libautofinity-preload") != 0;
        own = named || (own && !strchr(line, '/'));
        if (own && strstr(line, " rw")) printf("own %s", line);
        own = named;
    }
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
    assert len(said) == 2
    run = captured(meta)
    for first, last in ([int(at, 16) for at in span.split("-")] for span in said):
        for stream in (0, 1):
            _, writes = run.counts(stream, first, last - first)
            assert writes == 0, stream
