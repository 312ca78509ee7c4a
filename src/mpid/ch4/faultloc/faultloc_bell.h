/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_BELL_H_INCLUDED
#define FAULTLOC_BELL_H_INCLUDED

#include "faultloc_board.h"
#include "ftree.h"

/*
 * The bell: how a rank tells the agent of its node, within a millisecond, that the transport has
 * lost a peer.  What is told lies in the rank's page (struct faultloc_told); the bell only wakes the
 * agent, who would look in any case, but later.
 *
 * It is a pipe of the agent's.  Who rings opens its write end as /proc/PID/fd/NUMBER, which the
 * kernel allows to the same user only, writes a byte and closes it: nothing is held open meanwhile,
 * so a program that closes what is not its own can neither break it nor be written to by it, and the
 * next agent hangs up a bell of its own.  Nothing here blocks.
 */

/* Purpose: hangs up the bell of this process, the agent.  *fd, to be closed with
 * faultloc_bell_close(), is readable once it rang.
 * Errors: an errno; without a bell all that is lost is time. */
int faultloc_bell_open(struct faultloc_board *b, int fd[2]);

/* Purpose: empties it: it may ring again. */
void faultloc_bell_hush(int fd);

/* Purpose: takes it down, unless somebody else's hangs there by now. */
void faultloc_bell_close(struct faultloc_board *b, int fd[2]);

/* Purpose: for the deputy: a descriptor, to be closed by the caller, on which poll(2) tells an error
 * (EPOLLERR, whatever is asked for) once this bell has been taken down or its process has ended.
 * An agent may leave its office while its process stays: one that aborts waits for the launcher.
 * -1: there is no bell now. */
int faultloc_bell_watch(const struct faultloc_board *b);

/* Purpose: rings.  Returns false where nobody can be hearing it. */
bool faultloc_bell_ring(const struct faultloc_board *b);

/* Purpose: notes that the transport has lost `rank` of the world, with errno `error`, in the page
 * of a rank; by that rank alone.  Returns false where that is noted already. */
bool faultloc_told_write(struct faultloc_told *told, ftree_time now, int32_t rank, int32_t error);

/* Purpose: reads the next that was noted: `*heard` is how many the reader has heard, 0 at first.
 * Returns false when there is no more.  A page is not to be trusted: ranks are those of `job`,
 * times not after `now`. */
bool faultloc_told_read(const struct faultloc_told *told, const struct ftree_job *job,
                        ftree_time now, uint32_t *heard, struct ftree_symptom *s);

#endif /* FAULTLOC_BELL_H_INCLUDED */
