/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

#include <string.h>

/* The fabric path: who is asked, what the answers come to, and what is no answer. */

#define DATA FTREE_PATH_DATA
#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

enum { NONE = FTREE_FABRIC_NONE, PASSES = FTREE_FABRIC_PASSES, SILENT = FTREE_FABRIC_SILENT };

static struct lone *with_fabric(void)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    l->fabric = true;
    lone_renew(l);
    lone_run(l, 3000); /* what has begun before this did not begin before all time */
    return l;
}

/* Node 1 has waited for node 2, which is well. */
static void wait_for(struct lone *l, int ms)
{
    struct wire_message m = {.type = WIRE_SYMPTOM};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_STALL, 2, 2, 1,
                       l->now - (ftree_time) ms * FTREE_MS, l->now);
    lone_hear(l, 1, DATA, &m);
    lone_run(l, 1);
    lone_answer(l, 2, DATA, FTREE_ROLE_AGENT);
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
    uint32_t nonce = nonce_of(l, WIRE_FABRIC_ASK, 1, 2);

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
} rounds[] = {
    {SILENT, PASSES, SILENT, "link-fault/fabric-silent", 2},
    {SILENT, SILENT, PASSES, "link-fault/fabric-silent", 1},
    {SILENT, PASSES, PASSES, "unknown/fabric-silent-between", 2},
    {SILENT, SILENT, SILENT, "unknown/fabric-silent-between", 2},
    {SILENT, PASSES, NONE, "unknown/fabric-silent-between", 2},
    {SILENT, NONE, NONE, "unknown/fabric-silent-between", 2},
    {PASSES, PASSES, PASSES, NULL, 0},
    {PASSES, SILENT, SILENT, NULL, 0},
    {NONE, PASSES, SILENT, NULL, 0},
    {NONE, NONE, NONE, NULL, 0},
};

TEST_CASES(two_rounds_come_to, COUNT(rounds))
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    for (int i = 0; i < (rounds[_i].rule ? 2 : 1); i++) {
        ck_assert_int_eq(l->verdicts, 0);
        play_round(l, rounds[_i].to_suspect, rounds[_i].to_third, rounds[_i].from_third);
    }
    lone_run(l, rounds[_i].rule ? 0 : 8000);
    ck_assert_int_eq(l->verdicts, rounds[_i].rule ? 1 : 0);
    if (rounds[_i].rule) {
        ck_assert_str_eq(l->verdict[0].rule, rounds[_i].rule);
        ck_assert_int_eq(l->verdict[0].node, rounds[_i].node);
    }
}

TEST_CASE(rounds_that_differ_come_to_nothing)
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    play_round(l, SILENT, PASSES, SILENT);
    play_round(l, SILENT, SILENT, PASSES);
    lone_run(l, 8000);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(the_report_says_what_passes_and_what_does_not)
{
    struct lone *l = with_fabric();
    const struct ftree_evidence *e = l->verdict[0].evidence;

    wait_for(l, 2500);
    play_round(l, SILENT, PASSES, SILENT);
    play_round(l, SILENT, PASSES, SILENT);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].evidences, 4);
    ck_assert_int_eq(e[0].source, FTREE_EVIDENCE_FABRIC);
    ck_assert_str_eq(e[0].detail, "fabric (UCX), n1 to n2: silent");
    ck_assert_str_eq(e[1].detail, "fabric (UCX), n1 to n0: passes, 35 us there and back");
    ck_assert_str_eq(e[2].detail, "fabric (UCX), n0 to n2: silent");
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

TEST_CASE(of_a_known_fault_nobody_is_asked)
{
    struct lone *l = with_fabric();

    lone_knows(l, "unknown/connection-stuck", 2, FTREE_NONE, 0);
    wait_for(l, 2500);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_FABRIC), 0);
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
    lone_run(l, 7100);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_SAID, 1, 2), 77);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, NONE);
}

TEST_CASE(only_who_was_asked_is_believed)
{
    struct lone *l = with_fabric();
    uint32_t nonce;

    wait_for(l, 2500);
    nonce = nonce_of(l, WIRE_FABRIC_ASK, 1, 2);
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
    ftree_fabric_alive(l->ft, l->now);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OVER, 1, 0), 0);
    ftree_fabric_alive(l->ft, l->now);
    ck_assert_uint_eq(nonce_of(l, WIRE_FABRIC_OVER, 1, 0), 5);
    ck_assert_int_eq(lone_last(l, WIRE_FABRIC)->m.u.fabric.says, PASSES);
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
    lone_run(l, 8000);
    ck_assert_uint_eq(ftree_inspect_suspects(l->ft), 0);
}

/* ---- as long as the verdict stands ------------------------------------------------------------- */

TEST_CASES(it_is_over_when_data_pass_again, 2)
{
    struct lone *l = with_fabric();

    wait_for(l, 2500);
    play_round(l, SILENT, PASSES, SILENT);
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
