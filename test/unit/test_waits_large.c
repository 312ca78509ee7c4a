/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Rings, knots, chains and storms in a job of 100,000 nodes: they are found, exactly, and what goes
 * up the tree is bounded by those involved.
 */

#include "suite.h"
#include "waiters.h"

#define SIZE 100000
#define FANOUT 32
#define LEVELS 4 /* of the tree */
#define CALL 3

/* Ranks first, first + step, ..., n of them, in an order in which they wait for each other. */
struct crowd {
    struct waiters k;
    int32_t first, step, n;
    int32_t shuffle; /* the next in the order is so many places farther; 1: the neighbour */
    bool closed; /* the last waits for the first; else for a rank that runs */
    bool knot; /* each waits for one of two */
    int32_t found, of; /* cores, and the ranks in the last one */
    int32_t node; /* where that was */
};

static int32_t place_of(const struct crowd *c, int32_t rank)
{
    int32_t from = rank - c->first;

    return from >= 0 && from % c->step == 0 && from / c->step < c->n ? from / c->step : -1;
}

static int32_t rank_at(const struct crowd *c, int64_t place)
{
    return c->first + (int32_t) (place % c->n) * c->step;
}

static bool tell(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    const struct crowd *c = ctx;
    int32_t place = place_of(c, rank);

    (void) thread;
    if (place < 0)
        return false;
    waiters_begin(&c->k, r, rank, CALL);
    if (!c->closed && place == c->n - 1) {
        waiters_add(r, WAITS_RECV, SIZE - 1, 7)->fate = WAITS_RUNS;
        return true;
    }
    waiters_add(r, WAITS_RECV, rank_at(c, (int64_t) place + c->shuffle), 7);
    if (c->knot) {
        r->mode = WAITS_FOR_ONE;
        waiters_add(r, WAITS_RECV, rank_at(c, (int64_t) place + c->n - 1), 7);
    }
    return true;
}

static void hear(void *ctx, int32_t node, const struct waits *w)
{
    struct crowd *c = ctx;
    struct waits_core core;

    for (int32_t i = 0; ftree_waits_core_at(w, i, &core); i++) {
        c->found++;
        c->of = core.ranks;
        c->node = node;
        for (int32_t k = 0; k < core.ranks; k++)
            REQUIRE(place_of(c, core.rank[k]) >= 0);
    }
}

static struct waits *run(struct crowd *c)
{
    waiters_init(&c->k, SIZE, SIZE, FANOUT);
    c->k.record = tell;
    c->k.reduced = hear;
    c->k.ctx = c;
    return waiters_reduce(&c->k);
}

static const struct {
    int32_t first, step, n, shuffle;
    bool knot;
} closed[] = {
    {40, 1, 2, 1, false},      {40, 1, 1000, 1, false},   {7, 99, 1000, 1, false},
    {7, 99, 1000, 337, false}, {40, 1, 1000, 337, false}, {99000, 1, 997, 1, false},
    {40, 1, 3, 1, true},       {40, 1, 1000, 1, true},    {7, 99, 1000, 1, true},
    {40, 1, 1000, 337, true},
};

START_TEST(a_ring_or_knot_is_found_once_and_whole)
{
    struct crowd c = {.first = closed[_i].first,
                      .step = closed[_i].step,
                      .n = closed[_i].n,
                      .shuffle = closed[_i].shuffle,
                      .closed = true,
                      .knot = closed[_i].knot};
    struct waits *w = run(&c);

    ck_assert_int_eq(c.found, 1);
    ck_assert_int_eq(c.of, c.n);
    /* a message at most from each node above one that is involved, and the bytes of their waits */
    ck_assert_int_le(c.k.messages, (int64_t) LEVELS * c.n);
    ck_assert_int_le(c.k.bytes, 64LL * LEVELS * c.n);
    ftree_waits_destroy(w);
}
END_TEST

START_TEST(a_chain_of_ten_thousand_ends_in_a_rank_that_runs)
{
    struct crowd c = {.first = 5, .step = 1, .n = 10000, .shuffle = 1};
    struct waits *w = run(&c);
    struct waits_end end;

    ck_assert_int_eq(c.found, 0);
    ck_assert(ftree_waits_end_at(w, 0, &end));
    ck_assert_int_eq(end.rank, SIZE - 1);
    ck_assert_int_eq(end.count, 10000);
    ck_assert_int_le(c.k.bytes, 64LL * LEVELS * c.n);
    ck_assert_int_le(c.k.most, 8000); /* neighbours are told in runs */
    ftree_waits_destroy(w);
}
END_TEST

/* ---- all wait for one ------------------------------------------------------------------------ */

static bool tell_storm(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    const struct crowd *c = ctx;

    (void) thread;
    waiters_begin(&c->k, r, rank, CALL);
    if (rank != c->first)
        waiters_add(r, WAITS_RECV, c->first, 7);
    else if (c->closed)
        waiters_add(r, WAITS_RECV, WAITS_ANY, 7);
    return rank != c->first || c->closed;
}

START_TEST(a_storm_to_one_rank_is_one_item)
{
    struct crowd c = {.first = 70000};
    struct waits *w;

    waiters_init(&c.k, SIZE, SIZE, FANOUT);
    c.k.record = tell_storm;
    c.k.ctx = &c;
    w = waiters_reduce(&c.k);
    /* that rank says nothing: all are undecided; the root gets less than a message of a child */
    ck_assert_int_le(c.k.most, FANOUT * 200);
    ftree_waits_destroy(w);
    c.closed = true;
    c.k.reduced = hear;
    c.n = SIZE;
    c.first = 0;
    c.step = 1;
    w = waiters_reduce(&c.k);
    ck_assert_int_eq(c.found, 1);
    ck_assert_int_eq(c.of, SIZE);
    ck_assert_int_eq(c.node, 0); /* any of all may send: only the root knows all */
    ck_assert_int_le(c.k.most, FANOUT * 200);
    ftree_waits_destroy(w);
}
END_TEST

/* ---- one is missing in a collective ---------------------------------------------------------- */

static bool tell_collective(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    const struct crowd *c = ctx;

    (void) thread;
    waiters_begin(&c->k, r, rank, CALL);
    r->comm[0].last = (struct waits_collective){
        .begun = rank == c->first ? 8 : 9, .call = 5, .root = FTREE_NONE, .bytes = 8};
    if (rank == c->first) {
        waiters_add(r, WAITS_RECV, 0, 7);
    } else {
        waiters_add(r, WAITS_COLLECTIVE, FTREE_NONE, 0);
        r->request[0].number = 9;
    }
    return true;
}

START_TEST(one_that_is_missing_in_a_collective_of_all_is_found)
{
    struct crowd c = {.first = 77777, .step = 1, .n = SIZE};
    struct waits *w;
    struct waits_core core;

    waiters_init(&c.k, SIZE, SIZE, FANOUT);
    c.k.record = tell_collective;
    c.k.ctx = &c;
    w = waiters_reduce(&c.k);
    ck_assert(ftree_waits_core_at(w, 0, &core));
    ck_assert_int_eq(core.ranks, 2);
    ck_assert_int_eq(core.rank[0], 0);
    ck_assert_int_eq(core.rank[1], c.first);
    ck_assert(core.collective);
    ck_assert_int_eq(ftree_waits_victims(w, core.id), SIZE - 2);
    ck_assert_int_le(c.k.most, FANOUT * 200);
    ftree_waits_destroy(w);
}
END_TEST

SUITE("waits_large")
{
    TEST_ROWS(a_ring_or_knot_is_found_once_and_whole, COUNT(closed));
    TEST(a_chain_of_ten_thousand_ends_in_a_rank_that_runs);
    TEST(a_storm_to_one_rank_is_one_item);
    TEST(one_that_is_missing_in_a_collective_of_all_is_found);
}
