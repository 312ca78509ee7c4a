/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

/* Items on their way up, by a node between its children and its parent. */

#define SELF 1 /* of 40 nodes with one rank each, fan-out 4: parent 0, children 5 to 8 */

static uint32_t round_;

/* What a node below says: its rank waits for that one. */
static waitfor_bytes items_of(struct lone *l, int32_t rank, int32_t peer)
{
    struct waits_record record = {.rank = rank,
                                  .threads = 1,
                                  .state = WAITS_WAITING,
                                  .mode = WAITS_FOR_ALL,
                                  .requests = 1,
                                  .comms = 1,
                                  .comm = {{.size = 40, .runs = 1, .run = {{0, 1, 40}}}}};
    struct waits *w = ftree_waits_create(l->ft);
    waitfor_bytes out = {0};

    record.request[0] =
        (struct waits_request){.kind = WAITS_RECV, .fate = WAITS_OPEN, .peer = peer};
    ck_assert_int_eq(ftree_waits_add(w, &record), FTREE_OK);
    ck_assert_int_eq(ftree_waits_reduce(w, true), FTREE_OK);
    ck_assert(ftree_waits_items(w, &out));
    ftree_waits_destroy(w);
    return out;
}

static void hear(struct lone *l, int32_t from, uint32_t number, const waitfor_bytes *items)
{
    struct wire_message m = {.type = WIRE_WAITS_UP};

    m.u.part = (struct wire_part){
        .number = number, .parts = 1, .len = (size_t) items->n, .bytes = items->items};
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

static void tell(struct lone *l, int32_t from, int32_t rank, int32_t peer)
{
    waitfor_bytes items = items_of(l, rank, peer);

    hear(l, from, ++round_, &items);
    ftree_alloc(l->ft, items.items, 0);
}

static void tell_nothing(struct lone *l, int32_t from)
{
    const waitfor_bytes nothing = {0};

    hear(l, from, ++round_, &nothing);
}

/* How many ranks wait, as the last message up says; -1: there was none since the log was asked
 * for. */
static int32_t told(struct lone *l)
{
    const struct lone_sent *s = lone_last(l, WIRE_WAITS_UP);
    struct waits *w = ftree_waits_create(l->ft);
    int32_t n = -1;

    if (s) {
        ck_assert_int_eq(s->to.node, 0);
        ck_assert_int_eq(ftree_waits_merge(w, s->m.u.part.bytes, s->m.u.part.len), FTREE_OK);
        ck_assert_int_eq(ftree_waits_reduce(w, true), FTREE_OK);
        n = ftree_waits_count(w);
    }
    ftree_waits_destroy(w);
    return n;
}

static int32_t told_after(struct lone *l, int ms)
{
    int32_t n;

    lone_run(l, ms);
    n = told(l);
    lone_acks(l, 0);
    lone_log(l);
    return n;
}

TEST_CASE(items_of_several_go_up_together)
{
    struct lone *l = lone_new(40, 1, 4, SELF);

    tell(l, 5, 5, 39);
    tell(l, 6, 6, 38);
    ck_assert_int_eq(told_after(l, 19), -1);
    ck_assert_int_eq(told_after(l, 2), 2);
    tell(l, 7, 7, 37); /* and then it rests */
    ck_assert_int_eq(told_after(l, 25), -1);
    ck_assert_int_eq(told_after(l, 60), 3);
}

TEST_CASE(new_items_replace_those_of_the_same_node)
{
    struct lone *l = lone_new(40, 1, 4, SELF);

    tell(l, 5, 5, 39);
    tell(l, 6, 6, 38);
    ck_assert_int_eq(told_after(l, 100), 2);
    tell(l, 5, 21, 36);
    ck_assert_int_eq(told_after(l, 200), 2);
    tell_nothing(l, 5);
    ck_assert_int_eq(told_after(l, 400), 1);
    tell_nothing(l, 6);
    ck_assert_int_eq(told_after(l, 800), 0);
    lone_run(l, 5000);
    ck_assert_ptr_null(l->ft->waitfor->work);
}

TEST_CASE(an_older_round_does_not_count)
{
    struct lone *l = lone_new(40, 1, 4, SELF);
    waitfor_bytes newer, older;

    newer = items_of(l, 5, 39);
    older = items_of(l, 6, 38);
    hear(l, 5, 100, &newer);
    ck_assert_int_eq(told_after(l, 100), 1);
    hear(l, 5, 99, &older);
    ck_assert_int_eq(told_after(l, 200), -1);
    ftree_alloc(l->ft, newer.items, 0);
    ftree_alloc(l->ft, older.items, 0);
}

/* What has not changed is told again after one stall limit, then after twice as long. */
TEST_CASE(the_same_items_are_told_at_growing_intervals)
{
    struct lone *l = lone_new(40, 1, 4, SELF);

    tell(l, 5, 5, 39);
    ck_assert_int_eq(told_after(l, 100), 1);
    ck_assert_int_eq(told_after(l, 800), -1);
    ck_assert_int_eq(told_after(l, 300), 1);
    ck_assert_int_eq(told_after(l, 1700), -1);
    ck_assert_int_eq(told_after(l, 500), 1);
}

/* Ranks that block one after the other are known soon after the last of them. */
TEST_CASE(the_pause_between_changes_is_bounded)
{
    struct lone *l = lone_new(40, 1, 4, SELF);
    int ms;

    for (ms = 0; ms < 3000; ms += 10) {
        tell(l, 5, 5, 38 + ms / 10 % 2);
        told_after(l, 10);
    }
    tell(l, 6, 6, 38);
    ck_assert_int_eq(told_after(l, 260), 2);
}

/* Who has not told again for three of the longest intervals takes another way, or is not there. */
TEST_CASE(old_items_are_forgotten)
{
    struct lone *l = lone_new(40, 1, 4, SELF);
    int32_t last = -1, n;

    tell(l, 5, 5, 39);
    for (int ms = 0; ms < (int) (3 * l->cfg.stall_repeat_max / FTREE_MS) + 3000; ms += 100) {
        n = told_after(l, 100);
        last = n < 0 ? last : n;
    }
    ck_assert_int_eq(last, 0);
    ck_assert_ptr_null(l->ft->waitfor->work);
}

TEST_CASE(malformed_items_are_forgotten)
{
    struct lone *l = lone_new(40, 1, 4, SELF);
    uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff};
    const waitfor_bytes bad = {.items = bytes, .n = sizeof(bytes)};

    hear(l, 5, 1, &bad);
    tell(l, 6, 6, 38);
    ck_assert_int_eq(told_after(l, 900), -1);
    ck_assert_int_eq(told_after(l, 400), 1);
}
