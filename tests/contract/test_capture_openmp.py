"""OpenMP under capture: teams, barriers, units of work handed out, tasks, order inside loops."""

from __future__ import annotations

import pytest

from .captured import Captured, Workshop, compiler

FLAGS = "-O1 -fopenmp"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("openmp"))


def run(shop: Workshop, source: str, threads: int = 4, **more: str) -> Captured:
    kind = more.pop("kind", "c")
    done = shop.run(source, kind=kind, flags=FLAGS, env={"OMP_NUM_THREADS": str(threads), **more})
    assert done.code == 0, done.stderr
    return done


def streams(done: Captured) -> range:
    return range(done.trace.streams)


def units(done: Captured, task: int = 0) -> list[int]:
    """Values of all units, over all streams; each begin has its end."""
    begun, ended = [], []
    for stream in streams(done):
        for kind, value, aux in done.events(stream, "unit_begin", "unit_end"):
            if aux == task:
                (begun if kind == "unit_begin" else ended).append(value)
    assert sorted(begun) == sorted(ended)
    return sorted(begun)


STATIC = r"""
#include <stdio.h>
static _Alignas(64) double a[4096];
int main(void) {
    double s = 0;
    #pragma omp parallel for schedule(static)
    for (int i = 0; i < 4096; i++) a[i] = i;
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < 4096; i++) s += a[i];
    printf("a %p %g\n", a, s);
}
"""


def test_static_loops_give_each_thread_its_part_and_a_barrier_at_the_end(shop: Workshop) -> None:
    done = run(shop, STATIC)
    assert len(streams(done)) == 4
    part = 1024 * 8
    owners = set()
    for stream in streams(done):
        barriers = done.events(stream, "barrier")
        assert [aux for _, _, aux in barriers] == [4, 4]
        assert barriers[0][1] != barriers[1][1]  # two regions
        for k in range(4):
            reads, writes = done.counts(stream, done.address("a") + k * part, part)
            assert (reads, writes) in ((0, 0), (1024, 1024))
            if writes:
                owners.add((stream, k))
    assert len(owners) == 4
    assert units(done) == []


def test_one_thread_needs_no_barrier_and_no_unit(shop: Workshop) -> None:
    for source in (STATIC, DYNAMIC):
        done = run(shop, source, threads=1)
        assert len(streams(done)) == 1
        assert not {"barrier", "unit_begin", "await"} & done.kinds(0).keys()


DYNAMIC = r"""
static _Alignas(64) double a[1 << 16];
int main(void) {
    #pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < 1 << 16; i++) a[i] += 1;
}
"""


def test_chunks_of_a_dynamic_loop_are_units_in_the_order_of_iterations(shop: Workshop) -> None:
    done = run(shop, DYNAMIC)
    values = units(done)
    instance = values[0] >> 20
    assert [value & 0xFFFFF for value in values] == list(range(1024))
    assert {value >> 20 for value in values} == {instance}
    for stream in streams(done):
        own = [v for k, v, _ in done.events(stream, "unit_begin")]
        assert own == sorted(own)


def test_a_dynamic_loop_gives_threads_fair_shares(shop: Workshop) -> None:
    busy = DYNAMIC.replace("a[i] += 1", "for (int r = 0; r < 8; r++) a[i] += r")
    done = run(shop, busy.replace("double a", "volatile double a"))
    shares = [len(done.events(stream, "unit_begin")) for stream in streams(done)]
    per_unit = 64 * 8 * 2
    assert sum(shares) == 1024
    # A thread that waits while others run may come back 50,000 behind, and 50,000 are allowed.
    assert max(shares) - min(shares) <= (2 * 50_000 + 4 * 4096) / per_unit + 1


FORMS = r"""
#include <stdio.h>
static _Alignas(64) double a[10000];
int main(void) {
    #pragma omp parallel
    {
        #pragma omp for schedule(dynamic, 100) nowait
        for (int i = 0; i < 10000; i++) a[i] += 1;
        #pragma omp for schedule(dynamic, 100)
        for (int i = 9999; i >= 0; i--) a[i] += 1;
        #pragma omp for schedule(guided, 10)
        for (unsigned long i = 7; i < 10000; i += 3) a[i] += 1;
        #pragma omp for schedule(runtime)
        for (int i = 0; i < 1000; i++) a[i] += 1;
    }
    printf("%g\n", a[9]);
}
"""


def test_all_forms_of_handed_out_loops_number_their_units_without_gap(shop: Workshop) -> None:
    done = run(shop, FORMS, OMP_SCHEDULE="dynamic,50")
    by_instance: dict[int, list[int]] = {}
    for value in units(done):
        by_instance.setdefault(value >> 20, []).append(value & 0xFFFFF)
    assert len(by_instance) == 4
    counts = [len(numbers) for numbers in by_instance.values()]
    assert counts[0] == counts[1] == 100
    assert counts[3] == 20
    assert 10 < counts[2] < 334
    assert all(numbers == list(range(len(numbers))) for numbers in by_instance.values())


CRITICAL = r"""
#include <omp.h>
#include <stdio.h>
static int c, d; static omp_lock_t l;
int main(void) {
    int e = 0;
    omp_init_lock(&l);
    #pragma omp parallel
    for (int i = 0; i < 20; i++) {
        #pragma omp critical
        c++;
        #pragma omp critical(name)
        d++;
        omp_set_lock(&l); omp_unset_lock(&l);
        #pragma omp atomic
        e++;
        #pragma omp barrier
    }
    printf("%d %d %d\n", c, d, e);
}
"""


def test_critical_sections_and_locks_exclude_and_barriers_count(shop: Workshop) -> None:
    done = run(shop, CRITICAL)
    assert done.stdout == "80 80 80\n"
    objects = set()
    for stream in streams(done):
        assert done.kinds(stream)["lock"] == done.kinds(stream)["unlock"] == 60
        assert done.kinds(stream)["barrier"] == 21
        objects |= {value for _, value, _ in done.events(stream, "lock")}
    assert len(objects) == 3


TASKS = r"""
#include <stdio.h>
static long fib(int n) {
    if (n < 2) return n;
    long a, b;
    #pragma omp task shared(a)
    a = fib(n - 1);
    #pragma omp task shared(b) if (n > 5)
    b = fib(n - 2);
    #pragma omp taskwait
    return a + b;
}
int main(void) {
    long r, x = 0;
    #pragma omp parallel
    #pragma omp single
    {
        r = fib(10);
        #pragma omp taskgroup
        for (int i = 0; i < 5; i++) {
            #pragma omp task firstprivate(i)
            _Pragma("omp atomic") x += i;
        }
        #pragma omp taskloop num_tasks(4)
        for (int i = 0; i < 100; i++)
            _Pragma("omp atomic") x += 1;
    }
    printf("%ld %ld\n", r, x);
}
"""


def test_tasks_are_units_between_their_creation_and_the_wait_for_them(shop: Workshop) -> None:
    done = run(shop, TASKS)
    assert done.stdout == "55 110\n"
    values = units(done, task=1)
    assert [v & 0xFFFFF for v in values] == list(range(len(values)))
    assert len(values) == 176 + 5 + 4  # fib(10) makes 176 tasks
    awaits = sum(done.kinds(stream)["await"] for stream in streams(done))
    assert awaits >= len(values)  # each is waited for once


DEPEND = r"""
#include <stdio.h>
static int x, y;
int main(void) {
    #pragma omp parallel
    #pragma omp single
    for (int i = 0; i < 10; i++) {
        #pragma omp task depend(out: x)
        x = i;
        #pragma omp task depend(in: x) depend(inout: y)
        y += x;
    }
    printf("%d\n", y);
}
"""


def test_task_dependences_are_edges(shop: Workshop) -> None:
    done = run(shop, DEPEND)
    assert done.stdout == "45\n"
    ends = {}
    order = []
    for stream in streams(done):
        current = []
        last_post = 0
        for kind, value, _aux in done.events(stream, "unit_begin", "unit_end", "post", "await"):
            if kind == "unit_begin":
                current.append((value, set()))
            elif kind == "await" and current:
                current[-1][1].add(value)
            elif kind == "post":
                last_post = value
            elif kind == "unit_end":
                unit, awaited = current.pop()
                ends[last_post] = unit
                order.append((unit, awaited))
    assert len(order) == 20
    first = min(unit for unit, _ in order)
    for unit, awaited in order:
        before = {ends[token] - first for token in awaited if token in ends}
        number = unit - first
        if number % 2:  # reads x of the task before it, and y of the one two before
            assert number - 1 in before
            assert number == 1 or number - 2 in before
        elif number:  # overwrites x after it was read
            assert number - 1 in before


SECTIONS = r"""
#include <stdio.h>
static int a, b, c;
int main(void) {
    #pragma omp parallel sections
    {
        #pragma omp section
        a = 1;
        #pragma omp section
        b = 2;
        #pragma omp section
        c = 3;
    }
    #pragma omp parallel
    {
        #pragma omp sections
        {
            #pragma omp section
            a++;
            #pragma omp section
            b++;
        }
        int v;
        #pragma omp single copyprivate(v)
        v = 5;
        #pragma omp atomic
        c += v;
    }
    printf("%d %d %d\n", a, b, c);
}
"""


def test_sections_are_units(shop: Workshop) -> None:
    done = run(shop, SECTIONS)
    assert done.stdout == "2 3 23\n"
    numbers = [value & 0xFFFFF for value in units(done)]
    assert numbers == [0, 1, 2, 0, 1]
    for stream in streams(done):
        # End of both regions, end of the sections, one inside the copying single and one after it.
        assert done.kinds(stream)["barrier"] == 5


ORDERED = r"""
#include <stdio.h>
static int a[64], last = -1, wrong; static long w[65][65];
int main(void) {
    #pragma omp parallel for ordered schedule(dynamic, 1)
    for (int i = 0; i < 64; i++) {
        a[i] = i;
        #pragma omp ordered
        { if (last != i - 1) wrong++; last = i; }
    }
    #pragma omp parallel for ordered(2) schedule(dynamic, 1)
    for (int i = 1; i < 9; i++)
        for (int j = 1; j < 9; j++) {
            #pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
            w[i][j] = w[i - 1][j] + w[i][j - 1] + 1;
            #pragma omp ordered depend(source)
        }
    printf("%d %ld\n", wrong, w[8][8]);
}
"""


def test_ordered_and_doacross_loops_keep_their_order(shop: Workshop) -> None:
    done = run(shop, ORDERED)
    assert done.stdout == "0 12869\n"
    posts = sum(done.kinds(stream)["post"] for stream in streams(done))
    assert posts >= 64 + 64
    awaits = sum(done.kinds(stream)["await"] for stream in streams(done))
    assert awaits >= 63 + 56  # all of the first loop's; of the second, those between rows


NESTED = r"""
#include <omp.h>
#include <stdio.h>
int main(void) {
    int n = 0;
    omp_set_max_active_levels(2);
    for (int k = 0; k < 3; k++)
        #pragma omp parallel num_threads(2)
        #pragma omp parallel num_threads(2)
        #pragma omp atomic
        n++;
    printf("%d\n", n);
}
"""


def test_nested_regions_have_teams_of_their_own(shop: Workshop) -> None:
    done = run(shop, NESTED, threads=2)
    assert done.stdout == "12\n"
    sizes = [aux for s in streams(done) for _, _, aux in done.events(s, "barrier")]
    assert set(sizes) == {2}
    assert len(sizes) == 3 * (2 + 4)


FORTRAN = """
program main
  implicit none
  integer :: i
  real(8) :: a(10000), s
  s = 0
  !$omp parallel do schedule(dynamic, 100)
  do i = 1, 10000
    a(i) = i
  end do
  !$omp parallel do reduction(+:s)
  do i = 1, 10000
    s = s + a(i)
  end do
  print '(f12.1)', s
end program
"""


@pytest.mark.skipif(compiler("f90") is None, reason="no Fortran compiler")
def test_fortran_is_captured_like_c(shop: Workshop) -> None:
    done = run(shop, FORTRAN, kind="f90")
    assert done.stdout.strip() == "50005000.0"
    assert [value & 0xFFFFF for value in units(done)] == list(range(100))
    writes = sum(int(done.trace.events(s)["writes"].sum()) for s in streams(done))
    assert writes >= 10000
