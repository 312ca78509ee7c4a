/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Collectives that do not match: the few against the many, wherever in the tree they are. */

#include "suite.h"
#include "waiters.h"

#define SIZE 24
#define BCAST 11
#define REDUCE 12

/* All ranks are in the 5th collective, an Allreduce of 8 bytes, as the 4th was, but for what a row
 * says of some. */
struct odd {
    int32_t rank;
    struct waits_collective last;
    uint32_t before; /* which function the one before was, unless 0 */
    uint32_t members; /* of its communicator: it had the context before, unless 0 */
};

static const struct waits_collective usual = {
    .begun = 5, .call = REDUCE, .op = 3, .root = FTREE_NONE, .bytes = 8, .blocking = true};

struct story {
    struct waiters k;
    const struct odd *odd;
    int odds;
    int32_t silent; /* this rank says nothing */
};

static bool tell(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    const struct story *s = ctx;
    struct waits_request *q;

    (void) thread;
    waiters_begin(&s->k, r, rank, REDUCE);
    r->comm[0].last = r->comm[0].before = usual;
    for (int i = 0; i < s->odds; i++) {
        if (s->odd[i].rank != rank)
            continue;
        r->comm[0].last = s->odd[i].last;
        r->comm[0].key.members = s->odd[i].members;
        if (s->odd[i].before)
            r->comm[0].before.call = s->odd[i].before;
    }
    r->comm[0].before.begun = r->comm[0].last.begun - 1;
    q = waiters_add(r, WAITS_COLLECTIVE, FTREE_NONE, 0);
    q->number = r->comm[0].last.begun;
    return rank != s->silent;
}

static int32_t rank_node[SIZE];

static struct waits *run(struct story *s, const struct odd *odd, int odds)
{
    s->odd = odd;
    s->odds = odds;
    waiters_init(&s->k, SIZE, 12, 2);
    for (int32_t r = 0; r < SIZE; r++)
        rank_node[r] = r % 12;
    s->k.rank_node = rank_node;
    s->k.record = tell;
    s->k.ctx = s;
    return waiters_reduce(&s->k);
}

#define ODD(field, value) \
    { \
        .begun = 5, .call = REDUCE, .op = 3, .root = FTREE_NONE, .bytes = 8, .blocking = true, \
        .field = value \
    }
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct odd rows[] = {
    {17, ODD(call, BCAST)}, {17, ODD(root, 2)},        {0, ODD(bytes, 16)},
    {23, ODD(op, 4)},       {1, ODD(blocking, false)},
};

TEST_CASES(one_that_differs_is_the_few, COUNT(rows))
{
    struct story s = {.silent = FTREE_NONE};
    struct waits *w = run(&s, &rows[_i], 1);
    struct waits_mismatch m;

    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_eq(m.size, SIZE);
    ck_assert_int_eq(m.reported, SIZE);
    ck_assert_int_eq(m.classes, 2);
    ck_assert_int_eq(m.class_[0].count, SIZE - 1);
    ck_assert_int_eq(m.class_[0].ranks.count, SIZE - 1);
    ck_assert_int_eq(m.class_[1].count, 1);
    ck_assert_int_eq(m.class_[1].example, rows[_i].rank);
    ck_assert_int_eq(m.class_[1].ranks.range[0].first, rows[_i].rank);
    ck_assert(!ftree_waits_mismatch_at(w, 1, &m));
    ftree_waits_destroy(w);
}

TEST_CASE(equal_collectives_are_no_mismatch)
{
    struct story s = {.silent = FTREE_NONE};
    struct waits *w = run(&s, NULL, 0);
    struct waits_mismatch m;
    int32_t of;

    ck_assert(!ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_eq(ftree_waits_of(w, 7, &of), WAITS_FREE);
    ftree_waits_destroy(w);
}

/* Another position is a wait for who is behind, not another operation. */
TEST_CASE(one_that_is_behind_is_no_mismatch_of_operations)
{
    static const struct odd behind[] = {{3, ODD(begun, 4)}};
    struct story s = {.silent = FTREE_NONE};
    struct waits *w = run(&s, behind, 1);
    struct waits_mismatch m;

    ck_assert(!ftree_waits_mismatch_at(w, 0, &m));
    ftree_waits_destroy(w);
}

/* It has freed one of which it was a member, and others have its context now. */
TEST_CASE(one_of_other_members_is_another_communicator)
{
    static const struct odd freed[] = {{17, ODD(call, BCAST), .members = 7}};
    struct story s = {.silent = FTREE_NONE};
    struct waits *w = run(&s, freed, 1);
    struct waits_mismatch m;
    int32_t of;

    ck_assert(!ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_ne(ftree_waits_of(w, 7, &of), WAITS_BLOCKED);
    ftree_waits_destroy(w);
}

/* Where somebody has not spoken a node above may know better. */
TEST_CASE(it_says_how_many_have_spoken)
{
    struct story s = {.silent = 9};
    struct waits *w = run(&s, rows, 1);
    struct waits_mismatch m;

    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_eq(m.size, SIZE);
    ck_assert_int_eq(m.reported, SIZE - 1);
    ftree_waits_destroy(w);
}

TEST_CASE(of_many_classes_the_largest_are_named)
{
    static const struct odd many[] = {{1, ODD(bytes, 1)}, {2, ODD(bytes, 2)}, {3, ODD(bytes, 2)},
                                      {4, ODD(bytes, 3)}, {5, ODD(bytes, 4)}, {6, ODD(bytes, 4)},
                                      {7, ODD(bytes, 4)}, {8, ODD(bytes, 5)}};
    struct story s = {.silent = FTREE_NONE};
    struct waits *w = run(&s, many, COUNT(many));
    struct waits_mismatch m;

    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_eq(m.classes, 6);
    ck_assert_int_eq(m.class_[0].count, 16);
    ck_assert_int_eq(m.class_[1].count, 3);
    ck_assert_int_eq(m.class_[1].did.bytes, 4);
    ck_assert_int_eq(m.class_[2].count, 2);
    ck_assert_int_eq(m.class_[3].count, 1);
    ftree_waits_destroy(w);
}

/* What those who have gone on did where others still are is known. */
TEST_CASE(one_that_has_gone_on_did_another)
{
    static const struct odd ahead[] = {{3, ODD(begun, 6), BCAST}, {17, ODD(begun, 6), REDUCE}};
    struct story s = {.silent = FTREE_NONE};
    struct waits *w = run(&s, ahead, 2);
    struct waits_mismatch m;

    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_eq(m.reported, SIZE);
    ck_assert_int_eq(m.classes, 2);
    ck_assert_int_eq(m.class_[0].count, SIZE - 1);
    ck_assert_int_eq(m.class_[0].gone, 1);
    ck_assert_int_eq(m.class_[1].count, 1);
    ck_assert_int_eq(m.class_[1].gone, 1);
    ck_assert_int_eq(m.class_[1].example, 3);
    ck_assert_int_eq(m.class_[1].did.call, BCAST);
    ck_assert_int_eq(m.class_[1].did.begun, 5);
    ck_assert(!ftree_waits_mismatch_at(w, 1, &m));
    ftree_waits_destroy(w);
}

TEST_CASE(most_that_have_gone_on_are_the_many)
{
    struct odd ahead[SIZE - 1];
    struct story s = {.silent = FTREE_NONE};
    struct waits_mismatch m;
    struct waits *w;

    for (int32_t r = 1; r < SIZE; r++)
        ahead[r - 1] = (struct odd){r, ODD(begun, 6), BCAST};
    w = run(&s, ahead, SIZE - 1);
    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_eq(m.class_[0].count, SIZE - 1);
    ck_assert_int_eq(m.class_[0].gone, SIZE - 1);
    ck_assert_int_eq(m.class_[1].example, 0);
    ck_assert_int_eq(m.class_[1].gone, 0);
    ftree_waits_destroy(w);
}

/* What all have left behind holds nobody up, nor is the last but two known. */
static const struct odd over[][SIZE] = {
    {{3, ODD(begun, 5), BCAST}},
    {{3, ODD(begun, 7), BCAST}},
    {{3, ODD(begun, 6)}},
};

TEST_CASES(what_is_over_for_all_or_not_known_is_no_mismatch, COUNT(over))
{
    struct story s = {.silent = FTREE_NONE};
    struct waits *w = run(&s, over[_i], 1);
    struct waits_mismatch m;

    ck_assert(!ftree_waits_mismatch_at(w, 0, &m));
    ftree_waits_destroy(w);
}

/* A rank is told by its own node, and by the one that has asked it, at another time. */
TEST_CASE(of_what_a_rank_has_said_the_newest_counts)
{
    static const struct {
        int32_t rank;
        uint32_t begun, call, before;
    } said[] = {{0, 5, REDUCE, REDUCE}, {1, 5, REDUCE, REDUCE}, {2, 5, BCAST, REDUCE},
                {0, 5, REDUCE, REDUCE}, {1, 6, BCAST, REDUCE},  {2, 6, BCAST, BCAST}};
    struct waits_mismatch m;
    struct waits_record r;
    struct waiters k;
    struct waits *w;

    waiters_init(&k, 4, 1, 2);
    w = ftree_waits_create(&k.ft);
    for (int i = 0; i < COUNT(said); i++) {
        waiters_begin(&k, &r, said[i].rank, said[i].call);
        r.comm[0].last = r.comm[0].before = usual;
        r.comm[0].last.begun = said[i].begun;
        r.comm[0].last.call = said[i].call;
        r.comm[0].before.begun = said[i].begun - 1;
        r.comm[0].before.call = said[i].before;
        ck_assert_int_eq(ftree_waits_add(w, &r), FTREE_OK);
    }
    ck_assert_int_eq(ftree_waits_reduce(w, true), FTREE_OK);
    ck_assert(ftree_waits_mismatch_at(w, 0, &m));
    ck_assert_int_eq(m.reported, 3);
    ck_assert_int_eq(m.class_[0].count, 2);
    ck_assert_int_eq(m.class_[0].gone, 1);
    ck_assert_int_eq(m.class_[1].count, 1);
    ck_assert_int_eq(m.class_[1].gone, 1);
    ftree_waits_destroy(w);
}

/* The communicators of one thread are none of another's. */
static void add_thread(struct waits *w, const struct waiters *k, int32_t rank, uint8_t thread)
{
    struct waits_record r;

    waiters_begin(k, &r, rank, BCAST);
    r.thread = thread;
    r.threads = WAITS_THREADS_MAX;
    r.comm[0].last = usual;
    r.comm[0].last.call = rank == 1 ? REDUCE : BCAST;
    for (r.comms = 1; r.comms < WAITS_COMMS_MAX; r.comms++)
        r.comm[r.comms] = r.comm[0];
    for (int32_t i = 0; i < r.comms; i++)
        r.comm[i].key.context = (uint32_t) (thread * WAITS_COMMS_MAX + i);
    ck_assert_int_eq(ftree_waits_add(w, &r), FTREE_OK);
}

TEST_CASE(each_thread_has_communicators_of_its_own)
{
    struct waits_mismatch m;
    struct waiters k;
    struct waits *w;

    waiters_init(&k, 4, 1, 2);
    w = ftree_waits_create(&k.ft);
    for (int32_t rank = 0; rank < 4; rank++)
        for (uint8_t thread = 0; thread < WAITS_THREADS_MAX; thread++)
            add_thread(w, &k, rank, thread);
    ck_assert_int_eq(ftree_waits_reduce(w, true), FTREE_OK);
    for (int32_t i = 0; i < WAITS_THREADS_MAX * WAITS_COMMS_MAX; i++) {
        ck_assert(ftree_waits_mismatch_at(w, i, &m));
        ck_assert_int_eq(m.class_[1].example, 1);
    }
    ck_assert(!ftree_waits_mismatch_at(w, WAITS_THREADS_MAX * WAITS_COMMS_MAX, &m));
    ftree_waits_destroy(w);
}
