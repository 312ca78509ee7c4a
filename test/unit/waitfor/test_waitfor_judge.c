/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"
#include "messages.h"
#include "suite.h"

/* What both sides say of a request, row by row. */

#define RANKS 3 /* 0 waits; 1 is its peer; 2 another member */

struct sides {
    struct waitfor_asked asked[RANKS];
    struct waitfor_answer answer[RANKS];
    struct waits_record record[RANKS];
    struct waits_exchange exchange[RANKS][RANKS];
    struct waits_flow post[RANKS][8], sent[RANKS][WAITS_LAST_MAX];
};

static struct sides s;
static const struct waitfor_candidate candidate = {.ranks = {s.asked, RANKS, RANKS}};
static struct waits_request *q; /* that rank 0 waits for */

/* Rank 0 receives from 1 with tag 7; nothing was ever sent. */
static void begin(void)
{
    memset(&s, 0, sizeof(s));
    for (int32_t i = 0; i < RANKS; i++) {
        s.record[i] = (struct waits_record){.rank = i,
                                            .threads = 1,
                                            .state = WAITS_WAITING,
                                            .mode = WAITS_FOR_ALL,
                                            .requests = 1,
                                            .comms = 1};
        s.record[i].comm[0] =
            (struct waits_comm){.size = RANKS, .runs = 1, .run = {{0, 1, RANKS}}};
        s.record[i].request[0] = (struct waits_request){.kind = WAITS_OTHER, .peer = FTREE_NONE};
        for (int32_t k = 0; k < RANKS; k++)
            s.exchange[i][k].peer = k;
        s.answer[i] = (struct waitfor_answer){.rank = i,
                                              .seen = WAITFOR_READY,
                                              .records = 1,
                                              .exchanges = RANKS,
                                              .record = &s.record[i],
                                              .exchange = s.exchange[i],
                                              .post = s.post[i],
                                              .sent = s.sent[i]};
        s.asked[i] = (struct waitfor_asked){.rank = i, .answer = &s.answer[i]};
    }
    q = &s.record[0].request[0];
    *q = (struct waits_request){.kind = WAITS_RECV, .peer = 1, .tag = 7};
}

static void sent(int32_t from, int32_t to, uint32_t context, int32_t tag)
{
    s.exchange[from][to].sent.count++;
    s.exchange[from][to].sent.sum += ftree_waits_mark(context, tag);
    if (s.answer[from].last < WAITS_LAST_MAX)
        s.sent[from][s.answer[from].last++] =
            (struct waits_flow){.peer = to, .context = context, .tag = tag, .count = 1};
}

static void received(int32_t from, int32_t to, uint32_t context, int32_t tag)
{
    sent(from, to, context, tag);
    s.exchange[to][from].received = s.exchange[from][to].sent;
}

static void posts(int32_t rank, int32_t peer, uint32_t context, int32_t tag)
{
    s.post[rank][s.answer[rank].posted++] = (struct waits_flow){
        .kind = WAITS_POSTED, .peer = peer, .context = context, .tag = tag, .count = 1};
}

static void says(int32_t rank, enum waitfor_seen seen)
{
    s.answer[rank].seen = (uint8_t) seen;
    s.answer[rank].records = 0;
}

static void ssend(void)
{
    q->kind = WAITS_SSEND;
    sent(0, 1, 0, 7);
}

/* ---- receives -------------------------------------------------------------------------------- */

static void nothing_was_sent(void)
{
}

static void all_was_received(void)
{
    received(1, 0, 0, 7);
    received(1, 0, 0, 8);
}

static void one_is_under_way(void)
{
    received(1, 0, 0, 7);
    sent(1, 0, 0, 7);
}

static void one_of_another_tag(void)
{
    sent(1, 0, 0, 9);
}

static void one_of_another_communicator(void)
{
    sent(1, 0, 4, 7);
}

/* Threads of the peer have sent what none of this rank's receives. */
static void one_of_each_of_eight_tags(void)
{
    received(1, 0, 0, 7);
    for (int32_t tag = 10; tag < 18; tag++)
        sent(1, 0, tag % 2 ? 0 : 4, tag);
    received(1, 2, 0, 7);
}

static void eight_tags_and_the_right_one(void)
{
    one_of_each_of_eight_tags();
    sent(1, 0, 0, 7);
}

static void another_tag_and_the_right_one(void)
{
    sent(1, 0, 0, 9);
    sent(1, 0, 0, 7);
}

static void any_tag(void)
{
    sent(1, 0, 0, 9);
    q->tag = WAITS_ANY;
}

static void to_another_rank(void)
{
    sent(1, 2, 0, 7);
}

static void of_another_rank(void)
{
    sent(2, 0, 0, 7);
}

static void forty_unexplained(void)
{
    for (int32_t i = 0; i < 40; i++)
        sent(1, 0, 0, 100 + i);
}

static void push_out(int32_t tag)
{
    sent(1, 0, 0, tag);
    for (int32_t i = 0; i < WAITS_LAST_MAX; i++)
        s.sent[1][i] = (struct waits_flow){.peer = 2, .tag = 1, .count = 1};
    s.answer[1].last = WAITS_LAST_MAX;
}

static void pushed_out_of_the_last(void)
{
    push_out(7);
}

static void another_tag_pushed_out(void)
{
    push_out(9);
}

static void two_pushed_out(void)
{
    sent(1, 0, 0, 7);
    push_out(9);
}

static void no_row_here(void)
{
    s.exchange[0][1].peer = 0;
}

static void no_row_there(void)
{
    s.exchange[1][0].peer = 1;
}

static void more_received_than_sent(void)
{
    s.exchange[0][1].received.count = 1;
    s.exchange[0][1].received.sum = ftree_waits_mark(0, 7);
}

static void counts_agree_and_sums_do_not(void)
{
    sent(1, 0, 0, 7);
    s.exchange[0][1].received.count = 1;
    s.exchange[0][1].received.sum = ftree_waits_mark(0, 8);
}

static void peer_is_unable(void)
{
    says(1, WAITFOR_UNABLE);
}

static void peer_is_lost(void)
{
    says(1, WAITFOR_LOST);
}

static void peer_has_left(void)
{
    says(1, WAITFOR_LEFT);
}

static void peer_was_not_asked(void)
{
    s.asked[1].answer = NULL;
}

static void peer_finalizes(void)
{
    s.record[1].state = WAITS_FINALIZING;
}

static void peer_finalizes_and_has_sent(void)
{
    peer_finalizes();
    sent(1, 0, 0, 7);
}

static void of_no_communicator(void)
{
    q->comm = FTREE_NONE;
}

static void of_another_world(void)
{
    q->peer = FTREE_NONE;
}

static void a_probe(void)
{
    q->kind = WAITS_PROBE;
    sent(1, 0, 0, 8);
}

static void a_probe_that_is_answered(void)
{
    q->kind = WAITS_PROBE;
    sent(1, 0, 0, 7);
}

/* ---- any source ------------------------------------------------------------------------------ */

static void any_source(void)
{
    q->peer = WAITS_ANY;
}

static void any_source_and_one_has_sent(void)
{
    any_source();
    sent(2, 0, 0, 7);
}

static void any_source_and_another_tag(void)
{
    any_source();
    sent(2, 0, 0, 8);
    sent(1, 0, 0, 9);
}

static void any_source_and_one_is_unable(void)
{
    any_source();
    says(2, WAITFOR_UNABLE);
}

static void any_source_one_unable_one_sends(void)
{
    any_source_and_one_is_unable();
    sent(1, 0, 0, 7);
}

static void any_source_and_one_has_left(void)
{
    any_source();
    says(2, WAITFOR_LEFT);
}

static void any_source_and_no_members(void)
{
    any_source();
    s.record[0].comm[0].runs = 0;
}

/* ---- sends ----------------------------------------------------------------------------------- */

static void no_receive(void)
{
    ssend();
}

static void a_receive_is_posted(void)
{
    ssend();
    posts(1, 0, 0, 7);
}

static void a_receive_of_any_source(void)
{
    ssend();
    posts(1, WAITS_ANY, 0, WAITS_ANY);
}

static void a_receive_of_another_tag(void)
{
    ssend();
    posts(1, 0, 0, 8);
}

static void a_receive_of_another_rank(void)
{
    ssend();
    posts(1, 2, 0, 7);
}

static void a_receive_in_another_communicator(void)
{
    ssend();
    posts(1, 0, 4, 7);
}

static void more_are_posted(void)
{
    ssend();
    s.answer[1].posted_more = true;
}

static void its_wait_is_for_that(void)
{
    ssend();
    s.record[1].request[0] = (struct waits_request){.kind = WAITS_RECV, .peer = 0, .tag = 7};
}

static void it_probes_for_that(void)
{
    ssend();
    s.record[1].request[0] =
        (struct waits_request){.kind = WAITS_PROBE, .peer = WAITS_ANY, .tag = WAITS_ANY};
}

static void its_wait_is_for_another(void)
{
    ssend();
    s.record[1].request[0] = (struct waits_request){.kind = WAITS_RECV, .peer = 2, .tag = 7};
}

static void to_one_that_is_unable(void)
{
    ssend();
    says(1, WAITFOR_UNABLE);
}

static void to_one_that_has_left(void)
{
    ssend();
    says(1, WAITFOR_LEFT);
}

static void a_standard_send(void)
{
    ssend();
    q->kind = WAITS_SEND;
}

static void a_big_send(void)
{
    a_standard_send();
    q->bytes = 1 << 20;
}

/* ---- others ---------------------------------------------------------------------------------- */

static void one_sided(void)
{
    q->kind = WAITS_RMA;
}

static void partitioned(void)
{
    q->kind = WAITS_PRECV;
}

static void one_sided_with_nobody(void)
{
    q->kind = WAITS_RMA;
    q->peer = FTREE_NONE;
}

static void one_sided_with_one_unable(void)
{
    one_sided();
    says(1, WAITFOR_UNABLE);
}

static void at_a_target_that_waits(void)
{
    q->kind = WAITS_TARGET;
}

static void at_a_target_that_has_left(void)
{
    at_a_target_that_waits();
    says(1, WAITFOR_LEFT);
}

static void a_store_by_any(void)
{
    q->kind = WAITS_STORE;
    q->peer = WAITS_ANY;
}

static void a_generalized_request(void)
{
    q->kind = WAITS_OTHER;
}

#define ROW(function, fate) {#function, function, fate, false}
#define UNSURE(function, fate) {#function, function, fate, true}

static const struct {
    const char *what;
    void (*set)(void);
    uint8_t fate;
    bool unsure;
} rows[] = {
    ROW(nothing_was_sent, WAITS_OPEN),
    ROW(all_was_received, WAITS_OPEN),
    ROW(one_is_under_way, WAITS_COMES),
    ROW(one_of_another_tag, WAITS_OPEN),
    ROW(one_of_another_communicator, WAITS_OPEN),
    ROW(one_of_each_of_eight_tags, WAITS_OPEN),
    ROW(eight_tags_and_the_right_one, WAITS_COMES),
    ROW(another_tag_and_the_right_one, WAITS_COMES),
    ROW(any_tag, WAITS_COMES),
    ROW(to_another_rank, WAITS_OPEN),
    ROW(of_another_rank, WAITS_OPEN),
    ROW(forty_unexplained, WAITS_UNKNOWN),
    ROW(pushed_out_of_the_last, WAITS_COMES),
    ROW(another_tag_pushed_out, WAITS_OPEN),
    ROW(two_pushed_out, WAITS_UNKNOWN),
    ROW(no_row_here, WAITS_UNKNOWN),
    ROW(no_row_there, WAITS_UNKNOWN),
    ROW(more_received_than_sent, WAITS_UNKNOWN),
    ROW(counts_agree_and_sums_do_not, WAITS_UNKNOWN),
    ROW(peer_is_unable, WAITS_UNKNOWN),
    ROW(peer_is_lost, WAITS_PEER_LOST),
    UNSURE(peer_has_left, WAITS_NEVER),
    ROW(peer_was_not_asked, WAITS_UNKNOWN),
    ROW(peer_finalizes, WAITS_NEVER),
    ROW(peer_finalizes_and_has_sent, WAITS_COMES),
    ROW(of_no_communicator, WAITS_UNKNOWN),
    ROW(of_another_world, WAITS_UNKNOWN),
    ROW(a_probe, WAITS_OPEN),
    ROW(a_probe_that_is_answered, WAITS_COMES),
    ROW(any_source, WAITS_OPEN),
    ROW(any_source_and_one_has_sent, WAITS_COMES),
    ROW(any_source_and_another_tag, WAITS_OPEN),
    ROW(any_source_and_one_is_unable, WAITS_UNKNOWN),
    ROW(any_source_one_unable_one_sends, WAITS_COMES),
    UNSURE(any_source_and_one_has_left, WAITS_OPEN),
    ROW(any_source_and_no_members, WAITS_UNKNOWN),
    ROW(no_receive, WAITS_OPEN),
    ROW(a_receive_is_posted, WAITS_COMES),
    ROW(a_receive_of_any_source, WAITS_COMES),
    ROW(a_receive_of_another_tag, WAITS_OPEN),
    ROW(a_receive_of_another_rank, WAITS_OPEN),
    ROW(a_receive_in_another_communicator, WAITS_OPEN),
    ROW(more_are_posted, WAITS_UNKNOWN),
    ROW(its_wait_is_for_that, WAITS_COMES),
    ROW(it_probes_for_that, WAITS_COMES),
    ROW(its_wait_is_for_another, WAITS_OPEN),
    ROW(to_one_that_is_unable, WAITS_UNKNOWN),
    UNSURE(to_one_that_has_left, WAITS_NEVER),
    UNSURE(a_standard_send, WAITS_OPEN),
    ROW(a_big_send, WAITS_OPEN),
    UNSURE(one_sided, WAITS_OPEN),
    UNSURE(partitioned, WAITS_OPEN),
    ROW(one_sided_with_nobody, WAITS_UNKNOWN),
    ROW(one_sided_with_one_unable, WAITS_UNKNOWN),
    UNSURE(at_a_target_that_waits, WAITS_UNKNOWN),
    UNSURE(at_a_target_that_has_left, WAITS_NEVER),
    UNSURE(a_store_by_any, WAITS_OPEN),
    ROW(a_generalized_request, WAITS_UNKNOWN),
};

TEST_CASES(what_both_sides_say_decides, COUNT(rows))
{
    bool unsure = false;
    enum waits_fate fate;

    begin();
    rows[_i].set();
    fate = waitfor_fate(&candidate, &s.answer[0], &s.record[0], q, &unsure);
    ck_assert_msg(fate == rows[_i].fate, "%s: %d", rows[_i].what, (int) fate);
    ck_assert_msg(unsure == rows[_i].unsure, "%s: unsure %d", rows[_i].what, unsure);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct ftree_io io;

static struct waits *judged(struct ftree *ft, bool *unsure)
{
    *ft = (struct ftree){.job = messages_job(), .io = &io};
    return waitfor_judge(ft, &candidate, unsure);
}

static void two_wait_for_each_other(void)
{
    begin();
    s.record[1].request[0] = (struct waits_request){.kind = WAITS_RECV, .peer = 0, .tag = 7};
}

TEST_CASE(a_cycle_is_a_core)
{
    struct waits_core core;
    struct ftree ft;
    bool unsure;
    struct waits *w;

    two_wait_for_each_other();
    w = judged(&ft, &unsure);
    ck_assert(ftree_waits_core_at(w, 0, &core));
    ck_assert_int_eq(core.ranks, 2);
    ck_assert(!unsure);
    ftree_waits_destroy(w);
}

TEST_CASE(a_message_under_way_ends_it)
{
    struct waits_core core;
    struct ftree ft;
    bool unsure;
    struct waits *w;

    two_wait_for_each_other();
    sent(0, 1, 0, 7);
    w = judged(&ft, &unsure);
    ck_assert(!ftree_waits_core_at(w, 0, &core));
    ftree_waits_destroy(w);
}

TEST_CASE(what_nearly_matches_is_named)
{
    struct waits_hints hints;

    begin();
    sent(1, 0, 0, 9);
    sent(1, 0, 4, 7);
    waitfor_hints(&candidate, &s.answer[0], &s.record[0], q, &hints);
    ck_assert_int_eq(hints.hints, 2);
    ck_assert_int_eq(hints.hint[0].tag, 9);
    ck_assert_int_eq(hints.hint[0].peer, 1);
    ck_assert_uint_eq(hints.hint[1].context, 4);
}
