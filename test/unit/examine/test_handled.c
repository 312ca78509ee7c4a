/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What the site's services say of a suspect: when they are asked, how long it waits for them, what
 * becomes of it. */

#include "suite.h"

#include "ftree_inspect.h"
#include "ftree_int.h"
#include "lone.h"

#define DATA FTREE_PATH_DATA

static void answers(struct lone *l, int32_t node)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    m.u.answer.nonce = ftree_inspect_question(l->ft, node);
    lone_hear(l, node, DATA, &m);
}

/* Four nodes with one network; rank 0 waits for rank 2, and node 3 is heard. */
static struct lone *suspicion(int ms)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    l->job.has_path[FTREE_PATH_MGMT] = false;
    l->handlers = true;
    lone_renew(l);
    lone_stall(l, 0, 2);
    lone_run(l, 160);
    answers(l, 3);
    lone_run(l, ms - 160);
    return l;
}

static void expect_sign(const struct lone *l, const char *sign)
{
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, sign);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(of_one_that_is_silent_they_are_asked_once)
{
    struct lone *l = suspicion(440);

    ck_assert_int_eq(l->handled, 0);
    lone_run(l, 20);
    ck_assert_int_eq(l->handled, 1);
    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 450);
    ck_assert_int_eq(l->handled, 1);
    expect_sign(l, "node-outage/only-path-silent");
}

TEST_CASE(of_one_that_answers_they_are_not_asked)
{
    struct lone *l = suspicion(200);

    answers(l, 2);
    lone_run(l, 500);
    ck_assert_int_eq(l->handled, 0);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(what_they_say_is_evidence_with_its_time)
{
    struct lone *l = suspicion(500);
    const struct ftree_evidence *e = NULL;
    ftree_time then = l->now;

    ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off:\ta\x1b[2Jb");
    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 600);
    expect_sign(l, "node-outage/power-off");
    for (int32_t i = 0; i < l->verdict[0].evidences; i++)
        if (l->verdict[0].evidence[i].source == FTREE_EVIDENCE_HANDLER)
            e = &l->verdict[0].evidence[i];
    ck_assert_ptr_nonnull(e);
    ck_assert_str_eq(e->detail, "bmc: power-off:?a?[2Jb");
    ck_assert_int_eq(e->at, then);
    ck_assert_int_eq(e->target, 2);
    ck_assert_int_eq(e->by, 0);
}

/* And it is asked once more when they have. */
TEST_CASE(a_verdict_waits_until_they_have_said_all)
{
    struct lone *l = suspicion(2000);

    ck_assert_int_eq(l->verdicts, 0);
    lone_log(l);
    ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off");
    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 1);
    ck_assert_int_eq(l->verdicts, 0);
    ck_assert_ptr_nonnull(strstr(lone_log(l), "-> n2 "));
    lone_run(l, 160);
    expect_sign(l, "node-outage/power-off");
}

TEST_CASE(one_that_answers_meanwhile_is_well)
{
    struct lone *l = suspicion(2000);

    answers(l, 2);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off");
    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 2000);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(one_that_answers_the_last_question_is_well)
{
    struct lone *l = suspicion(2000);

    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 1);
    answers(l, 2);
    lone_run(l, 2000);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(a_verdict_does_not_wait_for_ever)
{
    struct lone *l = suspicion(6400);

    ck_assert_int_eq(l->verdicts, 0);
    lone_run(l, 400);
    expect_sign(l, "node-outage/only-path-silent");
}

TEST_CASE(what_is_too_much_is_left_out)
{
    struct lone *l = suspicion(500);
    int32_t n = 0;

    for (int i = 0; i < 100; i++)
        ftree_handler_said(l->ft, l->now, l->now, 2, -1, "bmc: nothing");
    ftree_handler_said(l->ft, l->now, l->now, 2, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off");
    ftree_handlers_done(l->ft, l->now, 2);
    lone_run(l, 600);
    expect_sign(l, "node-outage/power-off");
    for (int32_t i = 0; i < l->verdict[0].evidences; i++)
        n += l->verdict[0].evidence[i].source == FTREE_EVIDENCE_HANDLER;
    ck_assert_int_le(n, 4);
}

TEST_CASE(of_one_that_is_not_examined_they_say_nothing)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    for (int32_t node = -2; node < 6; node++) {
        ftree_handler_said(l->ft, l->now, l->now, node, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off");
        ftree_handlers_done(l->ft, l->now, node);
    }
    lone_run(l, 2000);
    ck_assert_int_eq(l->verdicts, 0);
}
