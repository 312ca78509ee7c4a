/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PROGRAM_H_INCLUDED
#define FAULTLOC_PROGRAM_H_INCLUDED

#include "faultloc/board/job.h"
#include "faultloc/board/start.h"
#include "faultloc/net/channel.h"
#include "faultloc/node/watch.h"

/*
 * The program faultloc-agent: two processes on each node of a job, beside its ranks.
 *
 *     the agent   owns the node's view of the tree and its port, looks at the board, asks and answers
 *     the deputy  listens on a port of its own and answers for a node whose agent does not; succeeds
 *                 the agent when that ends, and ends it when it is stopped
 *
 * The first rank of the node starts the agent (board/start.h), the agent forks the deputy, and each
 * later agent the next one.  Both end when the ranks have ended and all that was found is told.
 *
 *     main.c     how the process is set up
 *     program.c  what agent and deputy share
 *     agent.c    the agent's loop
 *     deputy.c   the deputy's
 */

#define FAULTLOC_PROGRAM_DEPUTY "faultloc-deputy"
#define FAULTLOC_LATE (250 * FTREE_MS) /* a process that runs so late may have been stopped */

struct faultloc_program {
    struct faultloc_board *board;
    int board_fd;
    uint8_t key[FAULTLOC_KEY_SIZE];
    struct faultloc_ports ports[FAULTLOC_ROLES]; /* until adopted; port 0: none */
    int start; /* socket to the rank that waits (board/start.h); -1: none does */
    struct faultloc_watch watch;
    struct faultloc_job job;
    int32_t self; /* this node */
};

/* Purpose: sets up what both loops need from what the process was started with; the descriptors of
 * *start are then the program's.  There is no end: the process ends.
 * Errors: an errno. */
int faultloc_program_init(struct faultloc_program *p, const struct faultloc_start *start);

/* Purpose: makes the channel of this node; callbacks as given.  NULL in *out and 0: the node is
 * alone and needs none.  Errors: an errno. */
int faultloc_program_channel(const struct faultloc_program *p,
                             const struct faultloc_channel_callbacks *callbacks, void *ctx,
                             struct faultloc_channel **out);

/* When to try for a port that is not free yet. */
struct faultloc_retry {
    ftree_time at; /* FTREE_NEVER: it listens */
    ftree_time pause; /* 0 at first; tries become rarer */
};

/* Purpose: listens for `role`: with the sockets that the process was started with where there are any,
 * else on its port, if it is time to try.  Returns true when it has just begun to listen on all
 * paths. */
bool faultloc_program_listen(struct faultloc_program *p, struct faultloc_channel *channel,
                             enum faultloc_role role, ftree_time now, struct faultloc_retry *retry);

/* How the agent sees its deputy, and the deputy its agent. */
struct faultloc_partner {
    pid_t pid; /* 0: there is none */
    int fd; /* as by pidfd_open(2); -1: the kernel has none */
    ftree_time stopped; /* since when it was seen to be stopped; 0: it was not */
};

/* Purpose: looks at it, from time to time.  Returns true if it has ended.  One that stays stopped is
 * killed: it can do nothing for the node, and holds a port that others ask at.  A look that comes late
 * counts for nothing, for who looks may have been stopped with it. */
bool faultloc_partner_look(struct faultloc_partner *partner, ftree_time now, ftree_time late);

/* Purpose: closes all descriptors above standard error but these, at most FAULTLOC_PATHS + 2. */
void faultloc_program_close_others(const int *kept, size_t n);

/* Purpose: forks the deputy, which runs faultloc_program_deputy() and never returns here.
 * Errors: those of fork(2); there is none then. */
int faultloc_program_fork(struct faultloc_program *p, struct faultloc_partner *deputy);

/* Purpose: the agent's loop, until the job has ended here. */
void faultloc_program_agent(struct faultloc_program *p);

/* Purpose: the deputy's loop, until it has become the agent, and then that one's. */
void faultloc_program_deputy(struct faultloc_program *p, pid_t agent);

#endif /* FAULTLOC_PROGRAM_H_INCLUDED */
