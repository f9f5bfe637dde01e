"""Tasks of OpenMP under capture: units, with edges from what they wait for."""

from workshop import Workshop

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
    done = shop.openmp(TASKS)
    assert done.stdout == "55 110\n"
    values = done.units(task=1)
    assert [v & 0xFFFFF for v in values] == list(range(len(values)))
    assert len(values) == 176 + 5 + 4  # fib(10) makes 176 tasks
    awaits = sum(done.kinds(stream)["await"] for stream in done.streams)
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
    done = shop.openmp(DEPEND)
    assert done.stdout == "45\n"
    ends = {}
    order = []
    for stream in done.streams:
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


REDUCED = r"""
#include <stdio.h>
int main(void) {
    long x = 0, y = 0;
    #pragma omp parallel
    #pragma omp single
    {
        #pragma omp taskloop reduction(+ : x) num_tasks(10)
        for (int i = 0; i < 100; i++) x += i;
        #pragma omp taskgroup task_reduction(+ : y)
        {
            #pragma omp task in_reduction(+ : y)
            y += 1;
            #pragma omp taskloop in_reduction(+ : y)
            for (unsigned long long i = 0; i < 10; i++) y += i;
        }
    }
    printf("%ld %ld\n", x, y);
}
"""


def test_loops_of_tasks_reduce(shop: Workshop) -> None:
    done = shop.openmp(REDUCED)
    assert done.stdout == "4950 46\n"
    assert len(done.units(task=1)) >= 10 + 1
