/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/hang/hang_answer.h"

#include <string.h>

/* ---- one node -------------------------------------------------------------------------------- */

static bool add_samples(struct ftree *ft, struct hang_answer *a, uint64_t first)
{
    int32_t out[HANG_HISTORY_MAX], n = HANG_HISTORY_MAX;

    a->last = ft->io->samples(ft->io_ctx, out, n);
    if (a->last < first || a->last == 0)
        return true;
    if (a->last - first + 1 < (uint64_t) n)
        n = (int32_t) (a->last - first + 1);
    for (int32_t i = HANG_HISTORY_MAX - n; i < HANG_HISTORY_MAX; i++) {
        struct hang_sum s = {.out = out[i] < 0 ? 0 : out[i], .known = out[i] >= 0};
        if (!FTREE_ADD(ft, a->sums, s))
            return false;
    }
    return true;
}

#define LONG_STAY (2000 * FTREE_MS) /* this is asked where others wait: soon it may be a hang */

static bool add_stays(struct ftree *ft, struct hang_answer *a)
{
    struct ftree_stay stay;
    bool is_long = false;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        bool outside = ft->io->stay(ft->io_ctx, i, &stay);
        a->progress += stay.calls;
        a->outside += outside;
        a->in_disk_sleep += outside && stay.what == FTREE_OUTSIDE_DISK;
        a->inside += !outside;
        a->familiar += !outside && stay.familiar;
        a->longest = ftree_max(a->longest, stay.longest);
        is_long |= outside && stay.stay >= LONG_STAY;
        if (outside && a->stays.n < HANG_RANKS_MAX && !FTREE_ADD(ft, a->stays, stay))
            return false;
    }
    if (is_long)
        ftree_ask_home(ft);
    return true;
}

bool ftree_hang_answer_own(struct ftree *ft, struct hang_answer *a, uint64_t first)
{
    if (!ft->io->samples || !ft->io->stay)
        return true;
    a->nodes = 1;
    return add_samples(ft, a, first) && add_stays(ft, a);
}

/* ---- several --------------------------------------------------------------------------------- */

static uint64_t first_of(const struct hang_answer *a)
{
    return a->last + 1 - (uint64_t) a->sums.n;
}

static void add_sums(struct hang_sum *sum, uint64_t first, const struct hang_answer *a)
{
    for (int32_t i = 0; i < a->sums.n; i++)
        if (first_of(a) + (uint64_t) i >= first) {
            struct hang_sum *s = sum + (first_of(a) + (uint64_t) i - first);
            s->out += a->sums.items[i].out;
            s->known += a->sums.items[i].known;
        }
}

static bool merge_sums(struct ftree *ft, struct hang_answer *a, const struct hang_answer *more)
{
    uint64_t last = a->last > more->last ? a->last : more->last, first = last + 1;
    struct hang_answer both = {.last = last};

    if (a->sums.n > 0)
        first = first_of(a);
    if (more->sums.n > 0 && first_of(more) < first)
        first = first_of(more);
    if (last >= first + HANG_HISTORY_MAX)
        first = last - HANG_HISTORY_MAX + 1;
    if (last + 1 > first && !FTREE_RESERVE(ft, both.sums, (int32_t) (last + 1 - first)))
        return false;
    both.sums.n = (int32_t) (last + 1 - first);
    if (both.sums.n > 0)
        memset(both.sums.items, 0, (size_t) both.sums.n * sizeof(*both.sums.items));
    add_sums(both.sums.items, first, a);
    add_sums(both.sums.items, first, more);
    ftree_alloc(ft, a->sums.items, 0);
    memcpy(&a->sums, &both.sums, sizeof(a->sums));
    a->last = last;
    return true;
}

/* Both are ascending. */
static bool merge_stays(struct ftree *ft, struct hang_answer *a, const struct hang_answer *more)
{
    struct hang_answer both = {0};
    int32_t i = 0, k = 0;

    while ((i < a->stays.n || k < more->stays.n) && both.stays.n < HANG_RANKS_MAX) {
        bool own = k == more->stays.n ||
                   (i < a->stays.n && a->stays.items[i].rank < more->stays.items[k].rank);
        if (!FTREE_ADD(ft, both.stays, own ? a->stays.items[i++] : more->stays.items[k++])) {
            ftree_alloc(ft, both.stays.items, 0);
            return false;
        }
    }
    ftree_alloc(ft, a->stays.items, 0);
    memcpy(&a->stays, &both.stays, sizeof(a->stays));
    return true;
}

static int32_t ahead_of_both(const struct hang_answer *a, const struct hang_answer *b)
{
    uint64_t last = a->last > b->last ? a->last : b->last;
    uint64_t common = a->last - (uint64_t) a->ahead, other = b->last - (uint64_t) b->ahead;

    if (a->nodes == 0 || (b->nodes > 0 && other < common))
        common = other;
    return last - common < HANG_APART ? (int32_t) (last - common) : HANG_APART;
}

bool ftree_hang_answer_merge(struct ftree *ft, struct hang_answer *a,
                             const struct hang_answer *more)
{
    a->ahead = ahead_of_both(a, more);
    a->nodes += more->nodes;
    a->progress += more->progress;
    a->outside += more->outside;
    a->in_disk_sleep += more->in_disk_sleep;
    a->inside += more->inside;
    a->familiar += more->familiar;
    a->longest = ftree_max(a->longest, more->longest);
    return merge_sums(ft, a, more) && merge_stays(ft, a, more);
}

void ftree_hang_answer_clear(struct ftree *ft, struct hang_answer *a)
{
    ftree_alloc(ft, a->sums.items, 0);
    ftree_alloc(ft, a->stays.items, 0);
    memset(a, 0, sizeof(*a));
}

/* ---- what it says ---------------------------------------------------------------------------- */

/* Of some hundred nodes one may have been late. */
static int32_t sample_of(const struct hang_answer *a, const struct hang_sum *s)
{
    if (s->known == 0 || s->known < a->nodes - a->nodes / 64)
        return HANG_UNKNOWN;
    return (int32_t) ((int64_t) s->out * a->nodes / s->known);
}

/* What not all nodes have come to yet is asked for again. */
void ftree_hang_history_add(struct hang_history *h, const struct hang_answer *a)
{
    int32_t n = a->sums.n - a->ahead;

    for (int32_t i = 0; i < n; i++) {
        uint64_t instant = first_of(a) + (uint64_t) i;
        int32_t sample = sample_of(a, &a->sums.items[i]);
        if (instant <= h->last) /* it was known before */
            continue;
        if (instant - h->last > HANG_HISTORY_MAX)
            h->last = instant - HANG_HISTORY_MAX;
        while (h->last < instant)
            h->sample[++h->last % HANG_HISTORY_MAX] = HANG_UNKNOWN;
        h->sample[instant % HANG_HISTORY_MAX] = sample;
        h->outside += sample > 0; /* HANG_UNKNOWN is below */
        if (h->first == 0)
            h->first = instant;
    }
}

int32_t ftree_hang_history_of(const struct hang_history *h, int32_t *sample)
{
    uint64_t first = h->last >= HANG_HISTORY_MAX ? h->last - HANG_HISTORY_MAX + 1 : 1;
    int32_t n = 0;

    if (first < h->first)
        first = h->first;
    for (uint64_t i = first; h->first > 0 && i <= h->last; i++)
        sample[n++] = h->sample[i % HANG_HISTORY_MAX];
    return n;
}

/* Instants that nobody knows are none of those that it had. */
int64_t ftree_hang_history_before(const struct hang_history *h, uint64_t n)
{
    int64_t outside = h->outside;

    for (uint64_t i = 0; i < n && i < h->last && i < HANG_HISTORY_MAX; i++)
        outside -= h->sample[(h->last - i) % HANG_HISTORY_MAX] > 0 && h->last - i >= h->first;
    return n < HANG_HISTORY_MAX ? outside : 0;
}

bool ftree_hang_is_disk_sleep_of_all(const struct hang_answer *a)
{
    return a->outside > 0 && a->inside == 0 && a->in_disk_sleep == a->outside;
}

void ftree_hang_sweep_of(const struct hang_answer *a, struct hang_sweep *out)
{
    out->progress = a->progress;
    out->inside = a->inside;
    out->familiar = a->familiar;
    out->longest = a->longest;
    out->others_go_on = false;
    out->more = ftree_hang_is_disk_sleep_of_all(a) ? a->outside - a->stays.n : 0;
    out->count = a->stays.n + out->more == a->outside ? a->stays.n : HANG_RANKS_MAX + 1;
    for (int32_t i = 0; i < a->stays.n && i < HANG_RANKS_MAX; i++)
        out->stay[i] = a->stays.items[i];
}
