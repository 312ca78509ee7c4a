/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SOCKET_OPENER_H_INCLUDED
#define FAULTLOC_SOCKET_OPENER_H_INCLUDED

#include "faultloc/io/symptom_socket.h"

/*
 * A worker (io/worker.h) that opens the agent's socket for symptoms, and removes it: its folder
 * may be on a file system that does not answer, which must not hold the agent.
 */

struct faultloc_socket_opener;

/* Purpose: starts to open the symptom socket of node `self`; job and job_id must stay; number is
 * that of the agent before this one, 0: there was none, or it had none. It is tried until it is
 * open or given up; where no thread can be had, faultloc_socket_opener_take() tries again. *out is the
 * caller's, who ends it with faultloc_socket_opener_stop().
 * Errors: an errno; then *out is NULL. */
int faultloc_socket_opener_start(const struct ftree_job *job, int32_t self, const char *job_id,
                                 int number, struct faultloc_socket_opener **out);

/* Purpose: a descriptor that becomes readable when the symptom socket is open, or given up. */
int faultloc_socket_opener_fd(const struct faultloc_socket_opener *opener);

/* Purpose: true once, when the symptom socket is open: *sock is then the caller's to read from, and
 * not to close.  Never waits. */
bool faultloc_socket_opener_take(struct faultloc_socket_opener *opener,
                                 struct faultloc_symptom_socket *sock);

/* Purpose: true while it is still being opened. */
bool faultloc_socket_opener_is_busy(struct faultloc_socket_opener *opener);

/* Purpose: closes the symptom socket, removes its name, and gives the opener up (NULL is allowed).
 * Waits for that at most patience_ms; what hangs is left behind. */
void faultloc_socket_opener_stop(struct faultloc_socket_opener *opener, int patience_ms);

#endif /* FAULTLOC_SOCKET_OPENER_H_INCLUDED */
