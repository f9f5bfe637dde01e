! What the Fortran programs share: marks of the region of interest, arguments, random numbers.
module training_fortran
    use, intrinsic :: iso_c_binding, only: c_int64_t
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
    implicit none
    private
    public :: roi_begin, roi_end, heartbeat, whole_argument, unit_at

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

    ! Uniform in [0, 1): value `index` of stream `stream`, the same for every thread count. A
    ! xorshift scrambler in place of the multiplications of training_rng.h, which would overflow.
    pure function unit_at(stream, index) result(value)
        integer, intent(in) :: stream, index
        real(real64) :: value
        integer(int64) :: z
        integer :: round

        z = ior(ishft(int(index, int64) + 1, 20), int(stream + 1, int64))
        do round = 1, 6
            z = ieor(z, ishft(z, 13))
            z = ieor(z, ishft(z, -7))
            z = ieor(z, ishft(z, 17))
        end do
        value = real(ishft(z, -11), real64)*2.0_real64**(-53)
    end function
end module
