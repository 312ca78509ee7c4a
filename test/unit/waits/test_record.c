/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Records and items on the wire: they come back as they were, they are bounded, and whatever a peer
 * sends instead is refused, or is something that could have been said.
 */

#include "suite.h"
#include "waiters.h"

#define SIZE 64
#define CHANGES 20000

static const struct ftree_job job = {.nodes = SIZE, .size = SIZE, .fanout = 2};

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) ((state >> 33) % below);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void make_full_comm(struct waits_comm *c, int i)
{
    memset(c, 0, sizeof(*c));
    c->key = (struct waits_key){
        .context = UINT32_MAX - (uint32_t) i, .first = SIZE - 1, .members = UINT32_MAX - 7};
    memset(c->name, 'x', sizeof(c->name) - 1);
    c->runs = WAITS_RUNS_MAX;
    for (int k = 0; k < c->runs; k++)
        c->run[k] = (struct waits_run){.first = 2 * k, .step = 30, .count = 2};
    c->size = 2 * c->runs;
    c->last = (struct waits_collective){.begun = UINT32_MAX,
                                        .call = 0xffffff,
                                        .op = UINT32_MAX,
                                        .root = INT32_MIN,
                                        .bytes = WAITS_NO_BYTES - 1,
                                        .blocking = true};
    c->before = c->last;
    c->before.begun--;
    c->before.call = (uint32_t) (0xfffff0 + i); /* another */
}

static void make_full(struct waits_record *r)
{
    memset(r, 0, sizeof(*r));
    r->rank = SIZE - 1;
    r->thread = WAITS_THREADS_MAX - 1;
    r->threads = 255;
    r->state = WAITS_WAITING;
    r->mode = WAITS_FOR_ONE;
    r->more = r->polls = true;
    r->call = 0xffffff;
    r->stamp = r->switches = UINT64_MAX;
    r->requests = WAITS_REQUESTS_MAX;
    for (int i = 0; i < r->requests; i++) {
        struct waits_request *q = &r->request[i];
        q->kind = (uint8_t) (i % WAITS_KIND_COUNT);
        q->fate = (uint8_t) (i % WAITS_FATE_COUNT);
        q->comm = WAITS_COMMS_MAX - 1;
        q->peer = i % 5 == 4 ? WAITS_ANY : i % 5 == 3 ? FTREE_NONE : SIZE - 1;
        if (q->kind == WAITS_COLLECTIVE) {
            q->number = UINT32_MAX;
            continue;
        }
        q->tag = i % 2 ? INT32_MIN : INT32_MAX;
        q->bytes = UINT64_MAX;
    }
    r->comms = WAITS_COMMS_MAX;
    for (int i = 0; i < r->comms; i++)
        make_full_comm(&r->comm[i], i);
}

static void make_plain(struct waits_record *r)
{
    memset(r, 0, sizeof(*r));
    r->rank = 3;
    r->state = WAITS_WAITING;
    r->mode = WAITS_FOR_ALL;
    r->call = 12345;
    r->stamp = 1000;
    r->requests = r->comms = 1;
    r->request[0] = (struct waits_request){
        .kind = WAITS_RECV, .fate = WAITS_OPEN, .peer = 5, .tag = 7, .bytes = 8000};
    r->comm[0] = (struct waits_comm){.key = {.context = 4},
                                     .size = SIZE,
                                     .name = "MPI_COMM_WORLD",
                                     .runs = 1,
                                     .run = {{.step = 1, .count = SIZE}}};
}

/* From a copy of the exact length, so that the sanitizers see a read behind it. */
static int read_record(const uint8_t *bytes, size_t len, struct waits_record *r, size_t *used)
{
    uint8_t *exact = malloc(len ? len : 1);
    int rc;

    memcpy(exact, bytes, len);
    rc = waiters_get(&job, exact, len, r, used);
    free(exact);
    return rc;
}

/* ---- records --------------------------------------------------------------------------------- */

/* In a loop the collective before is the same. */
static void make_loop(struct waits_record *r)
{
    make_plain(r);
    r->comm[0].last = (struct waits_collective){.begun = 9, .call = 7, .bytes = 8};
    r->comm[0].before = r->comm[0].last;
    r->comm[0].before.begun = 8;
}

static void (*const samples[])(struct waits_record *) = {make_plain, make_full, make_loop};

TEST_CASES(a_record_comes_back_as_it_was, COUNT(samples))
{
    uint8_t bytes[FTREE_MESSAGE_MAX];
    struct waits_record r, again;
    size_t len, used;

    samples[_i](&r);
    ck_assert_ptr_null(ftree_waits_record_check(&job, &r));
    len = waiters_put(&job, &r, bytes);
    ck_assert_uint_gt(len, 0);
    ck_assert_uint_le(len, FTREE_MESSAGE_MAX - 64);
    ck_assert_int_eq(read_record(bytes, len, &again, &used), FTREE_OK);
    ck_assert_uint_eq(used, len);
    ck_assert(ftree_waits_unchanged(&r, &again));
    ck_assert_mem_eq(&r, &again, sizeof(r));
}

TEST_CASE(a_message_has_room_for_many)
{
    uint8_t bytes[FTREE_MESSAGE_MAX];
    struct waits_record r;

    make_plain(&r);
    ck_assert_uint_le(60 * waiters_put(&job, &r, bytes), FTREE_MESSAGE_MAX - 64);
}

TEST_CASES(a_record_that_is_cut_is_refused, COUNT(samples))
{
    uint8_t bytes[FTREE_MESSAGE_MAX];
    struct waits_record r, again;
    size_t len, used;

    samples[_i](&r);
    len = waiters_put(&job, &r, bytes);
    for (size_t cut = 0; cut < len; cut++)
        REQUIRE(read_record(bytes, cut, &again, &used) == FTREE_ERR_MALFORMED);
}

TEST_CASES(a_record_that_is_changed_is_refused_or_in_bounds, COUNT(samples))
{
    uint8_t bytes[FTREE_MESSAGE_MAX], changed[FTREE_MESSAGE_MAX];
    struct waits_record r, again;
    size_t len, used;

    samples[_i](&r);
    len = waiters_put(&job, &r, bytes);
    for (int i = 0; i < CHANGES; i++) {
        memcpy(changed, bytes, len);
        for (uint32_t k = 1 + draw(3); k > 0; k--)
            changed[draw((uint32_t) len)] = (uint8_t) draw(256);
        if (read_record(changed, len, &again, &used) != FTREE_OK)
            continue;
        REQUIRE(!ftree_waits_record_check(&job, &again) && used <= len);
    }
}

TEST_CASE(a_record_out_of_bounds_is_not_added)
{
    static const struct ftree_io io;
    struct ftree ft = {.job = &job, .io = &io};
    struct waits *w = ftree_waits_create(&ft);
    struct waits_record r;

    make_plain(&r);
    r.request[0].peer = SIZE;
    ck_assert_int_eq(ftree_waits_add(w, &r), FTREE_ERR_INVALID);
    make_plain(&r);
    r.comm[0].run[0].count = SIZE + 1;
    ck_assert_int_eq(ftree_waits_add(w, &r), FTREE_ERR_INVALID);
    make_plain(&r);
    ck_assert_int_eq(ftree_waits_add(w, &r), FTREE_OK);
    ftree_waits_destroy(w);
}

TEST_CASE(two_looks_are_compared_by_their_stamps)
{
    struct waits_record a, b;

    make_plain(&a);
    make_plain(&b);
    ck_assert(ftree_waits_unchanged(&a, &b));
    b.request[0].fate = WAITS_COMES; /* others say that, not the rank */
    ck_assert(ftree_waits_unchanged(&a, &b));
    b.call++;
    ck_assert(!ftree_waits_unchanged(&a, &b));
    a.threads = b.threads = 2; /* the call may be another thread's */
    ck_assert(ftree_waits_unchanged(&a, &b));
    b.switches++;
    ck_assert(!ftree_waits_unchanged(&a, &b));
    a.switches = b.switches;
    b.stamp++;
    ck_assert(!ftree_waits_unchanged(&a, &b));
}

/* ---- members --------------------------------------------------------------------------------- */

/* Each of `runs` runs is made of `count` ranks, `step` apart, and the whole of as many members. */
static const struct {
    int32_t rank[8], ranks;
    int32_t runs;
    struct waits_run run[4];
} members[] = {
    {{0}, 1, 1, {{0, 1, 1}}},
    {{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1, {{0, 1, 8}}},
    {{3, 1, 0}, 3, 2, {{1, 2, 2}, {0, 1, 1}}},
    {{9, 7, 5, 3}, 4, 1, {{3, 2, 4}}},
    {{4, 8, 12, 13, 14, 15}, 6, 2, {{4, 4, 3}, {13, 1, 3}}},
    {{0, 5, 1, 6, 2, 7}, 6, 3, {{0, 5, 2}, {1, 5, 2}, {2, 5, 2}}},
};

TEST_CASES(members_become_runs, COUNT(members))
{
    struct waits_comm c = {.key = {.context = 4}, .size = members[_i].ranks, .name = "x"};

    for (int32_t i = 0; i < members[_i].ranks; i++)
        ck_assert(ftree_waits_add_member(&c, members[_i].rank[i]));
    ck_assert_int_eq(c.runs, members[_i].runs);
    ck_assert_mem_eq(c.run, members[_i].run, (size_t) c.runs * sizeof(*c.run));
}

TEST_CASE(members_in_no_order_fit_or_are_not_told)
{
    for (int32_t ranks = 1; ranks <= SIZE; ranks++) {
        struct waits_comm c = {.size = ranks};
        uint64_t told = 0, all = 0;
        bool fits = true;
        while (all != (ranks == SIZE ? UINT64_MAX : ((uint64_t) 1 << ranks) - 1)) {
            int32_t rank = (int32_t) draw((uint32_t) ranks);
            if (all >> rank & 1)
                continue;
            all |= (uint64_t) 1 << rank;
            fits = ftree_waits_add_member(&c, rank);
        }
        ck_assert(fits || ranks > 2 * WAITS_RUNS_MAX);
        ck_assert(fits == (c.runs > 0));
        ftree_waits_end_members(&c);
        ck_assert(c.runs >= 0 && fits == (c.runs > 0));
        for (int32_t i = 0; i < c.runs; i++)
            for (int32_t k = 0; k < c.run[i].count; k++)
                told |= (uint64_t) 1 << (c.run[i].first + k * c.run[i].step);
        ck_assert(!fits || told == all);
    }
}

static uint32_t hash_of(const int32_t *rank, int32_t n)
{
    struct waits_comm c = {.size = n};

    for (int32_t i = 0; i < n; i++)
        (void) ftree_waits_add_member(&c, rank[i]);
    ftree_waits_end_members(&c);
    return c.key.members;
}

TEST_CASE(other_members_have_another_key)
{
    const int sets = sizeof(members) / sizeof(members[0]);

    for (int i = 0; i < sets; i++)
        for (int k = 0; k < sets; k++)
            ck_assert((hash_of(members[i].rank, members[i].ranks) ==
                       hash_of(members[k].rank, members[k].ranks)) == (i == k));
}

/* ---- items ----------------------------------------------------------------------------------- */

static bool tell(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    const struct waiters *k = ctx;

    waiters_begin(k, r, rank, 9);
    r->comm[0].last = (struct waits_collective){.begun = 2 + (uint32_t) rank % 3 / 2, .call = 7};
    r->mode = rank % 7 ? WAITS_FOR_ALL : WAITS_FOR_ONE;
    waiters_add(r, WAITS_RECV, rank % 5 ? (rank + 1) % SIZE : WAITS_ANY, 7);
    if (rank % 3 == 0)
        waiters_add(r, WAITS_RECV, 0, 7)->fate = rank % 2 ? WAITS_OPEN : WAITS_UNKNOWN;
    if (rank % 4 == 0)
        *waiters_add(r, WAITS_COLLECTIVE, rank % 8 ? FTREE_NONE : 1, 0) = (struct waits_request){
            .kind = WAITS_COLLECTIVE, .peer = rank % 8 ? FTREE_NONE : 1, .number = 2};
    if (rank % 11 == 0)
        r->state = WAITS_FINALIZING;
    if (rank == 50)
        r->request[0].peer = 50;
    r->polls = rank % 9 == 0;
    r->threads = rank % 10 ? 1 : 2;
    r->thread = (uint8_t) thread;
    return rank % 13 != 0;
}

static struct ftree_bytes make_items(struct waiters *k)
{
    struct ftree_bytes items = {0};
    struct waits *w;

    waiters_init(k, SIZE, 8, 2);
    static int32_t rank_node[SIZE];
    for (int32_t r = 0; r < SIZE; r++)
        rank_node[r] = r / 8;
    k->rank_node = rank_node;
    k->record = tell;
    k->ctx = k;
    w = waiters_reduce(k);
    ck_assert(ftree_waits_items(w, &items));
    ftree_waits_destroy(w);
    return items;
}

static int try_items(struct waiters *k, const uint8_t *bytes, size_t len, struct ftree_bytes *again)
{
    struct waits *w = ftree_waits_create(&k->ft);
    uint8_t *exact = malloc(len ? len : 1);
    struct waits_mismatch m;
    int32_t order[SIZE];
    int rc;

    memcpy(exact, bytes, len);
    rc = ftree_waits_merge(w, exact, len);
    free(exact);
    REQUIRE(ftree_waits_reduce(w, true) == FTREE_OK); /* of what was merged until then */
    struct waits_core core;
    for (int32_t i = 0; ftree_waits_core_at(w, i, &core); i++) {
        REQUIRE(core.ranks >= 1 && core.ranks <= SIZE);
        REQUIRE(ftree_waits_order(w, i, order) >= 1);
    }
    ftree_waits_mismatch_at(w, 0, &m);
    again->n = 0;
    REQUIRE(ftree_waits_items(w, again));
    ftree_waits_destroy(w);
    return rc;
}

TEST_CASE(items_come_back_as_they_were)
{
    struct waiters k;
    struct ftree_bytes bytes = make_items(&k), again = {0};

    ck_assert_int_gt(bytes.n, 100);
    ck_assert_int_eq(try_items(&k, bytes.items, (size_t) bytes.n, &again), FTREE_OK);
    ck_assert_int_eq(again.n, bytes.n);
    ck_assert_mem_eq(again.items, bytes.items, (size_t) bytes.n);
    free(bytes.items);
    free(again.items);
}

TEST_CASE(items_that_are_changed_do_no_harm)
{
    uint8_t changed[FTREE_MESSAGE_MAX];
    struct waiters k;
    struct ftree_bytes bytes = make_items(&k), again = {0};
    size_t len = (size_t) bytes.n;
    int refused = 0;

    REQUIRE(len <= sizeof(changed));
    for (int i = 0; i < CHANGES / 4; i++) {
        memcpy(changed, bytes.items, len);
        for (uint32_t n = 1 + draw(4); n > 0; n--)
            changed[draw((uint32_t) len)] = (uint8_t) draw(256);
        refused += try_items(&k, changed, len, &again) != FTREE_OK;
    }
    ck_assert_int_gt(refused, CHANGES / 40);
    for (size_t cut = 0; cut < len; cut++)
        try_items(&k, bytes.items, cut, &again);
    free(bytes.items);
    free(again.items);
}

/* All ranks, again and again: it is not believed, and takes no memory without end. */
TEST_CASE(more_ranks_than_there_are_are_refused)
{
    uint8_t item[] = {2, 0, SIZE * 2 % 128 | 128, SIZE * 2 / 128, 2, WAITS_DONE, 0}, many[700];
    struct waiters k;
    struct waits *w;
    int rc = FTREE_OK, i;

    waiters_init(&k, SIZE, SIZE, 2);
    w = ftree_waits_create(&k.ft);
    for (i = 0; i < 100; i++)
        memcpy(many + (size_t) i * sizeof(item), item, sizeof(item));
    ck_assert_int_eq(ftree_waits_merge(w, many, sizeof(item)), FTREE_OK);
    for (i = 0; i < WAITS_THREADS_MAX + 1 && !rc; i++)
        rc = ftree_waits_merge(w, many, sizeof(item));
    ck_assert_int_eq(rc, FTREE_ERR_MALFORMED);
    ftree_waits_destroy(w);
}
