/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "waiting_ranks.h"

#include "ftree_int.h"

/* Candidates: when their ranks are asked, and what ends that. */

#define SECOND (1000 * FTREE_MS)

static struct ranks *begin(void)
{
    return ranks_of(world_new(4, 4, 4));
}

static void receive(struct ranks *r, int32_t rank, int32_t from)
{
    ranks_wait(r, rank, CALL_RECV, WAITS_FOR_ALL);
    ranks_recv(r, rank, from, 7, WORLD_CONTEXT);
}

static void two_receive(struct ranks *r)
{
    receive(r, 1, 14);
    receive(r, 14, 1);
}

/* ---- the looks ------------------------------------------------------------------------------- */

static void nothing_more(struct ranks *r)
{
    (void) r;
}

static void poll(struct ranks *r)
{
    ranks_poll(r, 1);
    ranks_poll(r, 14);
}

static void message_under_way(struct ranks *r)
{
    ranks_sent(r, 14, 1, 7, WORLD_CONTEXT);
}

static void one_is_silent(struct ranks *r)
{
    r->answers_after[14] = FTREE_NEVER;
}

static void one_is_stopped(struct ranks *r)
{
    r->w->rank[14].proc_state = 'T';
}

/* Each rank is asked by its own agent; by the root, as one that others wait for; at the first look
 * and at the second. */
static void one_moves_at_the_first_look(struct ranks *r)
{
    r->moves_at[14] = 3;
}

static void one_moves_at_the_second_look(struct ranks *r)
{
    r->moves_at[14] = 4;
}

static const struct {
    const char *what;
    void (*and)(struct ranks *r);
    int class_; /* -1: none */
    int after_ms, before_ms; /* the ranks have blocked */
} rows[] = {
    {"two looks", nothing_more, FTREE_CLASS_DEADLOCK, 1100, 1400},
    {"a third one after half the stall limit", poll, FTREE_CLASS_DEADLOCK, 1500, 1800},
    {"nothing while a message is under way", message_under_way, -1, 0, 0},
    {"nothing while a rank does not answer", one_is_silent, -1, 0, 0},
    {"another verdict explains it", one_is_stopped, FTREE_CLASS_PROCESS_STOPPED, 1000, 4000},
    {"what it said before does not count", one_moves_at_the_first_look, FTREE_CLASS_DEADLOCK, 1100,
     1400},
    {"it is looked at anew after a pause", one_moves_at_the_second_look, FTREE_CLASS_DEADLOCK,
     1400, 4000},
};

TEST_CASES(a_candidate_is_looked_at_as_often_as_it_takes, 7)
{
    struct ranks *r = begin();
    ftree_time begun = r->w->now;

    two_receive(r);
    rows[_i].and(r);
    world_run(r->w, 8 * SECOND);
    ck_assert_int_eq(r->w->withdrawals, 0);
    ck_assert_msg(r->w->reports == (rows[_i].class_ >= 0), "%s: %d reports", rows[_i].what,
                  (int) r->w->reports);
    if (r->w->reports > 0) {
        ck_assert_int_eq(r->w->report[0].class_, rows[_i].class_);
        ck_assert_uint_ge(r->w->reported_at[0], begun + rows[_i].after_ms * FTREE_MS);
        ck_assert_uint_le(r->w->reported_at[0], begun + rows[_i].before_ms * FTREE_MS);
    }
    world_free(r->w);
}

/* Who waits for its message is seen first, who is in a collective later: it is one fault. */
TEST_CASE(a_partner_that_is_missing_is_reported_once)
{
    struct ranks *r = begin();

    ranks_last_word(r, 14);
    ranks_begun(r, 14, 4, CALL_ALLREDUCE, WORLD_CONTEXT);
    receive(r, 1, 14);
    world_run(r->w, 2 * SECOND);
    ck_assert_int_eq(r->w->reports, 1);
    ck_assert_int_eq(r->w->report[0].class_, FTREE_CLASS_DEADLOCK);
    ck_assert_int_eq(r->w->report[0].rank, 14);
    ranks_wait(r, 2, CALL_ALLREDUCE, WAITS_FOR_ALL);
    ranks_collective(r, 2, 5, CALL_ALLREDUCE, -1, 8, WORLD_CONTEXT);
    world_run(r->w, 8 * SECOND);
    ck_assert_int_eq(r->w->reports, 1);
    ck_assert_int_eq(r->w->withdrawals, 0);
    world_free(r->w);
}

/* A candidate that is never confirmed is asked for less and less often. */
TEST_CASE(the_pause_of_a_candidate_grows)
{
    struct ranks *r = begin();
    int first, last;

    two_receive(r);
    message_under_way(r);
    world_run(r->w, 5 * SECOND);
    first = r->looks;
    world_run(r->w, 55 * SECOND);
    last = r->looks;
    world_run(r->w, 5 * SECOND);
    last = r->looks - last;
    ck_assert_int_gt(first, 4);
    ck_assert_int_lt(last, first);
    ck_assert_int_eq(r->w->reports, 0);
    world_free(r->w);
}

/* ---- a verdict ------------------------------------------------------------------------------- */

static void the_first_goes_on(struct ranks *r)
{
    ranks_go_on(r, 1);
}

static void the_last_goes_on(struct ranks *r)
{
    ranks_go_on(r, 14);
}

static void one_moves_and_waits_again(struct ranks *r)
{
    r->rank[14].record.stamp++;
}

/* A rank that gets little of a CPU tells less of itself. */
static void one_is_less_certain(struct ranks *r)
{
    r->rank[14].record.more = true;
    r->rank[14].record.switches = 7;
    r->rank[14].record.call++;
}

static void a_victim_goes_on(struct ranks *r)
{
    ranks_go_on(r, 2);
}

/* Its agent sees that it waits since another moment than at first. */
static void seen_to_wait_for(struct ranks *r, int32_t rank, ftree_time waiting)
{
    r->w->wait_since[rank] = r->w->now - waiting;
    ftree_stall_over(r->w->node[r->w->rank_node[rank]].ft, r->w->now, rank);
}

static void a_wait_before_the_looks_is_seen_to_have_ended(struct ranks *r)
{
    seen_to_wait_for(r, 14, 400 * FTREE_MS);
}

/* Its machine was busy. */
static void one_is_seen_to_have_stood_still(struct ranks *r)
{
    seen_to_wait_for(r, 14, 0);
}

/* One of many threads is in MPI, but its loop has not turned for a moment, so it does not answer
 * either. */
static void one_is_not_seen_to_turn(struct ranks *r)
{
    r->w->rank[14].phase = FTREE_PHASE_OUTSIDE;
    r->w->rank[14].call = CALL_RECV;
    r->answers_after[14] = FTREE_NEVER;
    r->w->wait_since[14] = 0;
    ftree_stall_over(r->w->node[r->w->rank_node[14]].ft, r->w->now, 14);
}

static void one_has_waited_anew_since(struct ranks *r)
{
    r->rank[14].record.stamp++;
    seen_to_wait_for(r, 14, FTREE_MS);
}

static const struct {
    const char *what;
    void (*then)(struct ranks *r);
    bool is_over;
} later[] = {
    {"nothing", nothing_more, false},
    {"the first goes on", the_first_goes_on, true},
    {"the last goes on", the_last_goes_on, true},
    {"one moves and waits again", one_moves_and_waits_again, true},
    {"one is less certain", one_is_less_certain, false},
    {"a victim goes on", a_victim_goes_on, false},
    {"a wait before the looks is seen to have ended",
     a_wait_before_the_looks_is_seen_to_have_ended, false},
    {"one is seen to have stood still", one_is_seen_to_have_stood_still, false},
    {"one is not seen to turn", one_is_not_seen_to_turn, false},
    {"one has waited anew since", one_has_waited_anew_since, true},
};

TEST_CASES(a_verdict_is_over_once_one_of_its_ranks_goes_on, COUNT(later))
{
    struct ranks *r = begin();

    two_receive(r);
    receive(r, 2, 1);
    ck_assert(world_run_until_reports(r->w, 1, 3 * SECOND));
    later[_i].then(r);
    world_run(r->w, 6 * SECOND);
    ck_assert_msg(r->w->withdrawals == later[_i].is_over, "%s: %d", later[_i].what,
                  (int) r->w->withdrawals);
    world_free(r->w);
}

/* ---- a mismatch ------------------------------------------------------------------------------ */

static void broadcast(struct ranks *r, int32_t rank, int32_t root)
{
    ranks_wait(r, rank, CALL_BCAST, WAITS_FOR_ALL);
    ranks_collective(r, rank, 3, CALL_BCAST, root, 8, WORLD_CONTEXT);
}

static const struct {
    int32_t silent; /* of these many ranks nothing is known */
    int after_ms, before_ms;
} silent_rows[] = {
    {0, 1000, 1400},
    {1, 1500, 1900},
    {13, 2000, 2500}, /* which two of three are the many nobody knows */
};

/* Where members have not spoken the root waits for them. */
TEST_CASES(the_root_waits_for_members_that_have_not_spoken, 3)
{
    struct ranks *r = begin();
    ftree_time begun = r->w->now;

    for (int32_t rank = silent_rows[_i].silent; rank < 16; rank++)
        broadcast(r, rank, rank == 13);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    ck_assert_int_eq(r->w->report[0].class_, FTREE_CLASS_COLLECTIVE_MISMATCH);
    ck_assert_int_eq(r->w->report[0].rank, 13);
    ck_assert_uint_ge(r->w->reported_at[0], begun + silent_rows[_i].after_ms * FTREE_MS);
    ck_assert_uint_le(r->w->reported_at[0], begun + silent_rows[_i].before_ms * FTREE_MS);
    world_free(r->w);
}

/* 5 is in MPI_Reduce, and all others have left their MPI_Allreduce; they exchange messages. */
static void leave_one_behind(struct ranks *r)
{
    ranks_wait(r, 5, CALL_REDUCE, WAITS_FOR_ALL);
    ranks_collective(r, 5, 3, CALL_REDUCE, 5, 8, WORLD_CONTEXT);
    for (int32_t rank = 0; rank < 16; rank++) {
        if (rank == 5)
            continue;
        receive(r, rank, rank ^ 8);
        ranks_begun(r, rank, 3, CALL_ALLREDUCE, WORLD_CONTEXT);
        r->w->wait_since[rank] = 0;
        r->moves_at[rank] = RANKS_MOVE_ALWAYS;
    }
}

static void the_others_stop(struct ranks *r)
{
    for (int32_t rank = 0; rank < 16; rank++)
        r->moves_at[rank] = 0;
}

static void the_others_stop_as_the_one_is_less_certain(struct ranks *r)
{
    the_others_stop(r);
    r->rank[5].record.switches = 7;
}

static void the_one_goes_on(struct ranks *r)
{
    ranks_go_on(r, 5);
}

static const struct {
    const char *what;
    void (*then)(struct ranks *r);
    int reports, withdrawals;
    bool is_held_back;
} left_rows[] = {
    {"the others go on", nothing_more, 1, 0, true},
    {"the others stop", the_others_stop, 2, 1, false},
    {"the others stop as the one is less certain", the_others_stop_as_the_one_is_less_certain, 2,
     1, false},
    {"the one goes on", the_one_goes_on, 1, 1, true},
};

/* What they have called as the third cannot change any more, but the job may go on for long. */
TEST_CASES(who_has_left_the_collective_may_go_on, COUNT(left_rows))
{
    struct ranks *r = begin();
    const struct ftree_verdict *v;

    leave_one_behind(r);
    ck_assert(world_run_until_reports(r->w, 1, 4 * SECOND));
    left_rows[_i].then(r);
    world_run(r->w, 12 * SECOND);
    ck_assert_int_eq(r->w->withdrawals, left_rows[_i].withdrawals);
    ck_assert_int_eq(r->w->reports, left_rows[_i].reports);
    v = &r->w->report[left_rows[_i].reports - 1];
    ck_assert_int_eq(v->class_, FTREE_CLASS_COLLECTIVE_MISMATCH);
    ck_assert_int_eq(v->rank, 5);
    ck_assert_int_eq(v->component.count, 0);
    ck_assert(left_rows[_i].is_held_back == (v->holds_back > 0));
    world_free(r->w);
}

/* Whether the others rest or go on, the one is held: what is said first stands. */
TEST_CASES(who_has_left_the_collective_may_rest_and_go_on, 2)
{
    struct ranks *r = begin();

    leave_one_behind(r);
    for (int i = _i; i < 20; i++) {
        for (int32_t rank = 0; rank < 16; rank++)
            r->moves_at[rank] = i % 2 == 0 && rank != 5 ? RANKS_MOVE_ALWAYS : 0;
        world_run(r->w, 3 * SECOND);
    }
    ck_assert_int_eq(r->w->reports, 1);
    ck_assert_int_eq(r->w->withdrawals, 0);
    ck_assert((_i == 0) == (r->w->report[0].holds_back > 0));
    world_free(r->w);
}

/* It does not wait, and has begun its n-th collective as `like` has its last. */
static void run_on(struct ranks *r, int32_t rank, uint32_t n, int32_t like)
{
    struct waits_comm *c;

    ranks_wait(r, rank, CALL_TEST, WAITS_FOR_ALL);
    ranks_begun(r, rank, n, CALL_BCAST, WORLD_CONTEXT);
    c = &r->rank[rank].record.comm[0];
    c->last = r->rank[like].record.comm[0].last;
    c->last.begun = n;
    r->rank[rank].record.state = WAITS_INSIDE;
    r->rank[rank].record.mode = WAITS_FOR_NONE;
    r->w->wait_since[rank] = 0;
    r->moves_at[rank] = RANKS_MOVE_ALWAYS;
}

/* Two of three are the many only until the others come. */
TEST_CASE(who_has_not_come_to_the_collective_may_make_others_the_odd_ones)
{
    struct ranks *r = begin();

    broadcast(r, 0, 1);
    broadcast(r, 1, 2);
    broadcast(r, 2, 2);
    for (int32_t rank = 3; rank < 16; rank++)
        run_on(r, rank, 2, 0);
    world_run(r->w, 1700 * FTREE_MS);
    ck_assert_int_eq(r->w->reports, 0);
    for (int32_t rank = 3; rank < 16; rank++) {
        r->moves_at[rank] = 0;
        broadcast(r, rank, 1);
    }
    world_run(r->w, 6 * SECOND);
    ck_assert_int_eq(r->w->reports, 1);
    ck_assert_int_eq(r->w->report[0].rank, 1);
    ck_assert_int_eq(r->w->report[0].component.count, 2);
    world_free(r->w);
}

/* Others of its class wait, and do. */
TEST_CASE(who_goes_on_need_not_answer)
{
    struct ranks *r = begin();
    ftree_time begun = r->w->now;

    for (int32_t rank = 1; rank < 16; rank++)
        broadcast(r, rank, rank == 13);
    run_on(r, 0, 3, 1);
    while (r->w->reports == 0 && r->w->now < begun + 6 * SECOND) {
        world_run(r->w, 50 * FTREE_MS);
        r->rank[0].outside = !r->rank[0].outside;
    }
    ck_assert_int_eq(r->w->reports, 1);
    ck_assert_int_eq(r->w->report[0].rank, 13);
    ck_assert_uint_le(r->w->reported_at[0], begun + 1900 * FTREE_MS);
    world_free(r->w);
}

/* Of rank 0, the root, nobody hears where the others of its class are; what 13 waits for is inside. */
TEST_CASE(a_root_that_has_left_does_not_speak_for_its_class)
{
    struct ranks *r = begin();
    const struct ftree_verdict *v = &r->w->report[0];

    for (int32_t rank = 1; rank < 16; rank++)
        broadcast(r, rank, rank == 13);
    r->rank[13].record.request[0].number = 0;
    receive(r, 0, 5);
    r->rank[0].record.comm[0].last = r->rank[1].record.comm[0].last;
    ck_assert(world_run_until_reports(r->w, 1, 6 * SECOND));
    ck_assert_int_eq(v->rank, 13);
    ck_assert_str_eq(v->evidence[0].detail, "ranks 0-12, 14-15 (15 of 16) in "
                     "MPI_Bcast(MPI_COMM_WORLD, the 3rd, root 0, 8 bytes)");
    ck_assert_str_eq(v->evidence[1].detail,
                     "rank 13 (1 of 16) in MPI_Bcast(MPI_COMM_WORLD, the 3rd, root 1, 8 bytes)");
    world_free(r->w);
}

/* ---- an open core ---------------------------------------------------------------------------- */

/* 4 and 5 are of one node and wait for each other, and 4 for 12 of another node as well. */
static void begin_core(struct ranks *r)
{
    ranks_wait(r, 4, CALL_WAITALL, WAITS_FOR_ALL);
    ranks_recv(r, 4, 5, 7, WORLD_CONTEXT);
    ranks_recv(r, 4, 12, 7, WORLD_CONTEXT);
    receive(r, 5, 4);
}

static const struct {
    int later_ms; /* 12 waits for 4; -1: never */
    int ranks, after_ms, before_ms;
} open_rows[] = {
    {0, 3, 1100, 1400},
    {300, 3, 1400, 1800},
    {-1, 2, 1500, 2100},
};

/* Ranks that stall within half a stall limit are in the verdict; it does not wait longer. */
TEST_CASES(an_open_core_waits_for_its_other_ranks, 3)
{
    struct ranks *r = begin();
    ftree_time begun = r->w->now;

    begin_core(r);
    if (open_rows[_i].later_ms > 0)
        world_run(r->w, open_rows[_i].later_ms * FTREE_MS);
    if (open_rows[_i].later_ms >= 0)
        receive(r, 12, 4);
    world_run(r->w, 8 * SECOND);
    ck_assert_int_eq(r->w->reports, 1);
    ck_assert_int_eq(r->w->report[0].class_, FTREE_CLASS_DEADLOCK);
    ck_assert_int_eq(r->w->report[0].component.count, open_rows[_i].ranks);
    ck_assert_uint_ge(r->w->reported_at[0], begun + open_rows[_i].after_ms * FTREE_MS);
    ck_assert_uint_le(r->w->reported_at[0], begun + open_rows[_i].before_ms * FTREE_MS);
    world_free(r->w);
}
