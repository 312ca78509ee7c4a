/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/hang/hang.h"

#include <math.h>

/* The runs test: a sequence of values of two kinds has too few runs if neighbours tend to be alike,
 * and too many if they tend to differ. */

#define EXACT_MAX 20 /* of the rarer kind; Swed and Eisenhart's tables end there, too */
#define TAIL 0.025 /* on each side */
#define Z 1.959964 /* of the normal distribution, for that */

static double choose(int32_t n, int32_t k)
{
    double c = 1;

    if (k < 0 || k > n)
        return 0;
    for (int32_t i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return c;
}

/* Sequences of a values of one kind and b of the other with r runs, a <= b.  An even number of runs
 * begins with either kind. */
static double sequences(int32_t a, int32_t b, int32_t r)
{
    int32_t k = r / 2;

    if (r % 2 == 0)
        return 2 * choose(a - 1, k - 1) * choose(b - 1, k - 1);
    return choose(a - 1, k) * choose(b - 1, k - 1) + choose(a - 1, k - 1) * choose(b - 1, k);
}

/* The largest number of runs that is too small, and the smallest that is too large. */
static struct hang_region exact(int32_t a, int32_t b)
{
    struct hang_region g = {.low = 0, .high = INT32_MAX};
    int32_t most = a < b ? 2 * a + 1 : 2 * a;
    double tail = TAIL * choose(a + b, a), sum = 0;

    for (int32_t r = 2; r <= most && (sum += sequences(a, b, r)) <= tail; r++)
        g.low = r;
    sum = 0;
    for (int32_t r = most; r >= 2 && (sum += sequences(a, b, r)) <= tail; r--)
        g.high = r;
    return g;
}

static struct hang_region normal(double a, double b)
{
    double n = a + b, mean = 2 * a * b / n + 1;
    double width = Z * sqrt(2 * a * b * (2 * a * b - n) / (n * n * (n - 1)));

    return (struct hang_region){(int32_t) (mean - width), (int32_t) (mean + width) + 1};
}

struct hang_region ftree_hang_region(int32_t some, int32_t others)
{
    int32_t a = some < others ? some : others, b = some < others ? others : some;

    if (a < 1)
        return (struct hang_region){.low = 0, .high = INT32_MAX};
    return a <= EXACT_MAX ? exact(a, b) : normal(a, b);
}

bool ftree_hang_is_random(const int32_t *sample, int32_t n)
{
    int32_t above = 0, count = 0;
    struct hang_region g;
    double sum = 0;

    for (int32_t i = 0; i < n; i++)
        sum += sample[i];
    for (int32_t i = 0; i < n; i++) {
        bool is_above = sample[i] * (double) n > sum;
        above += is_above;
        count += i == 0 || is_above != (sample[i - 1] * (double) n > sum);
    }
    if (above < 2 || n - above < 2)
        return false;
    g = ftree_hang_region(above, n - above);
    return g.low < count && count < g.high;
}
