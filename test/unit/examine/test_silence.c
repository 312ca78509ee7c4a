/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"
#include "suite.h"
#include "world.h"

/*
 * A network that is silent for a while, and comes back at any moment: nobody is accused.  A node
 * that is lost while, or before, the network is silent is found all the same.
 */

#define STEP 50 /* ms */
#define SECOND (1000 * FTREE_MS)
#define NODES 5

enum paths {
    ONLY_DATA, /* the job has one path */
    BOTH,
    DATA_OF_BOTH, /* is silent, and the other one is not */
    MGMT_OF_BOTH,
    PATHS
};

static void hush(struct world *w, int32_t node, enum paths paths, bool silent)
{
    w->node[node].path_down[FTREE_PATH_DATA] = silent && paths != MGMT_OF_BOTH;
    w->node[node].path_down[FTREE_PATH_MGMT] = silent && paths != DATA_OF_BOTH;
}

static void hush_all(struct world *w, enum paths paths, bool silent)
{
    for (int32_t n = 0; n < w->job.nodes; n++)
        hush(w, n, paths, silent);
}

static struct world *new_world(const struct ftree_tree *tree, enum paths paths, int32_t nodes,
                               int32_t ppn)
{
    struct world *w = world_new_tree(tree, nodes, ppn, 32);

    w->job.has_path[FTREE_PATH_MGMT] = paths != ONLY_DATA;
    return w;
}

/* All wait for one rank, not quite since the same moment, so that each is in another phase. */
static void all_wait(struct world *w, int32_t peer)
{
    world_all_wait(w, FTREE_NONE, peer);
    for (int32_t r = 0; r < w->job.size; r++)
        if (w->wait_since[r])
            w->wait_since[r] += (ftree_time) (r * 37 % 200) * FTREE_MS;
}

/* What a node says of itself while nobody answers it is no accusation; it is over with the
 * silence. */
static void expect_nobody_accused(const struct world *w, const char *what, int ms)
{
    struct ftree_verdict v;

    for (int32_t n = 0; n < w->job.nodes; n++)
        for (int32_t i = 0; ftree_verdict_at(w->node[n].ft, i, &v); i++) {
            ck_assert_msg(v.class_ == FTREE_CLASS_UNKNOWN, "%s until %d ms: node %d: %s", what, ms,
                          (int) n, v.rule);
            ck_assert_msg(v.withdrawn, "%s until %d ms: node %d: %s stands", what, ms, (int) n,
                          v.rule);
        }
}

/* ---- all are silent -------------------------------------------------------------------------- */

/* The silence begins `before` ms before anybody waits for long, and lasts until `until`. */
static void silence_of_all(struct world *w, enum paths paths, int from, int until)
{
    all_wait(w, w->job.size - 1);
    world_run(w, (ftree_time) from * FTREE_MS);
    hush_all(w, paths, true);
    world_run(w, (ftree_time) (until - from) * FTREE_MS);
    hush_all(w, paths, false);
    world_run(w, 12 * SECOND);
    expect_nobody_accused(w, "silence", until);
    world_free(w);
}

TEST_CASES(a_silence_of_all_accuses_nobody, 81)
{
    for (int paths = 0; paths < PATHS; paths++) {
        silence_of_all(new_world(NULL, (enum paths) paths, NODES, 1), (enum paths) paths, 0,
                       _i * STEP);
        silence_of_all(new_world(NULL, (enum paths) paths, NODES, 2), (enum paths) paths, 0,
                       _i * STEP);
    }
}

/* It begins while some are being asked already. */
TEST_CASES(a_silence_that_begins_at_any_moment, 20)
{
    for (int paths = 0; paths < PATHS; paths++)
        for (int lasts = 100; lasts <= 3000; lasts += 100)
            silence_of_all(new_world(NULL, (enum paths) paths, NODES, 1), (enum paths) paths,
                           950 + 15 * _i, 950 + 15 * _i + lasts);
}

TEST_CASES(a_silence_of_all_behind_switches, 41)
{
    static const char *const topologies[] = {"switch:3 node:2", "switch:2 switch:2 node:2",
                                             "switch:4 node:1"};
    struct ftree_tree_error e;
    struct ftree_tree *tree;
    int32_t ranks;

    for (int t = 0; t < COUNT(topologies); t++)
        for (int paths = 0; paths < PATHS; paths++) {
            ck_assert_int_eq(ftree_tree_synthetic(topologies[t], 32, &tree, &ranks, &e), FTREE_OK);
            silence_of_all(new_world(tree, (enum paths) paths, tree->nodes, 1), (enum paths) paths,
                           0, 2 * _i * STEP);
            ftree_tree_free(tree);
        }
}

/* A network that works now and then, for 1 to 64 ms: still nobody is accused.  (Where its silences
 * are shorter than 3.5 units, 525 ms, somebody may be: see doc/limits.md.) */
TEST_CASES(a_network_that_comes_and_goes, 40)
{
    struct world *w = new_world(NULL, _i % 2 ? ONLY_DATA : BOTH, NODES, 1);

    all_wait(w, NODES - 1);
    for (int i = 0; i < 10; i++) {
        hush_all(w, BOTH, true);
        world_run(w, (ftree_time) (600 + 50 * _i) * FTREE_MS);
        hush_all(w, BOTH, false);
        world_run(w, (ftree_time) (1 + 7 * i) * FTREE_MS);
    }
    world_run(w, 12 * SECOND);
    expect_nobody_accused(w, "silences", 600 + 50 * _i);
}

/* ---- one is silent --------------------------------------------------------------------------- */

/* How long a node is silent until it is accused, in ms; `step` is how exactly. */
static int survives(ftree_time silence, enum paths paths, int step)
{
    for (int ms = step; ms < 20000; ms += step) {
        struct world *w = new_world(NULL, paths, NODES, 1);
        w->cfg.silence = silence;
        for (int32_t n = 0; n < NODES; n++)
            world_succeed(w, n); /* with that */
        hush(w, 2, paths, true);
        world_all_wait(w, 2, 2);
        world_run(w, (ftree_time) ms * FTREE_MS);
        hush(w, 2, paths, false);
        world_run(w, 3 * SECOND);
        if (w->reports > 0 || w->verdicts_on[0] > 0) {
            world_free(w);
            return ms - step;
        }
        world_free(w);
    }
    return 20000;
}

/* When a lost node is reported, in ms after its loss. */
static int found_after(ftree_time silence, enum paths paths)
{
    struct world *w = new_world(NULL, paths, NODES, 1);
    int ms;

    w->cfg.silence = silence;
    for (int32_t n = 0; n < NODES; n++)
        world_succeed(w, n);
    w->node[2].off = true;
    world_all_wait(w, 2, 2);
    ck_assert(world_run_until_reports(w, 1, 20 * SECOND));
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_NODE_OUTAGE);
    ms = (int) (w->reported_at[0] / FTREE_MS) - 1000;
    world_free(w);
    return ms;
}

/* What doc/protocol.md says of cfg.silence, "How long a silence may last": with one path, and with two. */
static const struct {
    int silence;
    int survives[2], found[2]; /* ms */
} patience[] = {
    {900, {1675, 1450}, {1902, 1602}},
    {1800, {2350, 1900}, {2802, 2202}},
    {4000, {4000, 3000}, {5002, 3669}},
    {9000, {7750, 5500}, {10002, 7002}},
};

TEST_CASES(how_long_one_node_may_be_silent, COUNT(patience))
{
    for (int paths = ONLY_DATA; paths <= BOTH; paths++) {
        ftree_time silence = (ftree_time) patience[_i].silence * FTREE_MS;
        ck_assert_int_ge(survives(silence, (enum paths) paths, 50),
                         patience[_i].survives[paths] - 25);
        ck_assert_int_le(found_after(silence, (enum paths) paths), patience[_i].found[paths]);
    }
}

/* A network that was once silent for so long may be again: then the whole window is waited for. */
TEST_CASE(who_has_outlived_a_silence_waits_longer)
{
    struct world *w = new_world(NULL, BOTH, NODES, 1);
    ftree_time lost;

    hush(w, 2, BOTH, true);
    world_all_wait(w, 2, 2);
    world_run(w, 1400 * FTREE_MS);
    hush(w, 2, BOTH, false);
    world_run(w, 600 * FTREE_MS);
    ck_assert_int_eq(w->reports, 0);
    for (int32_t r = 0; r < w->job.size; r++)
        world_go_on(w, r);
    world_run(w, 5 * SECOND);
    lost = w->now;
    w->node[2].off = true;
    world_all_wait(w, 2, 2);
    ck_assert(world_run_until_reports(w, 1, 20 * SECOND));
    ck_assert_uint_ge(w->reported_at[0], lost + 1900 * FTREE_MS);
    world_free(w);
}

/* ---- a path that is slow ----------------------------------------------------------------------- */

/* Who sees that data come through to node 2, over data, until when. */
static struct {
    int32_t node, asked;
    ftree_time until, rtt;
} data_come;

static bool come_through(void *ctx, int32_t node, enum ftree_path path, ftree_time within,
                         ftree_time rtt)
{
    int32_t rank;
    const struct world *w = world_at(ctx, 0, &rank);

    return path == FTREE_PATH_DATA && node == data_come.asked && rtt <= data_come.rtt &&
           w->rank_node[rank] == data_come.node && w->now < data_come.until + within;
}

static struct world *new_slow_world(enum paths paths, int32_t node, int32_t asked)
{
    struct world *w = new_world(NULL, paths, NODES, 1);

    w->io.delivers = come_through;
    data_come.node = node;
    data_come.asked = asked;
    data_come.until = w->now + 20 * SECOND;
    data_come.rtt = asked == FTREE_NONE ? SECOND / 2 : 0;
    hush(w, 2, DATA_OF_BOTH, true);
    world_all_wait(w, 2, 2);
    return w;
}

/* The node that asks sees it, one that it has ask, or node 2 itself, which says so over management;
 * or it is the one that asks that is slow. */
static const struct {
    enum paths paths;
    int32_t node, asked;
} sees[] = {{BOTH, 0, 2},          {BOTH, 1, 2},          {BOTH, 3, 2},
            {BOTH, 2, FTREE_NONE}, {BOTH, 0, FTREE_NONE}, {ONLY_DATA, 0, FTREE_NONE},
            {ONLY_DATA, 0, 2},     {ONLY_DATA, 1, 2},     {ONLY_DATA, 3, 2}};

TEST_CASES(a_path_that_delivers_is_not_silent, COUNT(sees))
{
    struct world *w = new_slow_world(sees[_i].paths, sees[_i].node, sees[_i].asked);
    struct ftree_verdict v;

    world_run(w, 19 * SECOND);
    ck_assert_int_eq(w->reports, 0);
    hush(w, 2, DATA_OF_BOTH, false);
    world_run(w, 19 * SECOND);
    for (int32_t n = 0; n < NODES; n++)
        ck_assert(!ftree_verdict_at(w->node[n].ft, 0, &v));
    world_free(w);
}

/* What came when the wait began is no delivery: who is asked about before the stall limit is not
 * accused later for it. */
TEST_CASES(data_that_came_as_the_wait_began_do_not_count, COUNT(sees))
{
    struct world *w = new_slow_world(sees[_i].paths, sees[_i].node, sees[_i].asked);
    ftree_time began = w->now - SECOND;

    data_come.until = began + 50 * FTREE_MS;
    ck_assert(world_run_until_reports(w, 1, 12 * SECOND));
    world_free(w);
}

TEST_CASES(once_it_delivers_no_more_it_is, COUNT(sees))
{
    struct world *w = new_slow_world(sees[_i].paths, sees[_i].node, sees[_i].asked);

    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 0);
    ck_assert(world_run_until_reports(w, 1, 12 * SECOND));
    ck_assert_int_eq(w->report[0].node, 2);
    world_free(w);
}

/* All connections wait for their retransmission timeouts. */
TEST_CASES(a_slow_path_may_deliver_nothing_for_seconds, COUNT(sees))
{
    struct world *w = new_slow_world(sees[_i].paths, sees[_i].node, sees[_i].asked);

    for (int i = 0; i < 4; i++) {
        data_come.until = w->now + 4 * SECOND;
        world_run(w, 12 * SECOND);
        ck_assert_int_eq(w->reports, 0);
    }
    world_free(w);
}

/* Between two silences it answers, and is well. */
TEST_CASES(a_path_that_was_slow_a_moment_ago_may_deliver_nothing, COUNT(sees))
{
    struct world *w = new_slow_world(sees[_i].paths, sees[_i].node, sees[_i].asked);

    data_come.until = w->now + 5 * SECOND;
    world_run(w, 5 * SECOND);
    hush(w, 2, DATA_OF_BOTH, false);
    world_run(w, SECOND);
    hush(w, 2, DATA_OF_BOTH, true);
    world_run(w, 6 * SECOND);
    ck_assert_int_eq(w->reports, 0);
    ck_assert(world_run_until_reports(w, 1, 12 * SECOND));
    world_free(w);
}

/* It is silent from here only: that it delivers to others is no news, where that is not slow. */
TEST_CASE(a_broken_link_is_found_though_others_get_data)
{
    struct world *w = new_slow_world(BOTH, 2, FTREE_NONE);

    data_come.rtt = 10 * FTREE_MS;
    hush(w, 2, DATA_OF_BOTH, false);
    w->is_cut = true;
    w->cut[1] = 2;
    w->cut_path = FTREE_PATH_DATA;
    ck_assert(world_run_until_reports(w, 1, 4 * SECOND));
    ck_assert_str_eq(w->report[0].rule, "unknown/silent-from-here-only");
    world_free(w);
}

/* ---- real faults ----------------------------------------------------------------------------- */

TEST_CASES(a_node_that_is_lost_in_a_silence_is_found, 41)
{
    for (int paths = ONLY_DATA; paths <= BOTH; paths++) {
        struct world *w = new_world(NULL, (enum paths) paths, NODES, 1);
        int32_t outages = 0;
        w->node[2].off = true;
        world_all_wait(w, 2, 2);
        hush_all(w, BOTH, true);
        world_run(w, (ftree_time) (2 * _i * STEP) * FTREE_MS);
        hush_all(w, BOTH, false);
        world_run(w, 15 * SECOND);
        for (int32_t i = 0; i < w->reports; i++) {
            outages += w->report[i].class_ == FTREE_CLASS_NODE_OUTAGE;
            ck_assert(w->report[i].class_ == FTREE_CLASS_UNKNOWN || w->report[i].node == 2);
        }
        ck_assert_int_eq(outages, 1);
        world_free(w);
    }
}

/* An examination ends, however late witnesses speak. */
TEST_CASE(an_examination_is_bounded)
{
    struct world *w = new_world(NULL, BOTH, NODES, 1);
    ftree_time begin;

    w->node[2].off = true;
    world_wait(w, 0, 2);
    world_run(w, 1001 * FTREE_MS);
    begin = w->now;
    while (ftree_is_asking(w->node[0].ft) && w->now < begin + 10 * SECOND) {
        struct suspect *su = ftree_suspect(w->node[0].ft, 2);
        for (int path = 0; su && path < FTREE_PATHS; path++)
            su->works[path] = (struct works){.from = w->now, .heard = w->now};
        world_run(w, 10 * FTREE_MS);
    }
    ck_assert(!ftree_is_asking(w->node[0].ft));
    ck_assert_uint_le(w->now - begin, 2 * w->cfg.silence);
}
