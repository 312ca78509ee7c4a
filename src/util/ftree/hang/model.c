/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/base.h"
#include "ftree/hang/hang.h"

#include <math.h>
#include <stdlib.h>

/* What a suspicious sample is.  The share of the samples up to t, in a history of n, differs from
 * the probability by d at the most, in 95 of 100 histories; so q errs on the side of health in
 * 97.5. */

#define NEEDED_MAX 100000

static const struct hang_level levels[] = {
    {86, 0.06, 0.05}, {42, 0.12, 0.1}, {19, 0.27, 0.2}, {11, 0.47, 0.3}};

const struct hang_level *ftree_hang_level(int32_t n)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (n >= levels[i].n)
            return &levels[i];
    return NULL;
}

int32_t ftree_hang_needed(double q, double alpha)
{
    double p = 1;

    for (int32_t k = 0; k < NEEDED_MAX; k++, p *= q)
        if (p < alpha)
            return k;
    return INT32_MAX;
}

/* Of n sorted values the last place with the value that the smallest share of p ends in, or with
 * the last value up to `least`; -1: none leaves one above. */
static int32_t place_of(const int32_t *value, int32_t n, double p, int32_t least)
{
    int32_t i = 0;

    while (i + 1 < n && (value[i] == value[i + 1] || i + 1 < p * n))
        i++;
    while (i + 1 == n || (i >= 0 && value[i] == value[n - 1]))
        i--;
    if (least < value[n - 1])
        while (value[i + 1] <= least)
            i++;
    return i;
}

bool ftree_hang_model(const int32_t *sample, int32_t n, int32_t least, struct hang_model *out)
{
    const struct hang_level *level;
    int32_t value[HANG_HISTORY_MAX], known = 0, i;
    double d;

    for (i = 0; i < n && known < HANG_HISTORY_MAX; i++)
        if (sample[i] != HANG_UNKNOWN)
            value[known++] = sample[i];
    *out = (struct hang_model){.n = known};
    level = ftree_hang_level(known);
    if (!level)
        return false;
    qsort(value, (size_t) known, sizeof(value[0]), ftree_compare_numbers);
    i = place_of(value, known, level->p, least);
    if (i < 0)
        return false;
    out->t = value[i];
    out->f = (i + 1) / (double) known;
    d = 1.96 * sqrt(out->f * (1 - out->f) / known); /* at 95 % */
    out->d = d > level->d ? d : level->d;
    out->q = out->f + out->d;
    return true;
}

/* How many stays there were at least, and the one that is looked at. */
static double stays_of(const struct hang_stays *s)
{
    ftree_time each = s->longest > s->apart ? s->longest : s->apart;

    return (double) s->before / (double) each + 1;
}

double ftree_hang_tail(const struct hang_stays *s, ftree_time stay)
{
    double times = (double) stay / (double) s->longest, p;

    if (s->exponent == HANG_TAIL_BLOCKED)
        times *= times;
    p = s->ranks / (times * stays_of(s));
    return stay > s->longest && p < 1 ? p : 1;
}

ftree_time ftree_hang_tail_of(const struct hang_stays *s, double alpha)
{
    double times = s->ranks / (alpha * stays_of(s)), stay;

    if (s->exponent == HANG_TAIL_BLOCKED)
        times = sqrt(times);
    stay = (double) s->longest * (times > 1 ? times : 1);

    return stay < (double) FTREE_NEVER / 4 ? (ftree_time) stay + 1 : FTREE_NEVER;
}
