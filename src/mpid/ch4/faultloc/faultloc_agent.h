/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_AGENT_H_INCLUDED
#define FAULTLOC_AGENT_H_INCLUDED

#include "faultloc_board.h"
#include "faultloc_launcher.h"
#include "faultloc_channel.h"

/*
 * The helper thread.  Every rank has one; all but two sleep in the kernel on a mutex of the board.
 * One holds the office of the agent: it owns the node's view of the tree and its port.  One is its
 * deputy, listens on a port of its own and answers for a node whose agent does not.  When the
 * agent's process dies the deputy succeeds it, and the kernel wakes the next deputy.
 */

enum faultloc_action {
    FAULTLOC_ACTION_REPORT,
    FAULTLOC_ACTION_ABORT
};

#define FAULTLOC_PATH_ROOM 1024

/* What the user set. */
struct faultloc_settings {
    ftree_time stall; /* ns */
    ftree_time sample; /* ns, mean time between two looks at the board */
    ftree_time grace; /* ns, how long a dying job may wait for its verdict */
    enum faultloc_action action;
    char report[FAULTLOC_PATH_ROOM]; /* where the JSON goes, %j expanded; "": nowhere */
    char trace[FAULTLOC_PATH_ROOM]; /* where the trace goes; "": nowhere */
    char rules[FAULTLOC_PATH_ROOM]; /* the rule base; "": the built-in one */
    char launcher[FAULTLOC_LAUNCHER_PATH]; /* its socket (faultloc_launcher.h); "": there is none */
    bool symptoms; /* of other middleware are taken in */
    bool verbose; /* reports have the table of nodes and the trace */
};

struct faultloc_helper;

/* Purpose: starts the helper thread of local rank `slot`.  It keeps `board` mapped and takes over
 * `ports` (of the agent, for slot 0; NULL: none).  Slot 0's thread is the agent when this returns,
 * and serves; it is to be started before the others, of which one becomes the deputy.
 * *out is the caller's, who ends it with faultloc_helper_stop().
 * Errors: an errno; then there is no thread and `ports` are closed. */
int faultloc_helper_start(struct faultloc_board *board, int32_t slot,
                          const struct faultloc_settings *settings, struct faultloc_ports *ports,
                          struct faultloc_helper **out);

/* Purpose: the job, in words of the core; valid until faultloc_helper_stop().  Of its rules the
 * thread alone may know. */
const struct ftree_job *faultloc_helper_job(const struct faultloc_helper *helper);

/* Purpose: the rank has left (its slot says so).  Returns when the helper need no longer be there:
 * at once for one that sleeps, which then ends when it wakes; after the node's goodbye for the
 * agent, at most a few seconds. */
void faultloc_helper_stop(struct faultloc_helper *helper);

/* Purpose: this process is about to end in the middle of the job, by a will of its own (its slot says
 * that it has left).  Where nobody of the node is left the others are told, so that they do not take
 * it for a crash; else another process becomes the agent when this one ends.  Waits for that at most
 * `patience_ms`; the helper must not be used any more. */
void faultloc_helper_quit(struct faultloc_helper *helper, int patience_ms);

#endif /* FAULTLOC_AGENT_H_INCLUDED */
