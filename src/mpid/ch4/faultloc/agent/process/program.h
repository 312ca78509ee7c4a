/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PROGRAM_H_INCLUDED
#define FAULTLOC_PROGRAM_H_INCLUDED

#include "faultloc/board/board.h"
#include "faultloc/board/start.h"
#include "faultloc/net/channel.h"
#include "faultloc/node/watch.h"

/*
 * The program faultloc-agent: two processes on each node of a job, beside its ranks.
 *
 *     the agent owns the node's view of the tree and its port, looks at the board, asks and answers
 *     the deputy listens on a port of its own and answers for a node whose agent does not; succeeds
 *                 the agent when that ends, and ends it when it is stopped
 *
 * The first rank of the node starts the agent (board/start.h), the agent forks the deputy, and each
 * later agent the next one.  Both end when the ranks have ended and all findings are reported.
 *
 *     main.c      how the process is set up, and which of the two it is
 *     agent.c     the agent's loop
 *     link.c      its messages
 *     looks.c     its looks at the board
 *     sources.c   rules, and symptoms of other middleware
 *     reporter.c  the verdicts that it reports, the trace
 *     status*.c   what `faultloc status` shows
 *     serve_ask.c    what `faultloc ask` asks for
 *     serve_set.c    what `faultloc set` sets
 *     node_stacks.c  the stacks of ranks, by faultloc-handler (stack_json.c reads what that says)
 *     exec.c         the site's program, run for each verdict
 *     child.c        a program beside the agent: started, read, ended
 *     stop_job.c     the job is ended because of a verdict
 *     deputy.c       the deputy's loop
 *     partner.c      each of the two as the other sees it
 *     program.c      what they share
 */

#define FAULTLOC_PROGRAM_DEPUTY "faultloc-deputy"
#define FAULTLOC_LATE (250 * FTREE_MS) /* a process that runs so late may have been stopped */

/* Why a loop wakes; what has no tag of its own is asked in each turn. */
enum faultloc_tag {
    FAULTLOC_TAG_WAKE,
    FAULTLOC_TAG_START,
    FAULTLOC_TAG_SIGNAL,
    FAULTLOC_TAG_PARTNER,
    FAULTLOC_TAG_WAKEUP_SOCKET,
    FAULTLOC_TAG_LINK,
    FAULTLOC_TAG_RANK /* and its slot */
};

struct faultloc_program {
    struct faultloc_board *board;
    int board_fd;
    uint8_t key[FAULTLOC_KEY_SIZE];
    struct faultloc_ports ports[FTREE_ROLES]; /* until adopted; port 0: none */
    int start; /* socket to the rank that waits (board/start.h); -1: none does */
    int epoll; /* of the loop that runs; -1: none does */
    pid_t agent; /* whose deputy this process is */
    struct faultloc_watch watch;
    struct faultloc_job job;
    int32_t self; /* this node */
    struct ftree *ft; /* the agent's core, for all of its parts; NULL: it is not made yet */
};

/* Purpose: sets up what both loops need from what the process was started with; the descriptors of
 * *start are then the program's.  There is no end: the process ends.
 * Errors: an errno. */
int faultloc_program_init(struct faultloc_program *p, const struct faultloc_start *start);

/* Purpose: closes all descriptors above standard error but these, at most FTREE_PATHS + 2. */
void faultloc_program_close_others(const int *kept, size_t n);

/* The channel of the agent, or of the deputy. */
struct faultloc_line {
    struct faultloc_program *p;
    struct faultloc_channel *channel; /* NULL: the node is alone */
    enum ftree_role role;
    ftree_time listen_at; /* when to try for a port that is not free yet; FTREE_NEVER: it listens */
    ftree_time pause; /* between two tries; 0 at first, then they become rarer */
};

/* Purpose: makes the channel, which wakes the program's loop; callbacks as given.
 * Errors: an errno. */
int faultloc_line_open(struct faultloc_line *line, struct faultloc_program *p,
                       enum ftree_role role, const struct faultloc_channel_callbacks *callbacks,
                       void *ctx);

/* Purpose: listens, if it is time to try: with the sockets that the process was started with where
 * there are any, else on the port of its role.  Returns true when it has just begun to listen on
 * all paths. */
bool faultloc_line_listen(struct faultloc_line *line, ftree_time now);

/* Purpose: a turn of the channel, if there is one; and when the next one is due. */
void faultloc_line_turn(struct faultloc_line *line, ftree_time now);
ftree_time faultloc_line_deadline(const struct faultloc_line *line);

/* Purpose: the agent's loop (agent.c), until the job has ended here, and the process with it.
 * Returns in another process: the deputy that it has forked. */
void faultloc_agent_run(struct faultloc_program *p);

/* Purpose: the deputy's loop (deputy.c).  Returns when the agent has ended, and this process is to
 * stand in for it. */
void faultloc_deputy_run(struct faultloc_program *p);

#endif /* FAULTLOC_PROGRAM_H_INCLUDED */
