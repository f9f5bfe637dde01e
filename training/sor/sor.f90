! sor: Poisson's equation on a small square by red-black over-relaxation.
!
! usage: sor EDGE SWEEPS          (threads: OMP_NUM_THREADS)
!
! Two barriers a sweep and little between them: the grid fits the caches, threads exchange the rows
! at their borders after every half sweep. Synchronisation and short distances decide.
! Check: all points of a colour are independent, so one thread repeating the sweeps after the region
! of interest gets the same numbers to the last bit; and the residual shrank.
program sor
    use, intrinsic :: iso_fortran_env, only: real64
    use training_fortran, only: heartbeat, roi_begin, roi_end, unit_at, whole_argument
    implicit none
    real(real64), parameter :: pi = 3.14159265358979323846_real64
    real(real64), allocatable :: field(:, :), source(:, :), again(:, :)
    real(real64) :: relaxation, before, after, apart
    integer :: edge, sweeps, sweep, colour, i, j

    edge = whole_argument(1, "EDGE", 2, 30000)
    sweeps = whole_argument(2, "SWEEPS", 1, 10000000)
    relaxation = 2.0_real64/(1.0_real64 + sin(pi/real(edge + 1, real64)))
    allocate (field(0:edge + 1, 0:edge + 1), source(edge, edge))
    field = 0.0_real64
    do j = 1, edge
        do i = 1, edge
            source(i, j) = unit_at(j, i) - 0.5_real64
        end do
    end do
    before = residual(field)

    call roi_begin()
    !$omp parallel private(sweep, colour, j)
    do sweep = 1, sweeps
        do colour = 0, 1
            !$omp do schedule(static)
            do j = 1, edge
                call relax_column(field, j, colour)
            end do
            !$omp end do
        end do
        !$omp master
        call heartbeat()
        !$omp end master
    end do
    !$omp end parallel
    call roi_end()

    after = residual(field)
    allocate (again(0:edge + 1, 0:edge + 1))
    again = 0.0_real64
    do sweep = 1, sweeps
        do colour = 0, 1
            do j = 1, edge
                call relax_column(again, j, colour)
            end do
        end do
    end do
    apart = maxval(abs(field - again))
    if (apart > 0.0_real64 .or. .not. after < before) then
        print '(a,es10.3,a,2es12.4)', "wrong: a point is ", apart, &
            " from one thread's; residual before and after ", before, after
        stop 1, quiet=.true.
    end if
    print '(a,i0,a,es14.7)', "ok points ", edge**2, " residual ", after/before

contains

    ! The points of column `j` whose i + j has the parity of `colour`.
    subroutine relax_column(u, j, colour)
        real(real64), intent(inout) :: u(0:edge + 1, 0:edge + 1)
        integer, intent(in) :: j, colour
        integer :: i
        do i = 1 + mod(j + 1 + colour, 2), edge, 2
            u(i, j) = u(i, j) + relaxation*(0.25_real64*(u(i - 1, j) + u(i + 1, j) &
                + u(i, j - 1) + u(i, j + 1) - source(i, j)) - u(i, j))
        end do
    end subroutine

    ! Root mean square of the equation's error.
    function residual(u) result(error)
        real(real64), intent(in) :: u(0:edge + 1, 0:edge + 1)
        real(real64) :: error
        integer :: i, j
        error = 0.0_real64
        do j = 1, edge
            do i = 1, edge
                error = error + (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) &
                    - 4.0_real64*u(i, j) - source(i, j))**2
            end do
        end do
        error = sqrt(error/real(edge, real64)**2)
    end function
end program
