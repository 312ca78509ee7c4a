!
! Copyright (C) by the FaultLoc authors
!     See COPYRIGHT in top-level directory
!

! Two kinds of hang.c, in Fortran, after two seconds in which all exchanged halos. recv-recv: the
! last rank and rank 1 each wait for a message of the other. reduce-allreduce: rank 1 is in
! MPI_Reduce, all others are in MPI_Allreduce. With the module mpi_f08, the module mpi
! (hang_f90.F90), or mpif.h (hang_mpif.F90). The argument is the kind.

module testutil
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        subroutine tu_hello(rank) bind(C)
            import
            integer(c_int), value :: rank
        end subroutine
        subroutine tu_looping(rank) bind(C)
            import
            integer(c_int), value :: rank
        end subroutine
        subroutine tu_say(line) bind(C)
            import
            character(kind=c_char), intent(in) :: line(*)
        end subroutine
        subroutine tu_blocks(call, rank) bind(C)
            import
            character(kind=c_char), intent(in) :: call(*)
            integer(c_int), value :: rank
        end subroutine
        function end_after(seconds) bind(C, name="alarm")
            import
            integer(c_int), value :: seconds
            integer(c_int) :: end_after
        end function
    end interface
end module

program hang
    use testutil
#if defined(MPIF)
    implicit none
    include 'mpif.h'
#elif defined(F90)
    use mpi
    implicit none
#else
    use mpi_f08
    implicit none
#endif
    integer :: rank, size, ierror
    character(len=32) :: kind
    integer(c_int) :: before

    before = end_after(300)
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    call get_command_argument(1, kind)
    call tu_hello(rank)
    call exchange(0d0)
    call tu_looping(rank)
    call exchange(2d0)
    if (rank == 1) call say_expected()
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (kind == "reduce-allreduce") then
        call reduce_allreduce()
    else if (rank == 1) then
        call recv_recv(size - 1)
    else if (rank == size - 1) then
        call recv_recv(1)
    end if
    call exchange(2d0)
    call MPI_Finalize(ierror)

contains

    subroutine exchange(seconds)
        double precision, intent(in) :: seconds
        integer :: from, go
        double precision :: start

        start = MPI_Wtime()
        go = 1
        do while (go == 1)
            call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, size), 1, from, 1, MPI_INTEGER, &
                              mod(rank + size - 1, size), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &
                              ierror)
            if (MPI_Wtime() > start + seconds) go = 0
            call MPI_Bcast(go, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
        end do
    end subroutine

    subroutine say_expected()
        character(len=64) :: line

        write (line, '(a,i0,a)') "EXPECT deadlock 1,", size - 1, c_new_line
        if (kind == "reduce-allreduce") line = "EXPECT collective-mismatch 1" // c_new_line
        call tu_say(trim(line) // c_null_char)
    end subroutine

    subroutine recv_recv(peer)
        integer, intent(in) :: peer
        integer :: word

        call tu_blocks("MPI_Recv" // c_null_char, rank)
        call MPI_Recv(word, 1, MPI_INTEGER, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine

    subroutine reduce_allreduce()
        integer :: total

        if (rank == 1) then
            call tu_blocks("MPI_Reduce" // c_null_char, rank)
            call MPI_Reduce(rank, total, 1, MPI_INTEGER, MPI_SUM, rank, MPI_COMM_WORLD, ierror)
        else
            call tu_blocks("MPI_Allreduce" // c_null_char, rank)
            call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
        end if
    end subroutine
end program
