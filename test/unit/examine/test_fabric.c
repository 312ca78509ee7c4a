/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "shape.h"
#include "suite.h"

#include <string.h>

/* The fabric path: who is asked, what the answers come to, and what is no answer. */

#define DATA FTREE_PATH_DATA
#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

enum {
    NONE = FTREE_FABRIC_NONE,
    PASSES = FTREE_FABRIC_PASSES,
    SILENT = FTREE_FABRIC_SILENT,
    IDLE = FTREE_FABRIC_IDLE
};

static struct lone *with_fabric(void)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    l->fabric = true;
    lone_renew(l);
    lone_run(l, 3000); /* what has begun before this did not begin before all time */
    return l;
}

static void wait_by(struct lone *l, int kind, int32_t by, int32_t node, int ms)
{
    struct wire_message m = {.type = WIRE_SYMPTOM};

    ftree_symptom_init(&m.u.symptom, kind, node, node, by, l->now - (ftree_time) ms * FTREE_MS, l->now);
    lone_hear(l, by, DATA, &m);
    lone_run(l, 1);
    lone_answer(l, node, DATA, FTREE_ROLE_AGENT);
}

static void wait_of(struct lone *l, int32_t by, int32_t node)
{
    wait_by(l, FTREE_SYMPTOM_PEER_STALL, by, node, 2500);
}

/* Node 1 has waited for node 2, which is well. */
static void wait_for(struct lone *l, int ms)
{
    wait_by(l, FTREE_SYMPTOM_PEER_STALL, 1, 2, ms);
}

/* How many suspects since the last lone_log(): each by a message over both paths. */
static int asked_about(const struct lone *l)
{
    int n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].m.type == WIRE_FABRIC && l->sent[i].m.u.fabric.step == WIRE_FABRIC_ASK_WAIT;
    return n / 2;
}

static uint32_t nonce_of(const struct lone *l, int step, int32_t to, int32_t target)
{
    for (int32_t i = l->n_sent - 1; i >= 0; i--) {
        const struct wire_fabric *w = &l->sent[i].m.u.fabric;
        if (l->sent[i].m.type == WIRE_FABRIC && w->step == step && l->sent[i].to.node == to &&
            w->node == target)
            return w->nonce;
    }
    return 0;
}

static void hear(struct lone *l, int32_t from, int step, uint32_t nonce, int32_t node, int says,
                 const char *text)
{
    struct wire_message m = {.type = WIRE_FABRIC,
                             .u.fabric = {.nonce = nonce,
                                          .step = (uint8_t) step,
                                          .node = node,
                                          .says = (uint8_t) says,
                                          .us = says == PASSES ? 35 : 0,
                                          .len = strlen(text),
                                          .bytes = (const uint8_t *) text}};

    lone_hear(l, from, DATA, &m);
}

/* Node 2 opens its end, and what is sent there from here meets with this. */
static void own_line(struct lone *l, int says)
{
    uint32_t nonce = nonce_of(l, WIRE_FABRIC_OPEN, 2, 2);

    ck_assert_uint_ne(nonce, 0);
    hear(l, 2, WIRE_FABRIC_ADDRESS, nonce, 2, 0, "address");
    ck_assert_uint_eq(l->fabric_number, nonce);
    ftree_fabric_said(l->ft, l->now, nonce, (enum ftree_fabric) says, says == PASSES ? 40 : 0, "");
    if (says != SILENT)
        return;
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_CLOSE, 2, 2), nonce);
    hear(l, 2, WIRE_FABRIC_OVER, nonce, 2, PASSES, "");
}

/* From the reporter to the suspect, and to this node; from this node to the suspect. */
static void play_round(struct lone *l, int to_suspect, int to_third, int from_third)
{
    uint32_t nonce = nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2);

    ck_assert_uint_ne(nonce, 0);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_ASK, 1, 0), nonce);
    own_line(l, from_third);
    hear(l, 1, WIRE_FABRIC_SAID, nonce, 0, to_third, "");
    hear(l, 1, WIRE_FABRIC_SAID, nonce, 2, to_suspect, "");
    lone_run(l, 1);
}

static const struct {
    int to_suspect, to_third, from_third;
    const char *rule; /* NULL: no verdict */
    int32_t node;
    int n; /* rounds until it is found */
} rounds[] = {
    {SILENT, PASSES, SILENT, "link-fault/fabric-silent", 2, 1},
    {SILENT, SILENT, PASSES, "link-fault/fabric-silent", 1, 1},
    {SILENT, PASSES, PASSES, "unknown/fabric-silent-between", 2, 2},
    {SILENT, SILENT, SILENT, NULL, 0, 1},
    {SILENT, PASSES, NONE, "unknown/fabric-silent-between", 2, 2},
    {SILENT, NONE, NONE, NULL, 0, 3},
    {PASSES, PASSES, PASSES, NULL, 0, 1},
    {PASSES, SILENT, SILENT, NULL, 0, 1},
    {NONE, PASSES, SILENT, NULL, 0, 3},
    {NONE, NONE, NONE, NULL, 0, 3},
};

TEST_CASES(rounds_come_to, COUNT(rounds))
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    for (int i = 0; i < rounds[_i].n; i++) {
        ck_assert_int_eq(l->verdicts, 0);
        play_round(l, rounds[_i].to_suspect, rounds[_i].to_third, rounds[_i].from_third);
    }
    lone_run(l, rounds[_i].rule ? 0 : 12000);
    ck_assert_int_eq(l->verdicts, rounds[_i].rule ? 1 : 0);
    if (rounds[_i].rule) {
        ck_assert_str_eq(l->verdict[0].rule, rounds[_i].rule);
        ck_assert_int_eq(l->verdict[0].node, rounds[_i].node);
    }
}

/* A host that is silent to one is asked once more, or that could not be asked: what comes second counts. */
static const struct {
    int first, second[3];
    const char *rule;
} seconds[] = {
    {SILENT, {PASSES, PASSES, PASSES}, NULL},
    {SILENT, {SILENT, NONE, PASSES}, "unknown/fabric-silent-between"},
    {SILENT, {SILENT, PASSES, SILENT}, "link-fault/fabric-silent"},
    {NONE, {SILENT, PASSES, SILENT}, "link-fault/fabric-silent"},
    {NONE, {SILENT, PASSES, PASSES}, NULL}, /* until it is confirmed */
};

TEST_CASES(the_second_round_decides, COUNT(seconds))
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    play_round(l, seconds[_i].first, PASSES, PASSES);
    ck_assert_int_eq(l->verdicts, 0);
    play_round(l, seconds[_i].second[0], seconds[_i].second[1], seconds[_i].second[2]);
    lone_run(l, seconds[_i].rule ? 0 : 12000);
    ck_assert_int_eq(l->verdicts, seconds[_i].rule ? 1 : 0);
    if (seconds[_i].rule)
        ck_assert_str_eq(l->verdict[0].rule, seconds[_i].rule);
}

TEST_CASE(the_report_says_what_passes_and_what_does_not)
{
    struct lone *l = with_fabric();
    const struct ftree_evidence *e = l->verdict[0].evidence;

    wait_for(l, 2500);
    play_round(l, SILENT, PASSES, SILENT);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].evidences, 3);
    ck_assert_int_eq(e[0].source, FTREE_EVIDENCE_FABRIC);
    ck_assert_str_eq(e[0].detail, "fabric (UCX), n1 to n2: silent");
    ck_assert_str_eq(e[1].detail, "fabric (UCX), n1 to n0: passes, 35 us there and back");
    ck_assert_str_eq(e[2].detail, "fabric (UCX), n0 to n2: silent");
}

/* Who would end it could ask nobody once more before. */
TEST_CASES(no_job_is_ended_because_of_it, 2)
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    for (int i = 0; i < 2 - _i; i++)
        play_round(l, SILENT, PASSES, _i ? SILENT : PASSES);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_uint_eq(l->verdict[0].holds_back, FTREE_HOLDS_FOR_EVER);
}

/* ---- when nobody is asked ---------------------------------------------------------------------- */

TEST_CASE(a_short_wait_asks_nobody)
{
    struct lone *l = with_fabric();

    wait_for(l, 1500);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
}

TEST_CASE(without_a_fabric_nobody_is_asked)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_run(l, 3000);
    wait_for(l, 2500);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
}

/* Each time for longer. */
TEST_CASE(one_that_passes_rests)
{
    struct lone *l = with_fabric();
    static const int rests[] = {10000, 20000, 40000};

    for (int i = 0; i < COUNT(rests); i++) {
        wait_for(l, 2500);
        play_round(l, PASSES, PASSES, PASSES);
        lone_log(l);
        lone_run(l, rests[i] - 1100);
        wait_for(l, 2500);
        ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
        lone_run(l, 1100);
    }
}

/* Its reporter does not wait itself. */
TEST_CASE(of_a_chain_nobody_is_asked)
{
    struct lone *l = with_fabric();

    wait_by(l, FTREE_SYMPTOM_CHAINED, 1, 2, 2500);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
}

TEST_CASE(of_a_known_fault_nobody_is_asked)
{
    struct lone *l = with_fabric();

    lone_knows(l, "unknown/connection-stuck", 2, FTREE_NONE, 0);
    wait_for(l, 2500);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
}

/* Nodes 0 and 1 are behind one switch, 2 and 3 behind the other, of which it is found that it loses packets
 * before the round begins, or while it lasts. */
TEST_CASES(a_switch_between_them_that_loses_packets_explains_it, 2)
{
    struct lone *l = with_fabric();
    struct ftree_verdict v = lone_verdict(l, "network-degraded/between-switches", 3, FTREE_NONE, 3);

    lone_use_tree(l, shape_read("switch:2 node:2"));
    lone_run(l, 3000);
    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = l->job.tree->node_switch[2];
    if (_i)
        wait_for(l, 2500);
    ck_assert_int_eq(asked_about(l) > 0, _i);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    if (_i)
        play_round(l, SILENT, PASSES, SILENT);
    else
        wait_for(l, 2500);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC) > 0, _i);
    ck_assert_int_eq(l->verdicts, 0);
}

/* 70 nodes are well.  Nobody is forgotten before its rest is over, and others are not asked about. */
TEST_CASE(many_that_pass_rest)
{
    struct lone *l = lone_new(100, 1, 128, 0);

    l->fabric = true;
    lone_renew(l);
    lone_run(l, 3000);
    for (int turn = 0; turn < 2; turn++) {
        for (int32_t node = 2; node < 72; node++) {
            wait_of(l, 99, node);
            if (turn == 0)
                hear(l, 99, WIRE_FABRIC_SAID, nonce_of(l, WIRE_FABRIC_ASK_WAIT, 99, node), node, IDLE,
                     "");
        }
        ck_assert_int_eq(asked_about(l), turn ? 0 : 64);
        lone_log(l);
        lone_run(l, 5000);
    }
    lone_run(l, 15000); /* twice the rest of all is over */
    lone_log(l);
    wait_of(l, 99, 80);
    ck_assert_int_eq(asked_about(l), 1);
}

/* ---- what is no answer ------------------------------------------------------------------------- */

static const struct {
    const char *what;
    bool opens; /* the other end, */
    bool asks; /* and it is asked: silent */
    const char *over; /* what the other end says then; NULL: nothing */
} failures[] = {
    {"it does not open", false, false, NULL},
    {"it cannot", false, false, "not available there"},
    {"whoever asks does not end", true, false, NULL},
    {"its end is not heard any more", true, true, NULL},
    {"its end was held up", true, true, "was held up itself"},
};

TEST_CASES(silence_is_none_where_an_end_fails, COUNT(failures))
{
    struct lone *l = with_fabric();
    uint32_t nonce;

    hear(l, 1, WIRE_FABRIC_ASK, 77, 2, 0, "");
    nonce = nonce_of(l, WIRE_FABRIC_OPEN, 2, 2);
    ck_assert_uint_ne(nonce, 0);
    if (failures[_i].opens)
        hear(l, 2, WIRE_FABRIC_ADDRESS, nonce, 2, 0, "address");
    ck_assert_int_eq(l->fabric_asks, failures[_i].opens);
    if (failures[_i].asks)
        ftree_fabric_said(l->ft, l->now, nonce, FTREE_FABRIC_SILENT, 0, "");
    if (failures[_i].over)
        hear(l, 2, WIRE_FABRIC_OVER, nonce, 2, NONE, failures[_i].over);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), failures[_i].over ? 77 : 0);
    lone_run(l, 11100);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), 77);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, NONE);
}

TEST_CASE(only_who_was_asked_is_believed)
{
    struct lone *l = with_fabric();
    uint32_t nonce;

    wait_for(l, 2500);
    nonce = nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2);
    for (int i = 0; i < 2; i++) {
        hear(l, 3, WIRE_FABRIC_SAID, nonce, 2, SILENT, "");
        hear(l, 1, WIRE_FABRIC_SAID, nonce, 3, SILENT, "");
        hear(l, 1, WIRE_FABRIC_SAID, nonce + 1, 2, SILENT, "");
        hear(l, 3, WIRE_FABRIC_ADDRESS, nonce_of(l, WIRE_FABRIC_OPEN, 2, 2), 3, 0, "address");
    }
    ck_assert_int_eq(l->fabric_asks, 0);
    lone_run(l, 20000);
    ck_assert_int_eq(l->verdicts, 0);
}

/* ---- who listens ------------------------------------------------------------------------------- */

TEST_CASE(one_end_answers_all_who_ask)
{
    struct lone *l = with_fabric();

    hear(l, 1, WIRE_FABRIC_OPEN, 5, 0, 0, "");
    hear(l, 1, WIRE_FABRIC_OPEN, 5, 0, 0, ""); /* over the other path */
    hear(l, 2, WIRE_FABRIC_OPEN, 6, 0, 0, "");
    ck_assert_int_eq(l->fabric_listens, 1);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
    ftree_fabric_listens(l->ft, l->now, (const uint8_t *) "here", 4);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_ADDRESS, 1, 0), 5);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_ADDRESS, 2, 0), 6);
    hear(l, 3, WIRE_FABRIC_OPEN, 7, 0, 0, "");
    ck_assert_int_eq(l->fabric_listens, 1);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_ADDRESS, 3, 0), 7);
}

/* The first sign of life may be older than the question. */
TEST_CASE(it_says_whether_it_was_there)
{
    struct lone *l = with_fabric();

    hear(l, 1, WIRE_FABRIC_OPEN, 5, 0, 0, "");
    ftree_fabric_listens(l->ft, l->now, (const uint8_t *) "here", 4);
    hear(l, 1, WIRE_FABRIC_CLOSE, 5, 0, 0, "");
    ftree_fabric_alive(l->ft, l->now, false);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OVER, 1, 0), 0);
    ftree_fabric_alive(l->ft, l->now, false);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OVER, 1, 0), 5);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, PASSES);
}

/* What was long before the silence does not matter. */
TEST_CASES(it_says_whether_it_had_the_cpu, 3)
{
    struct lone *l = with_fabric();

    hear(l, 1, WIRE_FABRIC_OPEN, 5, 0, 0, "");
    ftree_fabric_listens(l->ft, l->now, (const uint8_t *) "here", 4);
    if (_i > 0)
        ftree_fabric_alive(l->ft, l->now, true);
    lone_run(l, _i == 2 ? 4500 : 1000);
    hear(l, 1, WIRE_FABRIC_CLOSE, 5, 0, 0, "");
    if (_i != 1)
        ftree_fabric_alive(l->ft, l->now, _i == 0);
    ftree_fabric_alive(l->ft, l->now, false);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OVER, 1, 0), 5);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, _i == 2 ? PASSES : NONE);
}

TEST_CASE(it_says_that_it_was_not)
{
    struct lone *l = with_fabric();

    hear(l, 1, WIRE_FABRIC_OPEN, 5, 0, 0, "");
    hear(l, 1, WIRE_FABRIC_CLOSE, 5, 0, 0, "");
    ftree_fabric_closed(l->ft, l->now, "no device");
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OVER, 1, 0), 5);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, NONE);
    hear(l, 2, WIRE_FABRIC_CLOSE, 6, 0, 0, "");
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OVER, 2, 0), 6);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, NONE);
    hear(l, 1, WIRE_FABRIC_OPEN, 8, 0, 0, "");
    ck_assert_int_eq(l->fabric_listens, 2);
}

TEST_CASE(a_flood_of_questions_is_bounded)
{
    struct lone *l = with_fabric();

    for (uint32_t i = 1; i < 100; i++) {
        hear(l, 1, WIRE_FABRIC_OPEN, i, 0, 0, "");
        hear(l, 1, WIRE_FABRIC_ASK, i, 2, 0, "");
        hear(l, 1, WIRE_FABRIC_ASK, i, 0, 0, ""); /* this node itself */
    }
    ck_assert_int_eq(l->fabric_listens, 1);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), 99);
    lone_run(l, 12000);
    ck_assert_uint_eq(ftree_inspect_suspects(l->ft), 0);
}

/* ---- as long as the verdict stands ------------------------------------------------------------- */

TEST_CASES(it_is_over_when_data_pass_again, 2)
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    play_round(l, SILENT, PASSES, SILENT);
    ck_assert_int_eq(l->verdicts, 1);
    lone_log(l);
    lone_run(l, 9000);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
    lone_run(l, 1100);
    play_round(l, _i ? PASSES : SILENT, PASSES, _i ? PASSES : SILENT);
    ck_assert_int_eq(l->withdrawals, _i);
    lone_log(l);
    lone_run(l, 21000); /* the pause has doubled */
    ck_assert(_i ? lone_count(l, WIRE_FABRIC) == 0 : lone_count(l, WIRE_FABRIC) > 0);
}

static struct lone *with_verdict(void)
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    play_round(l, SILENT, PASSES, SILENT);
    ck_assert_int_eq(l->verdicts, 1);
    return l;
}

/* It is not known any more whether it still is so. */
TEST_CASE(it_is_over_when_nobody_can_ask)
{
    struct lone *l = with_verdict();

    lone_run(l, 10000 + 12000 + 10000 + 12000 + 10000 + 11000);
    ck_assert_int_eq(l->withdrawals, 0);
    lone_run(l, 2000);
    ck_assert_int_eq(l->withdrawals, 1);
}

/* The second time: ranks of a job that is ended wait no more, either. */
TEST_CASES(it_is_over_when_the_wait_is, 2)
{
    struct lone *l = with_verdict();

    hear(l, _i ? 3 : 1, WIRE_FABRIC_SAID, nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2), 2, IDLE, "");
    ck_assert_int_eq(l->withdrawals, 0);
    lone_run(l, 1100);
    hear(l, 1, WIRE_FABRIC_SAID, nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2), 2, IDLE, "");
    ck_assert_int_eq(l->withdrawals, !_i); /* node 3 has not been asked */
}

/* Its node may die meanwhile. */
TEST_CASE(it_hides_nothing)
{
    struct lone *l = with_verdict();
    struct wire_message m = {.type = WIRE_SYMPTOM};

    lone_run(l, 2000);
    lone_log(l);
    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_UNREACHABLE, 2, 2, 1, l->now, l->now);
    lone_hear(l, 1, DATA, &m);
    lone_run(l, 500);
    ck_assert_int_gt(lone_count(l, WIRE_PROBE), 0);
}

/* A successor knows nothing of the round; the agent itself reads its own verdicts, too. */
TEST_CASES(a_successor_withdraws_it, 2)
{
    struct lone *l = with_verdict();
    struct ftree_verdict v = l->verdict[0];

    if (_i)
        lone_renew(l);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_int_eq(l->withdrawals, _i);
}

TEST_CASE(it_stands_when_a_rank_waits_again)
{
    struct lone *l = with_verdict();

    hear(l, 1, WIRE_FABRIC_SAID, nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2), 2, IDLE, "");
    lone_run(l, 1100);
    play_round(l, SILENT, PASSES, SILENT);
    ck_assert_int_eq(l->withdrawals, 0);
}

TEST_CASE(a_round_is_over_when_the_wait_is)
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    own_line(l, SILENT);
    hear(l, 1, WIRE_FABRIC_SAID, nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2), 2, SILENT, "");
    hear(l, 1, WIRE_FABRIC_SAID, nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2), 2, IDLE, "");
    hear(l, 1, WIRE_FABRIC_SAID, nonce_of(l, WIRE_FABRIC_ASK, 1, 0), 0, PASSES, "");
    lone_run(l, 12000);
    ck_assert_int_eq(l->verdicts, 0);
}

/* One word comes over both paths, and to both ends: it counts once. */
TEST_CASE(a_copy_of_idle_is_not_a_second_one)
{
    struct lone *l = with_verdict();
    uint32_t nonce = nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2);

    for (int i = 0; i < 4; i++)
        hear(l, 1, WIRE_FABRIC_SAID, nonce, 2, IDLE, "");
    ck_assert_int_eq(l->withdrawals, 0);
}

TEST_CASE(an_end_that_is_another_process_cannot_speak_for_the_first)
{
    struct lone *l = with_fabric();
    uint32_t nonce;

    wait_for(l, 2500);
    nonce = nonce_of(l, WIRE_FABRIC_OPEN, 2, 2);
    hear(l, 2, WIRE_FABRIC_ADDRESS, nonce, 2, 0, "address");
    hear(l, 2, WIRE_FABRIC_ADDRESS, nonce, 2, 0, "successor");
    ftree_fabric_said(l->ft, l->now, nonce, FTREE_FABRIC_SILENT, 0, "");
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_CLOSE, 2, 2), 0);
}

/* As many suspects as there is room for, and more, do not push out the one of the verdict. */
TEST_CASE(others_do_not_hide_a_verdict)
{
    struct lone *l = lone_new(100, 1, 128, 0);
    bool again = false;

    l->fabric = true;
    lone_renew(l);
    lone_run(l, 3000);
    wait_for(l, 2500);
    play_round(l, SILENT, PASSES, SILENT);
    ck_assert_int_eq(l->verdicts, 1);
    for (int s = 0; s < 110; s++) {
        lone_log(l);
        lone_run(l, 1000);
        if (s >= 50)
            again |= nonce_of(l, WIRE_FABRIC_ASK_WAIT, 1, 2) != 0;
        else if (s == 1 || s == 40)
            for (int32_t node = 3; node < 90; node++)
                wait_of(l, 99, node);
    }
    ck_assert(again);
    ck_assert_int_eq(l->withdrawals, 1);
}

/* ---- who waits ------------------------------------------------------------------------------- */

TEST_CASES(who_waits_asks_and_says_when_it_is_over, 3)
{
    struct lone *l = with_fabric();

    if (_i > 0)
        ck_assert_int_eq(ftree_stall(l->ft, l->now, 0, 2, (_i == 1 ? 1500 : 2500) * FTREE_MS), FTREE_OK);
    hear(l, 1, WIRE_FABRIC_ASK_WAIT, 77, 2, 0, "");
    if (_i < 2) { /* nobody, or not for long */
        ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), 77);
        ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, IDLE);
        ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OPEN, 2, 2), 0);
        return;
    }
    ck_assert_uint_ne(nonce_of(l, WIRE_FABRIC_OPEN, 2, 2), 0);
    ftree_stall_over(l->ft, l->now, 0);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), 77);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, IDLE);
}

TEST_CASE(another_wait_is_not_the_same)
{
    struct lone *l = with_fabric();

    ck_assert_int_eq(ftree_stall(l->ft, l->now, 0, 2, 2500 * FTREE_MS), FTREE_OK);
    hear(l, 1, WIRE_FABRIC_ASK_WAIT, 77, 2, 0, "");
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), 0);
    ck_assert_int_eq(ftree_stall(l->ft, l->now, 0, 3, 100 * FTREE_MS), FTREE_OK);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), 77);
}

/* The one that decided is lost: who still waits is asked anew. */
TEST_CASE(who_succeeds_withdraws)
{
    struct lone *l = lone_new(8, 1, 2, 0);
    struct ftree_verdict lost;

    l->fabric = true;
    lone_renew(l);
    lone_knows(l, "link-fault/fabric-silent", 5, FTREE_NONE, 1);
    ck_assert_int_eq(l->withdrawals, 0);
    lost = lone_verdict(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 2);
    lone_told(l, 2, WIRE_VERDICT_UP, &lost);
    ck_assert_int_eq(l->withdrawals, 1);
}
