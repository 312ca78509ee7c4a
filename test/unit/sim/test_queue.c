/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/draw.h"
#include "sim/pool.h"
#include "sim/queue.h"
#include "suite.h"

static void push(struct sim_queue *q, ftree_time at, int32_t to)
{
    struct sim_event e = {.at = at, .to = to, .bytes = sim_pool_share(&at, 1), .len = 1};

    sim_queue_push(q, &e);
}

TEST_CASE(an_empty_queue_has_nothing)
{
    struct sim_queue q = {0};
    struct sim_event e;

    ck_assert(!sim_queue_pop(&q, &e));
    ck_assert_ptr_null(sim_queue_peek(&q));
    sim_queue_free(&q);
}

TEST_CASE(events_come_by_time_and_equal_ones_in_the_order_they_were_put_in)
{
    static const ftree_time at[] = {5, 3, 5, 3, 9, 5, 0};
    static const int32_t order[] = {6, 1, 3, 0, 2, 5, 4};
    struct sim_queue q = {0};
    struct sim_event e;

    for (int i = 0; i < COUNT(at); i++)
        push(&q, at[i], i);
    for (int i = 0; i < COUNT(order); i++) {
        ck_assert(sim_queue_pop(&q, &e));
        ck_assert(e.at == at[order[i]]);
        ck_assert_int_eq(e.to, order[i]);
        sim_pool_unshare(e.bytes);
    }
    ck_assert(!sim_queue_pop(&q, &e));
    sim_queue_free(&q);
}

/* What comes out is put in again later, as messages are, through several growths. */
TEST_CASE(a_hundred_thousand_events_come_in_order)
{
    struct sim_queue q = {0};
    struct draw d = draw_stream(1, 1);
    ftree_time last = 0;
    struct sim_event e;
    int32_t out = 0;
    size_t most = 0;

    for (int32_t i = 0; i < 5000; i++)
        push(&q, draw_below(&d, 1000), i);
    while (sim_queue_pop(&q, &e)) {
        REQUIRE(e.at >= last);
        last = e.at;
        sim_pool_unshare(e.bytes);
        for (int i = 0; i < 2 && out + (int32_t) q.n < 100000 - 2; i++)
            push(&q, last + draw_below(&d, 1000), i);
        most = q.n > most ? q.n : most;
        out++;
    }
    ck_assert_int_ge(out, 99990);
    ck_assert_uint_ge(most, 40000);
    sim_queue_free(&q);
}

struct seen {
    uint8_t times[200000]; /* an event was seen: while it is in the queue */
    bool is_out[200000];
};

static void see(const void *ctx, const struct sim_event *e)
{
    struct seen *s = (struct seen *) (uintptr_t) ctx;

    REQUIRE(e->to > 0 && e->to < COUNT(s->times) && !s->is_out[e->to]);
    s->times[e->to]++;
}

/* What needs memory is seen before its turn, and none that is over; most of them once. */
TEST_CASE(events_are_seen_before_they_come)
{
    static struct seen s;
    struct sim_queue q = {.near = see, .ctx = &s};
    struct draw d = draw_stream(1, 1);
    int32_t made = 0, before = 0, often = 0;
    struct sim_event e;

    while (made < 20000)
        push(&q, draw_below(&d, 3000), ++made);
    while (sim_queue_pop(&q, &e)) {
        before += s.times[e.to] > 0;
        often += s.times[e.to] > 1;
        s.is_out[e.to] = true;
        sim_pool_unshare(e.bytes);
        for (int i = 0; i < 2 && made < COUNT(s.times) - 1; i++)
            push(&q, e.at + draw_below(&d, 3000), ++made);
    }
    ck_assert_int_ge(before, made / 10 * 9);
    ck_assert_int_le(often, made / 100);
    sim_queue_free(&q);
}

TEST_CASE(a_tick_comes_after_other_events_of_its_time)
{
    struct sim_event e = {.at = 7, .kind = SIM_TICK, .to = 0};
    struct sim_queue q = {0};

    sim_queue_push(&q, &e);
    push(&q, 7, 1);
    for (int32_t i = 1; i >= 0; i--) {
        ck_assert(sim_queue_pop(&q, &e));
        ck_assert_int_eq(e.to, i);
        sim_pool_unshare(e.bytes);
    }
    push(&q, 7, 2); /* what is for now has its turn, too */
    ck_assert(sim_queue_pop(&q, &e));
    ck_assert_int_eq(e.to, 2);
    sim_pool_unshare(e.bytes);
    sim_queue_free(&q);
}

/* From a nanosecond to years: each level of the queue. */
TEST_CASE(times_may_be_near_and_far)
{
    struct sim_queue q = {0};
    struct sim_event e;

    for (int32_t i = 62; i >= 0; i--)
        push(&q, (ftree_time) 1 << i, i);
    for (int32_t i = 0; i <= 62; i++) {
        ck_assert(sim_queue_pop(&q, &e));
        ck_assert_int_eq(e.to, i);
        sim_pool_unshare(e.bytes);
    }
    sim_queue_free(&q);
}

TEST_CASE(what_is_left_is_freed_with_it)
{
    struct sim_queue q = {0};

    for (int32_t i = 0; i < 100; i++)
        push(&q, (ftree_time) i, i);
    sim_queue_free(&q); /* a leak is the sanitizer's to find */
    ck_assert_int_eq((int) q.n, 0);
}
