/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/alarms.h"

#include "sim/draw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SAMPLE (400 * FTREE_MS)
#define HOUR (3600 * 1000 * FTREE_MS)

const double sim_alphas[ALARMS_LEVELS] = {0.01, 0.001, 0.0001};

/* The significance level decides nothing but how long a run is needed. */
static bool is_alarm(const struct hang_result *r, double alpha)
{
    return (r->state == HANG_HEALTHY || r->state == HANG_LIKELY) &&
           r->significance < alpha;
}

static void test(struct sim_alarms *a, const int32_t *sample, int32_t n)
{
    struct hang_result r;

    ftree_hang_test(sample, n, 1, sim_alphas[0], &r);
    a->tests[r.state]++;
    a->doublings += (uint64_t) r.doublings;
    for (int i = 0; i < ALARMS_LEVELS; i++)
        a->alarms[i] += is_alarm(&r, sim_alphas[i]);
}

static int32_t draw_length(struct draw *d)
{
    int32_t n = HANG_WINDOW;

    for (uint64_t k = draw_below(d, 7); k > 0; k--)
        n *= 2;
    return n + (int32_t) draw_below(d, (uint64_t) n + 1);
}

/* ---- a hang ---------------------------------------------------------------------------------- */

/* From here on all wait for one rank: after how many samples does the test say so? */
static void hang(struct sim_alarms *a, int32_t *sample, int32_t n)
{
    int32_t i = n, found = 0;
    struct hang_result r;

    a->hangs++;
    for (int32_t k = 0; k < ALARMS_HANG_SAMPLES && found < ALARMS_LEVELS; k++) {
        if (n == HANG_HISTORY_MAX)
            memmove(sample, sample + 1, (size_t) --n * sizeof(*sample));
        sample[n++] = 1;
        i++;
        ftree_hang_test(sample, n, (uint64_t) (i - n + 1), sim_alphas[0], &r);
        for (; found < ALARMS_LEVELS && is_alarm(&r, sim_alphas[found]); found++)
            a->after[found][k]++;
    }
}

/* A job that is looked at from some time on; returns how long.  In some of them a rank hangs then. */
static ftree_time one_job(struct sim_alarms *a, struct draw *d)
{
    int32_t sample[HANG_HISTORY_MAX], n = draw_length(d);
    ftree_time begin = draw_below(d, HOUR), t = begin;
    uint64_t seed = draw_next(d);
    struct draw more = draw_stream(seed, 2);

    for (int32_t i = 0; i < n; i++) {
        t += sim_program_step(seed, SAMPLE, (uint64_t) i + 1);
        sample[i] = sim_program_outside(a->program, seed, 0, a->ranks, t);
    }
    test(a, sample, n);
    if (draw_below(&more, ALARMS_HANG_EACH) == 0)
        hang(a, sample, n);
    return t - begin;
}

void sim_alarms(struct sim_alarms *a, void (*progress)(void *ctx, uint64_t hours), void *ctx)
{
    struct draw d = draw_stream(a->seed, 1);

    for (ftree_time t = 0; t < a->hours * HOUR;) {
        t += one_job(a, &d);
        if (progress)
            progress(ctx, t / HOUR);
    }
}

/* ---- confidence ------------------------------------------------------------------------------ */

/* Of up to n, with that mean. */
static double poisson(uint64_t n, double mean)
{
    double sum = 0;

    for (uint64_t i = 0; i <= n; i++)
        sum += exp((double) i * log(mean) - mean - lgamma((double) i + 1));
    return sum;
}

/* The mean with which up to n have the probability p. */
static double mean_of(uint64_t n, double p)
{
    double low = 0, high = (double) n + 10 + 10 * sqrt((double) n + 1);

    for (int i = 0; i < 60; i++) {
        double mean = (low + high) / 2;
        if (poisson(n, mean) > p)
            low = mean;
        else
            high = mean;
    }
    return high;
}

void sim_alarms_limits(uint64_t n, double *low, double *high)
{
    *low = n ? mean_of(n - 1, 0.975) : 0;
    *high = mean_of(n, 0.025);
}

/* ---- output ---------------------------------------------------------------------------------- */

struct row {
    uint64_t tests; /* that could say so */
    double low, high; /* share of them, at 95 % */
};

static struct row row_of(const struct sim_alarms *a, int i)
{
    struct row r = {.tests = a->tests[HANG_HEALTHY] + a->tests[HANG_LIKELY]};

    sim_alarms_limits(a->alarms[i], &r.low, &r.high);
    r.low /= r.tests ? (double) r.tests : 1;
    r.high /= r.tests ? (double) r.tests : 1;
    return r;
}

/* Samples until half of the hangs were found; 0: half of them never were. */
static int32_t median_after(const struct sim_alarms *a, int level)
{
    uint64_t n = 0;

    for (int32_t k = 0; k < ALARMS_HANG_SAMPLES; k++) {
        n += a->after[level][k];
        if (n > 0 && 2 * n >= a->hangs)
            return k + 1;
    }
    return 0;
}

static uint64_t hangs_found(const struct sim_alarms *a, int level)
{
    uint64_t n = 0;

    for (int32_t k = 0; k < ALARMS_HANG_SAMPLES; k++)
        n += a->after[level][k];
    return n;
}

static uint64_t all_tests(const struct sim_alarms *a)
{
    uint64_t n = 0;

    for (int i = 0; i < HANG_STATES; i++)
        n += a->tests[i];
    return n;
}

void sim_alarms_head(FILE *f)
{
    fprintf(f, "%-8s %7s %8s %8s %10s %7s %8s %8s %9s  %-20s %6s %6s %6s\n", "program", "hours",
            "tests", "too few", "not random", "doubled", "alpha", "alarms", "per test", "95 %",
            "hangs", "found", "after");
}

void sim_alarms_rows(FILE *f, const struct sim_alarms *a)
{
    uint64_t all = all_tests(a);

    for (int i = 0; i < ALARMS_LEVELS; i++) {
        struct row r = row_of(a, i);
        fprintf(f,
                "%-8s %7" PRIu64 " %8" PRIu64 " %8" PRIu64 " %10" PRIu64 " %7.2f %8g %8" PRIu64
                " %9.2e  %.2e to %.2e %6" PRIu64 " %6" PRIu64 " %6d\n",
                a->program->name, a->hours, all, a->tests[HANG_LEARNING], a->tests[HANG_NOT_RANDOM],
                (double) a->doublings / (double) (all ? all : 1), sim_alphas[i], a->alarms[i],
                (double) a->alarms[i] / (double) (r.tests ? r.tests : 1), r.low, r.high,
                a->hangs, hangs_found(a, i), (int) median_after(a, i));
    }
    fflush(f);
}

static struct json_object *level_json(const struct sim_alarms *a, int i)
{
    struct json_object *o = json_object_new_object();
    struct row r = row_of(a, i);

    json_object_object_add(o, "alpha", json_object_new_double(sim_alphas[i]));
    json_object_object_add(o, "alarms", json_object_new_int64((int64_t) a->alarms[i]));
    json_object_object_add(o, "per_test_low", json_object_new_double(r.low));
    json_object_object_add(o, "per_test_high", json_object_new_double(r.high));
    json_object_object_add(o, "hangs_found", json_object_new_int64((int64_t) hangs_found(a, i)));
    json_object_object_add(o, "found_after_samples", json_object_new_int(median_after(a, i)));
    return o;
}

struct json_object *sim_alarms_json(const struct sim_alarms *a)
{
    struct json_object *o = json_object_new_object(), *levels = json_object_new_array();

    json_object_object_add(o, "program", json_object_new_string(a->program->name));
    json_object_object_add(o, "hours", json_object_new_int64((int64_t) a->hours));
    json_object_object_add(o, "ranks", json_object_new_int(a->ranks));
    for (int i = 0; i < HANG_STATES; i++)
        json_object_object_add(o, ftree_hang_state_name(i),
                               json_object_new_int64((int64_t) a->tests[i]));
    json_object_object_add(o, "hangs", json_object_new_int64((int64_t) a->hangs));
    json_object_object_add(o, "doublings", json_object_new_int64((int64_t) a->doublings));
    for (int i = 0; i < ALARMS_LEVELS; i++)
        json_object_array_add(levels, level_json(a, i));
    json_object_object_add(o, "levels", levels);
    return o;
}
