!
! Copyright (C) by the FaultLoc authors
!     See COPYRIGHT in top-level directory
!

! The program is called when a fault has been located.  MPI_T has no Fortran interface: this one
! calls the C functions.
!
!     mpifort -o event event.f90
!     export MPIR_CVAR_FAULTLOC=1
!     mpiexec -n 4 ./event                             a healthy job: no event
!     mpiexec -disable-auto-cleanup -n 4 ./event 2     rank 2 dies

module verdict_events
  use, intrinsic :: iso_c_binding
  implicit none

  ! What MPI_T_event_copy brings: see faultloc_verdict(3).
  type, bind(C) :: verdict
     integer(c_int64_t) :: located_ms
     integer(c_int32_t) :: id
     integer(c_int32_t) :: fln, class_number, rank, node, pid, confidence, withdrawn, victims
     integer(c_int32_t) :: failures
     character(kind=c_char) :: class_name(24), node_name(64)
  end type verdict

  integer(c_int), parameter :: REQUIRE_MPI_RESTRICTED = 1

  interface
     integer(c_int) function T_init_thread(required, provided) bind(C, name='MPI_T_init_thread')
       import :: c_int
       integer(c_int), value :: required
       integer(c_int) :: provided
     end function T_init_thread
     integer(c_int) function T_finalize() bind(C, name='MPI_T_finalize')
       import :: c_int
     end function T_finalize
     integer(c_int) function T_event_get_index(name, index) bind(C, name='MPI_T_event_get_index')
       import :: c_int, c_char
       character(kind=c_char) :: name(*)
       integer(c_int) :: index
     end function T_event_get_index
     integer(c_int) function T_event_handle_alloc(index, object, info, registration) &
          bind(C, name='MPI_T_event_handle_alloc')
       import :: c_int, c_ptr
       integer(c_int), value :: index, info
       type(c_ptr), value :: object
       type(c_ptr) :: registration
     end function T_event_handle_alloc
     integer(c_int) function T_event_register_callback(registration, safety, info, user_data, &
          callback) bind(C, name='MPI_T_event_register_callback')
       import :: c_int, c_ptr, c_funptr
       type(c_ptr), value :: registration, user_data
       integer(c_int), value :: safety, info
       type(c_funptr), value :: callback
     end function T_event_register_callback
     integer(c_int) function T_event_copy(instance, buffer) bind(C, name='MPI_T_event_copy')
       import :: c_int, c_ptr, verdict
       type(c_ptr), value :: instance
       type(verdict) :: buffer
     end function T_event_copy
     integer(c_int) function T_event_handle_free(registration, user_data, callback) &
          bind(C, name='MPI_T_event_handle_free')
       import :: c_int, c_ptr, c_funptr
       type(c_ptr), value :: registration, user_data
       type(c_funptr), value :: callback
     end function T_event_handle_free
     subroutine end_process(code) bind(C, name='_exit')
       import :: c_int
       integer(c_int), value :: code
     end subroutine end_process
     integer(c_int) function usleep(microseconds) bind(C, name='usleep')
       import :: c_int
       integer(c_int), value :: microseconds
     end function usleep
  end interface

  type(verdict) :: last
  integer, volatile :: events = 0

contains

  ! Called inside MPI: it must not call MPI itself, but for MPI_T_event_copy and the like.
  subroutine on_verdict(instance, registration, safety, user_data) bind(C)
    type(c_ptr), value :: instance, registration, user_data
    integer(c_int), value :: safety
    integer(c_int) :: code

    code = T_event_copy(instance, last)
    events = events + 1
  end subroutine on_verdict

  function text(chars)
    character(kind=c_char), intent(in) :: chars(:)
    character(len=:), allocatable :: text
    integer :: i

    text = ''
    do i = 1, size(chars)
       if (chars(i) == c_null_char) exit
       text = text//chars(i)
    end do
  end function text

end module verdict_events

program event
  use, intrinsic :: iso_c_binding
  use mpi
  use verdict_events
  implicit none
  external :: MPIX_Comm_failure_ack

  integer :: rank, victim, ierr
  integer(c_int) :: index, provided, code
  type(c_ptr) :: registration
  character(len=16) :: word
  double precision :: until

  victim = -1
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) victim

  call MPI_Init(ierr) ! the event is there from here on
  code = T_init_thread(int(MPI_THREAD_SINGLE, c_int), provided)
  code = T_event_get_index('faultloc_verdict'//c_null_char, index)
  if (code /= MPI_SUCCESS) error stop 'this MPI has no event faultloc_verdict'
  code = T_event_handle_alloc(index, c_null_ptr, int(MPI_INFO_NULL, c_int), registration)
  code = T_event_register_callback(registration, REQUIRE_MPI_RESTRICTED, &
       int(MPI_INFO_NULL, c_int), c_null_ptr, c_funloc(on_verdict))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == victim) call end_process(3_c_int)

  ! Events come while a rank waits in MPI, and when it asks, as it does here.
  until = MPI_Wtime() + 30
  do while (events == 0 .and. victim >= 0 .and. MPI_Wtime() < until)
     call MPIX_Comm_failure_ack(MPI_COMM_WORLD, ierr)
     code = usleep(10000_c_int)
  end do
  if (events > 0) then
     write (*, '(a, i0, 3a, i0, 3a, f5.3)') 'rank ', rank, ': ', text(last%class_name), &
          ' of rank ', last%rank, ' on node ', text(last%node_name), ', confidence ', &
          last%confidence / 1000.0
  else
     write (*, '(a, i0, a)') 'rank ', rank, ': no event'
  end if
  flush (6)
  code = T_event_handle_free(registration, c_null_ptr, c_null_funptr)
  code = T_finalize()
  call MPI_Finalize(ierr)
end program event
