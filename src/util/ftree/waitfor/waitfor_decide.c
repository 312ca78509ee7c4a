/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/base/event.h"

#include <stdlib.h>
#include <string.h>

/*
 * A core, or a mismatch, that a reduction has found here is a candidate.  Its ranks are asked
 * twice, at least 100 ms apart: the answers to the first look are all in when the second begins, so
 * a rank that did nothing between its two answers did nothing at the moment in between, and what
 * all of them say is one state of the job.  Where that state still has a core it is a verdict.
 * Ranks that poll, or of which not all can be known, are looked at once more after half
 * the stall limit.
 *
 * What is not confirmed is dropped, and may be a candidate again after a pause that grows.  A
 * verdict is looked at again as long as it stands; one of whose ranks has gone on is over.
 */

#define LOOK_GAP (100 * FTREE_MS)
#define PAUSE_MIN (250 * FTREE_MS)
#define RANKS_MAX 4096 /* of a candidate; of more nothing is claimed */
#define MISSING_MAX 8 /* that are named together */
#define WAITERS_MAX 8 /* of those who wait for a rank that is missing */
#define ENDS_MAX 32
#define FEW_MAX 64 /* ranks of a mismatch that are looked at */

/* ---- candidates ------------------------------------------------------------------------------ */

static void forget(struct ftree *ft, struct waitfor_candidate *c)
{
    waitfor_look_forget(ft, c);
    ftree_alloc(ft, c->ranks.items, 0);
    ftree_alloc(ft, c->with.items, 0);
    ftree_alloc(ft, c->mismatch, 0);
    ftree_alloc(ft, c->component.items, 0);
    FTREE_DROP(ft->waitfor->work->candidates, (int32_t) (c - ft->waitfor->work->candidates.items));
}

static void drop(struct ftree *ft, ftree_time now, struct waitfor_candidate *c, const char *why)
{
    ftree_trace(ft, "  drops a candidate of %d ranks: %s", c->ranks.n, why);
    waitfor_look_forget(ft, c);
    c->state = WAITFOR_DROPPED;
    c->next = now + c->pause;
    c->pause = ftree_min(2 * c->pause, ft->cfg.stall_repeat_max);
    c->round = 0;
    c->is_waiting_for_it = false;
}

static uint64_t key_of(enum waitfor_kind kind, const int32_t *rank, int32_t n, uint64_t more)
{
    uint64_t key = ftree_topo_mix((uint64_t) kind + 1) ^ more;

    for (int32_t i = 0; i < n; i++)
        key = ftree_topo_mix(key ^ (uint64_t) rank[i]);
    return key;
}

/* True: it is a new one, or one whose pause is over, to be filled in. */
static bool take_candidate(struct ftree *ft, ftree_time now, enum waitfor_kind kind, uint64_t key,
                           struct waitfor_candidate **out)
{
    struct waitfor_candidate *c = NULL;

    FTREE_EACH(struct waitfor_candidate, old, ft->waitfor->work->candidates)
        c = old->key == key ? old : c;
    *out = c;
    if (c)
        c->was_there = true;
    if (c && (c->state != WAITFOR_DROPPED || (c->next > now && c->next != FTREE_NEVER)))
        return false;
    if (!c)
        c = *out = FTREE_PUSH(ft, ft->waitfor->work->candidates);
    if (!c)
        return false;
    c->pause = ftree_max(c->pause, PAUSE_MIN);
    c->kind = (uint8_t) kind;
    c->key = key;
    c->was_there = true;
    c->state = WAITFOR_DUE;
    c->round = 0;
    c->verdict = 0;
    c->next = now;
    c->ranks.n = c->with.n = 0;
    return true;
}

/* ---- whom to ask ----------------------------------------------------------------------------- */

struct pair {
    int32_t rank, peer;
};

/* Pairs of ranks whose messages matter, each in both directions. */
typedef FTREE_ARRAY(struct pair) pairs;

static int by_rank(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->peer > y->peer) - (x->peer < y->peer);
}

/* To each rank: with whom; false: with too many, or out of memory. */
static bool distribute(struct ftree *ft, struct waitfor_candidate *c, pairs *all)
{
    struct waitfor_asked *a = NULL;

    if (all->n > 0)
        qsort(all->items, (size_t) all->n, sizeof(*all->items), by_rank);
    for (int32_t i = 0; i < all->n; i++) {
        const struct pair *p = &all->items[i];
        if (i > 0 && by_rank(p, p - 1) == 0)
            continue;
        if (!a || a->rank != p->rank) {
            a = waitfor_asked_find(c, p->rank);
            a->with = c->with.n;
            a->withs = 0;
        }
        if (a->withs == WAITS_PEERS_MAX || !FTREE_ADD(ft, c->with, p->peer))
            return false;
        a->withs++;
    }
    return true;
}

/* The ranks of `set` and those whose messages decide about their waits. */
static bool fill_in(struct ftree *ft, const struct waits *w, const int32_t *set, int32_t n,
                    struct waitfor_candidate *c)
{
    int32_t peer[WAITS_PEERS_MAX + 1], peers;
    bool fits = n <= RANKS_MAX;
    pairs all = {0};

    for (int32_t i = 0; i < n && fits; i++)
        fits = waitfor_look_add(ft, c, set[i]) != NULL;
    for (int32_t i = 0; i < n && fits; i++) {
        peers = ftree_waits_peers(w, set[i], set, n, peer, WAITS_PEERS_MAX);
        fits = peers <= WAITS_PEERS_MAX;
        for (int32_t k = 0; k < peers && fits; k++)
            fits = waitfor_look_add(ft, c, peer[k]) &&
                   FTREE_ADD(ft, all, ((struct pair){set[i], peer[k]})) &&
                   FTREE_ADD(ft, all, ((struct pair){peer[k], set[i]}));
    }
    fits = fits && distribute(ft, c, &all);
    ftree_alloc(ft, all.items, 0);
    return fits;
}

/* ---- what a reduction has found -------------------------------------------------------------- */

static bool is_not_asked(const struct waitfor_candidate *c)
{
    return c->kind == WAITFOR_CORE && c->state == WAITFOR_DUE && c->round == 0 && !c->verdict;
}

/* Of an open core more ranks may be about to stall: as with a mismatch, they get half a stall limit
 * from when the first of them were found. */
static ftree_time when_to_ask(struct ftree *ft, ftree_time now, const struct waits_core *core)
{
    ftree_time t = core->is_open ? now + ft->cfg.stall / 2 : now;

    FTREE_EACH(const struct waitfor_candidate, c, ft->waitfor->work->candidates)
        for (int32_t i = 0; i < core->ranks && is_not_asked(c); i++)
            if (c->ranks.n > 0 && c->ranks.items[0].rank == core->rank[i])
                t = ftree_min(t, c->next);
    return t;
}

static bool keep_mismatch(struct ftree *ft, struct waitfor_candidate *c,
                          const struct waits_mismatch *m)
{
    if (!c->mismatch)
        c->mismatch = ftree_alloc(ft, NULL, sizeof(*c->mismatch));
    if (c->mismatch)
        *c->mismatch = *m;
    return c->mismatch != NULL;
}

/* Who of its ranks is odd, by all that have spoken: later only its own are asked. */
static void keep_order(struct ftree *ft, struct waitfor_candidate *c, const struct waits *w,
                       int32_t i)
{
    struct waits_mismatch m;

    if (ftree_waits_odd_order(w, i, &m)) {
        keep_mismatch(ft, c, &m);
    } else {
        ftree_alloc(ft, c->mismatch, 0);
        c->mismatch = NULL;
    }
}

/* A rank that is missing, others that the same ranks wait for, and some of these, in `set`.  Returns
 * how many; 0: another one of them is the lowest, and speaks for all. */
static int32_t list_missing(const struct waits *w, int32_t rank, int32_t *set)
{
    int32_t waiter[WAITERS_MAX], waiters = ftree_waits_waiters(w, rank, waiter, WAITERS_MAX), n = 1;

    set[0] = rank;
    for (int32_t i = 0; i < waiters; i++)
        n = ftree_waits_missing(w, waiter[i], set, n, MISSING_MAX);
    for (int32_t i = 1; i < n; i++)
        if (set[i] < rank)
            return 0;
    memcpy(set + n, waiter, (size_t) waiters * sizeof(*waiter));
    return n + waiters;
}

static void consider_core(struct ftree *ft, ftree_time now, const struct waits *w, int32_t i,
                          const struct waits_core *core)
{
    ftree_time when = when_to_ask(ft, now, core);
    int32_t set[MISSING_MAX + WAITERS_MAX], n = 0;
    struct waitfor_candidate *c;
    bool fits, is_new;

    if (core->missing && (n = list_missing(w, core->id, set)) == 0)
        return;
    is_new = take_candidate(ft, now, WAITFOR_CORE,
                            key_of(WAITFOR_CORE, core->rank, core->ranks, core->missing), &c);

    if (is_new || (c && is_not_asked(c)))
        c->next = when;
    if (!is_new)
        return;
    c->is_core_missing = core->missing;
    keep_order(ft, c, w, i);
    fits = core->missing ? fill_in(ft, w, set, n, c) : fill_in(ft, w, core->rank, core->ranks, c);
    ftree_trace(ft, "  a core of %d ranks, the first is %d", core->ranks, core->id);
    if (!fits)
        drop(ft, now, c, "its ranks cannot all be asked");
}

/* But for those who go on, and may not answer: of a class the example suffices. */
static bool add_odd(struct ftree *ft, const struct waits *w, struct waitfor_candidate *c,
                    const struct ftree_ranks *ranks)
{
    int32_t of;

    for (int32_t i = 0; i < ranks->ranges; i++)
        for (int32_t r = ranks->range[i].first; r <= ranks->range[i].last; r++)
            if (c->ranks.n < FEW_MAX && ftree_waits_of(w, r, &of) != WAITS_SILENT &&
                !waitfor_look_add(ft, c, r))
                return false;
    return true;
}

/* Who has not spoken may be about to: the root, which decides all the same, waits for them for half
 * a stall limit, and for a whole one as long as they could make the few the many.  Who has called
 * MPI_Finalize says so when it is asked, so of others only half a limit is waited for. */
static ftree_time patience(const struct ftree *ft, const struct waits_mismatch *m)
{
    bool of_count = m->how == WAITS_DIFFER_COUNT;
    bool all_reported = m->size > 0 && m->reported >= m->size;

    if (m->silent == 0 || (of_count && m->is_settled))
        return 0;
    return of_count || m->is_settled || all_reported ? ft->cfg.stall / 2 : ft->cfg.stall;
}

/* True: it is new, or more ranks have spoken before any was asked. */
static bool take_mismatch(struct ftree *ft, ftree_time now, const struct waits_mismatch *m,
                          struct waitfor_candidate **out)
{
    ftree_time until = now + patience(ft, m);
    struct waitfor_candidate *c;
    bool is_new = take_candidate(ft, now, WAITFOR_MISMATCH,
                                 key_of(WAITFOR_MISMATCH, &m->comm.first, 1, m->comm.context), out);

    c = *out;
    if (is_new)
        c->next = until;
    if (is_new || !c || c->state != WAITFOR_DUE || c->round > 0 ||
        (m->reported <= c->mismatch->reported && m->silent >= c->mismatch->silent &&
         m->how == c->mismatch->how))
        return is_new;
    c->next = ftree_min(c->next, until);
    c->ranks.n = c->with.n = 0;
    return true;
}

static void consider_mismatch(struct ftree *ft, ftree_time now, const struct waits *w,
                              const struct waits_mismatch *m)
{
    bool all_reported = m->size > 0 && m->reported >= m->size && !m->is_tie, fits;
    struct waitfor_candidate *c;

    if ((!all_reported && !ftree_route_is_root(ft)) || !take_mismatch(ft, now, m, &c))
        return;
    fits = keep_mismatch(ft, c, m);
    for (int32_t i = 0; i < m->classes && i < WAITS_CLASSES_MAX && fits; i++)
        fits = waitfor_look_add(ft, c, m->class_[i].example) != NULL;
    if (!fits || !add_odd(ft, w, c, &m->odd))
        drop(ft, now, c, "out of memory");
}

/* A core is the consequence of a mismatch if it is held together by a collective of that
 * communicator, or has a rank whose last collective there is one of those that differ. */
static bool has_mismatch(const struct waits *w, const struct waits_core *core)
{
    struct waits_mismatch m;

    for (int32_t i = 0; ftree_waits_mismatch_at(w, i, &m); i++) {
        if (core->collective && ftree_waits_same_comm(m.comm, core->comm))
            return true;
        for (int32_t k = 0; k < core->ranks; k++)
            if (ftree_waits_class_of(&m, core->rank[k]) != FTREE_NONE)
                return true;
    }
    return false;
}

/* Whom others wait for, and who has not stalled: asked by the root. */
static void consider_ends(struct ftree *ft, ftree_time now, const struct waits *w)
{
    struct waits_end end[ENDS_MAX];
    struct waitfor_candidate *c;
    int32_t n = ftree_waits_silent(w, end, ENDS_MAX);

    if ((n == 0 && ft->waitfor->work->end_answers.n == 0) || ftree_waits_count(w) == 0 ||
        !take_candidate(ft, now, WAITFOR_ENDS, key_of(WAITFOR_ENDS, NULL, 0, 0), &c))
        return;
    for (int32_t i = 0; i < n; i++)
        waitfor_look_add(ft, c, end[i].rank);
    FTREE_EACH(waitfor_answer_of_rank, a, ft->waitfor->work->end_answers)
        if (c->ranks.n < 2 * ENDS_MAX)
            waitfor_look_add(ft, c, (*a)->rank);
}

void waitfor_decide(struct ftree *ft, ftree_time now, const struct waits *w)
{
    struct waits_mismatch m;
    struct waits_core core;

    FTREE_EACH(struct waitfor_candidate, c, ft->waitfor->work->candidates)
        c->was_there = false;
    for (int32_t i = 0; ftree_waits_mismatch_at(w, i, &m); i++)
        consider_mismatch(ft, now, w, &m);
    for (int32_t i = 0; ftree_waits_core_at(w, i, &core); i++)
        if (!has_mismatch(w, &core))
            consider_core(ft, now, w, i, &core);
    if (ftree_route_is_root(ft))
        consider_ends(ft, now, w);
    FTREE_EACH(struct waitfor_candidate, c, ft->waitfor->work->candidates) {
        if (c->state == WAITFOR_SAID && !c->was_there)
            c->next = now; /* one of its ranks may have gone on */
        if (c->state == WAITFOR_DROPPED && c->next == FTREE_NEVER)
            c->next = now; /* it is gone, and forgotten */
        if (is_not_asked(c) && !c->was_there) {
            c->state = WAITFOR_DROPPED; /* it has grown, or fallen apart */
            c->next = now;
        }
    }
}

/* ---- the end of a look ----------------------------------------------------------------------- */

/* Takes the answer of a rank that others wait for; true: it is another than before. */
static bool keep_answer(struct ftree *ft, ftree_time now, struct waitfor_asked *a)
{
    struct waitfor *w = ft->waitfor->work;
    struct waitfor_answer *old = NULL, **slot = NULL;

    if (!a->answer)
        return false;
    FTREE_EACH(waitfor_answer_of_rank, known, w->end_answers)
        if ((*known)->rank == a->rank)
            slot = known;
    if (slot)
        old = *slot;
    else
        slot = FTREE_PUSH(ft, w->end_answers);
    if (!slot ||
        (old && waitfor_print(old) == waitfor_print(a->answer) && !old->since == !a->answer->since))
        return false;
    ftree_alloc(ft, old, 0);
    *slot = a->answer;
    (*slot)->said = now;
    a->answer = NULL;
    return true;
}

/* What the ranks that others wait for have said.  One that waits, too, is asked often: it may go
 * on. */
static void note_ends(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    struct waitfor *w = ft->waitfor->work;
    ftree_time most = ft->cfg.stall_repeat_max;
    bool news = false;

    FTREE_EACH(struct waitfor_asked, a, c->ranks)
        news = keep_answer(ft, now, a) || news;
    waitfor_look_forget(ft, c);
    if (news) {
        c->pause = PAUSE_MIN;
        waitfor_changed(ft, now);
    }
    FTREE_EACH(waitfor_answer_of_rank, a, w->end_answers)
        if ((*a)->seen == WAITFOR_READY)
            most = ft->cfg.stall;
    c->state = WAITFOR_DROPPED;
    c->next = now + ftree_min(c->pause, most);
    c->pause = ftree_min(2 * c->pause, most);
}

static bool has_answered(const struct waitfor_asked *a)
{
    return a->answer && (a->answer->seen == WAITFOR_READY || a->answer->seen == WAITFOR_LEFT);
}

static bool all_have_answered(const struct waitfor_candidate *c)
{
    FTREE_EACH(const struct waitfor_asked, a, c->ranks)
        if (!has_answered(a))
            return false;
    return true;
}

/* And notes what they say now.  Which collective a rank that has left the one that differs has
 * called there cannot change any more: it may go on, as long as others are held in it. */
static bool are_unchanged(struct waitfor_candidate *c, bool *some_go_on)
{
    bool held = false, held_same = true, left_same = true;

    FTREE_EACH(struct waitfor_asked, a, c->ranks) {
        uint64_t print = waitfor_print(a->answer);
        bool is_held = waitfor_is_held(c, a->answer);
        *(is_held ? &held_same : &left_same) &= a->print == print;
        held = held || is_held;
        a->print = print;
        a->progress = waitfor_progress(a->answer->record, a->answer->records);
    }
    *some_go_on = held && !left_same;
    return held_same && (held || left_same);
}

/* A core of the others is one, whatever a rank that has not answered, or has gone on, would say;
 * who differs from whom is known only of all. */
static void leave_out(struct ftree *ft, struct waitfor_candidate *c)
{
    int32_t kept = 0;

    FTREE_EACH(struct waitfor_asked, a, c->ranks) {
        uint64_t print = has_answered(a) ? waitfor_print(a->answer) : 0;
        if (print && (c->round == 0 || print == a->print)) {
            a->print = print;
            c->ranks.items[kept++] = *a;
        } else {
            ftree_alloc(ft, a->answer, 0);
        }
    }
    c->ranks.n = kept;
}

static bool has_core(const struct waitfor_candidate *c, const struct waits *w, bool *polls)
{
    struct waits_mismatch m;
    struct waits_core core;

    *polls = false;
    for (int32_t i = 0; c->kind == WAITFOR_MISMATCH && ftree_waits_mismatch_at(w, i, &m); i++)
        if (m.how == c->mismatch->how && ftree_waits_same_comm(m.comm, c->mismatch->comm))
            return true;
    if (c->kind == WAITFOR_MISMATCH)
        return false;
    for (int32_t i = 0; ftree_waits_core_at(w, i, &core); i++)
        if (core.missing == c->is_core_missing) {
            *polls = core.polls;
            return true;
        }
    return false;
}

static void judge(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    bool unsure, polls;
    struct waits *w = waitfor_judge(ft, c, &unsure);

    if (!w || !has_core(c, w, &polls)) {
        drop(ft, now, c, w ? "something is under way, or not known" : "out of memory");
    } else if ((unsure || polls || c->some_go_on) && !c->is_waiting_for_it) {
        c->is_waiting_for_it = true;
        c->state = WAITFOR_DUE;
        c->next = ftree_max(now, c->looked + ft->cfg.stall / 2);
    } else if (!waitfor_verdict(ft, now, c, w, unsure || polls)) {
        drop(ft, now, c, "it is explained, or no rule decides");
    } else {
        c->state = WAITFOR_SAID;
        c->pause = ft->cfg.stall;
        c->next = now + c->pause;
    }
    ftree_waits_destroy(w);
}

static void end_look(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    bool same;

    if (c->kind == WAITFOR_CORE)
        leave_out(ft, c);
    if (!all_have_answered(c)) {
        drop(ft, now, c, "not all of its ranks have answered");
        return;
    }
    same = are_unchanged(c, &c->some_go_on);
    if (c->round == 0) {
        c->round = 1;
        c->looked = now;
        c->state = WAITFOR_DUE;
        c->next = now + LOOK_GAP;
    } else if (!same) {
        drop(ft, now, c, "one of its ranks has gone on");
    } else {
        judge(ft, now, c);
    }
    waitfor_look_forget(ft, c);
}

/* ---- verdicts that were said ----------------------------------------------------------------- */

/* Who waits for one that has called MPI_Finalize is not of the component, but goes on. */
static bool counts(const struct waitfor_candidate *c, int32_t rank)
{
    return c->is_core_missing
               ? !c->was_there
               : ftree_waits_is_listed(c->component.items, c->component.n, rank);
}

/* A rank of the component that does not answer may be in trouble, which is another verdict's
 * business; one that is outside MPI does not either, but is heard of: its node says where it is. */
static bool goes_on(const struct waitfor_candidate *c, const struct waitfor_asked *a)
{
    if (!a->answer || !counts(c, a->rank))
        return false;
    if (a->answer->seen == WAITFOR_UNABLE)
        return !c->was_there && !a->answer->since;
    return a->answer->seen == WAITFOR_READY &&
           waitfor_progress(a->answer->record, a->answer->records) != a->progress;
}

/* Nobody goes on any more who did when it was said: it is said once more, without doubt. */
static bool has_come_to_rest(struct waitfor_candidate *c)
{
    bool some_go_on;

    return c->some_go_on && all_have_answered(c) && are_unchanged(c, &some_go_on) && !some_go_on;
}

static void look_again(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    int32_t rank = FTREE_NONE;
    bool rests;

    for (int32_t i = 0; i < c->ranks.n && rank == FTREE_NONE; i++)
        if (goes_on(c, &c->ranks.items[i]))
            rank = c->ranks.items[i].rank;
    rests = rank == FTREE_NONE && has_come_to_rest(c);
    waitfor_look_forget(ft, c);
    c->state = WAITFOR_SAID;
    c->pause = ftree_min(2 * c->pause, ft->cfg.stall_repeat_max);
    c->next = now + c->pause;
    if (rank != FTREE_NONE)
        ftree_emit_over(ft, c->node, c->fln, c->verdict, "rank %d goes on", rank);
    else if (rests)
        ftree_emit_over(ft, c->node, c->fln, c->verdict, "replaced: no other rank goes on any more");
    else
        return;
    forget(ft, c);
    waitfor_changed(ft, now);
}

/* Another node may have said it before, or the agent before this one. */
static bool stands(const struct ftree *ft, struct waitfor_candidate *c)
{
    const struct known *k = ftree_verdict_by_number(ft, c->fln, c->verdict);

    if (!k)
        k = ftree_verdict_find(ft, c->class_, c->node, c->rank);
    if (!k || k->v.withdrawn)
        return false;
    c->fln = k->v.fln;
    c->verdict = k->v.id;
    return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool has_fault(const struct ftree *ft, const struct waitfor_candidate *c)
{
    FTREE_EACH(const struct waitfor_asked, a, c->ranks) {
        int32_t node = ftree_node_of(ft, a->rank);
        if (c->kind != WAITFOR_ENDS &&
            (ftree_has_failed(ft, node) ||
             ftree_verdict_find(ft, FTREE_CLASS_PROCESS_STOPPED, node, a->rank) ||
             ftree_verdict_find(ft, FTREE_CLASS_PROCESS_CRASH, node, a->rank)))
            return true;
    }
    return false;
}

/* Of the odd one a verdict says that others wait for it: outside the collective, which is the same
 * fault. */
static bool is_named(const struct ftree *ft, const struct waitfor_candidate *c)
{
    const struct known *k;
    int32_t odd;

    if (c->kind != WAITFOR_MISMATCH || c->verdict || c->mismatch->odd.count != 1)
        return false;
    odd = c->mismatch->odd.range[0].first;
    k = ftree_verdict_find(ft, FTREE_CLASS_DEADLOCK, ftree_node_of(ft, odd), odd);
    return k && (!k->component || k->component->count <= 1);
}

static void step(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    switch (c->state) {
        case WAITFOR_DUE:
            if (has_fault(ft, c) || is_named(ft, c))
                drop(ft, now, c, "a fault explains it");
            else
                waitfor_look_send(ft, now, c);
            break;
        case WAITFOR_ASKED:
            if (waitfor_look_again(ft, now, c))
                break;
            if (c->kind == WAITFOR_ENDS)
                note_ends(ft, now, c);
            else if (c->verdict)
                look_again(ft, now, c);
            else
                end_look(ft, now, c);
            break;
        case WAITFOR_SAID:
            if (stands(ft, c))
                waitfor_look_send(ft, now, c);
            else
                forget(ft, c);
            break;
        default:
            if (c->was_there) {
                c->next = FTREE_NEVER;
                waitfor_changed(ft, now); /* it is looked for once more */
            } else {
                forget(ft, c);
            }
            break;
    }
}

void waitfor_decide_tick(struct ftree *ft, ftree_time now)
{
    struct waitfor *w = ft->waitfor->work;

    for (int32_t i = w->candidates.n - 1; i >= 0 && !ftree_events_wait(ft); i--)
        if (i < w->candidates.n && w->candidates.items[i].next <= now)
            step(ft, now, &w->candidates.items[i]);
}

ftree_time waitfor_decide_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    FTREE_EACH(const struct waitfor_candidate, c, ft->waitfor->work->candidates)
        t = ftree_min(t, c->next);
    return t;
}

void waitfor_decide_clear(struct ftree *ft)
{
    struct waitfor *w = ft->waitfor->work;

    while (w->candidates.n > 0)
        forget(ft, &w->candidates.items[0]);
    ftree_alloc(ft, w->candidates.items, 0);
    FTREE_EACH(waitfor_answer_of_rank, a, w->end_answers)
        ftree_alloc(ft, *a, 0);
    ftree_alloc(ft, w->end_answers.items, 0);
}
