"""Loops and sections that OpenMP hands out, under capture: units, in the order of iterations."""

from workshop import Workshop

DYNAMIC = r"""
static _Alignas(64) double a[1 << 16];
int main(void) {
    #pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < 1 << 16; i++) a[i] += 1;
}
"""


def test_chunks_of_a_dynamic_loop_are_units_in_the_order_of_iterations(shop: Workshop) -> None:
    done = shop.openmp(DYNAMIC)
    values = done.units()
    instance = values[0] >> 20
    assert [value & 0xFFFFF for value in values] == list(range(1024))
    assert {value >> 20 for value in values} == {instance}
    for stream in done.streams:
        own = done.values(stream, "unit_begin")
        assert own == sorted(own)


def test_one_thread_takes_a_loop_whole(shop: Workshop) -> None:
    assert shop.openmp(DYNAMIC, threads=1).units() == []


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
    done = shop.openmp(FORMS, OMP_SCHEDULE="dynamic,50")
    by_instance: dict[int, list[int]] = {}
    for value in done.units():
        by_instance.setdefault(value >> 20, []).append(value & 0xFFFFF)
    assert len(by_instance) == 4
    counts = [len(numbers) for numbers in by_instance.values()]
    assert counts[0] == counts[1] == 100
    assert counts[3] == 20
    assert 10 < counts[2] < 334
    assert all(numbers == list(range(len(numbers))) for numbers in by_instance.values())


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
    done = shop.openmp(SECTIONS)
    assert done.stdout == "2 3 23\n"
    numbers = [value & 0xFFFFF for value in done.units()]
    assert numbers == [0, 1, 2, 0, 1]
    for stream in done.streams:
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
    done = shop.openmp(ORDERED)
    assert done.stdout == "0 12869\n"
    posts = sum(done.kinds(stream)["post"] for stream in done.streams)
    assert posts >= 64 + 64
    awaits = sum(done.kinds(stream)["await"] for stream in done.streams)
    assert awaits >= 63 + 56  # all of the first loop's; of the second, those between rows
