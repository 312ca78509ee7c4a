/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CALLS_H_INCLUDED
#define FAULTLOC_CALLS_H_INCLUDED

#include "faultloc/mpi/fail/fail.h"

/* What MPICH's own calls come to; those that patches call are in the seam. */

/* ---- wait.c ---------------------------------------------------------------------------------- */

/* The frame that called: as long as the wait goes on, that and all around it stay as they are.  So
 * the agent that is to say where the rank is need not wait until it gets a CPU. */
#if defined(__GNUC__)
#define MPIDI_FAULTLOC_RETURNS_TO .sp = (uintptr_t) __builtin_dwarf_cfa(),.pc = (uintptr_t) __builtin_return_address(0)
#else
#define MPIDI_FAULTLOC_RETURNS_TO .sp = 0
#endif

/* Purpose: notes the wait, and answers what the agent asks. `req` stands for all that is waited for;
 * NULL: nothing does.  Returns an error for the wait. */
int MPIDI_faultloc_look(MPIR_Request * req, struct MPIDI_faultloc_wait *wait);

#endif /* FAULTLOC_CALLS_H_INCLUDED */
