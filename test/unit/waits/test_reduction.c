/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Who can go on and who never can: what a tree of reductions decides is what an oracle finds that
 * has all records in one place and tries all ranks until nothing changes.  First stories that a
 * person can follow, then many at random: up to 12 ranks that wait for all or for one of up to
 * three things, on nodes of a random tree.
 */

#include "suite.h"
#include "waiters.h"

#define RANKS_MAX 12
#define THREADS_MAX 3
#define STORIES 3000
#define CASES 10

struct story {
    struct waiters k;
    struct waits_record record[RANKS_MAX], other[RANKS_MAX][THREADS_MAX - 1];
    bool untold[RANKS_MAX]; /* the last thread is in MPI, and says nothing */
    bool speaks[RANKS_MAX];
    int32_t rank_node[RANKS_MAX], parent[RANKS_MAX];
    /* what the nodes have found */
    bool in_core[RANKS_MAX];
    int32_t cores, missing;
    char log[2048];
};

/* What thread i of a rank does; NULL: it says nothing, or there is none. */
static const struct waits_record *record_of(const struct story *s, int32_t rank, int32_t i)
{
    int32_t threads = s->record[rank].threads;

    threads = (threads > 1 ? threads : 1) - s->untold[rank];
    if (!s->speaks[rank] || i >= threads)
        return NULL;
    return i == 0 ? &s->record[rank] : &s->other[rank][i - 1];
}

static bool tell_record(void *ctx, int32_t rank, int32_t thread, struct waits_record *r)
{
    struct story *s = ctx;

    if (!record_of(s, rank, thread))
        return false;
    *r = *record_of(s, rank, thread);
    return true;
}

/* ---- the oracle ------------------------------------------------------------------------------ */

enum belief {
    GOES_ON, /* what is not known is taken to go on: who waits even so is blocked */
    WAITS_ON /* to wait for ever: who goes on even so is free */
};

struct oracle {
    const struct story *s;
    enum belief belief;
    bool released[RANKS_MAX]; /* taken to go on, whatever it waits for */
    bool can[RANKS_MAX];
};

static bool says_finalized(const struct waits_record *r, int32_t rank)
{
    for (int32_t i = 0; i < r->requests; i++)
        if (r->request[i].fate == WAITS_NEVER && r->request[i].peer == rank)
            return true;
    return false;
}

static bool has_finalized(const struct story *s, int32_t rank)
{
    const struct waits_record *record;

    if (s->speaks[rank] && s->record[rank].state == WAITS_FINALIZING)
        return true;
    for (int32_t r = 0; r < s->k.job.size; r++)
        for (int32_t i = 0; (record = record_of(s, r, i)); i++)
            if (says_finalized(record, rank))
                return true;
    return false;
}

static bool peer_can(const struct oracle *o, int32_t rank)
{
    if (o->released[rank])
        return true;
    if (has_finalized(o->s, rank))
        return false;
    return o->s->speaks[rank] ? o->can[rank] : o->belief == GOES_ON;
}

static const struct waits_comm *comm_of(const struct waits_record *r, struct waits_key key)
{
    for (int32_t i = 0; i < r->comms; i++)
        if (r->comm[i].key.context == key.context && r->comm[i].key.first == key.first)
            return &r->comm[i];
    return NULL;
}

/* Whoever has to do with a lock says so; the others may. */
static bool is_in(const struct waits_comm *c, int32_t rank)
{
    if (ftree_waits_is_lock(c->key))
        return true;
    for (int32_t i = 0; i < c->runs; i++)
        for (int32_t k = 0; k < c->run[i].count; k++)
            if (c->run[i].first + k * c->run[i].step == rank)
                return true;
    return false;
}

/* Whether a member stands in the way of the n-th collective. */
static bool member_can(const struct oracle *o, const struct waits_comm *c, int32_t rank,
                       uint32_t number)
{
    const struct waits_comm *its = o->s->speaks[rank] ? comm_of(&o->s->record[rank], c->key) : NULL;

    if (!its)
        return o->belief == GOES_ON;
    return its->last.begun >= number || peer_can(o, rank);
}

static bool all_can(const struct oracle *o, const struct waits_comm *c, uint32_t number)
{
    for (int32_t r = 0; r < o->s->k.job.size; r++)
        if (is_in(c, r) && !member_can(o, c, r, number))
            return false;
    return true;
}

static bool any_can(const struct oracle *o, const struct waits_comm *c)
{
    for (int32_t r = 0; r < o->s->k.job.size; r++)
        if (is_in(c, r) && peer_can(o, r))
            return true;
    return false;
}

static bool request_can(const struct oracle *o, const struct waits_record *r,
                        const struct waits_request *q)
{
    const struct waits_comm *c = &r->comm[q->comm < 0 ? 0 : q->comm];

    if (q->kind == WAITS_COLLECTIVE && q->number == 0)
        return o->belief == GOES_ON;
    if (q->kind == WAITS_COLLECTIVE)
        return q->peer < 0 ? all_can(o, c, q->number) : member_can(o, c, q->peer, q->number);
    if (q->fate == WAITS_COMES)
        return true;
    if (q->kind == WAITS_TARGET)
        return o->released[q->peer] ||
               (!has_finalized(o->s, q->peer) &&
                (o->s->speaks[q->peer] || o->belief == GOES_ON));
    if (q->fate == WAITS_UNKNOWN)
        return o->belief == GOES_ON;
    return q->peer == WAITS_ANY ? any_can(o, c) : peer_can(o, q->peer);
}

static bool record_can(const struct oracle *o, const struct waits_record *r)
{
    bool all = r->mode == WAITS_FOR_ALL, can = all;

    for (int32_t i = 0; i < r->requests; i++) {
        bool this_can = request_can(o, r, &r->request[i]);
        can = all ? can && this_can : can || this_can;
    }
    if (r->more)
        can = all ? can && o->belief == GOES_ON : can || o->belief == GOES_ON;
    return can;
}

/* One of its threads suffices. */
static bool rank_can(const struct oracle *o, int32_t rank)
{
    const struct waits_record *r;

    for (int32_t i = 0; (r = record_of(o->s, rank, i)); i++)
        if (record_can(o, r))
            return true;
    return o->s->untold[rank] && o->belief == GOES_ON;
}

static void ask_oracle(struct oracle *o)
{
    const struct story *s = o->s;
    bool changed = true;

    memset(o->can, 0, sizeof(o->can));
    while (changed) {
        changed = false;
        for (int32_t r = 0; r < s->k.job.size; r++) {
            if (o->can[r] || !s->speaks[r] || s->record[r].state != WAITS_WAITING ||
                has_finalized(s, r) || !rank_can(o, r))
                continue;
            o->can[r] = changed = true;
        }
    }
}

static bool is_blocked(const struct oracle *o, int32_t rank)
{
    return o->s->speaks[rank] && o->s->record[rank].state == WAITS_WAITING &&
           !has_finalized(o->s, rank) && !o->can[rank];
}

/* ---- what nodes find ------------------------------------------------------------------------- */

static bool record_waits_for(const struct story *s, const struct waits_record *r, int32_t b)
{
    for (int32_t i = 0; i < r->requests; i++) {
        const struct waits_request *q = &r->request[i];
        const struct waits_comm *its = comm_of(&s->record[b], r->comm[q->comm].key);
        if (q->kind != WAITS_COLLECTIVE && (q->peer == b || q->peer == WAITS_ANY))
            return true;
        if (q->kind == WAITS_COLLECTIVE && (q->peer < 0 || q->peer == b) && its &&
            its->last.begun < q->number)
            return true;
    }
    return false;
}

/* True if a waits for b, among others. */
static bool waits_for(const struct story *s, int32_t a, int32_t b)
{
    const struct waits_record *r;

    for (int32_t i = 0; (r = record_of(s, a, i)); i++)
        if (record_waits_for(s, r, b))
            return true;
    return false;
}

static void check_order(const struct story *s, const struct waits *w, int32_t i,
                        const struct waits_core *core)
{
    int32_t rank[RANKS_MAX], cycle = ftree_waits_order(w, i, rank);
    bool seen[RANKS_MAX] = {false};

    REQUIRE(cycle >= 1 && cycle <= core->ranks && rank[0] == core->id);
    for (int32_t k = 0; k < core->ranks; k++) {
        REQUIRE(!seen[rank[k]]);
        seen[rank[k]] = true;
    }
    for (int32_t k = 0; k < core->ranks; k++)
        REQUIRE(seen[core->rank[k]]);
    for (int32_t k = 0; k < cycle && !core->missing; k++)
        REQUIRE(waits_for(s, rank[k], rank[(k + 1) % cycle]));
}

/* From each of its ranks every other one can be reached within it. */
static void check_connected(const struct story *s, const struct waits_core *core)
{
    bool reach[RANKS_MAX][RANKS_MAX] = {{false}};

    for (int32_t i = 0; i < core->ranks; i++)
        for (int32_t k = 0; k < core->ranks; k++)
            reach[i][k] = waits_for(s, core->rank[i], core->rank[k]);
    for (int32_t m = 0; m < core->ranks; m++)
        for (int32_t i = 0; i < core->ranks; i++)
            for (int32_t k = 0; k < core->ranks; k++)
                reach[i][k] = reach[i][k] || (reach[i][m] && reach[m][k]);
    for (int32_t i = 0; i < core->ranks; i++)
        for (int32_t k = 0; k < core->ranks; k++)
            REQUIRE(reach[i][k]);
}

/* Its ranks wait for ever even if everybody else goes on. */
static void check_core(const struct story *s, const struct waits_core *core)
{
    struct oracle o = {.s = s, .belief = GOES_ON};

    if (core->missing) {
        REQUIRE(core->ranks == 1 && has_finalized(s, core->id));
        return;
    }
    for (int32_t r = 0; r < s->k.job.size; r++)
        o.released[r] = !has_finalized(s, r);
    for (int32_t i = 0; i < core->ranks; i++)
        o.released[core->rank[i]] = false;
    ask_oracle(&o);
    for (int32_t i = 0; i < core->ranks; i++)
        REQUIRE(is_blocked(&o, core->rank[i]));
    check_connected(s, core);
}

static void note_core(struct story *s, const struct waits_core *core)
{
    size_t len = strlen(s->log), room = sizeof(s->log) - len;

    s->cores++;
    s->missing += core->missing;
    snprintf(s->log + len, room, core->missing ? "missing" : "core");
    for (int32_t i = 0; i < core->ranks; i++) {
        s->in_core[core->rank[i]] = true;
        len = strlen(s->log);
        snprintf(s->log + len, sizeof(s->log) - len, " %d", core->rank[i]);
    }
    len = strlen(s->log);
    snprintf(s->log + len, sizeof(s->log) - len, "%s%s%s\n",
             core->collective ? " (collective)" : "", core->polls ? " (polls)" : "",
             core->is_open ? " (open)" : "");
}

static void hear(void *ctx, int32_t node, const struct waits *w)
{
    struct story *s = ctx;
    struct waits_core core;

    (void) node;
    for (int32_t i = 0; ftree_waits_core_at(w, i, &core); i++) {
        check_core(s, &core);
        check_order(s, w, i, &core);
        note_core(s, &core);
    }
}

/* ---- one story ------------------------------------------------------------------------------- */

static void check_ranks(const struct story *s, const struct waits *w)
{
    struct oracle blocked = {.s = s, .belief = GOES_ON}, free_ = {.s = s, .belief = WAITS_ON};
    int32_t of;

    ask_oracle(&blocked);
    ask_oracle(&free_);
    for (int32_t r = 0; r < s->k.job.size; r++) {
        enum waits_what what = ftree_waits_of(w, r, &of);
        if (!s->speaks[r] || s->record[r].state != WAITS_WAITING || has_finalized(s, r)) {
            REQUIRE(what == WAITS_SILENT || what == WAITS_DONE);
            continue;
        }
        REQUIRE((what == WAITS_BLOCKED) == is_blocked(&blocked, r));
        REQUIRE((what == WAITS_FREE) == free_.can[r]);
        REQUIRE(what != WAITS_BLOCKED || s->in_core[of]);
    }
}

/* Once the cores go on nobody is blocked: none is left out. */
static void check_cores(const struct story *s)
{
    struct oracle o = {.s = s, .belief = GOES_ON};

    memcpy(o.released, s->in_core, sizeof(o.released));
    ask_oracle(&o);
    for (int32_t r = 0; r < s->k.job.size; r++)
        REQUIRE(!is_blocked(&o, r) || s->in_core[r]);
}

static void run(struct story *s)
{
    struct waits *w;

    s->k.ctx = s;
    s->k.record = tell_record;
    s->k.reduced = hear;
    s->k.rank_node = s->rank_node;
    s->k.parent = s->parent;
    w = waiters_reduce(&s->k);
    check_ranks(s, w);
    check_cores(s);
    ftree_waits_destroy(w);
}

/* ---- stories by hand ------------------------------------------------------------------------- */

/* Ranks 0 .. n - 1, each on a node of its own; nobody speaks. */
static void begin(struct story *s, int32_t n)
{
    memset(s, 0, sizeof(*s));
    waiters_init(&s->k, n, n, 2);
    for (int32_t r = 0; r < n; r++) {
        s->rank_node[r] = r;
        s->parent[r] = (r - 1) / 2;
        waiters_begin(&s->k, &s->record[r], r, 1);
    }
}

static struct waits_request *wait_for(struct story *s, int32_t rank, int kind, int32_t peer)
{
    s->speaks[rank] = true;
    return waiters_add(&s->record[rank], kind, peer, 7);
}

static void wait_in_collective(struct story *s, int32_t rank, uint32_t number)
{
    struct waits_request *q = wait_for(s, rank, WAITS_COLLECTIVE, FTREE_NONE);

    q->number = number;
    s->record[rank].comm[0].last.begun = number;
}

TEST_CASE(two_that_receive_from_each_other_are_a_core)
{
    struct story s;

    begin(&s, 4);
    wait_for(&s, 1, WAITS_RECV, 3);
    wait_for(&s, 3, WAITS_RECV, 1);
    wait_for(&s, 0, WAITS_RECV, 1);
    run(&s);
    EXPECT_LINES(s.log, "core 1 3\n");
}

TEST_CASE(a_core_says_if_one_of_it_polls)
{
    struct story s;

    begin(&s, 4);
    wait_for(&s, 1, WAITS_RECV, 3);
    wait_for(&s, 3, WAITS_RECV, 1);
    wait_for(&s, 0, WAITS_RECV, 1);
    s.record[0].polls = true; /* a victim */
    run(&s);
    s.record[3].polls = true;
    run(&s);
    EXPECT_LINES(s.log, "core 1 3\ncore 1 3 (polls)\n");
}

TEST_CASE(one_that_waits_for_itself_is_a_core)
{
    struct story s;

    begin(&s, 2);
    wait_for(&s, 1, WAITS_SSEND, 1);
    run(&s);
    EXPECT_LINES(s.log, "core 1\n");
}

TEST_CASE(a_message_under_way_breaks_a_cycle)
{
    struct story s;

    begin(&s, 2);
    wait_for(&s, 0, WAITS_RECV, 1);
    wait_for(&s, 1, WAITS_RECV, 0)->fate = WAITS_COMES;
    run(&s);
    EXPECT_LINES(s.log, "");
}

TEST_CASE(what_was_not_asked_is_not_claimed)
{
    struct story s;

    begin(&s, 2);
    wait_for(&s, 0, WAITS_RECV, 1);
    wait_for(&s, 1, WAITS_RECV, 0)->fate = WAITS_UNKNOWN;
    run(&s);
    EXPECT_LINES(s.log, "");
}

TEST_CASE(a_chain_ends_in_a_rank_that_runs)
{
    struct story s;

    begin(&s, 5);
    wait_for(&s, 0, WAITS_RECV, 1);
    wait_for(&s, 1, WAITS_RECV, 2);
    wait_for(&s, 2, WAITS_RECV, 4)->fate = WAITS_COMES;
    run(&s);
    EXPECT_LINES(s.log, "");
}

/* 0 waits for 1 or 2; 2 waits for 0, 1 for a rank that says nothing. */
TEST_CASE(an_or_wait_needs_a_knot)
{
    struct story s;

    begin(&s, 4);
    wait_for(&s, 0, WAITS_RECV, 1);
    wait_for(&s, 0, WAITS_RECV, 2);
    s.record[0].mode = WAITS_FOR_ONE;
    wait_for(&s, 2, WAITS_RECV, 0);
    wait_for(&s, 1, WAITS_RECV, 3);
    run(&s);
    EXPECT_LINES(s.log, "");
    wait_for(&s, 3, WAITS_RECV, 1);
    run(&s);
    EXPECT_LINES(s.log, "core 1 3\n");
    s.log[0] = 0;
    s.record[3].requests = s.record[1].requests = 0;
    wait_for(&s, 1, WAITS_RECV, 0);
    s.speaks[3] = false;
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 2\n");
}

TEST_CASE(a_master_of_any_source_and_its_workers_are_a_knot)
{
    struct story s;

    begin(&s, 7);
    wait_for(&s, 0, WAITS_RECV, WAITS_ANY);
    for (int32_t r = 1; r < 6; r++)
        wait_for(&s, r, WAITS_RECV, 0);
    run(&s);
    EXPECT_LINES(s.log, ""); /* rank 6 may send */
    wait_for(&s, 6, WAITS_RECV, 0);
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 2 3 4 5 6\n");
}

TEST_CASE(who_looks_at_shared_memory_waits_for_all_that_share_it)
{
    struct story s;

    begin(&s, 3);
    wait_for(&s, 0, WAITS_PROBE, 1);
    wait_for(&s, 0, WAITS_STORE, WAITS_ANY);
    s.record[0].mode = WAITS_FOR_ONE;
    wait_for(&s, 1, WAITS_RECV, 0);
    run(&s);
    EXPECT_LINES(s.log, ""); /* rank 2 may store something */
    wait_for(&s, 2, WAITS_RECV, 1);
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 2\n");
}

TEST_CASE(a_worker_that_has_finalized_does_not_take_the_blame_for_a_knot)
{
    struct story s;

    begin(&s, 4);
    wait_for(&s, 0, WAITS_RECV, WAITS_ANY);
    wait_for(&s, 1, WAITS_RECV, 0);
    wait_for(&s, 2, WAITS_RECV, 0);
    s.speaks[3] = true;
    s.record[3].state = WAITS_FINALIZING;
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 2\n");
}

TEST_CASE(a_peer_that_has_finalized_is_missing)
{
    struct story s;

    begin(&s, 4);
    wait_for(&s, 1, WAITS_RECV, 3)->fate = WAITS_NEVER;
    wait_for(&s, 2, WAITS_RECV, 3)->fate = WAITS_NEVER;
    wait_for(&s, 0, WAITS_RECV, 1);
    run(&s);
    /* the parents of 1 and 2 differ: each finds it; the ids are the same */
    EXPECT_LINES(s.log, "missing 3\nmissing 3\n");
}

TEST_CASE(a_rank_that_skips_a_collective_closes_a_cycle)
{
    struct story s;

    begin(&s, 4);
    for (int32_t r = 0; r < 3; r++)
        wait_in_collective(&s, r, 5);
    wait_for(&s, 3, WAITS_RECV, 0);
    s.record[3].comm[0].last.begun = 4;
    run(&s);
    EXPECT_LINES(s.log, "core 0 3 (collective)\n");
}

TEST_CASE(a_rank_that_finalizes_before_a_collective_is_missing)
{
    struct story s;

    begin(&s, 4);
    for (int32_t r = 0; r < 3; r++)
        wait_in_collective(&s, r, 5);
    s.speaks[3] = true;
    s.record[3].state = WAITS_FINALIZING;
    s.record[3].comm[0].last.begun = 4;
    run(&s);
    EXPECT_LINES(s.log, "missing 3 (collective)\n");
}

TEST_CASE(a_collective_that_all_have_begun_goes_on)
{
    struct story s;

    begin(&s, 3);
    for (int32_t r = 0; r < 3; r++)
        wait_in_collective(&s, r, 5);
    run(&s);
    EXPECT_LINES(s.log, "");
    begin(&s, 3);
    for (int32_t r = 0; r < 2; r++)
        wait_in_collective(&s, r, 5);
    run(&s); /* rank 2 says nothing, so it may come */
    EXPECT_LINES(s.log, "");
}

/* A rank holds the lock of target 2 (or more of it, by `of`), or needs that of those who do. */
static struct waits_comm *lock_of_2(struct story *s, int32_t rank, uint32_t of, uint32_t begun)
{
    struct waits_record *r = &s->record[rank];
    struct waits_comm *c = &r->comm[r->comms++];

    *c = (struct waits_comm){.key = {.context = 12 | of, .first = of == WAITS_LOCK_OF_ONE ? 2 : 0},
                             .size = s->k.job.size,
                             .last = {.begun = begun}};
    return c;
}

static void wait_for_lock(struct story *s, int32_t rank, uint32_t of, uint32_t number)
{
    struct waits_request *q = wait_for(s, rank, WAITS_COLLECTIVE, FTREE_NONE);

    q->comm = (int8_t) s->record[rank].comms;
    q->number = number;
    lock_of_2(s, rank, of, WAITS_LOCK_NONE);
}

static void wait_for_target(struct story *s, int32_t rank)
{
    wait_for(s, rank, WAITS_TARGET, 2)->fate = WAITS_UNKNOWN;
}

/* Rank 1 wants a lock of 2, who waits for rank 1, as rank 0 does, who holds it. */
static void begin_lock(struct story *s, uint32_t held, uint32_t of, uint32_t number)
{
    begin(s, 5);
    wait_for_lock(s, 1, of, number);
    wait_for_target(s, 1);
    wait_for(s, 2, WAITS_RECV, 1);
    wait_for(s, 0, WAITS_RECV, 1);
    lock_of_2(s, 0, of, held);
}

/* More may hold it, of whom nothing is known. */
TEST_CASE(who_holds_a_lock_closes_a_cycle)
{
    struct story s;

    begin_lock(&s, WAITS_LOCK_EXCLUSIVE, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 (open)\n");
    begin_lock(&s, WAITS_LOCK_EXCLUSIVE, WAITS_LOCK_OF_ONE, WAITS_LOCK_SHARED);
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 (open)\n");
    begin_lock(&s, WAITS_LOCK_EXCLUSIVE, WAITS_LOCK_OF_ANY, WAITS_LOCK_SHARED);
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 (open)\n");
    begin_lock(&s, WAITS_LOCK_SHARED, WAITS_LOCK_OF_ALL, WAITS_LOCK_NONE);
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 (open)\n");
}

/* Whom the waits end in of whom nothing is known, as "3(1)! 4(1)": so many wait for them, and for
 * one of those no other rank will do. */
static const char *list_silent(struct story *s, int32_t most)
{
    static char list[64];
    struct waits_end end[8];
    struct waits *w = waiters_reduce(&s->k);
    int32_t n = ftree_waits_silent(w, end, most);

    list[0] = 0;
    for (int32_t i = 0; i < n; i++)
        sprintf(list + strlen(list), "%s%d(%d)%s", i > 0 ? " " : "", end[i].rank, end[i].count,
                end[i].needed ? "!" : "");
    ftree_waits_destroy(w);
    return list;
}

TEST_CASE(a_lock_that_nobody_is_known_to_hold_is_held_by_one_of_the_others)
{
    struct story s;

    begin(&s, 4);
    wait_for_lock(&s, 1, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    wait_for_lock(&s, 2, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    run(&s);
    EXPECT_LINES(s.log, "");
    ck_assert_str_eq(list_silent(&s, 8), "0(2) 3(2)");
    ck_assert_str_eq(list_silent(&s, 1), ""); /* they are too many */
    begin_lock(&s, WAITS_LOCK_EXCLUSIVE, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    s.record[0].request[0].peer = 3; /* who holds it waits for 3 */
    run(&s);
    ck_assert_str_eq(list_silent(&s, 8), "3(1)!");
}

/* 0 takes what comes, 1 waits for 3. */
TEST_CASE(one_of_several_is_not_needed)
{
    struct story s;

    begin(&s, 4);
    wait_for(&s, 0, WAITS_RECV, WAITS_ANY);
    run(&s);
    ck_assert_str_eq(list_silent(&s, 8), "1(1) 2(1) 3(1)");
    wait_for(&s, 1, WAITS_RECV, 3);
    run(&s);
    ck_assert_str_eq(list_silent(&s, 8), "3(2)! 2(1)");
}

TEST_CASE(all_who_hold_a_lock_must_give_it_back)
{
    struct story s;

    begin_lock(&s, WAITS_LOCK_SHARED, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    wait_for(&s, 4, WAITS_RECV, 1);
    lock_of_2(&s, 4, WAITS_LOCK_OF_ONE, WAITS_LOCK_SHARED);
    memset(s.rank_node, 0, sizeof(s.rank_node));
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 4 (open)\n");
}

TEST_CASE(a_lock_that_excludes_nobody_is_not_waited_for)
{
    struct story s;

    begin_lock(&s, WAITS_LOCK_SHARED, WAITS_LOCK_OF_ONE, WAITS_LOCK_SHARED);
    run(&s);
    EXPECT_LINES(s.log, "");
    begin_lock(&s, WAITS_LOCK_EXCLUSIVE, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    s.record[0].comm[1].key.first = 3; /* of another target */
    run(&s);
    EXPECT_LINES(s.log, "");
    begin_lock(&s, WAITS_LOCK_EXCLUSIVE, WAITS_LOCK_OF_ONE, WAITS_LOCK_NONE);
    s.record[0].comm[1].key.context++; /* of another window */
    run(&s);
    EXPECT_LINES(s.log, "");
}

TEST_CASE(a_target_that_waits_turns_its_progress)
{
    struct story s;

    begin(&s, 3);
    wait_for_target(&s, 1);
    wait_for(&s, 2, WAITS_RECV, 1);
    run(&s);
    EXPECT_LINES(s.log, "");
    begin(&s, 3);
    wait_for_target(&s, 1);
    s.speaks[2] = true;
    s.record[2].state = WAITS_FINALIZING;
    run(&s);
    EXPECT_LINES(s.log, "missing 2\n");
}

/* 0 and 1 wait in a Bcast of root 2, and 2 for 1. */
TEST_CASE(a_rooted_collective_waits_for_its_root)
{
    struct story s;

    begin(&s, 4);
    for (int32_t r = 0; r < 2; r++) {
        wait_in_collective(&s, r, 1);
        s.record[r].request[0].peer = 2;
    }
    wait_for(&s, 2, WAITS_RECV, 1);
    run(&s);
    EXPECT_LINES(s.log, "core 1 2 (collective)\n");
}

/* Halves of a split communicator have one context id: 0 and 1 are in one, 2 and 3 in the other.
 * All of the one have begun their 2nd collective; 3 has not, and waits for 2. */
TEST_CASE(communicators_of_one_context_id_are_told_apart)
{
    struct story s;

    begin(&s, 4);
    for (int32_t r = 0; r < 4; r++) {
        struct waits_record *record = &s.record[r];
        record->comms = 2;
        record->comm[1] = (struct waits_comm){.key = {.context = 8, .first = r / 2 * 2},
                                              .size = 2,
                                              .runs = 1,
                                              .run = {{r / 2 * 2, 1, 2}},
                                              .last = {.begun = r == 3 ? 1 : 2}};
        if (r == 3)
            wait_for(&s, r, WAITS_RECV, 2);
        else
            *wait_for(&s, r, WAITS_COLLECTIVE, FTREE_NONE) = (struct waits_request){
                .kind = WAITS_COLLECTIVE, .comm = 1, .peer = FTREE_NONE, .number = 2};
    }
    run(&s);
    EXPECT_LINES(s.log, "core 2 3 (collective)\n");
}

/* 1 and 3 wait for each other, and 3 for 5, too, which waits for 1: node 1, which sees two of them,
 * leaves it to the root. */
TEST_CASE(a_core_is_whole)
{
    struct story s;

    for (int speaks = 0; speaks < 2; speaks++) {
        begin(&s, 6);
        wait_for(&s, 1, WAITS_RECV, 3);
        wait_for(&s, 3, WAITS_RECV, 1);
        wait_for(&s, 3, WAITS_RECV, 5);
        wait_for(&s, 5, WAITS_RECV, 1);
        s.speaks[5] = speaks > 0;
        run(&s);
        EXPECT_LINES(s.log, speaks ? "core 1 3 5\n" : "core 1 3 (open)\n");
    }
}

/* {2, 3} is a core; {0, 1} another, though 1 waits for 2, too; 4 is a victim. */
TEST_CASE(a_cycle_behind_a_cycle_is_a_core_of_its_own)
{
    struct story s;

    begin(&s, 5);
    wait_for(&s, 0, WAITS_RECV, 1);
    wait_for(&s, 1, WAITS_RECV, 0);
    wait_for(&s, 1, WAITS_RECV, 2);
    wait_for(&s, 2, WAITS_RECV, 3);
    wait_for(&s, 3, WAITS_RECV, 2);
    wait_for(&s, 4, WAITS_RECV, 2);
    for (int32_t r = 0; r < 5; r++)
        s.rank_node[r] = 0;
    run(&s);
    EXPECT_LINES(s.log, "core 2 3\ncore 0 1\n");
}

/* One thread of rank 1 waits for 0, the other for 2. */
TEST_CASE(a_rank_is_blocked_if_all_its_threads_are)
{
    struct story s;

    begin(&s, 4);
    wait_for(&s, 0, WAITS_RECV, 1);
    s.other[1][0] = s.record[1];
    s.other[1][0].thread = 1;
    wait_for(&s, 1, WAITS_RECV, 0);
    waiters_add(&s.other[1][0], WAITS_RECV, 2, 7);
    s.record[1].threads = s.other[1][0].threads = 2;
    run(&s);
    EXPECT_LINES(s.log, ""); /* rank 2 says nothing */
    wait_for(&s, 2, WAITS_RECV, 3)->fate = WAITS_COMES;
    run(&s);
    EXPECT_LINES(s.log, "");
    s.record[2].requests = 0;
    wait_for(&s, 2, WAITS_RECV, 1);
    run(&s);
    EXPECT_LINES(s.log, "core 0 1 2\n");
    s.log[0] = 0;
    s.untold[1] = true;
    s.record[1].threads = s.other[1][0].threads = 3;
    run(&s); /* a third thread may do anything */
    EXPECT_LINES(s.log, "");
}

/* ---- stories at random ----------------------------------------------------------------------- */

static uint64_t state;

static int32_t draw(int32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int32_t) ((state >> 33) % (uint64_t) below);
}

/* The second communicator: some of the ranks, in runs of one. */
static void draw_comm(struct story *s, struct waits_comm *c)
{
    *c = (struct waits_comm){.key = {.context = 9, .first = -1}, .name = "some"};
    for (int32_t r = 0; r < s->k.job.size; r++) {
        if (draw(2) && !(r == s->k.job.size - 1 && c->size == 0))
            continue;
        c->key.first = c->key.first < 0 ? r : c->key.first;
        c->run[c->runs++] = (struct waits_run){.first = r, .step = 1, .count = 1};
        c->size++;
    }
}

static void draw_comms(struct waits_record *r, const struct waits_comm *other)
{
    r->comm[0].last.begun = (uint32_t) draw(3);
    if (!is_in(other, r->rank) || draw(10) == 0) /* a member need not name all of its own */
        return;
    r->comm[1] = *other;
    r->comm[1].last.begun = (uint32_t) draw(3);
    r->comms = 2;
}

static void draw_collective(struct story *s, struct waits_record *r, struct waits_request *q)
{
    q->number = r->comm[q->comm].last.begun;
    q->kind = q->number ? WAITS_COLLECTIVE : WAITS_RECV;
    q->peer = draw(s->k.job.size);
    if (q->number && (draw(2) || !is_in(&r->comm[q->comm], q->peer)))
        q->peer = FTREE_NONE;
}

/* All locks are the same one. */
static void draw_lock(struct story *s, struct waits_record *r, struct waits_request *q)
{
    int8_t at = 0;

    q->peer = FTREE_NONE;
    q->kind = WAITS_COLLECTIVE;
    q->number = (uint32_t) (1 + draw(2));
    while (at < r->comms && !ftree_waits_is_lock(r->comm[at].key))
        at++;
    q->comm = at;
    if (at == r->comms && r->thread == 0)
        lock_of_2(s, r->rank, WAITS_LOCK_OF_ALL, WAITS_LOCK_NONE);
    else if (at == r->comms)
        q->comm = FTREE_NONE;
    if (q->comm < 0 || r->comm[at].last.begun < q->number)
        q->number = 0; /* of a lock that it holds, or of another thread */
}

static void draw_request(struct story *s, struct waits_record *r)
{
    struct waits_request *q = waiters_add(r, WAITS_RECV, draw(s->k.job.size), 7);
    int32_t luck = draw(40);

    do
        q->comm = (int8_t) draw(r->comms);
    while (ftree_waits_is_lock(r->comm[q->comm].key));
    if (luck < 4)
        q->peer = WAITS_ANY;
    else if (luck < 12)
        draw_collective(s, r, q);
    else if (luck == 12)
        q->fate = WAITS_COMES;
    else if (luck == 13)
        q->fate = WAITS_UNKNOWN;
    else if (luck == 14)
        q->fate = WAITS_COMES;
    else if (luck == 15 && !s->speaks[q->peer])
        q->fate = WAITS_NEVER;
    else if (luck == 16)
        *q = (struct waits_request){.kind = WAITS_TARGET, .peer = q->peer};
    else if (luck < 20)
        draw_lock(s, r, q);
}

static void draw_wait(struct story *s, struct waits_record *r)
{
    r->mode = draw(3) ? WAITS_FOR_ALL : WAITS_FOR_ONE;
    r->more = draw(40) == 0;
    for (int32_t i = 1 + draw(3); i > 0; i--)
        draw_request(s, r);
}

/* Of some ranks several threads wait, and of some of these one more is in MPI. */
static void draw_threads(struct story *s, int32_t rank)
{
    struct waits_record *r = &s->record[rank];
    int32_t more = draw(4) ? 0 : draw(THREADS_MAX);

    s->untold[rank] = draw(20) == 0;
    r->threads = (uint8_t) (1 + more + s->untold[rank]);
    for (int32_t i = 0; i < more; i++) {
        s->other[rank][i] = *r;
        s->other[rank][i].thread = (uint8_t) (i + 1);
        draw_wait(s, &s->other[rank][i]);
    }
    draw_wait(s, r);
}

static void draw_record(struct story *s, int32_t rank, const struct waits_comm *other)
{
    struct waits_record *r = &s->record[rank];

    waiters_begin(&s->k, r, rank, 1);
    if (!s->speaks[rank])
        return;
    draw_comms(r, other);
    if (draw(4) == 0)
        lock_of_2(s, rank, WAITS_LOCK_OF_ALL, (uint32_t) draw(2));
    if (draw(20) == 0)
        r->state = WAITS_FINALIZING;
    else
        draw_threads(s, rank);
}

static void draw_story(struct story *s)
{
    int32_t n = 2 + draw(RANKS_MAX - 1), nodes = 1 + draw(n), loud = 1 + draw(20);
    struct waits_comm other;

    memset(s, 0, sizeof(*s));
    waiters_init(&s->k, n, nodes, 2);
    draw(300); /* nothing: with it the stories are those that they were */
    draw_comm(s, &other);
    for (int32_t r = 0; r < n; r++) {
        s->rank_node[r] = draw(nodes);
        s->speaks[r] = draw(loud) > 0;
    }
    for (int32_t v = 1; v < nodes; v++)
        s->parent[v] = draw(v);
    for (int32_t r = 0; r < n; r++)
        draw_record(s, r, &other);
}

/* However ranks lie on nodes, cycles and knots are the same. */
static void check_place(const struct story *told)
{
    struct story s = *told;
    char line[sizeof(s.log)];

    s.cores = s.missing = 0;
    s.log[0] = '\0';
    memset(s.rank_node, 0, sizeof(s.rank_node));
    run(&s);
    ck_assert_int_eq(s.cores - s.missing, told->cores - told->missing);
    for (const char *core = strstr(s.log, "core"); core; core = strstr(core + 1, "core")) {
        snprintf(line, sizeof(line), "%.*s", (int) strcspn(core, "(\n"), core);
        ck_assert_msg(strstr(told->log, line), "on one node: %s, else: %s", s.log, told->log);
    }
}

TEST_CASES(a_tree_finds_what_the_oracle_finds, CASES)
{
    int32_t with_core = 0, with_missing = 0;
    struct story s;

    state = 1 + (uint64_t) _i;
    for (int i = 0; i < STORIES; i++) {
        draw_story(&s);
        run(&s);
        with_core += s.cores > s.missing;
        with_missing += s.missing > 0;
        check_place(&s);
    }
    /* the stories are worth something */
    ck_assert_int_gt(with_core, STORIES / 5);
    ck_assert_int_gt(with_missing, STORIES / 50);
}
