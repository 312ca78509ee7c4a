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
     "the job is never ended because of it: rank 1 polls, and may have other work to come"},
    {handles, "deadlock/cycle", 1, 2, 800, 3,
     "never ended because of it: rank 14 has a thread that may be woken by a signal"},
    {sleeps, "deadlock/cycle", 1, 2, 800, 3, "the job may be ended after 600 s: not all is known"},
    {missing, "deadlock/missing-partner", 14, 0, 800, 3, "rank 14 (n3) has called MPI_Finalize"},
    {missing_and_says_so, "deadlock/missing-partner", 14, 0, 990, 2, NULL},
    {behind, "collective-mismatch/behind", 14, 0, 990, 4, NULL},
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

START_TEST(a_verdict_says_what_was_found)
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
END_TEST

/* A program may call its communicators anything. */
START_TEST(lines_are_printable)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    cycle(r);
    snprintf(r->rank[1].record.comm[0].name, WAITS_NAME_MAX, "a\n\x1b[31mb\xff");
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    ck_assert(has_line(&r->w->report[0], "a??[31mb?"));
    world_free(r->w);
}
END_TEST

/* It came about when the last of its ranks began to wait. */
START_TEST(a_verdict_began_with_the_last_wait)
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
END_TEST

/* Survivors of a crash that do not fit together any more. */
START_TEST(what_was_before_is_said)
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
END_TEST

SUITE("waitfor_verdict")
{
    TEST_ROWS(a_verdict_says_what_was_found, 10);
    TEST(lines_are_printable);
    TEST(a_verdict_began_with_the_last_wait);
    TEST(what_was_before_is_said);
}
