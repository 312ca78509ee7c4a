/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "world.h"

/* A person asks node 1 how another node or a rank is. */

#define MS(n) ((ftree_time) (n) *FTREE_MS)

/* The last message of each rank was to the next one. */
static void last_message(void *ctx, int32_t i, struct ftree_log *log)
{
    struct world *w;
    int32_t rank;

    w = world_at(ctx, i, &rank);
    *log = (struct ftree_log){.rank = rank, .entries = 1};
    log->entry[0] = (struct ftree_log_entry){
        .type = FTREE_LOG_SEND, .at = w->now, .peer = rank + 1, .bytes = 8};
}

static struct world *nodes_of(int32_t ranks)
{
    struct world *w = world_of(shape_star(4, ranks));

    w->io.log = last_message;
    return w;
}

static uint32_t inquire(struct world *w, int32_t node, int32_t rank)
{
    uint32_t number;

    ck_assert_int_eq(ftree_inquire(w->node[1].ft, w->now, node, rank, &number), FTREE_OK);
    ck_assert_uint_ne(number, 0);
    return number;
}

/* What is known of it after so many ms. */
static const struct ftree_inquiry *after(struct world *w, int ms, uint32_t number)
{
    world_run(w, MS(ms));
    return ftree_inquired(w->node[1].ft, number);
}

TEST_CASE(a_node_that_is_well_says_so_with_its_state_and_last_messages)
{
    struct world *w = nodes_of(2);
    const struct ftree_inquiry *q;
    uint32_t number;

    w->state[2].load_centi = 123;
    number = inquire(w, 2, FTREE_NONE);
    ck_assert(!ftree_inquired(w->node[1].ft, number)->over);
    q = after(w, 20, number);
    ck_assert(q->over && q->answered && !q->leaving);
    ck_assert_uint_eq(q->took, 2 * w->latency);
    ck_assert_int_eq(q->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_ANSWERED);
    ck_assert(q->has_state);
    ck_assert_uint_eq(q->state.load_centi, 123);
    ck_assert_int_eq(q->troubles, 0);
    ck_assert_int_eq(q->logs, 2);
    ck_assert_int_eq(q->log[0].rank + q->log[1].rank, 4 + 5);
    ck_assert_int_eq(q->log[0].entry[0].peer, q->log[0].rank + 1);
    world_run(w, MS(20000));
    ck_assert_int_eq(w->verdicts_on[1] + w->reports, 0);
    ck_assert_uint_eq(ftree_deadline(w->node[1].ft), FTREE_NEVER);
}

TEST_CASE(of_a_rank_it_says_whom_that_waits_for)
{
    struct world *w = nodes_of(2);
    const struct ftree_inquiry *q;

    world_wait(w, 5, 6);
    w->rank[5].phase = FTREE_PHASE_WAITING;
    q = after(w, 20, inquire(w, 2, 5));
    ck_assert(q->over && q->answered);
    ck_assert_int_eq(q->phase, FTREE_PHASE_WAITING);
    ck_assert_int_eq(q->peer, 6);
    ck_assert_int_eq(q->logs, 1);
    ck_assert_int_eq(q->log[0].rank, 5);
}

TEST_CASE(the_own_node_says_it_at_once)
{
    struct world *w = nodes_of(2);
    const struct ftree_inquiry *q;

    w->rank[3].proc_state = 'T';
    q = after(w, 0, inquire(w, 1, FTREE_NONE));
    ck_assert(q->over && q->answered && q->has_state);
    ck_assert_int_eq(q->logs, 2);
    ck_assert_int_eq(q->troubles, 1);
    ck_assert_int_eq(q->trouble[0].rank, 3);
    q = after(w, 0, inquire(w, 1, 2));
    ck_assert_int_eq(q->logs, 1);
    ck_assert_int_eq(q->log[0].rank, 2);
}

TEST_CASE(a_stopped_rank_is_named)
{
    struct world *w = nodes_of(2);
    const struct ftree_inquiry *q;

    w->rank[5].proc_state = 'T';
    q = after(w, 20, inquire(w, 2, FTREE_NONE));
    ck_assert(q->over && q->answered);
    ck_assert_int_eq(q->troubles, 1);
    ck_assert_int_eq(q->trouble[0].rank, 5);
    ck_assert_int_eq(q->trouble[0].proc_state, 'T');
}

TEST_CASE(who_is_silent_is_asked_again_and_then_no_more)
{
    struct world *w = nodes_of(1);
    const struct ftree_inquiry *q;
    uint32_t number;

    w->node[2].off = true;
    number = inquire(w, 2, FTREE_NONE);
    ck_assert(!after(w, 900, number)->over);
    q = after(w, 300, number);
    ck_assert(q->over && !q->answered && !q->has_state);
    ck_assert_int_eq(q->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_SILENT);
    ck_assert_int_eq(q->reach[FTREE_PATH_MGMT][FTREE_ROLE_AGENT], FTREE_REACH_SILENT);
    ck_assert_uint_eq(ftree_deadline(w->node[1].ft), FTREE_NEVER); /* it accuses nobody */
}

TEST_CASE(where_the_agent_is_stopped_the_deputy_answers)
{
    struct world *w = nodes_of(1);
    const struct ftree_inquiry *q;

    w->node[2].mute = true;
    w->rank[2].proc_state = 'T';
    q = after(w, 1300, inquire(w, 2, FTREE_NONE));
    ck_assert(q->over && !q->answered);
    ck_assert_int_eq(q->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_CONNECTED);
    ck_assert_int_eq(q->reach[FTREE_PATH_DATA][FTREE_ROLE_DEPUTY], FTREE_REACH_ANSWERED);
    ck_assert_int_eq(q->troubles, 1);
}

TEST_CASE(a_path_that_is_silent_is_waited_for)
{
    struct world *w = nodes_of(1);
    const struct ftree_inquiry *q;
    uint32_t number;

    w->node[2].path_down[FTREE_PATH_DATA] = true;
    number = inquire(w, 2, FTREE_NONE);
    q = after(w, 500, number);
    ck_assert(!q->over && q->answered && q->has_state);
    q = after(w, 700, number);
    ck_assert(q->over);
    ck_assert_int_lt(q->reach[FTREE_PATH_DATA][FTREE_ROLE_AGENT], FTREE_REACH_CONNECTED);
    ck_assert_int_eq(q->reach[FTREE_PATH_MGMT][FTREE_ROLE_AGENT], FTREE_REACH_ANSWERED);
}

TEST_CASE(messages_that_are_lost_are_asked_for_again)
{
    struct world *w = nodes_of(2);
    const struct ftree_inquiry *q;

    w->loss_percent = 25;
    q = after(w, 2500, inquire(w, 2, FTREE_NONE));
    ck_assert(q->over && q->answered && q->has_state);
    ck_assert_int_eq(q->logs, 2);
}

TEST_CASE(one_that_says_nothing_of_messages_is_waited_for_no_longer_than_a_moment)
{
    struct world *w = world_of(shape_star(4, 1));
    const struct ftree_inquiry *q;
    uint32_t number = inquire(w, 2, FTREE_NONE);

    q = after(w, 2000, number);
    ck_assert(q->over && q->answered && q->has_state);
    ck_assert_int_eq(q->logs, 0);
}

TEST_CASE(what_there_is_not_cannot_be_asked)
{
    struct world *w = nodes_of(2);
    static const struct {
        int32_t node, rank;
    } wrong[] = {{-1, FTREE_NONE}, {4, FTREE_NONE}, {2, 8}, {2, 3}, {2, -2}};
    uint32_t number;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(
            ftree_inquire(w->node[1].ft, w->now, wrong[i].node, wrong[i].rank, &number),
            FTREE_ERR_INVALID);
        ck_assert_uint_eq(number, 0);
    }
    ck_assert_ptr_null(ftree_inquired(w->node[1].ft, 77));
}

TEST_CASE(so_many_at_once_and_no_more)
{
    struct world *w = nodes_of(1);
    uint32_t number[17];

    for (int i = 0; i < 16; i++)
        number[i] = inquire(w, 2, FTREE_NONE);
    ck_assert_int_eq(ftree_inquire(w->node[1].ft, w->now, 2, FTREE_NONE, &number[16]),
                     FTREE_ERR_NOMEM);
    ftree_inquire_no_more(w->node[1].ft, number[3]);
    ck_assert_ptr_null(ftree_inquired(w->node[1].ft, number[3]));
    number[16] = inquire(w, 2, FTREE_NONE);
    ck_assert(after(w, 1300, number[16])->over);
}

TEST_CASE(it_ends_with_the_job)
{
    struct world *w = nodes_of(1);
    uint32_t number = inquire(w, 2, FTREE_NONE);

    ftree_leave(w->node[1].ft, w->now);
    ck_assert(ftree_inquired(w->node[1].ft, number)->over);
}

TEST_CASE(without_memory_nothing_is_asked)
{
    struct world *w = nodes_of(1);
    uint32_t number;

    w->fail_alloc_in = 1;
    ck_assert_int_eq(ftree_inquire(w->node[1].ft, w->now, 2, FTREE_NONE, &number),
                     FTREE_ERR_NOMEM);
    ck_assert_uint_eq(ftree_deadline(w->node[1].ft), FTREE_NEVER);
}
