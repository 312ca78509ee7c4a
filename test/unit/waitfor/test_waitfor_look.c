/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_inspect.h"
#include "suite.h"
#include "waiting_ranks.h"

#include "ftree_int.h"

/* The ranks of a candidate, and whose answers count. */

static struct ftree *ft; /* of node 0, of four with four ranks each */
static struct ranks *r;

static struct waitfor_candidate *begin(void)
{
    struct waitfor_candidate *c;

    r = ranks_of(world_new(4, 4, 4));
    ft = r->w->node[0].ft;
    ftree_waitfor_stalled(ft, r->w->now, 0); /* so that there is something to work on */
    c = FTREE_PUSH(ft, ft->waitfor->work->candidates);
    ck_assert_ptr_nonnull(c);
    c->state = WAITFOR_ASKED;
    c->number = 7;
    c->next = FTREE_NEVER;
    return c;
}

static void end(struct waitfor_candidate *c)
{
    waitfor_look_forget(ft, c);
    c->state = WAITFOR_SAID;
    world_free(r->w);
}

TEST_CASE(ranks_are_kept_ascending_and_once)
{
    struct waitfor_candidate *c = begin();

    for (int32_t i = 0; i < 64; i++)
        ck_assert_int_eq(waitfor_look_add(ft, c, i * 7 % 16)->rank, i * 7 % 16);
    ck_assert_int_eq(c->ranks.n, 16);
    for (int32_t i = 0; i < 16; i++) {
        ck_assert_int_eq(c->ranks.items[i].rank, i);
        ck_assert_ptr_eq(waitfor_asked_find(c, i), &c->ranks.items[i]);
    }
    ck_assert_ptr_null(waitfor_asked_find(c, 16));
    ck_assert_ptr_null(waitfor_asked_find(c, -1));
    end(c);
}

/* That rank says only that it did not answer. */
static void hear(int32_t from, uint32_t number, int32_t rank)
{
    waitfor_bytes bytes = {0};

    ck_assert(waitfor_answer_put(ft, r->w->now, &bytes, rank, WAITFOR_UNABLE, 0, NULL, NULL, 0));
    waitfor_look_seen(ft, r->w->now, from, number, bytes.items, (size_t) bytes.n);
    ftree_alloc(ft, bytes.items, 0);
}

static const struct {
    const char *what;
    int32_t from;
    uint32_t number;
    int32_t rank;
    bool counts;
} heard[] = {
    {"its own node", 1, 7, 5, true},
    {"another node", 2, 7, 5, false},
    {"another look", 1, 8, 5, false},
    {"a rank that was not asked", 1, 7, 6, false},
};

TEST_CASES(an_answer_counts_if_the_node_of_the_rank_gives_it, 4)
{
    struct waitfor_candidate *c = begin();

    waitfor_look_add(ft, c, 5);
    hear(heard[_i].from, heard[_i].number, heard[_i].rank);
    ck_assert_msg(waitfor_look_is_over(c) == heard[_i].counts, "%s", heard[_i].what);
    ck_assert_int_eq(c->next == r->w->now, heard[_i].counts);
    end(c);
}

TEST_CASE(a_look_is_over_with_the_last_answer)
{
    struct waitfor_candidate *c = begin();

    for (int32_t rank = 4; rank < 8; rank++)
        waitfor_look_add(ft, c, rank);
    for (int32_t rank = 7; rank >= 4; rank--) {
        ck_assert(!waitfor_look_is_over(c));
        hear(1, 7, rank);
        hear(1, 7, rank);
    }
    ck_assert(waitfor_look_is_over(c));
    end(c);
}

TEST_CASE(ranks_of_a_node_that_cannot_be_asked_are_unable)
{
    struct waitfor_candidate *c = begin();

    waitfor_look_add(ft, c, 5);
    waitfor_look_add(ft, c, 9);
    waitfor_look_unanswered(ft, r->w->now, 1);
    ck_assert_int_eq(waitfor_asked_find(c, 5)->answer->seen, WAITFOR_UNABLE);
    ck_assert_ptr_null(waitfor_asked_find(c, 9)->answer);
    waitfor_look_unanswered(ft, r->w->now, 2);
    ck_assert(waitfor_look_is_over(c));
    ck_assert_uint_gt(c->next, r->w->now); /* behind this tick */
    end(c);
}

/* When a verdict came about is told by the waits of those that have answered. */
TEST_CASE(a_node_that_has_left_and_is_gone_waits_for_nothing)
{
    struct waitfor_candidate *c = begin();

    waitfor_look_add(ft, c, 5);
    waitfor_look_add(ft, c, 9);
    ftree_peer_leaves(ft, 1, true);
    waitfor_look_unanswered(ft, r->w->now, 1);
    waitfor_look_unanswered(ft, r->w->now, 2);
    ck_assert_int_eq(waitfor_asked_find(c, 5)->answer->seen, WAITFOR_LEFT);
    ck_assert_uint_eq(waitfor_asked_find(c, 5)->answer->since, 0);
    ck_assert_int_eq(waitfor_asked_find(c, 9)->answer->seen, WAITFOR_UNABLE);
    ck_assert_uint_eq(waitfor_asked_find(c, 9)->answer->since, r->w->now);
    end(c);
}

/* Those of the own node are looked at without a message; a node is sent one, however many it
 * has. */
TEST_CASE(each_node_is_asked_once)
{
    struct waitfor_candidate *c = begin();

    for (int32_t rank = 0; rank < 12; rank++)
        waitfor_look_add(ft, c, rank);
    waitfor_look_send(ft, r->w->now, c);
    ck_assert_int_eq(c->state, WAITFOR_ASKED);
    ck_assert_int_eq(ftree_inspect_outbox(ft), 2);
    ck_assert_int_eq(ftree_inspect_outbox_to(ft, 1), 1);
    ck_assert_int_eq(ft->waitfor->work->looks.n, 1);
    ck_assert_int_eq(ft->waitfor->work->looks.items[0].ranks.n, 4);
    end(c);
}

/* The question or the answer was lost. */
TEST_CASE(who_has_not_answered_is_asked_again)
{
    struct waitfor_candidate *c = begin();

    for (int32_t rank = 4; rank < 12; rank++)
        waitfor_look_add(ft, c, rank);
    waitfor_look_send(ft, r->w->now, c);
    ck_assert_int_eq(ftree_inspect_outbox(ft), 2);
    for (int32_t rank = 4; rank < 8; rank++)
        hear(1, c->number, rank);
    ck_assert(waitfor_look_again(ft, r->w->now, c));
    ck_assert_int_eq(ftree_inspect_outbox(ft), 3);
    ck_assert_int_eq(ftree_inspect_outbox_to(ft, 2), 2);
    waitfor_look_unanswered(ft, r->w->now, 2);
    ck_assert_int_eq(ftree_inspect_outbox_to(ft, 2), 3);
    ck_assert_ptr_null(waitfor_asked_find(c, 8)->answer);
    waitfor_look_unanswered(ft, c->until, 2); /* too late */
    ck_assert_int_eq(waitfor_asked_find(c, 8)->answer->seen, WAITFOR_UNABLE);
    ck_assert(!waitfor_look_again(ft, r->w->now, c));
    end(c);
}

TEST_CASE(nobody_is_asked_again_for_ever)
{
    struct waitfor_candidate *c = begin();

    waitfor_look_add(ft, c, 5);
    waitfor_look_send(ft, r->w->now, c);
    ck_assert(waitfor_look_again(ft, c->until - 1, c));
    ck_assert_uint_eq(c->next, c->until);
    ck_assert(!waitfor_look_again(ft, c->until, c));
    end(c);
}
