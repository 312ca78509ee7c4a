/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "suite.h"
#include "waiting_ranks.h"

#include "ftree/report/report.h"
#include "ftree_int.h"

/* Whole stories: programs that hang, on one node and on many, and what is said of them. */

#define SECOND (1000 * FTREE_MS)
#define RANKS 16

/* ---- programs that hang ---------------------------------------------------------------------- */

static void recv_of(struct ranks *r, int32_t rank, int32_t from, int32_t tag, uint32_t context)
{
    ranks_wait(r, rank, CALL_RECV, WAITS_FOR_ALL);
    ranks_recv(r, rank, from, tag, context);
}

static void ssend_to(struct ranks *r, int32_t rank, int32_t to)
{
    ranks_wait(r, rank, CALL_SSEND, WAITS_FOR_ALL);
    ranks_ssend(r, rank, to, 7, WORLD_CONTEXT);
}

/* What went well before. */
static void some_messages(struct ranks *r, int32_t a, int32_t b)
{
    for (int32_t tag = 1; tag <= 5; tag++) {
        ranks_received(r, a, b, tag, WORLD_CONTEXT);
        ranks_received(r, b, a, tag, WORLD_CONTEXT);
    }
}

static void others_in(struct ranks *r, int32_t a, int32_t b, uint32_t number, enum call call)
{
    for (int32_t i = 0; i < RANKS; i++) {
        if (i == a || i == b)
            continue;
        ranks_wait(r, i, call, WAITS_FOR_ALL);
        ranks_collective(r, i, number, call, call == CALL_BCAST ? 0 : -1, 8, WORLD_CONTEXT);
    }
}

static void recv_recv(struct ranks *r)
{
    some_messages(r, 1, 14);
    recv_of(r, 1, 14, 7, WORLD_CONTEXT);
    recv_of(r, 14, 1, 7, WORLD_CONTEXT);
}

static void recv_recv_and_all_others_behind(struct ranks *r)
{
    recv_recv(r);
    others_in(r, 1, 14, 3, CALL_BARRIER);
    ranks_begun(r, 1, 2, CALL_BARRIER, WORLD_CONTEXT);
    ranks_begun(r, 14, 2, CALL_BARRIER, WORLD_CONTEXT);
}

static void ssend_ssend(struct ranks *r)
{
    some_messages(r, 1, 14);
    ssend_to(r, 1, 14);
    ssend_to(r, 14, 1);
}

static void ring_of_5(struct ranks *r)
{
    for (int32_t i = 0; i < 5; i++)
        ssend_to(r, 3 * i, 3 * ((i + 1) % 5));
    recv_of(r, 15, 3, 7, WORLD_CONTEXT);
}

static void ring_of_16(struct ranks *r)
{
    for (int32_t i = 0; i < RANKS; i++)
        recv_of(r, i, (i + 1) % RANKS, 7, WORLD_CONTEXT);
}

static void two_communicators(struct ranks *r)
{
    recv_of(r, 2, 13, 7, 4);
    recv_of(r, 13, 2, 7, 6);
}

static void waitall(struct ranks *r)
{
    ranks_wait(r, 2, CALL_WAITALL, WAITS_FOR_ALL);
    ranks_recv(r, 2, 5, 1, WORLD_CONTEXT);
    ranks_recv(r, 2, 8, 1, WORLD_CONTEXT);
    ranks_wait(r, 8, CALL_WAITALL, WAITS_FOR_ALL);
    ranks_recv(r, 8, 2, 1, WORLD_CONTEXT);
    ranks_recv(r, 8, 9, 1, WORLD_CONTEXT);
}

static void test_loops(struct ranks *r)
{
    recv_recv(r);
    r->rank[1].record.call = r->rank[14].record.call = CALL_TEST;
    ranks_poll(r, 1);
    ranks_poll(r, 14);
}

static void iprobe_loops(struct ranks *r)
{
    test_loops(r);
    r->rank[1].record.request[0].kind = r->rank[14].record.request[0].kind = WAITS_PROBE;
    r->rank[1].record.call = r->rank[14].record.call = CALL_IPROBE;
    r->rank[1].posts = r->rank[14].posts = 0;
}

static void knot(struct ranks *r)
{
    ranks_wait(r, 0, CALL_WAITANY, WAITS_FOR_ONE);
    ranks_recv(r, 0, 6, 1, WORLD_CONTEXT);
    ranks_recv(r, 0, 12, 1, WORLD_CONTEXT);
    recv_of(r, 6, 0, 1, WORLD_CONTEXT);
    recv_of(r, 12, 0, 1, WORLD_CONTEXT);
}

static void any_source(struct ranks *r)
{
    for (int32_t i = 2; i < 14; i += 4) {
        recv_of(r, i, WAITS_ANY, WAITS_ANY, 5);
        ranks_members(r, i, 5, 2, 4, 3);
    }
}

static void wrong_tag(struct ranks *r)
{
    ranks_sent(r, 14, 1, 9, WORLD_CONTEXT);
    recv_recv(r);
}

static void wrong_communicator(struct ranks *r)
{
    ranks_sent(r, 14, 1, 7, 6);
    recv_recv(r);
}

static void finalized_early(struct ranks *r)
{
    ranks_finalize(r, 14);
    recv_of(r, 1, 14, 7, WORLD_CONTEXT);
}

static void finalized_and_all_wait(struct ranks *r)
{
    ranks_finalize(r, 5);
    for (int32_t i = 0; i < RANKS; i++)
        if (i != 5)
            recv_of(r, i, i < 5 ? i + 1 : i - 1, 7, WORLD_CONTEXT);
}

static void finalized_and_all_in_a_collective(struct ranks *r)
{
    others_in(r, 5, 5, 5, CALL_ALLREDUCE);
    ranks_last_word(r, 5);
    ranks_begun(r, 5, 4, CALL_ALLREDUCE, WORLD_CONTEXT);
}

static void different_roots(struct ranks *r)
{
    others_in(r, 9, 9, 3, CALL_BCAST);
    ranks_wait(r, 9, CALL_BCAST, WAITS_FOR_ALL);
    ranks_collective(r, 9, 3, CALL_BCAST, 1, 8, WORLD_CONTEXT);
}

static void reduce_and_allreduce(struct ranks *r)
{
    others_in(r, 4, 4, 3, CALL_ALLREDUCE);
    ranks_wait(r, 4, CALL_REDUCE, WAITS_FOR_ALL);
    ranks_collective(r, 4, 3, CALL_REDUCE, 0, 8, WORLD_CONTEXT);
}

/* Its reduce ended, and it has gone on. */
static void reduce_that_ended(struct ranks *r)
{
    others_in(r, 4, 4, 3, CALL_ALLREDUCE);
    ranks_wait(r, 4, CALL_BARRIER, WAITS_FOR_ALL);
    ranks_begun(r, 4, 3, CALL_REDUCE, WORLD_CONTEXT);
    ranks_collective(r, 4, 4, CALL_BARRIER, -1, WAITS_NO_BYTES, WORLD_CONTEXT);
}

static void reduce_that_ended_and_finalized(struct ranks *r)
{
    others_in(r, 4, 4, 4, CALL_ALLREDUCE);
    ranks_last_word(r, 4);
    ranks_begun(r, 4, 4, CALL_REDUCE, WORLD_CONTEXT);
    ranks_begun(r, 4, 5, CALL_BARRIER, WORLD_CONTEXT);
}

static void one_skips_an_allreduce(struct ranks *r)
{
    others_in(r, 7, 11, 5, CALL_ALLREDUCE);
    for (int32_t i = 7; i <= 11; i += 4) {
        ranks_wait(r, i, CALL_BARRIER, WAITS_FOR_ALL);
        ranks_collective(r, i, 5, CALL_BARRIER, -1, WAITS_NO_BYTES, WORLD_CONTEXT);
    }
}

static void one_skips_and_receives(struct ranks *r)
{
    others_in(r, 7, 7, 5, CALL_ALLREDUCE);
    recv_of(r, 7, 0, 7, WORLD_CONTEXT);
    ranks_begun(r, 7, 4, CALL_ALLREDUCE, WORLD_CONTEXT);
}

static void different_counts(struct ranks *r)
{
    others_in(r, 15, 15, 3, CALL_ALLREDUCE);
    ranks_wait(r, 15, CALL_ALLREDUCE, WAITS_FOR_ALL);
    ranks_collective(r, 15, 3, CALL_ALLREDUCE, -1, 16, WORLD_CONTEXT);
}

static void collectives_crosswise(struct ranks *r)
{
    for (int32_t i = 3; i <= 12; i += 9) {
        ranks_wait(r, i, CALL_BARRIER, WAITS_FOR_ALL);
        ranks_collective(r, i, 2, CALL_BARRIER, -1, WAITS_NO_BYTES, i == 3 ? 4 : 6);
        ranks_begun(r, i, 1, CALL_BARRIER, i == 3 ? 6 : 4);
        ranks_members(r, i, 4, 3, 9, 2);
        ranks_members(r, i, 6, 3, 9, 2);
    }
}

/* The target's rank is 0, and of no interest. */
static void lock_held(struct ranks *r)
{
    ranks_wait(r, 3, CALL_WIN_LOCK, WAITS_FOR_ALL);
    ranks_collective(r, 3, WAITS_LOCK_NONE, CALL_WIN_LOCK, -1, WAITS_NO_BYTES,
                     WAITS_LOCK_OF_ONE | 6);
    recv_of(r, 10, 3, 7, WORLD_CONTEXT);
    ranks_begun(r, 10, WAITS_LOCK_EXCLUSIVE, CALL_NONE, WAITS_LOCK_OF_ONE | 6);
}

static void lock_held_and_target_waits(struct ranks *r)
{
    lock_held(r);
    recv_of(r, 0, 3, 7, WORLD_CONTEXT);
}

static void no_post(struct ranks *r)
{
    ranks_wait(r, 3, CALL_WIN_START, WAITS_FOR_ALL);
    ranks_rma(r, 3, 10);
    recv_of(r, 10, 3, 7, WORLD_CONTEXT);
}

static void two_deadlocks(struct ranks *r)
{
    recv_recv(r);
    recv_of(r, 4, 11, 7, WORLD_CONTEXT);
    recv_of(r, 11, 4, 7, WORLD_CONTEXT);
}

static void in_one_node_of_four(struct ranks *r)
{
    recv_of(r, 12, 13, 7, WORLD_CONTEXT);
    recv_of(r, 13, 12, 7, WORLD_CONTEXT);
}

/* A message of the same tag is on its way to another, and one of 13 was received. */
static void with_traffic(struct ranks *r)
{
    recv_recv(r);
    ranks_sent(r, 14, 2, 7, WORLD_CONTEXT);
    ranks_received(r, 13, 1, 7, WORLD_CONTEXT);
}

/* They share a core with many others. */
static void answered_late(struct ranks *r)
{
    recv_recv(r);
    r->answers_after[1] = r->answers_after[14] = 300 * FTREE_MS;
}

#define ROW(f) #f, f

static const struct {
    const char *name;
    void (*hang)(struct ranks *r);
    const char *sign, *component;
    int32_t reports;
} programs[] = {
    {ROW(recv_recv), "deadlock/cycle", "1, 14", 1},
    {ROW(recv_recv_and_all_others_behind), "deadlock/cycle", "1, 14", 1},
    {ROW(ssend_ssend), "deadlock/cycle", "1, 14", 1},
    {ROW(ring_of_5), "deadlock/cycle", "0, 3, 6, 9, 12", 1},
    {ROW(ring_of_16), "deadlock/cycle", "0-15", 1},
    {ROW(two_communicators), "deadlock/cycle", "2, 13", 1},
    {ROW(waitall), "deadlock/cycle", "2, 8", 1},
    {ROW(test_loops), "deadlock/cycle", "1, 14", 1},
    {ROW(iprobe_loops), "deadlock/cycle", "1, 14", 1},
    {ROW(knot), "deadlock/knot", "0, 6, 12", 1},
    {ROW(any_source), "deadlock/knot", "2, 6, 10", 1},
    {ROW(wrong_tag), "deadlock/cycle", "1, 14", 1},
    {ROW(wrong_communicator), "deadlock/cycle", "1, 14", 1},
    {ROW(finalized_early), "deadlock/missing-partner", "14", 1},
    {ROW(finalized_and_all_wait), "deadlock/missing-partner", "5", 1},
    {ROW(finalized_and_all_in_a_collective), "collective-mismatch/behind", "5", 1},
    {ROW(different_roots), "collective-mismatch/different", "9", 1},
    {ROW(reduce_and_allreduce), "collective-mismatch/different", "4", 1},
    {ROW(reduce_that_ended), "collective-mismatch/different", "4", 1},
    {ROW(reduce_that_ended_and_finalized), "collective-mismatch/different", "4", 1},
    {ROW(one_skips_an_allreduce), "collective-mismatch/different", "7, 11", 1},
    {ROW(one_skips_and_receives), "deadlock/cycle", "0, 7", 1},
    {ROW(different_counts), "collective-mismatch/different", "15", 1},
    {ROW(collectives_crosswise), "deadlock/cycle", "3, 12", 1},
    {ROW(lock_held), "deadlock/cycle", "3, 10", 1},
    {ROW(lock_held_and_target_waits), "deadlock/cycle", "3, 10", 1},
    {ROW(no_post), "deadlock/cycle", "3, 10", 1},
    {ROW(two_deadlocks), "deadlock/cycle", "1, 14", 2},
    {ROW(in_one_node_of_four), "deadlock/cycle", "12-13", 1},
    {ROW(answered_late), "deadlock/cycle", "1, 14", 1},
    {ROW(with_traffic), "deadlock/cycle", "1, 14", 1},
};

static const struct {
    int32_t nodes, ranks, fanout;
} shapes[] = {{1, 16, 2}, {4, 4, 2}, {4, 4, 4}, {16, 1, 2}, {16, 1, 4}};

static struct ranks *ranks_in(int shape)
{
    return ranks_of(world_new(shapes[shape].nodes, shapes[shape].ranks, shapes[shape].fanout));
}

static void expect_component(const struct ftree_verdict *v, const char *component,
                             const char *name, int shape)
{
    struct ftree_ranks one = {0};
    char text[128];

    ftree_ranks_add(&one, v->rank, v->rank);
    ftree_report_ranks(v->component.count ? &v->component : &one, text, sizeof(text));
    if (strcmp(text, component))
        ck_abort_msg("%s, shape %d: ranks %s instead of %s", name, shape, text, component);
}

static void expect_verdict(struct world *w, int p, int shape)
{
    const struct ftree_verdict *v = NULL;
    int class_;

    for (int32_t i = 0; i < w->reports; i++)
        if (!v || w->report[i].rank < v->rank)
            v = &w->report[i];
    if (w->reports != programs[p].reports)
        ck_abort_msg("%s, shape %d: %d reports\n%s", programs[p].name, shape, w->reports,
                     world_trace(w));
    ck_assert_str_eq(v->rule, programs[p].sign);
    base_sign(programs[p].sign, &class_);
    ck_assert_int_eq(v->class_, class_);
    expect_component(v, programs[p].component, programs[p].name, shape);
    for (int32_t n = 0; n < w->job.nodes; n++)
        ck_assert_int_eq(w->verdicts_on[n], programs[p].reports);
    ck_assert_int_eq(w->withdrawals, 0);
}

TEST_CASES(a_program_that_hangs_is_explained, COUNT(programs))
{
    for (int shape = 0; shape < COUNT(shapes); shape++) {
        struct ranks *r = ranks_in(shape);
        struct world *w = r->w;
        programs[_i].hang(r);
        w->steps = true;
        world_run_until_reports(w, programs[_i].reports, 2500 * FTREE_MS);
        world_run(w, 12 * SECOND);
        expect_verdict(w, _i, shape);
        ck_assert_uint_le(w->reported_at[programs[_i].reports - 1], 4000 * FTREE_MS);
        for (int32_t rank = 0; rank < RANKS; rank++)
            if (!r->rank[rank].outside && w->rank[rank].phase != FTREE_PHASE_LEFT)
                ranks_go_on(r, rank);
        world_run(w, 20 * SECOND);
        ck_assert_int_eq(w->withdrawals, programs[_i].reports);
        for (int32_t n = 0; n < w->job.nodes; n++)
            ck_assert_ptr_null(w->node[n].ft->waitfor->work);
        world_free(w);
    }
}

/* MPI_Finalize does not wait on every netmod: the node of one rank leaves, be it the root, and all
 * others wait for what that rank never called, at once or later. */
TEST_CASES(who_has_left_before_the_others_is_asked, 12)
{
    int32_t rank = _i / 6 ? 5 : 0;
    struct ranks *r = ranks_in(3 + _i % 2);
    struct world *w = r->w;

    w->departs = true;
    ranks_last_word(r, rank);
    ranks_begun(r, rank, 4, CALL_ALLREDUCE, WORLD_CONTEXT);
    ftree_leave(w->node[rank].ft, w->now);
    world_run(w, _i % 3 * 10 * SECOND);
    others_in(r, rank, rank, 5, CALL_ALLREDUCE);
    w->steps = true;
    ck_assert(world_run_until_reports(w, 1, 2500 * FTREE_MS));
    ck_assert_str_eq(w->report[0].rule, "collective-mismatch/behind");
    ck_assert_int_eq(w->report[0].rank, rank);
    world_run(w, 60 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
}

/* 2 and 5 wait for each other; 2 and 14 do, too. */
static void cycle_beside_a_cycle(struct ranks *r)
{
    ranks_wait(r, 2, CALL_WAITALL, WAITS_FOR_ALL);
    ranks_recv(r, 2, 5, 7, WORLD_CONTEXT);
    ranks_recv(r, 2, 14, 7, WORLD_CONTEXT);
    recv_of(r, 5, 2, 7, WORLD_CONTEXT);
    recv_of(r, 14, 2, 7, WORLD_CONTEXT);
}

/* Of 14 the answers are never twice the same. */
TEST_CASES(the_rest_of_a_core_is_one, COUNT(shapes))
{
    struct ranks *r = ranks_in(_i);
    struct world *w = r->w;

    cycle_beside_a_cycle(r);
    r->moves_at[14] = RANKS_MOVE_ALWAYS;
    ck_assert(world_run_until_reports(w, 1, 2500 * FTREE_MS));
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_DEADLOCK);
    expect_component(&w->report[0], "2, 5", "the rest", _i);
    ck_assert_int_eq(w->withdrawals, 0);
}

/* ---- programs that do not -------------------------------------------------------------------- */

static void a_peer_computes(struct ranks *r)
{
    for (int32_t i = 0; i < RANKS - 1; i++)
        recv_of(r, i, i + 1, 7, WORLD_CONTEXT);
}

static void one_computes_before_a_barrier(struct ranks *r)
{
    others_in(r, 6, 6, 3, CALL_BARRIER);
}

static void message_under_way(struct ranks *r)
{
    ranks_sent(r, 14, 1, 7, WORLD_CONTEXT);
    recv_recv(r);
}

static void message_for_any_tag(struct ranks *r)
{
    ranks_sent(r, 14, 1, 9, WORLD_CONTEXT);
    recv_recv(r);
    r->rank[1].record.request[0].tag = WAITS_ANY;
}

static void receive_is_posted(struct ranks *r)
{
    ssend_ssend(r);
    r->rank[14].post[r->rank[14].posts++] =
        (struct waits_flow){.kind = WAITS_POSTED, .peer = WAITS_ANY, .tag = 7, .count = 1};
}

static void ssend_and_recv(struct ranks *r)
{
    ssend_to(r, 1, 14);
    recv_of(r, 14, 1, WAITS_ANY, WORLD_CONTEXT);
}

/* More messages under way than are told. */
static void sums_not_explained(struct ranks *r)
{
    for (int32_t i = 0; i < 40; i++)
        ranks_sent(r, 14, 1, 100 + i, WORLD_CONTEXT);
    recv_recv(r);
}

static void never_answered(struct ranks *r)
{
    recv_recv(r);
    r->answers_after[14] = FTREE_NEVER;
}

static void answered_too_late(struct ranks *r)
{
    recv_recv(r);
    r->answers_after[1] = 400 * FTREE_MS;
}

static void knot_is_open(struct ranks *r)
{
    knot(r);
    r->rank[12].outside = true;
    world_go_on(r->w, 12);
}

static void any_source_has_a_message(struct ranks *r)
{
    any_source(r);
    ranks_sent(r, 10, 2, 3, 5);
}

static void any_source_and_one_computes(struct ranks *r)
{
    any_source(r);
    ranks_go_on(r, 10);
}

static void finalized_has_sent(struct ranks *r)
{
    ranks_last_word(r, 14);
    ranks_sent(r, 14, 1, 7, WORLD_CONTEXT);
    recv_of(r, 1, 14, 7, WORLD_CONTEXT);
}

static void more_requests(struct ranks *r)
{
    knot(r);
    r->rank[0].record.more = true;
}

static void a_thread_runs(struct ranks *r)
{
    recv_recv(r);
    r->rank[1].record.threads = 2; /* the other one does not say */
}

static void not_of_this_world(struct ranks *r)
{
    recv_recv(r);
    r->rank[1].record.request[0].peer = FTREE_NONE;
}

static const struct {
    const char *name;
    void (*wait)(struct ranks *r);
} innocent[] = {
    {ROW(a_peer_computes)},
    {ROW(one_computes_before_a_barrier)},
    {ROW(message_under_way)},
    {ROW(message_for_any_tag)},
    {ROW(receive_is_posted)},
    {ROW(ssend_and_recv)},
    {ROW(sums_not_explained)},
    {ROW(never_answered)},
    {ROW(answered_too_late)},
    {ROW(knot_is_open)},
    {ROW(any_source_has_a_message)},
    {ROW(any_source_and_one_computes)},
    {ROW(finalized_has_sent)},
    {ROW(more_requests)},
    {ROW(a_thread_runs)},
    {ROW(not_of_this_world)},
};

TEST_CASES(a_program_that_waits_is_not_accused, COUNT(innocent))
{
    for (int shape = 0; shape < COUNT(shapes); shape++) {
        struct ranks *r = ranks_in(shape);
        struct world *w = r->w;
        innocent[_i].wait(r);
        world_run(w, 32 * SECOND);
        if (w->reports > 0 || w->verdicts_on[0] > 0)
            ck_abort_msg("%s, shape %d: %s", innocent[_i].name, shape, world_trace(w));
        ck_assert_int_eq(w->notes, 2); /* after 10 and 30 s */
        world_free(w);
    }
}

/* A rank that goes on for a moment at one of its first looks is no part of a deadlock then. */
TEST_CASES(who_moves_between_two_looks_is_not_accused, 6)
{
    struct ranks *r = ranks_in(1);
    struct world *w = r->w;

    test_loops(r);
    r->moves_at[14] = _i;
    world_run(w, 3 * SECOND);
    ck_assert_int_le(w->reports, 1);
    world_free(w);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void expect_line(const struct ftree_verdict *v, const char *line)
{
    for (int32_t i = 0; i < v->evidences; i++)
        if (!strcmp(v->evidence[i].detail, line))
            return;
    for (int32_t i = 0; i < v->evidences; i++)
        fprintf(stderr, "%s\n", v->evidence[i].detail);
    ck_abort_msg("no line \"%s\"", line);
}

static const struct {
    void (*hang)(struct ranks *r);
    const char *line[3];
} words[] = {
    {recv_recv,
     {"rank 1 (n0) in MPI_Recv(from 14, tag 7, MPI_COMM_WORLD)",
      "<- rank 14 (n3) in MPI_Recv(from 1, tag 7, MPI_COMM_WORLD)", NULL}},
    {wrong_tag, {"rank 14 has sent to rank 1, with tag 9", NULL}},
    {wrong_communicator,
     {"rank 14 has sent to rank 1, with another communicator (context 6)", NULL}},
    {finalized_early,
     {"rank 14 (n3) has called MPI_Finalize",
      "rank 1 (n0) in MPI_Recv(from 14, tag 7, MPI_COMM_WORLD)", NULL}},
    {reduce_and_allreduce,
     {"rank 4 (1 of 16) in MPI_Reduce(MPI_COMM_WORLD, the 3rd, root 0, 8 bytes)",
      "ranks 0-3, 5-15 (15 of 16) in MPI_Allreduce(MPI_COMM_WORLD, the 3rd, 8 bytes)", NULL}},
};

TEST_CASES(both_sides_are_quoted, COUNT(words))
{
    struct ranks *r = ranks_in(1);

    words[_i].hang(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    for (int i = 0; words[_i].line[i]; i++)
        expect_line(&r->w->report[0], words[_i].line[i]);
}

TEST_CASE(victims_are_all_others_that_wait)
{
    struct ranks *r = ranks_in(1);

    recv_recv_and_all_others_behind(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    ck_assert_int_eq(r->w->report[0].victims.count, 14);
    ck_assert_int_eq(r->w->report[0].confidence, 990);
}

static void expect_victims(const struct world *w, int32_t rank, const char *victims, int shape)
{
    char text[128] = "no report";

    for (int32_t i = 0; i < w->reports; i++)
        if (w->report[i].rank == rank)
            ftree_report_ranks(&w->report[i].victims, text, sizeof(text));
    if (strcmp(text, victims))
        ck_abort_msg("rank %d, shape %d: victims %s instead of %s", rank, shape, text, victims);
}

TEST_CASE(victims_of_two_deadlocks_are_told_apart)
{
    for (int shape = 0; shape < COUNT(shapes); shape++) {
        struct ranks *r = ranks_in(shape);
        two_deadlocks(r);
        recv_of(r, 0, 1, 7, WORLD_CONTEXT);
        recv_of(r, 9, 0, 7, WORLD_CONTEXT);
        recv_of(r, 8, 4, 7, WORLD_CONTEXT);
        ck_assert(world_run_until_reports(r->w, 2, 4 * SECOND));
        expect_victims(r->w, 1, "0, 9", shape);
        expect_victims(r->w, 4, "8", shape);
        world_free(r->w);
    }
}

TEST_CASE(who_polls_is_accused_with_less_confidence)
{
    struct ranks *r = ranks_in(1);

    test_loops(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    ck_assert_int_eq(r->w->report[0].confidence, 800);
    ck_assert_uint_eq(r->w->report[0].holds_back, FTREE_HOLDS_FOR_EVER);
    ck_assert_uint_gt(r->w->reported_at[0], 2500 * FTREE_MS);
}

/* ---- trouble --------------------------------------------------------------------------------- */

TEST_CASE(a_rank_of_the_component_goes_on)
{
    struct ranks *r = ranks_in(1);

    recv_recv(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    world_run(r->w, 5 * SECOND);
    ck_assert_int_eq(r->w->withdrawals, 0);
    ranks_go_on(r, 14);
    world_run(r->w, 3 * SECOND);
    ck_assert_int_eq(r->w->withdrawals, 1);
}

/* Its job ends: by MPI_Finalize, or by MPI_Abort in the call that it waits in. */
TEST_CASES(a_rank_of_the_component_leaves, 2)
{
    struct ranks *r = ranks_in(1);

    test_loops(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    r->w->rank[14].phase = FTREE_PHASE_LEFT;
    r->w->rank[14].call = _i == 0 ? 0 : CALL_RECV;
    ftree_stall_over(r->w->node[r->w->rank_node[14]].ft, r->w->now, 14);
    world_run(r->w, 3 * SECOND);
    ck_assert_int_eq(r->w->withdrawals, _i == 0);
}

/* Its stall is never over, but its stamp moves. */
TEST_CASE(a_rank_that_polls_goes_on)
{
    struct ranks *r = ranks_in(1);

    test_loops(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    r->rank[1].record.stamp++;
    world_run(r->w, 12 * SECOND);
    ck_assert_int_ge(r->w->withdrawals, 1);
}

TEST_CASE(a_stopped_rank_of_the_cycle_is_the_fault)
{
    struct ranks *r = ranks_in(1);
    struct world *w = r->w;

    recv_recv(r);
    w->rank[14].proc_state = 'T';
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_PROCESS_STOPPED);
}

TEST_CASE(a_lost_node_of_the_cycle_is_the_fault)
{
    struct ranks *r = ranks_in(1);
    struct world *w = r->w;

    recv_recv(r);
    w->node[3].off = true;
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_NODE_OUTAGE);
}

/* At any time an agent between the ranks and the root is stopped, and its deputy takes over. */
TEST_CASES(an_agent_is_lost_meanwhile, 30)
{
    struct ranks *r = ranks_in(3);
    struct world *w = r->w;

    recv_recv(r);
    world_run(w, SECOND + (ftree_time) _i * 10 * FTREE_MS);
    world_take_over(w, _i % 3 == 0 ? 0 : _i % 3 == 1 ? 6 : 14);
    world_run(w, 10 * SECOND); /* the new agent looks at its ranks */
    ck_assert_int_eq(w->verdicts_on[3], 1);
    ck_assert_int_eq(w->withdrawals, 0);
}

TEST_CASES(a_bad_network_loses_and_doubles, 10)
{
    struct ranks *r = ranks_in(3);
    struct world *w = r->w;

    w->random = (uint64_t) _i + 1;
    w->loss_percent = 10;
    w->dup_percent = 10;
    w->jitter = 50 * FTREE_MS;
    ring_of_5(r);
    ck_assert(world_run_until_reports(w, 1, 20 * SECOND));
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_DEADLOCK);
    expect_component(&w->report[0], "0, 3, 6, 9, 12", "bad network", 3);
}

TEST_CASE(a_look_of_another_node_is_checked)
{
    struct ranks *r = ranks_in(1);
    struct wire_message m = {.type = WIRE_WAITS_LOOK, .id = 77};
    uint8_t buf[FTREE_MESSAGE_MAX];

    for (int type = WIRE_WAITS_UP; type <= WIRE_WAITS_SEEN; type++)
        for (int first = 0; first < 256; first++) {
            uint8_t bytes[] = {(uint8_t) first, 0x7f, 1, 2, 3};
            m.type = (uint8_t) type;
            m.id++;
            m.u.part = (struct wire_part){
                .number = (uint32_t) first + 1, .parts = 1, .len = sizeof(bytes), .bytes = bytes};
            ck_assert_int_eq(ftree_receive(r->w->node[0].ft, r->w->now, 1, FTREE_PATH_DATA, 1, buf,
                                           ftree_wire_encode(&m, r->w->now, buf)),
                             FTREE_OK);
        }
    world_run(r->w, 20 * SECOND);
    ck_assert_int_eq(r->w->reports, 0);
}
