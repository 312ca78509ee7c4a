/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Messages under way: what is sent and not received, what is posted, and what nearly matches. */

#include "suite.h"
#include "ftree/waits/waits.h"

#define WORLD 4
#define OTHER 8
#define ANY WAITS_ANY

/* Rank 3 asks rank 5, whose flows these are. */
#define ME 3
#define PEER 5

static const struct {
    const char *what;
    struct waits_request q;
    bool partly;
    struct waits_flow flow[3];
    enum waits_fate fate;
} rows[] = {
    {"nothing was sent", {.kind = WAITS_RECV, .tag = 7}, false, {{0}}, WAITS_OPEN},
    {"one was sent", {.kind = WAITS_RECV, .tag = 7}, false,
     {{WAITS_SENT, ME, 7, WORLD, 1}}, WAITS_COMES},
    {"to somebody else", {.kind = WAITS_RECV, .tag = 7}, false,
     {{WAITS_SENT, 4, 7, WORLD, 1}}, WAITS_OPEN},
    {"with another tag", {.kind = WAITS_RECV, .tag = 7}, false,
     {{WAITS_SENT, ME, 9, WORLD, 1}}, WAITS_OPEN},
    {"in another communicator", {.kind = WAITS_RECV, .tag = 7}, false,
     {{WAITS_SENT, ME, 7, OTHER, 1}}, WAITS_OPEN},
    {"any tag takes them all", {.kind = WAITS_PROBE, .tag = ANY}, false,
     {{WAITS_SENT, ME, 9, WORLD, 1}, {WAITS_SENT, ME, 7, WORLD, 3}}, WAITS_COMES},
    {"the table is not whole", {.kind = WAITS_RECV, .tag = 7}, true, {{0}}, WAITS_UNKNOWN},
    {"any source takes this one", {.kind = WAITS_RECV, .peer = ANY, .tag = 7}, false,
     {{WAITS_SENT, ME, 7, WORLD, 1}}, WAITS_COMES},
    {"nothing is posted", {.kind = WAITS_SSEND, .tag = 7}, false,
     {{WAITS_SENT, ME, 7, WORLD, 1}}, WAITS_OPEN},
    {"it is posted", {.kind = WAITS_SSEND, .tag = 7}, false,
     {{WAITS_POSTED, ME, 7, WORLD, 1}}, WAITS_COMES},
    {"for any source", {.kind = WAITS_SEND, .tag = 7}, false,
     {{WAITS_POSTED, ANY, 7, WORLD, 1}}, WAITS_COMES},
    {"for any tag", {.kind = WAITS_SEND, .tag = 7}, false,
     {{WAITS_POSTED, ME, ANY, WORLD, 1}}, WAITS_COMES},
    {"with another tag", {.kind = WAITS_SEND, .tag = 7}, false,
     {{WAITS_POSTED, ME, 9, WORLD, 1}}, WAITS_OPEN},
    {"it was posted, and met a message", {.kind = WAITS_SEND, .tag = 7}, false,
     {{WAITS_POSTED, ME, 7, WORLD, 0}}, WAITS_OPEN},
    {"it is posted, whatever else", {.kind = WAITS_SEND, .tag = 7}, true,
     {{WAITS_POSTED, ME, 7, WORLD, 1}}, WAITS_COMES},
    {"or may be", {.kind = WAITS_SEND, .tag = 7}, true, {{0}}, WAITS_UNKNOWN},
    {"others have no messages", {.kind = WAITS_RMA, .tag = 7}, false, {{0}}, WAITS_UNKNOWN},
};

static void flows_of(const struct waits_flow *flow, bool partly, struct waits_flows *flows)
{
    *flows = (struct waits_flows){.rank = PEER, .whole = !partly};
    for (int i = 0; i < 3 && flow[i].context; i++)
        flows->flow[flows->flows++] = flow[i];
}

TEST_CASES(what_is_under_way_ends_a_wait, COUNT(rows))
{
    struct waits_request q = rows[_i].q;
    struct waits_flows flows;

    q.peer = q.peer ? q.peer : PEER;
    flows_of(rows[_i].flow, rows[_i].partly, &flows);
    ck_assert_msg(ftree_waits_match(&q, WORLD, ME, &flows) == rows[_i].fate, "%s", rows[_i].what);
}

/* Whether it is the one that is waited for. */
TEST_CASE(a_message_may_be_known_by_its_mark)
{
    struct waits_request q = {.kind = WAITS_RECV, .peer = PEER, .tag = 7};
    struct waits_flows flows = {
        .rank = PEER, .whole = true, .lone = ftree_waits_mark(WORLD, 7)};

    ck_assert_int_eq(ftree_waits_match(&q, WORLD, ME, &flows), WAITS_COMES);
    ck_assert_int_eq(ftree_waits_match(&q, OTHER, ME, &flows), WAITS_OPEN);
    q.tag = 8;
    ck_assert_int_eq(ftree_waits_match(&q, WORLD, ME, &flows), WAITS_OPEN);
    q.tag = ANY;
    ck_assert_int_eq(ftree_waits_match(&q, WORLD, ME, &flows), WAITS_UNKNOWN);
}

TEST_CASE(another_tag_is_nearer_than_another_communicator)
{
    static const struct waits_flow sent[3] = {{WAITS_SENT, ME, 7, OTHER, 1},
                                              {WAITS_SENT, ME, 9, WORLD, 2},
                                              {WAITS_SENT, 4, 9, WORLD, 1}};
    struct waits_request q = {.kind = WAITS_RECV, .peer = PEER, .tag = 7};
    struct waits_flows flows;
    struct waits_hints hints = {0};

    flows_of(sent, false, &flows);
    ftree_waits_near(&q, WORLD, ME, &flows, &hints);
    ck_assert_int_eq(hints.hints, 2);
    ck_assert_int_eq(hints.hint[0].tag, 9);
    ck_assert_uint_eq(hints.hint[0].context, WORLD);
    ck_assert_int_eq(hints.hint[1].tag, 7);
    ck_assert_uint_eq(hints.hint[1].context, OTHER);
}

TEST_CASE(a_message_inside_a_collective_is_no_hint)
{
    static const struct waits_flow posted[3] = {{WAITS_POSTED, ME, 7, WORLD | 1, 1}};
    struct waits_request q = {.kind = WAITS_SSEND, .peer = PEER, .tag = 7};
    struct waits_flows flows;
    struct waits_hints hints = {0};

    flows_of(posted, false, &flows);
    ftree_waits_near(&q, WORLD, ME, &flows, &hints);
    ck_assert_int_eq(hints.hints, 0);
}

TEST_CASE(a_send_is_near_a_posted_receive)
{
    static const struct waits_flow posted[3] = {{WAITS_POSTED, ME, 9, WORLD, 1},
                                                {WAITS_SENT, ME, 8, WORLD, 1}};
    struct waits_request q = {.kind = WAITS_SSEND, .peer = PEER, .tag = 7};
    struct waits_flows flows;
    struct waits_hints hints = {0};

    flows_of(posted, false, &flows);
    ftree_waits_near(&q, WORLD, ME, &flows, &hints);
    ck_assert_int_eq(hints.hints, 1);
    ck_assert_int_eq(hints.hint[0].tag, 9);
}
