/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "lone.h"
#include "messages.h"
#include "stories.h"
#include "suite.h"
#include "world.h"

#include <string.h>

#define OUTAGE "node-outage/both-paths-silent"
#define SECOND (1000 * FTREE_MS)
#define MINUTE (60 * SECOND)

/* The tree of the tests on one handle:  0 - 1 2,  1 - 3 4,  2 - 5 6,  3 - 7 8,  4 - 9 10, ... */
#define NODES 13

/* ---- asking ---------------------------------------------------------------------------------- */

static void decide(struct lone *l, const char *sign, int32_t node, int32_t rank)
{
    struct ftree_verdict v = lone_verdict(l, sign, node, rank, l->self);

    lone_finds(l, &v);
}

static void decide_lost(struct lone *l, int32_t node)
{
    decide(l, OUTAGE, node, FTREE_NONE);
}

/* It was known before, as the board of the node has it. */
static void restore(struct lone *l, const struct ftree_verdict *v)
{
    ck_assert_int_eq(ftree_restore(l->ft, l->now, v), FTREE_OK);
    ck_assert_ptr_null(ftree_check(l->ft));
}

static void speaks(struct lone *l, int32_t node, enum ftree_path path)
{
    struct wire_message m = {.type = WIRE_FLOOD_QUERY};

    lone_hear(l, node, path, &m);
}

/* The question whether the verdict about `node` is over, 0: it was not asked. */
static uint32_t question(const struct lone *l, int32_t node)
{
    struct ftree_inspect_verdict v;

    for (int32_t i = 0; ftree_inspect_verdict(l->ft, i, &v); i++)
        if (v.node == node && v.question)
            return v.question;
    return 0;
}

/* The verdict of this handle's about node 2 with that number is known. */
static bool is_known(const struct lone *l, uint32_t id)
{
    return ftree_inspect_knows(l->ft, 2, l->self, id);
}

static int32_t asked_over(const struct lone *l, int32_t about, int32_t node, enum ftree_path path)
{
    uint32_t nonce = question(l, about);
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += nonce && l->sent[i].m.type == WIRE_PROBE && l->sent[i].m.u.probe.nonce == nonce &&
             l->sent[i].to.node == node && l->sent[i].to.path == path;
    return n;
}

static int32_t asked(const struct lone *l, int32_t node)
{
    return asked_over(l, node, node, FTREE_PATH_DATA);
}

/* `node` answers the question whether the verdict about `about` is over. */
static void answers_about(struct lone *l, int32_t about, int32_t node, enum ftree_path path)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    m.u.answer.nonce = question(l, about);
    ck_assert_uint_ne(m.u.answer.nonce, 0);
    lone_hear(l, node, path, &m);
}

/* The node that was asked whether it is still lost answers. */
static void answers(struct lone *l, int32_t node)
{
    answers_about(l, node, node, FTREE_PATH_MGMT);
}

TEST_CASE(a_lost_node_is_asked_at_doubling_intervals)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    int64_t at[16];
    int32_t n = 0;

    decide_lost(l, 2);
    for (int i = 0; i < 3000 && n < 10; i++) {
        lone_log(l);
        lone_run(l, 100);
        for (int32_t s = 0; s < l->n_sent; s++)
            if (l->sent[s].m.type == WIRE_PROBE && l->sent[s].to.node == 2 &&
                l->sent[s].to.path == FTREE_PATH_DATA) {
                ck_assert(l->sent[s].to.fresh);
                at[n++] = (int64_t) (l->sent[s].at / FTREE_MS) - 1000;
            }
    }
    ck_assert_int_eq(n, 10);
    ck_assert_int_eq(at[0], 200); /* before people are told */
    ck_assert_int_eq(at[1], 1200);
    ck_assert_int_eq(at[2], 3200);
    ck_assert_int_eq(at[3], 7200);
    ck_assert_int_eq(at[7], 127200);
    ck_assert_int_eq(at[8], 191200); /* 64 s from here on */
    ck_assert_int_eq(at[9], 255200);
}

/* Who asks about a verdict it is told of by its parent (or, the root, by its child)? */
static const struct {
    int32_t self, fln;
    const char *sign;
    bool asks;
} askers[] = {
    {4, 4, OUTAGE, true}, /* who decided */
    {0, 4, OUTAGE, true}, /* the acting root */
    {1, 4, OUTAGE, false},
    {3, 4, OUTAGE, false},
    {0, 4, "process-stopped/deputy-says-stopped", false}, /* its own node looks */
    {4, 4, "process-stopped/deputy-says-stopped", false},
    {4, 4, "unknown/unobserved", true},
    {0, 4, "unknown/unobserved", false},
    {0, 4, "node-frozen/agent-and-deputy-silent", true},
    {0, 4, "process-crash/pid-gone", false}, /* a crash is for ever */
    {4, 4, "process-crash/pid-gone", false},
    {4, 4, "unknown/data-path-silent", true}, /* who decided, over the path that was silent */
    {4, 4, "nic-fault/interface-down", true},
    {4, 4, "nic-fault/interface-gone", true},
    {4, 4, "link-fault/no-carrier", true},
    {0, 4, "unknown/data-path-silent", false}, /* from here it may always have answered */
    {0, 4, "nic-fault/interface-down", false},
    {4, 4, "straggler/cpu-pressure", false}, /* it answered all the time */
    {4, 4, "io-hang/disk-sleep", false},
};

TEST_CASES(who_asks, COUNT(askers))
{
    struct lone *l = lone_of(shape_binary(NODES, 1), askers[_i].self);
    bool is_rank = strncmp(askers[_i].sign, "process", 7) == 0;
    struct ftree_verdict v =
        lone_verdict(l, askers[_i].sign, 9, is_rank ? 9 : FTREE_NONE, askers[_i].fln);

    if (askers[_i].fln == askers[_i].self)
        lone_finds(l, &v);
    else if (askers[_i].self == 0)
        lone_told(l, 1, WIRE_VERDICT_UP, &v);
    else
        lone_told(l, ftree_inspect_parent(l->ft, askers[_i].self), WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(lone_known(l, 0).is_rechecked, askers[_i].asks);
    lone_run(l, 250);
    ck_assert_int_eq(asked(l, 9), askers[_i].asks);
}

TEST_CASE(over_the_paths_that_there_are)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        struct lone *l = lone_of(shape_star(4, 1), 0);
        l->job.has_path[path] = false;
        decide_lost(l, 2);
        lone_run(l, 250);
        ck_assert_int_eq(lone_count(l, WIRE_PROBE), 1);
        ck_assert_int_eq(lone_last(l, WIRE_PROBE)->to.path, 1 - path);
        lone_free(l);
    }
}

TEST_CASE(whoever_hears_of_it_asks_at_once)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, OUTAGE, 9, FTREE_NONE, 4);

    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    lone_run(l, 5000);
    ck_assert_int_eq(asked(l, 9), 0);
    speaks(l, 9, FTREE_PATH_DATA);
    ck_assert_int_eq(asked(l, 9), 1);
    speaks(l, 9, FTREE_PATH_DATA); /* not for each message */
    ck_assert_int_eq(asked(l, 9), 1);
    ck_assert(ftree_has_failed(l->ft, 9)); /* a message may have been long on its way */
    lone_run(l, 120 * 1000);
    lone_log(l);
    speaks(l, 9, FTREE_PATH_DATA); /* at once again, though the next time is far off */
    ck_assert_int_eq(asked(l, 9), 1);
    answers(l, 9);
    ck_assert(!ftree_has_failed(l->ft, 9));
}

/* To the question about node 2, in whatever order: an answer of its agent, but with this. */
static const struct {
    int32_t from;
    uint32_t other; /* question */
    enum ftree_role role;
    bool counts;
} answer_rows[] = {
    {2, 1000, FTREE_ROLE_AGENT, false}, /* a witness's, */
    {2, 1, FTREE_ROLE_AGENT, false}, /* or one of long ago */
    {2, 0, FTREE_ROLE_DEPUTY, false},
    {3, 0, FTREE_ROLE_AGENT, false},
    {2, 0, FTREE_ROLE_AGENT, true},
};

TEST_CASES(only_the_answer_to_that_question_counts, COUNT(answer_rows))
{
    struct lone *l = lone_of(shape_star(4, 2), 0);
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    decide_lost(l, 2);
    lone_run(l, 250);
    m.u.answer.nonce = question(l, 2) + answer_rows[_i].other;
    m.u.answer.role = (uint8_t) answer_rows[_i].role;
    for (int i = 0; i < 2; i++) { /* it comes twice */
        m.id = 0;
        lone_hear(l, answer_rows[_i].from, FTREE_PATH_DATA, &m);
        ck_assert_int_eq(ftree_has_failed(l->ft, 2), !answer_rows[_i].counts);
        ck_assert_int_eq(l->withdrawals, answer_rows[_i].counts);
    }
}

/* ---- a path ---------------------------------------------------------------------------------- */

/* Answers over which paths belie a sign? */
static const struct {
    const char *sign;
    bool data, mgmt;
} signs[] = {
    {OUTAGE, true, true},
    {"node-outage/only-path-silent", true, true},
    {"node-frozen/agent-and-deputy-silent", true, true},
    {"nic-fault/interface-down", true, false},
    {"nic-fault/interface-gone", true, false},
    {"link-fault/no-carrier", true, false},
    {"unknown/data-path-silent", true, false},
    {"unknown/silent-from-here-only", true, false},
    {"unknown/own-data-path-silent", true, false},
    {"unknown/no-node-answers", true, true},
    {"unknown/unobserved", true, true},
    {"straggler/memory-exhausted", false, false},
    {"straggler/throttled", false, false},
    {"io-hang/disk-sleep", false, false},
    {"unknown/not-in-these-rules", false, false},
};

static struct ftree_verdict by_sign(const struct lone *l, const char *sign, int32_t node)
{
    bool known = !strstr(sign, "not-in-these-rules");
    struct ftree_verdict v =
        lone_verdict(l, known ? sign : "unknown/no-node-answers", node, FTREE_NONE, l->self);

    strcpy(v.rule, sign);
    return v;
}

TEST_CASES(what_belies_a_sign, COUNT(signs))
{
    struct lone *l = lone_of(shape_star(4, 2), 0);
    struct ftree_verdict v = by_sign(l, signs[_i].sign, 2);

    restore(l, &v);
    lone_run(l, 250);
    ck_assert_int_eq(asked_over(l, 2, 2, FTREE_PATH_DATA), signs[_i].data);
    ck_assert_int_eq(asked_over(l, 2, 2, FTREE_PATH_MGMT), signs[_i].mgmt);
    if (signs[_i].data != signs[_i].mgmt) {
        answers_about(l, 2, 2, FTREE_PATH_MGMT); /* it did all the time */
        ck_assert_uint_eq(lone_known(l, 0).withdrawn, 0);
    }
    if (signs[_i].data) {
        answers_about(l, 2, 2, FTREE_PATH_DATA);
        ck_assert_uint_eq(lone_known(l, 0).withdrawn, l->now);
    }
}

TEST_CASE(a_silent_path_is_asked_at_doubling_intervals)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = by_sign(l, "unknown/data-path-silent", 2);
    int32_t until[] = {200, 1200, 3200, 7200, 15200, 31200, 63200, 127200, 191200, 255200};

    restore(l, &v);
    lone_knows(l, "process-crash/pid-gone", 3, 3, 0); /* told to it: it was there */
    for (int i = 0; i < COUNT(until); i++) {
        lone_run(l, until[i] - 1 - (int) (l->now / FTREE_MS - 1000));
        EXPECT_LINES(lone_log(l), "");
        lone_run(l, 1);
        lone_log(l);
        ck_assert_uint_gt(lone_known(l, 0).recheck, l->now);
    }
    lone_run(l, 63 * 1000);
    answers_about(l, 2, 2, FTREE_PATH_DATA);
    lone_all_ack(l);
    EXPECT_LINES(lone_log(l), "318200 withdraws unknown of n2: n2 answers over data\n"
                              "318200 -> n1 n2 data verdict-down\n");
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
    ck_assert_int_eq(l->withdrawals_told, 1);
}

TEST_CASE(how_one_rank_of_several_is_its_own_node_says)
{
    struct lone *l = lone_of(shape_star(4, 2), 0);

    lone_knows(l, "process-stopped/deputy-says-stopped", 2, 5, 0);
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
}

TEST_CASE(whoever_is_heard_over_its_silent_path_is_asked_at_once)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = by_sign(l, "nic-fault/interface-down", 2);

    restore(l, &v);
    lone_run(l, 120 * 1000);
    lone_log(l);
    speaks(l, 2, FTREE_PATH_MGMT); /* that one was never silent */
    speaks(l, 3, FTREE_PATH_DATA); /* that node's was not */
    ck_assert_int_eq(asked(l, 2), 0);
    speaks(l, 2, FTREE_PATH_DATA);
    ck_assert_int_eq(asked(l, 2), 1);
    ck_assert_int_eq(l->withdrawals, 0); /* it may have been long on its way */
    answers_about(l, 2, 2, FTREE_PATH_DATA);
    ck_assert_int_eq(l->withdrawals, 1);
}

/* A verdict of this node about itself, found by asking `suspect`. */
static void decide_about_self(struct lone *l, const char *sign, int32_t suspect, bool local_only)
{
    struct ftree_verdict v = by_sign(l, sign, l->self);
    struct ftree_evidence e = {.source = FTREE_EVIDENCE_PROBE,
                               .reach = FTREE_REACH_SILENT,
                               .target = suspect,
                               .by = l->self};

    ftree_verdict_add_evidence(&v, &e);
    e.target = 1; /* a witness */
    ftree_verdict_add_evidence(&v, &e);
    v.local_only = local_only;
    lone_finds(l, &v);
}

TEST_CASE(whether_it_is_cut_off_a_node_asks_others_by_turns)
{
    struct lone *l = lone_of(shape_star(6, 1), 0);

    struct ftree_verdict lost = by_sign(l, OUTAGE, 1);

    l->job.has_path[FTREE_PATH_MGMT] = false;
    lone_renew(l);
    decide_about_self(l, "unknown/no-node-answers", 3, true);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &lost), FTREE_OK); /* from before */
    lone_log(l);
    for (int i = 0; i < 4; i++) {
        static const int32_t turn[][2] = {{3, 4}, {5, 0}, {1, 2}, {3, 4}};
        lone_run(l, i == 0 ? 210 : 1000 << (i - 1));
        for (int32_t n = 1; n < 6; n++)
            ck_assert_int_eq(asked_over(l, 0, n, FTREE_PATH_DATA),
                             n != 1 && (n == turn[i][0] || n == turn[i][1]));
        lone_log(l);
    }
}

TEST_CASES(who_was_cut_off_tells_only_its_own_people_that_it_is_over, 2)
{
    struct lone *l = lone_of(shape_star(4, 1), _i ? 2 : 0);

    decide_about_self(l, "unknown/no-node-answers", 3, true);
    ck_assert_int_eq(l->reports, 1);
    lone_run(l, 500);
    lone_log(l);
    answers_about(l, l->self, 1, FTREE_PATH_MGMT);
    EXPECT_LINES(lone_log(l), _i ? "500 withdraws unknown of n2: n1 answers over mgmt\n"
                              : "500 withdraws unknown of n0: n1 answers over mgmt\n");
    ck_assert_int_eq(l->withdrawals, 1);
    ck_assert_int_eq(l->withdrawals_told, 1);
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
}

TEST_CASE(what_is_for_its_own_people_is_never_told_to_a_node_that_is_back)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    decide_about_self(l, "unknown/no-node-answers", 3, true);
    lone_log(l);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 3));
    EXPECT_LINES(lone_log(l), "");
}

TEST_CASE(who_speaks_to_a_node_that_takes_itself_for_cut_off_is_asked_at_once)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    decide_about_self(l, "unknown/own-data-path-silent", 3, false);
    speaks(l, 2, FTREE_PATH_MGMT);
    ck_assert_int_eq(asked_over(l, 0, 2, FTREE_PATH_DATA), 0);
    speaks(l, 2, FTREE_PATH_DATA);
    ck_assert_int_eq(asked_over(l, 0, 2, FTREE_PATH_DATA), 1);
    answers_about(l, 0, 2, FTREE_PATH_DATA);
    ck_assert_int_eq(l->withdrawals, 1);
    lone_run(l, 20);
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 3); /* and all who were told are told */
}

TEST_CASE(whoever_answers_a_crash_stays)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);

    decide(l, "process-crash/pid-gone", 9, 9);
    speaks(l, 9, FTREE_PATH_DATA);
    ck_assert_uint_eq(question(l, 9), 0);
    ck_assert(!lone_known(l, 0).is_rechecked);
    ck_assert(ftree_has_failed(l->ft, 9));
}

TEST_CASES(what_a_lost_node_has_decided_the_root_asks_about, 2)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), _i ? 3 : 0);
    struct ftree_verdict v = lone_verdict(l, "unknown/data-path-silent", 9, FTREE_NONE, 4);
    struct ftree_verdict lost = lone_verdict(l, OUTAGE, 4, FTREE_NONE, 1);

    lone_told(l, 1, _i ? WIRE_VERDICT_DOWN : WIRE_VERDICT_UP, &v);
    lone_run(l, 1000);
    ck_assert_uint_eq(question(l, 9), 0);
    lone_told(l, 1, _i ? WIRE_VERDICT_DOWN : WIRE_VERDICT_UP, &lost);
    lone_run(l, 250);
    ck_assert_int_eq(question(l, 9) != 0, !_i);
    if (!_i) {
        answers_about(l, 9, 9, FTREE_PATH_DATA);
        ck_assert_int_eq(l->withdrawals, 1);
    }
}

/* ---- telling --------------------------------------------------------------------------------- */

/* It is over before people were told, or after that. */
static const struct {
    int ms, told;
    const char *log;
} over_at[] = {
    {1000, 1,
     "1000 withdraws node-outage of n2: its agent answers again\n"
     "1000 -> n1 n2 n3 data verdict-down\n"},
    {210, 0,
     "210 withdraws node-outage of n2: its agent answers again\n"
     "210 node-outage of n2 is over before it was announced\n"
     "210 -> n1 n2 n3 data verdict-down\n"},
};

TEST_CASES(the_root_tells_who_was_told, COUNT(over_at))
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    decide_lost(l, 2);
    lone_all_ack(l);
    lone_run(l, over_at[_i].ms);
    lone_log(l);
    answers(l, 2);
    lone_all_ack(l);
    EXPECT_LINES(lone_log(l), over_at[_i].log);
    ck_assert_int_eq(l->withdrawals, 1);
    ck_assert_uint_eq(lone_verdict_at(l, 0).withdrawn, l->now);
    lone_run(l, 60000);
    EXPECT_LINES(lone_log(l), "");
    ck_assert_int_eq(l->reports, over_at[_i].told);
    ck_assert_int_eq(l->withdrawals_told, over_at[_i].told);
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
}

TEST_CASE(who_decided_tells_the_root)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v;

    decide_lost(l, 9);
    lone_acks(l, 1);
    lone_run(l, 210);
    lone_log(l);
    answers(l, 9);
    EXPECT_LINES(lone_log(l), "210 withdraws node-outage of n9: its agent answers again\n"
                              "210 sends verdict to n1\n"
                              "210 -> n1 data verdict-up\n");
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    lone_acks(l, 1);
    v = lone_verdict_at(l, 0);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v); /* it comes down */
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
}

static struct ftree_verdict over(const struct lone *l, int32_t node, int32_t fln)
{
    struct ftree_verdict v =
        lone_verdict(l, OUTAGE, node, FTREE_NONE, fln);

    v.withdrawn = l->now;
    return v;
}

/* The root must hear that the first is over, or it takes the second for the same. */
TEST_CASE(lost_once_more_the_first_withdrawal_is_told_all_the_same)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = lone_verdict(l, OUTAGE, 9, FTREE_NONE, 4);

    lone_finds(l, &v);
    lone_acks(l, 1);
    lone_run(l, 210);
    answers(l, 9);
    v.id++;
    lone_finds(l, &v);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    ck_assert_int_eq(lone_known(l, 1).up, FTREE_INSPECT_UP_SENT);
}

/* Node 1 has been told that node 9 is lost; now it comes up, and then down, or down only. */
TEST_CASES(on_its_way_up_and_down_it_is_passed_on_once, 2)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = over(l, 9, 4);

    v.withdrawn = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    lone_all_ack(l);
    lone_log(l);
    v.withdrawn = l->now;
    if (_i == 0) {
        lone_told(l, 4, WIRE_VERDICT_UP, &v);
        lone_told(l, 4, WIRE_VERDICT_UP, &v); /* who still tells it has not heard it */
        EXPECT_LINES(lone_log(l), "0 -> n4 data ack\n"
                                  "0 learns that node-outage of n9 is over\n"
                                  "0 sends verdict to n0\n"
                                  "0 -> n0 data verdict-up\n"
                                  "0 -> n4 data ack\n"
                                  "0 -> n4 data verdict-down\n");
    }
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    EXPECT_LINES(lone_log(l) + (_i ? strlen("0 learns that node-outage of n9 is over\n") : 0),
                 "0 -> n3 n4 data verdict-down\n"
                 "0 -> n0 n0 data ack nobody-waits\n");
    ck_assert_int_eq(l->withdrawals, 1);
}

TEST_CASES(it_may_overtake_its_verdict, 2)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), _i);
    enum wire_type type = _i ? WIRE_VERDICT_DOWN : WIRE_VERDICT_UP;
    struct ftree_verdict v = over(l, 9, 4);

    lone_told(l, 1 - _i, type, &v);
    ck_assert(!ftree_has_failed(l->ft, 9));
    v.withdrawn = 0;
    lone_told(l, 1 - _i, type, &v); /* it comes, too late */
    ck_assert(!ftree_has_failed(l->ft, 9));
    for (int32_t n = 0; n < NODES; n++)
        if (n != _i)
            lone_acks(l, n);
    lone_run(l, 5000);
    ck_assert_int_eq(l->verdicts + l->withdrawals, 0);
    ck_assert_int_eq(l->reports + l->withdrawals_told, 0);
}

TEST_CASE(found_by_two_it_is_over_for_both)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = over(l, 9, 4), other = over(l, 9, 1);

    v.withdrawn = 0;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_told(l, 1, WIRE_VERDICT_UP, &other); /* the same, found by another */
    ck_assert(!ftree_has_failed(l->ft, 9));
    ck_assert_int_eq(l->withdrawals, 1);
}

/* As a verdict does, its withdrawal passes a child that does not answer. */
TEST_CASE(a_silent_child_is_passed_over_and_told_when_it_is_well)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = over(l, 12, 5);
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    v.withdrawn = 0;
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 1);
    lone_acks(l, 2);
    lone_run(l, 500);
    v = over(l, 12, 5);
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 2);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1); /* node 1 is silent */
    EXPECT_LINES(lone_log(l), "850 verdict-down to n1 not acknowledged\n"
                              "850 suspects n1: peer-silent, rule silent-agent\n"
                              "850 -> n1 data+mgmt probe\n"
                              "850 -> n3 n4 data verdict-down\n");
    m.u.answer.nonce = ftree_inspect_question(l->ft, 1);
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    lone_run(l, 1);
    EXPECT_LINES(lone_log(l), "850 n1 is well: its agent answers\n"
                              "850 -> n1 data+mgmt verdict-down fresh\n");
}

TEST_CASE(who_is_back_is_told_what_it_has_missed)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    int32_t told = 0;

    decide_lost(l, 2);
    decide(l, "process-crash/pid-gone", 3, 3);
    lone_run(l, 1000);
    lone_log(l);
    answers(l, 2);
    for (int32_t i = 0; i < l->n_sent; i++)
        told += l->sent[i].to.node == 2 && l->sent[i].m.type == WIRE_VERDICT_DOWN &&
                l->sent[i].tolds == 1 && l->sent[i].told[0].node == 3;
    ck_assert_int_eq(told, 1);
}

TEST_CASE(who_leaves_asks_no_more)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    decide_lost(l, 2);
    ftree_leave(l->ft, l->now);
    lone_run(l, 20000);
    ck_assert_int_eq(asked(l, 2), 0);
    ck_assert(ftree_recheck_deadline(l->ft) == FTREE_NEVER);
}

/* It was over before, or the agent before learnt it after it had handed on the verdict. */
TEST_CASES(a_verdict_that_is_over_is_restored_as_such, 2)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = over(l, 2, 0);

    if (_i) {
        v.withdrawn = 0;
        restore(l, &v);
        ck_assert(ftree_has_failed(l->ft, 2));
        v.withdrawn = l->now;
    }
    restore(l, &v);
    ck_assert(!ftree_has_failed(l->ft, 2));
    lone_run(l, 5000);
    EXPECT_LINES(lone_log(l), "");
}

/* The agent was stopped while it gathered victims, and who acted for it found that it is over. */
TEST_CASE(what_is_over_when_it_is_restored_is_not_reported)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = lone_verdict(l, OUTAGE, 2, FTREE_NONE, 0);

    lone_finds(l, &v);
    v.withdrawn = l->now;
    restore(l, &v);
    lone_acks(l, 1);
    lone_acks(l, 3);
    lone_run(l, 2000);
    ck_assert_int_eq(l->reports, 0);
    v.withdrawn = 0; /* nor does it stand again */
    restore(l, &v);
    ck_assert(!ftree_has_failed(l->ft, 2));
}

/* ---- the own ranks --------------------------------------------------------------------------- */

/* What is seen of it one after the other, a second each.  Killed with its job it is neither stopped
 * nor gone for a while. */
static const struct {
    struct {
        enum ftree_phase phase;
        char proc_state;
    } seen[2];
    int withdrawals[2];
} stopped_rows[] = {
    /* ended, it did not run again, but one that left by itself did */
    {{{FTREE_PHASE_LEFT, 'X'}, {FTREE_PHASE_LEFT, 0}}, {0, 1}},
    {{{FTREE_PHASE_OUTSIDE, 'X'}, {FTREE_PHASE_GONE, 0}}, {0, 0}},
    {{{FTREE_PHASE_OUTSIDE, 'D'}, {FTREE_PHASE_GONE, 0}}, {0, 0}},
    {{{FTREE_PHASE_OUTSIDE, 'Z'}, {FTREE_PHASE_GONE, 0}}, {0, 0}},
    {{{FTREE_PHASE_GONE, 'T'}, {FTREE_PHASE_GONE, 'T'}}, {0, 0}},
};

static struct lone *with_a_stopped_rank(void)
{
    struct lone *l = lone_of(shape_star(1, 2), 0);

    l->state[1].proc_state = 'T';
    lone_stall(l, 0, 1);
    lone_run(l, 5000);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->withdrawals, 0);
    lone_log(l);
    return l;
}

TEST_CASES(a_stopped_rank_that_is_killed_does_not_run_again, COUNT(stopped_rows))
{
    struct lone *l = with_a_stopped_rank();

    for (int i = 0; i < COUNT(stopped_rows[_i].seen); i++) {
        l->state[1].phase = stopped_rows[_i].seen[i].phase;
        l->state[1].proc_state = stopped_rows[_i].seen[i].proc_state;
        lone_run(l, 1000);
        ck_assert_int_eq(l->withdrawals, stopped_rows[_i].withdrawals[i]);
    }
    ck_assert_int_eq(l->verdicts, 1);
}

TEST_CASE(a_stopped_rank_that_runs_again_is_seen_by_its_own_node)
{
    struct lone *l = with_a_stopped_rank();

    l->state[1].proc_state = 'S';
    lone_run(l, 1000);
    EXPECT_LINES(lone_log(l), "5350 withdraws process-stopped of n0: it runs again\n");
    ck_assert_int_eq(l->withdrawals, 1);
    ck_assert_int_eq(l->withdrawals_told, 1);
    l->state[1].proc_state = 'T'; /* and once more */
    lone_run(l, 20000);
    ck_assert_int_eq(l->verdicts, 2);
    ck_assert_int_eq(l->reports, 2);
}

/* ---- an end to remembering ------------------------------------------------------------------- */

#define KEPT 32 /* of what has been over for a minute */

/* All but `silent` are told within this time, where that is not at once with others. */
static void all_are_told(struct lone *l, int ms, int32_t silent)
{
    for (int step = 67; ms > 0; ms -= step) {
        lone_run(l, step);
        for (int32_t n = 1; n < 4; n++)
            if (n != silent)
                lone_acks(l, n);
    }
}

/* Node 2 is lost, is back, and all are told; the id of the verdict. */
static uint32_t flap(struct lone *l, uint32_t id)
{
    struct ftree_verdict v =
        lone_verdict(l, OUTAGE, 2, FTREE_NONE, l->self);

    v.id = id;
    lone_finds(l, &v);
    all_are_told(l, 201, 2);
    answers(l, 2);
    all_are_told(l, 335, FTREE_NONE);
    lone_log(l);
    return id;
}

static void flap_each(struct lone *l, int times, int ms)
{
    for (int i = 0; i < times; i++) {
        flap(l, 1000 + (uint32_t) l->verdicts);
        lone_run(l, ms);
        lone_log(l);
    }
}

TEST_CASE(of_what_was_over_long_ago_the_youngest_are_kept)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    flap_each(l, 60, 61 * 1000);
    ck_assert_int_eq(l->verdicts, 60);
    ck_assert_int_eq(l->withdrawals, 60);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), KEPT + 1); /* and the last */
    for (int32_t i = 0; i <= KEPT; i++) /* oldest first, as ever */
        ck_assert_uint_eq(lone_verdict_at(l, i).id, 1000 + 60 - KEPT - 1 + (uint32_t) i);
}

TEST_CASE(what_was_over_a_moment_ago_is_kept)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    int32_t known;

    flap_each(l, 60, 10);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), 60);
    for (uint32_t id = 1000; id < 1060; id++) { /* late, or twice */
        struct ftree_verdict v =
            lone_verdict(l, OUTAGE, 2, FTREE_NONE, l->self);
        v.id = id;
        lone_told(l, 1, id % 2 ? WIRE_VERDICT_UP : WIRE_VERDICT_DOWN, &v);
        ck_assert(!ftree_has_failed(l->ft, 2));
        lone_acks(l, 1);
        lone_log(l);
    }
    ck_assert_int_eq(l->verdicts, 60);
    lone_run(l, 61 * 1000);
    known = ftree_inspect_verdicts(l->ft);
    flap_each(l, 1, 0);
    ck_assert_int_eq(known, 60); /* nothing wakes only to forget */
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), KEPT + 1);
}

TEST_CASE(what_stands_is_kept)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    decide(l, "process-crash/pid-gone", 3, 3);
    decide(l, "unknown/data-path-silent", 1, FTREE_NONE);
    flap_each(l, 50, 61 * 1000);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), KEPT + 3);
    ck_assert(ftree_has_failed(l->ft, 3));
    ck_assert_ptr_nonnull(ftree_verdict_find(l->ft, FTREE_CLASS_UNKNOWN, 1, FTREE_NONE));
}

/* So many that are over, from 2000 on. */
static void restore_more_than_kept(struct lone *l, int32_t node, int32_t fln)
{
    for (int i = 0; i < KEPT + 8; i++) {
        struct ftree_verdict old = over(l, node, fln);
        old.id = 2000 + (uint32_t) i;
        restore(l, &old);
    }
}

/* The i-th, to be changed by the step that is tested. */
static struct known *known(const struct lone *l, int32_t i)
{
    struct ftree_inspect_verdict v = lone_known(l, i);
    struct summary o = {.node = v.node, .fln = v.fln, .id = v.id};

    return ftree_verdict_by_id(l->ft, &o);
}

/* Who decided has not been heard yet by the root: it goes on telling. */
TEST_CASE(what_is_still_to_be_told_is_kept)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = over(l, 9, 4);

    restore_more_than_kept(l, 10, 7);
    restore(l, &v);
    for (int32_t i = 0; i < ftree_inspect_verdicts(l->ft); i++)
        ftree_announce_set_up(l->ft, known(l, i), UP_SENT);
    lone_sleep(l, 61 * 1000);
    ftree_announce_forget(l->ft, l->now);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), KEPT + 9);
    for (int32_t i = 0; i < ftree_inspect_verdicts(l->ft); i++)
        ftree_announce_set_up(l->ft, known(l, i), UP_NOTHING);
    /* on its way to the parent, who may be silent: then it goes another way */
    ftree_announce_set_up(l->ft, known(l, 0), UP_PENDING);
    LONE_STEP(l, ftree_announce_tick(l->ft, l->now));
    ftree_announce_set_up(l->ft, known(l, 0), UP_NOTHING);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
    ftree_announce_forget(l->ft, l->now);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), KEPT);
    ck_assert_uint_eq(lone_known(l, 0).id, 2000);
    ck_assert_uint_eq(lone_known(l, 1).id, 2010);
}

/* The acting root did not run while it was to tell that it is over. */
TEST_CASE(what_the_root_will_tell_is_kept)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    decide(l, "process-crash/pid-gone", 3, 3); /* told at once */
    decide_lost(l, 2); /* and this one with others */
    ck_assert_int_eq(ftree_inspect_queued(l->ft), 1);
    lone_over(l, 1, "it is");
    l->now += FTREE_MS;
    restore_more_than_kept(l, 1, 1);
    lone_sleep(l, 61 * 1000);
    ftree_announce_forget(l->ft, l->now);
    ck_assert_ptr_null(ftree_check(l->ft));
    ck_assert_int_eq(lone_known(l, 1).node, 2);
}

/* Whoever is silent has its children told in its place, and those need what the message tells. */
TEST_CASE(what_a_letter_still_tells_is_kept)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict told[2];
    struct wire_message m;
    struct wire_summaries w;

    restore_more_than_kept(l, 10, 7);
    lone_sleep(l, 61 * 1000);
    told[0] = lone_verdict_at(l, 3);
    told[1] = lone_verdict_at(l, 4);
    m = messages_told(l->now, told, 2, &w);
    ftree_outbox_put(l->ft, l->now, 3, &m);
    ftree_announce_forget(l->ft, l->now);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), KEPT);
    ck_assert_uint_eq(lone_known(l, 0).id, 2003);
    ck_assert_uint_eq(lone_known(l, 1).id, 2004);
    ck_assert_uint_eq(lone_known(l, 2).id, 2010);
}

/* From a process that was stopped for hours, say: it is asked about before people are told. */
TEST_CASE(a_forgotten_one_that_comes_late_is_over_before_it_is_told)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = lone_verdict(l, OUTAGE, 2, FTREE_NONE, 0);
    int32_t reports;

    flap_each(l, 50, 61 * 1000);
    v.id = 1000;
    ck_assert(!is_known(l, v.id));
    reports = l->reports;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    ck_assert(ftree_has_failed(l->ft, 2));
    lone_acks(l, 1);
    lone_acks(l, 3);
    lone_run(l, 201);
    answers(l, 2);
    lone_all_ack(l);
    lone_run(l, 5000);
    ck_assert(!ftree_has_failed(l->ft, 2));
    ck_assert_int_eq(l->reports, reports);
}

TEST_CASE(a_successor_remembers_no_more_than_that)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = over(l, 2, 0), own;
    int class_;

    lone_sleep(l, 61 * 1000);
    for (uint32_t turn = 0; turn < 2; turn++) /* the board gives it all of them again */
        for (uint32_t i = 0; i < 60; i++) {
            v.id = 500 + i;
            v.withdrawn = 1000 * FTREE_MS + i;
            restore(l, &v);
            ck_assert_int_le(ftree_inspect_verdicts(l->ft), KEPT);
        }
    for (uint32_t i = 60 - KEPT; i < 60; i++)
        ck_assert(is_known(l, 500 + i));
    /* others may still remember what it has forgotten: its own next is none of those */
    const struct rules_sign *sign = base_sign(OUTAGE, &class_);
    ftree_verdict_init(l->ft, l->now, &own, sign, class_, 2, FTREE_NONE);
    ck_assert_uint_gt(own.id, 559);
}

/* ---- stories --------------------------------------------------------------------------------- */

static void expect_told(const struct world *w, int32_t verdicts, int32_t withdrawals)
{
    for (int32_t n = 0; n < w->job.nodes; n++) {
        ck_assert_msg(w->verdicts_on[n] == verdicts, "node %d knows %d verdicts", (int) n,
                      (int) w->verdicts_on[n]);
        ck_assert_msg(w->withdrawals_on[n] == withdrawals, "node %d knows of %d withdrawals",
                      (int) n, (int) w->withdrawals_on[n]);
        for (int32_t other = 0; other < w->job.nodes; other++)
            ck_assert(!ftree_has_failed(w->node[n].ft, other));
    }
}

TEST_CASE(a_stopped_process_is_continued)
{
    struct world *w = world_of(shape_star(4, 2));

    w->rank[5].proc_state = 'T';
    world_all_wait(w, FTREE_NONE, 5);
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    w->rank[5].proc_state = 'R';
    for (int32_t r = 0; r < 8; r++)
        world_go_on(w, r);
    world_trace(w);
    world_run(w, 1500 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->withdrawals, 1);
    expect_told(w, 1, 1);
}

TEST_CASES(a_node_is_lost_after_its_rank_was_stopped, 4)
{
    struct world *w = world_of(shape_star(4, 1));

    w->rank[_i].proc_state = 'T';
    world_all_wait(w, FTREE_NONE, _i);
    ck_assert(world_run_until_reports(w, 1, 3 * SECOND));
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_PROCESS_STOPPED);
    ck_assert_int_eq(w->report[0].fln, _i);
    world_run(w, 20 * SECOND); /* that it is still stopped is no news */
    ck_assert_int_eq(w->reports, 1);
    w->node[_i].off = true;
    ck_assert(world_run_until_reports(w, 2, 15 * SECOND));
    ck_assert_int_eq(w->report[1].class_, FTREE_CLASS_NODE_OUTAGE);
    ck_assert_int_eq(w->report[1].node, _i);
}

static void cut(struct world *w, int32_t node, bool down)
{
    w->node[node].path_down[FTREE_PATH_DATA] = w->node[node].path_down[FTREE_PATH_MGMT] = down;
}

static void all_go_on(struct world *w)
{
    for (int32_t r = 0; r < w->job.size; r++)
        world_go_on(w, r);
}

TEST_CASES(a_node_is_frozen_for_three_seconds, 7)
{
    struct world *w = world_of(shape_binary(7, 1));
    int32_t other = (_i + 3) % 7;

    w->node[_i].mute = w->node[_i].no_deputy = true;
    world_all_wait(w, _i, _i);
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_NODE_FROZEN);
    ck_assert_int_eq(w->report[0].node, _i);
    w->node[_i].mute = w->node[_i].no_deputy = false;
    all_go_on(w);
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 1);
    for (int32_t n = 0; n < 7; n++) {
        ck_assert_int_eq(w->withdrawals_on[n], w->verdicts_on[n]);
        ck_assert(!ftree_has_failed(w->node[n].ft, _i));
    }
    w->node[other].mute = w->node[other].no_deputy = true; /* the next is found */
    world_all_wait(w, other, other);
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->report[1].node, other);
}

/* Nobody who runs is accused, and whoever runs again counts as well everywhere. */
TEST_CASES(whoever_is_frozen_and_continued, 20)
{
    struct world *w = world_of(shape_tree(12, 1, 3));

    w->random = (uint64_t) _i;
    w->jitter = 5 * FTREE_MS;
    w->loss_percent = _i % 2 ? 5 : 0;
    for (int turn = 0; turn < 6; turn++) {
        int32_t node = (_i + 5 * turn) % 12;
        w->node[node].mute = w->node[node].no_deputy = true;
        world_all_wait(w, node, node);
        world_run(w, (ftree_time) (1 + turn) * 700 * FTREE_MS);
        w->node[node].mute = w->node[node].no_deputy = false;
        all_go_on(w);
        world_run(w, 2 * MINUTE);
        for (int32_t i = 0; i < w->reports; i++) {
            bool stopped_once = false;
            for (int t = 0; t <= turn; t++)
                stopped_once = stopped_once || w->report[i].node == (_i + 5 * t) % 12;
            ck_assert(stopped_once);
        }
        for (int32_t n = 0; n < 12; n++)
            for (int32_t of = 0; of < 12; of++)
                ck_assert_msg(!ftree_has_failed(w->node[n].ft, of),
                              "turn %d: node %d takes node %d for lost", turn, (int) n, (int) of);
    }
    ck_assert_int_gt(w->reports, 0);
    ck_assert_int_eq(w->withdrawals, w->reports);
}

/* A node is cut off, which it does not hear of itself; or its data path is: its management path
 * tells it from a lost node.  The node is the i-th of seven. */
TEST_CASES(a_path_is_silent_for_a_while, 2 * 7)
{
    struct world *w = world_of(shape_binary(7, 1));
    int32_t node = _i % 7;
    bool both = _i < 7;

    for (int turn = 1; turn <= 3; turn++) { /* it is found each time */
        w->node[node].path_down[FTREE_PATH_DATA] = true;
        w->node[node].path_down[FTREE_PATH_MGMT] = both;
        world_all_wait(w, node, node);
        ck_assert(world_run_until_reports(w, turn, 5 * SECOND));
        ck_assert_int_eq(w->report[turn - 1].node, node);
        ck_assert_str_eq(w->report[turn - 1].rule, both ? OUTAGE : "unknown/data-path-silent");
        world_run(w, both ? 0 : 10 * SECOND);
        ck_assert_int_eq(w->withdrawals, turn - 1); /* it lasts */
        all_go_on(w);
        cut(w, node, false);
        world_run(w, both ? 20 * SECOND : MINUTE);
        ck_assert_int_eq(w->reports, turn);
        ck_assert_int_eq(w->withdrawals, turn);
        for (int32_t n = 0; n < 7; n++) {
            ck_assert_int_eq(w->withdrawals_on[n], both && n == node ? 0 : turn);
            ck_assert_int_eq(w->verdicts_on[n], both && n == node ? 0 : turn);
            ck_assert(!ftree_has_failed(w->node[n].ft, node));
        }
    }
}

TEST_CASE(a_nic_is_down_for_a_while)
{
    struct world *w = world_of(shape_star(4, 1));

    w->node[2].path_down[FTREE_PATH_DATA] = true;
    w->state[2].link = FTREE_LINK_DOWN;
    world_all_wait(w, 2, 2);
    world_run(w, 4 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_str_eq(w->report[0].rule, "nic-fault/interface-down");
    w->node[2].path_down[FTREE_PATH_DATA] = false;
    w->state[2].link = FTREE_LINK_UP;
    all_go_on(w);
    world_trace(w);
    world_run(w, MINUTE);
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->withdrawals, 1);
    expect_told(w, 1, 1);
}

/* To who asks about its child all are silent: it says so of itself, and that it is over. */
TEST_CASES(the_own_data_path_is_silent_for_a_while, 3)
{
    struct world *w = world_of(shape_binary(7, 1));

    w->node[_i].path_down[FTREE_PATH_DATA] = true;
    world_wait(w, _i, 2 * _i + 1);
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].node, _i);
    ck_assert_int_eq(w->withdrawals, 0);
    world_go_on(w, _i);
    w->node[_i].path_down[FTREE_PATH_DATA] = false;
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 1);
    expect_told(w, 1, 1);
}

/* A node that nobody answers tells its own people, and then that it is over; the others take it for
 * lost, and then they do not. */
TEST_CASES(a_node_that_nobody_answers_is_reached_again, 7)
{
    struct world *w = world_of(shape_binary(7, 1));
    int32_t own = 0;

    cut(w, _i, true);
    world_all_wait(w, _i, _i);
    world_wait(w, _i, (_i + 1) % 7);
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    for (int i = 0; i < 2; i++)
        own += w->reporter[i] == _i && w->report[i].local_only &&
               !strcmp(w->report[i].rule, "unknown/no-node-answers");
    ck_assert_int_eq(own, 1);
    ck_assert_int_eq(w->withdrawals, 0);
    all_go_on(w);
    cut(w, _i, false);
    world_run(w, 2 * MINUTE);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->withdrawals, 2);
    expect_told(w, 1, 1); /* each of its own */
}

/* What is over is over everywhere, whatever the order in which messages arrive, and is not
 * remembered for ever. */
TEST_CASES(a_path_flaps, 6)
{
    struct world *w = world_of(shape_binary(7, 1));
    int32_t node = 1 + _i;

    w->random = (uint64_t) _i;
    w->jitter = 5 * FTREE_MS;
    w->dup_percent = 10;
    for (int turn = 1; turn <= 50; turn++) {
        w->node[node].path_down[FTREE_PATH_DATA] = true;
        world_all_wait(w, node, node);
        ck_assert(world_run_until_reports(w, turn, 5 * SECOND));
        all_go_on(w);
        w->node[node].path_down[FTREE_PATH_DATA] = false;
        world_run(w, MINUTE);
        for (int32_t n = 0; n < 7; n++) { /* it may overtake its verdict */
            ck_assert_int_eq(w->withdrawals_on[n], w->verdicts_on[n]);
            ck_assert_int_le(ftree_inspect_verdicts(w->node[n].ft), KEPT + 2);
        }
    }
    ck_assert_int_eq(w->withdrawals, 50);
}

/* ---- rare orders of events ------------------------------------------------------------------ */

/* Node 1 decided about 5 and was lost, so the root asked about both; now the root is lost. */
TEST_CASE(who_becomes_root_asks_about_all_that_nobody_asks_about)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    int32_t next = ftree_inspect_root_substitute(l->ft, 1);
    struct ftree_verdict v;

    lone_free(l);
    l = lone_of(shape_binary(NODES, 1), next);
    v = lone_verdict(l, OUTAGE, 5, FTREE_NONE, 1);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    v = lone_verdict(l, OUTAGE, 1, FTREE_NONE, 0);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    lone_run(l, 10);
    decide_lost(l, 0);
    lone_log(l);
    lone_run(l, 5000);
    ck_assert_int_gt(asked(l, 0), 0);
    ck_assert_int_gt(asked(l, 1), 0);
    ck_assert_int_gt(asked(l, 5), 0);
}

/* Two found the same; the withdrawal names the one, and a copy of it comes late. */
TEST_CASE(a_late_copy_under_another_name_is_not_believed)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict a = lone_verdict(l, OUTAGE, 5, FTREE_NONE, 2);
    struct ftree_verdict b = a;

    b.fln = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &a);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &b);
    lone_run(l, 1000);
    ck_assert(ftree_has_failed(l->ft, 5));
    b.withdrawn = l->now;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &b);
    ck_assert(!ftree_has_failed(l->ft, 5));
    b.withdrawn = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &b);
    ck_assert(!ftree_has_failed(l->ft, 5));
    a.withdrawn = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &a);
    ck_assert(!ftree_has_failed(l->ft, 5));
}

/* The way up was blocked when the verdict was to be told; that it is over has its own tries. */
TEST_CASE(a_withdrawal_is_told_as_often_as_a_verdict)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    int32_t n[2];

    for (int i = 0; i < 2; i++) {
        lone_log(l);
        if (i == 0)
            decide_lost(l, 5);
        else
            answers(l, 5);
        n[i] = 0;
        for (int ms = 0; ms < 40000; ms += 100) {
            lone_acks(l, 0);
            n[i] += lone_count(l, WIRE_VERDICT_UP);
            if (lone_known(l, 0).withdrawn == 0 || i == 1)
                lone_log(l);
            lone_run(l, 100);
        }
    }
    ck_assert_int_gt(n[0], 4);
    ck_assert_int_ge(n[1], n[0]);
}

/* The job has one network, and it is the management's. */
TEST_CASE(a_path_that_works_again_where_there_is_only_management)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    l->job.has_path[FTREE_PATH_DATA] = false;
    lone_renew(l);
    decide(l, "unknown/silent-from-here-only", 2, FTREE_NONE);
    lone_run(l, 1000);
    ck_assert_int_gt(asked_over(l, 2, 2, FTREE_PATH_MGMT), 0);
    answers(l, 2);
    ck_assert_int_eq(l->withdrawals, 1);
}

/* ---- once more, before a job is ended -------------------------------------------------------- */

/* What happens to the component, from the beginning and again once it is told. */
enum fate {
    LOST, /* its node has no power */
    STOPPED, /* a rank of several, which its own node sees */
    AGENT_STOPPED, /* with the agent: the deputy says so */
    FROZEN, /* its node is: neither agent nor deputy answers */
    REFUSED, /* its process has ended: the kernel refuses the port */
    ENDED, /* and its own node sees that */
    WELL
};

static void befalls(struct world *w, int32_t rank, enum fate fate)
{
    int32_t node = w->rank_node[rank];

    w->node[node].off = fate == LOST;
    w->node[node].mute = fate == AGENT_STOPPED || fate == FROZEN;
    w->node[node].no_deputy = fate == REFUSED || fate == FROZEN;
    w->node[node].gone = fate == REFUSED;
    w->rank[rank].proc_state = fate == STOPPED || fate == AGENT_STOPPED ? 'T' : 'R';
    w->rank[rank].phase = fate == ENDED ? FTREE_PHASE_GONE : FTREE_PHASE_OUTSIDE;
    if (fate == ENDED)
        ck_assert_int_eq(ftree_rank_gone(w->node[node].ft, w->now, rank), FTREE_OK);
}

/* A fault of a rank or of its node is told by node 0, which then asks once more; what comes of it,
 * and whether that is known at once. */
static const struct {
    int32_t ppn, rank;
    enum fate fate, then;
    int32_t fln;
    enum ftree_confirmed confirmed;
    bool at_once;
} confirmations[] = {
    {1, 5, LOST, LOST, 2, FTREE_CONFIRMED_STANDS, false},
    {1, 5, LOST, WELL, 2, FTREE_CONFIRMED_OVER, false},
    {1, 2, LOST, WELL, 0, FTREE_CONFIRMED_OVER, false},
    {2, 11, STOPPED, STOPPED, 5, FTREE_CONFIRMED_STANDS, false},
    {2, 11, STOPPED, WELL, 5, FTREE_CONFIRMED_OVER, false},
    {2, 11, STOPPED, LOST, 5, FTREE_CONFIRMED_STANDS, false},
    {2, 10, AGENT_STOPPED, AGENT_STOPPED, 2, FTREE_CONFIRMED_STANDS, false},
    {2, 10, AGENT_STOPPED, WELL, 2, FTREE_CONFIRMED_OVER, false},
    {1, 5, FROZEN, FROZEN, 2, FTREE_CONFIRMED_STANDS, false},
    {1, 5, FROZEN, WELL, 2, FTREE_CONFIRMED_OVER, false},
    {1, 5, STOPPED, STOPPED, 5, FTREE_CONFIRMED_STANDS, false}, /* its agent is not its process */
    {1, 5, STOPPED, WELL, 5, FTREE_CONFIRMED_OVER, false},
    {2, 1, STOPPED, STOPPED, 0, FTREE_CONFIRMED_STANDS, true}, /* a rank of the own node */
    {2, 1, STOPPED, WELL, 0, FTREE_CONFIRMED_OVER, true},
    {1, 0, STOPPED, STOPPED, 0, FTREE_CONFIRMED_STANDS,
     false}, /* which leaves nobody here who runs */
    {1, 0, STOPPED, WELL, 0, FTREE_CONFIRMED_OVER, true},
    {1, 5, REFUSED, REFUSED, 2, FTREE_CONFIRMED_STANDS, false},
    {1, 5, REFUSED, WELL, 2, FTREE_CONFIRMED_OVER, false},
    {2, 11, ENDED, ENDED, 5, FTREE_CONFIRMED_STANDS, true}, /* which is for ever */
};

TEST_CASES(what_comes_of_asking_once_more, COUNT(confirmations))
{
    int32_t rank = confirmations[_i].rank;
    struct world *w = world_of(shape_binary(7, confirmations[_i].ppn));
    const struct ftree_verdict *v = &w->report[0];
    struct ftree *root = w->node[0].ft;
    enum ftree_confirmed c;
    ftree_time asked;

    befalls(w, rank, confirmations[_i].fate);
    world_all_wait(w, w->rank_node[rank], rank);
    ck_assert(world_run_until_reports(w, 1, 5 * SECOND));
    ck_assert_int_eq(w->reporter[0], 0);
    ck_assert_int_eq(v->fln, confirmations[_i].fln);
    if (confirmations[_i].then != ENDED)
        befalls(w, rank, confirmations[_i].then);
    asked = w->now;
    ck_assert_int_eq(ftree_confirm(root, w->now, v->fln, v->id), FTREE_OK);
    c = ftree_confirmed(root, v->fln, v->id);
    ck_assert_int_eq(c != FTREE_CONFIRMED_PENDING, confirmations[_i].at_once);
    while ((c = ftree_confirmed(root, v->fln, v->id)) == FTREE_CONFIRMED_PENDING)
        world_run(w, FTREE_MS);
    ck_assert_int_eq(c, confirmations[_i].confirmed);
    ck_assert_uint_le(w->now - asked, 301 * FTREE_MS);
    ck_assert_int_eq(w->withdrawals, c == FTREE_CONFIRMED_OVER);
}

/* All ranks are stopped, one of them goes on a minute later, and another after it. */
static const struct {
    int32_t ppn, stopped, resumed, next;
    enum ftree_confirmed confirmed;
} suspensions[] = {
    {1, 5, 5, 0, FTREE_CONFIRMED_OVER},   {1, 5, 0, 6, FTREE_CONFIRMED_STANDS},
    {1, 5, 6, 0, FTREE_CONFIRMED_STANDS}, {1, 5, 0, 5, FTREE_CONFIRMED_OVER},
    {1, 5, 6, 5, FTREE_CONFIRMED_OVER},   {2, 1, 0, 2, FTREE_CONFIRMED_STANDS},
    {2, 1, 1, 0, FTREE_CONFIRMED_OVER},   {2, 1, 0, 1, FTREE_CONFIRMED_OVER},
    {2, 1, 13, 1, FTREE_CONFIRMED_OVER},  {2, 11, 10, 0, FTREE_CONFIRMED_STANDS},
};

TEST_CASES(nothing_is_done_while_all_are_stopped, COUNT(suspensions))
{
    struct world *w = world_of(shape_binary(7, suspensions[_i].ppn));
    const struct ftree_verdict *v = &w->report[0];
    struct ftree *root = w->node[0].ft;
    int32_t stopped = suspensions[_i].stopped;

    befalls(w, stopped, STOPPED);
    world_all_wait(w, w->rank_node[stopped], stopped);
    ck_assert(world_run_until_reports(w, 1, 5 * SECOND));
    for (int32_t r = 0; r < 7 * suspensions[_i].ppn; r++)
        w->rank[r].proc_state = 'T';
    ck_assert_int_eq(ftree_confirm(root, w->now, v->fln, v->id), FTREE_OK);
    world_run(w, 60 * SECOND);
    ck_assert_int_eq(ftree_confirmed(root, v->fln, v->id), FTREE_CONFIRMED_PENDING);
    w->rank[suspensions[_i].resumed].proc_state = 'R';
    world_run(w, 3 * SECOND);
    ck_assert_int_ne(ftree_confirmed(root, v->fln, v->id), FTREE_CONFIRMED_STANDS);
    w->rank[suspensions[_i].next].proc_state = 'R';
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(ftree_confirmed(root, v->fln, v->id), suspensions[_i].confirmed);
}

/* The others have paths of their own to what the node that decided did not reach. */
TEST_CASE(a_path_that_another_node_took_for_dead_is_asked_from_here)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "nic-fault/interface-down", 2, FTREE_NONE, 1);

    restore(l, &v);
    ck_assert_int_eq(ftree_confirm(l->ft, l->now, v.fln, v.id), FTREE_OK);
    ck_assert_int_eq(asked(l, 2), 1);
    lone_run(l, 200); /* the first was lost */
    ck_assert_int_eq(asked(l, 2), 2);
    answers_about(l, 2, 2, FTREE_PATH_MGMT); /* it did all the time */
    ck_assert_int_eq(ftree_confirmed(l->ft, v.fln, v.id), FTREE_CONFIRMED_PENDING);
    answers_about(l, 2, 2, FTREE_PATH_DATA);
    ck_assert_int_eq(ftree_confirmed(l->ft, v.fln, v.id), FTREE_CONFIRMED_OVER);
}

/* While the own process is stopped answers come and wait. */
TEST_CASE(what_waits_to_be_read_is_read_before_it_stands)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = lone_verdict(l, OUTAGE, 2, FTREE_NONE, 0);

    restore(l, &v);
    ck_assert_int_eq(ftree_confirm(l->ft, l->now, v.fln, v.id), FTREE_OK);
    lone_sleep(l, 2000);
    lone_run(l, 10);
    ck_assert_int_eq(ftree_confirmed(l->ft, v.fln, v.id), FTREE_CONFIRMED_PENDING);
    lone_run(l, 1000);
    ck_assert_int_eq(ftree_confirmed(l->ft, v.fln, v.id), FTREE_CONFIRMED_STANDS);
}

TEST_CASE(what_is_not_known_is_over_and_cannot_be_confirmed)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_verdict v = lone_verdict(l, OUTAGE, 2, FTREE_NONE, 0);

    ck_assert_int_eq(ftree_confirm(l->ft, l->now, v.fln, v.id), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_confirmed(l->ft, v.fln, v.id), FTREE_CONFIRMED_OVER);
    restore(l, &v);
    ck_assert_int_eq(ftree_confirmed(l->ft, v.fln, v.id), FTREE_CONFIRMED_STANDS);
    ftree_leave(l->ft, l->now);
    ck_assert_int_eq(ftree_confirm(l->ft, l->now, v.fln, v.id), FTREE_OK);
    ck_assert_int_eq(ftree_confirmed(l->ft, v.fln, v.id), FTREE_CONFIRMED_STANDS);
}
