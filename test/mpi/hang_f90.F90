!
! Copyright (C) by the FaultLoc authors
!     See COPYRIGHT in top-level directory
!

! hang_f08.F90 with the module mpi.

#define F90
#include "hang_f08.F90"
