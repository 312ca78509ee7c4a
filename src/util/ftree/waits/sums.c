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
 * sender sent last, or nobody can tell; so the sum is tried with these: first with few kinds, of
 * which there may be any number, then with single messages, as many threads send them.  A single
 * one that is older is known by its mark alone: whether it is the one that a receive waits for can
 * be decided.  That two sets have one sum by chance is as likely as that two random numbers of 64
 * bits are equal.
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

#define KINDS_MAX 3 /* of which there may be more messages than are known */
#define TRIES_MAX 1000000 /* of either search */

struct guess {
    const uint64_t *mark;
    int32_t marks;
    int64_t tries;
    int32_t kinds; /* of what is being tried */
    int32_t kind[WAITS_LAST_MAX]; /* which mark */
    uint32_t count[WAITS_LAST_MAX];
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

/* `left` single messages from `from` on, before the `end`-th. */
static bool try_messages(struct guess *s, int32_t from, int32_t end, uint32_t left, uint64_t sum)
{
    if (left == 0)
        return sum == 0;
    if ((uint32_t) (end - from) < left || s->tries++ >= TRIES_MAX)
        return false;
    s->kind[s->kinds] = from;
    s->count[s->kinds++] = 1;
    if (try_messages(s, from + 1, end, left - 1, sum - s->mark[from]))
        return true;
    s->kinds--;
    return try_messages(s, from + 1, end, left, sum);
}

/* What is not received is newer than most of what is: of the newest ones first. */
static bool try_newest(struct guess *s, uint32_t left, uint64_t sum)
{
    for (int32_t oldest = (int32_t) left - 1; oldest < s->marks && s->tries < TRIES_MAX; oldest++) {
        s->kind[0] = oldest;
        s->count[0] = 1;
        s->kinds = 1;
        if (try_messages(s, 0, oldest, left - 1, sum - s->mark[oldest]))
            return true;
    }
    return false;
}

/* ---- the messages ---------------------------------------------------------------------------- */

/* Of equal ones the newest, if `once`. */
static int32_t list_marks(const struct waits_flow *last, int32_t n, bool once, uint64_t *mark,
                          const struct waits_flow **flow)
{
    int32_t marks = 0;

    for (int32_t i = 0; i < n && marks < WAITS_LAST_MAX; i++) {
        uint64_t m = ftree_waits_mark(last[i].context, last[i].tag);
        int32_t k = 0;
        while (once && k < marks && mark[k] != m)
            k++;
        if (!once || k == marks) {
            flow[marks] = &last[i];
            mark[marks++] = m;
        }
    }
    return marks;
}

static void add_flow(struct waits_flows *out, const struct waits_flow *flow, uint32_t count)
{
    for (int32_t i = 0; i < out->flows; i++)
        if (out->flow[i].tag == flow->tag && out->flow[i].context == flow->context) {
            out->flow[i].count += count;
            return;
        }
    out->flow[out->flows] = *flow;
    out->flow[out->flows].kind = WAITS_SENT;
    out->flow[out->flows++].count = count;
}

bool ftree_waits_unreceived(const struct waits_sum *sent, const struct waits_sum *received,
                            const struct waits_flow *last, int32_t n, struct waits_flows *out)
{
    const struct waits_flow *flow[WAITS_LAST_MAX];
    uint64_t mark[WAITS_LAST_MAX], sum = sent->sum - received->sum;
    uint32_t left = sent->count - received->count;
    struct guess s = {.mark = mark, .marks = list_marks(last, n, true, mark, flow)};
    bool found = left == 0 && sum == 0;

    for (int32_t kinds = 1; kinds <= KINDS_MAX && left > 0 && !found; kinds++)
        found = try_kinds(&s, kinds, 0, left, sum);
    if (!found && left > KINDS_MAX && left <= (uint32_t) n) {
        s.marks = list_marks(last, n, false, mark, flow);
        s.tries = 0;
        found = try_newest(&s, left, sum);
    }
    out->lone = !found && left == 1 ? sum : 0;
    out->whole = found || out->lone;
    out->flows = 0;
    for (int32_t i = 0; i < s.kinds && found; i++)
        add_flow(out, flow[s.kind[i]], s.count[i]);
    return out->whole;
}
