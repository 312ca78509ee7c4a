/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/*
 * Which messages of a pair of ranks are under way, from two words on each side.  A table of all
 * that was ever sent, by tag, costs more than a message may; a count and a sum of marks, drawn by
 * tag and communicator, cost next to nothing.  The differences of both sides are the number of
 * messages that were not received, and the sum of their marks.  They are among those that the
 * sender sent last, or nobody can tell; so the sum is tried with these.  That two sets have one sum
 * by chance is as likely as that two random numbers of 64 bits are equal.
 */

/* Each side computes it for each message (MPIDI_faultloc_mark() of the glue is the same): a product
 * spreads a tag over all bits; inverting every other one and the square keep sums of tags apart
 * that are equal. */
uint64_t ftree_waits_mark(uint32_t context, int32_t tag)
{
    uint64_t key = (uint64_t) context << 48 | (uint32_t) tag;

    uint64_t x = (key * 0x9e3779b97f4a7c15u) ^ 0x5555555555555555u;

    return x * x;
}

/* ---- the search ------------------------------------------------------------------------------ */

#define KINDS_MAX 3 /* different tags among the messages under way */
#define TRIES_MAX 1000000

struct guess {
    const uint64_t *mark;
    int32_t marks;
    int64_t tries;
    int32_t kinds; /* of what is being tried */
    int32_t kind[KINDS_MAX]; /* which mark */
    uint32_t count[KINDS_MAX];
};

/* Whether `left` messages with that sum are of one kind from `from` on. */
static bool is_one_kind(struct guess *s, int32_t from, uint32_t left, uint64_t sum)
{
    for (int32_t i = from; i < s->marks; i++) {
        s->tries++;
        if (s->mark[i] * left != sum)
            continue;
        s->kind[s->kinds] = i;
        s->count[s->kinds++] = left;
        return true;
    }
    return false;
}

/* Of `more` kinds: some of the first, and the others of the rest. */
static bool try_kinds(struct guess *s, int32_t more, int32_t from, uint32_t left, uint64_t sum)
{
    if (more == 1)
        return is_one_kind(s, from, left, sum);
    for (int32_t i = from; i < s->marks; i++)
        for (uint32_t n = 1; n < left && s->tries < TRIES_MAX; n++) {
            s->kind[s->kinds] = i;
            s->count[s->kinds++] = n;
            if (try_kinds(s, more - 1, i + 1, left - n, sum - s->mark[i] * n))
                return true;
            s->kinds--;
        }
    return false;
}

/* ---- the messages ---------------------------------------------------------------------------- */

static int32_t distinct_marks(const struct waits_flow *last, int32_t n, uint64_t *mark,
                              const struct waits_flow **flow)
{
    int32_t marks = 0;

    for (int32_t i = 0; i < n && marks < WAITS_FLOWS_MAX; i++) {
        uint64_t m = ftree_waits_mark(last[i].context, last[i].tag);
        int32_t k = 0;
        while (k < marks && mark[k] != m)
            k++;
        if (k == marks) {
            flow[marks] = &last[i];
            mark[marks++] = m;
        }
    }
    return marks;
}

bool ftree_waits_unreceived(const struct waits_sum *sent, const struct waits_sum *received,
                            const struct waits_flow *last, int32_t n, struct waits_flows *out)
{
    const struct waits_flow *flow[WAITS_FLOWS_MAX];
    uint64_t mark[WAITS_FLOWS_MAX], sum = sent->sum - received->sum;
    uint32_t left = sent->count - received->count;
    struct guess s = {.mark = mark, .marks = distinct_marks(last, n, mark, flow)};
    bool found = left == 0 && sum == 0;

    for (int32_t kinds = 1; kinds <= KINDS_MAX && left > 0 && !found; kinds++)
        found = try_kinds(&s, kinds, 0, left, sum);
    out->whole = found;
    out->flows = 0;
    for (int32_t i = 0; i < s.kinds && found; i++) {
        out->flow[out->flows] = *flow[s.kind[i]];
        out->flow[out->flows].kind = WAITS_SENT;
        out->flow[out->flows++].count = s.count[i];
    }
    return found;
}
