/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WAKEUP_H_INCLUDED
#define FAULTLOC_WAKEUP_H_INCLUDED

#include "faultloc/board/board.h"

/*
 * The wakeup socket: how a rank informs the agent of its node, within a millisecond, that the
 * transport has lost a peer.  The details are in the rank's page (struct faultloc_peer_errors); the
 * wakeup socket only wakes the agent, which would otherwise look later.
 *
 * It is a datagram socket of the agent with an abstract name that the kernel chose; the name is on
 * the board.  A rank opens a socket, sends one empty datagram and closes it: nothing stays open, so
 * a program that closes descriptors that are not its own can neither break it nor be written to by
 * it.  A datagram of anybody else wakes the agent for nothing.  Nothing here blocks.
 */

/* Purpose: opens the wakeup socket of this process, the agent, and puts its name on the board.
 * *fd, to be closed with faultloc_wakeup_close(), becomes readable at each wakeup.
 * Errors: an errno; without a wakeup socket the agent only notices later. */
int faultloc_wakeup_open(struct faultloc_board *b, int *fd);

/* Purpose: empties it. */
void faultloc_wakeup_clear(int fd);

/* Purpose: closes it, and takes its name from the board, unless another agent's is there by now. */
void faultloc_wakeup_close(struct faultloc_board *b, int *fd);

/* Purpose: wakes the agent.  Returns false if there is no agent to wake. */
bool faultloc_wakeup_send(const struct faultloc_board *b);

/* Purpose: notes that the transport has lost `rank` of the world, with errno `error`, in the page
 * of a rank; by that rank alone.  Returns false where that is noted already. */
bool faultloc_peer_errors_add(struct faultloc_peer_errors *errors, ftree_time now, int32_t rank,
                              int32_t error);

/* Purpose: reads the next that was noted: `*heard` is how many the reader has heard, 0 at first.
 * Returns false when there is no more.  A page is not to be trusted: ranks are those of `job`,
 * times not after `now`. */
bool faultloc_peer_errors_next(const struct faultloc_peer_errors *errors,
                               const struct ftree_job *job, ftree_time now, uint32_t *heard,
                               struct ftree_symptom *s);

#endif /* FAULTLOC_WAKEUP_H_INCLUDED */
