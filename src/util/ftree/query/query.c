/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/query/query.h"

#include "ftree/base/event.h"
#include "ftree/wire/codec.h"

#include <string.h>

#define OWN_TIME (200 * FTREE_MS) /* for the own ranks, where no node is below */
#define PATIENCE (5000 * FTREE_MS) /* with a root that may have to be replaced first */
#define ASK_AGAIN (300 * FTREE_MS)
#define PACE (100 * FTREE_MS) /* from one round for the status to the next, however many ask */
#define ROUNDS_MAX 8
#define ASKERS_MAX 1024 /* each node asks for itself alone, and one thing at a time or two */
#define OWN_MAX 64
#define REQUEST_MAX (256 * 1024)
#define MISSED_MAX 64 /* nodes that are told again at once what was set */

/* What a kind of query does beside being passed on.  NULL: nothing. */
static bool ask_ranks(struct ftree *ft, struct query_round *r);

static const struct {
    /* On the acting root, before it goes down: replaces the request, or returns why it does not
     * go. */
    const char *(*at_root)(struct ftree *ft, struct ftree_bytes *request, char why[QUERY_WHY]);
    /* On every node.  True: the own answer takes time, and ftree_query_said() will say so. */
    bool (*at_node)(struct ftree *ft, struct query_round *r);
    /* On the acting root, of a round that is over. */
    void (*at_end)(struct ftree *ft, ftree_time now, const struct query_answer *a, bool whole);
    bool is_shared; /* who asks the same meanwhile gets the same answer */
    ftree_time longer; /* that an own answer may take */
} kinds[FTREE_QUERY_COUNT] = {
    [FTREE_QUERY_STATUS] = {.at_node = ask_ranks, .is_shared = true},
    [FTREE_QUERY_SET] = {.at_root = query_set_at_root,
                         .at_node = query_set_at_node,
                         .at_end = query_set_at_end},
    [FTREE_QUERY_HANG] = {.at_node = query_hang_at_node},
    [FTREE_QUERY_STACKS] = {.at_node = query_stacks_at_node,
                            .is_shared = true,
                            .longer = FTREE_STACKS_TIME},
    [FTREE_QUERY_LAG] = {.at_node = query_lags_at_node,
                         .at_end = query_lags_at_end,
                         .is_shared = true}};

/* What they do is the business of who looks at them. */
static bool ask_ranks(struct ftree *ft, struct query_round *r)
{
    return FTREE_EMIT(ft, ASK_RANKS, .number = r->number);
}

/* ---- the work -------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct query_work *begin_work(struct ftree *ft)
{
    struct query_work *w = ft->queries->work;

    if (w)
        return w;
    w = ftree_alloc(ft, NULL, sizeof(*w));
    if (w)
        memset(w, 0, sizeof(*w));
    ft->queries->work = w;
    return w;
}

static void forget_round(struct ftree *ft, struct query_round *r)
{
    struct query_work *w = ft->queries->work;

    query_answer_clear(ft, &r->answer);
    ftree_alloc(ft, r->request.items, 0);
    ftree_alloc(ft, r->due.items, 0);
    FTREE_DROP(w->rounds, (int32_t) (r - w->rounds.items));
}

static void forget_asker(struct ftree *ft, int32_t i)
{
    ftree_alloc(ft, ft->queries->work->askers.items[i].request.items, 0);
    FTREE_DROP(ft->queries->work->askers, i);
}

static void end_work(struct ftree *ft)
{
    struct query_work *w = ft->queries->work;

    while (w->rounds.n > 0)
        forget_round(ft, &w->rounds.items[0]);
    while (w->askers.n > 0)
        forget_asker(ft, 0);
    FTREE_EACH(struct query_own, o, w->own)
        ftree_alloc(ft, o->request.items, 0);
    ftree_alloc(ft, w->rounds.items, 0);
    ftree_alloc(ft, w->askers.items, 0);
    ftree_alloc(ft, w->own.items, 0);
    ftree_alloc(ft, w, 0);
    ft->queries->work = NULL;
}

static void end_if_idle(struct ftree *ft)
{
    const struct query_work *w = ft->queries->work;

    if (w && w->rounds.n == 0 && w->askers.n == 0 && w->own.n == 0)
        end_work(ft);
}

static struct query_round *find_round(const struct ftree *ft, uint32_t number)
{
    FTREE_EACH_IF(ft->queries->work, struct query_round, r, ft->queries->work->rounds)
        if (r->number == number)
            return r;
    return NULL;
}

static bool is_full(const struct query_round *r)
{
    return r->kind == FTREE_QUERY_STATUS && r->request.n > 0 && (r->request.items[0] & QUERY_FULL);
}

/* ---- the way down ---------------------------------------------------------------------------- */

struct post {
    ftree_time now;
    struct query_round *r;
};

/* Who does not answer at the moment is not waited for: those below are asked in its place. */
static void post(struct ftree *ft, int32_t child, void *arg)
{
    struct post *p = arg;
    struct ftree_bytes bytes = {0};
    uint8_t kind = p->r->kind;
    int32_t *due;

    if (ftree_peer_has_left(ft, child)) {
        query_answer_left(ft, &p->r->answer, child);
        return;
    }
    if (ftree_peer(ft, p->now, child) == FTREE_PEER_UNRESPONSIVE) {
        ftree_route_children(ft, child, post, arg);
        return;
    }
    due = FTREE_PUSH(ft, p->r->due);
    if (due && ftree_bytes_append(ft, &bytes, &kind, 1) &&
        ftree_bytes_append(ft, &bytes, p->r->request.items, (size_t) p->r->request.n) &&
        ftree_parcel_send(ft, p->now, child, WIRE_QUERY_DOWN, p->r->number, bytes.items,
                          (size_t) bytes.n))
        *due = child;
    else if (due)
        p->r->due.n--;
    ftree_alloc(ft, bytes.items, 0);
}

/* The acting root stands above all, also where it is a leaf. */
static int32_t top_of(const struct ftree *ft, const struct query_round *r)
{
    return r->asker == FTREE_NONE ? ftree_partition_top(ft) : ft->self;
}

/* Where another acts for it, the acting root asks its children, and is itself one of those
 * below. */
static void post_all(struct ftree *ft, ftree_time now, struct query_round *r)
{
    struct post p = {.now = now, .r = r};
    int32_t top = top_of(ft, r);

    if (top != ft->self && ftree_peer_has_left(ft, top))
        ftree_spans_add(ft, &r->answer.left, top, top);
    ftree_route_children(ft, top, post, &p);
}

/* As with victims, each level has `gather` more than the one below. */
static ftree_time time_of(const struct ftree *ft, const struct query_round *r)
{
    int32_t height = ftree_topo_height(ft->topo, top_of(ft, r));

    return kinds[r->kind].longer +
           (height > 0 ? ft->cfg.gather * (ftree_time) (height + 1) : OWN_TIME);
}

/* ---- the way up ------------------------------------------------------------------------------ */

static void serve_next(struct ftree *ft, ftree_time now);

/* A result, or text, for one who asked. */
static void reply(struct ftree *ft, ftree_time now, int32_t node, uint32_t number,
                  enum query_outcome outcome, const void *bytes, size_t len)
{
    uint8_t first = (uint8_t) outcome;
    struct ftree_bytes all = {0};

    if (ftree_bytes_append(ft, &all, &first, 1) && ftree_bytes_append(ft, &all, bytes, len)) {
        if (node == ft->self)
            query_result(ft, now, ft->self, number, all.items, (size_t) all.n);
        else
            ftree_parcel_send(ft, now, node, WIRE_QUERY_RESULT, number, all.items,
                              (size_t) all.n);
    }
    ftree_alloc(ft, all.items, 0);
}

static void refuse(struct ftree *ft, ftree_time now, int32_t node, uint32_t number,
                   const char *why)
{
    reply(ft, now, node, number, QUERY_REFUSED, why, strlen(why));
}

/* What the acting root knows goes to all whom it serves. */
static void reply_all(struct ftree *ft, ftree_time now, const struct ftree_bytes *bytes)
{
    struct query_work *w = ft->queries->work;

    for (int32_t i = w->askers.n - 1; i >= 0; i--) {
        const struct query_asker *a = &w->askers.items[i];
        if (!a->served)
            continue;
        reply(ft, now, a->node, a->number, QUERY_DONE, bytes->items, (size_t) bytes->n);
        forget_asker(ft, i);
    }
}

static void finish(struct ftree *ft, ftree_time now, struct query_round *r)
{
    struct ftree_bytes bytes = {0};
    bool at_root = r->asker == FTREE_NONE;
    bool whole = query_answer_put(ft, &r->answer, r->kind, is_full(r), &bytes);

    ftree_trace(ft, "  query %u: %d nodes have answered", r->number, r->answer.answered.count);
    if (whole && !at_root)
        ftree_parcel_send(ft, now, r->asker, WIRE_QUERY_ANSWER, r->number, bytes.items,
                          (size_t) bytes.n);
    if (at_root && kinds[r->kind].at_end)
        kinds[r->kind].at_end(ft, now, &r->answer, query_answer_is_whole(ft, &r->answer));
    forget_round(ft, r);
    if (whole && at_root)
        reply_all(ft, now, &bytes);
    ftree_alloc(ft, bytes.items, 0);
    if (at_root)
        serve_next(ft, now);
}

static void finish_if_in(struct ftree *ft, ftree_time now, struct query_round *r)
{
    if (r->own_done && r->due.n == 0)
        finish(ft, now, r);
}

/* The acting root is below the node that asks it: its own answer is in its round already. */
static void answer_nothing(struct ftree *ft, ftree_time now, uint8_t kind, int32_t asker,
                           uint32_t number)
{
    struct query_answer none = {0};
    struct ftree_bytes bytes = {0};

    if (query_answer_put(ft, &none, kind, false, &bytes))
        ftree_parcel_send(ft, now, asker, WIRE_QUERY_ANSWER, number, bytes.items,
                          (size_t) bytes.n);
    ftree_alloc(ft, bytes.items, 0);
}

/* ---- a round --------------------------------------------------------------------------------- */

/* Takes the request.  What comes twice is asked for by another now, who did not hear of the
 * first. */
static void begin_round(struct ftree *ft, ftree_time now, uint8_t kind, uint32_t number,
                        int32_t asker, struct ftree_bytes *request)
{
    struct query_work *w = begin_work(ft);
    struct query_round *r = w ? find_round(ft, number) : NULL;

    if (r && r->asker == FTREE_NONE)
        answer_nothing(ft, now, kind, asker, number);
    else if (r)
        r->asker = asker;
    if (!w || r || w->rounds.n >= ROUNDS_MAX)
        return;
    r = FTREE_PUSH(ft, w->rounds);
    if (!r)
        return;
    r->kind = kind;
    r->number = number;
    r->asker = asker;
    r->request = *request;
    *request = (struct ftree_bytes){0};
    r->until = now + time_of(ft, r);
    query_answer_own(ft, now, &r->answer);
    post_all(ft, now, r);
    r->own_done = !kinds[kind].at_node || !kinds[kind].at_node(ft, r);
    finish_if_in(ft, now, r);
}

static void settle(struct ftree *ft, ftree_time now, int32_t from, uint32_t number,
                   const struct ftree_bytes *bytes)
{
    struct query_round *r = find_round(ft, number);
    struct query_answer a;
    int32_t i = 0;

    while (r && i < r->due.n && r->due.items[i] != from)
        i++;
    if (!r || i == r->due.n)
        return;
    FTREE_DROP(r->due, i);
    if (query_answer_get(ft, now, r->kind, bytes->items, (size_t) bytes->n, &a) ||
        !query_answer_merge(ft, &r->answer, &a))
        ftree_trace(ft, "  an answer of %s cannot be read", ftree_name(ft, from));
    query_answer_clear(ft, &a);
    finish_if_in(ft, now, r);
}

void ftree_query_said(struct ftree *ft, ftree_time now, uint32_t number,
                      struct ftree_rank_classes *classes)
{
    struct query_round *r = find_round(ft, number);

    if (r && !r->own_done) {
        ftree_classes_merge(ft, &r->answer.classes, classes);
        r->own_done = true;
        finish_if_in(ft, now, r);
    }
    ftree_classes_clear(ft, classes);
    ftree_alloc(ft, classes, 0);
    end_if_idle(ft);
}

void ftree_query_stacks_taken(struct ftree *ft, ftree_time now, uint32_t number,
                              struct ftree_stacks *s)
{
    struct query_round *r = ft->queries->work ? find_round(ft, number) : NULL;

    if (r && r->kind == FTREE_QUERY_STACKS && !r->own_done) {
        ftree_stacks_merge(ft, &r->answer.stacks, s);
        r->own_done = true;
        finish_if_in(ft, now, r);
        end_if_idle(ft);
    }
    ftree_stacks_clear(ft, s);
}

/* ---- the acting root ------------------------------------------------------------------------- */

static bool is_same(const struct query_asker *a, const struct query_asker *b)
{
    return a->kind == b->kind && a->request.n == b->request.n &&
           (a->request.n == 0 ||
            memcmp(a->request.items, b->request.items, (size_t) a->request.n) == 0);
}

static bool any_round_of_root(const struct ftree *ft)
{
    FTREE_EACH(const struct query_round, r, ft->queries->work->rounds)
        if (r->asker == FTREE_NONE)
            return true;
    return false;
}

/* All who ask the same are served by one round. */
static void serve(struct ftree *ft, ftree_time now, int32_t first)
{
    struct query_work *w = ft->queries->work;
    struct query_asker *a = &w->askers.items[first];
    struct ftree_bytes request = {0};
    const char *why = NULL;
    char room[QUERY_WHY];

    if (kinds[a->kind].is_shared)
        ft->queries->next = now + PACE;
    for (int32_t i = 0; i < w->askers.n; i++)
        if (i == first || (kinds[a->kind].is_shared && is_same(a, &w->askers.items[i])))
            w->askers.items[i].served = true;
    if (!ftree_bytes_append(ft, &request, a->request.items, (size_t) a->request.n))
        why = "out of memory";
    else if (kinds[a->kind].at_root)
        why = kinds[a->kind].at_root(ft, &request, room);
    if (why) {
        refuse(ft, now, a->node, a->number, why);
        forget_asker(ft, first);
    } else {
        begin_round(ft, now, a->kind, ftree_parcel_number(&ft->queries->round, now), FTREE_NONE,
                    &request);
    }
    ftree_alloc(ft, request.items, 0);
}

static void serve_next(struct ftree *ft, ftree_time now)
{
    struct query_work *w = ft->queries->work;

    for (int32_t i = 0; i < w->askers.n && !any_round_of_root(ft);)
        if (w->askers.items[i].served)
            forget_asker(ft, i); /* its round could not begin or be told: out of memory */
        else if (kinds[w->askers.items[i].kind].is_shared && now < ft->queries->next)
            i++;
        else
            serve(ft, now, i);
}

/* Somebody asks this node as the acting root; takes the request. */
static void ask_root(struct ftree *ft, ftree_time now, int32_t node, uint8_t kind, uint32_t number,
                     struct ftree_bytes *request)
{
    struct query_work *w = begin_work(ft);
    struct query_asker *a;

    if (ftree_is_leaving(ft)) {
        refuse(ft, now, node, number, "the job has ended");
        return;
    }
    if (!ftree_route_is_root(ft)) {
        reply(ft, now, node, number, QUERY_ELSEWHERE, NULL, 0);
        return;
    }
    FTREE_EACH_IF(w, const struct query_asker, old, w->askers)
        if (old->node == node && old->number == number)
            return; /* it asks again */
    a = w && w->askers.n < ASKERS_MAX ? FTREE_PUSH(ft, w->askers) : NULL;
    if (!a) {
        refuse(ft, now, node, number, "the acting root is busy");
        return;
    }
    *a = (struct query_asker){.node = node, .kind = kind, .number = number, .request = *request};
    *request = (struct ftree_bytes){0};
    if (!any_round_of_root(ft)) {
        serve_next(ft, now);
        return;
    }
    FTREE_EACH(const struct query_asker, old, w->askers)
        if (old->served && kinds[kind].is_shared && is_same(old, a))
            a->served = true;
}

/* What was set goes to those who have missed it; they tell those below them, too, who know it. */
static void tell_again(struct ftree *ft, ftree_time now)
{
    const struct ftree_bytes *known = &ft->queries->set.bytes;
    struct query_work *w = begin_work(ft);
    struct query_round *r = w && w->rounds.n < ROUNDS_MAX ? FTREE_PUSH(ft, w->rounds) : NULL;
    struct post p = {.now = now, .r = r};

    if (!r)
        return;
    r->kind = FTREE_QUERY_SET;
    r->number = ftree_parcel_number(&ft->queries->round, now);
    r->asker = FTREE_NONE;
    r->own_done = true;
    r->until = now + time_of(ft, r);
    ftree_bytes_append(ft, &r->request, known->items, (size_t) known->n);
    ftree_spans_add(ft, &r->answer.answered, ft->self, ft->self);
    for (int32_t node = 0; node < ft->job->nodes && r->due.n < MISSED_MAX; node++)
        if (node != ft->self && query_set_misses(ft, node))
            post(ft, node, &p);
    finish_if_in(ft, now, r);
}

/* ---- the own agent --------------------------------------------------------------------------- */

static void submit(struct ftree *ft, ftree_time now, struct query_own *own)
{
    int32_t root = ftree_route_is_root(ft) ? ft->self : ftree_route_root(ft);
    struct ftree_bytes request = {0};
    uint8_t kind = own->kind;

    own->again = now + PATIENCE; /* it may have ended meanwhile */
    if (root == FTREE_NONE || root == ft->self) {
        if (ftree_bytes_append(ft, &request, own->request.items, (size_t) own->request.n))
            ask_root(ft, now, ft->self, kind, own->number, &request);
    } else if (ftree_bytes_append(ft, &request, &kind, 1) &&
               ftree_bytes_append(ft, &request, own->request.items, (size_t) own->request.n)) {
        ftree_parcel_send(ft, now, root, WIRE_QUERY_UP, own->number, request.items,
                          (size_t) request.n);
    }
    ftree_alloc(ft, request.items, 0);
}

int ftree_query_ask(struct ftree *ft, ftree_time now, enum ftree_query_kind kind,
                    const void *bytes, size_t len, uint32_t *number)
{
    struct query_work *w;
    struct query_own *own;

    if ((int) kind < 0 || kind >= FTREE_QUERY_COUNT || len > REQUEST_MAX || ftree_is_leaving(ft))
        return FTREE_ERR_INVALID;
    w = begin_work(ft);
    own = w && w->own.n < OWN_MAX ? FTREE_PUSH(ft, w->own) : NULL;
    if (own && !ftree_bytes_append(ft, &own->request, bytes, len)) {
        w->own.n--;
        own = NULL;
    }
    if (!own) {
        end_if_idle(ft);
        return FTREE_ERR_NOMEM;
    }
    own->kind = (uint8_t) kind;
    own->number = ftree_parcel_number(&ft->queries->own, now);
    own->until =
        now + PATIENCE + kinds[kind].longer +
        ft->cfg.gather * (ftree_time) (ftree_topo_height(ft->topo, 0) + 1);
    own->again = now; /* at the next tick, for the caller is to know the number first */
    *number = own->number;
    return FTREE_OK;
}

void ftree_query_hang(struct ftree *ft, ftree_time now, uint64_t first)
{
    uint8_t request[10];
    struct wire_codec w = {.p = request};
    uint32_t number;

    ftree_put_number(&w, first);
    if (ftree_query_ask(ft, now, FTREE_QUERY_HANG, request, w.at, &number))
        FTREE_EMIT(ft, ALL_SAID, .u.hang = NULL);
}

/* The result is the acting root's alone, which may be another node. */
void ftree_query_lags(struct ftree *ft, ftree_time now)
{
    uint32_t number;

    ftree_query_ask(ft, now, FTREE_QUERY_LAG, NULL, 0, &number);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The kind is the first byte, the request follows. */
static bool split(struct ftree_bytes *bytes, uint8_t *kind)
{
    if (bytes->n < 1 || bytes->items[0] >= FTREE_QUERY_COUNT)
        return false;
    *kind = bytes->items[0];
    memmove(bytes->items, bytes->items + 1, (size_t) --bytes->n);
    return true;
}

static void take(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                 uint32_t number, struct ftree_bytes *bytes)
{
    uint8_t kind;

    if (type == WIRE_QUERY_ANSWER)
        settle(ft, now, from, number, bytes);
    else if (type == WIRE_QUERY_RESULT)
        query_result(ft, now, from, number, bytes->items, (size_t) bytes->n);
    else if (!split(bytes, &kind))
        ftree_trace(ft, "  a query of %s is not understood", ftree_name(ft, from));
    else if (type == WIRE_QUERY_UP)
        ask_root(ft, now, from, kind, number, bytes);
    else
        begin_round(ft, now, kind, number, from, bytes);
}

void ftree_query_part(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                      const struct wire_part *part)
{
    struct ftree_bytes bytes = {0};

    if (ftree_parcel_take(ft, now, from, type, part, &bytes))
        take(ft, now, from, type, part->number, &bytes);
    ftree_alloc(ft, bytes.items, 0);
    end_if_idle(ft);
}

/* ---- who does not answer --------------------------------------------------------------------- */

/* Those below are asked in its place; they hear of it only now. */
static void ask_below(struct ftree *ft, ftree_time now, struct query_round *r, int32_t i)
{
    struct post p = {.now = now, .r = r};
    int32_t node = r->due.items[i];

    FTREE_DROP(r->due, i);
    r->until = ftree_max(r->until, now + ft->cfg.gather / 2);
    ftree_route_children(ft, node, post, &p);
}

/* The node at place i of those that are due; -1: it is not. */
static int32_t place_of(const struct query_round *r, int32_t node)
{
    int32_t i = r->due.n - 1;

    while (i >= 0 && r->due.items[i] != node)
        i--;
    return i;
}

static void give_up(struct ftree *ft, ftree_time now, int32_t node)
{
    for (int32_t i = ft->queries->work->rounds.n - 1; i >= 0; i--) {
        struct query_round *r = &ft->queries->work->rounds.items[i];
        int32_t place = place_of(r, node);
        if (place < 0)
            continue;
        ask_below(ft, now, r, place);
        r->until = r->due.n == 0 && r->own_done ? now : r->until; /* at the next tick */
    }
}

void ftree_query_undeliverable(struct ftree *ft, ftree_time now, enum wire_type type, int32_t to)
{
    if (!ft->queries->work)
        return;
    if (type == WIRE_QUERY_DOWN)
        give_up(ft, now, to);
    FTREE_EACH_IF(type == WIRE_QUERY_UP, struct query_own, own, ft->queries->work->own)
        own->again = ftree_min(own->again, now + ASK_AGAIN);
}

/* Not yet known when they were asked. */
void ftree_query_learned(struct ftree *ft, ftree_time now)
{
    query_set_learned(ft, now);
    if (!ft->queries->work)
        return;
    FTREE_EACH(struct query_round, r, ft->queries->work->rounds) {
        for (int32_t i = r->due.n - 1; i >= 0; i--)
            if (i < r->due.n && ftree_has_no_agent(ft, r->due.items[i]))
                ask_below(ft, now, r, i);
        r->until = r->due.n == 0 && r->own_done ? now : r->until;
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

ftree_time ftree_query_deadline(const struct ftree *ft)
{
    const struct query_work *w = ft->queries->work;
    ftree_time t = query_set_deadline(ft);

    if (!w)
        return t;
    FTREE_EACH(const struct query_round, r, w->rounds)
        t = ftree_min(t, r->until);
    FTREE_EACH(const struct query_own, o, w->own)
        t = ftree_min(t, ftree_min(o->again, o->until));
    if (w->askers.n > 0 && !any_round_of_root(ft))
        t = ftree_min(t, ft->queries->next);
    return t;
}

static void tick_own(struct ftree *ft, ftree_time now)
{
    struct query_work *w = ft->queries->work;

    for (int32_t i = w->own.n - 1; i >= 0; i--) {
        if (i >= w->own.n)
            continue;
        if (w->own.items[i].until <= now)
            query_result_none(ft, w->own.items[i].number);
        else if (w->own.items[i].again <= now)
            submit(ft, now, &w->own.items[i]);
    }
}

void ftree_query_tick(struct ftree *ft, ftree_time now)
{
    struct query_work *w;

    if (query_set_is_due(ft, now) && !(ft->queries->work && any_round_of_root(ft)))
        tell_again(ft, now);
    w = ft->queries->work;
    if (!w)
        return;
    tick_own(ft, now);
    for (int32_t i = w->rounds.n - 1; i >= 0; i--)
        if (i < w->rounds.n && w->rounds.items[i].until <= now)
            finish(ft, now, &w->rounds.items[i]);
    serve_next(ft, now);
    end_if_idle(ft);
}

void ftree_query_clear(struct ftree *ft)
{
    query_set_clear(ft);
    if (ft->queries->work)
        end_work(ft);
}
