/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LOOKS_H_INCLUDED
#define FAULTLOC_LOOKS_H_INCLUDED

#include "faultloc/agent/report/reporter.h"
#include "faultloc/io/loop.h"
#include "faultloc/node/samples.h"
#include "faultloc/node/wait_limit.h"

/* The agent's looks at the board of its node, and what it reports of them to the core. */

/* The child that a rank has forked last, which may go on as the rank. */
struct faultloc_heir {
    int32_t pid; /* 0: none was seen */
    uint64_t start; /* 0: it had ended by then */
    bool refused; /* it has not the board */
};

struct faultloc_looks {
    struct faultloc_program *p;
    struct faultloc_reporter *reporter;
    int *pid_fd; /* [slots], -1: none */
    uint32_t *heard; /* [slots]; how many peer errors of each rank were read */
    bool *stalled; /* [slots] */
    struct faultloc_waited *waited; /* [slots] */
    struct faultloc_wait_limit limit;
    struct faultloc_heir *heir; /* [slots] */
    bool *held; /* [slots]; it may have been ended together with all others */
    uint32_t inquiry; /* whether one of another node lives; 0: that is not asked */
    int wakeup; /* -1: there is none */
    bool woken; /* in this turn */
    struct faultloc_pause pause; /* of the wakeup socket */
    int32_t restored; /* of the board's verdicts */
    int32_t withdrawals; /* of the board, when they were */
    struct faultloc_samples samples;
    ftree_time at; /* when to look again */
    ftree_time waits; /* how long a rank had waited at the last look, the longest */
    ftree_time sampled; /* when the last sample was taken */
    ftree_time finalizing; /* since when some rank is in MPI_Finalize, as it was seen; 0: none is */
    int32_t finalizing_notified; /* how many were, as the launcher knows */
    bool begun; /* false: the launcher may not know this agent yet */
    ftree_time known_at; /* of one that follows another: when the launcher knows it at the latest */
    bool ending; /* the job is being ended from outside: no end of a process is a fault */
};

/* Purpose: begins.  Errors: ENOMEM. */
int faultloc_looks_open(struct faultloc_looks *l, struct faultloc_program *p,
                        struct faultloc_reporter *reporter);

/* Purpose: gives the core the verdicts of the agent before this one, or of who acted for it while
 * it was stopped.  Errors: those of the core. */
int faultloc_looks_restore(struct faultloc_looks *l, ftree_time now);

/* Purpose: from now on the program's loop wakes when a process ends, with its tag, and when a rank
 * sends to the wakeup socket. */
void faultloc_looks_wake(struct faultloc_looks *l);

/* Purpose: the process of local rank i has ended, says its tag. */
void faultloc_looks_ended(struct faultloc_looks *l, ftree_time now, int32_t i);

/* Purpose: the first rank of the node lets the agent run.  A launcher that ends the job knows the
 * agent by then, and tells it before it kills ranks.  Who ends before may have been killed with the
 * job: that is a fault where the launcher says so, or where another rank waits for it. */
void faultloc_looks_job_begins(struct faultloc_looks *l, ftree_time now);

/* Purpose: somebody has sent to the wakeup socket. */
void faultloc_looks_woken(struct faultloc_looks *l);

/* Purpose: hears what the transports of the own ranks say of their peers.  Who woke the agent for
 * nothing does not wake it again soon; what a rank says is then heard a moment later. */
void faultloc_looks_peer_errors(struct faultloc_looks *l, ftree_time now);

/* Purpose: one look at all slots. */
void faultloc_looks_all(struct faultloc_looks *l, ftree_time now);

/* Purpose: true if it is still to be found out of a rank whether it has ended alone. */
bool faultloc_looks_are_open(const struct faultloc_looks *l);

#endif /* FAULTLOC_LOOKS_H_INCLUDED */
