/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CHILDREN_H_INCLUDED
#define FAULTLOC_CHILDREN_H_INCLUDED

#include "faultloc_hydra.h"
#include "hydra.h"

/* Purpose: from now on `*some_ended` becomes true, and hydra's demux engine wakes, when a child of
 * this process has ended; nobody is waited for here.  To be called once, by a proxy or by mpiexec.
 * Errors: as of pipe() and of the demux engine. */
HYD_status HYD_faultloc_children_watch(bool *some_ended);

/* Purpose: for a proxy: the death of who is written to is no longer a signal, but an error of that
 * write.  mpiexec ends by the signal, without a word, where nobody reads its output any more. */
void HYD_faultloc_children_outlive(void);

/* Purpose: a child that has ended and was not named here before, 0: there is none; in the order of
 * their ends.  *ms: when the kernel said so.  Of several that end before this process gets to run
 * the kernel names the first (signal(7): a standard signal is pending once), so the others are
 * still to be looked for. */
pid_t HYD_faultloc_children_next(int64_t *ms);

/* Purpose: CLOCK_MONOTONIC, ms. */
int64_t HYD_faultloc_now_ms(void);

#endif /* FAULTLOC_CHILDREN_H_INCLUDED */
