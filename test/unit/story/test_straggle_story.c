/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "world.h"

#include "ftree_int.h"

#include <string.h>

/* Whole stories: a job that has run for some minutes, and a rank that becomes slow. */

#define SECOND (1000 * FTREE_MS)
#define RANKS 16
#define RANKS_MAX 800
#define BLOCK (FTREE_BLOCK_SAMPLES * 400 * FTREE_MS) /* 3.2 s */

static struct story {
    struct world *w;
    ftree_time next; /* end of a block */
    int32_t ranks;
    struct ftree_block block[RANKS_MAX][FTREE_BLOCKS_MAX];
    bool is_served; /* all but rank 6, for which they wait, are hardly ever outside MPI */
    bool slow[RANKS_MAX];
    bool varies; /* how much it slows them, by rank and from question to question */
    bool waits; /* they wait for a CPU, and the others are nearly as often outside MPI as before */
    int late; /* in so many blocks that does not show yet */
    int32_t steady; /* of these one waited as much before, and is slowed most */
    int32_t least; /* and one is slowed half as much as a verdict needs */
    int32_t idle; /* and one waits in MPI like the others, and is slowed by others than these */
    bool is_slow_program; /* it waits as if, and nothing slows any rank */
    bool apart; /* the blocks of nodes end at different times */
    bool always; /* they were slow from the start, and all others are as they were, */
    int dip; /* but in so many blocks, by chance */
    struct ftree_lag by; /* what slows them */
    int looked, homes;
    ftree_time home_until; /* they are about to answer until then */
    ftree_time measured[RANKS_MAX];
} story;

static int32_t blocks(void *ctx, int32_t i, struct ftree_block *block, int32_t n)
{
    int32_t rank;

    world_at(ctx, i, &rank);
    memcpy(block, story.block[rank], (size_t) n * sizeof(*block));
    return n;
}

static void lag(void *ctx, int32_t i, struct ftree_lag *l)
{
    int32_t rank;
    struct world *w = world_at(ctx, i, &rank);

    story.looked++;
    if (story.measured[rank] && w->now - story.measured[rank] < 800 * FTREE_MS)
        return; /* too soon to measure */
    l->measured = story.measured[rank] && w->now - story.measured[rank] < 25 * SECOND;
    story.measured[rank] = w->now;
    l->wants = 900;
    l->gets = 1000;
    l->clock = 1000;
    if (!story.slow[rank])
        return;
    l->gets = story.varies ? (uint16_t) (500 + (89 * rank + story.looked) % 190) : story.by.gets;
    l->gets /= rank == story.steady ? 2 : 1;
    l->gets = rank == story.least ? 750 : l->gets;
    l->throttled = rank == story.idle ? 0 : story.by.throttled;
    l->stolen = story.by.stolen;
    l->stall = story.by.stall;
    l->faults = story.by.faults;
    l->clock = story.by.clock;
    l->beside = story.by.beside;
}

static bool any_slow(void)
{
    for (int32_t i = 0; i < story.ranks; i++)
        if (story.slow[i])
            return true;
    return story.is_slow_program;
}

static uint8_t outside_of(int32_t rank)
{
    if (story.waits && any_slow() && story.late > 0)
        return 5;
    if (story.waits && any_slow())
        return story.slow[rank] ? 7 : 4;
    if (story.always)
        return story.slow[rank] ? 7 : story.dip > 0 ? 1 : 5;
    return !any_slow() ? 5 : story.slow[rank] && rank != story.idle ? 7 : 1;
}

static struct ftree_block block_of(int32_t rank)
{
    if (story.is_served && rank != 6)
        return (struct ftree_block){!any_slow(), any_slow() ? 1 : 7, 0};
    return (struct ftree_block){story.is_served ? FTREE_BLOCK_SAMPLES : outside_of(rank),
                                FTREE_BLOCK_SAMPLES,
                                story.waits && story.slow[rank] && rank != story.steady ? 90 : 0};
}

static void end_block(void)
{
    for (int32_t i = 0; i < story.ranks; i++) {
        memmove(story.block[i] + 1, story.block[i],
                (FTREE_BLOCKS_MAX - 1) * sizeof(story.block[i][0]));
        story.block[i][0] = block_of(i);
    }
    story.dip -= story.dip > 0;
    story.late -= story.late > 0 && any_slow();
    for (int32_t n = 0; n < story.w->job.nodes; n++) {
        ftree_block_over(story.w->node[n].ft, story.w->now);
        if (story.apart)
            world_run(story.w, BLOCK / story.w->job.nodes);
    }
}

/* Of four blocks, 12.8 s. */
static void run_periods(int n)
{
    for (int i = 0; i < 4 * n; i++) {
        if (!story.apart)
            world_run(story.w, BLOCK);
        end_block();
    }
}

/* As if all blocks had been like the present one. */
static void fill_blocks(void)
{
    for (int32_t i = 0; i < story.ranks; i++)
        for (int32_t k = 0; k < FTREE_BLOCKS_MAX; k++)
            story.block[i][k] = block_of(i);
}

static struct world *begin_of(int32_t nodes, int32_t ranks)
{
    struct world *w = world_new(nodes, ranks / nodes, 2);

    w->io.blocks = blocks;
    w->io.lag = lag;
    story = (struct story){
        .w = w,
        .ranks = ranks,
        .steady = FTREE_NONE,
        .least = FTREE_NONE,
        .idle = FTREE_NONE,
        .by = {.gets = 40, .throttled = 950, .clock = 1000, .beside = FTREE_NONE}};
    fill_blocks();
    return w;
}

static struct world *begin(int32_t nodes)
{
    return begin_of(nodes, RANKS);
}

static const int32_t nodes_of[] = {1, 4, 16};

TEST_CASES(the_rank_that_others_wait_for_is_named, COUNT(nodes_of))
{
    struct world *w = begin(nodes_of[_i]);
    const struct ftree_verdict *v = &w->report[0];

    run_periods(3);
    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(v->class_, FTREE_CLASS_STRAGGLER);
    ck_assert_int_eq(v->kind, FTREE_KIND_RANK);
    ck_assert_str_eq(v->rule, "straggler/quota");
    ck_assert_int_eq(v->rank, 6);
    ck_assert_int_eq(v->component.count, 0);
    ck_assert(!ftree_verdict_ends_job(v));
    ck_assert_int_eq(v->evidences, 3);
    ck_assert_int_eq(v->evidence[0].source, FTREE_EVIDENCE_SAMPLE);
    ck_assert_str_eq(v->evidence[0].detail,
                     "other ranks computed 62 % of the time before, 12 % now (80 % lost)");
    ck_assert_int_eq(v->statistics.lost.percent, 80);
    ck_assert_int_eq(v->statistics.lost.before, 625);
    ck_assert_int_eq(v->statistics.lost.now, 125);
    ck_assert_str_eq(v->evidence[1].detail, "rank 6 outside MPI 62 % of the time before, 87 % now; "
                                            "got 4 % of the CPU it wanted, others 100 %");
    ck_assert_int_eq(v->evidence[2].source, FTREE_EVIDENCE_STATE);
    ck_assert_str_eq(v->evidence[2].detail,
                     "rank 6: its cgroup's quota of CPU time used up in 95 % of the periods");
    for (int32_t n = 0; n < w->job.nodes; n++)
        ck_assert_int_eq(w->verdicts_on[n], 1);
    run_periods(40);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
}

static bool ask_handlers(void *ctx, int32_t node)
{
    int32_t rank;
    struct world *w = world_at(ctx, 0, &rank);

    ck_assert_int_eq(node, w->rank_node[6]);
    ck_assert_int_eq(node, w->rank_node[rank]);
    story.homes++;
    return w->now < story.home_until;
}

/* What its kernel says may be why; the others' is of no use. */
TEST_CASE(its_node_alone_is_asked_how_it_is)
{
    struct world *w = begin(16);

    w->io.handlers = ask_handlers;
    run_periods(3);
    ck_assert_int_eq(story.homes, 0);
    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_ge(story.homes, 1);
}

/* Which the acting root learns, though the node is not next to it, and waits for. */
TEST_CASE(what_its_gpu_says_is_the_cause)
{
    struct world *w = begin(16);
    struct ftree_symptom s;

    w->io.handlers = ask_handlers;
    run_periods(3);
    story.slow[6] = true;
    story.home_until = FTREE_NEVER;
    run_periods(1);
    for (int i = 0; i < 100 && story.homes < 5; i++)
        world_run(w, SECOND / 10);
    ck_assert_int_ge(story.homes, 5); /* else there were a verdict */
    ck_assert_int_eq(w->reports, 0);
    ftree_symptom_init(&s, FTREE_SYMPTOM_GPU_SLOW, 6, FTREE_NONE, 6, w->now, w->now);
    strcpy(s.detail, "GPU 0: heat");
    ck_assert_int_eq(ftree_symptom(w->node[6].ft, w->now, &s), FTREE_OK);
    story.home_until = w->now;
    ck_assert(world_run_until_reports(w, 1, 5 * SECOND));
    ck_assert_str_eq(w->report[0].rule, "straggler/quota");
    ck_assert_int_eq(w->report[0].evidence[0].source, FTREE_EVIDENCE_CAUSE);
    ck_assert_str_eq(w->report[0].evidence[0].detail, "gpu-slow: GPU 0: heat");
    ck_assert_int_eq(w->report[0].ticket, FTREE_TICKET_NODE);
}

/* The others lose too little for a test of each, and its node is no observer. */
TEST_CASE(its_own_node_asks_where_a_rank_waits_for_a_cpu)
{
    struct world *w = begin(16);

    story.waits = true;
    run_periods(3);
    ck_assert_int_eq(story.looked, 0);
    story.slow[7] = true;
    run_periods(2);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].rank, 7);
    ck_assert_str_eq(w->report[0].rule, "straggler/quota");
    ck_assert_int_le(story.looked, 6 * RANKS);
}

TEST_CASE(one_that_waits_more_is_enough_of_its_node)
{
    struct world *w = begin(4);

    story.waits = true;
    story.steady = 6;
    run_periods(3);
    story.slow[6] = story.slow[7] = true;
    run_periods(2);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].component.count, 2);
}

/* The root asks again at once, and not after a pause.  rows: so many blocks later; never, and then
 * the questions end */
TEST_CASES(what_a_wait_costs_the_others_may_show_later, 2)
{
    static const int late[] = {2, 1000};
    struct world *w = begin(4);

    story.waits = true;
    story.late = late[_i];
    run_periods(3);
    story.slow[7] = true;
    run_periods(2);
    ck_assert_int_eq(w->reports, _i == 0);
    ck_assert_int_le(story.looked, 8 * RANKS);
    run_periods(40);
    ck_assert_int_eq(w->reports, _i == 0);
    ck_assert_int_le(story.looked, 40 * RANKS);
}

/* Each node has its own block, and asks at its own time: one alone does, and nothing is measured
 * twice within a moment.  rows: nodes */
TEST_CASES(observers_do_not_disturb_each_other, COUNT(nodes_of))
{
    struct world *w = begin(nodes_of[_i]);

    story.apart = true;
    run_periods(3);
    ck_assert_int_eq(story.looked, 0);
    story.slow[6] = true;
    run_periods(2);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_le(story.looked, 8 * RANKS);
}

/* Some are above the bound by one measurement and below it by the next, and their order is another
 * than that of their numbers.  rows: a few; more than a set has runs */
TEST_CASES(a_node_that_is_slow_as_a_whole_is_named_once, 2)
{
    int32_t ranks = _i ? RANKS_MAX : RANKS, first = ranks / 4, count = ranks / 4;
    struct world *w = begin_of(4, ranks);
    const struct ftree_verdict *v = &w->report[0];

    run_periods(3);
    story.varies = true;
    for (int32_t i = first; i < first + count; i++)
        story.slow[i] = true;
    run_periods(43);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
    ck_assert_int_eq(v->rank, first);
    ck_assert_int_eq(v->component.count, count);
    ck_assert_int_eq(v->component.ranges, 1);
    for (int32_t n = 0; n < w->job.nodes; n++)
        ck_assert_int_eq(w->verdicts_on[n], 1);
}

/* They were in MPI for most of the time before, too, but not at the same call for so long. */
TEST_CASE(one_that_serves_all_others_is_named)
{
    struct world *w = begin(4);

    story.is_served = true;
    fill_blocks();
    run_periods(2);
    ck_assert_int_eq(story.looked, 0);
    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].rank, 6);
}

static const struct {
    struct ftree_lag by;
    const char *rule, *line;
} causes[] = {
    {{.gets = 400, .throttled = 500, .clock = 1000, .beside = 7}, "straggler/quota",
     "rank 6: its cgroup's quota of CPU time used up in 50 % of the periods"},
    {{.gets = 500, .clock = 1000, .beside = 7}, "straggler/shared-core",
     "rank 6: bound to the same core as rank 7"},
    {{.gets = 500, .clock = 1000, .beside = FTREE_NONE}, "straggler/preempted",
     "rank 6: others run on its core"},
    {{.gets = 1000, .stolen = 400, .clock = 1000, .beside = FTREE_NONE}, "straggler/stolen",
     "rank 6: another virtual machine has its core for 40 % of the time"},
    {{.gets = 1000, .faults = 900, .stall = 70, .clock = 1000, .beside = FTREE_NONE},
     "straggler/paging",
     "rank 6: 900 pages a second from a disk, memory short for 7 % of the time"},
    {{.gets = 1000, .clock = 350, .beside = FTREE_NONE}, "straggler/slow-clock",
     "rank 6: its core's clock at 35 % of the nominal one"},
};

TEST_CASES(what_slows_it_is_said, COUNT(causes))
{
    struct world *w = begin(4);

    story.by = causes[_i].by;
    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_str_eq(w->report[0].rule, causes[_i].rule);
    ck_assert_str_eq(w->report[0].evidence[2].detail, causes[_i].line);
}

/* The same rank, and for another reason. */
TEST_CASE(another_reason_is_told)
{
    struct world *w = begin(4);

    story.slow[6] = true;
    run_periods(3);
    story.by = causes[1].by;
    run_periods(12);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->withdrawals, 1);
    ck_assert_str_eq(w->report[1].rule, causes[1].rule);
}

TEST_CASE(it_is_withdrawn_when_it_is_over)
{
    struct world *w = begin(4);

    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    story.slow[6] = false;
    run_periods(10);
    ck_assert_int_eq(w->withdrawals, 1);
    run_periods(20);
    ck_assert_int_eq(w->reports, 1);
    story.slow[2] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->report[1].rank, 2);
}

/* Its node, which says nothing for a while, is not one that says that its ranks are not slowed. */
TEST_CASE(it_stands_while_its_node_does_not_answer)
{
    struct world *w = begin(4);

    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    w->node[w->rank_node[6]].mute = true;
    run_periods(40);
    ck_assert_int_eq(w->withdrawals, 0);
    w->node[w->rank_node[6]].mute = false;
    story.slow[6] = false;
    run_periods(20);
    ck_assert_int_eq(w->withdrawals, 1);
}

/* Another one, which is lost, is not waited for. */
TEST_CASE(it_is_withdrawn_where_a_node_is_lost)
{
    struct world *w = begin(4);

    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    world_crash(w, 3);
    run_periods(3);
    ck_assert_int_gt(w->reports, 1);
    story.slow[6] = false;
    run_periods(20);
    ck_assert_int_eq(w->withdrawals, 1);
}

TEST_CASE(ranks_of_a_node_are_one_verdict)
{
    struct world *w = begin(4);

    story.slow[4] = story.slow[5] = story.slow[9] = true;
    story.by.throttled = 0;
    story.by.gets = 500;
    run_periods(3);
    ck_assert_int_eq(w->reports, 2);
    for (int i = 0; i < 2; i++) {
        const struct ftree_verdict *v = &w->report[i];
        ck_assert_str_eq(v->rule, "straggler/preempted");
        ck_assert_int_eq(v->component.count, v->rank == 4 ? 2 : 0);
    }
    ck_assert_int_eq(w->report[0].rank + w->report[1].rank, 4 + 9);
}

/* Nobody waits for the one that is hindered most. */
TEST_CASE(one_that_is_not_named_hides_no_other_of_its_node)
{
    struct world *w = begin(4);

    story.idle = story.steady = 5;
    run_periods(3);
    story.slow[5] = story.slow[6] = true;
    run_periods(6);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].rank, 6);
    ck_assert_int_eq(w->report[0].component.count, 0);
}

/* Who is slowed less is named with others of its node, unless these are half of all. */
TEST_CASES(more_than_half_are_never_named, 2)
{
    struct world *w = begin_of(4, 8);
    int nodes = _i == 0 ? 3 : 4, named = 0;

    for (int32_t i = 0; i < nodes; i++)
        story.slow[2 * i] = true;
    story.slow[1] = true;
    story.least = 1;
    story.by.throttled = 0;
    story.by.gets = 500;
    run_periods(3);
    ck_assert_int_eq(w->reports, nodes);
    for (int i = 0; i < w->reports; i++)
        named += w->report[i].component.count > 0 ? w->report[i].component.count : 1;
    ck_assert_int_eq(named, 4);
}

TEST_CASE(a_change_is_told)
{
    struct world *w = begin(4);

    story.slow[4] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    story.slow[5] = true;
    run_periods(12);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->withdrawals, 1);
    ck_assert_int_eq(w->report[1].component.count, 2);
}

/* The root looks at its verdict no more. */
TEST_CASE(another_root_looks_at_it)
{
    struct world *w = begin(4);

    story.slow[6] = true;
    run_periods(3);
    ck_assert_int_eq(w->reports, 1);
    world_succeed(w, 0);
    story.slow[6] = false;
    run_periods(20);
    ck_assert_int_eq(w->withdrawals, 1);
}

TEST_CASES(without_memory_nothing_false_is_said, 120)
{
    struct world *w = begin(4);

    run_periods(2);
    story.slow[6] = true;
    run_periods(1);
    w->fail_alloc_in = 1 + _i / 2;
    w->fail_on = _i % 2;
    run_periods(2);
    w->fail_alloc_in = 0;
    w->fail_on = false;
    run_periods(4);
    ck_assert_int_le(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
    for (int i = 0; i < w->reports; i++)
        ck_assert_int_eq(w->report[i].rank, 6);
}

/* ---- nobody is named ------------------------------------------------------------------------- */

/* Its rank 0 has more to do from now on. */
TEST_CASE(nobody_is_named_without_an_explanation)
{
    struct world *w = begin(4);

    run_periods(3);
    story.slow[6] = true;
    story.by.gets = 1000;
    story.by.throttled = 0;
    run_periods(40);
    ck_assert_int_eq(w->reports, 0);
    ck_assert_int_ge(story.looked, 2 * RANKS);
    ck_assert_int_le(story.looked, 16 * RANKS); /* and it is not asked for ever */
}

/* What is lost explains that the others wait. */
TEST_CASE(nobody_is_slow_where_something_is_lost)
{
    struct world *w = begin(4);

    run_periods(3);
    world_end_process(w, 12);
    story.slow[6] = true;
    run_periods(4);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_PROCESS_CRASH);
}

TEST_CASE(a_program_that_waits_more_is_not_asked_for_ever)
{
    struct world *w = begin(4);

    run_periods(3);
    story.is_slow_program = true;
    run_periods(60);
    ck_assert_int_eq(w->reports, 0);
    ck_assert_int_le(story.looked, 16 * RANKS);
}

TEST_CASE(nobody_is_asked_while_all_is_well)
{
    struct world *w = begin(16);

    world_count_reset(w);
    run_periods(40);
    ck_assert_int_eq(story.looked, 0);
    ck_assert_int_eq(world_busiest(w), 0);
}

/* Who is hindered from the start always has an explanation, when others wait more by chance. */
TEST_CASE(nobody_is_named_by_chance)
{
    struct world *w = begin(4);

    story.slow[6] = story.always = true;
    run_periods(3);
    ck_assert_int_eq(story.looked, 0);
    story.dip = 2;
    run_periods(4);
    ck_assert_int_ge(story.looked, 3 * RANKS);
    ck_assert_int_le(story.looked, 8 * RANKS); /* and it comes to an end */
    ck_assert_int_eq(w->reports, 0);
}

/* What was slow from the start is how the job is. */
TEST_CASE(nobody_is_named_who_always_was_slow)
{
    struct world *w = begin(4);

    story.slow[6] = true;
    fill_blocks();
    run_periods(20);
    ck_assert_int_eq(w->reports, 0);
    ck_assert_int_eq(story.looked, 0);
}
