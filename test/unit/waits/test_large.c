/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Rings, knots, chains and storms in a job of 100,000 nodes: they are found, exactly, and what goes
 * up the tree is bounded by those involved.
 *
 *     test/unit/waits/test_large --figures
 *
 * prints what goes up among 1,000,000 nodes.
 */

#include "suite.h"
#include "waiters.h"

#define FANOUT 32
#define LEVELS 4 /* of the tree */
#define CALL 3

enum shape {
    RING,
    KNOT, /* each waits for one of two */
    CHAIN, /* as a ring, but the last waits for a rank that runs */
    STORM, /* all wait for the last rank of the job, which says nothing */
    ANY_SOURCE, /* all wait for the first, and that for any */
    COLLECTIVE, /* all are in it but one, which waits for the first */
    ABSENT /* all are in it but one, which says nothing */
};

/* Ranks first, first + step, ..., n of them, that wait for each other in some order. */
struct crowd {
    const char *what;
    enum shape shape;
    int32_t first, step, n;
    bool shuffled; /* else in the order of their numbers */
    struct waiters k;
    int32_t *order, *place; /* [n] which is the i-th, and the inverse */
    int32_t found, of, node; /* cores, the ranks of the last one, and where that was */
};

static int32_t size = 100000;

/* ---- telling --------------------------------------------------------------------------------- */

static int32_t index_of(const struct crowd *c, int32_t rank)
{
    int32_t from = rank - c->first;

    return from >= 0 && from % c->step == 0 && from / c->step < c->n ? from / c->step : -1;
}

/* The one that is so many places behind a rank. */
static int32_t behind(const struct crowd *c, int32_t index, int32_t places)
{
    return c->first + c->order[(c->place[index] + places) % c->n] * c->step;
}

static void tell_order(const struct crowd *c, int32_t index, struct waits_record *r)
{
    if (c->shape == CHAIN && c->place[index] == c->n - 1) {
        waiters_add(r, WAITS_RECV, size - 1, 7)->fate = WAITS_COMES;
        return;
    }
    waiters_add(r, WAITS_RECV, behind(c, index, 1), 7);
    if (c->shape != KNOT)
        return;
    r->mode = WAITS_FOR_ONE;
    waiters_add(r, WAITS_RECV, behind(c, index, c->n - 1), 7);
}

static void tell_collective(const struct crowd *c, int32_t index, struct waits_record *r)
{
    bool missing = index == c->n / 2;

    r->comm[0].last = (struct waits_collective){
        .begun = missing ? 8 : 9, .call = 5, .root = FTREE_NONE, .bytes = 8};
    if (missing)
        waiters_add(r, WAITS_RECV, c->first, 7);
    else
        waiters_add(r, WAITS_COLLECTIVE, FTREE_NONE, 0)->number = 9;
}

static bool tell(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    const struct crowd *c = ctx;
    int32_t index = index_of(c, rank);

    (void) thread;
    if (index < 0 || (c->shape == ABSENT && index == c->n / 2))
        return false;
    waiters_begin(&c->k, r, rank, CALL);
    if (c->shape == STORM)
        waiters_add(r, WAITS_RECV, size - 1, 7);
    else if (c->shape == ANY_SOURCE)
        waiters_add(r, WAITS_RECV, index == 0 ? WAITS_ANY : c->first, 7);
    else if (c->shape >= COLLECTIVE)
        tell_collective(c, index, r);
    else
        tell_order(c, index, r);
    return true;
}

/* ---- running --------------------------------------------------------------------------------- */

static void hear(void *ctx, int32_t node, const struct waits *w)
{
    struct crowd *c = ctx;
    struct waits_core core;

    for (int32_t i = 0; ftree_waits_core_at(w, i, &core); i++) {
        c->found++;
        c->of = core.ranks;
        c->node = node;
        for (int32_t k = 0; k < core.ranks; k++)
            REQUIRE(index_of(c, core.rank[k]) >= 0);
    }
}

static void put_in_order(struct crowd *c)
{
    uint64_t state = 1;

    c->order = malloc((size_t) c->n * sizeof(*c->order));
    c->place = malloc((size_t) c->n * sizeof(*c->place));
    for (int32_t i = 0; i < c->n; i++)
        c->order[i] = i;
    for (int32_t i = c->n - 1; i > 0 && c->shuffled; i--) {
        int32_t other, swapped = c->order[i];
        state = state * 6364136223846793005u + 1442695040888963407u;
        other = (int32_t) ((state >> 33) % (uint64_t) (i + 1));
        c->order[i] = c->order[other];
        c->order[other] = swapped;
    }
    for (int32_t i = 0; i < c->n; i++)
        c->place[c->order[i]] = i;
}

static struct waits *run(struct crowd *c)
{
    struct waits *w;

    waiters_init(&c->k, size, size, FANOUT);
    c->k.record = tell;
    c->k.reduced = hear;
    c->k.ctx = c;
    put_in_order(c);
    w = waiters_reduce(&c->k);
    free(c->order);
    free(c->place);
    return w;
}

/* A message from each node above one that is involved, and the bytes of their waits. */
static void expect_linear(const struct crowd *c)
{
    ck_assert_int_le(c->k.messages, (int64_t) LEVELS * c->n);
    ck_assert_int_le(c->k.bytes, 64LL * LEVELS * c->n);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const struct crowd closed[] = {
    {.shape = RING, .first = 40, .step = 1, .n = 2},
    {.shape = RING, .first = 40, .step = 1, .n = 1000},
    {.shape = RING, .first = 7, .step = 99, .n = 1000},
    {.shape = RING, .first = 7, .step = 99, .n = 1000, .shuffled = true},
    {.shape = RING, .first = 40, .step = 1, .n = 1000, .shuffled = true},
    {.shape = RING, .first = 99000, .step = 1, .n = 997},
    {.shape = KNOT, .first = 40, .step = 1, .n = 3},
    {.shape = KNOT, .first = 40, .step = 1, .n = 1000},
    {.shape = KNOT, .first = 7, .step = 99, .n = 1000},
    {.shape = KNOT, .first = 7, .step = 99, .n = 1000, .shuffled = true},
};

TEST_CASES(a_ring_or_knot_is_found_once_and_whole, COUNT(closed))
{
    struct crowd c = closed[_i];
    struct waits *w = run(&c);

    ck_assert_int_eq(c.found, 1);
    ck_assert_int_eq(c.of, c.n);
    expect_linear(&c);
    ftree_waits_destroy(w);
}

TEST_CASES(a_chain_of_ten_thousand_ends_in_a_rank_that_runs, 2)
{
    struct crowd c = {.shape = CHAIN, .first = 5, .step = 1, .n = 10000, .shuffled = _i};
    struct waits *w = run(&c);
    int32_t of;

    ck_assert_int_eq(c.found, 0);
    ck_assert_int_eq(ftree_waits_of(w, c.first, &of), WAITS_FREE);
    expect_linear(&c);
    if (!c.shuffled)
        ck_assert_int_le(c.k.most, 8000); /* neighbours are told in runs */
    ftree_waits_destroy(w);
}

/* Nothing is decided, and the root gets less than a message of a child. */
TEST_CASE(a_storm_to_one_rank_is_one_item)
{
    struct crowd c = {.shape = STORM, .step = 1, .n = size - 1};
    struct waits *w = run(&c);

    ck_assert_int_eq(c.found, 0);
    ck_assert_int_le(c.k.most, FANOUT * 200);
    ftree_waits_destroy(w);
}

/* Any of all may send: only the root knows all. */
TEST_CASE(a_knot_of_any_source_is_found_by_the_root)
{
    struct crowd c = {.shape = ANY_SOURCE, .step = 1, .n = size};
    struct waits *w = run(&c);

    ck_assert_int_eq(c.found, 1);
    ck_assert_int_eq(c.of, size);
    ck_assert_int_eq(c.node, 0);
    ck_assert_int_le(c.k.most, FANOUT * 200);
    ftree_waits_destroy(w);
}

TEST_CASE(one_that_is_missing_in_a_collective_of_all_is_found)
{
    struct crowd c = {.shape = COLLECTIVE, .step = 1, .n = size};
    struct waits *w = run(&c);
    struct waits_core core;

    ck_assert(ftree_waits_core_at(w, 0, &core));
    ck_assert_int_eq(core.ranks, 2);
    ck_assert_int_eq(core.rank[0], 0);
    ck_assert_int_eq(core.rank[1], size / 2);
    ck_assert(core.collective);
    ck_assert_int_le(c.k.most, FANOUT * 200);
    ftree_waits_destroy(w);
}

/* Wherever it is among the members. */
TEST_CASE(one_that_does_not_come_to_a_collective_of_all_is_the_one_to_ask)
{
    struct crowd c = {.shape = ABSENT, .step = 1, .n = size};
    struct waits *w = run(&c);
    struct waits_end end[4];

    ck_assert_int_eq(c.found, 0);
    ck_assert_int_eq(ftree_waits_silent(w, end, COUNT(end)), 1);
    ck_assert_int_eq(end[0].rank, size / 2);
    ck_assert_int_eq(end[0].count, size - 1);
    ck_assert_int_eq(ftree_waits_count(w), size - 1);
    ftree_waits_destroy(w);
}

/* ---- figures --------------------------------------------------------------------------------- */

#define MANY 1000000

static int print_figures(void)
{
    static const struct crowd rows[] = {
        {.what = "ring of 2", .shape = RING, .first = 40, .step = 1, .n = 2},
        {.what = "ring of 1,000 neighbours", .shape = RING, .first = 40, .step = 1, .n = 1000},
        {.what = "ring of 1,000, scattered", .shape = RING, .first = 7, .step = 997, .n = 1000},
        {.what = "the same in random order",
         .shape = RING,
         .first = 7,
         .step = 997,
         .n = 1000,
         .shuffled = true},
        {.what = "knot of 1,000, scattered",
         .shape = KNOT,
         .first = 7,
         .step = 997,
         .n = 1000,
         .shuffled = true},
        {.what = "chain of 10,000 neighbours", .shape = CHAIN, .first = 5, .step = 1, .n = 10000},
        {.what = "chain of 10,000, scattered",
         .shape = CHAIN,
         .first = 5,
         .step = 99,
         .n = 10000,
         .shuffled = true},
        {.what = "all wait for one", .shape = STORM, .step = 1, .n = MANY - 1},
        {.what = "any source, and all others", .shape = ANY_SOURCE, .step = 1, .n = MANY},
        {.what = "one missing in a collective", .shape = COLLECTIVE, .step = 1, .n = MANY},
    };

    size = MANY;
    printf("%-28s %9s %10s %14s\n", "among 1,000,000 nodes", "messages", "bytes", "most at a node");
    for (int i = 0; i < COUNT(rows); i++) {
        struct crowd c = rows[i];
        ftree_waits_destroy(run(&c));
        printf("%-28s %9lld %10lld %14lld\n", c.what, (long long) c.k.messages,
               (long long) c.k.bytes, (long long) c.k.most);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--figures"))
        return print_figures();
    return suite_run();
}
