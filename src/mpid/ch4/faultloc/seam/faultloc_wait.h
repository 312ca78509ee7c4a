/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WAIT_H_INCLUDED
#define FAULTLOC_WAIT_H_INCLUDED

#include "faultloc/seam/faultloc_seam.h"

/*
 * Included behind MPID_Progress_wait() where that is no loop, but one turn of its caller's.
 */

#if defined(ENABLE_FAULTLOC)

MPL_STATIC_INLINE_PREFIX int MPIDI_progress_wait(MPID_Progress_state * state, MPIR_Request * req,
                                                 MPIR_Request ** reqs, int n)
{
    int mpi_errno = MPID_Progress_test(state);

    MPIR_ERR_CHECK(mpi_errno);
    MPIDI_FAULTLOC_WAIT_TURN(req, reqs, n);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#define MPID_Progress_wait(state) MPIDI_progress_wait(state, NULL, NULL, 0)

#endif

#endif /* FAULTLOC_WAIT_H_INCLUDED */
