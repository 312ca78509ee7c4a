/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "lone.h"
#include "suite.h"
#include "switches.h"

/* The tree:  0 - 1 2,  1 - 3 4,  2 - 5 6. */

static void hear(struct lone *l, int32_t from, enum wire_type type)
{
    struct wire_message m = {.type = (uint8_t) type};

    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

TEST_CASE(alone_one_goes_at_once)
{
    struct lone *l = lone_of(shape_star(1, 4), 0);

    ck_assert(!ftree_may_go(l->ft));
    ftree_leave(l->ft, l->now);
    ck_assert(ftree_may_go(l->ft));
    ck_assert_str_eq(lone_log(l), "0 everyone has left\n");
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
}

TEST_CASE(a_leaf_says_goodbye_and_waits_to_be_released)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    ftree_leave(l->ft, l->now);
    ftree_leave(l->ft, l->now); /* once is enough */
    lone_acks(l, 1);
    ck_assert(!ftree_may_go(l->ft));
    lone_run(l, 100);
    hear(l, 1, WIRE_RELEASE);
    ck_assert(ftree_may_go(l->ft));
    hear(l, 1, WIRE_RELEASE);
    ck_assert_str_eq(lone_log(l), "0 -> n1 data goodbye\n"
                                  "100 -> n1 data ack\n"
                                  "100 everyone has left\n"
                                  "100 -> n1 data ack\n");
}

TEST_CASE(goodbye_goes_up_once_all_below_have_said_it)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    hear(l, 3, WIRE_GOODBYE);
    ftree_leave(l->ft, l->now);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 0);
    hear(l, 3, WIRE_GOODBYE); /* twice is still one */
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 0);
    hear(l, 4, WIRE_GOODBYE);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 1);
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->to.node, 0);
    lone_acks(l, 0);
    hear(l, 0, WIRE_RELEASE);
    ck_assert_int_eq(lone_count(l, WIRE_RELEASE), 2);
    ck_assert(!ftree_may_go(l->ft)); /* before the children have it */
    lone_acks(l, 3);
    lone_acks(l, 4);
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(the_root_releases_all)
{
    struct lone *l = lone_of(shape_binary(7, 1), 0);

    hear(l, 1, WIRE_GOODBYE);
    hear(l, 2, WIRE_GOODBYE);
    lone_log(l);
    ftree_leave(l->ft, l->now);
    ck_assert_str_eq(lone_log(l), "0 everyone has left\n"
                                  "0 -> n1 n2 data release\n");
}

/* What was found of ranks that came to their end is over. */
static const struct {
    const char *sign, *other; /* and a second verdict, NULL: there is none */
    bool cut_short, withdrawn;
} ended_rows[] = {
    {"user-code-hang/awaits-answer", NULL, false, true},
    {"deadlock/cycle", NULL, false, true},
    {"process-stopped/state-t", NULL, false, true},
    {"user-code-hang/awaits-answer", NULL, true, false}, /* this node's ranks were ended */
    {"user-code-hang/awaits-answer", "process-crash/pid-gone", false, false},
    {"process-crash/pid-gone", NULL, false, false},
    {"nic-fault/interface-down", NULL, false, false}, /* it is not about ranks */
};

TEST_CASES(the_end_of_a_job_refutes_what_was_found_of_ranks, COUNT(ended_rows))
{
    struct lone *l = lone_of(shape_binary(3, 1), 0);
    struct ftree_verdict v = base_verdict(ended_rows[_i].sign, 1, 1), other;

    v.fln = 1;
    v.id = 7;
    l->now = 3000 * FTREE_MS;
    v.located = v.first_symptom = FTREE_MS;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    if (ended_rows[_i].other) {
        other = base_verdict(ended_rows[_i].other, 2, 2);
        other.located = other.first_symptom = FTREE_MS;
        other.fln = 2;
        other.id = 8;
        ck_assert_int_eq(ftree_restore(l->ft, l->now, &other), FTREE_OK);
    }
    hear(l, 1, WIRE_GOODBYE);
    hear(l, 2, WIRE_GOODBYE);
    if (ended_rows[_i].cut_short)
        ftree_leave_at_once(l->ft, l->now);
    else
        ftree_leave(l->ft, l->now);
    ck_assert(ftree_verdict_at(l->ft, 0, &v));
    ck_assert_int_eq(v.withdrawn != 0, ended_rows[_i].withdrawn);
}

TEST_CASE(a_release_means_nothing_to_who_stays)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    hear(l, 1, WIRE_RELEASE);
    ck_assert(!ftree_may_go(l->ft));
    ck_assert_str_eq(lone_log(l), "0 -> n1 data ack\n");
}

TEST_CASE(nobody_lingers_for_ever_and_those_around_are_told)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    hear(l, 4, WIRE_GOODBYE); /* node 3 computes */
    ftree_leave(l->ft, l->now);
    lone_log(l);
    lone_run(l, 1999);
    ck_assert_str_eq(lone_log(l), "");
    lone_run(l, 1);
    lone_acks(l, 0);
    lone_acks(l, 3);
    ck_assert_str_eq(lone_log(l), "2000 leaves without having heard of everyone\n"
                                  "2000 -> n0 n3 data goodbye\n");
    ck_assert(ftree_may_go(l->ft));
}

/* ---- others wait for what its ranks never called --------------------------------------------- */

static struct lone *one_that_remains(struct lone *l)
{
    l->ranks_say = true;
    lone_renew(l);
    ftree_leave(l->ft, l->now);
    lone_run(l, 2000);
    ck_assert(!ftree_may_go(l->ft));
    return l;
}

TEST_CASE(who_leaves_before_the_others_remains_for_a_while)
{
    struct lone *l = one_that_remains(lone_of(shape_binary(7, 1), 1));

    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 3); /* up, and to both below */
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->m.flags, WIRE_FLAG_MORE);
    lone_all_ack(l);
    lone_run(l, 59999);
    ck_assert(!ftree_may_go(l->ft));
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 4); /* nobody waits for it any more */
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->to.node, 0);
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->m.flags, 0);
    lone_acks(l, 0);
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(who_remains_goes_with_the_others)
{
    struct lone *l = one_that_remains(lone_of(shape_binary(7, 1), 1));

    lone_all_ack(l);
    hear(l, 3, WIRE_GOODBYE);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 3);
    hear(l, 4, WIRE_GOODBYE);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 4);
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->to.node, 0);
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->m.flags, 0);
    lone_acks(l, 0);
    ck_assert(!ftree_may_go(l->ft)); /* those beside it may wait for its ranks */
    hear(l, 0, WIRE_RELEASE);
    lone_acks(l, 3);
    lone_acks(l, 4);
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(the_root_remains_until_all_below_have_left)
{
    struct lone *l = one_that_remains(lone_of(shape_star(3, 1), 0));

    lone_acks(l, 1);
    lone_acks(l, 2);
    lone_hear(l, 1, FTREE_PATH_DATA,
              &(struct wire_message){.type = WIRE_GOODBYE, .id = 70, .flags = WIRE_FLAG_MORE});
    hear(l, 2, WIRE_GOODBYE);
    ck_assert(!ftree_may_go(l->ft)); /* nodes below 1 have not */
    hear(l, 1, WIRE_GOODBYE);
    ck_assert_int_eq(lone_count(l, WIRE_RELEASE), 2);
    lone_acks(l, 1);
    lone_acks(l, 2);
    ck_assert(ftree_may_go(l->ft));
}

/* On a busy machine its acknowledgment may come late: nobody goes because of that. */
TEST_CASE(a_silent_parent_ends_nothing)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    l->ranks_say = true;
    lone_renew(l);
    ftree_leave(l->ft, l->now);
    lone_run(l, 400);
    lone_acks(l, 0);
    lone_run(l, 1600);
    lone_acks(l, 1);
    lone_run(l, 1000);
    ck_assert(!ftree_may_go(l->ft));
    hear(l, 1, WIRE_RELEASE);
    lone_all_ack(l);
    ck_assert(ftree_may_go(l->ft));
}

/* One verdict may say that many cannot be reached. */
TEST_CASE(nobody_waits_for_the_far_side_of_a_switch)
{
    struct lone *l = lone_of(shape_switches_of(4, 2), 0);
    int32_t first;

    ck_assert_int_eq(ftree_topo_children(l->ft->topo, 0, &first), 4); /* one is on this side */
    switches_lose(l, 0, "switch-fault/all-behind-silent");
    hear(l, 1, WIRE_GOODBYE);
    ftree_leave(l->ft, l->now);
    ck_assert_int_eq(lone_count(l, WIRE_RELEASE), 1);
}

/* One of them is gone; those below it remain. */
TEST_CASE(all_below_are_released)
{
    struct lone *l = lone_of(shape_binary(7, 1), 0);

    hear(l, 1, WIRE_GOODBYE);
    hear(l, 2, WIRE_GOODBYE);
    ftree_leave(l->ft, l->now);
    lone_acks(l, 2);
    lone_log(l);
    lone_run(l, 350);
    ck_assert_ptr_nonnull(strstr(lone_log(l), "350 -> n3 n4 data release\n"));
}

/* Later its port is closed. */
TEST_CASE(who_is_asked_says_that_it_has_left)
{
    struct lone *l = one_that_remains(lone_of(shape_binary(7, 1), 1));

    lone_hear(l, 6, FTREE_PATH_DATA,
              &(struct wire_message){.type = WIRE_WAITS_LOOK, .id = 70, .u.part = {.parts = 1}});
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->to.node, 6);
}

/* Where its time is over, or it has ended in another way, it is gone: the one above it releases. */
TEST_CASES(a_parent_that_remains_releases, 2)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    lone_hear(l, 1, FTREE_PATH_DATA,
              &(struct wire_message){.type = WIRE_GOODBYE, .id = 70, .flags = WIRE_FLAG_MORE});
    lone_log(l);
    ftree_leave(l->ft, l->now);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 2); /* its parent, and who is above that */
    lone_acks(l, 0);
    if (_i)
        lone_acks(l, 1);
    lone_run(l, 1000);
    ck_assert(!ftree_may_go(l->ft));
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), _i ? 2 : 4); /* all tries, nobody else is told */
    hear(l, _i ? 1 : 0, WIRE_RELEASE);
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(who_ends_in_the_middle_of_the_job_tells_those_around_it)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    hear(l, 3, WIRE_GOODBYE);
    lone_log(l);
    ftree_leave_at_once(l->ft, l->now);
    ck_assert(!ftree_may_go(l->ft)); /* before they have it */
    lone_acks(l, 0);
    lone_acks(l, 4);
    ck_assert(ftree_may_go(l->ft));
    ck_assert_str_eq(lone_log(l), "0 leaves without having heard of everyone\n"
                                  "0 -> n0 n4 data goodbye\n");
}

TEST_CASE(who_has_left_already_does_not_say_goodbye_twice)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    ftree_leave(l->ft, l->now);
    lone_acks(l, 1);
    ftree_leave_at_once(l->ft, l->now);
    ck_assert_str_eq(lone_log(l), "0 -> n1 data goodbye\n"
                                  "0 leaves without having heard of everyone\n");
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(who_said_goodbye_and_is_not_released_goes_too)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    ftree_leave(l->ft, l->now);
    lone_acks(l, 1);
    lone_log(l);
    lone_run(l, 2000);
    ck_assert_str_eq(lone_log(l), "2000 leaves without having heard of everyone\n");
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(a_goodbye_goes_past_a_silent_parent)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    ftree_leave(l->ft, l->now);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    lone_acks(l, 0);
    ck_assert_str_eq(lone_log(l), "350 goodbye to n1 not acknowledged\n"
                                  "350 -> n0 data goodbye\n"
                                  "350 everyone has left\n");
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(with_nobody_above_those_below_are_released)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    hear(l, 3, WIRE_GOODBYE);
    hear(l, 4, WIRE_GOODBYE);
    ftree_leave(l->ft, l->now);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "350 goodbye to n0 not acknowledged\n"
                                  "350 everyone has left\n"
                                  "350 -> n3 n4 data release\n");
}

TEST_CASE(a_goodbye_to_the_side_that_is_lost_changes_nothing)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    ftree_leave(l->ft, l->now); /* the children compute */
    ftree_leave_say_so(l->ft, l->now, 5);
    lone_run(l, 1000);
    ck_assert(!ftree_may_go(l->ft));
}

TEST_CASE(who_fails_meanwhile_is_not_waited_for)
{
    struct lone *l = lone_of(shape_binary(7, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 1);

    hear(l, 1, WIRE_GOODBYE);
    ftree_leave(l->ft, l->now);
    lone_run(l, 100);
    ck_assert(!ftree_leave_is_over(l->ft));
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    hear(l, 5, WIRE_GOODBYE);
    hear(l, 6, WIRE_GOODBYE);
    lone_run(l, 500);
    ck_assert(ftree_leave_is_over(l->ft));
}

TEST_CASE(a_verdict_still_to_be_told_to_people_holds_the_root)
{
    struct lone *l = lone_of(shape_binary(7, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 1);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    hear(l, 1, WIRE_GOODBYE);
    hear(l, 5, WIRE_GOODBYE);
    hear(l, 6, WIRE_GOODBYE);
    ftree_leave(l->ft, l->now);
    lone_acks(l, 1);
    lone_acks(l, 5);
    lone_acks(l, 6);
    ck_assert(ftree_leave_is_over(l->ft));
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
    ck_assert(!ftree_may_go(l->ft));
    ck_assert(ftree_has_unacknowledged(l->ft));
    lone_run(l, 800); /* two levels below it */
    ck_assert_int_eq(l->reports, 1);
    ck_assert(ftree_may_go(l->ft));
}

static int32_t substitute(int32_t k)
{
    struct lone *l = lone_of(shape_star(5, 2), 0);
    int32_t node = ftree_inspect_root_substitute(l->ft, k);

    lone_free(l);
    return node;
}

/* The root is silent, and the first that would act for it aborts: what it has found is kept by the
 * second, with the victims that it could name no more when asked. */
TEST_CASE(what_an_aborting_heir_has_found_goes_past_a_silent_root)
{
    int32_t heir = substitute(1);
    struct lone *l = lone_of(shape_star(5, 2), heir);
    const struct lone_sent *up;

    l->state[0].phase = FTREE_PHASE_GONE;
    l->state[1].phase = FTREE_PHASE_WAITING;
    l->state[1].waiting = 1000 * FTREE_MS;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 2 * heir), FTREE_OK);
    lone_run(l, 150);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->to.node, 0);
    l->state[1].phase = FTREE_PHASE_LEFT;
    ftree_leave_at_once(l->ft, l->now);
    lone_run(l, 400);
    up = lone_last(l, WIRE_VERDICT_UP);
    ck_assert_int_eq(up->to.node, substitute(2));
    ck_assert_int_eq(up->m.u.verdict.rank, 2 * heir);
    ck_assert_int_eq(up->m.u.verdict.victims.count, 1);
    ck_assert_int_eq(up->m.u.verdict.victims.range[0].first, 2 * heir + 1);
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->to.node, substitute(2));
}

TEST_CASE(who_has_left_does_not_stand_in_for_the_root)
{
    struct lone *l = lone_of(shape_star(5, 2), substitute(2));
    struct ftree_verdict v =
        lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, l->self);

    hear(l, substitute(1), WIRE_GOODBYE);
    ck_assert(!ftree_route_is_root(l->ft));
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert(ftree_route_is_root(l->ft));
}

/* What was found of an own rank is told before the agent goes: it must be confirmed, and come down,
 * for until then somebody may ask why its port is closed. */
TEST_CASE(a_crash_of_the_last_rank_is_told_before_it_leaves)
{
    struct lone *l = lone_of(shape_star(5, 1), 3);
    struct ftree_verdict v;

    l->state[0].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 3), FTREE_OK);
    ck_assert(ftree_has_unannounced(l->ft));
    lone_run(l, 150);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->to.node, 0);
    lone_acks(l, 0);
    ck_assert(ftree_has_unannounced(l->ft));
    ck_assert(ftree_verdict_at(l->ft, 0, &v));
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert(!ftree_has_unannounced(l->ft));
    ftree_leave_at_once(l->ft, l->now);
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->to.node, 0);
    ck_assert(!ftree_may_go(l->ft));
    lone_acks(l, 0);
    ck_assert(ftree_may_go(l->ft));
}

/* Both the heir of the root and its agent announce it: neither may find that this one is silent. */
TEST_CASE(who_leaves_when_the_ranks_of_the_root_have_crashed_says_so_to_its_agent_too)
{
    struct lone *l = lone_of(shape_star(5, 1), substitute(2));
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 0, 0, 0);

    lone_told(l, substitute(1), WIRE_VERDICT_DOWN, &v);
    ftree_leave(l->ft, l->now);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 2);
    ck_assert_int_eq(lone_last(l, WIRE_GOODBYE)->to.node, 0);
    ck_assert(!ftree_may_go(l->ft));
    lone_acks(l, 0);
    ck_assert(!ftree_may_go(l->ft));
    lone_acks(l, substitute(1));
    ck_assert(ftree_may_go(l->ft));
}

/* Also where it leaves before its children do. */
TEST_CASE(who_does_not_wait_for_a_child_says_so_to_the_agent_of_the_root_too)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 0, 0, 0);

    lone_told(l, 2, WIRE_VERDICT_DOWN, &v);
    ftree_leave_at_once(l->ft, l->now);
    ck_assert_int_eq(lone_count(l, WIRE_GOODBYE), 4); /* the heir, the root, two children */
    lone_acks(l, 0);
    ck_assert(!ftree_may_go(l->ft));
}

/* The others expect its heir to act for it. */
TEST_CASE(a_root_whose_ranks_have_ended_hands_over)
{
    struct lone *l = lone_of(shape_star(5, 2), 0);
    int32_t heir = substitute(1);
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 3, 6, 3);

    l->state[0].phase = l->state[1].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 0), FTREE_OK);
    lone_run(l, 10);
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 1), FTREE_OK);
    lone_run(l, 145);
    ck_assert(ftree_route_is_root(l->ft));
    lone_run(l, 5);
    ck_assert(!ftree_route_is_root(l->ft));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->to.node, heir);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.rank, 1);
    lone_told(l, 3, WIRE_VERDICT_UP, &v); /* by one that does not know yet */
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->to.node, heir);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.rank, 6);
    ftree_leave_at_once(l->ft, l->now);
    lone_acks(l, heir);
    lone_run(l, 1000); /* of the first it tells people itself */
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].rank, 0);
}

/* It is nobody's child any more. */
TEST_CASE(the_root_tells_the_agent_of_ended_ranks_that_all_know)
{
    struct lone *l = lone_of(shape_binary(7, 2), 0);
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 3, 6, 3);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_run(l, 100);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2); /* its two children pass it on */
    lone_acks(l, 1);
    lone_acks(l, 2);
    lone_log(l);
    v.rank = 7;
    v.id++;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_run(l, 100);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 3);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_DOWN)->to.node, 3);
    ck_assert_uint_ne(ftree_inspect_owes(l->ft, 3),
                      0); /* its children may say to it that they wait */
}

TEST_CASE(a_root_without_an_heir_goes_on_telling)
{
    struct lone *l = lone_of(shape_star(1, 1), 0);

    l->state[0].phase = FTREE_PHASE_GONE;
    ck_assert_int_eq(ftree_rank_gone(l->ft, l->now, 0), FTREE_OK);
    lone_run(l, 200);
    ck_assert_int_eq(l->reports, 1);
    ftree_leave_at_once(l->ft, l->now);
    ck_assert(ftree_may_go(l->ft));
}

TEST_CASE(what_was_under_way_is_forgotten)
{
    struct lone *l = lone_of(shape_binary(7, 2), 1);

    l->state[1].phase = FTREE_PHASE_GONE;
    lone_stall(l, 2, 6);
    lone_stall(l, 3, 8);
    ck_assert_int_eq(ftree_inspect_stalls(l->ft), 2);
    ck_assert_int_eq(ftree_inspect_findings(l->ft), 1);
    ck_assert_int_gt(ftree_inspect_suspects(l->ft), 0);
    ftree_leave(l->ft, l->now);
    ck_assert_int_eq(ftree_inspect_stalls(l->ft), 0);
    ck_assert_int_eq(ftree_inspect_findings(l->ft), 0);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(a_wide_tree_counts_its_goodbyes_quickly)
{
    struct lone *l = lone_of(shape_tree(3001, 1, 3000), 0);

    ftree_leave(l->ft, l->now);
    for (int32_t n = 1; n <= 3000; n++) {
        struct wire_message m = {.type = WIRE_GOODBYE, .id = (uint32_t) n};
        uint8_t buf[FTREE_MESSAGE_MAX];
        size_t len = ftree_wire_encode(&m, l->now, buf);
        l->n_sent = 0;
        ck_assert_int_eq(ftree_receive(l->ft, l->now, n, FTREE_PATH_DATA, 1, buf, len), FTREE_OK);
    }
    ck_assert(ftree_leave_is_over(l->ft));
}

TEST_CASE(without_memory_a_goodbye_is_forgotten)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    l->fail_alloc_in = 1;
    hear(l, 3, WIRE_GOODBYE);
    ck_assert(!ftree_peer_has_left(l->ft, 3));
    hear(l, 3, WIRE_GOODBYE);
    ck_assert(ftree_peer_has_left(l->ft, 3));
}
