! md: molecular dynamics of argon-like atoms with cells and neighbour lists.
!
! usage: md CELLS STEPS          (4 * CELLS^3 atoms; threads: OMP_NUM_THREADS)
!
! Atoms start on a face-centred lattice and move under the Lennard-Jones potential, cut at 2.5 and
! shifted, in a periodic box (velocity Verlet; reduced units). Neighbour lists are made anew every
! ten steps from a linked list of the atoms in each cell. Each thread sums the forces on its own
! atoms and reads the positions of others nearby.
! Check: total energy and momentum are what they were at the start.
program md
    use, intrinsic :: iso_fortran_env, only: real64
    use training_fortran, only: heartbeat, roi_begin, roi_end, unit_at, whole_argument
    implicit none
    integer, parameter :: most_neighbours = 140, rebuild = 10
    real(real64), parameter :: cut = 2.5_real64, reach = 2.9_real64, density = 0.8_real64
    real(real64), parameter :: step = 0.002_real64
    ! The potential at the cut, taken off everywhere so that energy has no jump there.
    real(real64), parameter :: shift = 4.0_real64*(cut**(-12) - cut**(-6))
    real(real64), allocatable :: position(:, :), velocity(:, :), force(:, :)
    integer, allocatable :: neighbour(:, :), neighbours(:), first(:, :, :), next(:)
    real(real64) :: box, energy_before, energy_after, drift(3), potential
    integer :: atoms, cells, steps, edge, i
    logical :: overflow

    edge = whole_argument(1, "CELLS", 4, 200)
    steps = whole_argument(2, "STEPS", 1, 1000000)
    call fill()
    call find_neighbours()
    call sum_forces()
    energy_before = potential + kinetic()

    call roi_begin()
    do i = 1, steps
        call kick()
        call move()
        if (mod(i, rebuild) == 0) call find_neighbours()
        call sum_forces()
        call kick()
        call heartbeat()
    end do
    call roi_end()

    energy_after = potential + kinetic()
    drift = sum(velocity, dim=2)/real(atoms, real64)
    if (overflow .or. .not. maxval(abs(drift)) < 1.0e-10_real64 .or. &
        .not. abs(energy_after - energy_before) < 2.0e-5_real64*abs(energy_before)) then
        print '(a,2es16.8,a,es10.2,a,l2)', "wrong: energy before and after ", energy_before, &
            energy_after, " momentum ", maxval(abs(drift)), " lists overflowed", overflow
        stop 1, quiet=.true.
    end if
    print '(a,i0,a,f10.5)', "ok atoms ", atoms, " energy_per_atom ", &
        energy_after/real(atoms, real64)

contains

    subroutine fill()
        real(real64), parameter :: corner(3, 4) = reshape([0.0_real64, 0.0_real64, 0.0_real64, &
            0.5_real64, 0.5_real64, 0.0_real64, 0.5_real64, 0.0_real64, 0.5_real64, &
            0.0_real64, 0.5_real64, 0.5_real64], [3, 4])
        real(real64) :: lattice, mean(3)
        integer :: x, y, z, c, a, axis
        atoms = 4*edge**3
        lattice = (4.0_real64/density)**(1.0_real64/3.0_real64)
        box = lattice*real(edge, real64)
        cells = int(box/reach)
        overflow = .false.
        allocate (position(3, atoms), velocity(3, atoms), force(3, atoms))
        allocate (neighbour(most_neighbours, atoms), neighbours(atoms), next(atoms))
        allocate (first(0:cells - 1, 0:cells - 1, 0:cells - 1))
        !$omp parallel do schedule(static) private(a, c, x, y, axis)
        do z = 0, edge - 1
            a = 4*edge*edge*z
            do y = 0, edge - 1
                do x = 0, edge - 1
                    do c = 1, 4
                        a = a + 1
                        position(:, a) = lattice*(real([x, y, z], real64) + corner(:, c))
                        do axis = 1, 3
                            velocity(axis, a) = 2.0_real64*unit_at(axis, a) - 1.0_real64
                        end do
                        force(:, a) = 0.0_real64
                    end do
                end do
            end do
        end do
        mean = sum(velocity, dim=2)/real(atoms, real64)
        !$omp parallel do schedule(static)
        do a = 1, atoms
            velocity(:, a) = velocity(:, a) - mean
        end do
    end subroutine

    pure function cell_of(a) result(cell)
        integer, intent(in) :: a
        integer :: cell(3)
        cell = min(int(position(:, a)/box*real(cells, real64)), cells - 1)
    end function

    subroutine find_neighbours()
        integer :: a, b, cell(3), other(3), x, y, z, found, span
        real(real64) :: d(3)
        first = 0
        do a = 1, atoms
            cell = cell_of(a)
            next(a) = first(cell(1), cell(2), cell(3))
            first(cell(1), cell(2), cell(3)) = a
        end do
        ! With fewer than three cells a side, a cell and its neighbours coincide: visit each once.
        span = merge(1, 0, cells >= 3)
        !$omp parallel do schedule(static) private(b, cell, other, x, y, z, found, d) &
        !$omp reduction(.or.: overflow)
        do a = 1, atoms
            cell = cell_of(a)
            found = 0
            do z = merge(-span, -cell(3), span == 1), merge(span, cells - 1 - cell(3), span == 1)
                do y = merge(-span, -cell(2), span == 1), &
                        merge(span, cells - 1 - cell(2), span == 1)
                    do x = merge(-span, -cell(1), span == 1), &
                            merge(span, cells - 1 - cell(1), span == 1)
                        other = modulo(cell + [x, y, z], cells)
                        b = first(other(1), other(2), other(3))
                        do while (b /= 0)
                            d = position(:, b) - position(:, a)
                            d = d - box*anint(d/box)
                            if (b /= a .and. d(1)**2 + d(2)**2 + d(3)**2 < reach**2) then
                                if (found == most_neighbours) then
                                    overflow = .true.
                                else
                                    found = found + 1
                                    neighbour(found, a) = b
                                end if
                            end if
                            b = next(b)
                        end do
                    end do
                end do
            end do
            neighbours(a) = found
        end do
    end subroutine

    subroutine sum_forces()
        integer :: a, n
        real(real64) :: here(3), d(3), total(3), r2, inverse6, scale
        potential = 0.0_real64
        !$omp parallel do schedule(static) private(n, here, d, total, r2, inverse6, scale) &
        !$omp reduction(+: potential)
        do a = 1, atoms
            here = position(:, a)
            total = 0.0_real64
            do n = 1, neighbours(a)
                d = position(:, neighbour(n, a)) - here
                d = d - box*anint(d/box)
                r2 = d(1)**2 + d(2)**2 + d(3)**2
                if (r2 >= cut**2) cycle
                inverse6 = 1.0_real64/r2**3
                scale = 48.0_real64*inverse6*(inverse6 - 0.5_real64)/r2
                total = total - scale*d
                ! Each pair is met from both sides: half of its energy each time.
                potential = potential + 0.5_real64*(4.0_real64*inverse6*(inverse6 - 1.0_real64) &
                    - shift)
            end do
            force(:, a) = total
        end do
    end subroutine

    subroutine kick()
        integer :: a
        !$omp parallel do schedule(static)
        do a = 1, atoms
            velocity(:, a) = velocity(:, a) + 0.5_real64*step*force(:, a)
        end do
    end subroutine

    subroutine move()
        integer :: a
        !$omp parallel do schedule(static)
        do a = 1, atoms
            position(:, a) = modulo(position(:, a) + step*velocity(:, a), box)
        end do
    end subroutine

    function kinetic() result(energy)
        real(real64) :: energy
        energy = 0.5_real64*sum(velocity**2)
    end function
end program
