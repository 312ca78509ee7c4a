/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/parts.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"
#include "ftree/report/report.h"

/*
 * A rank that is about to abort because a peer was lost is only a consequence. It waits until it is
 * known of what, for no longer than MPIR_CVAR_FAULTLOC_GRACE_MS, and says it: else the launcher
 * hears of the abort first and cleans up what could still be asked. Likewise one whose program ends
 * the job after it has lost a peer. MPI_Abort where no peer was lost waits for nothing. One that
 * exits by itself then is a consequence, too: its agent sees how it ended.
 */

#define LOOK_NS 1000000

/* The launcher waits so long and a little more for others that end (faultloc_incident.c). Until
 * then this rank is as it was when the verdict came: one of its victims, and if it crashes itself
 * meanwhile that is told, too. */
#define LINGER_NS 200000000

static bool find_verdict(const struct faultloc_board *b, struct ftree_verdict *v)
{
    for (int32_t i = 0; i < b->verdicts; i++)
        if (faultloc_board_read(b, i, v) && ftree_verdict_ends_ranks(v) && !v->local_only)
            return true;
    return false;
}

/* The rank is a victim, and for its agent that is one that waits: for what it waited for when that
 * failed, or from now on, where it failed at once. */
static void begin_waiting(void)
{
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;

    if (slot->wait_since_ns && slot->wait_call == slot->call)
        return;
    slot->wait_since_ns = 0;
    slot->wait_peer = FAULTLOC_PEER_UNKNOWN;
    slot->wait_request = 0;
    slot->wait_call = slot->call;
    slot->wait_since_ns = faultloc_now();
}

/* A turn of that wait. */
static void wait_on(void)
{
    struct timespec pause = {.tv_nsec = LOOK_NS };

    MPIDI_faultloc_page.slot.spins++;
    nanosleep(&pause, NULL);
}

static bool wait_for_verdict(const struct faultloc_board *b, struct ftree_verdict *v)
{
    ftree_time grace = MPIDI_faultloc_grace();
    bool found = find_verdict(b, v);

    begin_waiting();
    for (ftree_time waited = 0; !found && waited < grace; waited += LOOK_NS) {
        wait_on();
        found = find_verdict(b, v);
    }
    for (ftree_time waited = 0; found && waited < LINGER_NS; waited += LOOK_NS)
        wait_on();
    return found;
}

/* Says why this rank ends, as soon as that is known.  True: because of another's failure. */
static bool explain(const struct faultloc_board *b)
{
    static atomic_flag said = ATOMIC_FLAG_INIT; /* an error that is fatal comes here twice */
    struct ftree_verdict v;
    char line[256];
    bool found;

    if (atomic_flag_test_and_set(&said))
        return false;
    found = wait_for_verdict(b, &v);
    if (found) {
        ftree_report_line(MPIDI_faultloc_job(), &v, line, sizeof(line));
        faultloc_say("rank %d aborts because of a fault elsewhere: %s", MPIR_Process.rank, line);
    } else {
        faultloc_say("rank %d aborts: the transport lost a peer, cause not identified (no "
                     "verdict within %d ms)", MPIR_Process.rank,
                     (int) (MPIDI_faultloc_grace() / FTREE_MS));
    }
    return found;
}

/* MPICH then tells the launcher of no abort: the process exits, as one that crashes. */
static bool only_exits(const MPIR_Comm * comm)
{
    return !comm || (comm != MPIR_Process.comm_world && MPIR_Comm_size(comm) == 1 &&
                     comm->comm_kind == MPIR_COMM_KIND__INTRACOMM);
}

void MPIDI_faultloc_before_abort(MPIR_Comm * comm, int mpi_errno)
{
    int error_class = MPIR_ERR_GET_CLASS(mpi_errno);
    struct faultloc_board *b = MPIDI_faultloc_board();
    bool is_consequence = MPIDI_faultloc_has_lost() ||
        (mpi_errno != MPI_SUCCESS && (error_class == MPIX_ERR_PROC_FAILED ||
                                      error_class == MPIX_ERR_PROC_FAILED_PENDING));
    bool is_victim = b && is_consequence && explain(b);

    if (is_consequence || !only_exits(comm))
        MPIDI_faultloc_aborting(is_victim);
}
