!
! Copyright (C) by the FaultLoc authors
!     See COPYRIGHT in top-level directory
!

! What has failed, where, and why does FaultLoc think so?  The last rank that is left prints the
! report, as JSON.
!
!     mpifort -o verdicts verdicts.f90
!     export MPIR_CVAR_FAULTLOC=1
!     mpiexec -n 4 ./verdicts                             a healthy job: no verdicts
!     mpiexec -disable-auto-cleanup -n 4 ./verdicts 2     rank 2 dies

program verdicts
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  external :: MPIX_Faultloc_verdicts

  interface
     subroutine end_process(code) bind(C, name='_exit')
       import :: c_int
       integer(c_int), value :: code
     end subroutine end_process
     integer(c_int) function usleep(microseconds) bind(C, name='usleep')
       import :: c_int
       integer(c_int), value :: microseconds
     end function usleep
  end interface

  integer :: rank, ranks, last, victim, ierr
  character(len=16) :: word
  character(len=:), allocatable :: json
  double precision :: until

  victim = -1
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) victim

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == victim) call end_process(3_c_int)

  until = MPI_Wtime() + 30
  do
     call get_report(json)
     if (victim < 0 .or. index(json, '"class"') > 0 .or. MPI_Wtime() > until) exit
     ierr = usleep(10000_c_int) ! here a program would do its work
  end do
  last = ranks - 1
  if (victim == last) last = ranks - 2
  if (rank == last) write (*, '(a)') trim(json)
  flush (6)
  call MPI_Finalize(ierr)

contains

  ! Asked with no room it says what it takes; there may be more of it by the next time.
  subroutine get_report(json)
    character(len=:), allocatable, intent(out) :: json
    integer :: room, length, code

    room = 0
    do
       if (allocated(json)) deallocate (json)
       allocate (character(len=room) :: json)
       length = room
       call MPIX_Faultloc_verdicts(json, length, code)
       if (code /= MPI_SUCCESS .or. length <= room) exit
       room = length
    end do
  end subroutine get_report

end program verdicts
