! lbm: a fluid in a periodic square by the lattice Boltzmann method, nine velocities in the plane.
!
! usage: lbm TILE STEPS          (8 x 8 tiles of TILE x TILE cells; threads: OMP_NUM_THREADS)
!
! Bhatnagar-Gross-Krook collisions with one relaxation time, pulled from one array into another:
! nine loads and nine stores for each cell, which no other cell of the step shares. The columns are
! shared out statically and every thread fills the columns it will work on.
! Check: the start repeats from tile to tile, so every tile must stay equal to a single periodic
! tile that one thread computes; mass is kept.
program lbm
    use, intrinsic :: iso_fortran_env, only: real64
    use training_fortran, only: heartbeat, roi_begin, roi_end, whole_argument
    implicit none
    real(real64), parameter :: pi = 3.14159265358979323846_real64
    real(real64), parameter :: rate = 1.25_real64 ! one over the relaxation time
    integer, parameter :: tiles = 8
    real(real64), allocatable :: old(:, :, :), new(:, :, :), one(:, :, :), other(:, :, :)
    real(real64) :: mass, worst, expected
    integer :: tile, edge, steps, step, x, y, q

    tile = whole_argument(1, "TILE", 4, 4000)
    steps = whole_argument(2, "STEPS", 1, 1000000)
    edge = tiles*tile
    allocate (old(edge, 9, edge), new(edge, 9, edge), one(tile, 9, tile), other(tile, 9, tile))
    call fill(old, new, edge)
    call fill(one, other, tile)

    call roi_begin()
    do step = 1, steps, 2
        call collide(old, new, edge)
        if (step < steps) call collide(new, old, edge)
        call heartbeat()
    end do
    call roi_end()
    if (mod(steps, 2) == 1) call move_alloc(new, old)

    do step = 1, steps, 2
        call collide(one, other, tile)
        if (step < steps) call collide(other, one, tile)
    end do
    if (mod(steps, 2) == 1) call move_alloc(other, one)

    worst = 0.0_real64
    mass = 0.0_real64
    !$omp parallel do schedule(static) private(q, x) reduction(max: worst) reduction(+: mass)
    do y = 1, edge
        do q = 1, 9
            do x = 1, edge
                worst = max(worst, &
                    abs(old(x, q, y) - one(1 + mod(x - 1, tile), q, 1 + mod(y - 1, tile))))
            end do
        end do
        mass = mass + sum(old(:, :, y))
    end do
    expected = real(edge, real64)**2
    if (.not. (worst < 1.0e-12_real64 .and. abs(mass - expected) < 1.0e-9_real64*expected)) then
        print '(a,es10.3,a,es14.7,a,es14.7)', "wrong: a cell is off by ", worst, ", mass ", mass, &
            " instead of ", expected
        stop 1, quiet=.true.
    end if
    print '(a,i0,a,es14.7)', "ok cells ", edge**2, " speed ", fastest()

contains

    ! Eddies that repeat in every tile, at rest on the whole and of density one.
    subroutine fill(from, to, n)
        integer, intent(in) :: n
        real(real64), intent(out) :: from(n, 9, n), to(n, 9, n)
        real(real64) :: u, v, turn
        integer :: i, j
        turn = 2.0_real64*pi/real(tile, real64)
        !$omp parallel do schedule(static) private(i, u, v)
        do j = 1, n
            to(:, :, j) = 0.0_real64
            do i = 1, n
                u = 0.05_real64*sin(turn*real(mod(i - 1, tile), real64)) &
                    *cos(turn*real(mod(j - 1, tile), real64))
                v = -0.04_real64*cos(turn*real(mod(i - 1, tile), real64)) &
                    *sin(turn*real(mod(j - 1, tile), real64))
                call equilibrium(from(i, :, j), u, v)
            end do
        end do
    end subroutine

    pure subroutine equilibrium(f, u, v)
        real(real64), intent(out) :: f(9)
        real(real64), intent(in) :: u, v
        integer, parameter :: cx(9) = [0, 1, 0, -1, 0, 1, -1, -1, 1]
        integer, parameter :: cy(9) = [0, 0, 1, 0, -1, 1, 1, -1, -1]
        real(real64) :: along, weight
        integer :: k
        do k = 1, 9
            weight = merge(4.0_real64/9.0_real64, merge(1.0_real64/9.0_real64, &
                1.0_real64/36.0_real64, k <= 5), k == 1)
            along = 3.0_real64*(cx(k)*u + cy(k)*v)
            f(k) = weight*(1.0_real64 + along + 0.5_real64*along**2 - 1.5_real64*(u*u + v*v))
        end do
    end subroutine

    subroutine collide(from, to, n)
        integer, intent(in) :: n
        real(real64), intent(in) :: from(n, 9, n)
        real(real64), intent(inout) :: to(n, 9, n)
        integer :: j
        !$omp parallel do schedule(static) if (n == edge)
        do j = 1, n
            call collide_cells(from, to, n, j, 1, 1, n - 1, 1)
            call collide_cells(from, to, n, j, 2, n - 1, -1, 1)
            call collide_cells(from, to, n, j, n, n, -1, 1 - n)
        end do
    end subroutine

    ! Cells `first` to `last` of column `j`; `west` and `east` lead to their neighbours. A compiler
    ! cannot see that the nine streams lie apart: it is told that cells may be worked on at once.
    subroutine collide_cells(from, to, n, j, first, last, west, east)
        integer, intent(in) :: n, j, first, last, west, east
        real(real64), intent(in) :: from(n, 9, n)
        real(real64), intent(inout) :: to(n, 9, n)
        real(real64) :: f1, f2, f3, f4, f5, f6, f7, f8, f9
        real(real64) :: density, u, v, still, side, corner, a, b
        integer :: i, south, north
        south = merge(n, j - 1, j == 1)
        north = merge(1, j + 1, j == n)
        !$omp simd private(f1, f2, f3, f4, f5, f6, f7, f8, f9) &
        !$omp private(density, u, v, still, side, corner, a, b)
        do i = first, last
            f1 = from(i, 1, j)
            f2 = from(i + west, 2, j)
            f3 = from(i, 3, south)
            f4 = from(i + east, 4, j)
            f5 = from(i, 5, north)
            f6 = from(i + west, 6, south)
            f7 = from(i + east, 7, south)
            f8 = from(i + east, 8, north)
            f9 = from(i + west, 9, north)
            density = f1 + ((f2 + f4) + (f3 + f5)) + ((f6 + f8) + (f7 + f9))
            u = ((f2 - f4) + (f6 - f8) + (f9 - f7))/density
            v = ((f3 - f5) + (f6 - f8) + (f7 - f9))/density
            still = 1.0_real64 - 1.5_real64*(u*u + v*v)
            side = rate*density/9.0_real64
            corner = 0.25_real64*side
            a = u + v
            b = u - v
            to(i, 1, j) = (1.0_real64 - rate)*f1 + 4.0_real64*side*still
            to(i, 2, j) = (1.0_real64 - rate)*f2 + side*(still + 3.0_real64*u + 4.5_real64*u*u)
            to(i, 4, j) = (1.0_real64 - rate)*f4 + side*(still - 3.0_real64*u + 4.5_real64*u*u)
            to(i, 3, j) = (1.0_real64 - rate)*f3 + side*(still + 3.0_real64*v + 4.5_real64*v*v)
            to(i, 5, j) = (1.0_real64 - rate)*f5 + side*(still - 3.0_real64*v + 4.5_real64*v*v)
            to(i, 6, j) = (1.0_real64 - rate)*f6 &
                + corner*(still + 3.0_real64*a + 4.5_real64*a*a)
            to(i, 8, j) = (1.0_real64 - rate)*f8 &
                + corner*(still - 3.0_real64*a + 4.5_real64*a*a)
            to(i, 9, j) = (1.0_real64 - rate)*f9 &
                + corner*(still + 3.0_real64*b + 4.5_real64*b*b)
            to(i, 7, j) = (1.0_real64 - rate)*f7 &
                + corner*(still - 3.0_real64*b + 4.5_real64*b*b)
        end do
    end subroutine

    ! Largest flow to the east anywhere.
    function fastest() result(speed)
        real(real64) :: speed
        integer :: i, j
        speed = 0.0_real64
        do j = 1, edge
            do i = 1, edge
                speed = max(speed, old(i, 2, j) - old(i, 4, j) + old(i, 6, j) - old(i, 8, j) &
                    + old(i, 9, j) - old(i, 7, j))
            end do
        end do
    end function
end program
