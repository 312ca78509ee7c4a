/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "messages.h"
#include "suite.h"

#include <string.h>

/* A message that must arrive, to begin with: a symptom that goes to the root. */
static void send_one(struct lone *l)
{
    lone_stall(l, l->self, 2);
}

TEST_CASE(an_acknowledged_message_is_sent_once)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    send_one(l);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    lone_run(l, 20);
    lone_acks(l, 0);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
    lone_run(l, 900);
    ck_assert_str_eq(lone_log(l), "0 rank 1 stalls, waits for rank 2\n"
                                  "0 symptom about n2 goes to n0\n"
                                  "0 -> n0 data symptom\n");
}

TEST_CASE(the_second_try_takes_every_path_anew)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    send_one(l);
    lone_run(l, 349);
    ck_assert_str_eq(lone_log(l), "0 rank 1 stalls, waits for rank 2\n"
                                  "0 symptom about n2 goes to n0\n"
                                  "0 -> n0 data symptom\n"
                                  "150 -> n0 data+mgmt symptom fresh\n");
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "350 symptom to n0 not acknowledged\n"
                                  "350 symptom about n0 goes to substitute n2\n"
                                  "350 -> n2 data symptom substitute\n"
                                  "350 symptom about n2 goes to substitute n3\n"
                                  "350 -> n3 data symptom substitute\n");
}

TEST_CASE(what_is_told_again_has_grown_older)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 1);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    send_one(l);
    lone_stall(l, 1, 3);
    lone_run(l, 500 + 150);
    for (int32_t i = 0; i < l->n_sent; i++) {
        const struct lone_sent *s = &l->sent[i];
        if (s->m.type == WIRE_SYMPTOM && s->m.u.symptom.about.node == 3) {
            ck_assert_uint_eq(s->m.u.symptom.first, 0);
            ck_assert_uint_eq(s->m.u.symptom.last, 1500 * FTREE_MS);
        }
        if (s->m.type == WIRE_VERDICT_UP) {
            ck_assert_uint_eq(s->m.u.verdict.first_symptom, v.first_symptom);
            ck_assert_uint_eq(s->m.u.verdict.located, v.located);
        }
    }
    ck_assert_int_ge(lone_count(l, WIRE_VERDICT_UP), 3);
    ck_assert_int_ge(lone_count(l, WIRE_SYMPTOM), 3);
}

TEST_CASE(what_goes_another_way_is_as_old_as_before)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    ftree_time begin = l->now;
    int32_t by_another_way = 0;

    send_one(l);
    lone_run(l, 351);
    for (int32_t i = 0; i < l->n_sent; i++) {
        const struct lone_sent *s = &l->sent[i];
        if (s->m.type != WIRE_SYMPTOM || s->m.u.symptom.about.node != 2)
            continue;
        ck_assert_uint_eq(s->m.u.symptom.last, begin);
        by_another_way += s->to.node == 3;
    }
    ck_assert_int_eq(by_another_way, 1);
}

/* The same to several nodes: three messages that share what they carry. */
static struct payload *post_to_three(struct lone *l)
{
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 1);
    struct wire_summaries w;
    struct wire_message m = messages_told(l->now, &v, 1, &w);
    struct payload *payload;

    m.id = 4711;
    payload = ftree_outbox_payload(l->ft, l->now, &m);
    ck_assert_ptr_nonnull(payload);
    for (int32_t n = 0; n < 4; n++)
        if (n != l->self)
            ftree_outbox_post(l->ft, l->now, n, WIRE_VERDICT_DOWN, m.id, payload);
    ftree_outbox_release(l->ft, payload);
    ck_assert_ptr_null(ftree_check(l->ft));
    return payload;
}

static void expect_located(const struct lone *l, ftree_time at)
{
    for (int32_t i = 0; i < l->n_sent; i++)
        if (l->sent[i].m.type == WIRE_VERDICT_DOWN) {
            ck_assert_uint_eq(l->sent[i].m.id, 4711);
            ck_assert_uint_eq(l->sent[i].told[0].located, at);
        }
}

TEST_CASE(letters_share_what_they_carry)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    ftree_time begin = l->now;
    struct payload *payload = post_to_three(l);

    ck_assert_int_eq(payload->messages, 3);
    ck_assert_int_eq(l->live_allocations, 3); /* the handle, the box, and this */
    lone_acks(l, 2); /* each speaks for itself */
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 2);
    ck_assert_int_eq(payload->messages, 2);
    lone_run(l, 300); /* each is sent again, and has grown older */
    expect_located(l, begin);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 3 + 4);
    lone_acks(l, 0);
    lone_acks(l, 3);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
    ck_assert_int_eq(l->live_allocations, 2);
}

/* Without memory for one of its own a message goes as it is. */
TEST_CASE(without_memory_what_is_shared_is_told_again_as_it_is)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    ftree_time begin = l->now;

    post_to_three(l);
    lone_run(l, 149);
    lone_log(l);
    l->fail_alloc_in = 1;
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 6);
    for (int32_t i = 0; i < 6; i++) /* by 150 ms too young, the first one */
        ck_assert_uint_eq(l->sent[i].told[0].located, begin + (i < 2 ? 150 * FTREE_MS : 0));
}

TEST_CASE(whether_victims_are_on_their_way)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct wire_message m = {.type = WIRE_VICTIMS, .u.victims.message = 70};

    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 70), ANNOUNCED_NOBODY_WAITS);
    ftree_outbox_put(l->ft, l->now, 0, &m);
    lone_log(l);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 70), ANNOUNCED);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 71), ANNOUNCED_NOBODY_WAITS);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 2, FTREE_PATH_DATA, 70), ANNOUNCED_NOBODY_WAITS);
    m = (struct wire_message){.type = WIRE_FLOOD_QUERY, .u.round = 71};
    ftree_outbox_put(l->ft, l->now, 0, &m);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 71), ANNOUNCED_NOBODY_WAITS);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
    lone_run(l, 200);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 70), ANNOUNCED);
    lone_acks(l, 0);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 70), ANNOUNCED_NOBODY_WAITS);
}

/* Nobody acknowledges it; who misses it asks again. */
TEST_CASE(an_answer_is_sent_once_each_time_it_is_asked_for)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct wire_message m = {.type = WIRE_VICTIMS, .u.victims.message = 70};

    ftree_outbox_answer(l->ft, l->now, 0, FTREE_PATH_MGMT, &m);
    ck_assert(ftree_outbox_is_empty(l->ft));
    lone_run(l, 1000);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 70), ANNOUNCED_ASKING);
    lone_run(l, 1999);
    ck_assert_str_eq(lone_log(l), "0 -> n0 mgmt victims\n"
                                  "1000 -> n0 data victims\n");
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 70), ANNOUNCED_ASKING);
    lone_run(l, 1);
    ck_assert_int_eq(ftree_outbox_answered(l->ft, 0, FTREE_PATH_DATA, 70), ANNOUNCED_NOBODY_WAITS);
    ck_assert_uint_eq(ftree_deadline(l->ft), FTREE_NEVER);
}

TEST_CASE(an_answer_needs_memory)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct wire_message m = {.type = WIRE_VICTIMS, .u.victims.message = 70};

    for (int32_t i = 1; i <= 2; i++) {
        l->fail_alloc_in = i;
        ftree_outbox_answer(l->ft, l->now, 0, FTREE_PATH_DATA, &m);
        ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
        ck_assert_ptr_null(ftree_check(l->ft));
    }
}

TEST_CASES(with_one_path_both_tries_take_it, 2)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    l->job.has_path[_i] = false;
    send_one(l);
    lone_run(l, 200);
    ck_assert_int_eq(l->n_sent, 2);
    ck_assert_int_eq(l->sent[0].to.path, 1 - _i);
    ck_assert_int_eq(l->sent[1].to.path, 1 - _i);
    ck_assert(!l->sent[0].to.fresh);
    ck_assert(l->sent[1].to.fresh);
}

TEST_CASE(acknowledgments_of_others_do_not_count)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct wire_message m = {.type = WIRE_ACK};

    send_one(l);
    m.u.ack = lone_last(l, WIRE_SYMPTOM)->m.id;
    lone_hear(l, 3, FTREE_PATH_DATA, &m); /* by another node */
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    m.u.ack++;
    lone_hear(l, 0, FTREE_PATH_DATA, &m); /* of another message */
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    m.u.ack--;
    lone_hear(l, 0, FTREE_PATH_MGMT, &m); /* by another path is well */
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
    lone_hear(l, 0, FTREE_PATH_DATA, &m); /* twice */
}

TEST_CASE(a_quick_no_makes_the_second_try_at_once)
{
    static const struct {
        enum ftree_reach reach;
        bool at_once;
    } rows[] = {
        {FTREE_REACH_LOCAL_DOWN, true}, {FTREE_REACH_UNREACHABLE, true},
        {FTREE_REACH_REFUSED, true},    {FTREE_REACH_CONNECTED, false},
        {FTREE_REACH_ANSWERED, false},
    };

    for (int i = 0; i < COUNT(rows); i++) {
        struct lone *l = lone_of(shape_star(4, 1), 1);
        send_one(l);
        lone_reach(l, 0, FTREE_PATH_DATA, FTREE_ROLE_AGENT, rows[i].reach, 111);
        lone_run(l, 1);
        ck_assert_int_eq(l->n_sent, rows[i].at_once ? 3 : 1);
        lone_reach(l, 0, FTREE_PATH_DATA, FTREE_ROLE_AGENT, rows[i].reach, 111);
        lone_run(l, 1); /* but it does not take the second try's time */
        ck_assert_int_eq(l->n_sent, rows[i].at_once ? 3 : 1);
        lone_free(l);
    }
}

TEST_CASE(of_another_node_or_the_deputy_a_no_is_nothing)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    send_one(l);
    lone_reach(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    lone_reach(l, 0, FTREE_PATH_DATA, FTREE_ROLE_DEPUTY, FTREE_REACH_REFUSED, 111);
    lone_run(l, 100);
    ck_assert_int_eq(l->n_sent, 1);
}

TEST_CASE(the_round_trip_is_measured_and_sets_the_timer)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 150 * FTREE_MS);
    send_one(l);
    lone_run(l, 100);
    lone_acks(l, 0);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).mean, 100 * FTREE_MS);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).deviation, 50 * FTREE_MS);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 300 * FTREE_MS);
}

TEST_CASE(a_repeated_message_measures_nothing)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    send_one(l);
    lone_run(l, 200);
    lone_acks(l, 0);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).mean, 0);
}

TEST_CASE(an_acknowledgment_that_waited_for_this_process_measures_little)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    send_one(l);
    lone_sleep(l, 3600 * 1000);
    lone_acks(l, 0);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).mean, 1000 * FTREE_MS);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 1000 * FTREE_MS);
    for (int i = 0; i < 40; i++)
        ftree_rtt(l->ft, FTREE_MS);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, 150 * FTREE_MS);
}

TEST_CASE(who_is_mute_is_remembered_once)
{
    struct lone *l = lone_of(shape_tree(40, 1, 32), 1);

    for (int32_t n = 2; n < 40; n++)
        ftree_peer_unresponsive(l->ft, l->now, n, false);
    for (int32_t n = 2; n < 40; n++)
        ftree_peer_unresponsive(l->ft, l->now + 1000 * FTREE_MS, n, false);
    ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 38);
    lone_sleep(l, 5999);
    ftree_tick(l->ft, l->now);
    ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 38);
    lone_sleep(l, 1);
    ftree_tick(l->ft, l->now);
    ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 0);
}

TEST_CASE(without_memory_a_message_is_left_out)
{
    for (int nth = 1; nth <= 4; nth++) {
        struct lone *l = lone_of(shape_star(4, 1), 1);
        struct wire_message m = {.type = WIRE_FLOOD_QUERY, .u.round = 1};
        l->fail_alloc_in = nth;
        ftree_outbox_put(l->ft, l->now, 0, &m);
        ck_assert_int_eq(ftree_inspect_outbox(l->ft), nth > 2);
        ck_assert_ptr_null(ftree_check(l->ft));
        l->fail_alloc_in = 1;
        ftree_peer_unresponsive(l->ft, l->now, 3, false);
        ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 0);
        lone_free(l);
    }
}

TEST_CASE(a_send_that_fails_is_no_more_than_a_lost_message)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    l->send_error = 101;
    send_one(l);
    l->send_error = 0;
    lone_run(l, 200);
    lone_acks(l, 0);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
}

/* Its queue moves, and the others may wait in it: they are not sent again before it is idle. */
TEST_CASE(who_acknowledges_one_of_two_is_given_longer_for_the_other)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct wire_message m = {.type = WIRE_ACK};
    struct ftree_inspect_message left;
    struct ftree_symptom s;

    send_one(l);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_STALL, 3, 3, 1, l->now, l->now);
    LONE_STEP(l, ftree_intake(l->ft, l->now, &s, false));
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 2);
    lone_run(l, 100);
    m.u.ack = l->sent[0].m.id;
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    lone_log(l);
    lone_run(l, 149);
    ck_assert_str_eq(lone_log(l), "");
    lone_run(l, 200);
    ck_assert(ftree_inspect_message(l->ft, 0, &left));
    ck_assert_int_eq(left.tries, 2);
}

/* Others that are sent and acknowledged all the time must not put off what was lost. */
TEST_CASE(what_a_later_message_has_overtaken_is_not_given_longer)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    struct wire_message m = {.type = WIRE_ACK};
    struct ftree_inspect_message left;
    struct ftree_symptom s;

    send_one(l);
    lone_run(l, 50);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_STALL, 3, 3, 1, l->now, l->now);
    LONE_STEP(l, ftree_intake(l->ft, l->now, &s, false));
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 2);
    lone_run(l, 50);
    m.u.ack = l->sent[1].m.id;
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    lone_run(l, 49);
    ck_assert(ftree_inspect_message(l->ft, 0, &left));
    ck_assert_int_eq(left.tries, 1);
    lone_run(l, 1);
    ck_assert(ftree_inspect_message(l->ft, 0, &left));
    ck_assert_int_eq(left.tries, 2);
}

/* The root is suspected, and its substitutes may be lost with it. */
TEST_CASE(a_substitute_that_is_silent_does_not_hold_up_the_next)
{
    struct lone *l = lone_of(shape_star(8, 1), 1);
    struct ftree_symptom s;
    int32_t first = ftree_inspect_root_substitute(l->ft, 1);
    int32_t second = ftree_inspect_root_substitute(l->ft, 2);

    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_STALL, 0, 0, 1, l->now, l->now);
    LONE_STEP(l, ftree_intake(l->ft, l->now, &s, false));
    ck_assert_int_eq(l->sent[l->n_sent - 1].to.node, first);
    lone_run(l, 160);
    ck_assert_int_eq(l->sent[l->n_sent - 1].to.node, second);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 2);
    lone_acks(l, second);
    lone_log(l);
    lone_run(l, 200); /* the first is given up, and what it was told is told to nobody once more */
    ck_assert_ptr_null(strstr(lone_log(l), "symptom about n0"));
}

/* Its children hear of the verdict at once, it itself when it is heard again. */
TEST_CASE(a_verdict_waits_for_a_child_that_is_mute)
{
    struct lone *l = lone_of(shape_binary(8, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 6, FTREE_NONE, 1);
    int32_t told = 0;

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_acks(l, 2);
    lone_run(l, 360);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2 + 2 + 2); /* 1 again twice, then 3 and 4 */
    lone_acks(l, 3);
    lone_acks(l, 4);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    lone_answer(l, 1, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    l->n_sent = 0;
    lone_run(l, 1);
    for (int32_t i = 0; i < l->n_sent; i++)
        told += l->sent[i].to.node == 1 && l->sent[i].m.type == WIRE_VERDICT_DOWN;
    ck_assert_int_eq(told, 2); /* by both paths */
    lone_acks(l, 1);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
}

TEST_CASE(a_verdict_waits_for_no_child_that_has_left)
{
    struct lone *l = lone_of(shape_binary(8, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 6, FTREE_NONE, 1);
    struct wire_message goodbye = {.type = WIRE_GOODBYE, .id = 70};

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_acks(l, 2);
    lone_hear(l, 1, FTREE_PATH_DATA, &goodbye);
    lone_run(l, 360);
    lone_acks(l, 3);
    lone_acks(l, 4);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
}

/* It waits for a child that is mute to be heard: that its port refuses is no word of its. */
TEST_CASE(a_verdict_that_waits_is_not_sent_for_a_quick_no)
{
    struct lone *l = lone_of(shape_binary(8, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 6, FTREE_NONE, 1);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_acks(l, 2);
    lone_run(l, 360);
    lone_acks(l, 3);
    lone_acks(l, 4);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    lone_log(l);
    for (int i = 0; i < 3; i++) {
        lone_reach(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 113);
        lone_run(l, 150);
    }
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    lone_answer(l, 1, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
}

TEST_CASE(a_thousand_letters_are_given_up_together)
{
    struct lone *l = lone_of(shape_tree(1001, 1, 1000), 0);
    struct wire_message m = {.type = WIRE_FLOOD_QUERY, .u.round = 1};

    for (int32_t n = 1; n <= 1000; n++)
        ftree_outbox_put(l->ft, l->now, n, &m);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1000);
    l->n_sent = 0;
    lone_sleep(l, 150);
    for (int i = 0; i < 2; i++) {
        l->n_sent = 0;
        ftree_tick(l->ft, l->now);
        lone_sleep(l, 200);
    }
    l->n_sent = 0;
    ftree_tick(l->ft, l->now);
    ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 1000);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1000);
}

TEST_CASE(where_a_verdict_speaks_against_the_data_path_it_is_not_tried)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "unknown/data-path-silent", 3, FTREE_NONE, 1);
    struct wire_message m = {.type = WIRE_GOODBYE};

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ftree_outbox_put(l->ft, l->now, 3, &m);
    ftree_outbox_put(l->ft, l->now, 4, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n3 mgmt goodbye\n"
                                  "0 -> n4 data goodbye\n");
    v = lone_verdict(l, "unknown/data-path-silent", 1, FTREE_NONE, 1); /* the own one: for all */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ftree_outbox_put(l->ft, l->now, 4, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n4 mgmt goodbye\n");
}

TEST_CASE(where_the_own_link_is_down_the_data_path_is_not_tried)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);
    struct wire_message m = {.type = WIRE_GOODBYE};

    ftree_own_link(l->ft, l->now, false);
    ftree_outbox_put(l->ft, l->now, 4, &m);
    ftree_own_link(l->ft, l->now, true);
    ftree_outbox_put(l->ft, l->now, 3, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n4 mgmt goodbye\n"
                                  "0 -> n3 data goodbye\n");
}
