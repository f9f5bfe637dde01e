"""Teams of OpenMP under capture: barriers, exclusion, nesting; from C and Fortran."""

import pytest
from workshop import Workshop, compiler

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
    done = shop.openmp(STATIC)
    assert len(done.streams) == 4
    part = 1024 * 8
    owners = set()
    for stream in done.streams:
        barriers = done.events(stream, "barrier")
        assert [aux for _, _, aux in barriers] == [4, 4]
        assert barriers[0][1] != barriers[1][1]  # two regions
        for k in range(4):
            reads, writes = done.counts(stream, done.address("a") + k * part, part)
            assert (reads, writes) in ((0, 0), (1024, 1024))
            if writes:
                owners.add((stream, k))
    assert len(owners) == 4
    assert done.units() == []


def test_a_team_of_one_waits_for_nobody(shop: Workshop) -> None:
    done = shop.openmp(STATIC, threads=1)
    assert len(done.streams) == 1
    assert not {"barrier", "await"} & done.kinds(0).keys()


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
    done = shop.openmp(CRITICAL)
    assert done.stdout == "80 80 80\n"
    objects = set()
    for stream in done.streams:
        assert done.kinds(stream)["lock"] == done.kinds(stream)["unlock"] == 60
        assert done.kinds(stream)["barrier"] == 21
        objects |= set(done.values(stream, "lock"))
    assert len(objects) == 3


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
    done = shop.openmp(NESTED, threads=2)
    assert done.stdout == "12\n"
    sizes = [aux for s in done.streams for _, _, aux in done.events(s, "barrier")]
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
    done = shop.openmp(FORTRAN, kind="f90")
    assert done.stdout.strip() == "50005000.0"
    assert [value & 0xFFFFF for value in done.units()] == list(range(100))
    writes = sum(int(done.raw(s)["writes"].sum()) for s in done.streams)
    assert writes >= 10000
