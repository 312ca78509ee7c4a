/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_STOP_JOB_H_INCLUDED
#define FAULTLOC_STOP_JOB_H_INCLUDED

#include "faultloc/agent/act/exec.h"

/* MPIR_CVAR_FAULTLOC_ACTION=abort: the job is ended because of a verdict. */

struct faultloc_stop_job {
    struct faultloc_program *p;
    struct faultloc_reporter *reporter;
    const struct faultloc_exec *exec; /* the job is not ended while the site's program runs */
    ftree_time at; /* FTREE_NEVER: nothing is to end the job */
    struct ftree_verdict fatal; /* that is, because of this */
    bool confirming; /* it is asked whether that still stands */
    ftree_time set; /* when the action was set while the job ran; 0: it was not */
};

/* Purpose: the job is ended because of this verdict, if that is what is wanted, in a while. */
void faultloc_stop_job_consider(struct faultloc_stop_job *s, const struct ftree_verdict *v,
                                ftree_time now);

/* Purpose: the action was set anew while the job runs.  Where it is to end the job now, `reports`
 * says that it is this node that does, also because of a verdict that stands; where it is not,
 * nothing will. */
void faultloc_stop_job_action(struct faultloc_stop_job *s, ftree_time now, bool reports);

/* Purpose: true if a verdict has stood for so long that the job is being ended because of it, by
 * whichever node: a launcher may then kill ranks without notifying the agents, as Slurm does. */
bool faultloc_stop_job_is_due(const struct faultloc_stop_job *s, ftree_time now);

/* Purpose: to be called in each turn: does it when it is time. */
void faultloc_stop_job_turn(struct faultloc_stop_job *s, ftree_time now);

#endif /* FAULTLOC_STOP_JOB_H_INCLUDED */
