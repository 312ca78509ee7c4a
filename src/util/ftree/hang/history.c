/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/hang/hang.h"

#include <math.h>

/*
 * The runs test has all samples.  ParaStack tests 16 of them once; then a phase of a minute looks
 * random before and after it, and a program whose ranks are nearly always outside MPI shows too
 * little variation to be tested at all.  The run at the end is left out of the runs test, for it
 * would be one run too long.
 */

/* Steps between the samples at a doubled interval I are from I/2 to 3I/2, as those between instants
 * are. */
static int32_t step_of(uint64_t instant, int32_t doublings)
{
    uint64_t x = (instant + 1) * 0x9e3779b97f4a7c15u, i = (uint64_t) 1 << doublings;

    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
    return doublings == 0 ? 1 : (int32_t) (i / 2 + (x >> 33) % (i + 1));
}

/* What is left of n samples, in the order of time; *since: those from this place on are behind the
 * last gap. */
static int32_t thin_out(const int32_t *sample, int32_t n, uint64_t first, int32_t doublings,
                        int32_t *out, int32_t *since)
{
    int32_t kept = 0, gap = n - 1, behind = 0;

    while (gap >= 0 && sample[gap] != HANG_UNKNOWN)
        gap--;
    for (int32_t i = n - 1; i >= 0; i -= step_of(first + (uint64_t) i, doublings)) {
        if (sample[i] == HANG_UNKNOWN)
            continue;
        out[kept++] = sample[i];
        behind += i > gap;
    }
    for (int32_t i = 0; i < kept / 2; i++) {
        int32_t x = out[i];
        out[i] = out[kept - 1 - i];
        out[kept - 1 - i] = x;
    }
    *since = kept - behind;
    return kept;
}

static bool is_largest(const int32_t *sample, int32_t n)
{
    for (int32_t i = 0; i < n - 1; i++)
        if (sample[i] > sample[n - 1])
            return false;
    return true;
}

/* The run at the end, and the model of the samples before it.  How long it is depends on the threshold,
 * and that on the model; each turn adds to the run.  False: there is no model. */
static bool find_run(const int32_t *sample, int32_t n, struct hang_result *r)
{
    int32_t last = sample[n - 1], before = n;

    r->model.t = last;
    if (is_largest(sample, n))
        return ftree_hang_model(sample, n, last, &r->model);
    do {
        while (before > 0 && sample[before - 1] <= r->model.t)
            before--;
        if (!ftree_hang_model(sample, before, last, &r->model))
            return false;
    } while (sample[before - 1] <= r->model.t);
    r->run = n - before;
    return true;
}

/* The samples of the run are in the model, too, which becomes more cautious by that: but no more of
 * them than make the run most improbable, or a hang would look the more usual the longer it lasts. */
static void weigh_run(struct hang_result *r, double alpha)
{
    const struct hang_model before = r->model;
    struct hang_model m = before;

    r->significance = 1;
    r->needed = INT32_MAX;
    for (int32_t k = 1; k <= HANG_HISTORY_MAX && (k <= r->run || r->needed == INT32_MAX); k++) {
        double p;
        m = before;
        ftree_hang_model_add(&m, k);
        p = m.q < 1 ? pow(m.q, k) : 1;
        if (p < alpha && r->needed == INT32_MAX)
            r->needed = k;
        if (k <= r->run && p < r->significance) {
            r->significance = p;
            r->model = m;
        }
    }
}

/* False: they are not random, and a longer interval may help. */
static bool test(const int32_t *sample, int32_t n, int32_t since, double alpha,
                 struct hang_result *r)
{
    int32_t before;

    r->state = HANG_LEARNING;
    if (n < HANG_WINDOW || !find_run(sample, n, r))
        return true;
    before = n - r->run;
    if (r->run > n - since)
        r->run = n - since;
    weigh_run(r, alpha);
    if (before < HANG_WINDOW)
        return true;
    if (!ftree_hang_is_random(sample, before, NULL))
        return false;
    r->state = r->run >= r->needed ? HANG_LIKELY : HANG_HEALTHY;
    return true;
}

void ftree_hang_test(const int32_t *sample, int32_t n, uint64_t first, double alpha,
                     struct hang_result *out)
{
    int32_t thin[HANG_HISTORY_MAX], kept, since;

    for (int32_t i = 0; i <= HANG_DOUBLINGS_MAX; i++) {
        *out = (struct hang_result){.doublings = i};
        kept = thin_out(sample, n, first, i, thin, &since);
        if (test(thin, kept, since, alpha, out))
            return;
    }
    out->state = HANG_NOT_RANDOM;
}

const char *ftree_hang_state_name(int state)
{
    static const char *const names[HANG_STATES] = {"too few samples", "not random", "healthy",
                                                   "hang"};

    return state >= 0 && state < HANG_STATES ? names[state] : "?";
}
