!
! Copyright (C) by the FaultLoc authors
!     See COPYRIGHT in top-level directory
!

! hang_f08.F90 with mpif.h.

#define MPIF
#include "hang_f08.F90"
