/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/event.h"

#include <string.h>

#define OWN_TIME (200 * FTREE_MS) /* for the own ranks, where no node is below */
#define PATIENCE (5000 * FTREE_MS) /* with a root that may have to be replaced first */
#define ASK_AGAIN (300 * FTREE_MS)
#define PACE (100 * FTREE_MS) /* from one round for the status to the next, however many ask */
#define ROUNDS_MAX 64
#define ASKERS_MAX 1024 /* each node asks for itself alone, and one thing at a time or two */
#define OWN_MAX 64
#define REQUEST_MAX (256 * 1024)
#define MISSED_MAX 64 /* nodes that are sent again at once what was set */

/* ---- the work -------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct survey_work *begin_work(struct ftree *ft)
{
    if (!ft->survey->work)
        ft->survey->work = ftree_alloc_zeroed(ft, sizeof(*ft->survey->work));
    return ft->survey->work;
}

static void clear_round(struct ftree *ft, struct survey_round *r)
{
    survey_answer_clear(ft, &r->answer);
    ftree_alloc(ft, r->request.items, 0);
    ftree_alloc(ft, r->due.items, 0);
}

static void forget_asker(struct ftree *ft, int32_t i)
{
    ftree_alloc(ft, ft->survey->work->askers.items[i].request.items, 0);
    FTREE_DROP(ft->survey->work->askers, i);
}

static void end_work(struct ftree *ft)
{
    struct survey_work *w = ft->survey->work;

    FTREE_EACH(struct survey_round, r, w->rounds)
        clear_round(ft, r);
    while (w->askers.n > 0)
        forget_asker(ft, 0);
    FTREE_EACH(struct survey_own, o, w->own)
        ftree_alloc(ft, o->request.items, 0);
    ftree_alloc(ft, w->rounds.items, 0);
    ftree_alloc(ft, w->askers.items, 0);
    ftree_alloc(ft, w->own.items, 0);
    ftree_alloc(ft, w, 0);
    ft->survey->work = NULL;
}

static void end_if_idle(struct ftree *ft)
{
    const struct survey_work *w = ft->survey->work;

    if (w && w->rounds.n == 0 && w->askers.n == 0 && w->own.n == 0)
        end_work(ft);
}

/* Of those that are asked for. */
static struct survey_round *find_round(const struct ftree *ft, uint32_t number)
{
    return ft->survey->work ? FTREE_FIND(struct survey_round, r, ft->survey->work->rounds,
                                         r->kind != SURVEY_VICTIMS && r->number == number)
                            : NULL;
}

/* The acting root stands above all, also where it is a leaf. */
static int32_t top_of(const struct ftree *ft, int32_t asker)
{
    return asker == FTREE_NONE ? ftree_partition_top(ft) : ft->self;
}

/* Each level has `gather` more than the one below, so that each node has answered before the one
 * above stops waiting.  It must be longer than the outbox is patient: those below a lost node are
 * asked in its place, and an answer may have to be sent twice. */
static ftree_time time_of(const struct ftree *ft, uint8_t kind, int32_t asker)
{
    const struct survey_kind *k = &survey_kinds[kind];
    int32_t height = ftree_topo_height(ft->topo, top_of(ft, asker));

    return k->longer +
           (height > 0 ? ft->cfg.gather * (ftree_time) (height + (k->at_node != NULL)) : OWN_TIME);
}

/* NULL: out of memory, or there are too many. */
static struct survey_round *add_round(struct ftree *ft, ftree_time now, uint8_t kind,
                                      uint32_t number, const struct ftree_route *asker)
{
    struct survey_work *w = begin_work(ft);
    struct survey_round *r;

    if (!w || (kind != SURVEY_VICTIMS && w->rounds.n >= ROUNDS_MAX) ||
        !FTREE_RESERVE(ft, w->rounds, 1)) /* there is more than one in few nodes */
        return NULL;
    r = FTREE_PUSH(ft, w->rounds);
    r->kind = kind;
    r->number = number;
    r->asker = *asker;
    r->begun = now;
    r->acknowledge = FTREE_NEVER;
    r->until = now + time_of(ft, kind, asker->node);
    return r;
}

/* ---- the way down ---------------------------------------------------------------------------- */

/* Verdicts reach also who does not answer at the moment, but those below receive them in its place
 * now, and not when it has not acknowledged, lest the report has not their victims. */
static bool send_down(struct ftree *ft, const struct survey_post *p, int32_t child, bool answers)
{
    struct message *l;

    if (!p->payload)
        return answers &&
               ftree_parcel_send(ft, p->now, child, WIRE_QUERY_DOWN, p->number,
                                 p->r->request.items, (size_t) p->r->request.n);
    l = ftree_outbox_post(ft, p->now, child, WIRE_VERDICT_DOWN, p->number, p->payload);
    if (l)
        l->elsewhere = !answers && p->r;
    return l != NULL;
}

/* Who does not answer at the moment is not waited for: those below are asked in its place. */
void ftree_survey_post(struct ftree *ft, int32_t child, void *arg)
{
    const struct survey_post *p = arg;
    bool left = ftree_peer_has_left(ft, child);
    bool answers = !left && (ftree_peer(ft, p->now, child) != FTREE_PEER_UNRESPONSIVE ||
                             ftree_way(ft, p->now, child, FTREE_NONE) != FTREE_NONE);
    struct survey_due *due;

    if (child == p->from)
        return;
    due = p->r && answers ? FTREE_PUSH(ft, p->r->due) : NULL;
    if (due)
        *due = (struct survey_due){.node = child, .number = p->number};
    if (!send_down(ft, p, child, answers) && due)
        p->r->due.n--;
    if (answers || !p->r)
        return;
    if (left && !p->payload)
        survey_answer_left(ft, &p->r->answer, child);
    else if (!ftree_partition_ends_at(ft, child))
        ftree_route_children(ft, child, ftree_survey_post, arg);
}

static struct survey_post post_of(ftree_time now, struct survey_round *r)
{
    return (struct survey_post){
        .now = now, .from = r->asker.node, .r = r, .number = r->number};
}

/* Where another acts for it, the acting root asks its children, and is itself one of those
 * below. */
static void post_all(struct ftree *ft, ftree_time now, struct survey_round *r)
{
    struct survey_post p = post_of(now, r);
    int32_t top = top_of(ft, r->asker.node);

    if (top != ft->self && ftree_peer_has_left(ft, top))
        ftree_spans_add(ft, &r->answer.left, top, top);
    ftree_route_children(ft, top, ftree_survey_post, &p);
}

/* ---- the way up ------------------------------------------------------------------------------ */

static void serve_next(struct ftree *ft, ftree_time now);

/* A result, or text, for one who asked. */
static void reply(struct ftree *ft, ftree_time now, int32_t node, uint32_t number,
                  enum survey_outcome outcome, const void *bytes, size_t len)
{
    uint8_t first = (uint8_t) outcome;
    struct ftree_bytes all = {0};

    if (ftree_bytes_append(ft, &all, &first, 1) && ftree_bytes_append(ft, &all, bytes, len)) {
        if (node == ft->self)
            survey_result(ft, now, ft->self, number, all.items, (size_t) all.n);
        else
            ftree_parcel_send(ft, now, node, WIRE_QUERY_RESULT, number, all.items,
                              (size_t) all.n);
    }
    ftree_alloc(ft, all.items, 0);
}

static void refuse(struct ftree *ft, ftree_time now, int32_t node, uint32_t number,
                   const char *why)
{
    reply(ft, now, node, number, SURVEY_REFUSED, why, strlen(why));
}

/* What the acting root knows goes to all whom it serves. */
static void reply_all(struct ftree *ft, ftree_time now, const struct ftree_bytes *bytes)
{
    struct survey_work *w = ft->survey->work;

    for (int32_t i = w->askers.n - 1; i >= 0; i--) {
        const struct survey_asker *a = &w->askers.items[i];
        if (!a->served)
            continue;
        reply(ft, now, a->node, a->number, SURVEY_DONE, bytes->items, (size_t) bytes->n);
        forget_asker(ft, i);
    }
}

/* To the one that asked, or to whom it was asked for. */
static void answer(struct ftree *ft, ftree_time now, struct survey_round *r)
{
    const struct survey_kind *k = &survey_kinds[r->kind];
    struct ftree_bytes bytes = {0};
    bool at_root = r->asker.node == FTREE_NONE;
    bool fits = survey_answer_put(ft, now, &r->answer, r->kind, &bytes);

    ftree_trace(ft, "  query %u: %d nodes have answered", r->number, r->answer.answered.count);
    if (fits && !at_root)
        ftree_parcel_send(ft, now, r->asker.node, WIRE_QUERY_ANSWER, r->number, bytes.items,
                          (size_t) bytes.n);
    if (at_root && k->at_end)
        k->at_end(ft, now, &r->answer, survey_answer_is_whole(ft, &r->answer));
    if (fits && at_root)
        reply_all(ft, now, &bytes);
    ftree_alloc(ft, bytes.items, 0);
    if (at_root)
        serve_next(ft, now);
}

static void finish(struct ftree *ft, ftree_time now, struct survey_round *r)
{
    struct survey_round over = *r;

    FTREE_DROP(ft->survey->work->rounds, (int32_t) (r - ft->survey->work->rounds.items));
    if (survey_kinds[over.kind].over)
        survey_kinds[over.kind].over(ft, now, &over);
    else
        answer(ft, now, &over);
    clear_round(ft, &over);
}

static void finish_if_in(struct ftree *ft, ftree_time now, struct survey_round *r)
{
    if (r->own_done && r->due.n == 0)
        finish(ft, now, r);
}

void ftree_survey_finish_if_in(struct ftree *ft, ftree_time now, struct survey_round *r)
{
    finish_if_in(ft, now, r);
    end_if_idle(ft);
}

/* A message may come twice, so an answer counts only from who still owes one. */
static struct survey_round *settle(struct ftree *ft, int32_t from, uint32_t number, bool victims)
{
    FTREE_EACH_IF(ft->survey->work, struct survey_round, r, ft->survey->work->rounds)
        for (int32_t i = 0; i < r->due.n && victims == (r->kind == SURVEY_VICTIMS); i++)
            if (r->due.items[i].node == from && r->due.items[i].number == number) {
                FTREE_DROP(r->due, i);
                return r;
            }
    return NULL;
}

static void take_answer(struct ftree *ft, ftree_time now, int32_t from, uint32_t number,
                        const struct ftree_bytes *bytes)
{
    struct survey_round *r = settle(ft, from, number, false);
    struct survey_answer a;

    if (!r)
        return;
    if (survey_answer_get(ft, now, r->kind, bytes->items, (size_t) bytes->n, &a) ||
        !survey_answer_merge(ft, &r->answer, &a))
        ftree_trace(ft, "  an answer of %s cannot be read", ftree_name(ft, from));
    survey_answer_clear(ft, &a);
    finish_if_in(ft, now, r);
}

void ftree_survey_victims(struct ftree *ft, ftree_time now, int32_t from, uint32_t message,
                          const struct ftree_ranks *ranks)
{
    struct survey_round *r = settle(ft, from, message, true);

    if (!r)
        return;
    if (ranks)
        survey_answer_merge(ft, &r->answer, &(struct survey_answer){.victims = *ranks});
    ftree_survey_finish_if_in(ft, now, r);
}

/* ---- a round --------------------------------------------------------------------------------- */

/* Takes the request.  What comes twice is asked for by another now, who did not hear of the
 * first. */
static void begin_round(struct ftree *ft, ftree_time now, uint32_t number, int32_t asker,
                        struct ftree_bytes *request)
{
    struct survey_round *r = find_round(ft, number);
    uint8_t kind = request->items[0];

    if (r) {
        r->asker.node = r->asker.node == FTREE_NONE ? FTREE_NONE : asker;
        return;
    }
    r = add_round(ft, now, kind, number, &(struct ftree_route){.node = asker});
    if (!r)
        return;
    r->request = *request;
    *request = (struct ftree_bytes){0};
    ftree_spans_add(ft, &r->answer.answered, ft->self, ft->self);
    post_all(ft, now, r);
    r->own_done = !survey_kinds[kind].at_node || !survey_kinds[kind].at_node(ft, r);
    finish_if_in(ft, now, r);
}

/* An acknowledgment is kept back for half the shortest time after which it is asked for again. */
#define KEPT_BACK(ft) ((ft)->cfg.rto_min / 2)

struct survey_round *ftree_survey_tell(struct ftree *ft, ftree_time now, uint32_t number,
                                       const struct ftree_route *asker, uint32_t asked,
                                       const struct ftree_ranks *own, survey_victims_in *in)
{
    struct survey_round alone = {.number = number, .asker = *asker}, *added = NULL, *r;
    int32_t first;

    if (asker->node == FTREE_NONE || ftree_topo_children(ft->topo, ft->self, &first) > 0)
        added = add_round(ft, now, SURVEY_VICTIMS, number, asker);
    r = added ? added : &alone;
    r->in = in;
    r->asked = asked;
    r->own_done = true;
    r->acknowledge = asker->node == FTREE_NONE ? FTREE_NEVER : now + KEPT_BACK(ft);
    r->answer.victims = *own;
    if (!added)
        survey_victims_over(ft, now, r);
    return added;
}

enum announced ftree_survey_answered(struct ftree *ft, int32_t from, enum ftree_path path,
                                     uint32_t id)
{
    SURVEY_EACH(r, ft, SURVEY_VICTIMS) {
        if (r->asker.node != from || r->asked != id)
            continue;
        r->acknowledge = FTREE_NEVER; /* by the caller, now */
        return ANNOUNCED;
    }
    return ftree_outbox_answered(ft, from, path, id);
}

static void own_said(struct ftree *ft, ftree_time now, uint32_t number, uint8_t kind,
                     const struct survey_answer *own)
{
    struct survey_round *r = find_round(ft, number);

    if (!r || r->kind != kind || r->own_done)
        return;
    survey_answer_merge(ft, &r->answer, own);
    r->own_done = true;
    ftree_survey_finish_if_in(ft, now, r);
}

void ftree_survey_said(struct ftree *ft, ftree_time now, uint32_t number,
                       struct ftree_rank_classes *classes)
{
    own_said(ft, now, number, FTREE_QUERY_STATUS, &(struct survey_answer){.classes = *classes});
    ftree_classes_clear(ft, classes);
    ftree_alloc(ft, classes, 0);
}

void ftree_survey_stacks_taken(struct ftree *ft, ftree_time now, uint32_t number,
                               struct ftree_stacks *s)
{
    own_said(ft, now, number, FTREE_QUERY_STACKS, &(struct survey_answer){.stacks = *s});
    ftree_stacks_clear(ft, s);
}

/* ---- the acting root ------------------------------------------------------------------------- */

static bool is_same(const struct survey_asker *a, const struct survey_asker *b)
{
    return a->request.n == b->request.n &&
           memcmp(a->request.items, b->request.items, (size_t) a->request.n) == 0;
}

static bool any_round_of_root(const struct ftree *ft)
{
    return FTREE_ANY(const struct survey_round, r, ft->survey->work->rounds,
                      r->kind != SURVEY_VICTIMS && r->asker.node == FTREE_NONE);
}

/* All who ask the same are served by one round. */
static void serve(struct ftree *ft, ftree_time now, int32_t first)
{
    struct survey_work *w = ft->survey->work;
    struct survey_asker *a = &w->askers.items[first];
    struct ftree_bytes request = {0};
    const char *why = NULL;
    char room[SURVEY_WHY];

    if (survey_kinds[a->kind].is_shared)
        ft->survey->next = now + PACE;
    for (int32_t i = 0; i < w->askers.n; i++)
        if (i == first || (survey_kinds[a->kind].is_shared && is_same(a, &w->askers.items[i])))
            w->askers.items[i].served = true;
    if (!ftree_bytes_append(ft, &request, a->request.items, (size_t) a->request.n))
        why = "out of memory";
    else if (survey_kinds[a->kind].at_root)
        why = survey_kinds[a->kind].at_root(ft, &request, room);
    if (why) {
        refuse(ft, now, a->node, a->number, why);
        forget_asker(ft, first);
    } else {
        begin_round(ft, now, ftree_parcel_number(&ft->survey->round, now), FTREE_NONE, &request);
    }
    ftree_alloc(ft, request.items, 0);
}

static void serve_next(struct ftree *ft, ftree_time now)
{
    struct survey_work *w = ft->survey->work;

    for (int32_t i = 0; i < w->askers.n && !any_round_of_root(ft);)
        if (w->askers.items[i].served)
            forget_asker(ft, i); /* its round could not begin or be sent: out of memory */
        else if (survey_kinds[w->askers.items[i].kind].is_shared && now < ft->survey->next)
            i++;
        else
            serve(ft, now, i);
}

/* Somebody asks this node as the acting root; takes the request. */
static void ask_root(struct ftree *ft, ftree_time now, int32_t node, uint32_t number,
                     struct ftree_bytes *request)
{
    struct survey_work *w = begin_work(ft);
    uint8_t kind = request->items[0];
    struct survey_asker *a;

    if (ftree_is_leaving(ft)) {
        refuse(ft, now, node, number, "the job has ended");
        return;
    }
    if (!ftree_route_is_root(ft)) {
        reply(ft, now, node, number, SURVEY_ELSEWHERE, NULL, 0);
        return;
    }
    FTREE_EACH_IF(w, const struct survey_asker, old, w->askers)
        if (old->node == node && old->number == number)
            return; /* it asks again */
    a = w && w->askers.n < ASKERS_MAX ? FTREE_PUSH(ft, w->askers) : NULL;
    if (!a) {
        refuse(ft, now, node, number, "the acting root is busy");
        return;
    }
    *a = (struct survey_asker){.node = node, .kind = kind, .number = number, .request = *request};
    *request = (struct ftree_bytes){0};
    if (!any_round_of_root(ft)) {
        serve_next(ft, now);
        return;
    }
    FTREE_EACH(const struct survey_asker, old, w->askers)
        if (old->served && survey_kinds[kind].is_shared && is_same(old, a))
            a->served = true;
}

/* What was set goes to those who have missed it; they tell those below them, too, who know it. */
static void tell_again(struct ftree *ft, ftree_time now)
{
    const struct ftree_bytes *known = &ft->survey->set.bytes;
    const uint8_t kind = FTREE_QUERY_SET;
    struct survey_round *r =
        add_round(ft, now, kind, ftree_parcel_number(&ft->survey->round, now),
                  &(struct ftree_route){.node = FTREE_NONE});
    struct survey_post p;

    if (!r)
        return;
    r->own_done = true;
    p = post_of(now, r);
    if (ftree_bytes_append(ft, &r->request, &kind, 1))
        ftree_bytes_append(ft, &r->request, known->items, (size_t) known->n);
    ftree_spans_add(ft, &r->answer.answered, ft->self, ft->self);
    for (int32_t node = 0; node < ft->job->nodes && r->due.n < MISSED_MAX; node++)
        if (node != ft->self && survey_set_misses(ft, node))
            ftree_survey_post(ft, node, &p);
    finish_if_in(ft, now, r);
}

/* ---- the own agent --------------------------------------------------------------------------- */

static void submit(struct ftree *ft, ftree_time now, struct survey_own *own)
{
    int32_t root = ftree_route_is_root(ft) ? ft->self : ftree_route_root(ft);
    const uint8_t *bytes = own->request.items;
    size_t len = (size_t) own->request.n;
    struct ftree_bytes request = {0};

    own->again = now + PATIENCE; /* it may have ended meanwhile */
    if (root != FTREE_NONE && root != ft->self)
        ftree_parcel_send(ft, now, root, WIRE_QUERY_UP, own->number, bytes, len);
    else if (ftree_bytes_append(ft, &request, bytes, len))
        ask_root(ft, now, ft->self, own->number, &request);
    ftree_alloc(ft, request.items, 0);
}

int ftree_query(struct ftree *ft, ftree_time now, enum ftree_query_kind kind, const void *bytes,
                size_t len, uint32_t *number)
{
    uint8_t first = (uint8_t) kind;
    struct survey_work *w;
    struct survey_own *own;

    if ((int) kind < 0 || kind >= FTREE_QUERY_COUNT || len > REQUEST_MAX || ftree_is_leaving(ft))
        return FTREE_ERR_INVALID;
    w = begin_work(ft);
    own = w && w->own.n < OWN_MAX ? FTREE_PUSH(ft, w->own) : NULL;
    if (own && (!ftree_bytes_append(ft, &own->request, &first, 1) ||
                !ftree_bytes_append(ft, &own->request, bytes, len))) {
        ftree_alloc(ft, own->request.items, 0);
        w->own.n--;
        own = NULL;
    }
    if (!own) {
        end_if_idle(ft);
        return FTREE_ERR_NOMEM;
    }
    own->kind = first;
    own->number = ftree_parcel_number(&ft->survey->own, now);
    own->until =
        now + PATIENCE + survey_kinds[kind].longer +
        ft->cfg.gather * (ftree_time) (ftree_topo_height(ft->topo, 0) + 1);
    own->again = now; /* at the next tick, for the caller is to know the number first */
    *number = own->number;
    return FTREE_OK;
}

void ftree_survey_hang(struct ftree *ft, ftree_time now, uint64_t first)
{
    uint8_t request[10];
    struct wire_codec w = {.p = request};
    uint32_t number;

    ftree_wire_packed(&w, first, UINT64_MAX);
    if (ftree_query(ft, now, FTREE_QUERY_HANG, request, w.at, &number))
        FTREE_EMIT(ft, ALL_SAID, .u.hang = NULL);
}

/* The result is the acting root's alone, which may be another node. */
void ftree_survey_lags(struct ftree *ft, ftree_time now)
{
    uint32_t number;

    ftree_query(ft, now, FTREE_QUERY_LAG, NULL, 0, &number);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void take_parcel(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                        uint32_t number, struct ftree_bytes *bytes)
{
    if (type == WIRE_QUERY_ANSWER)
        take_answer(ft, now, from, number, bytes);
    else if (type == WIRE_QUERY_RESULT)
        survey_result(ft, now, from, number, bytes->items, (size_t) bytes->n);
    else if (bytes->n < 1 || bytes->items[0] >= FTREE_QUERY_COUNT)
        ftree_trace(ft, "  a query of %s is not understood", ftree_name(ft, from));
    else if (type == WIRE_QUERY_UP)
        ask_root(ft, now, from, number, bytes);
    else
        begin_round(ft, now, number, from, bytes);
}

void ftree_survey_part(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                      const struct wire_part *part)
{
    struct ftree_bytes bytes = {0};

    if (ftree_parcel_take(ft, now, from, type, part, &bytes))
        take_parcel(ft, now, from, type, part->number, &bytes);
    ftree_alloc(ft, bytes.items, 0);
    end_if_idle(ft);
}

/* ---- who does not answer --------------------------------------------------------------------- */

/* Those below are asked in its place, and hear of it only now. */
static void prolong(const struct ftree *ft, ftree_time now, struct survey_round *r)
{
    r->until = ftree_max(r->until, now + ft->cfg.gather / 2);
}

struct survey_round *ftree_survey_settle_late(struct ftree *ft, ftree_time now, int32_t node,
                                              uint32_t number)
{
    struct survey_round *r = settle(ft, node, number, true);

    if (r)
        prolong(ft, now, r);
    return r;
}

/* lost: the node that is, FTREE_NONE: all that have no agent.  Of verdicts the message itself comes
 * back, and is announced to those below: see announce/. */
static void give_up(struct ftree *ft, ftree_time now, struct survey_round *r, int32_t lost)
{
    struct survey_post p = post_of(now, r);

    for (int32_t i = r->due.n - 1; i >= 0 && r->kind != SURVEY_VICTIMS; i--) {
        int32_t node = i < r->due.n ? r->due.items[i].node : FTREE_NONE;
        if (node == FTREE_NONE || (lost == FTREE_NONE ? !ftree_has_no_agent(ft, node) : node != lost))
            continue;
        FTREE_DROP(r->due, i);
        prolong(ft, now, r);
        ftree_route_children(ft, node, ftree_survey_post, &p);
        r->until = r->due.n == 0 && r->own_done ? now : r->until; /* at the next tick */
    }
}

void ftree_survey_undeliverable(struct ftree *ft, ftree_time now, enum wire_type type, int32_t to)
{
    if (!ft->survey->work)
        return;
    FTREE_EACH_IF(type == WIRE_QUERY_DOWN, struct survey_round, r, ft->survey->work->rounds)
        give_up(ft, now, r, to);
    FTREE_EACH_IF(type == WIRE_QUERY_UP, struct survey_own, own, ft->survey->work->own)
        own->again = ftree_min(own->again, now + ASK_AGAIN);
}

/* Not yet known when they were asked. */
void ftree_survey_learned(struct ftree *ft, ftree_time now)
{
    survey_set_learned(ft, now);
    FTREE_EACH_IF(ft->survey->work, struct survey_round, r, ft->survey->work->rounds)
        give_up(ft, now, r, FTREE_NONE);
}

/* ---- time ------------------------------------------------------------------------------------ */

ftree_time ftree_survey_deadline(const struct ftree *ft)
{
    const struct survey_work *w = ft->survey->work;
    ftree_time t = survey_set_deadline(ft);

    if (!w)
        return t;
    t = ftree_min(t, FTREE_EARLIEST(const struct survey_round, r, w->rounds,
                                    ftree_min(r->until, r->acknowledge)));
    t = ftree_min(t, FTREE_EARLIEST(const struct survey_own, o, w->own,
                                    ftree_min(o->again, o->until)));
    if (w->askers.n > 0 && !any_round_of_root(ft))
        t = ftree_min(t, ft->survey->next);
    return t;
}

static void tick_own(struct ftree *ft, ftree_time now)
{
    struct survey_work *w = ft->survey->work;

    for (int32_t i = w->own.n - 1; i >= 0; i--) {
        if (i >= w->own.n)
            continue;
        if (w->own.items[i].until <= now)
            survey_result_none(ft, w->own.items[i].number);
        else if (w->own.items[i].again <= now)
            submit(ft, now, &w->own.items[i]);
    }
}

void ftree_survey_tick(struct ftree *ft, ftree_time now)
{
    struct survey_work *w;

    if (survey_set_is_due(ft, now) && !(ft->survey->work && any_round_of_root(ft)))
        tell_again(ft, now);
    w = ft->survey->work;
    if (!w)
        return;
    tick_own(ft, now);
    for (int32_t i = w->rounds.n - 1; i >= 0; i--)
        if (i < w->rounds.n && w->rounds.items[i].until <= now)
            finish(ft, now, &w->rounds.items[i]);
        else if (i < w->rounds.n && w->rounds.items[i].acknowledge <= now)
            survey_victims_acknowledge(ft, now, &w->rounds.items[i], 0);
    serve_next(ft, now);
    end_if_idle(ft);
}

void ftree_survey_clear(struct ftree *ft)
{
    survey_set_clear(ft);
    if (ft->survey->work)
        end_work(ft);
}
