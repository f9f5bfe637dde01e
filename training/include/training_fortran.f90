! What Fortran programs share (solvers/adi.f90): marks of the region of interest, and arguments.
module training_fortran
    use, intrinsic :: iso_fortran_env, only: error_unit
    implicit none
    private
    public :: roi_begin, roi_end, heartbeat, whole_argument

    interface
        subroutine roi_begin() bind(c, name="training_roi_begin")
        end subroutine
        subroutine roi_end() bind(c, name="training_roi_end")
        end subroutine
        subroutine heartbeat() bind(c, name="training_heartbeat")
        end subroutine
    end interface

contains

    ! Whole-number argument `index`, called `name`, in low .. high; else one line and exit code 2.
    function whole_argument(index, name, low, high) result(value)
        integer, intent(in) :: index, low, high
        character(len=*), intent(in) :: name
        integer :: value, status
        character(len=32) :: text

        call get_command_argument(index, text)
        read (text, *, iostat=status) value
        if (status == 0) then
            if (value >= low .and. value <= high) return
        end if
        write (error_unit, '(5a,i0,a,i0)') "argument ", name, " is '", trim(text), &
            "', expected a number from ", low, " to ", high
        stop 2, quiet=.true.
    end function
end module
