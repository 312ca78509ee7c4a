/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/intake/intake.h"

#include "ftree/net/net.h"

/*
 * Tree-based detection: where a symptom is analysed.  First it is purified: dropped when a verdict
 * explains it, its reporters have failed themselves or it is no news any more.  Then it is kept
 * here when this node is the suspect's FLN or must act for it; else it goes one step along the
 * tree: up, until a node above the suspect has it, then down to the suspect's parent.  A step that
 * is dead, does not acknowledge or says that it is busy is passed over: on the way up by its own
 * parent, ..., the root, then the root's substitutes; on the way down the node above acts for it.
 * Equal symptoms on their way are held back for half a stall limit, and a window more if they were
 * observed together with the one that was passed on; then they follow as one, so that a job in
 * which everybody waits for one node costs each node O(fan-out) messages, not O(N).
 *
 * A node's FLN is its parent; of the root, the first substitute.  (Algorithm 1 of MPFL.)
 */

/* Who analyses what is about this node itself: above it, and for the root its first substitute. */
static int32_t own_fln(struct ftree *ft, ftree_time now, bool *substitute)
{
    int32_t n;

    if (ft->self != 0)
        return ftree_route_upward(ft, now, FTREE_NONE, substitute);
    *substitute = true;
    if (ftree_partition_is_cut_off(ft)) {
        n = ftree_route_first(ft, now, ftree_partition_top(ft), ft->self);
        return n == FTREE_NONE ? ft->self : n;
    }
    for (int32_t k = 1; (n = ftree_topo_root_substitute(ft->topo, k)) != FTREE_NONE; k++)
        if (ftree_peer_usable(ft, now, n))
            return n;
    return ft->self;
}

/* True if the way up leads to a substitute of the root, and one before it did not acknowledge
 * either.  With switches that may be because this node is cut off together with others; then to go
 * through all the substitutes would take for ever, and it examines by itself. */
static bool may_be_cut_off(const struct ftree *ft, ftree_time now, int32_t hop)
{
    int32_t n;

    if (!ft->job->tree || ftree_partition_is_cut_off(ft))
        return false;
    for (int32_t k = 1; (n = ftree_topo_root_substitute(ft->topo, k)) != hop; k++)
        if (n == FTREE_NONE ||
            (n != ft->self && !ftree_has_failed(ft, n) && !ftree_peer_usable(ft, now, n)))
            return true;
    return false;
}

/* Half of the cases that a node takes may be of nodes that are not next to it. */
static bool has_room_for_others(const struct ftree *ft)
{
    return ft->state->cases.n <= ft->cfg.pending_max / 2;
}

static int32_t next_hop(struct ftree *ft, ftree_time now, int32_t suspect, bool *substitute)
{
    int32_t child, above = ft->self;

    *substitute = false;
    if (suspect == ft->self)
        return own_fln(ft, now, substitute);
    if (!ftree_topo_is_above(ft->topo, above, suspect)) {
        if (!ftree_route_is_root(ft)) {
            int32_t hop = ftree_route_upward(ft, now, suspect, substitute);
            return *substitute && may_be_cut_off(ft, now, hop) ? ft->self : hop;
        }
        above = 0; /* this node acts for the root */
    }
    if (suspect == above)
        return ft->self; /* it is the root, which nobody observes, that is to be asked about */
    child = ftree_topo_child_toward(ft->topo, above, suspect);
    if (child == suspect || !ftree_peer_usable(ft, now, child))
        return ft->self;
    /* who is a suspect itself may never pass it on: better to ask at once, and perhaps for
     * nothing; but where everybody is one, it is asked by those who are next to it */
    return ftree_case_is_suspect(ft, child) && has_room_for_others(ft) ? ft->self : child;
}

/* ---- merging on the way ---------------------------------------------------------------------- */

/* That each of several ranks ended is news. */
static int32_t find_forward(const struct ftree *ft, const struct ftree_symptom *s)
{
    for (int32_t i = 0; i < ft->intake->forwards.n; i++) {
        const struct forward *f = &ft->intake->forwards.items[i];
        if (f->node == s->about.node && f->switch_ == s->about.switch_ && f->kind == s->kind &&
            (!ftree_symptom_is_end(s) || f->rank == s->about.rank))
            return i;
    }
    return -1;
}

/* Who waited for the same rank at about the same time saw the same: their count alone is no news to
 * the node that examines it just now, and follows when that should be over.  What was observed
 * later is news, for the node may have been found well meanwhile. */
static void hold(const struct ftree *ft, ftree_time now, struct forward *f,
                 const struct ftree_symptom *s)
{
    ftree_time soon = f->at + ft->cfg.stall / 2;

    if (!f->held.count)
        f->follows = soon + ftree_silence_window(ft);
    if (s->last > f->at + ft->cfg.stall / 8 || s->about.rank != f->rank)
        f->follows = ftree_min(f->follows, ftree_max(soon, now + FTREE_MS));
    if (f->held.count)
        ftree_symptom_merge(&f->held, s);
    else
        f->held = *s;
}

/* NULL: out of memory. */
static struct forward *note_forward(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    struct forward *f = FTREE_PUSH(ft, ft->intake->forwards);

    if (f)
        *f = (struct forward){.node = s->about.node,
                              .switch_ = s->about.switch_,
                              .kind = s->kind,
                              .rank = s->about.rank,
                              .at = now};
    return f;
}

/* True if an equal symptom went this way a moment ago: this one will follow.  Else notes that this
 * one goes now. */
static bool held_back(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    int32_t i = find_forward(ft, s);
    struct forward *f;

    if (i >= 0) {
        f = &ft->intake->forwards.items[i];
        if (!f->held.count && f->at + ft->cfg.stall / 2 <= now) {
            f->at = now; /* that was long ago, and nothing ticked since */
            f->rank = s->about.rank;
            return false;
        }
        hold(ft, now, f, s);
        return true;
    }
    note_forward(ft, now, s);
    return false;
}

/* How many went this way a moment ago, or are about to. */
static int32_t passed_on(const struct ftree *ft, ftree_time now)
{
    int32_t n = 0;

    FTREE_EACH(const struct forward, f, ft->intake->forwards)
        n += f->held.count || f->at + ft->cfg.stall / 2 > now;
    return n;
}

static void wait_turn(struct ftree *ft, ftree_time now, const struct ftree_symptom *s, int32_t turn)
{
    struct forward *f = note_forward(ft, now, s);

    if (!f)
        return;
    f->held = *s;
    f->follows = now + (ftree_time) turn * ft->cfg.stall / 10;
}

#define STALLS_AT_ONCE 64

/* Where everybody waits, and each for another, each of them is a suspect, and all of that would go
 * through the root.  Ranks that say what they wait for make it needless: who waits for whom goes up
 * by itself, and the root asks those whom others wait for and who do not wait (waitfor/).  So
 * stalls are passed on some at a time, lest who gets them from all children has no time for
 * anything else, and no more than so many in half a stall limit; the others come again.  True: not
 * now. */
static bool is_put_off(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    int32_t n;

    if (!ft->io->waits || !ftree_symptom_is_stall(s) || find_forward(ft, s) >= 0)
        return false;
    n = passed_on(ft, now);
    if (n < STALLS_AT_ONCE && n < ft->cfg.pending_max)
        return false;
    if (n < ft->cfg.pending_max)
        wait_turn(ft, now, s, n / STALLS_AT_ONCE);
    else
        ftree_trace(ft, "symptom about %s is one too many", ftree_name(ft, s->about.node));
    return true;
}

static void take_symptom(struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                         bool substitute, bool has_waited);

void ftree_intake_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->intake->forwards.n;) {
        struct forward f = ft->intake->forwards.items[i];
        if ((f.held.count ? f.follows : f.at + ft->cfg.stall / 2) > now) {
            i++;
            continue;
        }
        FTREE_DROP(ft->intake->forwards, i);
        if (f.held.count)
            take_symptom(ft, now, &f.held, false, true);
    }
}

ftree_time ftree_intake_deadline(const struct ftree *ft)
{
    return FTREE_EARLIEST(struct forward, f, ft->intake->forwards,
                          f->held.count ? f->follows : FTREE_NEVER);
}

/* ---- purification ---------------------------------------------------------------------------- */

static bool is_own_stall(const struct ftree *ft, const struct ftree_symptom *s)
{
    return s->about.node == ft->self &&
           ftree_symptom_info(s->kind)->source == FTREE_SOURCE_MESSAGE_PASSING;
}

static bool is_no_news(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    if (ftree_is_leaving(ft) || is_own_stall(ft, s) || ftree_peer_has_left(ft, s->about.node))
        return true;
    if (s->last + ft->cfg.expire < now) {
        ftree_trace(ft, "symptom about %s expired", ftree_name(ft, s->about.node));
        return true;
    }
    return ftree_verdict_explains(ft, s);
}

/* Who is behind a switch of which the data path is dead cannot tell how those of others are: the
 * first of the root's substitutes that can examines in its place.  The own node where none can. */
static int32_t one_with_data(const struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    int32_t n;

    if (!ftree_symptom_may_be_path(s) || !ftree_verdict_by_switch(ft, ft->self))
        return ft->self;
    for (int32_t k = 1; (n = ftree_topo_root_substitute(ft->topo, k)) != FTREE_NONE; k++)
        if (n != ft->self && n != s->about.node && ftree_peer_usable(ft, now, n) &&
            !ftree_verdict_by_switch(ft, n))
            return n;
    return ft->self;
}

/* ---- the way --------------------------------------------------------------------------------- */

static void take_symptom(struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                         bool substitute, bool has_waited)
{
    struct wire_message m = {.type = WIRE_SYMPTOM, .u.symptom = *s};
    bool to_substitute = false;
    int32_t hop;

    if (is_no_news(ft, now, s))
        return;
    ftree_cause_note(ft, s);
    hop = substitute ? ft->self : next_hop(ft, now, s->about.node, &to_substitute);
    if (hop == ft->self && !substitute) {
        hop = one_with_data(ft, now, s);
        to_substitute = hop != ft->self;
    }
    if (hop == ft->self) {
        ftree_correlate(ft, now, s, 0);
        return;
    }
    if (!has_waited && is_put_off(ft, now, s))
        return;
    if (held_back(ft, now, s))
        return;
    ftree_trace(ft, "symptom about %s goes to %s%s", ftree_name(ft, s->about.node),
                to_substitute ? "substitute " : "", ftree_name(ft, hop));
    m.flags = to_substitute ? WIRE_FLAG_SUBSTITUTE : 0;
    ftree_outbox_put(ft, now, hop, &m);
}

void ftree_intake(struct ftree *ft, ftree_time now, const struct ftree_symptom *s, bool substitute)
{
    take_symptom(ft, now, s, substitute, false);
}

/* The node it was sent to does not acknowledge or is busy: it is passed over now, so the next way
 * is another. */
void ftree_intake_again(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    struct ftree_symptom all = *s;
    int32_t i = find_forward(ft, s);

    if (i >= 0) {
        if (ft->intake->forwards.items[i].held.count)
            ftree_symptom_merge(&all, &ft->intake->forwards.items[i].held);
        FTREE_DROP(ft->intake->forwards, i);
    }
    ftree_intake(ft, now, &all, false);
}

void ftree_intake_silent(struct ftree *ft, ftree_time now, int32_t node)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_SILENT, node, FTREE_NONE, ft->self, now, now);
    ftree_intake(ft, now, &s, false);
}

/* An agent with too much to do, or too little CPU to do it with, says so, and the sender takes the
 * next substitute.  What belongs to a case that is here anyway costs nothing.  Who acts for
 * the root cannot refuse: there is nobody above. */
bool ftree_intake_is_overloaded(const struct ftree *ft, ftree_time now,
                                const struct ftree_symptom *s)
{
    bool starved = ftree_own_lag(ft, now) > ft->cfg.late;

    if (ftree_case_find(ft, s->about.node, s->about.switch_) || ftree_route_is_root(ft))
        return false;
    return starved || ft->state->cases.n > ft->cfg.pending_max;
}

void ftree_intake_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->intake->forwards.items, 0);
}

void ftree_intake_stop(struct ftree *ft)
{
    ft->intake->forwards.n = 0;
    ftree_case_drop_all(ft);
}
