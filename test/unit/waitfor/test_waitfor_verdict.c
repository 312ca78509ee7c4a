/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "suite.h"
#include "waiting_ranks.h"

#include "ftree_int.h"

/* What a verdict says: sign, component, confidence, and a line for each rank. */

#define SECOND (1000 * FTREE_MS)

static void receive(struct ranks *r, int32_t rank, int32_t from)
{
    ranks_wait(r, rank, CALL_RECV, WAITS_FOR_ALL);
    ranks_recv(r, rank, from, 7, WORLD_CONTEXT);
}

static void receive_one_of(struct ranks *r, int32_t rank, int32_t a, int32_t b)
{
    ranks_wait(r, rank, CALL_WAITANY, WAITS_FOR_ONE);
    ranks_recv(r, rank, a, 7, WORLD_CONTEXT);
    ranks_recv(r, rank, b, 7, WORLD_CONTEXT);
}

static void take_part(struct ranks *r, int32_t rank, enum call call, int32_t root)
{
    ranks_wait(r, rank, call, WAITS_FOR_ALL);
    ranks_collective(r, rank, 3, call, root, 8, WORLD_CONTEXT);
}

static void cycle(struct ranks *r)
{
    receive(r, 1, 14);
    receive(r, 14, 1);
}

static void cycle_of_16(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        receive(r, rank, (rank + 5) % 16);
}

static void knot(struct ranks *r)
{
    receive_one_of(r, 1, 6, 14);
    receive(r, 6, 1);
    receive(r, 14, 1);
}

static void polls(struct ranks *r)
{
    cycle(r);
    ranks_poll(r, 1);
}

static void sleeps(struct ranks *r)
{
    cycle(r);
    r->rank[14].record.sleepers = true;
}

static void handles(struct ranks *r)
{
    sleeps(r);
    r->rank[14].record.handles = true;
}

static void missing(struct ranks *r)
{
    ranks_finalize(r, 14);
    receive(r, 1, 14);
}

static void missing_and_says_so(struct ranks *r)
{
    ranks_last_word(r, 14);
    receive(r, 1, 14);
}

static void behind(struct ranks *r)
{
    ranks_last_word(r, 14);
    ranks_begun(r, 14, 2, CALL_ALLREDUCE, WORLD_CONTEXT);
    for (int32_t rank = 0; rank < 16; rank++)
        if (rank != 14)
            take_part(r, rank, CALL_ALLREDUCE, -1);
}

/* All but two have called MPI_Finalize: these two have made one too many. */
static void ahead(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++) {
        if (rank == 9 || rank == 11) {
            take_part(r, rank, CALL_ALLREDUCE, -1);
            continue;
        }
        ranks_last_word(r, rank);
        ranks_begun(r, rank, 2, CALL_ALLREDUCE, WORLD_CONTEXT);
    }
}

static void as_many_behind_as_ahead(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++) {
        if (rank % 2) {
            take_part(r, rank, CALL_ALLREDUCE, -1);
            continue;
        }
        ranks_last_word(r, rank);
        ranks_begun(r, rank, 2, CALL_ALLREDUCE, WORLD_CONTEXT);
    }
}

/* Of a pair one has called MPI_Finalize, as nobody else has. */
static void first_to_finalize(struct ranks *r)
{
    ranks_last_word(r, 14);
    ranks_begun(r, 14, 2, CALL_ALLREDUCE, 4);
    ranks_members(r, 14, 4, 3, 11, 2);
    ranks_wait(r, 3, CALL_ALLREDUCE, WAITS_FOR_ALL);
    ranks_collective(r, 3, 3, CALL_ALLREDUCE, -1, 8, 4);
    ranks_members(r, 3, 4, 3, 11, 2);
    for (int32_t rank = 0; rank < 16; rank++)
        if (rank != 3 && rank != 14)
            receive(r, rank, 3);
}

/* And here all others have; as long as these say nothing nobody knows. */
static void pair_of_which_one_finalizes(struct ranks *r)
{
    first_to_finalize(r);
    for (int32_t rank = 0; rank < 16; rank++)
        if (rank != 3 && rank != 14)
            ranks_last_word(r, rank);
}

static void last_to_finalize(struct ranks *r)
{
    pair_of_which_one_finalizes(r);
    for (int32_t rank = 0; rank < 16; rank++)
        if (rank != 3 && rank != 14)
            world_wait(r->w, rank, FTREE_NONE);
}

/* Two of a pair differ, and the others wait for messages of one of them. */
static void differ_and_one_is_awaited(struct ranks *r, int32_t awaited, int32_t other)
{
    for (int32_t rank = awaited; rank <= other; rank += other - awaited) {
        enum call call = rank == awaited ? CALL_BARRIER : CALL_ALLREDUCE;
        ranks_wait(r, rank, call, WAITS_FOR_ALL);
        ranks_collective(r, rank, 3, call, -1, 8, 4);
        ranks_members(r, rank, 4, awaited, other - awaited, 2);
    }
    for (int32_t rank = 0; rank < 16; rank++)
        if (rank != awaited && rank != other)
            receive(r, rank, awaited);
}

static void awaited_elsewhere(struct ranks *r)
{
    differ_and_one_is_awaited(r, 3, 14);
}

/* The node of both leaves it to the root. */
static void awaited_on_one_node(struct ranks *r)
{
    differ_and_one_is_awaited(r, 13, 14);
}

/* Each is a member of both. */
static void begin_in_order(struct ranks *r, int32_t rank, uint32_t first, uint32_t second)
{
    ranks_wait(r, rank, CALL_BARRIER, WAITS_FOR_ALL);
    ranks_collective(r, rank, 1, CALL_BARRIER, -1, WAITS_NO_BYTES, first);
    ranks_begun(r, rank, 0, CALL_NONE, second);
}

static void two_of_16_in_another_order(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        begin_in_order(r, rank, rank == 9 || rank == 11 ? 6 : 4, rank == 9 || rank == 11 ? 4 : 6);
}

static void half_in_another_order(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        begin_in_order(r, rank, rank % 2 ? 6 : 4, rank % 2 ? 4 : 6);
}

/* The root of a Bcast is elsewhere: of those who wait for it one is needed there, and all others are
 * in the same Bcast. */
static void root_in_another_order(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        begin_in_order(r, rank, rank == 9 ? 6 : 4, rank == 9 ? 4 : 6);
    for (int32_t rank = 0; rank < 16; rank++) {
        if (rank == 9)
            continue;
        r->rank[rank].record.request[0].peer = 9;
        ranks_recv(r, rank, 9, 2, 5); /* inside it */
    }
    r->rank[9].record.request[0].peer = 2;
}

/* The two of a pair that only they are in cannot be compared with the others. */
static void two_of_them_alone(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        begin_in_order(r, rank, rank == 9 ? 6 : 4, rank == 9 ? 4 : 6);
    for (int32_t rank = 0; rank < 16; rank++)
        if (rank != 9 && rank != 11)
            r->rank[rank].record.comms = 1;
    ranks_members(r, 9, 6, 9, 2, 2);
    ranks_members(r, 11, 6, 9, 2, 2);
}

/* The target, 3, is of no interest: the holder has called MPI_Finalize. */
static void leave_lock(struct ranks *r, int32_t rank, enum waits_lock lock)
{
    ranks_last_word(r, rank);
    ranks_begun(r, rank, lock, CALL_NONE, WAITS_LOCK_OF_ONE | 6);
    ranks_members(r, rank, WAITS_LOCK_OF_ONE | 6, 3, 1, 16);
    r->rank[rank].record.comm[0].runs = 0;
}

static void lock_left(struct ranks *r)
{
    ranks_last_word(r, 3);
    leave_lock(r, 14, WAITS_LOCK_EXCLUSIVE);
    ranks_wait(r, 1, CALL_WIN_LOCK, WAITS_FOR_ALL);
    ranks_collective(r, 1, WAITS_LOCK_NONE, CALL_WIN_LOCK, -1, WAITS_NO_BYTES,
                     WAITS_LOCK_OF_ONE | 6);
    ranks_members(r, 1, WAITS_LOCK_OF_ONE | 6, 3, 1, 16);
    r->rank[1].record.comm[0].last.begun = WAITS_LOCK_NONE;
    r->rank[1].record.comm[0].runs = 0;
    ranks_rma(r, 1, 3);
    r->rank[1].record.request[1].kind = WAITS_TARGET;
}

static void two_have_left_it(struct ranks *r)
{
    lock_left(r);
    leave_lock(r, 14, WAITS_LOCK_SHARED);
    leave_lock(r, 6, WAITS_LOCK_SHARED);
}

static void two_are_missing(struct ranks *r)
{
    ranks_last_word(r, 6);
    missing_and_says_so(r);
    ranks_recv(r, 1, 6, 7, WORLD_CONTEXT);
}

/* 3 and 14 merge two groups, of which each knows the other. */
static void merge(struct ranks *r, int32_t rank, int32_t other, uint32_t number)
{
    struct waits_collective *last;

    ranks_wait(r, rank, CALL_MERGE, WAITS_FOR_ALL);
    ranks_begun(r, rank, number, CALL_MERGE, 4);
    ranks_members(r, rank, 4, other, 1, 1);
    ranks_recv(r, rank, other, 0, 5);
    ranks_members(r, rank, 5, other, 1, 1);
    last = &r->rank[rank].record.comm[0].last;
    last->whole = true;
    r->rank[rank].record.comm[1].name[0] = '\0';
}

static void merge_alike(struct ranks *r)
{
    merge(r, 3, 14, 1);
    merge(r, 14, 3, 1);
    ranks_sent(r, 3, 14, 0, 77);
}

/* 3 has made another operation before. */
static void merge_in_vain(struct ranks *r)
{
    merge(r, 3, 14, 3);
    merge(r, 14, 3, 2);
}

/* Each may be in another one of two. */
static void merge_crosswise(struct ranks *r)
{
    merge_alike(r);
    ranks_begun(r, 3, 0, CALL_NONE, 8);
    ranks_members(r, 3, 8, 14, 1, 1);
}

/* What sizes they gave is not known. */
static void exchange_of_any_sizes(struct ranks *r)
{
    merge_alike(r);
    r->rank[3].record.comm[0].last.whole = r->rank[14].record.comm[0].last.whole = false;
}

/* The members of one communicator. */
static void scan_alike(struct ranks *r)
{
    for (int32_t rank = 3; rank <= 14; rank += 11) {
        merge(r, rank, 17 - rank, 2);
        ranks_members(r, rank, 4, 0, 1, 16);
    }
}

/* 9 has made a collective too many; its neighbours are in the next exchange, the others behind it. */
static void neighbours_wait(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++) {
        if (rank != 8 && rank != 10) {
            take_part(r, rank, CALL_ALLREDUCE, -1);
            continue;
        }
        receive(r, rank, 9);
        ranks_begun(r, rank, 2, CALL_ALLREDUCE, WORLD_CONTEXT);
    }
}

static void one_is_not_in_the_exchange(struct ranks *r)
{
    neighbours_wait(r);
    ranks_sent(r, 8, 9, 7, WORLD_CONTEXT);
    ranks_sent(r, 10, 9, 7, WORLD_CONTEXT);
}

static void two_of_16_differ(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        take_part(r, rank, CALL_BCAST, rank == 9 || rank == 11 ? 1 : 0);
}

/* Nobody knows which half is wrong. */
static void half_of_them_differ(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        take_part(r, rank, CALL_BCAST, rank % 2);
}

static void hint(struct ranks *r)
{
    ranks_sent(r, 14, 1, 9, WORLD_CONTEXT);
    cycle(r);
}

static void own_message(struct ranks *r)
{
    receive(r, 14, 14);
}

static const struct {
    void (*hang)(struct ranks *r);
    const char *sign;
    int32_t rank, component; /* the lowest, and how many; 0: that one alone */
    int confidence;
    int lines; /* of evidence */
    const char *line; /* among them */
} rows[] = {
    {own_message, "deadlock/self", 14, 0, 990, 1,
     "rank 14 (n3) in MPI_Recv(from 14, tag 7, MPI_COMM_WORLD)"},
    {cycle, "deadlock/cycle", 1, 2, 990, 2,
     "<- rank 14 (n3) in MPI_Recv(from 1, tag 7, MPI_COMM_WORLD)"},
    {cycle_of_16, "deadlock/cycle", 0, 16, 990, 8, "and 9 more ranks"},
    {knot, "deadlock/knot", 1, 3, 990, 3,
     "rank 6 (n1) in MPI_Recv(from 1, tag 7, MPI_COMM_WORLD)"},
    {polls, "deadlock/cycle", 1, 2, 800, 3,
     "the job is never ended because of it: rank 1 polls, and may have other work to do"},
    {handles, "deadlock/cycle", 1, 2, 800, 3,
     "never ended because of it: rank 14 has a thread that may be woken by a signal"},
    {sleeps, "deadlock/cycle", 1, 2, 800, 3, "the job may be ended after 600 s: not all is known"},
    {missing, "deadlock/missing-partner", 14, 0, 800, 3, "rank 14 (n3) has called MPI_Finalize"},
    {missing_and_says_so, "deadlock/missing-partner", 14, 0, 990, 2, NULL},
    {behind, "collective-mismatch/behind", 14, 0, 990, 2,
     "rank 14 (1 of 16) has called MPI_Finalize after 2 collectives on MPI_COMM_WORLD, the last "
     "MPI_Allreduce"},
    {ahead, "collective-mismatch/ahead", 9, 2, 990, 2,
     "ranks 9, 11 (2 of 16) in MPI_Allreduce(MPI_COMM_WORLD, the 3rd, 8 bytes)"},
    {as_many_behind_as_ahead, "collective-mismatch/uneven", 0, 16, 990, 2, NULL},
    {first_to_finalize, "collective-mismatch/behind", 14, 0, 990, 2, NULL},
    {pair_of_which_one_finalizes, "collective-mismatch/uneven", 3, 2, 990, 2, NULL},
    {last_to_finalize, "collective-mismatch/ahead", 3, 0, 990, 2, NULL},
    {awaited_elsewhere, "collective-mismatch/different", 3, 0, 990, 2,
     "rank 14 (1 of 2) in MPI_Allreduce(comm 4, the 3rd, 8 bytes)"},
    {awaited_on_one_node, "collective-mismatch/different", 13, 0, 990, 2, NULL},
    {two_of_16_in_another_order, "deadlock/order", 9, 2, 990, 2,
     "ranks 9, 11 (2 of 16) in MPI_Barrier(comm 6, the 1st)"},
    {half_in_another_order, "deadlock/cycle", 0, 16, 990, 8, NULL},
    {root_in_another_order, "deadlock/order", 9, 0, 990, 2,
     "ranks 0-8, 10-15 (15 of 16) in MPI_Barrier(comm 4, the 1st)"},
    {two_of_them_alone, "deadlock/cycle", 9, 2, 990, 2, NULL},
    {lock_left, "deadlock/missing-partner", 14, 0, 990, 2,
     "rank 14 (n3) has called MPI_Finalize, holds exclusive lock of 3, comm 1073741830"},
    {two_have_left_it, "deadlock/missing-partner", 6, 2, 990, 3,
     "rank 6 (n1) has called MPI_Finalize, holds shared lock of 3, comm 1073741830"},
    {two_are_missing, "deadlock/missing-partner", 6, 2, 990, 3, "rank 14 (n3) has called"},
    {merge_alike, "deadlock/library", 3, 2, 800, 3,
     "rank 3 (n0) in MPI_Intercomm_merge(from 14, tag 0, a communicator of 1 rank (context 5))"},
    {merge_in_vain, "deadlock/cycle", 3, 2, 990, 2, NULL},
    {merge_crosswise, "deadlock/cycle", 3, 2, 990, 3, NULL},
    {exchange_of_any_sizes, "deadlock/cycle", 3, 2, 990, 3, NULL},
    {scan_alike, "deadlock/library", 3, 2, 800, 2, NULL},
    {one_is_not_in_the_exchange, "deadlock/absent", 9, 0, 900, 3,
     "<- rank 9 (n2) in MPI_Allreduce(MPI_COMM_WORLD, the 3rd, 8 bytes)"},
    {neighbours_wait, "deadlock/cycle", 8, 3, 990, 3, NULL},
    {two_of_16_differ, "collective-mismatch/different", 9, 2, 990, 2,
     "ranks 9, 11 (2 of 16) in MPI_Bcast(MPI_COMM_WORLD, the 3rd, root 1, 8 bytes)"},
    {half_of_them_differ, "collective-mismatch/different", 0, 16, 990, 2, NULL},
    {hint, "deadlock/cycle", 1, 2, 990, 3, "rank 14 has sent to rank 1, with tag 9"},
};

static bool has_line(const struct ftree_verdict *v, const char *line)
{
    for (int32_t i = 0; i < v->evidences; i++)
        if (strstr(v->evidence[i].detail, line))
            return true;
    return false;
}

static void print_lines(const struct ftree_verdict *v)
{
    fprintf(stderr, "%s, rank %d of %d, confidence %d\n", v->rule, (int) v->rank,
            (int) v->component.count, v->confidence);
    for (int32_t i = 0; i < v->evidences; i++)
        fprintf(stderr, "    %s\n", v->evidence[i].detail);
}

TEST_CASES(a_verdict_says_what_was_found, COUNT(rows))
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));
    const struct ftree_verdict *v = &r->w->report[0];

    rows[_i].hang(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    if (v->evidences != rows[_i].lines || (rows[_i].line && !has_line(v, rows[_i].line)))
        print_lines(v);
    ck_assert_str_eq(v->rule, rows[_i].sign);
    ck_assert_int_eq(v->rank, rows[_i].rank);
    ck_assert_int_eq(v->component.count, rows[_i].component);
    ck_assert_int_eq(v->confidence, rows[_i].confidence);
    ck_assert_int_eq(v->evidences, rows[_i].lines);
    ck_assert(!rows[_i].line || has_line(v, rows[_i].line));
    world_free(r->w);
}

/* A program may call its communicators anything. */
TEST_CASE(lines_are_printable)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    cycle(r);
    snprintf(r->rank[1].record.comm[0].name, WAITS_NAME_MAX, "a\n\x1b[31mb\xff");
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    ck_assert(has_line(&r->w->report[0], "a??[31mb?"));
    world_free(r->w);
}

/* It came about when the last of its ranks began to wait. */
TEST_CASE(a_verdict_began_with_the_last_wait)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));
    ftree_time last;

    receive(r, 1, 14);
    world_run(r->w, 700 * FTREE_MS);
    last = r->w->now;
    receive(r, 14, 1);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    ck_assert_uint_ge(r->w->report[0].first_symptom, last);
    ck_assert_uint_le(r->w->report[0].first_symptom, last + 10 * FTREE_MS);
    world_free(r->w);
}

/* Survivors of a crash that do not fit together any more. */
TEST_CASE(what_was_before_is_said)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));
    struct ftree_verdict crash = base_verdict("process-crash/pid-gone", 1, 5);

    crash.first_symptom = crash.located = 1;
    for (int32_t node = 0; node < 4; node++)
        ck_assert_int_eq(ftree_restore(r->w->node[node].ft, r->w->now, &crash), FTREE_OK);
    cycle(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    print_lines(&r->w->report[0]);
    ck_assert_str_eq(r->w->report[0].rule, "deadlock/cycle");
    ck_assert(has_line(&r->w->report[0],
                       "after process-crash of rank 5 on n1, which stands: this may follow from it"));
    world_free(r->w);
}
