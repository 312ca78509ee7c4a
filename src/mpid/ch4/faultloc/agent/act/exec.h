/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_EXEC_H_INCLUDED
#define FAULTLOC_EXEC_H_INCLUDED

#include "faultloc/io/child.h"
#include "faultloc/agent/report/reporter.h"

/*
 * MPIR_CVAR_FAULTLOC_ACTION=exec:/PROGRAM: the site's program is run for each verdict that is
 * reported, by the agent that reports it, as the user of the job.  It has the report as JSON on its
 * standard input, the main facts of the verdict in its environment (ftree_report_facts()), and
 * FAULTLOC_EXEC_PATIENCE; what it prints become messages.  A verdict that is withdrawn is not
 * passed on to it, and one that was found before the stall limit waits: what the program does may not
 * be undone, so it does not come sooner than with that limit.
 */

#define FAULTLOC_EXEC_PATIENCE (10000 * FTREE_MS)
#define FAULTLOC_EXEC_WAIT (60000 * FTREE_MS) /* for one of those before to end */
#define FAULTLOC_EXEC_MAX 8 /* at the same time */
#define FAULTLOC_EXEC_BYTES 4096 /* of what one prints are kept */

struct faultloc_exec {
    const struct faultloc_program *p;
    struct faultloc_reporter *reporter;
    const char *name; /* of the program, in messages */
    struct faultloc_child child[FAULTLOC_EXEC_MAX];
    struct faultloc_exec_due {
        struct ftree_verdict v;
        ftree_time at;
    } *due; /* [n], for which it is yet to be run */
    int32_t n;
    bool said_late, said_not_run; /* once is enough */
};

/* Purpose: begins; nothing is started yet.  The program's loop is there already. */
void faultloc_exec_init(struct faultloc_exec *e, const struct faultloc_program *p,
                        struct faultloc_reporter *reporter);

/* Purpose: a verdict has been reported, or withdrawn: starts the program, if that is wanted. */
void faultloc_exec_verdict(struct faultloc_exec *e, ftree_time now, const struct ftree_verdict *v);

/* Purpose: reads what has come, and ends what is over; and when to call it again. */
void faultloc_exec_turn(struct faultloc_exec *e, ftree_time now);
ftree_time faultloc_exec_deadline(const struct faultloc_exec *e);

/* Purpose: true if one runs. */
bool faultloc_exec_runs(const struct faultloc_exec *e);

/* Purpose: ends those that run. */
void faultloc_exec_end(struct faultloc_exec *e);

#endif /* FAULTLOC_EXEC_H_INCLUDED */
