/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/hang/hang.h"

#include <math.h>
#include <string.h>

#define EACH_UP_TO 16 /* samples of a run; of a longer one fewer are tried */

/*
 * The runs test has all samples.  ParaStack tests 16 of them once; then a phase of a minute looks
 * random before and after it, and a program whose ranks are nearly always outside MPI shows too
 * little variation to be tested at all.  The run at the end is left out of the runs test, for it
 * would be one run too long, and kept in the model, which becomes more cautious by that.
 */

/* Steps between the samples at a doubled interval I are from I/2 to 3I/2, as those between instants
 * are. */
static int32_t step_of(uint64_t instant, int32_t doublings)
{
    uint64_t x = (instant + 1) * 0x9e3779b97f4a7c15u, i = (uint64_t) 1 << doublings;

    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
    return doublings == 0 ? 1 : (int32_t) (i / 2 + (x >> 33) % (i + 1));
}

/* What is left of n samples, in the order of time, where there is room for HANG_HISTORY_MAX; *since:
 * those from this place on are behind the last gap. */
static int32_t thin_out(const int32_t *sample, int32_t n, uint64_t first, int32_t doublings,
                        int32_t *out, int32_t *since)
{
    int32_t kept = 0, gap = n - 1, behind = 0;

    while (gap >= 0 && sample[gap] != HANG_UNKNOWN)
        gap--;
    for (int32_t i = n - 1; i >= 0; i -= step_of(first + (uint64_t) i, doublings)) {
        if (sample[i] == HANG_UNKNOWN)
            continue;
        out[HANG_HISTORY_MAX - ++kept] = sample[i];
        behind += i > gap;
    }
    memmove(out, out + HANG_HISTORY_MAX - kept, (size_t) kept * sizeof(*out));
    *since = kept - behind;
    return kept;
}

static int32_t low_at_end(const int32_t *sample, int32_t n, int32_t t)
{
    int32_t low = 0;

    while (low < n && sample[n - 1 - low] <= t)
        low++;
    return low;
}

/* False: they are not random, and a longer interval may help. */
static bool test(const int32_t *sample, int32_t n, int32_t since, double alpha,
                 struct hang_result *r)
{
    int32_t low;

    r->state = HANG_LEARNING;
    if (n < HANG_WINDOW || !ftree_hang_model(sample, n, sample[n - 1], &r->model))
        return true;
    low = low_at_end(sample, n, r->model.t);
    r->run = low < n - since ? low : n - since;
    r->needed = ftree_hang_needed(r->model.q, alpha);
    r->significance = pow(r->model.q < 1 ? r->model.q : 1, r->run);
    if (n - low < HANG_WINDOW)
        return true;
    if (!ftree_hang_is_random(sample, n - low))
        return false;
    r->state = r->run >= r->needed ? HANG_LIKELY : HANG_HEALTHY;
    return true;
}

/* The run is in the model, so the longer a hang lasts the more usual it looks.  What was improbable
 * before, in the same run, still is: so the test is that of the least significance.  As many as there
 * are seldom have to be tried. */
static void test_before(const int32_t *sample, int32_t n, int32_t since, double alpha,
                        struct hang_result *r)
{
    int32_t all = low_at_end(sample, n, r->model.t), begin = n - all;

    for (int32_t k = 1; k < all; k += 1 + k / EACH_UP_TO) {
        struct hang_result before = {.doublings = r->doublings};
        if (test(sample, begin + k, since, alpha, &before) && before.state >= HANG_HEALTHY &&
            before.significance < r->significance &&
            low_at_end(sample, n, before.model.t) >= all - k + before.run) {
            before.run += all - k;
            *r = before;
        }
    }
}

void ftree_hang_test(const int32_t *sample, int32_t n, uint64_t first, double alpha,
                     struct hang_result *out)
{
    int32_t thin[HANG_HISTORY_MAX], kept, since;

    for (int32_t i = 0; i <= HANG_DOUBLINGS_MAX; i++) {
        *out = (struct hang_result){.doublings = i};
        kept = thin_out(sample, n, first, i, thin, &since);
        if (!test(thin, kept, since, alpha, out))
            continue;
        if (out->run > 0)
            test_before(thin, kept, since, alpha, out);
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
