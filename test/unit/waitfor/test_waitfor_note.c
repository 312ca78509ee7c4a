/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "waiting_ranks.h"

#include "ftree_int.h"

/* When the note of a stall that nothing explains comes, and whom it names. */

#define SECOND (1000 * FTREE_MS)

static void receive(struct ranks *r, int32_t rank, int32_t from)
{
    ranks_wait(r, rank, CALL_RECV, WAITS_FOR_ALL);
    ranks_recv(r, rank, from, 7, WORLD_CONTEXT);
}

TEST_CASE(a_note_comes_after_ten_stall_limits_and_at_doubling_intervals)
{
    static const ftree_time at_s[] = {10, 30, 70, 150};
    struct ranks *r = ranks_of(world_new(4, 4, 4));
    ftree_time begun = r->w->now;

    receive(r, 1, 14);
    for (int i = 0; i < COUNT(at_s); i++) {
        world_run(r->w, begun + at_s[i] * SECOND - SECOND / 2 - r->w->now);
        ck_assert_int_eq(r->w->notes, i);
        world_run(r->w, SECOND);
        ck_assert_int_eq(r->w->notes, i + 1);
        ck_assert_int_eq(r->w->note.count, 1);
        ck_assert_uint_le(r->w->note.waiting, at_s[i] * SECOND + SECOND / 2);
        ck_assert_uint_ge(r->w->note.waiting, at_s[i] * SECOND - SECOND / 2);
    }
    world_free(r->w);
}

/* On a busy machine a rank may seem to go on for a moment. */
TEST_CASE(a_pause_of_the_stall_brings_no_note_sooner)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    for (int i = 0; i < 3; i++) {
        receive(r, 1, 14);
        world_run(r->w, 12 * SECOND);
        ranks_go_on(r, 1);
        world_run(r->w, SECOND);
        ck_assert_int_eq(r->w->notes, i < 2 ? 1 : 2); /* after 10 s, and 20 s later at least */
    }
    world_run(r->w, 120 * SECOND); /* nobody waits */
    for (int i = 0; i < 2; i++) {
        receive(r, 1, 14);
        world_run(r->w, 11 * SECOND - SECOND / 4);
        ranks_go_on(r, 1);
        world_run(r->w, 20 * SECOND);
        ck_assert_int_eq(r->w->notes, 3 + i);
    }
    world_free(r->w);
}

TEST_CASE(those_most_waited_for_are_first)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    for (int32_t i = 0; i < 10; i++)
        receive(r, i, i < 1 ? 11 : i < 3 ? 12 : i < 6 ? 13 : 14);
    world_run(r->w, 12 * SECOND);
    ck_assert_int_eq(r->w->notes, 1);
    ck_assert_int_eq(r->w->note.count, 10);
    ck_assert_int_eq(r->w->note.ends, 4);
    for (int32_t i = 0; i < 4; i++) {
        ck_assert_int_eq(r->w->note.end[i].rank, 14 - i);
        ck_assert_int_eq(r->w->note.end[i].count, 4 - i);
    }
    world_free(r->w);
}

/* A thread that does not say what it does may send what others wait for, so there is no verdict, but
 * the note. */
TEST_CASE(a_rank_with_a_thread_that_does_not_tell_is_one_that_others_wait_for)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, 14);
    receive(r, 14, 1);
    receive(r, 2, 14);
    r->rank[14].record.threads = 2;
    world_run(r->w, 12 * SECOND);
    ck_assert_int_eq(r->w->reports, 0);
    ck_assert_int_eq(r->w->notes, 1);
    ck_assert_int_eq(r->w->note.count, 3);
    ck_assert_int_eq(r->w->note.ends, 1);
    ck_assert_int_eq(r->w->note.end[0].rank, 14);
    ck_assert_int_eq(r->w->note.end[0].count, 2);
    ck_assert_str_eq(r->w->note.end[0].state, "in MPI_Recv but for a thread");
    world_free(r->w);
}

static const struct {
    int32_t from;
    bool polls;
    int32_t notes;
} serving[] = {{WAITS_ANY, false, 0}, {14, true, 0}, {14, false, 1}};

/* One thread is a server, another one computes: nobody is late.  Beside one that waits for somebody others
 * may run idle. */
TEST_CASES(a_rank_of_which_a_thread_computes_does_not_wait, 3)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, serving[_i].from);
    r->rank[1].record.threads = 2;
    r->rank[1].record.computes = true;
    r->rank[1].record.polls = serving[_i].polls;
    world_run(r->w, 12 * SECOND);
    ck_assert_int_eq(r->w->notes, serving[_i].notes);
    r->rank[1].record.computes = false;
    world_run(r->w, 24 * SECOND);
    ck_assert_int_eq(r->w->notes, serving[_i].notes + 1);
    world_free(r->w);
}

/* On a busy machine a rank does not come to answer; its agent sees that it waits as before. */
TEST_CASE(what_a_rank_said_of_a_wait_holds_as_long_as_it_waits)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, 14);
    world_run(r->w, 4 * SECOND);
    r->answers_after[1] = FTREE_NEVER;
    world_run(r->w, 8 * SECOND);
    ck_assert_int_eq(r->w->notes, 1);
    ck_assert_int_eq(r->w->note.count, 1);
    ck_assert_int_eq(r->w->note.end[0].rank, 14);
    world_free(r->w);
}

/* A rank that others come to wait for instead has not been waited for that long. */
TEST_CASE(another_rank_to_wait_for_begins_anew)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, 14);
    world_run(r->w, 8 * SECOND);
    ranks_go_on(r, 1);
    world_run(r->w, SECOND);
    receive(r, 2, 13);
    world_run(r->w, 9 * SECOND);
    ck_assert_int_eq(r->w->notes, 0);
    world_run(r->w, 4 * SECOND);
    ck_assert_int_eq(r->w->notes, 1);
    ck_assert_int_eq(r->w->note.end[0].rank, 13);
    world_free(r->w);
}

TEST_CASE(while_a_verdict_stands_there_is_no_note)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, 14);
    receive(r, 14, 1);
    receive(r, 2, 9);
    world_run(r->w, 25 * SECOND);
    ck_assert_int_eq(r->w->reports, 1);
    ck_assert_int_eq(r->w->notes, 0);
    world_free(r->w);
}

/* That a rank is slow does not explain that others stand still. */
TEST_CASE(a_slow_rank_hides_no_stall)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));
    struct ftree_verdict v = {.class_ = FTREE_CLASS_STRAGGLER,
                              .kind = FTREE_KIND_RANK,
                              .confidence = 900,
                              .rule = "straggler/quota",
                              .id = 7,
                              .node = 1,
                              .rank = 5,
                              .switch_ = FTREE_NONE,
                              .located = r->w->now};

    for (int32_t n = 0; n < 4; n++)
        ck_assert_int_eq(ftree_restore(r->w->node[n].ft, r->w->now, &v), FTREE_OK);
    receive(r, 1, 14);
    world_run(r->w, 12 * SECOND);
    ck_assert_int_eq(r->w->notes, 1);
    world_free(r->w);
}

static void computes(struct ranks *r)
{
    (void) r;
}

/* It turns its progress in MPI, and does not say in what. */
static void is_in_mpi(struct ranks *r)
{
    world_wait(r->w, 14, FTREE_NONE);
    r->rank[14].outside = false;
    r->answers_after[14] = FTREE_NEVER;
}

static const struct {
    void (*does)(struct ranks *r);
    const char *state;
} ends[] = {{computes, "outside MPI"}, {is_in_mpi, "in MPI"}};

TEST_CASES(what_the_rank_does_is_said, 2)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, 14);
    ends[_i].does(r);
    world_run(r->w, 13 * SECOND);
    ck_assert_int_ge(r->w->notes, 1);
    ck_assert_int_eq(r->w->note.end[0].rank, 14);
    ck_assert_str_eq(r->w->note.end[0].state, ends[_i].state);
    world_free(r->w);
}

/* One-sided communication with a rank that waits in a barrier: each operation waits for that rank,
 * for a moment. */
TEST_CASE(a_rank_in_short_waits_has_not_waited)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, 14);
    receive(r, 2, 14);
    for (int i = 0; i < 120; i++) {
        ranks_wait(r, 14, CALL_WIN_LOCK, WAITS_FOR_ALL);
        ranks_rma(r, 14, 1);
        world_run(r->w, SECOND / 10);
    }
    ck_assert_int_eq(r->w->reports, 0);
    ck_assert_int_eq(r->w->notes, 1);
    ck_assert_int_eq(r->w->note.count, 2);
    ck_assert_int_eq(r->w->note.ends, 1);
    ck_assert_int_eq(r->w->note.end[0].rank, 14);
    ck_assert_int_eq(r->w->note.end[0].count, 2);
    ck_assert_str_eq(r->w->note.end[0].state, "in MPI_Win_lock");
    world_free(r->w);
}

/* Of two that another one waits for now one seems to wait, now the other. */
TEST_CASE(ranks_that_wait_at_some_looks_have_not_come)
{
    struct ranks *r = ranks_of(world_new(4, 4, 4));

    receive(r, 1, 14);
    ranks_recv(r, 1, 13, 7, WORLD_CONTEXT);
    for (int i = 0; i < 10; i++) {
        receive(r, 13 + i % 2, 15);
        world_run(r->w, 13 * SECOND / 10);
        ranks_go_on(r, 13 + i % 2);
    }
    ck_assert_int_eq(r->w->reports, 0);
    ck_assert_int_eq(r->w->notes, 1);
    world_free(r->w);
}
