! adi: diffusion through a cube by alternating directions: line solves along x, along y and along z.
!
! usage: adi EDGE STEPS          (threads: OMP_NUM_THREADS)
!
! Five quantities at each point and differences of fourth order, as in a scalar pentadiagonal solver of
! fluid dynamics. A step is implicit in the factored form of Beam and Warming,
! (1 - D_x)(1 - D_y)(1 - D_z) change = (D_x + D_y + D_z) u: first the right-hand side by a stencil of 13
! points, then a pentadiagonal system for every line along x, for every line along y, and for every
! line along z. Threads own slabs of planes, which they fill. Lines along z cross all slabs: those are
! shared out by y, so every thread works in everybody's memory.
! Check: the start is a sum of two eigenvectors of all three operators for each quantity. What a step
! leaves of each is known, and every point is compared with that.
program adi
    use, intrinsic :: iso_fortran_env, only: real64
    use training_fortran, only: heartbeat, roi_begin, roi_end, whole_argument
    implicit none
    integer, parameter :: parts = 5, modes = 2
    real(real64), parameter :: pi = 3.14159265358979323846_real64
    real(real64), parameter :: strength(3) = [0.5_real64, 0.4_real64, 0.3_real64] ! along x, y, z

    ! Factors L D L^T of 1 - D along a direction: one over the pivots, and the two diagonals of L.
    type :: factors
        real(real64), allocatable :: pivot(:), first(:), second(:)
    end type

    real(real64), allocatable :: u(:, :, :), change(:, :, :), wave(:, :, :, :)
    real(real64) :: left(parts, modes)
    type(factors) :: along(3)
    integer :: edge, width, steps, step, d, j, k, wrong

    edge = whole_argument(1, "EDGE", 8, 1200)
    steps = whole_argument(2, "STEPS", 1, 1000000)
    ! The quantities of the points of a row follow each other.
    width = parts*edge
    allocate (u(1 - 2*parts:width + 2*parts, -1:edge + 2, -1:edge + 2), change(width, edge, edge))
    do d = 1, 3
        along(d) = factored(strength(d))
    end do
    wave = waves()
    call fill()

    call roi_begin()
    !$omp parallel private(step, j, k)
    do step = 1, steps
        !$omp do schedule(static)
        do k = 1, edge
            call difference_plane(k)
        end do
        !$omp end do
        !$omp do schedule(static)
        do k = 1, edge
            do j = 1, edge
                call solve(change(1, j, k), parts, parts, along(1))
            end do
        end do
        !$omp end do
        !$omp do schedule(static)
        do k = 1, edge
            call solve(change(1, 1, k), width, width, along(2))
        end do
        !$omp end do
        !$omp do schedule(static)
        do j = 1, edge
            call solve(change(1, j, 1), width, width*edge, along(3))
        end do
        !$omp end do
        !$omp do schedule(static)
        do k = 1, edge
            do j = 1, edge
                u(1:width, j, k) = u(1:width, j, k) + change(:, j, k)
            end do
            call reflect(k)
        end do
        !$omp end do
        !$omp master
        call heartbeat()
        !$omp end master
    end do
    !$omp end parallel
    call roi_end()

    left = kept()**steps
    wrong = values_off()
    if (wrong > 0) then
        print '(a,i0,a,i0)', "wrong: values that are off: ", wrong, " of points ", edge**3
        stop 1, quiet=.true.
    end if
    print '(a,i0,a,2es14.7)', "ok points ", edge**3, " left of waves ", left(1, :)

contains

    ! The right-hand side of plane `k`.
    subroutine difference_plane(k)
        integer, intent(in) :: k
        integer :: j
        do j = 1, edge
            change(:, j, k) = -30.0_real64*sum(strength)*u(1:width, j, k) &
                + strength(1)*(16.0_real64*(u(1 - parts:width - parts, j, k) &
                + u(1 + parts:width + parts, j, k)) - (u(1 - 2*parts:width - 2*parts, j, k) &
                + u(1 + 2*parts:width + 2*parts, j, k))) &
                + strength(2)*(16.0_real64*(u(1:width, j - 1, k) + u(1:width, j + 1, k)) &
                - (u(1:width, j - 2, k) + u(1:width, j + 2, k))) &
                + strength(3)*(16.0_real64*(u(1:width, j, k - 1) + u(1:width, j, k + 1)) &
                - (u(1:width, j, k - 2) + u(1:width, j, k + 2)))
        end do
    end subroutine

    ! Solves `lines` systems at once: point l of all of them is a(1:lines, l).
    subroutine solve(a, lines, pitch, f)
        integer, intent(in) :: lines, pitch
        real(real64), intent(inout) :: a(pitch, *)
        type(factors), intent(in) :: f
        integer :: l
        a(1:lines, 2) = a(1:lines, 2) - f%first(2)*a(1:lines, 1)
        do l = 3, edge
            a(1:lines, l) = a(1:lines, l) - f%first(l)*a(1:lines, l - 1) &
                - f%second(l)*a(1:lines, l - 2)
        end do
        a(1:lines, edge) = f%pivot(edge)*a(1:lines, edge)
        a(1:lines, edge - 1) = f%pivot(edge - 1)*a(1:lines, edge - 1) - f%first(edge)*a(1:lines, edge)
        do l = edge - 2, 1, -1
            a(1:lines, l) = f%pivot(l)*a(1:lines, l) - f%first(l + 1)*a(1:lines, l + 1) &
                - f%second(l + 2)*a(1:lines, l + 2)
        end do
    end subroutine

    ! 1 - D for D = c (-1, 16, -30, 16, -1). At the walls the field is odd: -29 at the ends.
    pure function factored(c) result(f)
        real(real64), intent(in) :: c
        type(factors) :: f
        real(real64) :: d(-1:edge), first(-1:edge), second(-1:edge)
        integer :: l
        d(-1:0) = 1.0_real64
        first = 0.0_real64
        second = 0.0_real64
        do l = 1, edge
            if (l > 2) second(l) = c/d(l - 2)
            if (l > 1) first(l) = (-16.0_real64*c - second(l)*d(l - 2)*first(l - 1))/d(l - 1)
            d(l) = 1.0_real64 + merge(29.0_real64, 30.0_real64, l == 1 .or. l == edge)*c &
                - first(l)**2*d(l - 1) - second(l)**2*d(l - 2)
        end do
        f = factors(1.0_real64/d(1:), first(1:), second(1:))
    end function

    ! Points beyond the walls of plane `k`.
    subroutine reflect(k)
        integer, intent(in) :: k
        u(1 - 2*parts:-parts, :, k) = -u(1:parts, :, k)
        u(width + parts + 1:, :, k) = -u(width - parts + 1:width, :, k)
        u(:, -1, k) = -u(:, 1, k)
        u(:, edge + 2, k) = -u(:, edge, k)
        if (k == 1) u(:, :, -1) = -u(:, :, 1)
        if (k == edge) u(:, :, edge + 2) = -u(:, :, edge)
    end subroutine

    subroutine fill()
        integer :: i, j, k
        left = 1.0_real64
        !$omp parallel do schedule(static) private(i, j)
        do k = 1, edge
            if (k == 1) u(:, :, 0) = 0.0_real64
            if (k == edge) u(:, :, edge + 1) = 0.0_real64
            u(:, :, k) = 0.0_real64
            change(:, :, k) = 0.0_real64
            do j = 1, edge
                do i = 1, edge
                    u(parts*(i - 1) + 1:parts*i, j, k) = expected(i, j, k)
                end do
            end do
            call reflect(k)
        end do
    end subroutine

    ! Half waves across the cube along direction `d`: few, or as many as the stencil feels most.
    pure integer function halves(part, mode, d)
        integer, intent(in) :: part, mode, d
        if (mode == 1) then
            halves = 1 + mod(part + d, 4)
        else
            halves = edge/(1 + mod(part + d, 3)) - 1
        end if
    end function

    pure function waves() result(w)
        real(real64) :: w(parts, modes, 3, edge)
        integer :: part, mode, d, l
        do l = 1, edge
            do d = 1, 3
                do mode = 1, modes
                    do part = 1, parts
                        w(part, mode, d, l) = sin(pi*real(halves(part, mode, d)*l, real64) &
                            /real(edge + 1, real64))
                    end do
                end do
            end do
        end do
    end function

    ! What a step keeps of each eigenvector.
    pure function kept() result(factor)
        real(real64) :: factor(parts, modes), angle, value(3)
        integer :: part, mode, d
        do mode = 1, modes
            do part = 1, parts
                do d = 1, 3
                    angle = pi*real(halves(part, mode, d), real64)/real(edge + 1, real64)
                    value(d) = strength(d)*(32.0_real64*cos(angle) - 2.0_real64*cos(2.0_real64*angle) &
                        - 30.0_real64)
                end do
                factor(part, mode) = 1.0_real64 + sum(value)/product(1.0_real64 - value)
            end do
        end do
    end function

    pure function expected(i, j, k) result(field)
        integer, intent(in) :: i, j, k
        real(real64) :: field(parts)
        field = sum(left*wave(:, :, 1, i)*wave(:, :, 2, j)*wave(:, :, 3, k), dim=2)
    end function

    ! Counted, for a maximum would pass over values that are no numbers.
    function values_off() result(wrong)
        integer :: wrong, i, j, k
        wrong = 0
        !$omp parallel do schedule(static) private(i, j) reduction(+: wrong)
        do k = 1, edge
            do j = 1, edge
                do i = 1, edge
                    wrong = wrong + count(.not. abs(u(parts*(i - 1) + 1:parts*i, j, k) &
                        - expected(i, j, k)) < 1.0e-10_real64)
                end do
            end do
        end do
    end function
end program
