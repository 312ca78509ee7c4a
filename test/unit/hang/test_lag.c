/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"

#include "ftree/hang/lag.h"

#include <string.h>

#define ALPHA 0.001

/* ---- one rank -------------------------------------------------------------------------------- */

static const struct {
    const char *what;
    struct {
        int32_t blocks, outside; /* of 32 samples, four blocks */
    } run[4]; /* newest first; and so many it goes on, where it is never outside */
    enum { NO, MAY, HAS } lost; /* MAY: by the square root of alpha */
} histories[] = {
    {"most of it", {{2, 4}, {10, 20}}, MAY},
    {"all of it", {{2, 0}, {4, 16}}, MAY},
    {"more than half of the time", {{2, 0}, {4, 20}}, HAS},
    {"it is over", {{2, 20}, {2, 0}, {8, 20}}, NO},
    {"half in eight blocks", {{8, 10}, {16, 20}}, HAS},
    {"one block alone", {{1, 4}, {11, 20}}, NO},
    {"no history yet", {{2, 0}, {2, 20}}, NO},
    {"nothing at all", {{0}}, NO},
    {"there were such blocks before", {{2, 4}, {2, 20}, {2, 4}, {4, 20}}, NO},
    {"too rare to tell", {{2, 0}, {10, 4}}, NO},
    {"half in four blocks", {{4, 10}, {8, 20}}, MAY},
    {"in two of them that is chance", {{2, 10}, {10, 20}}, NO},
    {"less in eight blocks, in four of them that is chance", {{8, 12}, {16, 20}}, MAY},
    {"that for four", {{4, 12}, {12, 20}}, NO},
    {"less in 32 blocks, in 16 of them that is chance", {{32, 17}, {64, 20}}, MAY},
    {"that for 16", {{16, 17}, {80, 20}}, NO},
    {"four blocks after one such window", {{4, 10}, {4, 20}}, NO},
    {"chance", {{2, 18}, {10, 20}}, NO},
    {"it waits less", {{2, 30}, {10, 20}}, NO},
    {"a tenth is less than that, and no more than chance", {{2, 29}, {8, 32}}, NO},
    {"always outside before", {{2, 22}, {8, 32}}, MAY},
    {"never outside", {{12, 0}}, NO},
};

/* Returns how many blocks there are.  goes_on: it is what is counted, and else the rank always does. */
static int32_t history(int row, bool goes_on, struct ftree_block *block)
{
    int32_t n = 0;

    for (size_t r = 0; r < COUNT(histories[row].run); r++)
        for (int32_t k = 0; k < histories[row].run[r].blocks; k++) {
            int32_t outside = histories[row].run[r].outside;
            uint8_t count = (uint8_t) (outside * (k % 4 + 1) / 4 - outside * (k % 4) / 4);
            block[n++] = goes_on ? (struct ftree_block){.goes_on = count}
                                 : (struct ftree_block){count, FTREE_BLOCK_SAMPLES, 0};
        }
    return n;
}

TEST_CASES(a_rank_has_lost_what_its_own_history_cannot_explain, 2 * COUNT(histories))
{
    struct ftree_block block[FTREE_BLOCKS_MAX];
    int row = _i % COUNT(histories);
    int32_t n = history(row, _i != row, block);
    bool may = histories[row].lost != NO;
    struct ftree_lag l;

    ftree_lag_read(block, n, ALPHA, &l);
    if (ftree_lag_may_have_lost(block, n, ALPHA) != may ||
        l.has_lost != (histories[row].lost == HAS))
        ck_abort_msg("%s", histories[row].what);
}

/* With an alpha so small that nothing is that improbable nothing is lost. */
TEST_CASE(alpha_decides)
{
    struct ftree_block block[FTREE_BLOCKS_MAX];
    int32_t n = history(0, false, block);
    struct ftree_lag l;

    ftree_lag_read(block, n, 0.01, &l);
    ck_assert(l.has_lost);
    ck_assert(!ftree_lag_may_have_lost(block, n, 1e-9));
}

static const struct {
    uint8_t block[12];
    int32_t n;
    uint16_t now, before;
} windows[] = {
    {{4, 5, 6, 6, 8, 0}, 6, 562, 625}, /* nothing is lost: two blocks */
    {{0, 2, 6, 6, 8, 8}, 6, 125, 875},
    {{2, 3, 2, 3, 5, 5, 5, 5, 5, 5, 5, 5}, 12, 312, 625}, /* lost in four */
    {{0, 2, 6, 6, 8}, 5, LAG_UNKNOWN, LAG_UNKNOWN},
};

TEST_CASES(shares_are_of_the_window_in_which_it_has_lost_and_of_what_was_before, COUNT(windows))
{
    struct ftree_block block[COUNT(windows[0].block)];
    struct ftree_lag l;

    for (int i = 0; i < COUNT(block); i++)
        block[i] = (struct ftree_block){windows[_i].block[i], FTREE_BLOCK_SAMPLES, 0};
    ftree_lag_read(block, windows[_i].n, ALPHA, &l);
    ck_assert_int_eq(l.now, windows[_i].now);
    ck_assert_int_eq(l.before, windows[_i].before);
}

static const struct {
    uint8_t before[7], now; /* newest first; percent */
    int32_t n;
    bool waits;
} waits[] = {
    {{0, 0, 0, 0, 0, 0, 0}, 25, 8, true}, /* as one whose quota is used up does, and one in two */
    {{0, 0, 0, 0, 0, 0, 0}, 24, 8, false},
    {{40, 60, 40, 60, 40, 60, 50}, 75, 8, true}, /* on a machine with more ranks than cores */
    {{40, 60, 40, 60, 40, 60, 50}, 74, 8, false},
    {{90, 90, 90, 90, 90, 0, 0}, 90, 8, true}, /* still */
    {{90, 90, 90, 90, 90, 90, 0}, 90, 8, false}, /* it is asked about no more */
    {{0, 0, 0, 0}, 90, 5, false}, /* no history yet */
    {{0}, 90, 0, false},
};

TEST_CASES(a_rank_waits_more_for_a_cpu_than_before, COUNT(waits))
{
    struct ftree_block block[8] = {{.waits = waits[_i].now}};

    for (int i = 0; i < 7; i++)
        block[i + 1].waits = waits[_i].before[i];
    ck_assert_int_eq(ftree_lag_waits_more(block, waits[_i].n), waits[_i].waits);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* One that waits for others. */
static struct ftree_lag waiting(int32_t rank)
{
    return (struct ftree_lag){.rank = rank,
                              .before = 600,
                              .now = 200,
                              .measured = true,
                              .wants = 900,
                              .gets = 990,
                              .beside = FTREE_NONE,
                              .clock = 990};
}

static struct ftree_lag slow(int32_t rank)
{
    struct ftree_lag l = waiting(rank);

    l.now = 950;
    return l;
}

static void throttled(struct ftree_lag *l)
{
    l->wants = 990;
    l->gets = 30;
    l->throttled = 980;
}

static void bound(struct ftree_lag *l)
{
    l->gets = 500;
    l->beside = 7;
}

static void preempted(struct ftree_lag *l)
{
    l->gets = 500;
    l->throttled = 99;
}

static void stolen(struct ftree_lag *l)
{
    l->stolen = 300;
}

static void pages(struct ftree_lag *l)
{
    l->wants = 40;
    l->gets = 100; /* of next to nothing */
    l->faults = 500;
}

static void stalled(struct ftree_lag *l)
{
    l->stall = 500;
}

static void cool(struct ftree_lag *l)
{
    l->clock = 400;
}

static const struct {
    void (*slows)(struct ftree_lag *l);
    uint8_t cause;
    int32_t slowed;
} causes[] = {{throttled, LAG_QUOTA, 97},     {bound, LAG_SHARED_CORE, 50},
              {preempted, LAG_PREEMPTED, 50}, {stolen, LAG_STOLEN, 30},
              {pages, LAG_PAGING, 50},        {stalled, LAG_PAGING, 50},
              {cool, LAG_SLOW_CLOCK, 60}};

static struct lag_answer answer(int32_t ranks, const struct ftree_lag *l)
{
    struct lag_answer a = {0};

    for (int32_t i = 0; i < ranks; i++) {
        struct ftree_lag other = waiting(i);
        ftree_lag_add(&a, i == l->rank ? l : &other);
    }
    return a;
}

static void find_clear(const struct lag_answer *a, struct lag_finding *f)
{
    int32_t n = 0;

    ftree_lag_judge(a, f);
    for (int32_t i = 0; i < f->n; i++)
        if (f->found[i].is_clear)
            f->found[n++] = f->found[i];
    f->n = n;
}

TEST_CASES(the_rank_and_what_slows_it_are_found, COUNT(causes))
{
    struct ftree_lag l = slow(5);
    struct lag_finding f;
    struct lag_answer a;

    causes[_i].slows(&l);
    for (int32_t ranks = 6; ranks <= 600; ranks *= 10) {
        a = answer(ranks, &l);
        find_clear(&a, &f);
        ck_assert_int_eq(f.n, 1);
        ck_assert_int_eq(f.found[0].lag.rank, 5);
        ck_assert_int_eq(f.found[0].cause, causes[_i].cause);
        ck_assert_int_ge(f.found[0].slowed, causes[_i].slowed - 1);
        ck_assert_int_le(f.found[0].slowed, causes[_i].slowed);
        ck_assert_int_eq(f.before, 600);
        ck_assert_int_eq(f.now, 200);
        ck_assert_int_eq(f.lost, 67);
        ck_assert_int_eq(f.gets, 990);
    }
}

static void not_hindered(struct ftree_lag *l)
{
    (void) l;
}

/* It is hindered, and others are not waiting for it. */
static void waits_itself(struct ftree_lag *l)
{
    throttled(l);
    l->now = 200;
}

static void is_there_as_seldom_as_before(struct ftree_lag *l)
{
    throttled(l);
    l->now = 440;
}

static void not_measured(struct ftree_lag *l)
{
    throttled(l);
    l->measured = false;
}

static void no_history(struct ftree_lag *l)
{
    throttled(l);
    l->before = l->now = LAG_UNKNOWN;
}

static void a_little(struct ftree_lag *l)
{
    l->gets = 650;
}

static void a_little_less(struct ftree_lag *l)
{
    l->gets = 720;
    l->throttled = 980;
}

static void its_core_sleeps(struct ftree_lag *l)
{
    cool(l);
    l->wants = 400;
}

static void (*const harmless[])(struct ftree_lag *l) = {
    not_hindered,  waits_itself,   is_there_as_seldom_as_before, not_measured, no_history, a_little,
    a_little_less, its_core_sleeps};

TEST_CASES(nobody_is_found, COUNT(harmless))
{
    struct ftree_lag l = slow(5);
    struct lag_finding f;
    struct lag_answer a;

    harmless[_i](&l);
    a = answer(12, &l);
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, 0);
}

/* Where steps are long the others are outside MPI for most of the time, also if it takes longer. */
TEST_CASES(who_waits_half_as_much_as_the_others_is_waited_for, 5)
{
    static const struct {
        uint16_t own, others;
        int32_t found;
    } rows[] = {{1000, 700, 1}, {960, 800, 1}, {900, 830, 0}, {600, 300, 1}, {600, 500, 0}};
    struct ftree_lag l = slow(5);
    struct lag_answer a = {0};
    struct lag_finding f;

    bound(&l);
    l.before = l.now = rows[_i].own;
    for (int32_t i = 0; i < 12; i++) {
        struct ftree_lag other = waiting(i);
        other.before = 970;
        other.now = rows[_i].others;
        ftree_lag_add(&a, i == 5 ? &l : &other);
    }
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, rows[_i].found);
}

/* Others that sleep for most of the time do not get at once what they want when they wake up, as on a
 * machine with more ranks than cores.  rows: of 4 ranks, of 16 */
TEST_CASES(two_that_share_a_core_lose_more_time_than_those_that_wake_up_now_and_then, 2)
{
    struct lag_answer a = {0};
    struct lag_finding f;

    for (int32_t i = 0; i < (_i ? 16 : 4); i++) {
        struct ftree_lag l = i < 2 ? slow(i) : waiting(i);
        l.wants = i < 2 ? 1000 : 60;
        l.gets = i < 2 ? 500 : 130;
        l.beside = i < 2 ? 1 - i : FTREE_NONE;
        ftree_lag_add(&a, &l);
    }
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, 2);
    for (int32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(f.found[i].lag.rank, i);
        ck_assert_int_eq(f.found[i].cause, LAG_SHARED_CORE);
        ck_assert_int_eq(f.found[i].slowed, 44);
    }
}

/* The others sleep, so what they would get of a CPU is not known: all nodes may be as busy as this one.
 * rows: others run on its core; its quota explains it */
TEST_CASES(who_alone_computes_is_not_compared, 2)
{
    struct ftree_lag l = slow(5);
    struct lag_answer a = {0};
    struct lag_finding f;

    (_i ? throttled : preempted)(&l);
    for (int32_t i = 0; i < 12; i++) {
        struct ftree_lag other = waiting(i);
        other.wants = 20;
        ftree_lag_add(&a, i == 5 ? &l : &other);
    }
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, _i);
}

/* As on a machine with more ranks than cores. */
TEST_CASE(what_hinders_all_hinders_nobody)
{
    struct lag_answer a = {0};
    struct lag_finding f;

    for (int32_t i = 0; i < 16; i++) {
        struct ftree_lag l = waiting(i);
        l.gets = (uint16_t) (90 + 4 * i);
        l.stall = 600;
        l.clock = 300;
        l.faults = 300;
        l.now = i == 3 ? 900 : 200;
        ftree_lag_add(&a, &l);
    }
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, 0);
}

TEST_CASES(who_has_less_where_all_starve_may_have_it_by_chance, 2)
{
    struct lag_answer a = {0};
    struct lag_finding f;

    for (int32_t i = 0; i < 6; i++) {
        struct ftree_lag l = i == 5 ? slow(i) : waiting(i);
        l.gets = i == 5 ? 190 : 400;
        l.throttled = i == 5 && _i ? 980 : 0;
        ftree_lag_add(&a, &l);
    }
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, _i);
}

TEST_CASE(several_are_found_but_no_more_than_half)
{
    struct lag_finding f;

    for (int32_t n = 2; n <= 6; n++) {
        struct lag_answer a = {0};
        for (int32_t i = 0; i < 8; i++) {
            struct ftree_lag l = i < n ? slow(i) : waiting(i);
            if (i < n)
                throttled(&l);
            ftree_lag_add(&a, &l);
        }
        find_clear(&a, &f);
        ck_assert_int_eq(f.n, n <= 4 ? n : 0);
    }
}

/* A node that is slow as a whole: its 64 ranks come at the same time as all others, and a healthy
 * one has no place in the answer. */
TEST_CASE(all_ranks_of_a_node_are_found)
{
    struct lag_answer all = {0};
    struct lag_finding f;

    for (int32_t node = 0; node < 4; node++) {
        struct lag_answer a = {0};
        for (int32_t i = 64 * node; i < 64 * (node + 1); i++) {
            struct ftree_lag l = node == 2 ? slow(i) : waiting(i);
            if (node == 2)
                cool(&l);
            ftree_lag_add(&a, &l);
        }
        ftree_lag_merge(&all, &a);
    }
    ck_assert_int_eq(all.n, 64);
    find_clear(&all, &f);
    ck_assert_int_eq(f.n, 64);
    for (int32_t i = 0; i < f.n; i++)
        ck_assert_int_eq(f.found[i].lag.rank, 128 + i);
}

/* Half of the job: they are not compared with each other. */
TEST_CASE(a_node_of_two_whose_cores_are_stolen_is_found)
{
    struct lag_answer a = {0};
    struct lag_finding f;

    for (int32_t i = 0; i < 8; i++) {
        struct ftree_lag l = i < 4 ? slow(i) : waiting(i);
        l.stolen = i < 4 ? 300 : 20;
        ftree_lag_add(&a, &l);
    }
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, 4);
    for (int32_t i = 0; i < f.n; i++)
        ck_assert_int_eq(f.found[i].cause, LAG_STOLEN);
}

/* Of more there is no room for, those hindered most are kept, in whatever order they come. */
TEST_CASE(the_most_hindered_have_the_places)
{
    struct lag_answer a = {0};

    for (int32_t i = 0; i < 2 * LAG_RANKS_MAX; i++) {
        int32_t rank = i % 2 ? i / 2 : 2 * LAG_RANKS_MAX - 1 - i / 2;
        struct ftree_lag l = slow(rank);
        l.wants = 1000;
        l.gets = (uint16_t) (800 - rank);
        ftree_lag_add(&a, &l);
    }
    ck_assert_int_eq(a.n, LAG_RANKS_MAX);
    for (int32_t i = 0; i < a.n; i++)
        ck_assert_int_eq(a.lag[i].rank, 2 * LAG_RANKS_MAX - 1 - i);
}

/* Two that share a core have the same of it, and the others hardly want one.  Who wants it for a
 * moment now and then, and waits for that, is not hindered. */
TEST_CASES(who_is_hindered_is_compared_with_those_who_are_not, 2)
{
    static const uint16_t wants[] = {100, 40};
    struct lag_answer a = {0};
    struct lag_finding f;

    for (int32_t i = 0; i < 4; i++) {
        struct ftree_lag l = i < 2 ? slow(i) : waiting(i);
        if (i < 2) {
            bound(&l);
        } else {
            l.wants = wants[_i];
            l.gets = (uint16_t) (9 * wants[_i]);
        }
        ftree_lag_add(&a, &l);
    }
    find_clear(&a, &f);
    ck_assert_int_eq(f.n, 2);
    ck_assert_int_eq(f.found[1].cause, LAG_SHARED_CORE);
}

static void gets_less(struct ftree_lag *l, int32_t percent)
{
    l->gets = (uint16_t) (1000 - 10 * percent);
}

static void is_stolen_from(struct ftree_lag *l, int32_t percent)
{
    l->stolen = (uint16_t) (5 * percent);
}

static void is_short_of_memory(struct ftree_lag *l, int32_t percent)
{
    l->stall = (uint16_t) (10 * percent);
}

static void reads_pages(struct ftree_lag *l, int32_t percent)
{
    l->faults = (uint32_t) (5 * percent / 2);
}

static void (*const by[])(struct ftree_lag *l, int32_t percent) = {gets_less, is_stolen_from,
                                                                   is_short_of_memory, reads_pages};

/* One that was found is still slow where it would not be found: at half of the bound. */
TEST_CASES(less_suffices_for_one_that_was_found, COUNT(by))
{
    static const struct {
        int32_t percent;
        bool found, again;
    } rows[] = {{44, true, true}, {25, false, true}, {16, false, false}};
    struct lag_finding f;
    struct lag_answer a;

    for (int i = 0; i < COUNT(rows); i++) {
        struct ftree_lag l = slow(5);
        l.gets = 1000;
        by[_i](&l, rows[i].percent);
        a = answer(12, &l);
        find_clear(&a, &f);
        ck_assert_int_eq(f.n, rows[i].found);
        l.now = 260;
        a = answer(12, &l);
        ftree_lag_judge(&a, &f);
        ck_assert_int_eq(f.n, rows[i].again);
    }
}

/* Others become slow, too. */
TEST_CASE(how_many_they_are_does_not_matter_for_one_that_was_found)
{
    struct lag_answer a = {0};
    struct lag_finding f;

    for (int32_t i = 0; i < 4; i++) {
        struct ftree_lag l = i < 3 ? slow(i) : waiting(i);
        l.gets = i == 0 ? 400 : i < 3 ? 500 : 1000;
        ftree_lag_add(&a, &l);
    }
    ftree_lag_judge(&a, &f);
    ck_assert_int_eq(f.n, 3);
}

/* Of eight ranks.  Where its cause is no chance, and new, it is enough what all lose. */
TEST_CASES(a_quarter_of_all_ranks_must_have_lost_time, 2 * COUNT(causes))
{
    bool is_known = causes[_i / 2].cause == LAG_QUOTA || causes[_i / 2].cause == LAG_SHARED_CORE;
    struct ftree_lag l = slow(5);
    struct lag_finding f;
    struct lag_answer a;

    causes[_i / 2].slows(&l);
    l.waits_more = _i % 2;
    a = answer(8, &l);
    for (int32_t lost = 14; lost <= 15; lost++) {
        a.now = l.now + 7 * (600 - 6 * lost);
        for (a.lost = 0; a.lost <= 3; a.lost++) {
            find_clear(&a, &f);
            ck_assert_int_eq(f.n, 1);
            ck_assert_int_eq(f.lost, lost);
            ck_assert_int_eq(f.found[0].is_sure, a.lost >= 2 || (is_known && l.waits_more && lost == 15));
        }
    }
}

/* In whatever order nodes answer. */
TEST_CASES(answers_of_nodes_add_up, 7)
{
    struct lag_answer all = {0}, parts[7] = {0}, sum = {0};

    for (int32_t i = 0; i < 998; i++) {
        struct ftree_lag l = waiting(i);
        l.wants = 1000;
        l.gets = (uint16_t) (i * 37 % 998);
        l.has_lost = i % 2;
        ftree_lag_add(&all, &l);
        ftree_lag_add(&parts[i % 7], &l);
    }
    for (int32_t i = 0; i < 7; i++)
        ftree_lag_merge(&sum, &parts[(i + _i) % 7]);
    ck_assert_int_eq(sum.n, LAG_RANKS_MAX);
    ck_assert_int_eq(all.n, LAG_RANKS_MAX);
    ck_assert_int_eq(sum.ranks, 998);
    ck_assert_int_eq(sum.lost, 499);
    ck_assert_int_eq(sum.runs, all.runs);
    ck_assert_int_eq(sum.clock, all.clock);
    for (int32_t i = 0; i < LAG_RANKS_MAX; i++) {
        ck_assert_int_eq(sum.lag[i].rank, all.lag[i].rank);
        ck_assert_int_eq(sum.lag[i].gets, i);
    }
}
