/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "stories.h"
#include "suite.h"

#include <string.h>

/* ---- asking ---------------------------------------------------------------------------------- */

TEST_CASE(a_mute_suspect_is_asked_four_times_and_then_decided)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    ck_assert(!ftree_is_asking(l->ft));
    lone_stall(l, 0, 2);
    lone_run(l, 100);
    ck_assert(ftree_is_asking(l->ft));
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT); /* heard, whatever it says */
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 550);
    EXPECT_STORY(lone_log(l));
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-outage/both-paths-silent");
    ck_assert(!ftree_is_asking(l->ft));
}

TEST_CASE(witnesses_are_asked_where_nobody_is_heard)
{
    struct lone *l = lone_of(shape_binary(8, 1), 1);
    const struct lone_sent *s;

    /* parent first, then neighbours by number, others each time */
    lone_stall(l, 1, 3);
    lone_log(l);
    lone_run(l, 700);
    EXPECT_STORY(lone_log(l));
    lone_run(l, 80);
    s = lone_last(l, WIRE_PROBE);
    ck_assert_ptr_null(s);
}

TEST_CASE(a_witness_is_asked_nothing_in_particular)
{
    struct lone *l = lone_of(shape_star(4, 2), 0);
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
        ck_assert_uint_eq(p->first, 0);
    }
    ck_assert(seen);
}

TEST_CASE(the_deputy_is_asked_where_the_kernel_spoke)
{
    struct lone *l = lone_of(shape_star(4, 2), 0);

    lone_stall(l, 0, 4);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_log(l);
    lone_run(l, 160);
    EXPECT_STORY(lone_log(l));
}

TEST_CASES(the_timer_stretches_the_window, 2)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    ftree_rtt(l->ft, 200 * FTREE_MS); /* rto 600 ms */
    if (_i)
        ftree_rtt(l->ft, 10000 * FTREE_MS); /* its greatest */
    lone_stall(l, 0, 2);
    ck_assert_uint_eq(lone_suspect(l, 2).until, l->now + (_i ? 6000 : 3600) * FTREE_MS);
    lone_run(l, _i ? 1000 : 600);
    ck_assert_int_eq(lone_suspect(l, 2).tries, 2);
}

/* ---- hearing --------------------------------------------------------------------------------- */

TEST_CASE(an_answer_by_the_main_path_ends_it)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 30);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).mean, 30 * FTREE_MS);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT); /* again */
    lone_run(l, 990);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(where_there_is_only_management_it_is_the_main_path)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    l->job.has_path[FTREE_PATH_DATA] = false;
    lone_stall(l, 0, 2);
    lone_answer(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(an_answer_by_management_alone_waits_for_the_other)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_answer(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    lone_run(l, 500);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(answers_to_other_questions_do_not_count)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct wire_message m = {.type = WIRE_ANSWER};

    lone_stall(l, 0, 2);
    m.u.answer.nonce = lone_last(l, WIRE_PROBE)->m.u.probe.nonce + 1;
    lone_hear(l, 2, FTREE_PATH_DATA, &m); /* a nonce of the past */
    m.u.answer.nonce--;
    lone_hear(l, 3, FTREE_PATH_DATA, &m); /* of a node not asked */
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

/* What the deputy of node 2, which has ranks 6 to 8, says. */
static void deputy_says(struct lone *l, int32_t troubles, const struct wire_trouble *t)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.role = FTREE_ROLE_DEPUTY};

    m.u.answer.nonce = ftree_inspect_question(l->ft, 2);
    m.u.answer.troubles = troubles;
    memcpy(m.u.answer.trouble, t, (size_t) troubles * sizeof(*t));
    ftree_ranks_add(&m.u.answer.waiting, 8, 8);
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

TEST_CASE(a_deputy_names_one_stopped_rank_after_the_other)
{
    struct lone *l = lone_of(shape_star(4, 3), 0);

    ask_about_node_2(l);
    deputy_says(l, 3, stopped);
    lone_run(l, 1000);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "process-stopped/deputy-says-stopped");
    ck_assert_int_eq(l->verdict[0].rank, 6);
    ck_assert_int_eq(l->verdict[0].pid, 78);
    ck_assert_int_eq(l->verdict[0].victims.count, 1);
    ck_assert(!ftree_peer_usable(l->ft, l->now, 2)); /* its agent will not answer */
    /* someone waits for rank 8, which no verdict explains */
    if (!ftree_inspect_suspects(l->ft))
        ask_about_node_2(l);
    deputy_says(l, 3, stopped);
    lone_run(l, 1000);
    ck_assert(ftree_verdict_on_rank(l->ft, 2, 8));
}

/* Who the launcher says has ended comes first, and the stopped rank after it, without another
 * question. */
TEST_CASE(a_deputy_names_the_rank_that_the_launcher_names)
{
    struct lone *l = lone_of(shape_star(4, 3), 0);
    struct ftree_symptom s;

    ask_about_node_2(l);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PROCESS_EXITED, 2, 7, 0, l->now, l->now);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    deputy_says(l, 3, stopped);
    ck_assert_int_eq(lone_suspect(l, 2).named, 7);
    lone_run(l, 1000);
    ck_assert_int_eq(l->verdicts, 2);
    ck_assert_str_eq(l->verdict[0].rule, "process-crash/launcher-and-deputy");
    ck_assert_int_eq(l->verdict[0].rank, 7);
    ck_assert_int_eq(l->verdict[0].pid, 77);
    ck_assert_int_eq(l->verdict[0].victims.count, 1);
    ck_assert_str_eq(l->verdict[1].rule, "process-stopped/deputy-says-stopped");
    ck_assert_int_eq(l->verdict[1].rank, 6);
}

/* Neither agent nor deputy is one of its ranks, however many are left. */
TEST_CASES(of_the_last_rank_of_a_node_no_port_says_anything, 2)
{
    struct lone *l = lone_of(shape_star(4, 3), 0);
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 2, 7, 2);
    enum ftree_role left = (enum ftree_role) _i,
                    lost = left == FTREE_ROLE_AGENT ? FTREE_ROLE_DEPUTY : FTREE_ROLE_AGENT;

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    v.rank = 8;
    v.id++;
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_stall(l, 0, 6);
    for (int path = 0; path < FTREE_PATHS; path++) {
        lone_reach(l, 2, path, left, FTREE_REACH_CONNECTED, 0);
        lone_reach(l, 2, path, lost, FTREE_REACH_REFUSED, 111);
    }
    lone_run(l, 1000);
    ck_assert(!ftree_verdict_find(l->ft, FTREE_CLASS_PROCESS_STOPPED, 2, 6));
    ck_assert(ftree_verdict_find(l->ft, FTREE_CLASS_NODE_FROZEN, 2, FTREE_NONE));
}

TEST_CASE(the_deputy_of_a_node_with_one_rank_is_asked)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    int32_t asked = 0;

    lone_stall(l, 0, 2);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 200);
    for (int32_t i = 0; i < l->n_sent; i++)
        asked += l->sent[i].to.node == 2 && l->sent[i].to.role == FTREE_ROLE_DEPUTY;
    ck_assert_int_eq(asked, 2); /* once on each path */
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_DEPUTY);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(a_deputys_answer_does_not_make_its_agent_usable)
{
    struct lone *l = lone_of(shape_star(4, 3), 0);

    ask_about_node_2(l);
    ftree_peer_unresponsive(l->ft, l->now, 2, false);
    deputy_says(l, 3, stopped);
    ck_assert(!ftree_peer_usable(l->ft, l->now, 2));
    lone_answer(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    ck_assert(ftree_peer_usable(l->ft, l->now, 2));
}

TEST_CASE(a_deputys_last_word_counts)
{
    struct lone *l = lone_of(shape_star(4, 3), 0);

    ask_about_node_2(l);
    deputy_says(l, 3, stopped);
    ck_assert_int_eq(lone_suspect(l, 2).named, 6);
    deputy_says(l, 0, stopped); /* continued */
    ck_assert_int_eq(lone_suspect(l, 2).named, FTREE_NONE);
    lone_log(l);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(a_deputy_that_names_ranks_of_others_names_nobody)
{
    struct lone *l = lone_of(shape_star(4, 3), 0);
    const struct wire_trouble other = {.rank = 9, .proc_state = 'T'};

    ask_about_node_2(l);
    deputy_says(l, 1, &other);
    ck_assert_int_eq(lone_suspect(l, 2).named, FTREE_NONE);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(of_several_findings_the_greatest_is_kept)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_inspect_suspect su;

    lone_stall(l, 0, 2);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_UNREACHABLE, 113);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 101);
    su = lone_suspect(l, 2);
    ck_assert_int_eq(su.reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_UNREACHABLE);
    ck_assert_int_eq(su.error[FTREE_PATH_DATA][FTREE_ROLE_AGENT], 113);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 100000);
    su = lone_suspect(l, 2);
    ck_assert_int_eq(su.reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_REFUSED);
    ck_assert_int_eq(su.error[FTREE_PATH_DATA][FTREE_ROLE_AGENT], 0);
}

TEST_CASE(a_refusal_by_another_node_shows_that_the_path_works)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 200);
    lone_reach(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    lone_reach(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 700);
    ck_assert_str_eq(l->verdict[0].rule, "node-outage/both-paths-silent");
    ck_assert_int_eq(l->verdict[0].evidences, 5); /* and what could not be asked */
    ck_assert_int_eq(l->verdict[0].evidence[1].target, 1);
    ck_assert_int_eq(l->verdict[0].evidence[1].reach, FTREE_REACH_REFUSED);
}

TEST_CASE(evidence_is_what_was_asked)
{
    struct lone *l = lone_of(shape_star(2, 2), 0);
    const struct ftree_verdict *v = &l->verdict[0];

    lone_stall(l, 0, 2);
    lone_reach(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    lone_run(l, 900);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(v->rule, "unknown/unobserved");
    ck_assert_int_eq(v->evidences, 4);
    ck_assert_int_eq(v->evidence[0].path, FTREE_PATH_DATA);
    ck_assert_int_eq(v->evidence[0].role, FTREE_ROLE_AGENT);
    ck_assert_int_eq(v->evidence[0].reach, FTREE_REACH_REFUSED);
    ck_assert_int_eq(v->evidence[0].error, 111);
    ck_assert_int_eq(v->evidence[1].role, FTREE_ROLE_DEPUTY);
    ck_assert_int_eq(v->evidence[1].reach, FTREE_REACH_SILENT);
    ck_assert_int_eq(v->evidence[2].path, FTREE_PATH_MGMT);
    ck_assert_int_eq(v->evidence[2].reach, FTREE_REACH_SILENT);
}

/* ---- state and log probes -------------------------------------------------------------------- */

static void answers(struct lone *l, int32_t node, enum ftree_path path)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    m.u.answer.nonce = ftree_inspect_question(l->ft, node);
    lone_hear(l, node, path, &m);
}

static void state_says(struct lone *l, int32_t node, uint8_t link)
{
    struct wire_message m = {.type = WIRE_STATE, .u.state.state = {.cpus = 4, .link = link}};

    m.u.state.nonce = ftree_inspect_question(l->ft, node);
    lone_hear(l, node, FTREE_PATH_MGMT, &m);
}

TEST_CASE(who_answers_by_management_alone_is_asked_for_its_state)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 5);
    answers(l, 2, FTREE_PATH_MGMT);
    lone_run(l, 400);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_log(l);
    l->steps = true;
    lone_run(l, 100);
    ck_assert_str_eq(lone_log(l), "450   asks n2: response of agent over all\n"
                                  "450 -> n2 data+mgmt probe fresh\n"
                                  "450   asks n2: response of agent over all from elsewhere\n"
                                  "450   asks n2: state of agent over answered\n"
                                  "450 -> n2 mgmt probe\n");
    l->steps = false;
    state_says(l, 2, FTREE_LINK_DOWN);
    ck_assert_int_eq(l->verdicts, 1); /* which decides at once */
    ck_assert_str_eq(l->verdict[0].rule, "nic-fault/interface-down");
    ck_assert_str_eq(l->verdict[0].raised_by, "stalled-peer");
    ck_assert_int_eq(l->verdict[0].kind, FTREE_KIND_NIC);
    ck_assert_int_eq(l->verdict[0].node, 2);
    ck_assert(!ftree_has_failed(l->ft, 2));
}

TEST_CASE(a_state_that_shows_nothing_decides_nothing)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 5);
    answers(l, 2, FTREE_PATH_MGMT);
    lone_run(l, 500);
    state_says(l, 2, FTREE_LINK_UP);
    ck_assert_int_eq(l->verdicts, 0);
    answers(l, 2, FTREE_PATH_DATA); /* the answer was late */
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(a_person_who_asks_has_everything_asked)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct wire_message m = {.type = WIRE_LOG};
    struct ftree_symptom s;

    l->steps = true;
    ftree_symptom_init(&s, FTREE_SYMPTOM_USER_SUSPECTS, 2, 2, 0, l->now, l->now);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    lone_run(l, 5);
    answers(l, 2, FTREE_PATH_DATA);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1); /* it may be ill although it answers */
    answers(l, 2, FTREE_PATH_MGMT);
    lone_log(l);
    lone_run(l, 150);
    EXPECT_STORY(lone_log(l));
    m.u.log.nonce = ftree_inspect_question(l->ft, 2);
    m.u.log.log.rank = 2;
    lone_hear(l, 2, FTREE_PATH_MGMT, &m); /* nothing was logged */
    ck_assert(!lone_suspect(l, 2).has_log);
    m.id = 0;
    m.u.log.log.entries = 1;
    m.u.log.nonce++;
    lone_hear(l, 2, FTREE_PATH_MGMT, &m); /* another question's */
    ck_assert(!lone_suspect(l, 2).has_log);
    m.id = 0;
    m.u.log.nonce--;
    lone_hear(l, 2, FTREE_PATH_MGMT, &m);
    ck_assert(lone_suspect(l, 2).has_log);
    l->steps = false;
    lone_run(l, 600);
    answers(l, 2, FTREE_PATH_DATA); /* it still does */
    answers(l, 2, FTREE_PATH_MGMT);
    lone_run(l, 1400);
    ck_assert_int_eq(l->verdicts, 0);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(who_answered_once_and_then_no_more_is_silent)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 5);
    answers(l, 2, FTREE_PATH_MGMT); /* and is lost a moment later */
    lone_run(l, 400);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 500);
    ck_assert_int_eq(l->verdicts, 0); /* there is no hurry: messages may have been lost */
    lone_run(l, 525);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-outage/both-paths-silent");
}

/* An agent that gets its turns late gives others longer. */
TEST_CASE(the_window_grows_with_the_own_lag)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 890);
    for (int i = 0; i < 50; i++) /* until that is the mean */
        ftree_late(l->ft, l->now, 50 * FTREE_MS);
    lone_run(l, 100);
    ck_assert_int_eq(l->verdicts, 0); /* 900 ms and up to 500 ms more */
    lone_run(l, 500);
    ck_assert_int_eq(l->verdicts, 1);
}

/* ---- from elsewhere -------------------------------------------------------------------------- */

static void is_seen(struct lone *l, int32_t by, enum ftree_path path, enum ftree_reach reach)
{
    struct wire_message m = {.type = WIRE_INDIRECT_RESULT, .u.indirect_result.target = 2};

    m.u.indirect_result.nonce = ftree_inspect_question(l->ft, 2);
    m.u.indirect_result.path = (uint8_t) path;
    m.u.indirect_result.reach = (uint8_t) reach;
    lone_hear(l, by, FTREE_PATH_MGMT, &m);
}

static const struct ftree_evidence *evidence_by(const struct ftree_verdict *v, int32_t node)
{
    for (int32_t i = 0; i < v->evidences; i++)
        if (v->evidence[i].by == node)
            return &v->evidence[i];
    return NULL;
}

TEST_CASE(who_answers_others_has_its_power)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    const struct ftree_evidence *e;

    lone_stall(l, 0, 2);
    lone_run(l, 200);
    is_seen(l, 3, FTREE_PATH_DATA, FTREE_REACH_SILENT);
    is_seen(l, 1, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    is_seen(l, 3, FTREE_PATH_DATA, FTREE_REACH_CONNECTED); /* says less than an answer */
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "unknown/silent-from-here-only");
    e = evidence_by(&l->verdict[0], 1);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(e->source, FTREE_EVIDENCE_INDIRECT);
    ck_assert_int_eq(e->target, 2);
    ck_assert_int_eq(e->path, FTREE_PATH_DATA);
    ck_assert_int_eq(e->reach, FTREE_REACH_ANSWERED);
}

TEST_CASE(silence_elsewhere_is_evidence)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    const struct ftree_evidence *e;

    lone_stall(l, 0, 2);
    lone_run(l, 500);
    is_seen(l, 3, FTREE_PATH_MGMT, FTREE_REACH_SILENT);
    is_seen(l, 3, FTREE_PATH_DATA, FTREE_REACH_UNREACHABLE);
    lone_run(l, 500);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].class_, FTREE_CLASS_NODE_OUTAGE);
    e = evidence_by(&l->verdict[0], 3);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(e->reach, FTREE_REACH_UNREACHABLE);
}

TEST_CASE(what_was_seen_of_an_earlier_question_does_not_count)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct wire_message m = {.type = WIRE_INDIRECT_RESULT, .u.indirect_result = {.target = 2}};

    m.u.indirect_result.reach = FTREE_REACH_ANSWERED;
    lone_stall(l, 0, 2);
    lone_run(l, 200);
    m.u.indirect_result.nonce = ftree_inspect_question(l->ft, 2) + 1;
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    m.u.indirect_result.target = 1; /* and nobody asks about node 1 */
    lone_hear(l, 3, FTREE_PATH_MGMT, &m);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdict[0].class_, FTREE_CLASS_NODE_OUTAGE);
    ck_assert_ptr_null(evidence_by(&l->verdict[0], 3));
}

TEST_CASE(who_answers_is_not_looked_at_from_elsewhere)
{
    struct lone *l = lone_of(shape_star(4, 2), 0);

    lone_stall(l, 0, 4);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 800);
    ck_assert_int_eq(lone_count(l, WIRE_INDIRECT_PROBE), 0);
}

/* ---- words that were true once --------------------------------------------------------------- */

TEST_CASE(a_kernel_that_spoke_before_an_outage_is_no_sign_of_life)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    lone_lost(l, 2);
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 850);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-outage/both-paths-silent");
}

/* It answered over management alone, and was stopped then: of that its kernel knows nothing. */
TEST_CASE(a_kernel_that_goes_on_speaking_outlives_an_old_answer)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    answers(l, 2, FTREE_PATH_MGMT);
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 850);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 525);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-frozen/agent-and-deputy-silent");
}

/* The own side goes down after its kernel spoke: who cannot ask must not accuse. */
TEST_CASE(an_old_word_gives_way_to_what_was_heard_since)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    answers(l, 2, FTREE_PATH_MGMT);
    lone_lost(l, 2);
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 100);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 99);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_LOCAL_DOWN, 99);
    lone_run(l, 1275);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "unknown/no-node-answers");
    ck_assert_int_eq(l->verdict[0].node, 0);
    ck_assert_int_eq(l->verdict[0].evidence[0].reach, FTREE_REACH_LOCAL_DOWN);
    ck_assert_int_eq(l->verdict[0].evidence[0].error, 99);
}

static void observe(struct lone *l, int32_t node)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_SILENT, node, FTREE_NONE, l->job.nodes - 1, l->now,
                       l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
}

/* The built-in base, with all questions by the connection there is. */
static struct ftree_rules *without_fresh(void)
{
    struct ftree_rules_error e;
    struct ftree_rules *rules;
    char *text, *at;
    size_t len;

    text = strdup(ftree_rules_builtin(&len));
    ck_assert_ptr_nonnull(text);
    while ((at = strstr(text, "\"fresh\": true")))
        memcpy(at, "\"fresh\":false", strlen("\"fresh\": true"));
    ck_assert_int_eq(ftree_rules_read(text, len, &rules, &e), FTREE_OK);
    free(text);
    return rules;
}

/* A kernel says once that a connection is there, and that it still is by not ending it. */
TEST_CASE(a_kernel_that_was_not_asked_again_is_not_taken_for_silent)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);
    struct ftree_rules *rules = without_fresh();

    ftree_use_rules(l->ft, l->now, rules);
    lone_stall(l, 0, 2);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 850);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-frozen/agent-and-deputy-silent");
    lone_free(l);
    ftree_rules_free(rules);
}

/* Node 1 is starved and a suspect itself, but when it speaks the paths work. */
TEST_CASE(a_suspect_is_a_witness_for_another)
{
    struct lone *l = lone_of(shape_star(3, 1), 0);

    lone_stall(l, 0, 1);
    lone_reach(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 1, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 5);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_lost(l, 2);
    lone_run(l, 5);
    observe(l, 2);
    lone_run(l, 870); /* node 1 connects, again and again */
    answers(l, 1, FTREE_PATH_DATA);
    lone_run(l, 50);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-outage/both-paths-silent");
    ck_assert_int_eq(l->verdict[0].node, 2);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* There is always a little lag: it must not bring questions that nobody has the time to answer, for
 * those would make old what the kernel said before. */
TEST_CASE(a_little_lag_makes_no_word_old)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, 2, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_run(l, 100);
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 3, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 799);
    for (unsigned i = 1; i < 20 && l->verdicts == 0; i++) {
        l->now = ftree_deadline(l->ft);
        ftree_late(l->ft, l->now, i * FTREE_MS / 10);
        ftree_tick(l->ft, l->now);
    }
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "node-frozen/agent-and-deputy-silent");
}

TEST_CASE(a_late_tick_excuses_everybody)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    lone_run(l, 100);
    lone_sleep(l, 3000);
    lone_log(l);
    lone_run(l, 0);
    EXPECT_STORY(lone_log(l));
    ck_assert_int_eq(l->verdicts, 0);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT); /* its nonce is not in the log any more */
    lone_run(l, 5000);
    ck_assert_int_eq(l->verdicts, 1); /* it was asked again, and did not answer */
}

TEST_CASE(who_is_always_late_never_accuses)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    for (int i = 0; i < 400; i++) {
        lone_sleep(l, 2000);
        ftree_tick(l->ft, l->now);
        ck_assert_ptr_null(ftree_check(l->ft));
        l->n_sent = 0;
    }
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(late_with_nobody_suspected_is_nothing)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    lone_stall(l, 1, 2);
    lone_acks(l, 0);
    lone_log(l);
    lone_sleep(l, 5000);
    lone_run(l, 0);
    ck_assert_str_eq(lone_log(l), "");
    lone_run(l, 1000); /* it has waited anew */
    ck_assert_str_eq(lone_log(l), "6000 rank 1 stalls, waits for rank 2\n"
                                  "6000 symptom about n2 goes to n0\n"
                                  "6000 -> n0 data symptom\n");
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Something is seen of `node`, by the last one. */
TEST_CASE(who_leaves_or_has_failed_is_not_asked)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_knows(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 0);
    observe(l, 2);
    observe(l, 0);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    ftree_leave(l->ft, l->now);
    observe(l, 1);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(a_refused_port_is_no_crash_to_who_leaves)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 2);
    LONE_STEP(l, ftree_leave_begin(l->ft, l->now, false)); /* while it was asked */
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    lone_reach(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_REFUSED, 111);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(several_suspects_are_decided_at_one_moment)
{
    struct lone *l = lone_of(shape_star(12, 1), 0);

    for (int32_t n = 1; n < 11; n++)
        observe(l, n);
    lone_run(l, 100);
    lone_answer(l, 11, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_answer(l, 11, FTREE_PATH_MGMT, FTREE_ROLE_AGENT);
    lone_run(l, 800);
    ck_assert_int_eq(l->verdicts, 10);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(of_two_left_no_third_can_be_a_witness)
{
    struct lone *l = lone_of(shape_star(4, 2), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 0);

    /* several verdicts on one node are one node */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    v = lone_verdict(l, "process-crash/pid-gone", 1, 2, 0);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    v = lone_verdict(l, "process-crash/pid-gone", 1, 3, 0);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, 2), 1);
    ck_assert_int_eq(ftree_verdict_failed(l->ft, 1), 0);
    lone_stall(l, 0, 4);
    lone_run(l, 900);
    ck_assert_str_eq(l->verdict[0].rule,
                     "unknown/no-node-answers"); /* node 3 could have been heard */
    ck_assert_int_eq(l->verdict[0].node, 0);
}
