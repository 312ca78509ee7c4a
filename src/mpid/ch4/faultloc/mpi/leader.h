/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LEADER_H_INCLUDED
#define FAULTLOC_LEADER_H_INCLUDED

#include "faultloc/base/sock.h"
#include "faultloc/mpi/place.h"

/* What the first rank of a node does for it when a job starts: makes the board, exchanges addresses
 * with the other leaders, starts the agent. */

/* What only the leaders know, for a moment: each hands the key on to its agent.  It travels as the
 * program's own messages do, so whoever can read those is in the job; not by the process manager, which
 * tells everybody who asks. */
struct MPIDI_faultloc_secret {
    uint8_t key[FAULTLOC_KEY_SIZE];
    uint64_t seed;
};

/* What a leader has until its agent has it. */
struct MPIDI_faultloc_leader {
    int board_fd, sock;         /* -1: none */
    struct faultloc_ports ports[FTREE_ROLES];
    struct MPIDI_faultloc_secret secret;
};

/* Purpose: collective over the leaders: agrees on the tree, makes the board, which is then the
 * rank's (parts.h), exchanges what the others need to reach this node.  *fine: false where
 * something was wrong, which has been said.  Returns an error of MPI. */
int MPIDI_faultloc_leader_set_up(struct MPIDI_faultloc_leader *l, struct MPIDI_faultloc_place *p,
                                 const char *name, const char *job_id, bool * fine);

/* Purpose: starts the agent of the node.  Returns false, and says why, where that cannot be. */
bool MPIDI_faultloc_leader_start_agent(struct MPIDI_faultloc_leader *l, const char *name);

/* Purpose: lets the agent go on, or quit; nothing that a leader had for it stays in a rank. */
void MPIDI_faultloc_leader_end(struct MPIDI_faultloc_leader *l, bool go);

#endif /* FAULTLOC_LEADER_H_INCLUDED */
