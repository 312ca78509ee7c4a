/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/act/stop_job.h"

#include "faultloc/base/say.h"
#include "faultloc/io/launcher_notify.h"

#include <signal.h>

/* Hydra does not drain stderr when a job is aborted: the report gets a head start. */
#define REPORT_DELAY (250 * FTREE_MS)
#define ABORT_PATIENCE (300 * FTREE_MS) /* for a rank to see that the job is to end */
#define EXEC_LOOK (100 * FTREE_MS) /* whether the site's program has ended */
#define ABORT_SLACK (500 * FTREE_MS) /* by which another node may know of a verdict sooner */

/* What is silent or stopped may be so for a moment only; a process that has ended has ended. */
static ftree_time patience_before(const struct faultloc_stop_job *s, const struct ftree_verdict *v)
{
    ftree_time patience = faultloc_board_patience(s->p->board, v);

    if (v->holds_back > patience)
        return v->holds_back;
    return v->class_ == FTREE_CLASS_PROCESS_CRASH || patience < REPORT_DELAY ? REPORT_DELAY
                                                                             : patience;
}

/* From when its patience counts. */
static ftree_time acts_from(const struct faultloc_stop_job *s, const struct ftree_verdict *v)
{
    return v->located > s->set ? v->located : s->set;
}

bool faultloc_stop_job_is_due(const struct faultloc_stop_job *s, ftree_time now)
{
    struct ftree_verdict v;

    if (s->p->board->settings.action != FAULTLOC_ACTION_ABORT)
        return false;
    for (int32_t i = 0; ftree_verdict_at(s->p->ft, i, &v); i++)
        if (ftree_verdict_ends_job(&v) && !v.local_only &&
            now + ABORT_SLACK >= acts_from(s, &v) + patience_before(s, &v))
            return true;
    return false;
}

void faultloc_stop_job_consider(struct faultloc_stop_job *s, const struct ftree_verdict *v,
                                ftree_time now)
{
    ftree_time at = now + patience_before(s, v);

    if (s->p->board->settings.action != FAULTLOC_ACTION_ABORT || s->confirming ||
        s->at <= at || v->local_only || !ftree_verdict_ends_job(v))
        return;
    s->fatal = *v;
    s->at = at;
}

/* A rank of this node whose process lives; -1: there is none. */
static int32_t find_process(const struct faultloc_stop_job *s)
{
    for (int32_t i = 0; i < s->p->board->slots; i++)
        if (!s->p->watch.seen[i].gone)
            return i;
    return -1;
}

/* Before, else the launcher would take the rank for the first to crash, or to call MPI_Abort. */
static void notify_launcher(const struct faultloc_stop_job *s, int32_t rank, int32_t pid)
{
    struct faultloc_launcher_message w;

    faultloc_launcher_ending(&s->p->job.job, &s->fatal, rank, pid, &w);
    faultloc_launcher_send(s->p->board->settings.launcher, &w);
}

/* Who it is the board says: what its page says may be a stray write of the program. */
static void kill_rank(struct faultloc_stop_job *s, int32_t i)
{
    const struct ftree_job *job = &s->p->job.job;
    int32_t rank = job->node_ranks[job->node_first[s->p->self] + i], pid = job->rank_pid[rank];

    if (pid <= 1)
        return;
    faultloc_board_slot(s->p->board, i)->state = FAULTLOC_SLOT_VICTIM;
    notify_launcher(s, rank, pid);
    faultloc_say("node %s: rank %d (pid %d) is killed: MPIR_CVAR_FAULTLOC_ACTION=abort, and no "
                 "rank of this node has ended it",
                 s->p->job.names[s->p->self], (int) rank, (int) pid);
    kill(pid, SIGKILL);
}

/* The node that located it: the launcher only sees that ranks abort, and one node is enough. */
static void say_why(const struct faultloc_stop_job *s)
{
    char line[256];

    if (s->fatal.fln != s->p->self)
        return;
    ftree_report_line(&s->p->job.job, &s->fatal, line, sizeof(line));
    faultloc_say("the job is ended because of this verdict (MPIR_CVAR_FAULTLOC_ACTION=abort): %s",
                 line);
}

/* First the ranks are asked to end the job.  Where none of them is in MPI to see it, one is killed,
 * which the launcher notices and cleans up after. */
static void end_job(struct faultloc_stop_job *s, ftree_time now)
{
    int32_t i = s->p->board->abort_code ? find_process(s) : -1;

    faultloc_reporter_turn(s->reporter, now, true);
    if (!s->p->board->abort_code) {
        say_why(s);
        notify_launcher(s, FTREE_NONE, 0);
    }
    s->at = now + ABORT_PATIENCE;
    s->p->board->abort_code = FAULTLOC_LAUNCHER_ABORT_CODE;
    if (i >= 0)
        kill_rank(s, i);
}

/* The verdict is over: the next that would end the job, if any. */
static void find_fatal(struct faultloc_stop_job *s, ftree_time now)
{
    struct ftree_verdict v;

    s->at = FTREE_NEVER;
    for (int32_t i = 0; s->at == FTREE_NEVER && ftree_verdict_at(s->p->ft, i, &v); i++)
        faultloc_stop_job_consider(s, &v, now);
    if (s->at == FTREE_NEVER)
        faultloc_reporter_trace(s->reporter,
                                "the job continues: the fault that was to end it is over");
}

void faultloc_stop_job_action(struct faultloc_stop_job *s, ftree_time now, bool reports)
{
    struct ftree_verdict v;

    s->at = s->p->board->abort_code ? s->at : FTREE_NEVER;
    s->confirming = false;
    s->set = now;
    for (int32_t i = 0; reports && s->at == FTREE_NEVER && ftree_verdict_at(s->p->ft, i, &v);
         i++)
        faultloc_stop_job_consider(s, &v, now);
}

/* A last question, immediately before: what cannot be undone is not done because of an old
 * answer. */
void faultloc_stop_job_turn(struct faultloc_stop_job *s, ftree_time now)
{
    enum ftree_confirmed confirmed;
    bool stands;

    if (now < s->at && !s->confirming)
        return;
    if (s->p->board->abort_code) {
        end_job(s, now);
        return;
    }
    if (!s->confirming && faultloc_exec_runs(s->exec)) { /* a launcher may kill it with the job */
        s->at = now + EXEC_LOOK;
        return;
    }
    if (!s->confirming) {
        s->confirming = ftree_confirm(s->p->ft, now, s->fatal.fln, s->fatal.id) == FTREE_OK;
        s->at = FTREE_NEVER; /* the core says when it knows */
    }
    confirmed = ftree_confirmed(s->p->ft, s->fatal.fln, s->fatal.id);
    if (s->confirming && confirmed == FTREE_CONFIRMED_PENDING)
        return;
    stands = s->confirming && confirmed == FTREE_CONFIRMED_STANDS;
    s->confirming = false;
    if (stands)
        end_job(s, now);
    else
        find_fatal(s, now);
}

