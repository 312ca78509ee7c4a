/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/fail/fail.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"
#include "ftree/report/report.h"

#include <ctype.h>

/*
 * A rank that is about to abort because a peer was lost is only a consequence. It waits until it is
 * known of what, for no longer than MPIR_CVAR_FAULTLOC_GRACE_MS, and says it: else the launcher
 * hears of the abort first and cleans up what could still be asked. Likewise one whose program ends
 * the job after it has lost a peer. MPI_Abort where no peer was lost waits for nothing. One that
 * exits by itself then is a consequence, too: its agent sees how it ended.
 *
 * One that ends for a reason of its own says which (board/launcher.h): its end does not show whether
 * the program has called MPI_Abort, or an error of MPI was fatal; and MPI_Abort on a part of the job,
 * of which MPICH tells the launcher nothing, ends other ranks as if they had crashed.
 */

#define LOOK_NS 1000000

/* The launcher waits so long and a little more for others that end (faultloc_incident.c). Until
 * then this rank is as it was when the verdict came: one of its victims, and if it crashes itself
 * meanwhile that is reported, too. */
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

    if (slot->wait_since_ns && slot->wait_call == MPIDI_FAULTLOC_CALL)
        return;
    slot->wait_since_ns = 0;
    slot->wait_peer = FAULTLOC_PEER_UNKNOWN;
    slot->wait_request = 0;
    slot->wait_call = MPIDI_FAULTLOC_CALL;
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

/* ---- an error in a collective ---------------------------------------------------------------- */

/* Members that do not agree on a size get such errors, and mostly not those that are wrong: the last
 * two are what another has said (4.0, 4.2). */
static bool may_be_mismatch(int mpi_errno, const char *text)
{
    return mpi_errno != MPI_SUCCESS && MPIDI_faultloc_collective_now() != NULL &&
        (MPIR_ERR_GET_CLASS(mpi_errno) == MPI_ERR_TRUNCATE ||
         strstr(text, "sizes do not match") || strstr(text, "Failure during collective") ||
         strstr(text, "(unknown)(): Other MPI error") || strstr(text, "MPIR_Process_status("));
}

static bool find_mismatch(const struct faultloc_board *b)
{
    struct ftree_verdict v;

    for (int32_t i = 0; i < b->verdicts; i++)
        if (faultloc_board_read(b, i, &v) && !v.withdrawn && !v.local_only &&
            v.class_ == FTREE_CLASS_COLLECTIVE_MISMATCH)
            return true;
    return false;
}

/* It stays in the collective until it is known what the members have done there, as in any stall:
 * the others wait for it, in this one or the next. */
static void wait_for_mismatch(const struct faultloc_board *b)
{
    struct MPIDI_faultloc_wait wait = {.mode = WAITS_FOR_ALL,.other = true };
    ftree_time until = faultloc_now() + MPIDI_faultloc_grace();
    bool found = false;

    if (b->settings.stall >= MPIDI_faultloc_grace())
        return; /* nobody is asked before */
    begin_waiting();
    while (!found && faultloc_now() < until) {
        wait_on();
        MPIDI_faultloc_answer(&wait);
        found = find_mismatch(b);
    }
    for (ftree_time waited = 0; found && waited < LINGER_NS; waited += LOOK_NS)
        wait_on();
}

/* ---- why it ends ----------------------------------------------------------------------------- */

/* MPICH then tells the launcher of no abort: the processes exit, as those that crash. */
static bool is_part(const MPIR_Comm * comm)
{
    return !comm || comm != MPIR_Process.comm_world;
}

static void send_reason(enum faultloc_launcher_reason reason, const char *text)
{
    const struct faultloc_board *b = MPIDI_faultloc_board();

    if (b)
        faultloc_launcher_send_reason(b->settings.launcher, MPIR_Process.rank,
                                      MPIDI_faultloc_page.slot.pid, reason, text);
}

/* For the agent, which finds the process gone. */
static void leave_reason(const char *text)
{
    struct faultloc_wait_area *area = MPIDI_faultloc_wait_area();

    if (area)
        MPL_strncpy(area->reason, text, sizeof(area->reason));
}

/* False: one of them is of another world, or there is no memory. */
static bool find_members(MPIR_Comm * comm, struct ftree_ranks *set)
{
    bool *is_in = MPL_calloc((size_t) MPIR_Process.size, sizeof(*is_in), MPL_MEM_OTHER);
    bool all = is_in != NULL;

    memset(set, 0, sizeof(*set));
    for (int i = 0; all && i < comm->remote_size; i++) {
        int32_t rank = MPIDI_faultloc_world_rank(comm, i);
        all = rank != FTREE_NONE;
        if (all)
            is_in[rank] = true;
    }
    for (int32_t r = 0; all && r < MPIR_Process.size; r++) {
        if (!is_in[r])
            continue;
        set->count++;
        if (r > 0 && is_in[r - 1] && set->ranges > 0 && set->range[set->ranges - 1].last == r - 1)
            set->range[set->ranges - 1].last = r;
        else if (set->ranges < FTREE_RANGES_MAX)
            set->range[set->ranges].first = set->range[set->ranges].last = r, set->ranges++;
    }
    MPL_free(is_in);
    return all;
}

/* "a communicator of ranks 2-3" */
static void describe(MPIR_Comm * comm, char *out, size_t room)
{
    struct ftree_ranks set;
    char list[80];

    if (comm == MPIR_Process.comm_self) {
        snprintf(out, room, "MPI_COMM_SELF");
    } else if (!find_members(comm, &set)) {
        snprintf(out, room, "a communicator of %d processes", comm->local_size);
    } else {
        ftree_report_ranks(&set, list, sizeof(list));
        snprintf(out, room, "a communicator of %s %s", set.count == 1 ? "rank" : "ranks", list);
    }
}

/* A call without its pointers: "MPI_Bcast(count=800, MPI_DOUBLE, 0, MPI_COMM_WORLD)". */
static void add_call(const char *call, size_t len, char *out, size_t room)
{
    size_t used = 0;

    for (size_t i = 0, end; i < len && used + 1 < room; i = end) {
        size_t first = i && call[i] == ' ' ? i + 1 : i;
        bool is_pointer;
        end = i + strcspn(call + i, "(,");
        end = end < len ? end + 1 : len;
        is_pointer = i && strstr(call + i, "=0x") && strstr(call + i, "=0x") < call + end;
        if (is_pointer && end == len && used && out[used - 1] == ',')
            used--;     /* the last one */
        if (is_pointer && end == len)
            used += (size_t) snprintf(out + used, room - used, ")");
        else if (!is_pointer)
            used += (size_t) snprintf(out + used, room - used, "%s%.*s",
                                      used && out[used - 1] == ',' ? " " : "",
                                      (int) (end - first), call + first);
    }
}

/* The text of MPICH ("Fatal error in internal_Bcast: CLASS, error stack:", then a line for each
 * function, from the one that the program has called to the one that has found the error) in one
 * line. */
static void add_error(const char *text, char *out, size_t room)
{
    const char *stack = strchr(text, '\n'), *what = strstr(text, ": "), *call = NULL, *end = NULL;
    char of[FAULTLOC_REASON_SIZE / 2] = "";
    size_t used;

    if (stack && (call = strstr(stack, ": MPI_")) != NULL && (end = strstr(call, " failed")) != NULL)
        add_call(call + 2, (size_t) (end - call - 2), of, sizeof(of));
    else if ((call = strstr(text, "internal_")) != NULL && what)
        snprintf(of, sizeof(of), "MPI_%.*s", (int) strcspn(call + 9, ":"), call + 9);
    for (const char *line = stack; line && line[1]; line = strchr(line + 1, '\n'))
        if (strstr(line, ": "))
            what = strstr(line, ": ");
    what = what ? what + 2 : text;
    used = strlen(out);
    snprintf(out + used, room - used, "%.*s%s%s", (int) strcspn(what, "\n"), what,
             of[0] ? ", in " : "", of);
    if (used < room && out[used + 1] >= 'a' && out[used + 1] <= 'z')
        out[used] = (char) tolower((unsigned char) out[used]);
}

/* ---- where ----------------------------------------------------------------------------------- */

static void add_place(char *out, size_t room)
{
    size_t used = strlen(out);
    char where[FAULTLOC_REASON_SIZE / 2];

    if (MPIDI_faultloc_where(where, sizeof(where)))
        snprintf(out + used, room - used, " called at %s", where);
}

static void count_comm(void *object, void *arg)
{
    MPIR_Comm *comm = object;

    *(int *) arg += MPIR_Object_get_ref(comm) > 0 && comm == MPIDI_faultloc_whole_of(comm);
}

/* Where they are used up, what matters is how many were never freed. */
static void add_comms(const char *text, char *out, size_t room)
{
    size_t used = strlen(out);
    int n = 0;

    if (!strstr(text, "Too many communicators"))
        return;
    MPIDI_faultloc_each_object(&MPIR_Comm_mem, HANDLE_NUM_INDICES, count_comm, &n);
    snprintf(out + used, room - used, "; it has made %d that are not freed", n);
}

static void say_error(int mpi_errno, const char *text)
{
    char line[FAULTLOC_REASON_SIZE] = "met a fatal error of MPI: ";

    add_error(text, line, sizeof(line));
    add_place(line, sizeof(line));
    add_comms(text, line, sizeof(line));
    leave_reason(line);
    send_reason(FAULTLOC_REASON_MPI, line);
    if (may_be_mismatch(mpi_errno, text))
        wait_for_mismatch(MPIDI_faultloc_board());
}

/* The launcher says itself who has called MPI_Abort on all. */
static void say_why(MPIR_Comm * comm, int mpi_errno, int code, const char *text)
{
    static atomic_flag said = ATOMIC_FLAG_INIT; /* an error that is fatal comes here twice */
    char line[FAULTLOC_REASON_SIZE], on[128];

    if ((comm && comm->comm_kind != MPIR_COMM_KIND__INTRACOMM) || atomic_flag_test_and_set(&said))
        return; /* MPICH goes on after MPI_Abort on an intercommunicator */
    if (mpi_errno != MPI_SUCCESS || !comm) {
        say_error(mpi_errno, text ? text : "internal error");
    } else if (is_part(comm)) {
        describe(comm, on, sizeof(on));
        snprintf(line, sizeof(line), "called MPI_Abort(%d) on %s", code, on);
        leave_reason(line);
        send_reason(FAULTLOC_REASON_ABORT, line);
    }
}

void MPIDI_faultloc_before_abort(MPIR_Comm * comm, int mpi_errno, int code, const char *text)
{
    int error_class = MPIR_ERR_GET_CLASS(mpi_errno);
    struct faultloc_board *b = MPIDI_faultloc_board();
    bool is_consequence = MPIDI_faultloc_has_lost() ||
        (mpi_errno != MPI_SUCCESS && (error_class == MPIX_ERR_PROC_FAILED ||
                                      error_class == MPIX_ERR_PROC_FAILED_PENDING));
    bool is_victim = b && is_consequence && explain(b);

    if (is_consequence)
        send_reason(FAULTLOC_REASON_LOSS, "");
    else if (b)
        say_why(comm, mpi_errno, code, text);
    if (is_consequence || !is_part(comm))
        MPIDI_faultloc_aborting(is_victim ? FAULTLOC_SLOT_VICTIM : FAULTLOC_SLOT_LEFT);
}

/* ---- another's MPI_Abort --------------------------------------------------------------------- */

/* The number of a rank of another world would name one of this. */
int MPIDI_faultloc_abort_by(MPIR_Comm * comm)
{
    for (int i = 0; i < comm->remote_size; i++)
        if (MPIDI_faultloc_world_rank(comm, i) == FTREE_NONE)
            return FTREE_NONE;
    return MPIR_Process.rank;
}

/* From within progress: the process is about to exit.  It waited for that, as its agent sees it. */
void MPIDI_faultloc_aborted(int rank, int code)
{
    char line[FAULTLOC_REASON_SIZE], whose[32] = "another rank";

    if (!MPIDI_faultloc_board())
        return;
    if (rank >= 0 && rank < MPIR_Process.size)
        snprintf(whose, sizeof(whose), "rank %d", rank);
    snprintf(line, sizeof(line), "was ended by MPI_Abort(%d) of %s", code, whose);
    begin_waiting();
    leave_reason(line);
    send_reason(FAULTLOC_REASON_OTHER, line);
    MPIDI_faultloc_aborting(FAULTLOC_SLOT_ABORTED);
}
