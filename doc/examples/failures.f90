!
! Copyright (C) by the FaultLoc authors
!     See COPYRIGHT in top-level directory
!

! Which ranks have failed?  Every rank that is left asks until it knows.
!
!     mpifort -o failures failures.f90
!     export MPIR_CVAR_FAULTLOC=1
!     mpiexec -n 4 ./failures                             a healthy job
!     mpiexec -disable-auto-cleanup -n 4 ./failures 2     rank 2 dies

program failures
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  external :: MPIX_Comm_failure_ack, MPIX_Comm_failure_get_acked

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

  integer :: rank, n, victim, failed, world, i, ierr
  integer, allocatable :: in_group(:), in_world(:)
  character(len=16) :: word
  double precision :: until

  victim = -1
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) victim

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == victim) call end_process(3_c_int)

  until = MPI_Wtime() + 30
  do
     call MPIX_Comm_failure_ack(MPI_COMM_WORLD, ierr)
     call MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, failed, ierr)
     call MPI_Group_size(failed, n, ierr)
     if (n > 0 .or. victim < 0 .or. MPI_Wtime() > until) exit
     call MPI_Group_free(failed, ierr)
     ierr = usleep(10000_c_int) ! here a program would do its work
  end do

  allocate (in_group(n), in_world(n))
  in_group = [(i, i = 0, n - 1)]
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
  call MPI_Group_translate_ranks(failed, n, in_group, world, in_world, ierr)
  call MPI_Group_free(world, ierr)
  call MPI_Group_free(failed, ierr)
  if (n > 0) then
     write (*, '(a, i0, a, i0, a, *(1x, i0))') 'rank ', rank, ': ', n, ' failed:', in_world
  else
     write (*, '(a, i0, a)') 'rank ', rank, ': 0 failed'
  end if
  flush (6)
  call MPI_Finalize(ierr)
end program failures
