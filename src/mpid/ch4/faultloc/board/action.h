/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_ACTION_H_INCLUDED
#define FAULTLOC_ACTION_H_INCLUDED

#include "faultloc/board/board.h"

/* What a site wants to happen after a verdict, and what the scheduler gives the job. */

#define FAULTLOC_ACTION_WORD 64

/* Purpose: reads the words of MPIR_CVAR_FAULTLOC_ACTION, between commas and in any order: "report",
 * "abort", "exec:/PROGRAM", into *action and `program` ("": none), which has FAULTLOC_PATH_ROOM
 * bytes.  A word that is wrong is ignored.  Returns what is wrong with the first such word, which
 * is then in `word`, cut where it does not fit; NULL: nothing is. */
const char *faultloc_action_read(const char *value, enum faultloc_action *action, char *program,
                                 char word[FAULTLOC_ACTION_WORD]);

/* Purpose: what the environment says of the job's walltime; `now_ms`: Unix time, when MPI_Init is
 * called. */
void faultloc_walltime_read(int64_t now_ms, struct report_walltime *w);

#endif /* FAULTLOC_ACTION_H_INCLUDED */
