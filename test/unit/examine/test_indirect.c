/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

/* Node 1 probes node 2 for node 0. */

static void ask_for_probe(struct lone *l, int32_t from, int32_t target, uint32_t nonce)
{
    struct wire_message m = {.type = WIRE_INDIRECT_PROBE, .u.indirect_probe = {nonce, target}};

    lone_hear(l, from, FTREE_PATH_MGMT, &m);
}

static const struct wire_indirect_result *seen(const struct lone *l, enum ftree_path path)
{
    for (int32_t i = l->n_sent - 1; i >= 0; i--)
        if (l->sent[i].m.type == WIRE_INDIRECT_RESULT &&
            l->sent[i].m.u.indirect_result.path == path)
            return &l->sent[i].m.u.indirect_result;
    return NULL;
}

TEST_CASE(it_asks_over_each_path_and_tells_of_silence)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    ask_for_probe(l, 0, 2, 77);
    lone_run(l, 400);
    ck_assert_str_eq(lone_log(l), "0 -> n2 data+mgmt probe fresh\n"
                                  "300 -> n0 n0 data+mgmt indirect-result\n");
    ck_assert_uint_eq(ftree_deadline(l->ft), FTREE_NEVER);
}

TEST_CASE(what_it_tells_is_whom_it_asked_and_what_came_of_it)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    ask_for_probe(l, 0, 2, 77);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    lone_run(l, 400);
    ck_assert_uint_eq(seen(l, FTREE_PATH_DATA)->nonce, 77);
    ck_assert_int_eq(seen(l, FTREE_PATH_DATA)->target, 2);
    ck_assert_int_eq(seen(l, FTREE_PATH_DATA)->reach, FTREE_REACH_SILENT);
    ck_assert_int_eq(seen(l, FTREE_PATH_MGMT)->reach, FTREE_REACH_REFUSED);
}

/* Who asked may decide before the indirect probe is over. */
TEST_CASE(what_the_kernel_says_is_told_at_once)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    l->cfg.rto_min = 1000 * FTREE_MS;
    lone_renew(l);
    ask_for_probe(l, 0, 2, 77);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 400);
    ck_assert_ptr_nonnull(seen(l, FTREE_PATH_DATA));
    ck_assert_int_eq(seen(l, FTREE_PATH_DATA)->reach, FTREE_REACH_CONNECTED);
    lone_log(l);
    lone_run(l, 2000);
    ck_assert_ptr_null(seen(l, FTREE_PATH_DATA)); /* nothing new */
    ck_assert_int_eq(seen(l, FTREE_PATH_MGMT)->reach, FTREE_REACH_SILENT);
}

/* A new connection ends the one before with what waits on it, so for two who ask there is one. */
TEST_CASE(one_question_does_for_several_who_ask)
{
    struct lone *l = lone_of(shape_star(6, 1), 1);

    ask_for_probe(l, 0, 2, 77);
    lone_run(l, 10);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    ask_for_probe(l, 3, 2, 78);
    ask_for_probe(l, 4, 2, 79);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 2);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    for (int32_t i = 0, sent = 0; i < l->n_sent; i++) {
        const struct lone_sent *s = &l->sent[i];
        sent += s->m.type == WIRE_INDIRECT_RESULT &&
                s->m.u.indirect_result.reach == FTREE_REACH_ANSWERED &&
                s->to.path == FTREE_PATH_DATA;
        if (i == l->n_sent - 1)
            ck_assert_int_eq(sent, 3);
    }
    lone_run(l, 400);
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 0);
}

/* Nor may an indirect probe end the helper's own question, whose answer may be on its way. */
TEST_CASE(an_indirect_probe_leaves_the_own_question_alone)
{
    struct lone *l = lone_of(shape_star(6, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 10);
    lone_log(l);
    ask_for_probe(l, 3, 2, 77);
    ck_assert_str_eq(lone_log(l), "10 -> n2 data+mgmt probe\n");
}

TEST_CASE(an_answer_is_told_at_once_and_once)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    ask_for_probe(l, 0, 2, 77);
    ck_assert_int_eq(l->n_sent, 2);
    ask_for_probe(l, 0, 2, 77); /* the same again, over the other path: it is not asked twice */
    ck_assert_int_eq(l->n_sent, 2);
    lone_run(l, 10);
    ask_for_probe(l, 3, 2, 77); /* somebody else's, which is told, too */
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    ck_assert_str_eq(lone_log(l), "0 -> n2 data+mgmt probe fresh\n"
                                  "10 -> n0 n3 data+mgmt indirect-result\n");
}

TEST_CASE(what_its_own_side_kept_it_from_asking_is_not_told)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    ask_for_probe(l, 0, 2, 77);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 100);
    lone_run(l, 400);
    ck_assert_ptr_null(seen(l, FTREE_PATH_DATA));
    ck_assert_int_eq(seen(l, FTREE_PATH_MGMT)->reach, FTREE_REACH_SILENT);
}

TEST_CASE(of_the_deputy_it_is_not_told)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);

    ask_for_probe(l, 0, 2, 77);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_DEPUTY, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 400);
    ck_assert_int_eq(seen(l, FTREE_PATH_DATA)->reach, FTREE_REACH_SILENT);
}

TEST_CASE(a_path_that_the_job_has_not_is_neither_asked_nor_told)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct wire_message m = {.type = WIRE_INDIRECT_PROBE, .u.indirect_probe = {77, 2}};

    l->job.has_path[FTREE_PATH_MGMT] = false;
    lone_renew(l);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    lone_run(l, 400);
    ck_assert_str_eq(lone_log(l), "0 -> n2 data probe fresh\n"
                                  "300 -> n0 data indirect-result\n");
}

/* To the helper itself, to who asks; and to one whom the helper suspects, too. */
TEST_CASE(odd_indirect_probes)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    ask_for_probe(l, 0, 1, 77);
    ask_for_probe(l, 0, 0, 78);
    ck_assert_int_eq(l->n_sent, 0);
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 0);
    lone_stall(l, 1, 3);
    ask_for_probe(l, 0, 3, 79);
    lone_run(l, 400);
    ck_assert_ptr_nonnull(seen(l, FTREE_PATH_DATA));
}

TEST_CASE(there_is_a_bound_on_indirect_probes)
{
    struct lone *l = lone_of(shape_tree(200, 1, 32), 1);

    for (int32_t n = 2; n < 100; n++)
        ask_for_probe(l, 0, n, 77);
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 64);
    lone_run(l, 1000);
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 0);
    ask_for_probe(l, 0, 99, 77); /* and then there is room again */
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 1);
}

TEST_CASE(without_memory_there_is_none)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    l->fail_alloc_in = 1;
    ask_for_probe(l, 0, 2, 77);
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 0);
    ask_for_probe(l, 0, 2, 77);
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 1);
}

TEST_CASE(who_leaves_probes_for_nobody)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    ask_for_probe(l, 0, 2, 77);
    ftree_leave(l->ft, l->now);
    lone_log(l);
    ask_for_probe(l, 0, 3, 78);
    ck_assert_int_eq(ftree_inspect_indirect_probes(l->ft), 0);
    lone_run(l, 400);
    ck_assert_int_eq(lone_count(l, WIRE_INDIRECT_RESULT), 0);
}
