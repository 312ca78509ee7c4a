/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "messages.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

/* The tree of the tests:  0 - 1 to 10,  1 - 11 to 20,  2 - 21 to 30, and so on;  11 - 111 to 120,
 * 12 - 121 to 130.  A part of a family is eight of it: 11 to 18, 19 and 20. */
#define NODES 131
#define FANOUT 10

#define SIGN "node-outage/both-paths-silent"

static struct ftree_verdict lost(const struct lone *l, int32_t node)
{
    return lone_verdict(l, SIGN, node, FTREE_NONE, 0);
}

/* It is known as lost since before. */
static void knows_lost(struct lone *l, int32_t node)
{
    struct ftree_verdict v = lost(l, node);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
}

/* Message `id` of `from` tells that a node is lost. */
static void told(struct lone *l, int32_t from, uint32_t id, uint8_t flags, int32_t node)
{
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .flags = flags, .id = id};
    struct wire_outlines w = {0};
    struct ftree_verdict v = lost(l, node);
    struct outline o = messages_outline(&v);

    ck_assert(ftree_wire_put_outline(&w, l->now, &o, v.rule));
    m.u.told = ftree_wire_told(&w);
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

/* Whom verdicts were sent to since the log was last called for, in order; with a '+' who is to tell
 * its siblings. */
static const char *told_to(struct lone *l)
{
    static char text[4096];
    size_t len = 0;

    text[0] = '\0';
    for (int32_t i = 0; i < l->n_sent; i++) {
        const struct lone_sent *s = &l->sent[i];
        if (s->m.type != WIRE_VERDICT_DOWN)
            continue;
        len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%d%s", len ? " " : "",
                                 (int) s->to.node, s->m.flags & WIRE_FLAG_SIBLINGS ? "+" : "");
        ck_assert_uint_lt(len, sizeof(text));
    }
    lone_log(l);
    return text;
}

/* ---- who tells the children of a lost node --------------------------------------------------- */

START_TEST(one_of_each_part_tells_the_others)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 0);
    struct ftree_verdict v = lost(l, 1);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert_str_eq(told_to(l), "11+ 19+ 2 3 4 5 6 7 8 9 10");
    lone_free(l);
}
END_TEST

START_TEST(a_small_family_is_told_one_by_one)
{
    struct lone *l = lone_new(NODES, 1, 8, 0); /* 1 - 9 to 16 */
    struct ftree_verdict v = lost(l, 1);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert_str_eq(told_to(l), "9 10 11 12 13 14 15 16 2 3 4 5 6 7 8");
    lone_free(l);
}
END_TEST

START_TEST(who_is_to_tells_its_children_and_its_part)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 11);

    told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
    ck_assert_str_eq(told_to(l), "111 112 113 114 115 116 117 118 119 120 12 13 14 15 16 17 18");
    lone_free(l);
}
END_TEST

START_TEST(the_last_part_is_what_is_left)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 20);

    told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
    ck_assert_str_eq(told_to(l), "19");
    lone_free(l);
}
END_TEST

START_TEST(without_the_word_siblings_are_left_alone)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 11);

    told(l, 0, 70, 0, 1);
    ck_assert_str_eq(told_to(l), "111 112 113 114 115 116 117 118 119 120");
    lone_free(l);
}
END_TEST

/* Whoever is lost, or seems to be, is passed over. */
START_TEST(the_first_that_may_answer_is_to_tell)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 0);
    struct ftree_verdict v = lost(l, 1);

    knows_lost(l, 11);
    ftree_outbox_mute(l->ft, l->now, 12, false);
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert_str_eq(told_to(l), "13+ 19+ 2 3 4 5 6 7 8 9 10");
    lone_free(l);
}
END_TEST

START_TEST(a_lost_sibling_is_replaced_by_its_own_family)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 13);

    knows_lost(l, 11);
    told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
    ck_assert_str_eq(told_to(l), "111+ 119+ 12 14 15 16 17 18");
    lone_free(l);
}
END_TEST

START_TEST(of_a_part_where_none_may_answer_each_is_told)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 0);
    struct ftree_verdict v = lost(l, 1);

    knows_lost(l, 19);
    ftree_outbox_mute(l->ft, l->now, 20, false);
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert_str_eq(told_to(l), "11+ 20 2 3 4 5 6 7 8 9 10");
    lone_free(l);
}
END_TEST

/* The acting root is one of the family: those below it are its own to tell. */
START_TEST(the_heir_tells_those_below_itself)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 3);
    struct posting p = {.now = l->now, .skip = FTREE_NONE, .telling = -1};
    int32_t *place;

    knows_lost(l, 0);
    l->ft->batch.n = 0;
    place = FTREE_PUSH(l->ft, l->ft->batch);
    ck_assert_ptr_nonnull(place);
    *place = 0;
    ftree_tell(l->ft, &p, ftree_tell_all, 0);
    ck_assert_str_eq(told_to(l), "1+ 31 32 33 34 35 36 37 38 39 40 9+");
    lone_free(l);
}
END_TEST

START_TEST(the_root_has_no_siblings)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 0);

    told(l, 1, 70, WIRE_FLAG_SIBLINGS, 2);
    ck_assert_str_eq(told_to(l), "21+ 29+ 3 4 5 6 7 8 9 10");
    lone_free(l);
}
END_TEST

/* ---- when it goes wrong ------------------------------------------------------------------------ */

/* It is the next that is to tell, and the children of the silent one are told, too. */
START_TEST(the_next_tells_in_place_of_a_silent_one)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 0);
    struct ftree_verdict v = lost(l, 1);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 19);
    for (int32_t child = 2; child <= 10; child++)
        lone_acks(l, child);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_str_eq(told_to(l), "111+ 119+ 12+");
    lone_free(l);
}
END_TEST

/* The lost parent had told the one, and then no other: what is no news here is to them. */
START_TEST(what_is_known_here_is_told_to_siblings)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 19);

    told(l, 1, 70, 0, 30);
    lone_log(l);
    told(l, 0, 71, WIRE_FLAG_SIBLINGS, 30);
    ck_assert_str_eq(told_to(l), "20");
    lone_free(l);
}
END_TEST

START_TEST(a_message_that_comes_twice_is_passed_on_once)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 19);

    told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
    lone_log(l);
    told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
    ck_assert_str_eq(told_to(l), "");
    lone_free(l);
}
END_TEST

/* ---- the victims ------------------------------------------------------------------------------- */

START_TEST(the_victims_of_siblings_are_named_by_who_told_them)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 19);

    told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
    lone_victims(l, 20, lone_due(l, 20), 20, 20);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->to.node, 0);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 1);
    lone_free(l);
}
END_TEST

/* It is one of the orphans, and acts for the root: what it tells comes back to it, for its siblings. */
START_TEST(what_comes_back_to_the_heir_is_reported_all_the_same)
{
    struct lone *root = lone_new(NODES, 1, FANOUT, 0);
    int32_t heir = ftree_topo_root_substitute(&root->ft->topo, 1);
    struct lone *l = lone_new(NODES, 1, FANOUT, heir);
    struct ftree_verdict v = lost(l, 3);

    ck_assert_int_gt(heir, FANOUT);
    knows_lost(l, 0);
    knows_lost(l, ftree_topo_parent(&l->ft->topo, heir));
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_log(l);
    told(l, 2, 70, WIRE_FLAG_SIBLINGS, 3);
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 0);
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, (int) ((ftree_topo_height(&l->ft->topo, 0) + 1) * l->cfg.gather / FTREE_MS));
    ck_assert_int_eq(l->reports, 1);
    lone_free(l);
    lone_free(root);
}
END_TEST

/* It has as long as the parent that is lost would have had: a level more than its own. */
START_TEST(there_is_time_to_hear_of_siblings)
{
    struct lone *l = lone_new(NODES, 1, FANOUT, 20);
    int32_t height = ftree_topo_height(&l->ft->topo, 1);

    ck_assert_int_eq(ftree_topo_height(&l->ft->topo, 20), 0);
    told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
    lone_acks(l, 19);
    lone_run(l, (int) (height * l->cfg.gather / FTREE_MS) - 1);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1);
    lone_free(l);
}
END_TEST

/* ---- memory ------------------------------------------------------------------------------------ */

/* Every allocation in turn fails: whoever is told is told once, and what is left out is no harm. */
START_TEST(without_memory_nobody_is_told_twice)
{
    for (int32_t fail = 1; fail < 40; fail++) {
        struct lone *l = lone_new(NODES, 1, FANOUT, 11);
        l->fail_alloc_in = fail;
        told(l, 0, 70, WIRE_FLAG_SIBLINGS, 1);
        for (int32_t i = 0; i < l->n_sent; i++)
            for (int32_t j = 0; j < i; j++)
                ck_assert(l->sent[i].m.type != WIRE_VERDICT_DOWN ||
                          l->sent[j].m.type != WIRE_VERDICT_DOWN ||
                          l->sent[i].to.node != l->sent[j].to.node);
        lone_free(l);
    }
}
END_TEST

SUITE("tell")
{
    TEST(one_of_each_part_tells_the_others);
    TEST(a_small_family_is_told_one_by_one);
    TEST(who_is_to_tells_its_children_and_its_part);
    TEST(the_last_part_is_what_is_left);
    TEST(without_the_word_siblings_are_left_alone);
    TEST(the_first_that_may_answer_is_to_tell);
    TEST(a_lost_sibling_is_replaced_by_its_own_family);
    TEST(of_a_part_where_none_may_answer_each_is_told);
    TEST(the_heir_tells_those_below_itself);
    TEST(the_root_has_no_siblings);
    TEST(the_next_tells_in_place_of_a_silent_one);
    TEST(what_is_known_here_is_told_to_siblings);
    TEST(a_message_that_comes_twice_is_passed_on_once);
    TEST(the_victims_of_siblings_are_named_by_who_told_them);
    TEST(what_comes_back_to_the_heir_is_reported_all_the_same);
    TEST(there_is_time_to_hear_of_siblings);
    TEST(without_memory_nobody_is_told_twice);
}
