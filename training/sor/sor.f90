! sor: Poisson's equation on a square by red-black over-relaxation.
!
! usage: sor EDGE SWEEPS          (threads: OMP_NUM_THREADS)
!
! Two barriers a sweep. On a small square there is little between them: the grid fits the caches,
! threads exchange the columns at their borders after every half sweep, and synchronisation and short
! distances decide. A large one is streamed from memory twice a sweep. Sweeps too few to solve the
! equation smooth the error, as in a multigrid method, with little over-relaxation.
! Check: all points of a colour are independent, so one thread repeating the sweeps after the region
! of interest gets the same numbers to the last bit; of a large square it repeats some columns, with
! as many on either side as the sweeps reach. And the residual shrank.
program sor
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use training_fortran, only: heartbeat, roi_begin, roi_end, unit_at, whole_argument
    implicit none
    real(real64), parameter :: pi = 3.14159265358979323846_real64
    integer, parameter :: repeated_in_full = 1024, window = 32
    real(real64), allocatable :: field(:, :), source(:, :)
    real(real64) :: relaxation, before, after, apart
    integer :: edge, sweeps, sweep, colour, i, j

    edge = whole_argument(1, "EDGE", 2, 30000)
    sweeps = whole_argument(2, "SWEEPS", 1, 10000000)
    relaxation = 2.0_real64/(1.0_real64 + sin(pi/real(edge + 1, real64)))
    if (16*int(sweeps, int64) < edge) relaxation = 1.15_real64
    allocate (field(0:edge + 1, 0:edge + 1), source(edge, edge))
    field(:, 0) = 0.0_real64
    field(:, edge + 1) = 0.0_real64
    ! Shared out as the sweeps share them out.
    !$omp parallel do schedule(static) private(i)
    do j = 1, edge
        field(:, j) = 0.0_real64
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
                call relax_column(field(:, j - 1:j + 1), j, colour)
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
    if (edge <= repeated_in_full) then
        apart = difference(1, edge)
    else
        apart = max(difference(1, window), difference(edge/2, edge/2 + window - 1), &
            difference(edge - window + 1, edge))
    end if
    if (apart > 0.0_real64 .or. .not. after < before) then
        print '(a,es10.3,a,2es12.4)', "wrong: a point is ", apart, &
            " from one thread's; residual before and after ", before, after
        stop 1, quiet=.true.
    end if
    print '(a,i0,a,es14.7)', "ok points ", edge**2, " residual ", after/before

contains

    ! The points of column `j` whose i + j has the parity of `colour`; `u` is it and its neighbours.
    subroutine relax_column(u, j, colour)
        real(real64), intent(inout) :: u(0:edge + 1, -1:1)
        integer, intent(in) :: j, colour
        integer :: i
        do i = 1 + mod(j + 1 + colour, 2), edge, 2
            u(i, 0) = u(i, 0) + relaxation*(0.25_real64*(u(i - 1, 0) + u(i + 1, 0) &
                + u(i, -1) + u(i, 1) - source(i, j)) - u(i, 0))
        end do
    end subroutine

    ! Largest difference in columns `first` to `last` to what one thread gets. A sweep changes a
    ! column by what is up to two columns away.
    function difference(first, last) result(worst)
        integer, intent(in) :: first, last
        real(real64) :: worst
        real(real64), allocatable :: again(:, :)
        integer :: low, high, sweep, colour, j
        low = int(max(1_int64, first - 2_int64*sweeps))
        high = int(min(int(edge, int64), last + 2_int64*sweeps))
        allocate (again(0:edge + 1, low - 1:high + 1))
        again = 0.0_real64
        do sweep = 1, sweeps
            do colour = 0, 1
                do j = low, high
                    call relax_column(again(:, j - 1:j + 1), j, colour)
                end do
            end do
        end do
        worst = maxval(abs(field(:, first:last) - again(:, first:last)))
    end function

    ! Root mean square of the equation's error.
    function residual(u) result(error)
        real(real64), intent(in) :: u(0:edge + 1, 0:edge + 1)
        real(real64) :: error
        integer :: i, j
        error = 0.0_real64
        !$omp parallel do schedule(static) private(i) reduction(+: error)
        do j = 1, edge
            do i = 1, edge
                error = error + (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) &
                    - 4.0_real64*u(i, j) - source(i, j))**2
            end do
        end do
        error = sqrt(error/real(edge, real64)**2)
    end function
end program
