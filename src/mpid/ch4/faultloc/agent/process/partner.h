/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PARTNER_H_INCLUDED
#define FAULTLOC_PARTNER_H_INCLUDED

#include "faultloc/agent/process/program.h"
#include "faultloc/io/writer.h"

/* Agent and deputy, each as the other sees it, and how the agent gets a deputy. */

struct faultloc_partner {
    pid_t pid; /* 0: there is none */
    int fd; /* as by pidfd_open(2); -1: the kernel has none */
    ftree_time stopped; /* since when it was seen to be stopped; 0: it was not */
};

/* Purpose: looks at it, from time to time.  Returns true if it has ended.  One that stays stopped
 * is killed: it can do nothing for the node, and holds a port that others ask at.  A look that
 * comes late counts for nothing, for who looks may have been stopped with it. */
bool faultloc_partner_look(struct faultloc_partner *partner, ftree_time now, ftree_time late);

/* The agent's deputy. */
struct faultloc_second {
    struct faultloc_partner deputy;
    ftree_time forked; /* when it was */
    ftree_time fork_at; /* when the next one may be; FTREE_NEVER: there is one */
    ftree_time fork_by; /* since then whatever other threads do; 0: it is not yet time for one */
    bool failed; /* the last fork did */
};

/* Purpose: forks the deputy if there is none, it is time, and no thread of the writer does
 * anything.  Returns true in the deputy, which has kept nothing of the agent's open but what is its
 * own. */
bool faultloc_second_fork(struct faultloc_second *s, struct faultloc_program *p,
                          struct faultloc_writer *writer, ftree_time now);

/* Purpose: looks at the deputy, where there is one, as faultloc_partner_look(). */
void faultloc_second_look(struct faultloc_second *s, ftree_time now, ftree_time late);

#endif /* FAULTLOC_PARTNER_H_INCLUDED */
