/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CHILDREN_H_INCLUDED
#define FAULTLOC_CHILDREN_H_INCLUDED

#include "faultloc_hydra.h"
#include "hydra.h"

/* Purpose: from now on `*some_ended` becomes true, and hydra's demux engine wakes, when a child of
 * this process has ended; nobody is waited for here.  The death of who is written to is no longer a
 * signal, but an error of that write.  To be called once, by a proxy or by mpiexec.
 * Errors: as of pipe() and of the demux engine. */
HYD_status HYD_faultloc_children_watch(bool *some_ended);

/* Purpose: CLOCK_MONOTONIC, ms. */
int64_t HYD_faultloc_now_ms(void);

#endif /* FAULTLOC_CHILDREN_H_INCLUDED */
