/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/hang/lag.h"

#include "ftree/base/base.h"

#include <math.h>
#include <string.h>

/* ---- one rank waits longer than it ever did -------------------------------------------------- */

#define RECENT 2 /* blocks; and 2, 4, 8, 16 times that, in which a smaller loss shows */
#define RECENT_MAX 32
#define WINDOWS_MIN 2 /* as long, before */
#define KEPT_PERCENT 90 /* who has kept more has not lost what matters */

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static double log_choose(int n, int k)
{
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* Of now + before samples outside MPI, among two times n, so few or fewer are among the last n. */
static double chance_of(int now, int before, int n)
{
    int sum = now + before;
    double p = 0;

    for (int i = sum > n ? sum - n : 0; i <= now; i++)
        p += exp(log_choose(n, i) + log_choose(n, sum - i) - log_choose(2 * n, sum));
    return p;
}

/* Of a rank that is hardly ever outside MPI, as those that one serves, that says nothing; and one of
 * many short steps goes on between any two samples, also if these take twice as long. */
enum measure {
    OUTSIDE,
    GOES_ON,
    MEASURES
};

static int sum_of(const struct ftree_block *block, int32_t n, enum measure m)
{
    int sum = 0;

    for (int32_t i = 0; i < n; i++)
        sum += m == OUTSIDE ? block[i].outside : block[i].goes_on;
    return sum;
}

static bool has_lost_in(const struct ftree_block *block, int32_t n, int32_t recent, double alpha,
                        enum measure m)
{
    int now, least = INT32_MAX, sum;

    if (n < recent * (1 + WINDOWS_MIN))
        return false;
    now = sum_of(block, recent, m);
    for (int32_t i = recent; i + recent <= n; i += recent) {
        sum = sum_of(block + i, recent, m);
        least = sum < least ? sum : least;
    }
    return 100 * now <= KEPT_PERCENT * least &&
           recent * sum_of(block, RECENT, m) < RECENT * least && /* it is not over */
           chance_of(now, least, recent * FTREE_BLOCK_SAMPLES) < alpha;
}

/* The shortest window in which it has lost time, in blocks; 0: there is none. */
static int32_t window_of(const struct ftree_block *block, int32_t n, double alpha)
{
    for (int32_t recent = RECENT; recent <= RECENT_MAX; recent *= 2)
        for (int m = 0; m < MEASURES; m++)
            if (has_lost_in(block, n, recent, alpha, (enum measure) m))
                return recent;
    return 0;
}

bool ftree_lag_may_have_lost(const struct ftree_block *block, int32_t n, double alpha)
{
    return window_of(block, n, sqrt(alpha)) > 0;
}

#define WAITS_MORE 25 /* percent of the time: most causes of a verdict cost more */

bool ftree_lag_waits_more(const struct ftree_block *block, int32_t n)
{
    int32_t before = 0;

    if (n < RECENT * (1 + WINDOWS_MIN))
        return false;
    for (int32_t i = 1; i < n; i++)
        before += block[i].waits;
    return (block[0].waits - WAITS_MORE) * (n - 1) >= before;
}

static uint16_t share_of(const struct ftree_block *block, int32_t n)
{
    return (uint16_t) (1000 * sum_of(block, n, OUTSIDE) / (n * FTREE_BLOCK_SAMPLES));
}

void ftree_lag_read(const struct ftree_block *block, int32_t n, double alpha, struct ftree_lag *l)
{
    int32_t lost_in = window_of(block, n, sqrt(alpha)), recent = most(lost_in, RECENT);

    l->has_lost = lost_in > 0 && window_of(block, n, alpha) > 0;
    l->waits_more = ftree_lag_waits_more(block, n);
    l->before = l->now = LAG_UNKNOWN;
    if (n < RECENT * (1 + WINDOWS_MIN))
        return;
    l->now = share_of(block, recent);
    l->before = share_of(block + recent, n - recent);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

#define WANTS_MIN 50
#define STARVED 500 /* where all get less of the CPU than that, one has less by chance */
#define BUSY 500 /* the clock of a core that sleeps says nothing */
#define HINDERED 50 /* nothing is ever said of less: see explain() */

static bool has_clock(const struct ftree_lag *l)
{
    return l->clock > 0 && l->wants >= BUSY;
}

/* Who wants the CPU more seldom is not hindered by having to wait for it. */
static bool wants_cpu(const struct ftree_lag *l)
{
    return l->wants >= WANTS_MIN;
}

/* Of all time, 1/1000: it wants a CPU, and has none. */
static int32_t waits_for_cpu(const struct ftree_lag *l)
{
    return wants_cpu(l) ? l->wants - l->wants * l->gets / 1000 : 0;
}

/* How much of all time it lacks by what its own kernel says, 1/1000.  One that only wakes up now and then
 * may not get most of the little that it wants. */
static int32_t hindrance(const struct ftree_lag *l)
{
    int32_t h = waits_for_cpu(l);

    if (!l->measured)
        return 0;
    h = most(most(h, l->stolen), most(l->stall, l->faults < 1000 ? (int32_t) l->faults : 1000));
    return has_clock(l) ? most(h, 1000 - l->clock) : h;
}

static bool is_before(const struct ftree_lag *a, const struct ftree_lag *b)
{
    int32_t x = hindrance(a), y = hindrance(b);

    return x > y || (x == y && a->rank < b->rank);
}

static void insert(struct lag_answer *a, const struct ftree_lag *l)
{
    int32_t i = a->n;

    if (hindrance(l) < HINDERED || l->before == LAG_UNKNOWN)
        return;
    while (i > 0 && is_before(l, &a->lag[i - 1]))
        i--;
    if (i == LAG_RANKS_MAX)
        return;
    a->n += a->n < LAG_RANKS_MAX;
    memmove(&a->lag[i + 1], &a->lag[i], (size_t) (a->n - 1 - i) * sizeof(*l));
    a->lag[i] = *l;
}

/* sign -1: takes it out of the sums. */
static void count(struct lag_answer *a, const struct ftree_lag *l, int32_t sign)
{
    if (l->before != LAG_UNKNOWN) {
        a->ranks += sign;
        a->lost += sign * l->has_lost;
        a->before += sign * l->before;
        a->now += sign * l->now;
    }
    if (!l->measured)
        return;
    a->measured += sign;
    if (wants_cpu(l)) {
        a->wants += sign * l->wants;
        a->runs += sign * (l->wants * l->gets / 1000);
    }
    a->stolen += sign * l->stolen;
    a->faults += sign * (int64_t) l->faults;
    a->stall += sign * l->stall;
    a->clocks += has_clock(l) ? sign : 0;
    a->clock += has_clock(l) ? sign * l->clock : 0;
}

void ftree_lag_add(struct lag_answer *a, const struct ftree_lag *l)
{
    count(a, l, 1);
    insert(a, l);
}

void ftree_lag_merge(struct lag_answer *a, const struct lag_answer *more)
{
    a->ranks += more->ranks;
    a->lost += more->lost;
    a->before += more->before;
    a->now += more->now;
    a->measured += more->measured;
    a->wants += more->wants;
    a->runs += more->runs;
    a->stolen += more->stolen;
    a->faults += more->faults;
    a->stall += more->stall;
    a->clocks += more->clocks;
    a->clock += more->clock;
    for (int32_t i = 0; i < more->n; i++)
        insert(a, &more->lag[i]);
}

/* ---- who is it, and why ---------------------------------------------------------------------- */

#define LOST_PARTS 4
#define LOST_LEAST 15 /* percent */
#define THROTTLED_MIN 100 /* 1/1000 of the periods */
/* How much slower it must be, percent; half of that where something has been found before, so that
 * what is near the bound is not reported and withdrawn again and again.  Three quarters where the
 * cause is known, which is no chance: two that share a core lose half, and less where others have
 * to wait, too. */
#define LEAST 40
#define TAKEN_OUT 200 /* 1/1000: see take_out() */

/* What nodes say may be false: no number becomes larger than its kind can be. */
static int32_t mean(int64_t sum, int64_t n)
{
    int64_t m = n > 0 && sum > 0 ? sum / n : 0;

    return m < FTREE_LAG_FAULTS_MAX ? (int32_t) m : FTREE_LAG_FAULTS_MAX;
}

static int32_t mean_share(int64_t sum, int64_t n)
{
    int32_t m = mean(sum, n);

    return m < 1000 ? m : 1000;
}

/* Share of the CPU time which they want that they get; where none wants any that says nothing. */
static int32_t gets_of(const struct lag_answer *a)
{
    return a->wants > 0 ? mean(1000 * a->runs, a->wants) : 1000;
}

/* Percent that `own` is less than `others`. */
static int32_t less_than(int32_t own, int32_t others)
{
    return others > 0 && own < others ? 100 - 100 * own / others : 0;
}

static bool is_known(enum lag_cause c)
{
    return c == LAG_QUOTA || c == LAG_SHARED_CORE;
}

static enum lag_cause cause_of_cpu(const struct ftree_lag *l)
{
    if (l->throttled >= THROTTLED_MIN)
        return LAG_QUOTA;
    return l->beside != FTREE_NONE ? LAG_SHARED_CORE : LAG_PREEMPTED;
}

/* How much slower it is for want of a CPU than all others, percent.  Where the cause is known the time that
 * it waits for one is compared, too: others may only wake up now and then, and get less of what they want. */
static int32_t slowed_by_cpu(const struct ftree_lag *l, enum lag_cause c,
                             const struct lag_answer *rest)
{
    int32_t relative = wants_cpu(l) ? less_than(l->gets, gets_of(rest)) : 0;
    int32_t longer = waits_for_cpu(l) - mean_share(rest->wants - rest->runs, rest->measured);

    return is_known(c) ? most(relative, longer / 10) : relative;
}

/* Compared with `rest`, which is all others.  False: nothing slows it by the least that counts. */
static bool explain(const struct ftree_lag *l, const struct lag_answer *rest, int32_t least,
                    struct lag_found *f)
{
    /* the same of time stolen and of memory pressure, 1/1000, and of major faults a second */
    int32_t stolen_min = 5 * least, stall_min = 10 * least;
    uint32_t faults_min = 5 * (uint32_t) least / 2;
    enum lag_cause of_cpu = cause_of_cpu(l);

    f->lag = *l;
    f->cause = LAG_NOTHING;
    f->slowed = slowed_by_cpu(l, of_cpu, rest);
    if (f->slowed >= (is_known(of_cpu) ? 3 * least / 4 : least) &&
        (of_cpu != LAG_PREEMPTED || (rest->wants > 0 && gets_of(rest) >= STARVED))) {
        f->cause = (uint8_t) of_cpu;
        return true;
    }
    if (l->stolen >= stolen_min && l->stolen >= 4 * mean(rest->stolen, rest->measured)) {
        f->cause = LAG_STOLEN;
        f->slowed = l->stolen / 10;
    } else if ((l->faults >= faults_min &&
                l->faults >= 4 * (uint32_t) mean(rest->faults, rest->measured)) ||
               (l->stall >= stall_min &&
                l->stall >= 4 * mean(rest->stall, rest->measured))) {
        f->cause = LAG_PAGING;
        f->slowed = most(l->stall, l->faults < 1000 ? (int32_t) l->faults : 1000) / 10;
    } else if (has_clock(l) && less_than(l->clock, mean(rest->clock, rest->clocks)) >= least) {
        f->cause = LAG_SLOW_CLOCK;
        f->slowed = less_than(l->clock, mean(rest->clock, rest->clocks));
    }
    return f->cause != LAG_NOTHING;
}

/* It is outside MPI as much as before, and the others less than it, or in MPI more: where steps are
 * long all are outside most of the time. */
static bool is_waited_for(const struct ftree_lag *l, const struct lag_answer *rest)
{
    int32_t others = mean_share(rest->now, rest->ranks);

    return 4 * l->now >= 3 * l->before &&
           (2 * l->now >= 3 * others || 1000 - others >= 2 * (1000 - l->now));
}

/* Those that may be hindered are compared with the others, and not with each other: two that share a
 * core have the same.  Returns how many these are: the first ones of the list, at most half of all. */
static int32_t take_out(const struct lag_answer *a, struct lag_answer *rest)
{
    int32_t n = 0;

    while (n < a->n && 2 * (n + 1) <= a->ranks && hindrance(&a->lag[n]) >= TAKEN_OUT)
        count(rest, &a->lag[n++], -1);
    return n;
}

/* More than chance can be, unless the cause tells: one that is there now, and was not before. */
static bool is_sure(const struct lag_answer *a, const struct lag_finding *all,
                    const struct lag_found *f)
{
    return LOST_PARTS * (int64_t) a->lost >= a->ranks ||
           (is_known((enum lag_cause) f->cause) && f->lag.waits_more && all->lost >= LOST_LEAST);
}

void ftree_lag_judge(const struct lag_answer *a, struct lag_finding *out)
{
    struct lag_answer rest = *a;
    int32_t taken = take_out(a, &rest), clear = 0;

    memset(out, 0, sizeof(*out));
    for (int32_t i = 0; i < a->n; i++) {
        const struct ftree_lag *l = &a->lag[i];
        struct lag_found *f = &out->found[out->n];
        if (i >= taken)
            count(&rest, l, -1);
        f->is_clear = explain(l, &rest, LEAST, f) && is_waited_for(l, &rest);
        if (rest.ranks > 0 && (f->cause || explain(l, &rest, LEAST / 2, f))) {
            clear += f->is_clear;
            out->n++;
        } else {
            count(&rest, l, 1);
        }
    }
    out->before = mean_share(rest.before, rest.ranks);
    out->now = mean_share(rest.now, rest.ranks);
    out->lost = less_than(out->now, out->before);
    out->gets = gets_of(&rest);
    for (int32_t i = 0; i < out->n; i++) {
        out->found[i].is_clear &= 2 * clear <= a->ranks;
        out->found[i].is_sure = is_sure(a, out, &out->found[i]);
    }
}

const struct lag_found *ftree_lag_find(const struct lag_finding *f, int32_t rank)
{
    for (int32_t i = 0; i < f->n; i++)
        if (f->found[i].lag.rank == rank)
            return &f->found[i];
    return NULL;
}

void ftree_lag_confirm(const struct ftree *ft, const struct lag_finding *before, int32_t ranks,
                       struct lag_finding *now)
{
    struct lag_found *end = now->found + now->n;
    int32_t n = 0;

    for (struct lag_found *f = now->found; f < end; f++) {
        const struct lag_found *b = ftree_lag_find(before, f->lag.rank);
        f->is_again = b && b->cause == f->cause;
        f->is_found = f->is_again && f->is_clear && b->is_clear;
        n += f->is_found;
    }
    for (struct lag_found *f = now->found; f < end; f++)
        for (struct lag_found *o = now->found; f->is_found && o < end; o++)
            if (2 * (n + 1) <= ranks && o->is_again && !o->is_found && o->cause == f->cause &&
                ftree_node_of(ft, o->lag.rank) == ftree_node_of(ft, f->lag.rank)) {
                o->is_found = true;
                n++;
            }
}
