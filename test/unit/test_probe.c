/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"


#include <string.h>

/* ---- asking ---------------------------------------------------------------------------------- */

START_TEST(a_silent_suspect_is_asked_four_times_and_then_decided)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_stall(l, 0, 2);
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT); /* heard, whatever it says */
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 850);
    ck_assert_str_eq(lone_log(l), "0 rank 0 stalls, waits for rank 2\n"
                                  "0 suspects n2: stall\n"
                                  "0 -> n2 data probe\n"
                                  "0 -> n2 mgmt probe\n"
                                  "150 -> n2 data probe fresh\n"
                                  "150 -> n2 mgmt probe fresh\n"
                                  "450 -> n2 data probe fresh\n"
                                  "450 -> n2 mgmt probe fresh\n"
                                  "675 -> n2 data probe fresh\n"
                                  "675 -> n2 mgmt probe fresh\n"
                                  "900 verdict node-outage of n2 by node-outage/both-paths-silent\n"
                                  "900 -> n1 data verdict-down\n"
                                  "900 -> n3 data verdict-down\n");
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].rule, FTREE_RULE_BOTH_PATHS_SILENT);
    lone_free(l);
}
END_TEST

START_TEST(witnesses_are_asked_where_nobody_is_heard)
{
    struct lone *l = lone_new(8, 1, 2, 1);
    const struct lone_sent *s;

    /* parent first, then neighbours by number, others each time */
    lone_stall(l, 1, 3);
    lone_log(l);
    lone_run(l, 700);
    ck_assert_str_eq(lone_log(l), "150 -> n3 data probe fresh\n"
                                  "150 -> n3 mgmt probe fresh\n"
                                  "150 -> n0 data probe\n"
                                  "150 -> n0 mgmt probe\n"
                                  "150 -> n2 data probe\n"
                                  "150 -> n2 mgmt probe\n"
                                  "450 -> n3 data probe fresh\n"
                                  "450 -> n3 mgmt probe fresh\n"
                                  "450 -> n0 data probe\n"
                                  "450 -> n0 mgmt probe\n"
                                  "450 -> n4 data probe\n"
                                  "450 -> n4 mgmt probe\n"
                                  "675 -> n3 data probe fresh\n"
                                  "675 -> n3 mgmt probe fresh\n"
                                  "675 -> n0 data probe\n"
                                  "675 -> n0 mgmt probe\n"
                                  "675 -> n5 data probe\n"
                                  "675 -> n5 mgmt probe\n");
    lone_run(l, 100);
    s = lone_last(l, WIRE_PROBE);
    ck_assert_ptr_null(s);
    lone_free(l);
}
END_TEST

START_TEST(a_witness_is_asked_nothing_in_particular)
{
    struct lone *l = lone_new(4, 2, 32, 0);
    bool seen = false;

    lone_stall(l, 0, 5);
    lone_run(l, 200);
    for (int32_t i = 0; i < l->n_sent; i++) {
        const struct wire_probe *p = &l->sent[i].m.u.probe;
        if (l->sent[i].m.type != WIRE_PROBE)
            continue;
        if (l->sent[i].to.node == 2) {
            ck_assert_uint_ne(p->nonce, 0);
            ck_assert_int_eq(p->rank, 5);
        } else {
            ck_assert_uint_eq(p->nonce, 0);
            ck_assert_int_eq(p->rank, FTREE_NONE);
            seen = true;
        }
        ck_assert_uint_eq(p->round, 0);
        ck_assert_uint_ge(p->age, 1000 * FTREE_MS);
    }
    ck_assert(seen);
    lone_free(l);
}
END_TEST

START_TEST(the_deputy_is_asked_where_the_kernel_spoke)
{
    struct lone *l = lone_new(4, 2, 32, 0);

    lone_stall(l, 0, 4);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_log(l);
    lone_run(l, 160);
    ck_assert_str_eq(lone_log(l), "150 -> n2 data probe fresh\n"
                                  "150 -> n2 mgmt probe fresh\n"
                                  "150 -> n2 data probe deputy fresh\n"
                                  "150 -> n2 mgmt probe deputy fresh\n"
                                  "150 -> n1 data probe\n"
                                  "150 -> n1 mgmt probe\n"
                                  "150 -> n3 data probe\n"
                                  "150 -> n3 mgmt probe\n");
    lone_free(l);
}
END_TEST

/* rows: the_timer_stretches_the_window 2 */
START_TEST(the_timer_stretches_the_window)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    ftree_rtt(l->ft, 200 * FTREE_MS); /* rto 600 ms */
    if (_i)
        ftree_rtt(l->ft, 10000 * FTREE_MS); /* its greatest */
    lone_stall(l, 0, 2);
    ck_assert_uint_eq(l->ft->suspects.items[0].deadline, l->now + (_i ? 6000 : 3600) * FTREE_MS);
    lone_run(l, _i ? 1000 : 600);
    ck_assert_int_eq(l->ft->suspects.items[0].tries, 2);
    lone_free(l);
}
END_TEST

/* ---- hearing --------------------------------------------------------------------------------- */

START_TEST(an_answer_by_the_main_path_ends_it)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_stall(l, 0, 2);
    lone_run(l, 30);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    ck_assert_uint_eq(l->ft->srtt, 30 * FTREE_MS);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT); /* again */
    lone_run(l, 990);
    ck_assert_int_eq(l->verdicts, 0);
    lone_free(l);
}
END_TEST

START_TEST(where_there_is_only_management_it_is_the_main_path)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    l->job.has_path[FTREE_PATH_DATA] = false;
    lone_stall(l, 0, 2);
    lone_answer(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    lone_free(l);
}
END_TEST

START_TEST(an_answer_by_management_alone_waits_for_the_other)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_stall(l, 0, 2);
    lone_answer(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    ck_assert_int_eq(l->ft->suspects.n, 1);
    lone_run(l, 500);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    lone_free(l);
}
END_TEST

START_TEST(answers_to_other_questions_do_not_count)
{
    struct lone *l = lone_new(4, 1, 32, 0);
    struct wire_message m = {.type = WIRE_ANSWER};

    lone_stall(l, 0, 2);
    m.u.answer.nonce = lone_last(l, WIRE_PROBE)->m.u.probe.nonce + 1;
    lone_hear(l, 2, FTREE_PATH_DATA, &m); /* a nonce of the past */
    m.u.answer.nonce--;
    lone_hear(l, 3, FTREE_PATH_DATA, &m); /* of a node not asked */
    ck_assert_int_eq(l->ft->suspects.n, 1);
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    lone_free(l);
}
END_TEST

/* What the deputy of node 2, which has ranks 6 to 8, says. */
static void deputy_says(struct lone *l, int32_t troubles, const struct wire_trouble *t)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.role = FTREE_ROLE_DEPUTY};

    m.u.answer.nonce = l->ft->suspects.items[0].nonce;
    m.u.answer.troubles = troubles;
    memcpy(m.u.answer.trouble, t, (size_t) troubles * sizeof(*t));
    ftree_verdict_ranks_add(&m.u.answer.waiting, 8, 8);
    lone_hear(l, 2, FTREE_PATH_MGMT, &m);
}

static const struct wire_trouble stopped[] = {
    {.rank = 7, .pid = 77, .phase = FTREE_PHASE_GONE, .proc_state = 0},
    {.rank = 6, .pid = 78, .phase = FTREE_PHASE_WAITING, .proc_state = 'T'},
    {.rank = 8, .pid = 79, .phase = FTREE_PHASE_OUTSIDE, .proc_state = 't'},
};

static void ask_about_node_2(struct lone *l)
{
    ftree_stall_over(l->ft, l->now, 0);
    lone_run(l, 1000);
    lone_stall(l, 0, 8);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 200);
}

START_TEST(a_deputy_names_one_stopped_rank_after_the_other)
{
    struct lone *l = lone_new(4, 3, 32, 0);

    ask_about_node_2(l);
    deputy_says(l, 3, stopped);
    lone_run(l, 1000);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].rule, FTREE_RULE_DEPUTY_SAYS_T);
    ck_assert_int_eq(l->verdict[0].rank, 6);
    ck_assert_int_eq(l->verdict[0].pid, 78);
    ck_assert_int_eq(l->verdict[0].victims.count, 1);
    ck_assert(!ftree_correlate_usable(l->ft, l->now, 2)); /* its agent will not answer */
    /* someone waits for rank 8, which no verdict explains */
    if (!l->ft->suspects.n)
        ask_about_node_2(l);
    deputy_says(l, 3, stopped);
    lone_run(l, 1000);
    ck_assert(ftree_verdict_on_rank(l->ft, 2, 8));
    lone_free(l);
}
END_TEST

START_TEST(a_deputys_answer_does_not_make_its_agent_usable)
{
    struct lone *l = lone_new(4, 3, 32, 0);

    ask_about_node_2(l);
    ftree_outbox_mute(l->ft, l->now, 2);
    deputy_says(l, 3, stopped);
    ck_assert(!ftree_correlate_usable(l->ft, l->now, 2));
    lone_answer(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    ck_assert(ftree_correlate_usable(l->ft, l->now, 2));
    lone_free(l);
}
END_TEST

START_TEST(a_deputys_last_word_counts)
{
    struct lone *l = lone_new(4, 3, 32, 0);

    ask_about_node_2(l);
    deputy_says(l, 3, stopped);
    ck_assert_int_eq(l->ft->suspects.items[0].deputy_word.rank, 6);
    deputy_says(l, 0, stopped); /* continued */
    ck_assert_int_eq(l->ft->suspects.items[0].deputy_word.rank, FTREE_NONE);
    lone_log(l);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 0);
    lone_free(l);
}
END_TEST

START_TEST(a_deputy_that_names_ranks_of_others_names_nobody)
{
    struct lone *l = lone_new(4, 3, 32, 0);
    const struct wire_trouble other = {.rank = 9, .proc_state = 'T'};

    ask_about_node_2(l);
    deputy_says(l, 1, &other);
    ck_assert_int_eq(l->ft->suspects.items[0].deputy_word.rank, FTREE_NONE);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 0);
    lone_free(l);
}
END_TEST

START_TEST(of_several_findings_the_greatest_is_kept)
{
    struct lone *l = lone_new(4, 1, 32, 0);
    const struct suspect *su;

    lone_stall(l, 0, 2);
    su = &l->ft->suspects.items[0];
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 113);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 101);
    ck_assert_int_eq(su->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_UNREACHABLE);
    ck_assert_int_eq(su->error[FTREE_PATH_DATA][FTREE_ROLE_AGENT], 113);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 100000);
    ck_assert_int_eq(su->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_REFUSED);
    ck_assert_int_eq(su->error[FTREE_PATH_DATA][FTREE_ROLE_AGENT], 0);
    lone_free(l);
}
END_TEST

START_TEST(a_refusal_by_another_node_shows_that_the_path_works)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_stall(l, 0, 2);
    lone_run(l, 200);
    lone_reach(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    lone_reach(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 700);
    ck_assert_int_eq(l->verdict[0].rule, FTREE_RULE_BOTH_PATHS_SILENT);
    ck_assert_int_eq(l->verdict[0].evidences, 4);
    ck_assert_int_eq(l->verdict[0].evidence[1].target, 1);
    ck_assert_int_eq(l->verdict[0].evidence[1].reach, FTREE_REACH_REFUSED);
    lone_free(l);
}
END_TEST

START_TEST(evidence_is_what_was_asked)
{
    struct lone *l = lone_new(2, 2, 32, 0);
    const struct ftree_verdict *v = &l->verdict[0];

    lone_stall(l, 0, 2);
    lone_reach(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    lone_run(l, 900);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(v->rule, FTREE_RULE_ALL_REFUSED);
    ck_assert_int_eq(v->evidences, 4);
    ck_assert_int_eq(v->evidence[0].path, FTREE_PATH_DATA);
    ck_assert_int_eq(v->evidence[0].role, FTREE_ROLE_AGENT);
    ck_assert_int_eq(v->evidence[0].reach, FTREE_REACH_REFUSED);
    ck_assert_int_eq(v->evidence[0].error, 111);
    ck_assert_int_eq(v->evidence[1].role, FTREE_ROLE_DEPUTY);
    ck_assert_int_eq(v->evidence[1].reach, FTREE_REACH_SILENT);
    ck_assert_int_eq(v->evidence[2].path, FTREE_PATH_MGMT);
    ck_assert_int_eq(v->evidence[2].reach, FTREE_REACH_SILENT);
    lone_free(l);
}
END_TEST

/* ---- time ------------------------------------------------------------------------------------ */

START_TEST(a_late_tick_excuses_everybody)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_stall(l, 0, 2);
    lone_run(l, 100);
    lone_sleep(l, 3000);
    lone_log(l);
    lone_run(l, 0);
    ck_assert_str_eq(lone_log(l),
                     "3100 own tick late by 2950 ms: nobody is accused before being asked again\n"
                     "3100 rank 0 stalls, waits for rank 2\n"
                     "3100 -> n2 data probe fresh\n"
                     "3100 -> n2 mgmt probe fresh\n"
                     "3100 -> n1 data probe\n"
                     "3100 -> n1 mgmt probe\n"
                     "3100 -> n3 data probe\n"
                     "3100 -> n3 mgmt probe\n");
    ck_assert_int_eq(l->verdicts, 0);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT); /* its nonce is not in the log any more */
    lone_run(l, 5000);
    ck_assert_int_eq(l->verdicts, 1); /* it was asked again, and did not answer */
    lone_free(l);
}
END_TEST

START_TEST(who_is_always_late_never_accuses)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_stall(l, 0, 2);
    for (int i = 0; i < 400; i++) {
        lone_sleep(l, 2000);
        ftree_tick(l->ft, l->now);
        ck_assert_ptr_null(ftree_check(l->ft));
        l->n_sent = 0;
    }
    ck_assert_int_eq(l->verdicts, 0);
    lone_free(l);
}
END_TEST

START_TEST(late_with_nobody_suspected_is_nothing)
{
    struct lone *l = lone_new(4, 1, 32, 1);

    lone_stall(l, 1, 2);
    lone_acks(l, 0);
    lone_log(l);
    lone_sleep(l, 5000);
    lone_run(l, 0);
    ck_assert_str_eq(lone_log(l), "5000 rank 1 stalls, waits for rank 2\n"
                                  "5000 symptom about n2 goes to n0\n"
                                  "5000 -> n0 data symptom\n");
    lone_free(l);
}
END_TEST

/* ---- being asked ----------------------------------------------------------------------------- */

START_TEST(an_answer_names_who_waits_and_who_is_in_trouble)
{
    struct lone *l = lone_new(4, 4, 32, 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 6}};
    const struct lone_sent *s;

    l->state[0].phase = l->state[1].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->state[1].waiting = 700 * FTREE_MS;
    l->state[2].phase = FTREE_PHASE_INSIDE;
    l->state[3].proc_state = 'T';
    lone_hear(l, 0, FTREE_PATH_MGMT, &m);
    s = lone_last(l, WIRE_ANSWER);
    ck_assert_int_eq(s->to.node, 0);
    ck_assert_int_eq(s->to.path, FTREE_PATH_MGMT);
    ck_assert_uint_eq(s->to.conn, 1);
    ck_assert_uint_eq(s->m.u.answer.nonce, 9);
    ck_assert_int_eq(s->m.u.answer.asked_phase, FTREE_PHASE_INSIDE);
    ck_assert(!s->m.u.answer.leaving);
    ck_assert_int_eq(s->m.u.answer.waiting.count, 2);
    ck_assert_int_eq(s->m.u.answer.troubles, 1);
    ck_assert_int_eq(s->m.u.answer.trouble[0].rank, 7);
    lone_run(l, 150); /* and the one in trouble is now looked at */
    ck_assert_int_eq(l->verdicts, 1);
    lone_free(l);
}
END_TEST

START_TEST(a_witness_does_not_look_at_itself)
{
    struct lone *l = lone_new(4, 2, 32, 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.rank = FTREE_NONE}};

    l->state[1].proc_state = 'T';
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data answer\n");
    lone_run(l, 1000);
    ck_assert_int_eq(l->verdicts, 0);
    lone_free(l);
}
END_TEST

START_TEST(more_troubles_than_fit_are_left_out)
{
    struct lone *l = lone_new(2, 40, 32, 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.rank = FTREE_NONE}};

    for (int i = 0; i < 40; i++)
        l->state[i].proc_state = 'T';
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(lone_last(l, WIRE_ANSWER)->m.u.answer.troubles, WIRE_TROUBLES_MAX);
    lone_free(l);
}
END_TEST

START_TEST(a_probe_with_a_round_makes_this_node_sweep)
{
    struct lone *l = lone_new(7, 1, 2, 1);
    struct wire_message m = {.type = WIRE_PROBE,
                             .u.probe = {.nonce = 9, .round = 3, .rank = FTREE_NONE}};

    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data answer\n"
                                  "0 sweep 3\n"
                                  "0 suspects n3: sweep\n"
                                  "0 -> n3 data probe\n"
                                  "0 suspects n4: sweep\n"
                                  "0 -> n4 data probe\n");
    lone_free(l);
}
END_TEST

START_TEST(who_leaves_says_so_and_is_left_alone)
{
    struct lone *l = lone_new(4, 1, 32, 1), *asker;
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 1}};

    ftree_leave(l->ft, l->now);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    m = lone_last(l, WIRE_ANSWER)->m;
    ck_assert(m.u.answer.leaving);
    lone_free(l);
    asker = lone_new(4, 1, 32, 0);
    lone_stall(asker, 0, 1);
    m.u.answer.nonce = asker->ft->suspects.items[0].nonce;
    lone_hear(asker, 1, FTREE_PATH_MGMT, &m); /* by whatever path */
    ck_assert_int_eq(asker->ft->suspects.n, 0);
    ck_assert(ftree_leave_has_left(asker->ft, 1));
    lone_log(asker);
    lone_run(asker, 5000);
    ck_assert_int_eq(lone_count(asker, WIRE_PROBE), 0);
    lone_free(asker);
}
END_TEST

/* ---- the deputy ------------------------------------------------------------------------------ */

static int ask_deputy(const struct lone *l, const void *bytes, size_t bytes_len, size_t room,
                      struct wire_message *answer, size_t *len)
{
    uint8_t out[FTREE_MESSAGE_MAX];
    int rc;

    *len = room;
    rc = ftree_deputy_answer(&l->job, l->cfg.stall, bytes, bytes_len, l->state, 2, out, len);
    if (*len)
        ck_assert_int_eq(ftree_wire_decode(&l->job, l->now, out, *len, answer), FTREE_OK);
    return rc;
}

START_TEST(a_deputy_answers_probes_and_nothing_else)
{
    struct lone *l = lone_new(4, 2, 32, 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 3}}, answer;
    uint8_t buf[FTREE_MESSAGE_MAX];
    size_t len, out;

    l->state[0].proc_state = 'T';
    l->state[1].phase = FTREE_PHASE_WAITING;
    l->state[1].waiting = l->cfg.stall;
    len = ftree_wire_encode(&m, l->now, buf);
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX, &answer, &out), FTREE_OK);
    ck_assert_int_eq(answer.type, WIRE_ANSWER);
    ck_assert_int_eq(answer.u.answer.role, FTREE_ROLE_DEPUTY);
    ck_assert_uint_eq(answer.u.answer.nonce, 9);
    ck_assert_int_eq(answer.u.answer.asked_phase, FTREE_PHASE_WAITING);
    ck_assert_int_eq(answer.u.answer.troubles, 1);
    ck_assert_int_eq(answer.u.answer.trouble[0].rank, 2);
    ck_assert_int_eq(answer.u.answer.waiting.count, 1);
    ck_assert_int_eq(ask_deputy(l, buf, len - 1, FTREE_MESSAGE_MAX, &answer, &out),
                     FTREE_ERR_MALFORMED);
    ck_assert_uint_eq(out, 0);
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX - 1, &answer, &out),
                     FTREE_ERR_INVALID);
    ck_assert_uint_eq(out, 0);
    buf[1]++;
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX, &answer, &out), FTREE_ERR_VERSION);
    m.type = WIRE_SWEEP;
    len = ftree_wire_encode(&m, l->now, buf);
    ck_assert_int_eq(ask_deputy(l, buf, len, FTREE_MESSAGE_MAX, &answer, &out), FTREE_OK);
    ck_assert_uint_eq(out, 0);
    lone_free(l);
}
END_TEST

/* ---- limits ---------------------------------------------------------------------------------- */

START_TEST(who_leaves_or_has_failed_is_not_asked)
{
    struct lone *l = lone_new(4, 1, 32, 0);
    struct ftree_verdict v = lone_verdict(l, FTREE_RULE_BOTH_PATHS_SILENT, 2, FTREE_NONE, 0);
    struct wire_symptom s = {.node = 2, .rank = FTREE_NONE, .reporter = 1, .count = 1};

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ftree_probe_open(l->ft, l->now, &s, 0);
    s.node = 0;
    ftree_probe_open(l->ft, l->now, &s, 0);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    s.node = 1;
    l->fail_alloc_in = 1;
    ftree_probe_open(l->ft, l->now, &s, 0);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    ftree_leave(l->ft, l->now);
    ftree_probe_open(l->ft, l->now, &s, 0);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    lone_free(l);
}
END_TEST

START_TEST(a_refused_port_is_no_crash_to_who_leaves)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    lone_stall(l, 0, 2);
    l->ft->leaving = true; /* while it was asked */
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    lone_free(l);
}
END_TEST

START_TEST(several_suspects_are_decided_at_one_moment)
{
    struct lone *l = lone_new(12, 1, 32, 0);

    for (int32_t n = 1; n < 11; n++) {
        struct wire_symptom s = {.node = n, .rank = FTREE_NONE, .reporter = 11, .count = 1};
        ftree_probe_open(l->ft, l->now, &s, 0);
    }
    lone_run(l, 100);
    lone_answer(l, 11, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 11, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 10);
    ck_assert_int_eq(l->ft->suspects.n, 0);
    lone_free(l);
}
END_TEST

START_TEST(of_two_left_no_third_can_be_a_witness)
{
    struct lone *l = lone_new(4, 2, 32, 0);
    struct ftree_verdict v = lone_verdict(l, FTREE_RULE_BOTH_PATHS_SILENT, 1, FTREE_NONE, 0);

    /* several verdicts on one node are one node */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    v = lone_verdict(l, FTREE_RULE_PID_GONE, 1, 2, 0);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    v = lone_verdict(l, FTREE_RULE_PID_GONE, 1, 3, 0);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, 2), 1);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, 1), 0);
    lone_stall(l, 0, 4);
    lone_run(l, 900);
    ck_assert_int_eq(l->verdict[0].rule, FTREE_RULE_ISOLATED); /* node 3 could have been heard */
    ck_assert_int_eq(l->verdict[0].node, 0);
    lone_free(l);
}
END_TEST

SUITE("probe")
{
    TEST(a_silent_suspect_is_asked_four_times_and_then_decided);
    TEST(witnesses_are_asked_where_nobody_is_heard);
    TEST(a_witness_is_asked_nothing_in_particular);
    TEST(the_deputy_is_asked_where_the_kernel_spoke);
    TEST_ROWS(the_timer_stretches_the_window, 2);
    TEST(an_answer_by_the_main_path_ends_it);
    TEST(where_there_is_only_management_it_is_the_main_path);
    TEST(an_answer_by_management_alone_waits_for_the_other);
    TEST(answers_to_other_questions_do_not_count);
    TEST(a_deputy_names_one_stopped_rank_after_the_other);
    TEST(a_deputys_answer_does_not_make_its_agent_usable);
    TEST(a_deputys_last_word_counts);
    TEST(a_deputy_that_names_ranks_of_others_names_nobody);
    TEST(of_several_findings_the_greatest_is_kept);
    TEST(a_refusal_by_another_node_shows_that_the_path_works);
    TEST(evidence_is_what_was_asked);
    TEST(a_late_tick_excuses_everybody);
    TEST(who_is_always_late_never_accuses);
    TEST(late_with_nobody_suspected_is_nothing);
    TEST(an_answer_names_who_waits_and_who_is_in_trouble);
    TEST(a_witness_does_not_look_at_itself);
    TEST(more_troubles_than_fit_are_left_out);
    TEST(a_probe_with_a_round_makes_this_node_sweep);
    TEST(who_leaves_says_so_and_is_left_alone);
    TEST(a_deputy_answers_probes_and_nothing_else);
    TEST(who_leaves_or_has_failed_is_not_asked);
    TEST(a_refused_port_is_no_crash_to_who_leaves);
    TEST(several_suspects_are_decided_at_one_moment);
    TEST(of_two_left_no_third_can_be_a_witness);
}
