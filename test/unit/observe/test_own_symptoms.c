/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "stories.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

#define STALL(l) ((l)->cfg.stall)

/* ---- stalls ---------------------------------------------------------------------------------- */

TEST_CASE(a_stall_is_told_again_at_doubling_intervals)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);
    int told[16], n = 0;

    lone_stall(l, 1, 2);
    for (int ms = 0; ms < 60000; ms++) {
        lone_log(l);
        lone_run(l, 1);
        for (int32_t i = 0; i < l->n_sent && n < 16; i++)
            if (l->sent[i].m.type == WIRE_SYMPTOM && l->sent[i].to.path == FTREE_PATH_DATA &&
                !l->sent[i].to.fresh)
                told[n++] = (int) (l->sent[i].at / FTREE_MS) - 1000;
        lone_acks(l, 0);
    }
    ck_assert_int_ge(n, 7);
    ck_assert_int_eq(told[0], 1000);
    ck_assert_int_eq(told[1], 3000);
    ck_assert_int_eq(told[2], 7000);
    ck_assert_int_eq(told[3], 15000);
    ck_assert_int_eq(told[4], 25000); /* 10 s from here on */
    ck_assert_int_eq(told[5], 35000);
}

TEST_CASE(the_same_stall_twice_is_told_once)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    lone_stall(l, 1, 2);
    lone_acks(l, 0);
    lone_stall(l, 1, 2);
    lone_stall(l, 1, 2);
    ck_assert_str_eq(lone_log(l), "0 rank 1 stalls, waits for rank 2\n"
                                  "0 symptom about n2 goes to n0\n"
                                  "0 -> n0 data symptom\n");
}

TEST_CASE(a_wait_before_the_limit_is_told_and_again_at_the_limit)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);

    ck_assert_int_eq(ftree_stall(l->ft, l->now, 2, 5, 200 * FTREE_MS), FTREE_OK);
    lone_acks(l, 0);
    ck_assert_str_eq(lone_log(l), "0 rank 2 stalls, waits for rank 5\n"
                                  "0 symptom about n2 goes to n0\n"
                                  "0 -> n0 data symptom\n");
    lone_run(l, 799);
    ck_assert_str_eq(lone_log(l), "");
    lone_run(l, 1);
    lone_acks(l, 0);
    ck_assert_str_eq(lone_log(l), "800 rank 2 stalls, waits for rank 5\n"
                                  "800 symptom about n2 goes to n0\n"
                                  "800 -> n0 data symptom\n");
    lone_run(l, 1000); /* from here on as ever */
    ck_assert_ptr_nonnull(strstr(lone_log(l), "1800 rank 2 stalls, waits for rank 5\n"));
}

TEST_CASE(a_symptom_says_since_when_and_for_whom)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    const struct ftree_symptom *s;

    ck_assert_int_eq(ftree_stall(l->ft, l->now, 2, 5, 1700 * FTREE_MS), FTREE_OK);
    s = &lone_last(l, WIRE_SYMPTOM)->m.u.symptom;
    ck_assert_int_eq(s->kind, FTREE_SYMPTOM_PEER_STALL);
    ck_assert_int_eq(s->severity, FTREE_SEVERITY_WARNING);
    ck_assert_int_eq(s->about.kind, FTREE_KIND_RANK);
    ck_assert_int_eq(s->about.node, 2);
    ck_assert_int_eq(s->about.rank, 5);
    ck_assert_int_eq(s->reporters, 1);
    ck_assert_int_eq(s->reporter[0], 1);
    ck_assert_uint_eq(s->count, 1);
    /* the clock of this handle began 1 s ago */
    ck_assert_uint_eq(s->first, 0);
    ck_assert_uint_eq(s->last, 1000 * FTREE_MS);
}

TEST_CASE(a_stall_that_is_over_is_not_told_again)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    lone_stall(l, 1, 2);
    lone_acks(l, 0);
    ftree_stall_over(l->ft, l->now, 1);
    ftree_stall_over(l->ft, l->now, 1); /* twice, and of a rank that never stalled */
    ftree_stall_over(l->ft, l->now, 3);
    lone_log(l);
    lone_run(l, 60000);
    ck_assert_str_eq(lone_log(l), "");
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
}

TEST_CASE(a_new_peer_is_told_at_once_but_not_at_every_turn)
{
    struct lone *l = lone_of(shape_star(4, 1), 0);

    lone_stall(l, 0, 1);
    lone_answer(l, 1, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_run(l, 100);
    lone_stall(l, 0, 2); /* half a stall limit after the last */
    lone_run(l, 500);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_run(l, 600);
    lone_stall(l, 0, 3); /* at once: the last was long ago */
    lone_answer(l, 3, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    EXPECT_STORY(lone_log(l));
}

TEST_CASE(a_wait_for_a_neighbour_on_the_own_node_asks_nobody)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);

    lone_stall(l, 2, 3);
    lone_stall(l, 3, FTREE_LOCAL); /* which one is not known */
    lone_run(l, 5000);
    ck_assert_str_eq(lone_log(l), "");
}

TEST_CASE(arguments_out_of_range)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);

    ck_assert_int_eq(ftree_stall(l->ft, l->now, -1, 5, STALL(l)), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_stall(l->ft, l->now, 8, 5, STALL(l)), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_stall(l->ft, l->now, 0, 5, STALL(l)), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_stall(l->ft, l->now, 2, -3, STALL(l)), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_stall(l->ft, l->now, 2, 8, STALL(l)), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, -1), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 8), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 0), FTREE_ERR_INVALID);
    ck_assert_str_eq(lone_log(l), "");
    l->fail_alloc_in = 1;
    ck_assert_int_eq(ftree_stall(l->ft, l->now, 2, 5, STALL(l)), FTREE_ERR_NOMEM);
    l->fail_alloc_in = 1;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 2), FTREE_ERR_NOMEM);
}

TEST_CASE(who_leaves_does_not_stall)
{
    struct lone *l = lone_of(shape_star(4, 1), 1);

    lone_stall(l, 1, 2);
    ftree_leave(l->ft, l->now);
    lone_acks(l, 0);
    lone_log(l);
    lone_stall(l, 1, 3);
    lone_run(l, 1500);
    ck_assert_str_eq(lone_log(l), "");
}

/* ---- symptoms of other middleware ------------------------------------------------------------ */

TEST_CASE(a_symptom_is_merged_with_an_equal_one)
{
    struct ftree_symptom s, more;

    ftree_symptom_init(&s, FTREE_SYMPTOM_IO_SLOW, 2, FTREE_NONE, 1, 500, 600);
    ftree_symptom_init(&more, FTREE_SYMPTOM_IO_SLOW, 2, 5, 3, 400, 700);
    more.severity = FTREE_SEVERITY_FATAL;
    more.count = 4;
    more.error = 5;
    strcpy(more.detail, "says who");
    ftree_symptom_merge(&s, &more);
    ck_assert_uint_eq(s.count, 5);
    ck_assert_uint_eq(s.first, 400);
    ck_assert_uint_eq(s.last, 700);
    ck_assert_int_eq(s.severity, FTREE_SEVERITY_FATAL);
    ck_assert_int_eq(s.about.rank, 5);
    ck_assert_int_eq(s.error, 5);
    ck_assert_str_eq(s.detail, "says who");
    ck_assert_int_eq(s.reporters, 2);
    ck_assert_int_eq(s.reporter[1], 3);
    more.first = 450;
    more.error = 6;
    more.count = UINT32_MAX;
    strcpy(more.detail, "says somebody else");
    ftree_symptom_merge(&s, &more); /* what is known already stays */
    ck_assert_uint_eq(s.count, UINT32_MAX);
    ck_assert_uint_eq(s.first, 400);
    ck_assert_int_eq(s.error, 5);
    ck_assert_str_eq(s.detail, "says who");
    ck_assert_int_eq(s.reporters, 2);
    for (int32_t n = 10; n < 20; n++) {
        more.reporter[0] = n;
        ftree_symptom_merge(&s, &more);
    }
    ck_assert_int_eq(s.reporters, FTREE_REPORTERS_MAX);
}

TEST_CASE(a_symptom_told_is_this_nodes)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct ftree_symptom s;
    const struct ftree_symptom *sent;

    ftree_symptom_init(&s, FTREE_SYMPTOM_PROCESS_EXITED, 2, 5, 3, l->now - FTREE_MS, l->now);
    s.reporters = 4; /* of no account */
    s.error = 11;
    memset(s.detail, 'x', sizeof(s.detail));
    s.detail[3] = 0x1b;
    s.detail[4] = (char) 0xe9;
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    sent = &lone_last(l, WIRE_SYMPTOM)->m.u.symptom;
    ck_assert_int_eq(sent->kind, FTREE_SYMPTOM_PROCESS_EXITED);
    ck_assert_int_eq(sent->about.rank, 5);
    ck_assert_int_eq(sent->reporters, 1);
    ck_assert_int_eq(sent->reporter[0], 1);
    ck_assert_int_eq(sent->error, 11);
    ck_assert_int_eq(strncmp(sent->detail, "xxx??x", 6), 0);
    ck_assert_uint_eq(strlen(sent->detail), FTREE_DETAIL_MAX - 1);
}

TEST_CASE(symptoms_out_of_range)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct ftree_symptom good, s;

    ftree_symptom_init(&good, FTREE_SYMPTOM_PROCESS_EXITED, 2, 5, 3, l->now, l->now);
#define INVALID(field, value) \
    do { \
        s = good; \
        s.field = (value); \
        ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_ERR_INVALID); \
    } while (0)
    INVALID(kind, FTREE_SYMPTOM_COUNT);
    INVALID(severity, FTREE_SEVERITY_COUNT);
    INVALID(count, 0);
    INVALID(first, l->now + 1);
    INVALID(last, l->now + 1);
    INVALID(last, l->now - 1);
    INVALID(error, -1);
    INVALID(error, 4096);
    INVALID(about.kind, FTREE_KIND_COUNT);
    INVALID(about.node, -1);
    INVALID(about.node, 4);
    INVALID(about.node, 1); /* rank 5 is not there */
    INVALID(about.rank, 8);
    INVALID(about.rank, -2);
    INVALID(about.switch_, 0);
    INVALID(about.kind, FTREE_KIND_SWITCH);
    s = good;
    s.about = (struct ftree_component){FTREE_KIND_SWITCH, 0, FTREE_NONE, 0};
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_ERR_INVALID); /* there is none */
    ck_assert_str_eq(lone_log(l), "");
    lone_use_tree(l, shape_read("switch:2 node:2"));
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    s.about.switch_ = 2;
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_ERR_INVALID);
}

TEST_CASE(who_leaves_tells_no_symptoms)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct ftree_symptom s;

    ftree_leave(l->ft, l->now);
    lone_acks(l, 0);
    lone_log(l);
    ftree_symptom_init(&s, FTREE_SYMPTOM_MOUNT_SILENT, 2, FTREE_NONE, 1, l->now, l->now);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    ck_assert_str_eq(lone_log(l), "");
}

/* ---- the own ranks --------------------------------------------------------------------------- */

static const struct {
    uint8_t phase;
    char proc_state;
    bool trouble;
} trouble_rows[] = {
    {FTREE_PHASE_OUTSIDE, 'R', false}, {FTREE_PHASE_INSIDE, 'S', false},
    {FTREE_PHASE_WAITING, 'R', false}, {FTREE_PHASE_WAITING, 'D', false},
    {FTREE_PHASE_WAITING, 0, false},   {FTREE_PHASE_WAITING, 'T', true},
    {FTREE_PHASE_OUTSIDE, 't', true},  {FTREE_PHASE_GONE, 0, true},
    {FTREE_PHASE_GONE, 'Z', true},     {FTREE_PHASE_LEFT, 'T', false},
    {FTREE_PHASE_LEFT, 0, false},      {FTREE_PHASE_OUTSIDE, 'Z', false},
};

TEST_CASE(what_is_trouble)
{
    for (int i = 0; i < COUNT(trouble_rows); i++) {
        struct ftree_rank_state s = {.phase = trouble_rows[i].phase,
                                     .proc_state = trouble_rows[i].proc_state};
        ck_assert_msg(ftree_symptom_is_trouble(&s) == trouble_rows[i].trouble, "row %d", i);
    }
}

TEST_CASE(who_is_a_victim)
{
    struct ftree_rank_state s = {.phase = FTREE_PHASE_WAITING, .waiting = 499};

    ck_assert(!ftree_symptom_is_victim(&s, 1000));
    s.waiting = 500;
    ck_assert(ftree_symptom_is_victim(&s, 1000));
    s.phase = FTREE_PHASE_LEFT; /* because of what it waited for */
    ck_assert(ftree_symptom_is_victim(&s, 1000));
    s.phase = FTREE_PHASE_GONE;
    ck_assert(!ftree_symptom_is_victim(&s, 1000));
}

/* It ended because of another, without MPI_Finalize: whatever the launcher says of how, it is a
 * victim. */
TEST_CASE(who_left_because_of_another_has_not_crashed)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 0);
    struct ftree_symptom s;

    l->state[0].phase = FTREE_PHASE_LEFT;
    l->state[0].proc_state = 'X';
    l->state[0].waiting = 900 * FTREE_MS;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 2), FTREE_OK);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PROCESS_EXITED, 1, 2, 1, l->now, l->now);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    lone_run(l, 500);
    ck_assert_int_eq(l->verdicts, 0);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.range[0].first, 2);
}

/* That all have it in common is no suspension, and nobody need wait. */
TEST_CASE(ranks_that_their_memory_limit_holds_are_one_verdict)
{
    struct lone *l = lone_of(shape_star(4, 3), 1);

    l->state[0].proc_state = l->state[1].proc_state = 'M';
    ftree_rank_stopped(l->ft, l->now);
    lone_run(l, 150);
    lone_acks(l, 0);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "user-code-hang/memory-limit");
    ck_assert_int_eq(l->verdict[0].component.count, 2);
    ck_assert_int_eq(l->verdict[0].rank, 3);
    l->state[2].proc_state = 'M'; /* and a third one later */
    ftree_rank_stopped(l->ft, l->now);
    lone_run(l, 150);
    lone_acks(l, 0);
    ck_assert_int_eq(l->verdicts, 2);
    ck_assert_int_eq(l->verdict[1].component.count, 0);
    ck_assert_int_eq(l->verdict[1].rank, 5);
    ck_assert_int_eq(l->verdict[1].pid, 5005);
    for (int i = 0; i < 3; i++)
        l->state[i].proc_state = 'R';
    lone_run(l, 2000);
    ck_assert_int_eq(l->withdrawals, 2);
}

TEST_CASE(a_stopped_rank_is_seen_when_another_stalls)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);

    l->state[1].proc_state = 'T';
    lone_stall(l, 2, 3);
    ck_assert_int_eq(l->verdicts, 0);
    lone_run(l, 149);
    ck_assert_int_eq(l->verdicts, 0);
    lone_run(l, 1);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, "process-stopped/state-t");
    ck_assert_int_eq(l->verdict[0].rank, 3);
    ck_assert_int_eq(l->verdict[0].pid, 5003);
    ck_assert_int_eq(l->verdict[0].fln, 1);
    ck_assert_uint_eq(l->verdict[0].first_symptom, 0);
    ck_assert_int_eq(l->verdict[0].evidence[0].path, FTREE_PATHS);
    ck_assert_int_eq(l->verdict[0].evidence[0].proc_state, 'T');
}

TEST_CASE(a_gone_rank_is_a_verdict_once_it_has_settled)
{
    struct lone *l = lone_of(shape_star(1, 2), 0);

    l->state[1].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 1), FTREE_OK);
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 1), FTREE_OK); /* told twice */
    lone_run(l, 200);
    ck_assert_str_eq(lone_log(l), "150 verdict process-crash of n0 by process-crash/pid-gone\n"
                                  "150 reports process-crash of n0: 0 victims\n");
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_str_eq(l->report[0].rule, "process-crash/pid-gone");
    ck_assert_int_eq(l->report[0].evidence[0].proc_state, 'X');
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 1), FTREE_OK); /* known by now */
    lone_run(l, 5000);
    ck_assert_str_eq(lone_log(l), "");
}

/* The launcher says that rank 1 of this node, or another, ended. */
static int launcher_says(struct lone *l, int32_t node, int32_t rank)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_PROCESS_EXITED, node, rank, node, l->now - FTREE_MS,
                       l->now);
    snprintf(s.detail, sizeof(s.detail), "signal 11 (SIGSEGV), pid 5001");
    return ftree_symptom(l->ft, l->now, &s);
}

TEST_CASE(what_the_launcher_says_of_a_gone_rank_is_a_verdict_at_once)
{
    struct lone *l = lone_of(shape_star(1, 2), 0);
    const struct ftree_verdict *v = &l->verdict[0];

    l->state[1].phase = FTREE_PHASE_GONE;
    l->own_message = (struct ftree_log_entry){
        .type = FTREE_LOG_SEND, .at = l->now - 500 * FTREE_MS, .peer = 0, .tag = 7, .bytes = 64};
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 1), FTREE_OK); /* the kernel was faster */
    ck_assert_int_eq(launcher_says(l, 0, 1), FTREE_OK);
    ck_assert_int_eq(launcher_says(l, 0, 1), FTREE_OK); /* twice */
    lone_run(l, 5000);
    ck_assert_str_eq(lone_log(l), "0 verdict process-crash of n0 by process-crash/pid-gone\n"
                                  "149 reports process-crash of n0: 0 victims\n");
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(v->rank, 1);
    ck_assert_uint_eq(v->first_symptom, 1000 * FTREE_MS - FTREE_MS);
    ck_assert_int_eq(v->evidences, 3);
    ck_assert_int_eq(v->evidence[1].source, FTREE_EVIDENCE_SYMPTOM);
    ck_assert_int_eq(v->evidence[2].source, FTREE_EVIDENCE_LOG);
    ck_assert_str_eq(v->evidence[2].detail,
                     "last message 0.5 s ago: send of 64 bytes, peer 0, tag 7");
    ck_assert_str_eq(v->evidence[1].detail, "process-exited: signal 11 (SIGSEGV), pid 5001");
    ck_assert_int_eq(v->confidence, 995); /* half the doubt of 990 */
}

TEST_CASE(a_rank_says_itself_why_it_has_ended)
{
    struct lone *l = lone_of(shape_star(1, 2), 0);

    l->state[1].phase = FTREE_PHASE_GONE;
    l->reason = "called MPI_Abort(7) on MPI_COMM_SELF\n";
    ck_assert_int_eq(launcher_says(l, 0, 1), FTREE_OK);
    lone_run(l, 200);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_str_eq(l->report[0].because, "it called MPI_Abort(7) on MPI_COMM_SELF?");
    ck_assert_str_eq(l->report[0].rule, "process-crash/pid-gone");
}

TEST_CASE(who_fails_because_of_a_loss_is_its_victim)
{
    struct lone *l = lone_of(shape_star(1, 3), 0);

    l->state[1].phase = FTREE_PHASE_GONE;
    l->state[2].failed = true; /* it is outside MPI, and about to end */
    ck_assert_int_eq(launcher_says(l, 0, 1), FTREE_OK);
    lone_run(l, 200);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 1);
    ck_assert_int_eq(l->report[0].victims.range[0].first, 2);
}

TEST_CASE(the_launcher_is_not_believed_against_the_kernel)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);

    ck_assert_int_eq(launcher_says(l, 1, 3), FTREE_OK);
    ck_assert_int_eq(l->verdicts, 0);
    ck_assert_ptr_nonnull(lone_last(l, WIRE_SYMPTOM)); /* whom it concerns will ask */
}

TEST_CASE(gone_and_there_again_is_none)
{
    struct lone *l = lone_of(shape_star(1, 2), 0);

    l->state[1].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 1), FTREE_OK);
    lone_run(l, 100);
    l->state[1].phase = FTREE_PHASE_LEFT; /* it had finished: the board says so a little later */
    lone_run(l, 100);
    ck_assert_str_eq(lone_log(l), "150 rank 1 is well again\n");
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(gone_while_the_node_leaves_is_none)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);

    l->state[1].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 3), FTREE_OK);
    ftree_leave(l->ft, l->now);
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 2), FTREE_OK);
    lone_run(l, 1000);
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(many_stalls_at_once_look_at_each_rank_once)
{
    struct lone *l = lone_of(shape_star(2, 64), 0);

    for (int32_t r = 0; r < 64; r++)
        lone_stall(l, r, 64 + r);
    /* 64 looks, not 64 * 64 */
    ck_assert_int_eq(l->looks, 64);
}
