"""Instrumented assembly is the program as its users build it: it computes the same, and is recorded
instruction by instruction."""

import os
import platform
import subprocess
from pathlib import Path

import pytest
from workshop import Captured, Workshop

from autofinity.capture.ways import ASSEMBLY_FLAGS, write_tools

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86-64 only")
AVX2 = "avx2" in Path("/proc/cpuinfo").read_text()
AVX512 = "avx512vl" in Path("/proc/cpuinfo").read_text()


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("code"), "code")


SUM = r"""
#include <stdio.h>
static _Alignas(64) double a[1024], b[1024];
static int at[1024];
__attribute__((noipa)) static void add(void) {
    for (int i = 0; i < 1024; i++) a[i] += b[i];
}
__attribute__((noipa)) static void pick(void) {
    for (int i = 0; i < 1024; i++) a[i] = b[at[i]];
}
__attribute__((noipa)) static long down(long n) { return n < 2 ? n : down(n - 1) + down(n - 2); }
int main(int c, char** v) {
    for (int i = 0; i < 1024; i++) { b[i] = i; at[i] = 1023 - i; }
    if (c > 1) pick(); else add();
    printf("a %p b %p %g %ld\n", (void*)a, (void*)b, a[7], down(12));
}
"""


def _counted(run: Captured, name: str) -> tuple[int, int]:
    assert run.code == 0, run.stderr
    return run.counts(0, run.address(name), 8192)


@pytest.mark.skipif(not AVX2, reason="this processor has no AVX2")
def test_a_vector_access_is_one(code: Workshop) -> None:
    scalar = code.run(SUM, flags="-O1")
    vector = code.run(SUM, flags="-O3 -march=x86-64-v3")
    assert scalar.stdout.split()[-2:] == vector.stdout.split()[-2:] == ["7", "144"]
    assert _counted(scalar, "a")[1] == 1024
    assert 256 <= _counted(vector, "a")[1] <= 260


@pytest.mark.skipif(not AVX2, reason="this processor has no AVX2")
def test_a_gather_loads_each_of_its_lanes(code: Workshop) -> None:
    gathering = "-O3 -march=x86-64-v3 -mtune=skylake"
    run = code.run(SUM, "pick", flags=gathering)
    assert run.stdout.split()[-2:] == ["1016", "144"]
    reads, _ = _counted(run, "b")
    assert 1024 <= reads <= 1030


@pytest.mark.skipif(not AVX512, reason="this processor has no AVX-512")
def test_vectors_of_64_bytes_and_masks_survive(code: Workshop) -> None:
    run = code.run(SUM, "pick", flags="-O3 -march=x86-64-v4 -mprefer-vector-width=512")
    assert run.stdout.split()[-2:] == ["1016", "144"]
    assert 1024 <= _counted(run, "b")[0] <= 1040


ATOMIC_AMONG_VECTORS = r"""
#include <stdatomic.h>
#include <stdio.h>
static atomic_long hits; static volatile int flag; static atomic_int small;
static double x[64];
__attribute__((noipa)) static double mix(double a, double b, long n) {
    double s = a * b, t = a - b, u = a + 2 * b;
    for (long i = 0; i < n; i++) {
        long before = atomic_fetch_add(&hits, 3);
        int seen = 3;
        if (atomic_compare_exchange_strong(&small, &seen, (int)before & 7)) t += seen;
        flag = (int)i;
        s += x[i & 63] * t + (double)before; t -= u * flag; u += s * 1e-3;
        if (atomic_fetch_sub(&hits, 2) == 2) s += 0.5;
    }
    return s + t + u;
}
int main(void) {
    for (int i = 0; i < 64; i++) x[i] = i * 0.25;
    printf("%.17g %ld %d\n", mix(1.5, 2.25, 2000), atomic_load(&hits), atomic_load(&small));
}
"""


@pytest.mark.parametrize(
    "flags", ["-O0", "-O1", "-O2 -fno-omit-frame-pointer", "-Os", "-O3 -mno-red-zone"]
)
def test_registers_and_flags_survive_what_atomics_are_told_by(
    code: Workshop, flags: str, tmp_path: Path
) -> None:
    flags += " -ffp-contract=off"
    (tmp_path / "p.c").write_text(ATOMIC_AMONG_VECTORS)
    subprocess.run(["gcc", *flags.split(), tmp_path / "p.c", "-o", tmp_path / "p"], check=True)
    plain = subprocess.run([tmp_path / "p"], capture_output=True, text=True, check=True)
    run = code.run(ATOMIC_AMONG_VECTORS, flags=flags)
    assert (run.code, run.stdout) == (0, plain.stdout)


def test_code_of_a_shared_object_is_recorded_too(tmp_path: Path) -> None:
    write_tools(tmp_path / "tools", os.environ)
    flags = [flag.replace("{tools}", str(tmp_path / "tools")) for flag in ASSEMBLY_FLAGS]
    (tmp_path / "lib.c").write_text(
        "_Thread_local long own; long table[1000]; static _Atomic long n;\n"
        "long work(void) { for (int i = 0; i < 1000; i++) table[i] = i;\n"
        "own += 2; return own + n++; }\n"
    )
    (tmp_path / "p.c").write_text(
        "#include <stdio.h>\nextern long work(void), table[1000];\n"
        'int main(void) { work(); printf("table %p %ld\\n", (void*)table, work()); }\n'
    )
    (tmp_path / "shop").mkdir()
    library = Workshop(tmp_path / "shop", "code")
    build = ["gcc", "-O2", *flags, "-w"]
    subprocess.run(
        [*build, "-fPIC", "-shared", "lib.c", "-o", "libwork.so"], cwd=tmp_path, check=True
    )
    source = (tmp_path / "p.c").read_text()
    linked = f"-O2 -L{tmp_path} -Wl,-rpath,{tmp_path} -Wl,--no-as-needed -lwork"
    run = library.run(source, flags=linked)
    assert run.code == 0, run.stderr
    assert run.stdout.split()[-1] == "5"
    assert run.counts(0, run.address("table"), 8000)[1] >= 2000 // 2
