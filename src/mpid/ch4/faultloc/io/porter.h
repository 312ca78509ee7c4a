/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PORTER_H_INCLUDED
#define FAULTLOC_PORTER_H_INCLUDED

#include "faultloc/io/door.h"

/*
 * A lane (io/lane.h) that opens the agent's socket for symptoms, and removes it: its folder
 * may be on a file system that does not answer, which must not hold the agent.
 */

struct faultloc_porter;

/* Purpose: starts to open the door of node `self`; job and job_id must stay.  It is tried until it
 * is open or given up; where no thread can be had, faultloc_porter_take() tries again.  *out is the caller's, who ends it with faultloc_porter_stop().
 * Errors: an errno; then *out is NULL. */
int faultloc_porter_start(const struct ftree_job *job, int32_t self, const char *job_id,
                          struct faultloc_porter **out);

/* Purpose: a descriptor that becomes readable when the door is open, or given up. */
int faultloc_porter_fd(const struct faultloc_porter *porter);

/* Purpose: true once, when the door is open: *door is then the caller's to read from, and not to
 * close.  Never waits. */
bool faultloc_porter_take(struct faultloc_porter *porter, struct faultloc_door *door);

/* Purpose: true while it is still being opened. */
bool faultloc_porter_is_busy(struct faultloc_porter *porter);

/* Purpose: closes the door, removes its name, and gives the porter up (NULL is allowed).  Waits for that
 * at most patience_ms; what hangs is left behind. */
void faultloc_porter_stop(struct faultloc_porter *porter, int patience_ms);

#endif /* FAULTLOC_PORTER_H_INCLUDED */
