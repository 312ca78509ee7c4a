/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "waiting_ranks.h"

#include "ftree/hang/hang.h"
#include "ftree/report/report.h"
#include "ftree_int.h"

/*
 * Whole stories: a program that has run for some minutes, and a rank that does not come to a
 * barrier.  An instant is each 400 ms; until the others wait each rank is outside MPI at six of
 * ten.
 */

#define SECOND (1000 * FTREE_MS)
#define RANKS 16
#define STEP (400 * FTREE_MS)
#define BEFORE 1000 /* number of the instant at time 0, as if the job had begun that much earlier */

static struct story {
    uint64_t since; /* the first instant that was sampled */
    uint64_t hangs; /* from this instant on these ranks are outside MPI, and no others */
    bool out[RANKS];
    uint8_t what, ending;
    int32_t other; /* of those this rank does */
    uint8_t other_does; /* that */
    uint32_t call; /* in which they are stuck; 0: none */
    ftree_time longest, of_any; /* stays before: of those that hang, of the others */
    bool alone; /* before, rank 3 alone was ever outside MPI */
    bool strange; /* the others wait in a call in which they were not seen before */
    int32_t cpu;
    uint64_t calls; /* of each rank */
    bool returns; /* those that hang were not outside MPI at each of the last samples */
    bool moves; /* a rank ends a call from time to time */
    bool transfers; /* those that hang read or write */
    ftree_time before; /* for which each of them was outside MPI before */
    int32_t goes_on; /* up to this rank others are outside MPI, too, for a moment each; 0: none */
    ftree_time seen; /* when the kernel last saw one of those that hang do something */
    int32_t gap_of; /* this node has no samples from then on: */
    uint64_t gap_from, gap_to;
    uint64_t lag; /* instants that the clock of node 1 is late */
    ftree_time taken_over; /* the agents of ranks that hang are younger than that; 0: they are not */
    int asked;
    int home_of; /* this node's handlers are asked about itself; */
    int homes; /* so often */
} story;

static uint64_t instant_of(ftree_time now)
{
    return BEFORE + now / STEP;
}

static bool is_outside(int32_t rank, uint64_t instant)
{
    uint64_t x = (instant * RANKS + (uint64_t) rank + 1) * 0x9e3779b97f4a7c15u;

    if (instant >= story.hangs)
        return story.out[rank % RANKS];
    if (story.alone && rank != 3)
        return false;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x >> 33) % 10 < 6;
}

static uint64_t samples(void *ctx, int32_t *out, int32_t n)
{
    int32_t first, ranks;
    struct world *w = world_at(ctx, 0, &first);
    int32_t node = w->rank_node[first];
    uint64_t last = instant_of(w->now) - (node == 1 ? story.lag : 0);

    ranks = w->node_first[node + 1] - w->node_first[node];
    story.asked += n > 0;
    for (int32_t i = 0; i < n; i++) {
        uint64_t instant = last - (uint64_t) (n - 1 - i);
        out[i] = -1;
        if (instant < story.since || instant > last ||
            (node == story.gap_of && instant >= story.gap_from && instant < story.gap_to))
            continue;
        out[i] = 0;
        for (int32_t k = 0; k < ranks; k++)
            out[i] += is_outside(w->node_ranks[w->node_first[node] + k], instant);
    }
    return last;
}

/* Time in which its own agent does not look is in no stay. */
static uint64_t stays_since(int32_t node, ftree_time now)
{
    uint64_t first = story.hangs > story.gap_to ? story.hangs : story.gap_to;

    if (node != story.gap_of || instant_of(now) <= story.gap_from)
        return story.hangs;
    return first < instant_of(now) ? first : instant_of(now);
}

static bool stay(void *ctx, int32_t i, struct ftree_stay *s)
{
    int32_t rank;
    struct world *w = world_at(ctx, i, &rank);

    *s = (struct ftree_stay){.rank = rank,
                             .calls = story.calls,
                             .cpu = story.cpu,
                             .longest = story.of_any,
                             .familiar = !story.strange};
    if (story.moves && rank == 2)
        s->calls += w->now / SECOND;
    if (rank < story.goes_on && !story.out[rank]) {
        s->what = FTREE_OUTSIDE_RUNS;
        s->stay = STEP / 2;
        s->calls += w->now / STEP;
        return true;
    }
    if (!story.out[rank % RANKS] || w->now < story.taken_over + SECOND)
        return false;
    s->what = rank == story.other ? story.other_does : story.what;
    s->ending = story.ending;
    s->call = story.call;
    s->stay = (instant_of(w->now) - stays_since(w->rank_node[rank], w->now) + 1) * STEP;
    s->away = ftree_min(s->stay, w->now - story.taken_over);
    s->longest = story.longest;
    s->before = story.before;
    s->transfers = story.transfers;
    s->still = w->now - story.seen;
    strcpy(s->wchan, story.what == FTREE_OUTSIDE_SLEEPS ? "hrtimer_nanosleep" : "");
    strcpy(s->waits_in, story.what == FTREE_OUTSIDE_SLEEPS ? "a sleep" : "");
    strcpy(s->whom, story.what == FTREE_OUTSIDE_AWAITS ? "process 12 (driver) by a pipe" : "");
    return true;
}

/* The ranks from `first` to `last` hang. */
static void begin_story(struct world *w, int32_t first, int32_t last)
{
    w->io.samples = samples;
    w->io.stay = stay;
    story = (struct story){.since = BEFORE - 300,
                           .hangs = instant_of(w->now),
                           .seen = w->now,
                           .what = FTREE_OUTSIDE_SLEEPS,
                           .longest = SECOND,
                           .of_any = SECOND,
                           .cpu = FTREE_CPU_UNKNOWN,
                           .calls = 77,
                           .other = FTREE_NONE,
                           .gap_of = FTREE_NONE};
    for (int32_t i = first; i <= last; i++)
        story.out[i] = true;
}

/* And all others come to a barrier at 1 s. */
static struct world *begin(int32_t nodes, int32_t first, int32_t last)
{
    struct ranks *r = ranks_of(world_new(nodes, RANKS / nodes, 2));

    begin_story(r->w, first, last);
    for (int32_t i = 0; i < RANKS; i++) {
        if (story.out[i])
            continue;
        ranks_wait(r, i, CALL_BARRIER, WAITS_FOR_ALL);
        ranks_collective(r, i, 3, CALL_BARRIER, -1, 8, WORLD_CONTEXT);
    }
    return r->w;
}

static const int32_t nodes_of[] = {1, 4, 16};

/* All others were in and out, and one of them, rank 6, is out since. */
static void the_statistics_say_the_same(const struct ftree_statistics *s)
{
    ck_assert_double_eq(s->alpha, 0.001);
    ck_assert(s->s_out.known && s->s_out.run >= s->s_out.needed);
    ck_assert_int_ge(s->s_out.t, 1);
    ck_assert_double_lt(s->s_out.significance, s->alpha);
    ck_assert_uint_eq(s->s_out.interval, STEP);
    ck_assert_uint_ge(s->stay.stay, SECOND);
    ck_assert_uint_gt(s->stay.before, 60 * SECOND);
    ck_assert(s->stay.significance > 0 && s->stay.significance <= 1);
    ck_assert_int_eq(s->samples, FTREE_STATISTICS_SAMPLES);
    for (int32_t i = 1; i <= s->s_out.run; i++)
        ck_assert_int_le(s->sample[s->samples - i], s->s_out.t);
}

TEST_CASES(the_rank_that_never_comes_is_named, COUNT(nodes_of))
{
    struct world *w = begin(nodes_of[_i], 6, 6);
    const struct ftree_verdict *v = &w->report[0];

    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    ck_assert_int_eq(v->class_, FTREE_CLASS_USER_CODE_HANG);
    ck_assert_str_eq(v->rule, "user-code-hang/blocked");
    ck_assert_int_eq(v->rank, 6);
    ck_assert_int_eq(v->component.count, 0);
    ck_assert_int_eq(v->victims.count, RANKS - 1);
    ck_assert_uint_le(w->reported_at[0], 6 * SECOND + SECOND); /* they wait since 1 s */
    ck_assert_int_eq(v->evidences, 4);
    ck_assert_int_eq(v->evidence[0].source, FTREE_EVIDENCE_SAMPLE);
    ck_assert_ptr_nonnull(strstr(v->evidence[0].detail, "S_out <= "));
    ck_assert_ptr_nonnull(strstr(v->evidence[0].detail, "significance"));
    ck_assert_ptr_nonnull(strstr(v->evidence[1].detail, " 1 1 1 1 1"));
    ck_assert_ptr_nonnull(strstr(v->evidence[2].detail, "rank 6 outside MPI for"));
    ck_assert_ptr_nonnull(strstr(v->evidence[2].detail, "blocked in a sleep (hrtimer_nanosleep)"));
    ck_assert_ptr_nonnull(strstr(v->evidence[3].detail, "the job may be ended after 60 s"));
    the_statistics_say_the_same(&v->statistics);
    for (int32_t n = 0; n < w->job.nodes; n++)
        ck_assert_int_eq(w->verdicts_on[n], 1);
    world_run(w, 30 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
}

static bool ask_handlers(void *ctx, int32_t node)
{
    int32_t rank;
    struct world *w = world_at(ctx, 0, &rank);

    ck_assert_int_eq(node, w->rank_node[rank]);
    story.home_of = node;
    story.homes++;
    return false;
}

/* What its kernel and GPU say is evidence, if it is known before. */
TEST_CASE(its_node_is_asked_how_it_is_before)
{
    struct world *w = begin(4, 6, 6);

    w->io.handlers = ask_handlers;
    ck_assert(!world_run_until_reports(w, 1, SECOND));
    ck_assert_int_eq(story.homes, 0);
    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    ck_assert_int_ge(story.homes, 1);
    ck_assert_int_eq(story.home_of, w->rank_node[6]);
}

/* Which the acting root learns, though the node is not next to it. */
TEST_CASE(what_its_gpu_does_is_evidence)
{
    struct world *w = begin(16, 6, 6);
    const struct ftree_verdict *v = &w->report[0];
    struct ftree_symptom s;

    w->io.handlers = ask_handlers;
    for (int i = 0; i < 50 && story.homes == 0; i++)
        world_run(w, SECOND / 10);
    ck_assert_int_eq(w->reports, 0);
    ftree_symptom_init(&s, FTREE_SYMPTOM_GPU_USAGE, 6, FTREE_NONE, 6, w->now, w->now);
    strcpy(s.detail, "GPU 0 100 % (4711)");
    ck_assert_int_eq(ftree_symptom(w->node[6].ft, w->now, &s), FTREE_OK);
    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    ck_assert_int_eq(v->class_, FTREE_CLASS_USER_CODE_HANG);
    ck_assert_int_eq(v->evidences, 5);
    ck_assert_int_eq(v->evidence[4].source, FTREE_EVIDENCE_SYMPTOM);
    ck_assert_str_eq(v->evidence[4].detail, "gpu-usage: GPU 0 100 % (4711)");
    ck_assert_uint_le(v->evidence[4].at - s.last, 10 * FTREE_MS); /* on its way it grows no older */
    ck_assert_int_eq(v->evidence[4].by, 6);
}

static const struct {
    uint8_t what;
    uint32_t call;
    uint8_t class_;
    const char *rule;
    ftree_time first, last; /* after the begin of the stay it is told */
    ftree_time end; /* and then, at the earliest, the job is ended */
} kinds[] = {{FTREE_OUTSIDE_RUNS, 0, FTREE_CLASS_USER_CODE_HANG, "user-code-hang/burns-cpu",
              12 * SECOND, 13 * SECOND, 600 * SECOND},
             {FTREE_OUTSIDE_PAUSES, 0, FTREE_CLASS_USER_CODE_HANG, "user-code-hang/pauses",
              12 * SECOND, 13 * SECOND, 600 * SECOND},
             {FTREE_OUTSIDE_AWAITS, 0, FTREE_CLASS_USER_CODE_HANG, "user-code-hang/awaits-answer",
              12 * SECOND, 13 * SECOND, 600 * SECOND},
             {FTREE_OUTSIDE_SLEEPS, 0, FTREE_CLASS_USER_CODE_HANG, "user-code-hang/blocked",
              2 * SECOND, 6 * SECOND, 60 * SECOND},
             {FTREE_OUTSIDE_UNKNOWN, 0, FTREE_CLASS_USER_CODE_HANG, "user-code-hang/burns-cpu",
              12 * SECOND, 13 * SECOND, 600 * SECOND},
             {FTREE_OUTSIDE_RUNS, CALL_BARRIER, FTREE_CLASS_MPI_HANG, "mpi-hang/burns-cpu",
              12 * SECOND, 13 * SECOND, 600 * SECOND},
             {FTREE_OUTSIDE_SLEEPS, CALL_BARRIER, FTREE_CLASS_MPI_HANG, "mpi-hang/blocked",
              2 * SECOND, 6 * SECOND, 60 * SECOND},
             {FTREE_OUTSIDE_DISK, CALL_BARRIER, FTREE_CLASS_IO_HANG, "io-hang/never-comes",
              12 * SECOND, 13 * SECOND, 600 * SECOND},
             {FTREE_OUTSIDE_DISK, 0, FTREE_CLASS_IO_HANG, "io-hang/never-comes", 12 * SECOND,
              13 * SECOND, 600 * SECOND}};

TEST_CASES(what_it_does_there_says_which_class, COUNT(kinds))
{
    struct world *w = begin(4, 5, 7);

    ftree_time began = w->now, end;

    story.what = kinds[_i].what;
    story.call = kinds[_i].call;
    ck_assert(world_run_until_reports(w, 1, 20 * SECOND));
    ck_assert_uint_ge(w->reported_at[0] - began + STEP,
                      kinds[_i].first); /* which is counted in steps */
    ck_assert_uint_le(w->reported_at[0] - began, kinds[_i].last);
    end = w->report[0].located + w->report[0].holds_back - began;
    ck_assert_uint_le(end, kinds[_i].end);
    ck_assert_uint_ge(end + SECOND, kinds[_i].end);
    ck_assert_int_eq(w->report[0].class_, kinds[_i].class_);
    ck_assert_str_eq(w->report[0].rule, kinds[_i].rule);
    ck_assert_int_eq(w->report[0].component.count, 3);
    ck_assert_int_eq(w->report[0].component.range[0].first, 5);
    ck_assert_int_eq(w->report[0].component.range[0].last, 7);
    ck_assert_ptr_nonnull(strstr(w->report[0].evidence[2].detail,
                                 kinds[_i].call ? "rank 5 stuck in " : "rank 5 outside MPI for"));
    if (kinds[_i].what == FTREE_OUTSIDE_AWAITS) {
        ck_assert_ptr_nonnull(strstr(w->report[0].evidence[2].detail,
                                     ", awaiting an answer: process 12 (driver) by a pipe"));
        ck_assert_uint_lt(w->report[0].confidence, 700);
    }
}

/* And the verdict says why, on each node. */
TEST_CASE(the_job_is_never_ended_because_of_one_that_waits_for_a_person)
{
    struct world *w = begin(4, 6, 6);

    story.ending = FTREE_ENDING_INPUT;
    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    ck_assert_str_eq(w->report[0].rule, "user-code-hang/blocked");
    ck_assert_uint_lt(w->report[0].confidence, 700); /* of what may end by itself nobody is sure */
    ck_assert_uint_eq(w->report[0].holds_back, FTREE_HOLDS_FOR_EVER);
    ck_assert(!ftree_verdict_ends_job(&w->report[0]));
    ck_assert_str_eq(w->report[0].evidence[3].detail,
                     "the job is never ended because of it: rank 6 waits for standard input or a "
                     "terminal");
    for (int32_t n = 0; n < w->job.nodes; n++) {
        struct ftree_verdict v;
        ck_assert(ftree_verdict_at(w->node[n].ft, 0, &v));
        ck_assert(!ftree_verdict_ends_job(&v));
    }
}

/* Two wait for a third, in a file or a pipe: they are not blocked before that one is.  rows: it
 * computes, it reads from a disk */
TEST_CASES(one_that_works_speaks_for_those_with_it, 2)
{
    struct world *w = begin(4, 5, 7);
    ftree_time began = w->now;

    story.other = 6;
    story.other_does = _i ? FTREE_OUTSIDE_DISK : FTREE_OUTSIDE_RUNS;
    ck_assert(world_run_until_reports(w, 1, 20 * SECOND));
    ck_assert_str_eq(w->report[0].rule, _i ? "io-hang/never-comes" : "user-code-hang/burns-cpu");
    ck_assert_uint_ge(w->reported_at[0] - began + STEP, 12 * SECOND);
    ck_assert_int_eq(w->report[0].rank, _i ? 6 : 5);
    ck_assert_int_eq(w->report[0].component.count, _i ? 0 : 3);
    ck_assert_uint_ge(w->report[0].located + w->report[0].holds_back - began, 599 * SECOND);
}

TEST_CASE(a_rank_that_was_never_outside_before_may_hang_there)
{
    struct world *w = begin(4, 6, 6);

    story.longest = 0;
    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    ck_assert_ptr_nonnull(strstr(w->report[0].evidence[2].detail, "no stay before"));
}

/* For how long rank 3, who is alone there, was outside MPI before. */
static ftree_time time_outside(void)
{
    ftree_time sum = 0;

    for (uint64_t i = story.since; i < story.hangs; i++)
        sum += is_outside(3, i) ? STEP : 0;
    return sum;
}

/* Of a blocked rank, where none was there for more than a second before. */
static ftree_time too_long_after(ftree_time before)
{
    struct hang_stays s = {
        .before = before, .longest = SECOND, .ranks = 1, .exponent = HANG_TAIL_BLOCKED};

    return ftree_hang_tail_of(&s, 0.001);
}

/* One outside MPI is nothing new to S_out, but a stay of that length is. rows: of a short history, of
 * a long one */
TEST_CASES(a_stay_may_be_too_long_where_s_out_says_nothing, 2)
{
    static const uint64_t rows[] = {50, 300};
    struct world *w = begin(4, 6, 6);
    ftree_time began = w->now, too_long;

    story.alone = true;
    story.since = BEFORE - rows[_i];
    too_long = too_long_after(time_outside());
    ck_assert(world_run_until_reports(w, 1, 40 * SECOND));
    /* the sweeps that name it are over as soon as the stay is too long */
    ck_assert_uint_ge(w->reported_at[0] - began + 2 * STEP, too_long);
    ck_assert_uint_le(w->reported_at[0] - began, too_long + SECOND);
    ck_assert_str_eq(w->report[0].rule, "user-code-hang/blocked");
    ck_assert_int_eq(w->report[0].rank, 6);
    ck_assert_ptr_nonnull(strstr(w->report[0].evidence[0].detail,
                                 "no rank was outside MPI for more than 1.0 s in "));
}

/* 64 s are known, and in 38 of them a rank was outside MPI: of one that computes 0.6 s 1000 / 65 are
 * improbable, and 1 s 1000 / 39. */
TEST_CASES(one_that_computes_takes_longer_where_others_did, 2)
{
    static const struct {
        ftree_time of_any, least, most;
    } rows[] = {{0, 12 * SECOND, 13 * SECOND}, {SECOND, 25 * SECOND, 27 * SECOND}};
    struct world *w = begin(4, 6, 6);
    ftree_time began = w->now;

    story.alone = true;
    story.since = BEFORE - 160;
    story.what = FTREE_OUTSIDE_RUNS;
    story.longest = story.of_any = rows[_i].of_any;
    ck_assert(world_run_until_reports(w, 1, 40 * SECOND));
    ck_assert_str_eq(w->report[0].rule, "user-code-hang/burns-cpu");
    ck_assert_uint_ge(w->reported_at[0] - began + 2 * STEP, rows[_i].least);
    ck_assert_uint_le(w->reported_at[0] - began, rows[_i].most);
    ck_assert_int_eq(w->report[0].statistics.stay.exponent, HANG_TAIL_COMPUTES);
    ck_assert_ptr_nonnull(strstr(w->report[0].evidence[0].detail, "(tail 1/x)"));
}

/* The first sweeps, before the stay is too long, find a rank that ends calls. */
TEST_CASE(one_that_goes_on_at_first_is_no_delay)
{
    struct world *w = begin(4, 6, 6);
    ftree_time began = w->now,
               too_long = too_long_after(50 * STEP);

    story.alone = story.moves = true;
    story.since = BEFORE - 50;
    world_run(w, too_long - SECOND);
    ck_assert_int_eq(w->reports, 0);
    story.moves = false;
    ck_assert(world_run_until_reports(w, 1, 40 * SECOND));
    ck_assert_uint_ge(w->reported_at[0] - began + 2 * STEP, too_long);
    ck_assert_uint_le(w->reported_at[0] - began, too_long + 3 * SECOND);
}

/* By the time that ten times such a stay has passed no sample is left of the time before it; what was
 * improbable then still is. */
TEST_CASE(one_that_was_outside_for_minutes_before_is_named_in_the_end)
{
    struct world *w = begin(4, 6, 6);
    ftree_time began = w->now;

    story.what = FTREE_OUTSIDE_RUNS;
    story.longest = story.of_any = 120 * SECOND;
    world_run(w, 1195 * SECOND);
    ck_assert_int_eq(w->reports, 0);
    ck_assert(world_run_until_reports(w, 1, 100 * SECOND));
    ck_assert_str_eq(w->report[0].rule, "user-code-hang/burns-cpu");
    ck_assert_uint_ge(w->reported_at[0] - began + STEP, 1200 * SECOND);
    ck_assert_ptr_nonnull(strstr(w->report[0].evidence[0].detail, "S_out <= "));
}

/* What any rank has shown says when the job may be ended. */
TEST_CASE(the_job_goes_on_for_ten_times_the_longest_stay)
{
    struct world *w = begin(4, 6, 6);
    ftree_time began = w->now;

    story.of_any = 20 * SECOND;
    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    ck_assert_uint_ge(w->report[0].located + w->report[0].holds_back - began, 199 * SECOND);
    ck_assert_uint_le(w->report[0].located + w->report[0].holds_back - began, 200 * SECOND);
}

TEST_CASES(a_phase_that_nobody_knows_has_ten_minutes, 2)
{
    struct world *w = begin(4, 6, 6);

    story.strange = true;
    story.what = _i ? FTREE_OUTSIDE_RUNS : FTREE_OUTSIDE_SLEEPS;
    world_run(w, 595 * SECOND);
    ck_assert_int_eq(w->reports, 0);
    ck_assert_int_ge(w->notes, 3);
    ck_assert(world_run_until_reports(w, 1, 100 * SECOND));
    ck_assert_str_eq(w->report[0].rule, "user-code-hang/first-time");
    ck_assert_uint_eq(w->report[0].holds_back, 0);
}

/* What is asked of a file system is answered within seconds, in whatever phase: a rank for which its
 * kernel has had nothing at all to do for half a minute is stuck.  rows: not so one that goes on */
TEST_CASES(a_file_system_that_does_not_answer_is_named_in_any_phase, 2)
{
    struct world *w = begin(4, 6, 6);
    ftree_time began;

    story.strange = true;
    story.what = FTREE_OUTSIDE_DISK;
    for (int i = 0; i < 10 && _i; i++, story.seen = w->now)
        world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 0);
    began = story.seen;
    ck_assert(world_run_until_reports(w, 1, 60 * SECOND));
    ck_assert_str_eq(w->report[0].rule, "io-hang/stuck");
    ck_assert_ptr_nonnull(strstr(w->report[0].evidence[2].detail, "in disk sleep, nothing done for 3"));
    ck_assert_int_eq(w->report[0].rank, 6);
    ck_assert_uint_ge(w->reported_at[0] - began, 30 * SECOND);
    ck_assert_uint_le(w->reported_at[0] - began, 45 * SECOND);
}

static int32_t all_blocks(void *ctx, int32_t i, struct ftree_block *block, int32_t n)
{
    int32_t rank;

    world_at(ctx, i, &rank);
    for (int32_t k = 0; k < n; k++)
        block[k].outside = !story.out[rank % RANKS] ? 5 : FTREE_BLOCK_SAMPLES - (story.returns && k % 4 == 3);
    return n;
}

/* Of four blocks, 12.8 s. */
static void run_periods(struct world *w, int n)
{
    for (int i = 0; i < 4 * n; i++) {
        world_run(w, FTREE_BLOCK_SAMPLES * STEP);
        for (int32_t node = 0; node < w->job.nodes; node++)
            ftree_block_over(w->node[node].ft, w->now);
    }
}

/* Nobody waits in MPI, and nothing stalls. */
static struct world *begin_without_waits(int32_t nodes, int32_t per_node)
{
    struct world *w = world_new(nodes, per_node, 2);

    begin_story(w, 0, RANKS - 1);
    w->io.blocks = all_blocks;
    story.what = FTREE_OUTSIDE_DISK;
    return w;
}

static const struct {
    int32_t nodes, per_node;
} shapes[] = {{1, RANKS}, {4, 4}, {16, 1}, {4, HANG_RANKS_MAX / 2}};

TEST_CASES(a_file_system_that_answers_nobody_is_named, COUNT(shapes))
{
    struct world *w = begin_without_waits(shapes[_i].nodes, shapes[_i].per_node);
    ftree_time began = w->now;
    const struct ftree_verdict *v = &w->report[0];

    run_periods(w, 1);
    ck_assert(world_run_until_reports(w, 1, 60 * SECOND));
    ck_assert_int_eq(v->class_, FTREE_CLASS_IO_HANG);
    ck_assert_str_eq(v->rule, "io-hang/stuck");
    ck_assert_int_eq(v->component.count, w->job.size);
    ck_assert_int_eq(v->component.range[0].last, w->job.size - 1);
    ck_assert_int_eq(v->victims.count, 0);
    ck_assert_uint_le(v->first_symptom, began + 2 * STEP);
    ck_assert_uint_ge(w->reported_at[0] - began, 30 * SECOND);
    ck_assert_uint_le(w->reported_at[0] - began, 45 * SECOND);
    ck_assert_uint_ge(v->located + v->holds_back - began, 599 * SECOND);
    run_periods(w, 5);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
    story.out[9] = false; /* it answers again */
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->withdrawals, 1);
    run_periods(w, 3);
    ck_assert_int_eq(w->reports, 1);
}

/* What all ranks do outside MPI, and from which time of it on there is a note; 0: never. */
static const struct {
    uint8_t what, other_does;
    int32_t other;
    bool moves; /* they have done something at each block */
    int32_t notes; /* in 45 s */
} sleeping[] = {
    {FTREE_OUTSIDE_SLEEPS, 0, FTREE_NONE, false, 2},
    {FTREE_OUTSIDE_AWAITS, FTREE_OUTSIDE_SLEEPS, 9, false, 2},
    {FTREE_OUTSIDE_SLEEPS, FTREE_OUTSIDE_RUNS, 0, false, 0},
    {FTREE_OUTSIDE_PAUSES, 0, FTREE_NONE, false, 0},
    {FTREE_OUTSIDE_RUNS, 0, FTREE_NONE, false, 0},
    {FTREE_OUTSIDE_SLEEPS, 0, FTREE_NONE, true, 0},
};

/* As of waits, after 10 s and then at doubling intervals, but when a block of samples is over. */
TEST_CASES(ranks_that_all_sleep_outside_mpi_are_noted, 6)
{
    struct world *w = begin_without_waits(4, 4);
    ftree_time began = w->now;

    story.what = sleeping[_i].what;
    story.other = sleeping[_i].other;
    story.other_does = sleeping[_i].other_does;
    for (int i = 0; i < 14; i++) {
        world_run(w, FTREE_BLOCK_SAMPLES * STEP);
        if (sleeping[_i].moves)
            story.seen = w->now;
        for (int32_t node = 0; node < w->job.nodes; node++)
            ftree_block_over(w->node[node].ft, w->now);
        if (w->now - began < 9 * SECOND)
            ck_assert_int_eq(w->notes, 0);
    }
    ck_assert_int_eq(w->reports, 0);
    ck_assert_int_eq(w->notes, sleeping[_i].notes);
    if (w->notes) {
        ck_assert(w->note.asleep);
        ck_assert_int_eq(w->note.count, 0);
        ck_assert_uint_ge(w->note.waiting, 10 * SECOND);
    }
}

/* rows: they write a checkpoint for half an hour; one computes; the root's do; it was as long before;
 * they come back to MPI now and then */
TEST_CASES(ranks_that_all_wait_for_a_disk_may_be_well, 5)
{
    struct world *w = begin_without_waits(4, 4);

    story.other_does = FTREE_OUTSIDE_RUNS;
    story.other = _i == 1 ? 9 : _i == 2 ? 0 : FTREE_NONE;
    story.longest = _i == 3 ? 20 * SECOND : SECOND;
    story.returns = _i == 4;
    for (int i = 0; i < 150; i++) {
        if (_i == 0)
            story.seen = w->now;
        run_periods(w, 1);
    }
    ck_assert_int_eq(w->reports, _i == 3);
    ck_assert_int_le(story.asked, _i == 2 || _i == 4 ? 0 : 4 * 150);
    if (_i == 3)
        ck_assert_uint_ge(w->reported_at[0], 200 * SECOND);
}

/* One rank ends calls for ever.
 * rows: one hangs; it was away as long before; in a phase that is not known; another one is stopped;
 * one is blocked; one is, and may wait for another that works; one is in disk sleep */
TEST_CASES(others_may_go_on, 7)
{
    struct world *w = begin(4, 6, 6);
    const struct ftree_verdict *v = &w->report[0];
    ftree_time least = _i == 4 ? 5 * SECOND : 12 * SECOND;
    bool two = _i == 3 || _i == 5;

    story.moves = true;
    story.what = _i >= 6 ? FTREE_OUTSIDE_DISK : _i >= 4 ? FTREE_OUTSIDE_SLEEPS : FTREE_OUTSIDE_RUNS;
    story.longest = _i == 1 ? 10 * SECOND : SECOND;
    story.of_any = _i == 1 ? 10 * SECOND : SECOND;
    story.strange = _i == 2;
    story.other = two ? 9 : FTREE_NONE;
    story.other_does = _i == 3 ? FTREE_OUTSIDE_STOPPED : FTREE_OUTSIDE_RUNS;
    story.out[9] = two;
    world_run(w, least - SECOND);
    ck_assert_int_eq(w->reports, 0);
    if (_i > 0 && _i < 4) {
        world_run(w, 60 * SECOND);
        ck_assert_int_eq(w->reports, 0);
        return;
    }
    ck_assert(world_run_until_reports(w, 1, 60 * SECOND));
    ck_assert_str_eq(v->rule, _i == 6 ? "io-hang/others-go-on" : "user-code-hang/others-go-on");
    ck_assert_int_eq(v->rank, 6);
    ck_assert_int_eq(v->component.count, 0);
    ck_assert_uint_ge(w->reported_at[0], least);
    ck_assert_uint_le(w->reported_at[0], least + 6 * SECOND);
    ck_assert_ptr_nonnull(strstr(v->evidence[0].detail, "no rank was outside MPI for more than 1.0 s"));
    ck_assert_double_lt(v->statistics.stay.significance, 0.001);
    ck_assert_uint_ge(v->holds_back, 500 * SECOND);
    story.out[6] = false;
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->withdrawals, 1);
}

/* Stages of a pipeline, each of milliseconds but for one that is away for 5 s again and again; those before
 * rank 6 go on, and who waits for it does so in a send, which ended at once before.
 * rows: it computes, it is blocked; it writes a checkpoint; it has not been there for long before */
TEST_CASES(its_own_stays_decide, 4)
{
    struct world *w = begin(4, 6, 6);
    const struct ftree_verdict *v = &w->report[0];
    ftree_time least = _i == 1 ? 5 * SECOND : 12 * SECOND;

    story.moves = story.strange = true;
    story.goes_on = 10;
    story.what = _i == 1 ? FTREE_OUTSIDE_SLEEPS : FTREE_OUTSIDE_RUNS;
    story.longest = 50 * FTREE_MS;
    story.of_any = 5 * SECOND;
    story.before = _i == 3 ? 25 * SECOND : 60 * SECOND;
    story.transfers = _i == 2;
    world_run(w, _i < 2 ? least - SECOND : 40 * SECOND);
    ck_assert_int_eq(w->reports, 0);
    if (_i >= 2)
        return;
    ck_assert(world_run_until_reports(w, 1, 6 * SECOND)); /* 8 s are improbable, for 16 ranks */
    ck_assert_str_eq(v->rule, "user-code-hang/others-go-on");
    ck_assert_int_eq(v->rank, 6);
    ck_assert_ptr_nonnull(strstr(v->evidence[0].detail,
                                 "rank 6 was outside MPI for at most 0.05 s in 60 s there; "));
    ck_assert_ptr_nonnull(strstr(v->evidence[0].detail, "(tail 1/x, 16 ranks)"));
    ck_assert_double_lt(v->statistics.stay.significance, 0.001);
    ck_assert_int_eq(v->statistics.stay.ranks, RANKS);
}

/* Others were away for 5 s.  120 s are known: of an active one 5 s 1000 / 25 are improbable, of one
 * that is blocked 5 s sqrt(1000 / 25).  rows: it is active, it is blocked */
TEST_CASES(an_active_one_may_be_in_a_phase_as_others_had, 2)
{
    struct world *w = begin(4, 6, 6);

    story.what = _i ? FTREE_OUTSIDE_SLEEPS : FTREE_OUTSIDE_RUNS;
    story.longest = SECOND;
    story.of_any = 5 * SECOND;
    ck_assert(world_run_until_reports(w, 1, 250 * SECOND));
    ck_assert_str_eq(w->report[0].rule, _i ? "user-code-hang/blocked" : "user-code-hang/burns-cpu");
    ck_assert_uint_ge(w->reported_at[0], _i ? SECOND : 195 * SECOND);
    ck_assert_uint_le(w->reported_at[0], _i ? 6 * SECOND : 240 * SECOND);
}

TEST_CASE(one_that_was_blocked_works_again)
{
    struct world *w = begin(4, 6, 6);

    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    story.cpu = 9; /* somebody looks at it */
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->withdrawals, 0);
    story.cpu = 10;
    story.what = FTREE_OUTSIDE_RUNS;
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->withdrawals, 1);
}

/* It has computed, and waits for its input now. */
TEST_CASE(one_that_comes_to_wait_for_a_person_is_found_again)
{
    struct world *w = begin(4, 6, 6);

    story.what = FTREE_OUTSIDE_RUNS;
    ck_assert(world_run_until_reports(w, 1, 20 * SECOND));
    ck_assert(ftree_verdict_ends_job(&w->report[0]));
    story.what = FTREE_OUTSIDE_SLEEPS;
    story.ending = FTREE_ENDING_INPUT;
    ck_assert(world_run_until_reports(w, 2, 20 * SECOND));
    ck_assert_int_eq(w->withdrawals, 1);
    ck_assert(!ftree_verdict_ends_job(&w->report[1]));
    world_run(w, 60 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->withdrawals, 1);
}

/* Nobody knows then since when it has been there; at first it is not even seen to be stuck. */
TEST_CASE(a_successor_of_its_agent_does_not_take_it_for_one_that_has_come)
{
    struct world *w = begin(4, 6, 6);

    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    world_run(w, 5 * SECOND);
    story.taken_over = w->now;
    world_succeed(w, w->rank_node[6]);
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->withdrawals, 0);
    story.out[6] = false;
    world_run(w, 3 * SECOND);
    ck_assert_int_ge(w->withdrawals, 1);
    ck_assert_int_eq(w->reports, 1);
}

/* It was paused with its virtual machine once. rows: by less than a second, by seconds */
TEST_CASES(a_clock_that_is_late_is_no_reason_to_say_nothing, 2)
{
    static const uint64_t lag[] = {2, 12};
    struct world *w = begin(4, 6, 6);

    story.lag = lag[_i];
    ck_assert(world_run_until_reports(w, 1, 30 * SECOND));
    ck_assert_int_eq(w->report[0].rank, 6);
}

TEST_CASE(it_comes_after_all)
{
    struct world *w = begin(4, 6, 6);

    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    story.out[6] = false;
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->withdrawals, 1);
}

static struct world *asked_of;
static int withdrawn_before; /* the answer came; -1: it has not */

static void note_answer(void *ctx, const struct ftree_query_result *r)
{
    (void) ctx;
    if (r->kind == FTREE_QUERY_STATUS)
        withdrawn_before = asked_of->withdrawals;
}

/* Its node would look at it next within a second.  So stacks, which are asked for when that answer is
 * there, are not taken from a rank that goes on.  rows: three shapes of a job */
TEST_CASES(who_asks_what_ranks_do_learns_before_that_one_has_come, COUNT(nodes_of))
{
    struct world *w = begin(nodes_of[_i], 6, 6);
    uint32_t number;

    asked_of = w;
    withdrawn_before = -1;
    w->io.answered = note_answer;
    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    world_run(w, 1100 * FTREE_MS);
    story.out[6] = false;
    ck_assert_int_eq(ftree_query(w->node[0].ft, w->now, FTREE_QUERY_STATUS, NULL, 0, &number),
                     FTREE_OK);
    world_run(w, 300 * FTREE_MS);
    ck_assert_int_eq(withdrawn_before, 1);
}

/* The job was ended because of it: what was said stays true. */
TEST_CASE(one_that_is_ended_has_not_come)
{
    struct world *w = begin(4, 6, 6);

    ck_assert(world_run_until_reports(w, 1, 15 * SECOND));
    story.out[6] = false;
    w->rank[6].proc_state = 'X';
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->withdrawals, 0);
}

/* ---- nobody is accused ----------------------------------------------------------------------- */

static void too_few_samples(void)
{
    story.since = story.hangs - 12;
}

static void a_rank_goes_on(void)
{
    story.moves = true;
    story.what = FTREE_OUTSIDE_RUNS;
    story.longest = 3 * SECOND;
}

static void as_long_before(void)
{
    story.longest = 60 * SECOND;
}

static void a_debugger_holds_it(void)
{
    story.what = FTREE_OUTSIDE_STOPPED;
}

/* Its node has no sample from the hang on. */
static void no_samples(void)
{
    story.gap_of = 1;
    story.gap_from = story.hangs;
    story.gap_to = UINT64_MAX;
}

/* One rank computes for half a minute, then all do, again and again. */
static void the_program_is_like_that(void)
{
    story.hangs = 0;
}

static void (*const harmless[])(void) = {too_few_samples, a_rank_goes_on,
                                         as_long_before,  a_debugger_holds_it,
                                         no_samples,      the_program_is_like_that};

TEST_CASES(nobody_is_accused, COUNT(harmless))
{
    struct world *w = begin(4, 6, 6);

    harmless[_i]();
    world_run(w, 28 * SECOND);
    if (w->reports > 0 || w->verdicts_on[0] > 0)
        ck_abort_msg("%d: %s", _i, world_trace(w));
    ck_assert_int_eq(w->notes, 1); /* but the note says whom they wait for */
}

TEST_CASE(a_gap_counts_for_nobody)
{
    struct world *w = begin(4, 6, 6);

    story.gap_of = 1;
    story.gap_from = story.hangs + 2;
    story.gap_to = story.hangs + 20; /* 8 s */
    ck_assert(world_run_until_reports(w, 1, 30 * SECOND));
    ck_assert_uint_ge(w->reported_at[0], 9 * SECOND);
}

/* Without a rank that waits long nobody asks. */
TEST_CASE(nobody_is_asked_while_all_is_well)
{
    struct ranks *r = ranks_of(world_new(4, 4, 2));

    r->w->io.samples = samples;
    r->w->io.stay = stay;
    story = (struct story){.hangs = UINT64_MAX, .gap_of = FTREE_NONE};
    world_count_reset(r->w);
    world_run(r->w, 60 * SECOND);
    ck_assert_int_eq(story.asked, 0);
    ck_assert_int_eq(world_busiest(r->w), 0);
}

/* A program that computes for long is asked ever more seldom. */
TEST_CASE(questions_become_rare)
{
    struct world *w = begin(1, 6, 6);

    the_program_is_like_that();
    world_run(w, 300 * SECOND);
    ck_assert_int_le(story.asked, 30);
    ck_assert_int_eq(w->reports, 0);
}
