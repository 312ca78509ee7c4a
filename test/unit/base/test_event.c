/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

/* The events of one call: in their order, and what follows from one before the next one. */

#define MANY (4 * FTREE_EVENTS_FIRST + 3)

static struct lone *begin(struct ftree_events *q)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 1);

    ftree_events_begin(l->ft, q);
    return l;
}

static void end(struct lone *l)
{
    ftree_events_end(l->ft);
    lone_free(l);
}

/* The node of the next one; -1: there is none. */
static int32_t take(struct lone *l)
{
    struct ftree_event e;

    return ftree_events_take(l->ft, &e) ? e.node : -1;
}

TEST_CASE(they_are_taken_in_their_order)
{
    struct ftree_events q;
    struct lone *l = begin(&q);

    ck_assert(!ftree_events_wait(l->ft));
    for (int32_t i = 0; i < 3; i++)
        ck_assert(FTREE_EMIT(l->ft, LEFT, .node = i));
    ck_assert(ftree_events_wait(l->ft));
    ftree_events_turn(l->ft, 0);
    for (int32_t i = 0; i < 3; i++)
        ck_assert_int_eq(take(l), i);
    ck_assert_int_eq(take(l), -1);
    end(l);
}

TEST_CASE(what_follows_from_one_is_before_the_next)
{
    static const int32_t order[] = {0, 10, 20, 11, 1};
    struct ftree_events q;
    struct lone *l = begin(&q);

    FTREE_EMIT(l->ft, LEFT, .node = 0);
    FTREE_EMIT(l->ft, LEFT, .node = 1);
    ftree_events_turn(l->ft, 0);
    for (int i = 0; i < 5; i++) {
        int32_t node = take(l), n = q.n;
        ck_assert_int_eq(node, order[i]);
        if (node == 0) {
            FTREE_EMIT(l->ft, LEFT, .node = 10);
            FTREE_EMIT(l->ft, LEFT, .node = 11);
        } else if (node == 10) {
            FTREE_EMIT(l->ft, LEFT, .node = 20);
        }
        ftree_events_turn(l->ft, n);
    }
    ck_assert(!ftree_events_wait(l->ft));
    end(l);
}

TEST_CASE(there_is_room_for_many)
{
    struct ftree_events q;
    struct lone *l = begin(&q);

    for (int32_t i = 0; i < MANY; i++)
        ck_assert(FTREE_EMIT(l->ft, LEFT, .node = i));
    ftree_events_turn(l->ft, 0);
    for (int32_t i = 0; i < MANY; i++)
        ck_assert_int_eq(take(l), i);
    end(l);
}

/* Row i: the (i+1)-th allocation fails. */
TEST_CASES(without_memory_the_last_ones_are_left_out, 2)
{
    struct ftree_events q;
    struct lone *l = begin(&q);
    int32_t n = 0, first = FTREE_EVENTS_FIRST << _i;

    l->fail_alloc_in = _i + 1;
    while (n < MANY && FTREE_EMIT(l->ft, LEFT, .node = n))
        n++;
    ck_assert_int_eq(n, first);
    ftree_events_turn(l->ft, 0);
    for (int32_t i = 0; i < n; i++)
        ck_assert_int_eq(take(l), i);
    end(l);
}

TEST_CASE(one_verdict_waits_at_a_time)
{
    struct ftree_events q;
    struct lone *l = begin(&q);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 1);

    ftree_emit_verdict(l->ft, &v);
    v.node = 3;
    ftree_emit_verdict(l->ft, &v);
    ck_assert_int_eq(q.n, 1);
    ck_assert_int_eq(q.verdict.node, 2);
    ftree_end(l->ft, l->now);
    ck_assert_int_eq(l->verdicts, 1);
}
