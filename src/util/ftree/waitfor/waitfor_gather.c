/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include <string.h>

/*
 * Items on their way up.  A node reduces what its own ranks say and what the nodes below have sent,
 * and tells what is left where that has changed.  Each request is taken for open: nobody else was
 * asked yet, and what turns out to be a candidate is looked at from both sides (waitfor_look.c).
 *
 * A node reduces 20 ms after the first change, and then rests for 50 ms, twice as long each time
 * while there are more changes, up to a quarter of the stall limit, so that ranks which block one
 * after the other are known soon after the last of them at each level; where many wait, which takes
 * long to reduce, up to the stall limit.
 */

#define PAUSE_FIRST (20 * FTREE_MS) /* after the first change: others follow */
#define PAUSE_MIN (50 * FTREE_MS)
#define MANY 10000 /* ranks */
#define OLD 3 /* intervals at which items are sent again: who has not is forgotten */

void waitfor_changed(struct ftree *ft, ftree_time now)
{
    struct waitfor *w = ft->waitfor->work;
    ftree_time due = ftree_max(now + PAUSE_FIRST, w->reduced + w->pause);

    w->due = ftree_min(w->due, due);
}

/* ---- what is known --------------------------------------------------------------------------- */

static bool needs_a_peer(const struct waits_request *q)
{
    return q->kind <= WAITS_PROBE || q->kind == WAITS_RMA || q->kind == WAITS_PSEND ||
           q->kind == WAITS_PRECV || q->kind == WAITS_STORE;
}

static void take_for_open(struct waits_record *r)
{
    for (int32_t i = 0; i < r->requests; i++) {
        struct waits_request *q = &r->request[i];
        if (q->fate == WAITS_UNKNOWN && needs_a_peer(q))
            q->fate = WAITS_OPEN;
    }
}

static int add_records(struct waits *w, const struct waits_record *record, int32_t records)
{
    struct waits_record r;
    int rc = FTREE_OK;

    for (int32_t i = 0; i < records && !rc; i++) {
        r = record[i];
        take_for_open(&r);
        rc = ftree_waits_add(w, &r);
    }
    return rc;
}

/* What it wrote before it left says where it is in the sequence of collectives. */
static int add_left(struct ftree *ft, struct waits *w, int32_t i, int32_t rank)
{
    /* no new one: it does not answer any more */
    uint32_t look = ft->waitfor->look ? ft->waitfor->look : 1;
    const struct waits_page *page = NULL;

    if (ft->io->waits(ft->io_ctx, i, look, NULL, 0, &page) == FTREE_WAITS_READY &&
        waitfor_is_last_word(ft, rank, page))
        return add_records(w, page->record, page->records);
    return ftree_waits_add_done(w, rank);
}

static int add_own(struct ftree *ft, struct waits *w)
{
    struct ftree_rank_state s;
    int rc = FTREE_OK;

    FTREE_EACH(const struct waitfor_own, o, ft->waitfor->work->own)
        if (!rc)
            rc = add_records(w, o->record, o->records);
    for (int32_t i = 0; ft->io->waits && i < ftree_ranks_of(ft->job, ft->self) && !rc; i++) {
        ft->io->look(ft->io_ctx, i, &s);
        if (s.phase == FTREE_PHASE_LEFT && s.proc_state != 'X')
            rc = add_left(ft, w, i, s.rank);
    }
    return rc;
}

static void forget_below(struct ftree *ft, struct waitfor_below *b)
{
    ftree_alloc(ft, b->items.items, 0);
    FTREE_DROP(ft->waitfor->work->below, (int32_t) (b - ft->waitfor->work->below.items));
}

/* What those below a node that is lost wait for comes from them. */
static int add_below(struct ftree *ft, struct waits *w)
{
    int rc = FTREE_OK;

    for (int32_t i = ft->waitfor->work->below.n - 1; i >= 0 && rc != FTREE_ERR_NOMEM; i--) {
        struct waitfor_below *b = &ft->waitfor->work->below.items[i];
        if (ftree_has_no_agent(ft, b->node)) {
            forget_below(ft, b);
            continue;
        }
        rc = ftree_waits_merge(w, b->items.items, (size_t) b->items.n);
        if (rc == FTREE_ERR_MALFORMED) {
            ftree_trace(ft, "  items of %s are not understood", ftree_name(ft, b->node));
            forget_below(ft, b);
            return rc; /* a part of them may be in */
        }
    }
    return rc;
}

bool waitfor_is_new(const struct ftree *ft, ftree_time now, const struct waitfor_answer *a)
{
    return a->seen == WAITFOR_READY && a->said + ft->cfg.stall > now;
}

static int add_ends(struct ftree *ft, struct waits *w, ftree_time now)
{
    int rc = FTREE_OK;

    FTREE_EACH(waitfor_answer_of_rank, a, ft->waitfor->work->end_answers) {
        if (!rc && (*a)->seen == WAITFOR_LEFT)
            rc = ftree_waits_add_done(w, (*a)->rank);
        else if (!rc && !waitfor_is_new(ft, now, *a))
            rc = add_records(w, (*a)->record, (*a)->records);
    }
    return rc;
}

struct waits *waitfor_gather_reduce(struct ftree *ft, ftree_time now)
{
    struct waits *w = ftree_waits_create(ft);
    int rc = w ? add_own(ft, w) : FTREE_ERR_NOMEM;

    if (!rc)
        rc = add_below(ft, w);
    if (!rc)
        rc = add_ends(ft, w, now);
    return ftree_waits_reduced(w, ftree_route_is_root(ft), rc);
}

/* ---- whose victims --------------------------------------------------------------------------- */

/* Of a core that was found elsewhere only the verdict is known. */
static bool are_there_others(const struct ftree *ft, const struct known *k)
{
    FTREE_EACH(const struct known, other, ft->state->known)
        if (other != k && ftree_verdict_is_wait(&other->v))
            return true;
    FTREE_EACH(const struct waitfor_candidate, c, ft->waitfor->work->candidates)
        if (c->kind == WAITFOR_CORE && c->was_there && c->verdict != k->v.id)
            return true;
    return false;
}

static bool has_other_verdict(const struct ftree *ft, const struct known *k, int32_t core)
{
    FTREE_EACH(const struct known, other, ft->state->known)
        if (other != k && ftree_verdict_is_wait(&other->v) && other->v.rank == core)
            return true;
    return false;
}

/* The core of a deadlock, by the lowest of its ranks; of anything else FTREE_NONE.  False: it is
 * not known here. */
static bool core_of(const struct waits *w, const struct known *k, int32_t *core)
{
    enum waits_what what;

    *core = FTREE_NONE;
    if (k->v.class_ != FTREE_CLASS_DEADLOCK)
        return true;
    what = ftree_waits_of(w, k->v.rank, core);
    if (what == WAITS_DONE) /* it has called MPI_Finalize */
        *core = k->v.rank;
    return what == WAITS_BLOCKED || what == WAITS_DONE;
}

/* It is a victim of another finding. */
static bool is_of_others(const struct ftree *ft, const struct waits *w, const struct known *k,
                         int32_t own_core, int32_t rank)
{
    int32_t core;

    return ftree_waits_of(w, rank, &core) == WAITS_BLOCKED && core != own_core &&
           !(k->component && ftree_ranks_has(k->component, core)) &&
           (own_core != FTREE_NONE || has_other_verdict(ft, k, core));
}

/* Of victims that found no room in the list only the number is known. */
static void leave_out(const struct ftree *ft, const struct waits *w, const struct known *k,
                      int32_t own_core, struct ftree_ranks *victims)
{
    int32_t unlisted = victims->count - ftree_ranks_listed(victims), rank;
    struct ftree_ranks own = {0};

    for (int32_t i = 0; unlisted > 0 && ftree_waits_rank_at(w, i, &rank); i++)
        unlisted -= !ftree_ranks_has(victims, rank) && is_of_others(ft, w, k, own_core, rank);
    for (int32_t r = 0; r < victims->ranges; r++) {
        int32_t from = victims->range[r].first, last = victims->range[r].last;
        for (rank = from; rank <= last; rank++)
            if (is_of_others(ft, w, k, own_core, rank)) {
                if (rank > from)
                    ftree_ranks_add(&own, from, rank - 1);
                from = rank + 1;
            }
        if (from <= last)
            ftree_ranks_add(&own, from, last);
    }
    own.count += unlisted;
    *victims = own;
}

void ftree_waitfor_victims(struct ftree *ft, const struct known *k, struct ftree_ranks *victims)
{
    struct waits *w = NULL;
    int32_t core;

    if (ft->waitfor->work && are_there_others(ft, k))
        w = waitfor_gather_reduce(ft, FTREE_NEVER);
    if (!w)
        return;
    if (core_of(w, k, &core))
        leave_out(ft, w, k, core, victims);
    ftree_waits_destroy(w);
}

/* ---- telling --------------------------------------------------------------------------------- */

static bool write_items(struct ftree *ft, const struct waits *w, waitfor_bytes *out)
{
    if (ftree_waits_count(w) == 0 && ft->waitfor->work->own.n + ft->waitfor->work->below.n == 0)
        return true; /* nobody cares any more who has called MPI_Finalize */
    return ftree_waits_items(w, out);
}

static uint64_t print_of(const waitfor_bytes *bytes)
{
    uint64_t print = (uint64_t) bytes->n;

    for (int32_t i = 0; i < bytes->n; i++)
        print = (print ^ bytes->items[i]) * 0x100000001b3u;
    return ftree_topo_mix(print);
}

/* To whom; the own node: to nobody, FTREE_NONE: not now. */
static int32_t next_hop(struct ftree *ft, ftree_time now)
{
    bool substitute;
    int32_t hop;

    if (ftree_route_is_root(ft))
        return ft->self;
    hop = ftree_route_upward(ft, now, FTREE_NONE, &substitute);
    return hop == ft->self || (substitute && ftree_peer_can_act(ft, 0)) ? FTREE_NONE : hop;
}

static bool send_up(struct ftree *ft, ftree_time now, int32_t to, const waitfor_bytes *items)
{
    uint32_t number = ftree_parcel_number(&ft->waitfor->round, now);

    return ftree_parcel_send(ft, now, to, WIRE_WAITS_UP, number, items->items, (size_t) items->n);
}

/* Who received it before must not believe it any more. */
static void take_back(struct ftree *ft, ftree_time now, int32_t hop)
{
    struct waitfor *w = ft->waitfor->work;
    const waitfor_bytes nothing = {0};

    if (w->stale != FTREE_NONE && w->stale != hop)
        send_up(ft, now, w->stale, &nothing);
    w->stale = FTREE_NONE;
}

/* Another node receives them from now on; the one before will hear of it. */
static void go_by(struct ftree *ft, ftree_time now, int32_t hop)
{
    struct waitfor *w = ft->waitfor->work;

    if (w->hop != hop && w->hop != FTREE_NONE) {
        w->stale = w->hop;
        w->due = now + ftree_rto(ft);
    }
    w->hop = hop;
}

static void tell_hop(struct ftree *ft, ftree_time now, int32_t hop, const waitfor_bytes *items,
                     bool again)
{
    struct waitfor *w = ft->waitfor->work;
    uint64_t print = print_of(items);
    bool same = hop == w->hop && print == w->sent;

    if (hop == w->hop ? same && !again : items->n == 0 && !w->has_sent)
        return;
    if (!send_up(ft, now, hop, items)) {
        w->tell_again = FTREE_NEVER;
        return;
    }
    go_by(ft, now, hop);
    /* the receiver may have a new agent, that knows nothing: what has not changed is sent again, as
     * stalls are */
    w->tell_pause = same ? ftree_min(2 * w->tell_pause, ft->cfg.stall_repeat_max) : ft->cfg.stall;
    w->tell_again = now + w->tell_pause;
    w->sent = print;
    w->has_sent = items->n > 0;
    if (!w->has_sent)
        w->tell_again = FTREE_NEVER;
}

/* again: also where nothing has changed. */
static void tell(struct ftree *ft, ftree_time now, const waitfor_bytes *items, bool again)
{
    struct waitfor *w = ft->waitfor->work;
    int32_t hop = next_hop(ft, now);

    if (hop != ft->self && hop != FTREE_NONE) {
        take_back(ft, now, hop);
        tell_hop(ft, now, hop, items, again);
        return;
    }
    w->tell_again = FTREE_NEVER;
    if (hop == ft->self)
        w->has_sent = false;
    else /* the root is being asked, perhaps */
        w->due = now + ftree_rto(ft);
}

static void rest(struct ftree *ft, ftree_time now)
{
    struct waitfor *w = ft->waitfor->work;
    ftree_time most = w->waiting > MANY ? ft->cfg.stall : ft->cfg.stall / 4;
    bool calm = w->reduced + 2 * ftree_max(w->pause, PAUSE_MIN) <= now;

    w->pause = calm ? PAUSE_MIN : ftree_min(2 * w->pause, most);
    w->reduced = now;
    w->due = FTREE_NEVER;
}

/* Who takes another way now has nobody here who forgets its items. */
static void forget_old(struct ftree *ft, ftree_time now)
{
    for (int32_t i = ft->waitfor->work->below.n - 1; i >= 0; i--)
        if (ft->waitfor->work->below.items[i].at + OLD * ft->cfg.stall_repeat_max <= now) {
            forget_below(ft, &ft->waitfor->work->below.items[i]);
            waitfor_changed(ft, now);
        }
}

ftree_time waitfor_gather_deadline(const struct ftree *ft)
{
    ftree_time t = ftree_min(ft->waitfor->work->due, ft->waitfor->work->tell_again);

    FTREE_EACH(const struct waitfor_below, b, ft->waitfor->work->below)
        t = ftree_min(t, b->at + OLD * ft->cfg.stall_repeat_max);
    return t;
}

struct waits *waitfor_gather_tick(struct ftree *ft, ftree_time now)
{
    waitfor_bytes items = {0};
    struct waits *w;
    bool again;

    forget_old(ft, now);
    if (ft->waitfor->work->due > now && ft->waitfor->work->tell_again > now)
        return NULL;
    rest(ft, now);
    again = ft->waitfor->work->tell_again <= now;
    if (again) /* if it does not succeed */
        ft->waitfor->work->tell_again =
            ft->waitfor->work->has_sent ? now + ft->cfg.stall : FTREE_NEVER;
    w = waitfor_gather_reduce(ft, FTREE_NEVER);
    if (!w) {
        ft->waitfor->work->due = now + ft->cfg.stall;
        return NULL;
    }
    if (write_items(ft, w, &items))
        tell(ft, now, &items, again);
    ftree_alloc(ft, items.items, 0);
    return w;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static struct waitfor_below *below_of(struct ftree *ft, int32_t node, bool make)
{
    struct waitfor_below *b;

    FTREE_EACH(struct waitfor_below, old, ft->waitfor->work->below)
        if (old->node == node)
            return old;
    b = make ? FTREE_PUSH(ft, ft->waitfor->work->below) : NULL;
    if (b)
        b->node = node;
    return b;
}

/* New items of a node replace its old ones; those in `items` are then this node's. */
void waitfor_up(struct ftree *ft, ftree_time now, int32_t from, uint32_t round,
                waitfor_bytes *items)
{
    struct waitfor_below *b = below_of(ft, from, items->n > 0);

    if (!b || (b->items.n > 0 && (int32_t) (round - b->round) <= 0))
        return;
    if (items->n == 0) {
        forget_below(ft, b);
    } else {
        ftree_alloc(ft, b->items.items, 0);
        memcpy(&b->items, items, sizeof(b->items));
        *items = (waitfor_bytes){0};
        b->round = round;
        b->at = now;
    }
    waitfor_changed(ft, now);
}

void waitfor_gather_clear(struct ftree *ft)
{
    while (ft->waitfor->work->below.n > 0)
        forget_below(ft, &ft->waitfor->work->below.items[0]);
    ftree_alloc(ft, ft->waitfor->work->below.items, 0);
}
