/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"

#include "ftree/hang/hang_answer.h"

#include <math.h>

#define ALPHA 0.001
#define NONE INT32_MAX

/* ---- the runs test --------------------------------------------------------------------------- */

/* Swed and Eisenhart 1943, as quoted in textbooks of statistics: critical values at 5 %,
 * two-sided. */
static const struct {
    int32_t a, b, low, high;
} published[] = {{2, 12, 2, NONE}, {2, 20, 2, NONE}, {3, 6, 2, NONE},  {4, 4, 0, NONE},
                 {5, 5, 2, 10},    {6, 6, 3, 11},    {7, 7, 3, 13},    {8, 8, 4, 14},
                 {9, 9, 5, 15},    {10, 10, 6, 16},  {11, 11, 7, 17},  {12, 12, 7, 19},
                 {13, 13, 8, 20},  {14, 14, 9, 21},  {15, 15, 10, 22}, {16, 16, 11, 23},
                 {17, 17, 11, 25}, {18, 18, 12, 26}, {19, 19, 13, 27}, {20, 20, 14, 28}};

TEST_CASES(regions_are_those_of_the_published_tables, COUNT(published))
{
    struct hang_region g = ftree_hang_region(published[_i].a, published[_i].b);

    ck_assert_int_eq(g.low, published[_i].low);
    ck_assert_int_eq(g.high, published[_i].high);
    g = ftree_hang_region(published[_i].b, published[_i].a);
    ck_assert_int_eq(g.low, published[_i].low);
    ck_assert_int_eq(g.high, published[_i].high);
}

/* ParaStack's table for its windows of 16, by the number of the rarer kind. */
TEST_CASES(regions_of_16_samples_are_parastacks, 7)
{
    static const int32_t low[] = {2, 2, 3, 4, 4, 4, 4},
                         high[] = {NONE, NONE, NONE, NONE, 13, 14, 14};
    struct hang_region g = ftree_hang_region(2 + _i, 14 - _i);

    ck_assert_int_eq(g.low, low[_i]);
    ck_assert_int_eq(g.high, high[_i]);
}

TEST_CASE(the_normal_approximation_continues_the_table)
{
    struct hang_region last = ftree_hang_region(20, 20), next = ftree_hang_region(21, 21);
    struct hang_region large = ftree_hang_region(1024, 1024);

    ck_assert_int_ge(next.low, last.low);
    ck_assert_int_le(next.low, last.low + 2);
    ck_assert_int_ge(next.high, last.high);
    ck_assert_int_le(next.high, last.high + 2);
    ck_assert_int_eq(large.low, 980); /* 1025 -+ 1.96 * 22.6 */
    ck_assert_int_eq(large.high, 1070);
}

TEST_CASE(the_example_of_the_slides_is_not_random)
{
    static const int32_t s[] = {2, 1, 1, 2, 1, 1, 0, 0, 8, 9, 10, 8, 9, 1, 9, 9};

    ck_assert(!ftree_hang_is_random(s, 16));
}

TEST_CASE(too_few_and_too_many_runs_are_not_random)
{
    int32_t half[32], turns[32], mixed[32] = {1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1,
                                              1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1};
    int32_t same[32] = {0}, one[32] = {0};

    for (int i = 0; i < 32; i++) {
        half[i] = i < 16;
        turns[i] = i % 2;
    }
    one[7] = 1;
    ck_assert(!ftree_hang_is_random(half, 32));
    ck_assert(!ftree_hang_is_random(turns, 32));
    ck_assert(!ftree_hang_is_random(same, 32));
    ck_assert(!ftree_hang_is_random(one, 32));
    ck_assert(!ftree_hang_is_random(NULL, 0));
    ck_assert(ftree_hang_is_random(mixed, 32));
}

/* ---- the model ------------------------------------------------------------------------------- */

/* The slides: sample size, credible share, its error, and how many suspicious samples that
 * makes. */
static const struct {
    int32_t n;
    double p, d;
    int32_t k;
} level[] = {{11, 0.47, 0.3, 27}, {18, 0.47, 0.3, 27}, {19, 0.27, 0.2, 10}, {41, 0.27, 0.2, 10},
             {42, 0.12, 0.1, 5},  {85, 0.12, 0.1, 5},  {86, 0.06, 0.05, 4}, {5000, 0.06, 0.05, 4}};

TEST_CASES(levels_are_the_published_ones, COUNT(level))
{
    const struct hang_level *l = ftree_hang_level(level[_i].n);

    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq_tol(l->p, level[_i].p, 1e-9);
    ck_assert_double_eq_tol(l->d, level[_i].d, 1e-9);
    ck_assert_double_lt(pow(l->p + l->d, level[_i].k), ALPHA);
    ck_assert_double_ge(pow(l->p + l->d, level[_i].k - 1), ALPHA);
    /* p (1 - p) / n is the variance of a share */
    ck_assert_double_le(1.96 * 1.96 * l->p * (1 - l->p) / level[_i].n, l->d * l->d * 1.02);
}

TEST_CASE(there_is_no_level_for_too_few_samples)
{
    ck_assert_ptr_null(ftree_hang_level(10));
}

TEST_CASE(the_threshold_is_the_smallest_value_with_a_share_of_p)
{
    int32_t s[100];
    struct hang_model m;

    for (int i = 0; i < 100; i++)
        s[i] = (7 * i) % 100; /* each of 0 .. 99 once */
    ck_assert(ftree_hang_model(s, 100, 0, &m));
    ck_assert_int_eq(m.t, 5);
    ck_assert_double_eq_tol(m.f, 0.06, 1e-9);
    ck_assert_double_eq_tol(m.q, 0.11, 1e-9);
    ck_assert(ftree_hang_model(s, 100, 19, &m)); /* at least that */
    ck_assert_int_eq(m.t, 19);
    ck_assert_double_eq_tol(m.q, 0.2 + 0.0784, 1e-4);
    ck_assert(ftree_hang_model(s, 100, 99, &m)); /* none would be above */
    ck_assert_int_eq(m.t, 5);
    for (int i = 0; i < 100; i++)
        s[i] = i < 50 ? 3 : i; /* half of them are equal */
    ck_assert(ftree_hang_model(s, 100, 0, &m));
    ck_assert_int_eq(m.t, 3);
    ck_assert_double_eq_tol(m.q, 0.5 + 0.098, 1e-4);
}

TEST_CASE(some_samples_are_above_the_threshold)
{
    int32_t s[100];
    struct hang_model m;

    for (int i = 0; i < 100; i++)
        s[i] = 8;
    ck_assert(!ftree_hang_model(s, 100, 0, &m)); /* all are equal */
    s[40] = 2;
    s[41] = 1;
    ck_assert(ftree_hang_model(s, 100, 0, &m));
    ck_assert_int_eq(m.t, 2);
    ck_assert_double_eq_tol(m.q, 0.07, 1e-9);
}

TEST_CASE(unknown_samples_do_not_count)
{
    int32_t s[100];
    struct hang_model m;

    for (int i = 0; i < 100; i++)
        s[i] = i % 10 == 0 ? i / 10 : HANG_UNKNOWN;
    ck_assert(!ftree_hang_model(s, 100, 0, &m)); /* 10 */
    s[1] = 7;
    ck_assert(ftree_hang_model(s, 100, 0, &m));
    ck_assert_int_eq(m.n, 11);
}

/* ---- histories ------------------------------------------------------------------------------- */

static uint64_t seed;

static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double) (seed >> 11) / 9007199254740992.0;
}

/* Of 16 ranks each is outside with this probability. */
static int32_t draw_sample(double p)
{
    int32_t n = 0;

    for (int i = 0; i < 16; i++)
        n += draw() < p;
    return n;
}

static void draw_history(int32_t *s, int32_t n, double p)
{
    for (int32_t i = 0; i < n; i++)
        s[i] = draw_sample(p);
}

static struct hang_result result_of(const int32_t *s, int32_t n)
{
    struct hang_result r;

    ftree_hang_test(s, n, 0, ALPHA, &r);
    return r;
}

TEST_CASE(a_hang_is_found_after_the_published_number_of_samples)
{
    int32_t s[HANG_HISTORY_MAX], n = 150, k = 0;
    struct hang_result r;

    seed = 3;
    draw_history(s, n, 0.6);
    do {
        s[n + k++] = 1;
        r = result_of(s, n + k);
    } while (r.state != HANG_LIKELY && k < 100);
    ck_assert_int_le(k, 5);
    ck_assert_int_ge(k, 4);
    ck_assert_int_eq(r.doublings, 0);
    ck_assert_int_ge(r.run, r.needed);
    ck_assert_double_lt(r.significance, ALPHA);
    for (; k < 1000; k++) /* and still is, as long as it lasts */
        s[n + k] = 1;
    ck_assert_int_eq(result_of(s, n + 5).state, HANG_LIKELY);
    ck_assert_int_eq(result_of(s, n + 50).state, HANG_LIKELY);
    ck_assert_int_eq(result_of(s, n + 500).state, HANG_LIKELY);
}

/* Of a program that is often in MPI with all ranks one that is outside alone is suspicious, too. */
TEST_CASE(a_hang_that_is_not_the_lowest_value_is_found)
{
    int32_t s[HANG_HISTORY_MAX], n = 150, k = 0;
    struct hang_result r;

    seed = 17;
    for (int i = 0; i < n; i++)
        s[i] = draw() < 0.3 ? 0 : draw_sample(0.5);
    do {
        s[n + k++] = 1;
        r = result_of(s, n + k);
    } while (r.state != HANG_LIKELY && k < 100);
    ck_assert_int_eq(r.model.t, 1);
    ck_assert_int_ge(k, 7);
    ck_assert_int_le(k, 11);
}

TEST_CASE(nothing_is_claimed_of_too_few_samples)
{
    int32_t s[40];

    seed = 5;
    draw_history(s, 40, 0.6);
    for (int i = 15; i < 40; i++)
        s[i] = 0;
    ck_assert_int_eq(result_of(s, 0).state, HANG_LEARNING);
    ck_assert_int_eq(result_of(s, 15).state, HANG_LEARNING);
    ck_assert_int_eq(result_of(s, 40).state, HANG_LEARNING); /* 15 before the run */
}

TEST_CASE(samples_before_a_gap_are_not_in_the_run)
{
    int32_t s[210];
    struct hang_result r;

    seed = 3;
    draw_history(s, 200, 0.6);
    for (int i = 200; i < 210; i++)
        s[i] = 0;
    ck_assert_int_eq(result_of(s, 210).state, HANG_LIKELY);
    s[207] = HANG_UNKNOWN;
    r = result_of(s, 210);
    ck_assert_int_eq(r.state, HANG_HEALTHY);
    ck_assert_int_eq(r.run, 2);
    s[209] = HANG_UNKNOWN; /* just now */
    ck_assert_int_eq(result_of(s, 210).run, 0);
}

/* Phases of 40 s, in which one rank works, and of 40 s in which all do: known for 13 minutes. */
TEST_CASE(phases_that_are_known_are_no_hang)
{
    int32_t s[HANG_HISTORY_MAX];

    seed = 7;
    for (int i = 0; i < HANG_HISTORY_MAX; i++)
        s[i] = i / 100 % 2 ? 1 : draw_sample(0.6);
    for (int n = 400; n < HANG_HISTORY_MAX; n += 7) {
        struct hang_result r = result_of(s, n);
        ck_assert_int_ne(r.state, HANG_LIKELY);
    }
}

/* All are outside for two minutes, then one after the other comes. */
TEST_CASE(the_first_phase_ever_is_no_hang)
{
    int32_t s[400];

    for (int i = 0; i < 300; i++)
        s[i] = 16;
    for (int i = 300; i < 400; i++)
        s[i] = i < 330 ? 16 - (i - 300) / 2 : 1;
    for (int n = 300; n < 400; n++)
        ck_assert_int_ne(result_of(s, n).state, HANG_LIKELY);
}

/* Samples that depend on the one before are not taken at that interval. */
TEST_CASE(the_interval_is_doubled_until_samples_are_random)
{
    int32_t s[HANG_HISTORY_MAX];
    struct hang_result r;
    double p = 0.6;

    seed = 11;
    for (int i = 0; i < 1200; i++) {
        if (draw() < 0.3)
            p = draw();
        s[i] = draw_sample(p);
    }
    r = result_of(s, 1200);
    ck_assert_int_eq(r.state, HANG_HEALTHY);
    ck_assert_int_ge(r.doublings, 1);
    for (int i = 1200; i < 1300; i++)
        s[i] = 1;
    r = result_of(s, 1300);
    ck_assert_int_eq(r.state, HANG_LIKELY);
    ck_assert_int_ge(r.doublings, 1);
}

TEST_CASE(nothing_is_claimed_of_what_is_random_at_no_interval)
{
    int32_t s[HANG_HISTORY_MAX];
    struct hang_result r;

    seed = 13;
    for (int i = 0; i < 1000; i++)
        s[i] = i < 500 ? draw_sample(0.9) : draw_sample(0.3);
    for (int i = 1000; i < 1050; i++)
        s[i] = 0;
    r = result_of(s, 1050);
    ck_assert_int_eq(r.state, HANG_NOT_RANDOM);
    ck_assert_int_eq(r.doublings, HANG_DOUBLINGS_MAX);
}

/* Of healthy programs, each with its own share of ranks outside MPI and as many samples as a level
 * needs, no more than ALPHA may seem to hang.  (So many that 3 ALPHA would be seen.) */
TEST_CASES(false_alarms_are_no_more_than_alpha, 20)
{
    static const int32_t samples[] = {30, 60, 90, 300};
    static const double share[] = {0.05, 0.2, 0.5, 0.8, 0.97};
    int32_t s[HANG_HISTORY_MAX], n = samples[_i / 5], alarms = 0, trials = n < 200 ? 4000 : 2000;

    seed = (uint64_t) _i + 1;
    for (int i = 0; i < trials; i++) {
        draw_history(s, n, share[_i % 5]);
        alarms += result_of(s, n).state == HANG_LIKELY;
    }
    ck_assert_msg(alarms <= ALPHA * trials, "%d of %d", alarms, trials);
}

/* ---- the longest stay ------------------------------------------------------------------------ */

#define SECOND (1000.0 * FTREE_MS)

/* In (0, 1]. */
static double draw_one(void)
{
    return 1 - draw();
}

static double exponential(double mean)
{
    return -mean * log(draw_one());
}

/* exp() of a normal deviate, by Box and Muller. */
static double lognormal(double sigma)
{
    double r = sqrt(-2 * log(draw_one()));

    return exp(sigma * r * cos(2 * M_PI * draw_one()));
}

static double pareto(double exponent)
{
    return 0.3 * pow(draw_one(), -1 / exponent);
}

static double uniform(double low, double high)
{
    return low + (high - low) * draw_one();
}

static double rarely(double share, double low, double high)
{
    return draw_one() < share ? uniform(low, high) : uniform(0.01, 0.5);
}

/* Seconds that a rank of a healthy program is outside MPI. Of the last kind the first long one is of
 * a kind that is not in a short history. */
static double draw_stay(int kind)
{
    switch (kind) {
        case 0: return exponential(1);
        case 1: return exponential(10);
        case 2: return lognormal(1);
        case 3: return lognormal(1.5);
        case 4: return lognormal(2);
        case 5: return pareto(3);
        case 6: return pareto(2);
        case 7: return pareto(1.5);
        case 8: return uniform(0.1, 60);
        case 9: return exp(uniform(log(0.1), log(60)));
        case 10: return rarely(0.001, 5, 30);
        case 11: return rarely(0.02, 10, 20);
        default: return pareto(1);
    }
}
#define STAYS 13

/* All ranks take the same time, which leaves the fewest stays.  The history of a job is 15 to 400 s
 * when it is first looked at.  rows: all kinds, if ranks compute, and those with a variance if they
 * are blocked */
TEST_CASES(healthy_stays_are_seldom_as_long_as_improbable_ones, 2 * STAYS - 1)
{
    static const double begins[] = {15, 40, 120, 400};
    int kind = _i % STAYS, exponent = _i < STAYS ? HANG_TAIL_COMPUTES : HANG_TAIL_BLOCKED;
    int alarms = 0, tests = 0;

    seed = (uint64_t) kind + 1;
    for (int job = 0; job < 400; job++) {
        double before = 0, longest = exponent == HANG_TAIL_COMPUTES ? 0.6 : 1;
        for (int stays = 0; stays < 100;) {
            double stay = draw_stay(kind);
            bool looked_at = before >= begins[job % 4];
            struct hang_stays s = {.before = (ftree_time) (before * SECOND),
                                   .longest = (ftree_time) (longest * SECOND),
                                   .ranks = 1,
                                   .exponent = exponent};
            alarms += looked_at && ftree_hang_tail(&s, (ftree_time) (stay * SECOND)) < ALPHA;
            stays += looked_at;
            tests += looked_at;
            before = fmin(before + stay + 0.05, 800);
            longest = fmax(longest, stay);
        }
    }
    ck_assert_msg(alarms <= (kind == 11 ? 2 : 1) * ALPHA * tests, "%d of %d", alarms, tests);
}

/* The same of a rank that is tested by its own stays, with looks 0.6 s apart at most, which miss the short
 * ones and the begin of each.  So are all of the job's ranks, and one of them is found no more often. */
static int32_t own_alarms(int kind, int32_t ranks, int32_t *tests)
{
    struct hang_stays s = {.longest = (ftree_time) (0.05 * SECOND),
                           .apart = (ftree_time) (0.6 * SECOND),
                           .ranks = ranks,
                           .exponent = HANG_TAIL_COMPUTES};
    double look = draw(), end = 0;
    int32_t alarms = 0;

    for (*tests = 0; *tests < 100;) {
        ftree_time seen;
        end += draw_stay(kind);
        if (look >= end)
            continue;
        seen = (ftree_time) ((end - look) * SECOND);
        if (s.before >= (ftree_time) (25.6 * SECOND)) {
            alarms += ftree_hang_tail(&s, seen) < ALPHA;
            ++*tests;
        }
        s.longest = seen > s.longest ? seen : s.longest;
        for (; look < end; look += 0.2 + 0.4 * draw())
            s.before += (ftree_time) (0.4 * SECOND);
    }
    return alarms;
}

TEST_CASES(healthy_ranks_are_seldom_away_for_improbably_longer_than_themselves, STAYS)
{
    static const int32_t ranks[] = {4, 16};
    int32_t alarms = 0, all = 0, tests;

    seed = (uint64_t) _i + 1;
    for (int job = 0; job < 400; job++)
        for (int32_t rank = 0; rank < ranks[job % 2]; rank++, all += tests / ranks[job % 2])
            alarms += own_alarms(_i, ranks[job % 2], &tests);
    ck_assert_msg(alarms <= ALPHA * all, "%d of %d", alarms, all);
}

/* A test may not lose significance as a hang goes on: neither by the samples of the hang, */
TEST_CASES(the_longer_a_hang_lasts_the_surer_it_is, 25)
{
    static const int32_t samples[] = {20, 30, 60, 90, 300};
    static const double share[] = {0.05, 0.2, 0.5, 0.8, 0.97};
    int32_t s[HANG_HISTORY_MAX], n = samples[_i / 5];
    double least = 1;

    seed = (uint64_t) _i + 1;
    do
        draw_history(s, n, share[_i % 5]);
    while (!ftree_hang_is_random(s, n));
    for (int32_t k = 1; n + k <= HANG_HISTORY_MAX; k += 1 + k / 8) {
        struct hang_result r;
        for (int32_t i = 0; i < k; i++)
            s[n + i] = _i % 3 ? 0 : 1;
        r = result_of(s, n + k);
        if (r.doublings > 0) /* then which samples are taken depends on how many there are */
            break;
        if (least < ALPHA)
            ck_assert_int_eq(r.state, HANG_LIKELY);
        if (r.state >= HANG_HEALTHY && k <= 16) { /* of more not each is tried */
            ck_assert_double_le(r.significance, least);
            least = r.significance;
        }
    }
}

/* nor by its length, */
TEST_CASES(the_longer_a_stay_the_less_probable_it_is, 6)
{
    struct hang_stays s = {.before = (ftree_time) (60 * SECOND),
                           .longest = (ftree_time) ((_i % 3 + 0.1) * SECOND),
                           .apart = (ftree_time) (_i % 2 * SECOND),
                           .ranks = 1 + 15 * (_i % 2),
                           .exponent = 1 + _i / 3};
    double least = 1;

    for (ftree_time stay = 0; stay < (ftree_time) (1000 * SECOND); stay += FTREE_MS + stay / 8) {
        double p = ftree_hang_tail(&s, stay);
        ck_assert_double_le(p, least);
        least = p;
    }
    ck_assert_double_lt(least, ALPHA);
}

/* nor by samples that nobody took meanwhile. */
TEST_CASES(what_was_before_a_stay_does_not_depend_on_the_samples_of_it, 20)
{
    static struct hang_history h;
    int64_t before = 0;

    h = (struct hang_history){.first = 1, .last = 3000};
    for (uint64_t i = 1; i <= h.last; i++) {
        bool of_stay = i > 3000 - (uint64_t) _i * 100;
        int32_t sample = of_stay && i % 3 ? HANG_UNKNOWN : i % 5 > 0;
        h.sample[i % HANG_HISTORY_MAX] = sample;
        h.outside += sample > 0;
        before += !of_stay && sample > 0;
    }
    ck_assert_int_eq(ftree_hang_history_before(&h, (uint64_t) _i * 100), before);
}

TEST_CASES(a_stay_is_improbable_from_a_certain_length_on, 36)
{
    static const double before[] = {0, 1, 15, 60, 600, 3600}, longest[] = {1, 10, 100};
    ftree_time b = (ftree_time) (before[_i / 3 % 6] * SECOND), l = (ftree_time) (longest[_i % 3] * SECOND);
    int exponent = _i < 18 ? HANG_TAIL_COMPUTES : HANG_TAIL_BLOCKED;
    struct hang_stays s = {.before = b, .longest = l, .ranks = 1, .exponent = exponent};
    ftree_time from = ftree_hang_tail_of(&s, ALPHA);

    ck_assert_double_lt(ftree_hang_tail(&s, from), ALPHA);
    ck_assert(from == l + 1 || ftree_hang_tail(&s, from - from / 1000) >= ALPHA);
    ck_assert_double_eq(ftree_hang_tail(&s, l), 1);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static struct hang_sweep sweep_of(uint64_t progress, int32_t first, int32_t count, uint64_t calls)
{
    static struct hang_sweep s;

    s = (struct hang_sweep){.progress = progress, .count = count};
    for (int32_t i = 0; i < count && i < HANG_RANKS_MAX; i++)
        s.stay[i] = (struct ftree_stay){.rank = first + i, .calls = calls};
    return s;
}

static enum hang_swept sweep(struct hang_sweeps *all, uint64_t progress, int32_t first,
                             int32_t count, uint64_t calls)
{
    struct hang_sweep now = sweep_of(progress, first, count, calls);

    return ftree_hang_swept(all, &now);
}

TEST_CASE(five_sweeps_name_the_ranks)
{
    static struct hang_sweeps all;

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(sweep(&all, 9, 3, 2, 5), HANG_SWEEP_ON);
    ck_assert_int_eq(sweep(&all, 9, 3, 2, 5), HANG_NAMED);
    ck_assert_int_eq(all.done, HANG_SWEEPS);
    ck_assert_int_eq(all.last.count, 2);
    ck_assert_int_eq(all.last.stay[0].rank, 3);
    ck_assert_int_eq(all.last.stay[1].rank, 4);
}

TEST_CASE(who_is_not_outside_each_time_is_not_named)
{
    static struct hang_sweeps all;

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(sweep(&all, 9, 3, 4, 5), HANG_SWEEP_ON);
    ck_assert_int_eq(sweep(&all, 9, 5, 4, 5), HANG_SWEEP_ON);
    ck_assert_int_eq(sweep(&all, 9, 3, 9, 5), HANG_NAMED);
    ck_assert_int_eq(all.last.count, 2);
    ck_assert_int_eq(all.last.stay[0].rank, 5);
    ck_assert_int_eq(all.last.stay[1].rank, 6);
}

TEST_CASES(who_did_something_once_is_not_blocked, HANG_SWEEPS)
{
    static struct hang_sweeps all;
    struct hang_sweep now;

    for (int i = 0; i < HANG_SWEEPS; i++) {
        now = sweep_of(9, 3, 2, 5);
        now.stay[0].what = i == _i ? FTREE_OUTSIDE_RUNS : FTREE_OUTSIDE_SLEEPS;
        now.stay[1].what = FTREE_OUTSIDE_SLEEPS;
        ftree_hang_swept(&all, &now);
    }
    ck_assert_int_eq(all.last.stay[0].what, FTREE_OUTSIDE_RUNS);
    ck_assert_int_eq(all.last.stay[1].what, FTREE_OUTSIDE_SLEEPS);
}

/* Of one that runs at a look it is not known.  rows: each of the sweeps */
TEST_CASES(what_could_wake_it_once_may_do_so_again, HANG_SWEEPS)
{
    static struct hang_sweeps all;
    struct hang_sweep now;

    for (int i = 0; i < HANG_SWEEPS; i++) {
        now = sweep_of(9, 3, 1, 5);
        now.stay[0].what = i == _i ? FTREE_OUTSIDE_PAUSES : FTREE_OUTSIDE_RUNS;
        now.stay[0].ending = i == _i ? FTREE_ENDING_INPUT : FTREE_ENDING_UNKNOWN;
        ftree_hang_swept(&all, &now);
    }
    ck_assert_int_eq(all.last.stay[0].ending, FTREE_ENDING_INPUT);
}

#define U FTREE_CPU_UNKNOWN

static const struct {
    uint8_t what[HANG_SWEEPS];
    int cpu[HANG_SWEEPS];
    uint8_t is;
} pauses[] = {
#define S FTREE_OUTSIDE_SLEEPS
#define P FTREE_OUTSIDE_PAUSES
#define R FTREE_OUTSIDE_RUNS
    {{S, P, S, P, S}, {U, 0, 0, 1, 0}, P}, /* each second look sees a pause through */
    {{S, P, S, R, S}, {U, 0, 0, 1, 0}, P}, /* one sees it between two */
    {{R, S, P, S, S}, {U, 0, 1, 0, 0}, P},
    {{R, P, P, P, P}, {U, 9, 9, 9, 9}, P},
    {{S, P, P, R, R}, {U, 1, 1, 90, 99}, R}, /* it computes now, */
    {{S, R, P, S, P}, {U, 10, 1, 0, 1}, R}, /* or has, */
    {{R, R, R, R, R}, {U, 3, 3, 3, 3}, R}, /* or would, if it had a CPU */
    {{FTREE_OUTSIDE_AWAITS, P, FTREE_OUTSIDE_AWAITS, P, P}, {U, 0, 0, 0, 0}, P},
    {{P, P, P, P, FTREE_OUTSIDE_STOPPED}, {U, 0, 0, 0, 0}, FTREE_OUTSIDE_STOPPED},
#undef S
#undef P
#undef R
};
#undef U

TEST_CASES(who_does_little_pauses, sizeof(pauses) / sizeof(pauses[0]))
{
    static struct hang_sweeps all;
    struct hang_sweep now;

    for (int i = 0; i < HANG_SWEEPS; i++) {
        now = sweep_of(9, 3, 1, 5);
        now.stay[0].what = pauses[_i].what[i];
        now.stay[0].cpu = pauses[_i].cpu[i];
        ftree_hang_swept(&all, &now);
    }
    ck_assert_int_eq(all.last.stay[0].what, pauses[_i].is);
}

TEST_CASES(a_rank_that_goes_on_says_that_it_is_slow, 4)
{
    static struct hang_sweeps all;

    for (int i = 0; i < 1 + _i; i++)
        ck_assert_int_eq(sweep(&all, 9, 3, 2, 5), HANG_SWEEP_ON);
    ck_assert_int_eq(sweep(&all, 10, 3, 2, 5), HANG_SLOW);
}

TEST_CASE(nobody_is_named_where_there_is_none_or_too_many)
{
    static struct hang_sweeps none, gone, anew, many;

    ck_assert_int_eq(sweep(&none, 9, 3, 0, 5), HANG_NOBODY);
    ck_assert_int_eq(sweep(&gone, 9, 3, 2, 5), HANG_SWEEP_ON);
    ck_assert_int_eq(sweep(&gone, 9, 8, 2, 5), HANG_NOBODY);
    ck_assert_int_eq(sweep(&anew, 9, 3, 1, 5), HANG_SWEEP_ON);
    ck_assert_int_eq(sweep(&anew, 9, 3, 1, 6), HANG_NOBODY); /* another stay */
    ck_assert_int_eq(sweep(&many, 9, 0, HANG_RANKS_MAX + 1, 5), HANG_NOBODY);
}

/* Of one that says that there are more than it names. */
TEST_CASE(nobody_is_named_where_not_all_are_known)
{
    struct ftree_stay stays[2] = {{.rank = 3}, {.rank = 4}};
    struct hang_answer a = {.outside = 2, .stays = {.items = stays, .n = 2}};
    struct hang_sweep now;

    ftree_hang_sweep_of(&a, &now);
    ck_assert_int_eq(now.count, 2);
    ck_assert_int_eq(now.stay[1].rank, 4);
    a.outside = 3;
    ftree_hang_sweep_of(&a, &now);
    ck_assert_int_gt(now.count, HANG_RANKS_MAX);
}

/* Where all ranks do the same those that are known stand for them. */
TEST_CASE(all_ranks_in_disk_sleep_may_be_any_number)
{
    struct ftree_stay stays[2] = {{.rank = 0}, {.rank = 1}};
    struct hang_answer a = {
        .outside = 1000, .in_disk_sleep = 1000, .stays = {.items = stays, .n = 2}};
    struct hang_sweep now;

    ck_assert(ftree_hang_is_disk_sleep_of_all(&a));
    ftree_hang_sweep_of(&a, &now);
    ck_assert_int_eq(now.count, 2);
    ck_assert_int_eq(now.more, 998);
    a.in_disk_sleep = 999;
    ck_assert(!ftree_hang_is_disk_sleep_of_all(&a));
    a.in_disk_sleep = 1000;
    a.inside = 1;
    ck_assert(!ftree_hang_is_disk_sleep_of_all(&a));
    ftree_hang_sweep_of(&a, &now);
    ck_assert_int_gt(now.count, HANG_RANKS_MAX);
    a = (struct hang_answer){0};
    ck_assert(!ftree_hang_is_disk_sleep_of_all(&a));
}
