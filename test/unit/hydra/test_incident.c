/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_incident.h"
#include "suite.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define INITED 1
#define FINALIZED 2
#define KILLED 4
#define NO_AGENT 8
#define UNSURE 16
#define INNER 32

/* Wait statuses, as the kernel makes them. */
#define BY_SIGNAL(n) (n)
#define DUMPED(n) ((n) | 0x80)
#define BY_EXIT(n) ((n) << 8)

static struct HYD_faultloc_incident incident;

static void begin(void)
{
    free(incident.event);
    free(incident.verdict);
    free(incident.reason);
    memset(&incident, 0, sizeof(incident));
    ck_assert(HYD_faultloc_incident_grace(&incident, NULL));
}

BEFORE_EACH
{
    begin();
}

static void add(int64_t ms, int kind, int rank, int status, int flags)
{
    struct HYD_faultloc_event f = {.kind = kind, .ms = ms};

    snprintf(f.host, sizeof(f.host), "h%d", rank);
    f.end.rank = rank;
    f.end.pid = 4700 + rank;
    f.end.status = status;
    f.end.inited = (flags & INITED) != 0 || (flags & FINALIZED) != 0;
    f.end.finalized = (flags & FINALIZED) != 0;
    f.end.killed = (flags & KILLED) != 0;
    f.end.agent = !(flags & NO_AGENT);
    f.end.unsure = (flags & UNSURE) != 0;
    f.end.inner = (flags & INNER) != 0;
    ck_assert(HYD_faultloc_incident_add(&incident, &f));
}

static void end(int64_t ms, int rank, int status)
{
    add(ms, HYD_FAULTLOC_EVENT_END, rank, status, INITED);
}

static void rule(int64_t ms, int id, int rank, int first_victim, int last_victim)
{
    struct faultloc_launcher_message w = {
        .kind = FAULTLOC_LAUNCHER_VERDICT, .id = (uint32_t) id, .ends_ranks = 1};

    w.ranks.ranges = w.ranks.count = 1;
    w.ranks.range[0].first = w.ranks.range[0].last = rank;
    if (first_victim >= 0) {
        w.victims.ranges = 1;
        w.victims.count = last_victim - first_victim + 1;
        w.victims.range[0].first = first_victim;
        w.victims.range[0].last = last_victim;
    }
    snprintf(w.line, sizeof(w.line), "process-crash: rank %d", rank);
    ck_assert(HYD_faultloc_incident_verdict(&incident, 0, ms, &w));
}

static void withdraw(int id)
{
    struct faultloc_launcher_message w = {.kind = FAULTLOC_LAUNCHER_WITHDRAWN, .id = (uint32_t) id};

    ck_assert(HYD_faultloc_incident_verdict(&incident, 0, 0, &w));
}

static int64_t deadline(void)
{
    return HYD_faultloc_incident_deadline(&incident, true);
}

static int first_rank(void)
{
    int i = HYD_faultloc_incident_first(&incident);

    return i < 0 ? -1 : incident.event[i].end.rank;
}

/* What is printed, line by line. */
static void is_printed(const char *want)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    ck_assert_ptr_nonnull(f);
    HYD_faultloc_incident_print(&incident, f);
    fclose(f);
    ck_assert_str_eq(text, want);
    free(text);
}

/* When it happened, of the last that was added. */
static void at(int64_t ended)
{
    incident.event[incident.events - 1].ended = ended;
}

/* ---- who was the first, and mpiexec's exit code ---------------------------------------------- */

/* Reports may overtake each other; both are located. */
TEST_CASE(who_ended_first_is_not_who_was_reported_first)
{
    end(100, 3, BY_SIGNAL(9));
    at(90);
    end(101, 2, BY_SIGNAL(9));
    at(40);
    ck_assert_int_eq(first_rank(), 2);
    rule(120, 1, 3, 0, 1);
    ck_assert_int_eq(first_rank(), 3);
    rule(121, 2, 2, 0, 1);
    ck_assert_int_eq(first_rank(), 2);
    is_printed("[faultloc] rank 2 on h2 (pid 4702) was the first to end: signal 9 (SIGKILL)\n"
               "[faultloc]   rank 3 on h3 (pid 4703) ended, too: signal 9 (SIGKILL)\n"
               "[faultloc]   process-crash: rank 3\n"
               "[faultloc]   process-crash: rank 2\n");
}

TEST_CASE(whose_order_is_not_known_are_both_named)
{
    end(100, 3, BY_SIGNAL(9));
    at(90);
    end(101, 2, BY_SIGNAL(11));
    at(80);
    end(102, 1, BY_SIGNAL(9));
    at(130);
    is_printed(
        "[faultloc] rank 2 on h2 (pid 4702) was among the first to end: signal 11 (SIGSEGV)\n"
        "[faultloc]   rank 3 on h3 (pid 4703) ended at the same time: signal 9 (SIGKILL)\n"
        "[faultloc]   rank 1 on h1 (pid 4701) ended, too: signal 9 (SIGKILL)\n");
    /* what one proxy saw has an order */
    snprintf(incident.event[0].host, sizeof(incident.event[0].host), "h2");
    is_printed("[faultloc] rank 2 on h2 (pid 4702) was the first to end: signal 11 (SIGSEGV)\n"
               "[faultloc]   rank 3 on h2 (pid 4703) ended, too: signal 9 (SIGKILL)\n"
               "[faultloc]   rank 1 on h1 (pid 4701) ended, too: signal 9 (SIGKILL)\n");
}

TEST_CASE(who_is_located)
{
    ck_assert(!HYD_faultloc_incident_is_located(&incident, 0, 2));
    rule(10, 5, 2, -1, -1);
    ck_assert(HYD_faultloc_incident_is_located(&incident, 0, 2));
    ck_assert(!HYD_faultloc_incident_is_located(&incident, 0, 3));
    ck_assert(!HYD_faultloc_incident_is_located(&incident, 1, 2)); /* another process group's */
    withdraw(5);
    ck_assert(!HYD_faultloc_incident_is_located(&incident, 0, 2));
}

TEST_CASE(nothing_happened)
{
    ck_assert_int_eq(first_rank(), -1);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), -1);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    is_printed("");
}

static const struct {
    int status, flags, code;
    const char *how;
} ends[] = {
    {BY_SIGNAL(9), INITED, 137, "was the first to end: signal 9 (SIGKILL)"},
    {DUMPED(11), INITED, 139, "was the first to end: signal 11 (SIGSEGV), core dumped"},
    {BY_SIGNAL(7), INITED, 135, "was the first to end: signal 7 (SIGBUS)"},
    {BY_SIGNAL(40), INITED, 168, "was the first to end: signal 40"},
    {BY_EXIT(3), INITED, 3, "was the first to end: exit code 3 before MPI_Finalize"},
    {BY_EXIT(0), INITED, 1, "was the first to end: exit code 0 before MPI_Finalize"},
    {BY_EXIT(3), FINALIZED, 3, "was the first to end: exit code 3 after MPI_Finalize"},
    {BY_SIGNAL(11), FINALIZED, 139,
     "was the first to end: signal 11 (SIGSEGV), after MPI_Finalize"},
    {BY_SIGNAL(11), 0, 139, "was the first to end: signal 11 (SIGSEGV)"},
    {BY_SIGNAL(15), INITED | KILLED, 143,
     "ended by the signal that mpiexec was sent: signal 15 (SIGTERM)"},
    {BY_EXIT(0), INITED | INNER, 1,
     "was the first to end: its PMI connection closed before MPI_Finalize"},
    {BY_EXIT(3), FINALIZED | INNER, 3, "was the first to end: exit code 3 after MPI_Finalize"},
};

TEST_CASES(each_end_has_its_code, COUNT(ends))
{
    char want[256];

    add(100, HYD_FAULTLOC_EVENT_END, 2, ends[_i].status, ends[_i].flags);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), ends[_i].code);
    snprintf(want, sizeof(want), "[faultloc] rank 2 on h2 (pid 4702) %s\n", ends[_i].how);
    is_printed(want);
}

/* A program that is no MPI program, one that was ended with the others: hydra's own exit code. */
TEST_CASE(some_ends_are_none)
{
    add(100, HYD_FAULTLOC_EVENT_END, 0, BY_EXIT(3), 0);
    add(100, HYD_FAULTLOC_EVENT_END, 1, BY_SIGNAL(9), INITED | KILLED);
    add(100, HYD_FAULTLOC_EVENT_END, 2, BY_EXIT(0), FINALIZED);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), -1);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    is_printed("");
}

TEST_CASE(the_located_one_was_the_first)
{
    add(100, HYD_FAULTLOC_EVENT_ABORT, 0, 1, INITED); /* reported before its cause */
    end(101, 2, DUMPED(11));
    ck_assert_int_eq(first_rank(), 2);
    rule(200, 7, 2, 0, 1);
    ck_assert_int_eq(first_rank(), 2);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 139);
    is_printed("[faultloc] rank 2 on h2 (pid 4702) was the first to end: "
               "signal 11 (SIGSEGV), core dumped\n"
               "[faultloc]   rank 0 on h0 (pid 4700) ended as a consequence: "
               "MPI_Abort with code 1\n"
               "[faultloc]   process-crash: rank 2\n");
}

TEST_CASE(of_two_the_one_heard_of_first)
{
    end(100, 3, BY_SIGNAL(9));
    end(150, 1, BY_EXIT(4));
    rule(300, 1, 1, 0, 0);
    ck_assert_int_eq(first_rank(), 1); /* so far */
    rule(310, 2, 3, 0, 0);
    ck_assert_int_eq(first_rank(), 3);
    is_printed("[faultloc] rank 3 on h3 (pid 4703) was the first to end: signal 9 (SIGKILL)\n"
               "[faultloc]   rank 1 on h1 (pid 4701) ended, too: exit code 4 before MPI_Finalize\n"
               "[faultloc]   process-crash: rank 1\n[faultloc]   process-crash: rank 3\n");
}

/* The agent that told it was lost, and the next one knows no victims. */
TEST_CASE(a_repeated_verdict_says_no_less)
{
    end(100, 3, BY_SIGNAL(9));
    end(150, 1, BY_EXIT(4));
    rule(300, 1, 3, 1, 1);
    rule(400, 1, 3, -1, -1);
    ck_assert_int_eq(incident.verdicts, 1);
    ck_assert_int_eq(incident.verdict[0].ms, 300);
    ck_assert(HYD_faultloc_incident_is_consequence(&incident, 1));
    rule(500, 1, 3, 0, 1);
    ck_assert_int_eq(incident.verdict[0].message.victims.count, 2);
}

TEST_CASE(a_withdrawn_verdict_says_nothing)
{
    end(100, 3, BY_SIGNAL(9));
    end(150, 1, BY_EXIT(4));
    rule(300, 1, 1, 3, 3);
    ck_assert_int_eq(first_rank(), 1);
    withdraw(1);
    ck_assert_int_eq(first_rank(), 3);
    ck_assert(deadline() == 3100);
    withdraw(5); /* of which nobody knows */
    rule(400, 1, 1, 3, 3); /* and again */
    ck_assert_int_eq(first_rank(), 1);
}

/* Whatever the order in which words come: what is asked is which verdicts stand. */
TEST_CASE(a_rank_is_gone_while_a_verdict_stands)
{
    ck_assert(!HYD_faultloc_incident_ends(&incident, 0, 2));
    rule(100, 1, 2, -1, -1);
    rule(110, 2, 2, -1, -1);
    ck_assert(HYD_faultloc_incident_ends(&incident, 0, 2));
    ck_assert(!HYD_faultloc_incident_ends(&incident, 0, 3));
    ck_assert(!HYD_faultloc_incident_ends(&incident, 1, 2));
    withdraw(1); /* such a word says of no rank that it is gone */
    ck_assert(HYD_faultloc_incident_ends(&incident, 0, 2));
    withdraw(2);
    ck_assert(!HYD_faultloc_incident_ends(&incident, 0, 2));
    rule(200, 3, 2, -1, -1);
    incident.verdict[2].message.ends_ranks = 0; /* it is stopped */
    ck_assert(!HYD_faultloc_incident_ends(&incident, 0, 2));
    ck_assert(HYD_faultloc_incident_is_located(&incident, 0, 2));
}

TEST_CASE(a_silent_proxy_counts_while_a_verdict_stands)
{
    add(100, HYD_FAULTLOC_EVENT_LOST, 2, 0, INITED | UNSURE);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), -1);
    is_printed("");
    rule(9000, 1, 2, -1, -1);
    ck_assert(deadline() == 9250);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 137);
    withdraw(1);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), -1);
    ck_assert(!HYD_faultloc_incident_has_end(&incident, 0, 2));
    HYD_faultloc_incident_confirm_lost(&incident, 1, 10000); /* another group */
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    HYD_faultloc_incident_confirm_lost(&incident, 0, 10000); /* all others wait for it */
    ck_assert(deadline() == 13000);
    ck_assert(HYD_faultloc_incident_has_end(&incident, 0, 2));
}

/* A script has ended, and the rank that it started goes on, or not. */
TEST_CASE(what_was_unsure_is_replaced)
{
    add(100, HYD_FAULTLOC_EVENT_END, 2, BY_EXIT(3), INITED | UNSURE);
    add(101, HYD_FAULTLOC_EVENT_END, 3, BY_EXIT(0), INITED | UNSURE);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), -1);
    is_printed("");
    add(500, HYD_FAULTLOC_EVENT_END, 2, BY_EXIT(3), FINALIZED | INNER);
    ck_assert_int_eq(incident.events, 2);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 3);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    add(600, HYD_FAULTLOC_EVENT_END, 3, BY_EXIT(0), INITED | INNER);
    ck_assert_int_eq(first_rank(), 3);
    ck_assert(deadline() == 3600);
}

/* It has left a process that keeps its PMI connection: a verdict says that the rank is gone. */
TEST_CASE(an_unsure_end_counts_while_a_verdict_stands)
{
    add(100, HYD_FAULTLOC_EVENT_END, 2, BY_EXIT(0), INITED | UNSURE);
    rule(9000, 1, 2, 0, 1);
    ck_assert_int_eq(first_rank(), 2);
    ck_assert(deadline() == 9250);
    is_printed("[faultloc] rank 2 on h2 (pid 4702) was the first to end: "
               "exit code 0 before MPI_Finalize\n[faultloc]   process-crash: rank 2\n");
    withdraw(1);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
}

TEST_CASE(ended_by_faultloc)
{
    rule(50, 1, 3, 0, 2);
    incident.verdict[0].message.ends_ranks = 0;
    snprintf(incident.verdict[0].message.line, 32, "process-stopped: rank 3");
    ck_assert(!HYD_faultloc_incident_has_abort(&incident));
    add(100, HYD_FAULTLOC_EVENT_ENDING, 1, 1, INITED | NO_AGENT);
    snprintf(incident.event[0].class_, sizeof(incident.event[0].class_), "process-stopped");
    ck_assert(HYD_faultloc_incident_has_abort(&incident));
    ck_assert(!HYD_faultloc_incident_has_end(&incident, 0, 1));
    add(101, HYD_FAULTLOC_EVENT_END, 1, BY_SIGNAL(9), INITED | KILLED);
    ck_assert(deadline() == 150);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 1);
    is_printed("[faultloc] FaultLoc ended the job because of its verdict process-stopped "
               "(action abort), by a signal to rank 1 on h1 (pid 4701)\n"
               "[faultloc]   process-stopped: rank 3\n");
    rule(110, 2, 3, 0, 2);
    end(120, 3, BY_SIGNAL(11)); /* the fault itself was a crash */
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 139);
}

/* Ranks in MPI call MPI_Abort because of it. */
TEST_CASE(aborted_by_faultloc)
{
    for (int32_t rank = 1; rank < 3; rank++) {
        add(100, HYD_FAULTLOC_EVENT_ABORT, rank, 1, INITED);
        snprintf(incident.event[rank - 1].class_, sizeof(incident.event[0].class_), "deadlock");
    }
    ck_assert(HYD_faultloc_incident_has_abort(&incident));
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 1);
    is_printed("[faultloc] FaultLoc ended the job because of its verdict deadlock "
               "(action abort), by MPI_Abort of rank 1 on h1 (pid 4701)\n"
               "[faultloc]   rank 2 on h2 (pid 4702) ended, too: by FaultLoc (action abort)\n");
}

TEST_CASE(lost_with_its_proxy)
{
    add(100, HYD_FAULTLOC_EVENT_LOST, 2, 0, INITED);
    add(100, HYD_FAULTLOC_EVENT_LOST, 3, 0, INITED);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 137);
    is_printed("[faultloc] rank 2 on h2 (pid 4702) was lost with hydra's proxy there\n"
               "[faultloc]   rank 3 on h3 (pid 4703) was lost, too\n");
}

TEST_CASE(abort_by_the_program)
{
    add(100, HYD_FAULTLOC_EVENT_ABORT, 2, 7, INITED);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 7);
    is_printed("[faultloc] rank 2 on h2 (pid 4702) called MPI_Abort with code 7\n");
    begin();
    add(100, HYD_FAULTLOC_EVENT_ABORT, 2, 256, INITED);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 1);
}

/* What comes from another process may be anything. */
static void reason(int rank, int kind, const char *text)
{
    struct faultloc_launcher_message w = {
        .kind = FAULTLOC_LAUNCHER_REASON, .ended_rank = rank, .reason = (uint8_t) kind};

    snprintf(w.line, sizeof(w.line), "%s", text);
    ck_assert(HYD_faultloc_incident_reason(&incident, 0, &w));
}

/* Who was ended by it may be seen to end first, and nobody need have located it. */
TEST_CASE(abort_of_a_part)
{
    reason(2, FAULTLOC_REASON_OTHER, "was ended by MPI_Abort(7) of rank 3");
    end(100, 2, BY_EXIT(7));
    at(90);
    end(101, 3, BY_EXIT(7));
    at(95);
    reason(3, FAULTLOC_REASON_ABORT, "called MPI_Abort(7) on a communicator of ranks 2-3");
    ck_assert_int_eq(first_rank(), 3);
    rule(110, 1, 3, -1, -1);
    ck_assert_int_eq(deadline(), 110 + 250); /* nothing more is to be explained */
    rule(120, 2, 2, -1, -1); /* somebody waits for it */
    ck_assert_int_eq(first_rank(), 3);
    withdraw(1);
    withdraw(2);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 7);
    is_printed("[faultloc] rank 3 on h3 (pid 4703) called MPI_Abort(7) on a communicator of ranks "
               "2-3\n"
               "[faultloc]   rank 2 on h2 (pid 4702) was ended by MPI_Abort(7) of rank 3\n");
}

TEST_CASE(an_error_of_mpi_is_no_abort_of_the_program)
{
    reason(1, FAULTLOC_REASON_MPI, "met a fatal error of MPI: message truncated, in MPI_Recv(1)");
    add(100, HYD_FAULTLOC_EVENT_ABORT, 1, 15, INITED);
    reason(2, FAULTLOC_REASON_MPI, "met a fatal error of MPI: failure, in MPI_Bcast(2)");
    add(101, HYD_FAULTLOC_EVENT_ABORT, 2, 15, INITED);
    is_printed("[faultloc] MPI ended the job: rank 1 on h1 (pid 4701) met a fatal error of MPI: "
               "message truncated, in MPI_Recv(1)\n"
               "[faultloc]   rank 2 on h2 (pid 4702) met a fatal error of MPI: failure, in "
               "MPI_Bcast(2)\n");
}

/* The gathering of victims is over by then. */
TEST_CASE(who_fails_because_of_a_loss_ends_as_a_consequence)
{
    end(100, 0, BY_SIGNAL(9));
    rule(101, 1, 0, -1, -1);
    end(110, 1, BY_EXIT(1));
    reason(1, FAULTLOC_REASON_LOSS, "");
    reason(2, FAULTLOC_REASON_LOSS, "");
    add(111, HYD_FAULTLOC_EVENT_ABORT, 2, 17, INITED);
    reason(3, FAULTLOC_REASONS, "nothing that is known");
    end(112, 3, BY_EXIT(1));
    is_printed("[faultloc] rank 0 on h0 (pid 4700) was the first to end: signal 9 (SIGKILL)\n"
               "[faultloc]   rank 1 on h1 (pid 4701) ended as a consequence: exit code 1 before "
               "MPI_Finalize\n"
               "[faultloc]   rank 2 on h2 (pid 4702) ended as a consequence: MPI_Abort with code "
               "17\n"
               "[faultloc]   rank 3 on h3 (pid 4703) ended, too: exit code 1 before "
               "MPI_Finalize\n"
               "[faultloc]   process-crash: rank 0\n");
}

TEST_CASE(a_line_is_one_line)
{
    end(100, 2, BY_SIGNAL(9));
    rule(300, 1, 2, -1, -1);
    snprintf(incident.verdict[0].message.line, sizeof(incident.verdict[0].message.line),
             "a\033[2J\nb");
    is_printed("[faultloc] rank 2 on h2 (pid 4702) was the first to end: signal 9 (SIGKILL)\n"
               "[faultloc]   a?[2J\n");
}

/* ---- how long to wait ------------------------------------------------------------------------ */

TEST_CASE(no_longer_than_the_grace_time)
{
    end(100, 2, BY_SIGNAL(9));
    ck_assert(deadline() == 3100);
    end(2000, 1, BY_SIGNAL(9));
    ck_assert(deadline() == 3100);
    rule(3050, 1, 1, 2, 2);
    ck_assert(deadline() == 3100);
}

TEST_CASE(no_longer_than_the_verdict_takes)
{
    end(100, 2, BY_SIGNAL(9));
    rule(300, 1, 2, 0, 1);
    ck_assert(deadline() == 550);
    end(320, 3, BY_SIGNAL(9)); /* another one: its verdict is waited for, too */
    ck_assert(deadline() == 3100);
    rule(400, 2, 3, 0, 1);
    ck_assert(deadline() == 650);
    end(500, 1, BY_EXIT(1)); /* a victim */
    ck_assert(deadline() == 750);
}

/* Rank 1 waited for rank 0 for a long time, and now it is killed: that is another story. */
/* It waits for one that is stopped, and is killed meanwhile: that is a fault of its own. */
TEST_CASE(a_killed_victim_of_one_that_lives_is_waited_for)
{
    rule(1000, 1, 5, 0, 4);
    incident.verdict[0].message.ends_ranks = 0;
    end(1100, 2, BY_SIGNAL(9));
    ck_assert(!HYD_faultloc_incident_is_consequence(&incident, 0));
    ck_assert_int_eq(deadline(), 1100 + HYD_FAULTLOC_GRACE_MS);
    ck_assert_int_eq(first_rank(), 2);
    rule(1300, 2, 2, -1, -1);
    ck_assert_int_lt(deadline(), 1100 + HYD_FAULTLOC_GRACE_MS);
}

TEST_CASE(an_old_victim_is_waited_for)
{
    rule(100, 1, 0, 1, 3);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    end(9000, 1, BY_SIGNAL(9));
    ck_assert(deadline() == 12000);
    ck_assert(!HYD_faultloc_incident_is_consequence(&incident, 0));
    rule(9100, 2, 1, 2, 3);
    ck_assert(deadline() == 9350);
}

TEST_CASE(no_verdict_can_come)
{
    add(100, HYD_FAULTLOC_EVENT_END, 2, BY_SIGNAL(9), INITED | NO_AGENT);
    ck_assert(deadline() == 400);
    begin();
    end(100, 2, BY_SIGNAL(9));
    ck_assert(HYD_faultloc_incident_deadline(&incident, false) == 400);
    begin();
    add(100, HYD_FAULTLOC_EVENT_END, 2, BY_SIGNAL(9), FINALIZED);
    ck_assert(deadline() == 400);
    begin();
    add(100, HYD_FAULTLOC_EVENT_END, 2, BY_SIGNAL(2), INITED | KILLED);
    ck_assert(deadline() == 400);
}

TEST_CASE(an_abort_is_at_once)
{
    add(100, HYD_FAULTLOC_EVENT_ABORT, 2, 7, INITED);
    ck_assert(deadline() == 150);
    end(120, 3, BY_SIGNAL(9)); /* it may be due to this one */
    ck_assert(deadline() == 3100);
    rule(200, 1, 3, 0, 2);
    ck_assert(deadline() == 450);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 137);
}

TEST_CASE(an_end_after_finalize_is_no_hurry)
{
    add(100, HYD_FAULTLOC_EVENT_END, 2, BY_EXIT(3), FINALIZED);
    ck_assert(deadline() == HYD_FAULTLOC_NEVER);
    ck_assert_int_eq(HYD_faultloc_incident_exit_code(&incident), 3);
}

/* Ranks are counted in each process group. */
TEST_CASE(spawned_groups_are_apart)
{
    end(100, 2, BY_SIGNAL(9));
    incident.event[0].pgid = 1;
    rule(200, 1, 2, 0, 1);
    ck_assert(deadline() == 3100);
    incident.verdict[0].pgid = 1;
    ck_assert(deadline() == 450);
    is_printed("[faultloc] rank 2 of spawned group 1 on h2 (pid 4702) was the first to end: "
               "signal 9 (SIGKILL)\n[faultloc]   process-crash: rank 2\n");
}

static const struct {
    const char *text;
    int64_t ms; /* -1: it is bad */
} graces[] = {
    {"0", 0},      {"500", 500}, {"60000", 60000},
    {"60001", -1}, {"-1", -1},   {"soon", -1},
    {"3s", -1},    {"99999999999999999999", -1},
    {"", HYD_FAULTLOC_GRACE_MS},
};

TEST_CASES(grace_times, COUNT(graces))
{
    bool good = HYD_faultloc_incident_grace(&incident, graces[_i].text);

    ck_assert(good == (graces[_i].ms >= 0));
    ck_assert(incident.grace_ms == (good ? graces[_i].ms : HYD_FAULTLOC_GRACE_MS));
}

/* ---- what the agent is told ------------------------------------------------------------------ */

TEST_CASE(a_symptom)
{
    struct HYD_faultloc_end e = {.rank = 3,
                                 .pid = 4711,
                                 .status = DUMPED(11),
                                 .inited = 1,
                                 .rss_kib = 12400,
                                 .cpu_ms = 1234};
    char text[HYD_FAULTLOC_SYMPTOM];

    HYD_faultloc_symptom(&e, text, sizeof(text));
    ck_assert_str_eq(text,
                     "{\"kind\": \"process-exited\", \"component\": \"rank 3\", "
                     "\"severity\": \"fatal\", \"detail\": \"signal 11 (SIGSEGV), core dumped, "
                     "pid 4711, max RSS 12 MiB, CPU 1.2 s\"}");
    e.oom = 1;
    e.status = BY_SIGNAL(9);
    HYD_faultloc_symptom(&e, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "\"out-of-memory\""));
}

TEST_CASE(an_escaped_text)
{
    char out[16];

    ck_assert_str_eq(HYD_faultloc_escape("a\"b\\c\n\377", out, sizeof(out)), "a\\\"b\\\\c??");
    ck_assert_uint_lt(strlen(HYD_faultloc_escape("\"\"\"\"\"\"\"\"\"\"\"\"", out, sizeof(out))),
                      sizeof(out));
}
