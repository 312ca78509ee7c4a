/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/announce/announce.h"

#include "ftree/base/event.h"

/* Gathering the victims of what was told. */

/* An acknowledgment is kept back for half the shortest time after which it is asked for again. */
#define KEPT_BACK(ft) ((ft)->cfg.rto_min / 2)

static bool is_component(const struct ftree *ft, const struct summary *v, int32_t rank)
{
    if (v->kind == FTREE_KIND_SWITCH)
        return false;
    if (v->component)
        return ftree_ranks_has(v->component, rank);
    return v->rank == FTREE_NONE ? ftree_node_of(ft, rank) == v->node : rank == v->rank;
}

/* Ranks that found no room in the set may be counted twice. */
static void bound_victims(const struct ftree *ft, struct ftree_ranks *victims)
{
    if (victims->count > ft->job->size)
        victims->count = ft->job->size;
}

/* Of what is being told: when the first symptom of the last one was, which is the shortest wait. */
static ftree_time last_first_symptom(const struct ftree *ft)
{
    ftree_time last = 0;

    for (int32_t i = 0; i < ft->state->batch.n; i++)
        last = ftree_max(last, ft->state->known.items[ft->state->batch.items[i]].v.first_symptom);
    return last;
}

/* True if what is being told is about this rank. */
static bool is_told_of(const struct ftree *ft, uint32_t announcement, int32_t rank)
{
    const struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, ft->self, &i));)
        if (k->announcement == announcement && is_component(ft, &k->v, rank))
            return true;
    FTREE_EACH(const struct known, other, ft->state->known) /* of another node, too */
        if (other->announcement == announcement && other->v.component &&
            ftree_ranks_has(other->v.component, rank))
            return true;
    return false;
}

/* Who has waited for half the stall limit, or, of what is told before anybody has stalled (a
 * crash), an eighth of the time since the first symptom: a chain of waits needs time to build
 * up. */
void ftree_gather_own(struct ftree *ft, ftree_time now, uint32_t announcement,
                      struct ftree_ranks *victims)
{
    ftree_time since = now - last_first_symptom(ft);
    ftree_time limit = ftree_min(ft->cfg.stall, since < ft->cfg.stall / 2 ? since / 4 : since);
    struct ftree_rank_state s;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        if (ftree_symptom_is_victim(&s, limit) && !is_told_of(ft, announcement, s.rank))
            ftree_ranks_add(victims, s.rank, s.rank);
    }
    bound_victims(ft, victims);
}

/* They are the acknowledgment of what asked for them, where that was not given before. */
void ftree_gather_send(struct ftree *ft, ftree_time now, const struct announcement *t,
                       const struct ftree_ranks *ranks)
{
    struct wire_message m = {.type = WIRE_VICTIMS};

    m.u.victims.told = t->asked;
    m.u.victims.ranks = *ranks;
    if (t->acknowledge == FTREE_NEVER)
        ftree_outbox_put(ft, now, t->asker, &m);
    else
        ftree_outbox_answer(ft, now, t->asker, (enum ftree_path) t->path, &m);
}

void ftree_gather_report(struct ftree *ft, struct known *k, const struct ftree_ranks *victims)
{
    struct ftree_verdict v = {0};

    ftree_verdict_load(ft, k, &v);
    ftree_ranks_merge(&v.victims, victims);
    bound_victims(ft, &v.victims);
    ftree_verdict_keep(ft, k, &v);
    k->reported = true;
    ftree_trace(ft, "reports %s of %s: %d victims", ftree_class_name(v.class_),
                ftree_name_of(ft, &k->v), v.victims.count);
    if (ft->io->report)
        ft->io->report(ft->io_ctx, &v);
}

/* By the path that it came over: the other may be what is broken. */
static void acknowledge(struct ftree *ft, ftree_time now, const struct announcement *t,
                        uint8_t flags)
{
    struct ftree_route to = {.node = t->asker, .path = t->path};

    ftree_acknowledge(ft, now, &to, WIRE_ACK, flags, t->asked);
}

/* Ranks of a component that found no room in its list wait, too, and their nodes take them for
 * victims. Who they are nobody can tell, so the others are only counted then. */
static void leave_out_components(const struct ftree *ft, struct announcement *t)
{
    int32_t unlisted = 0;

    FTREE_EACH(const struct known, k, ft->state->known)
        if (k->announcement == t->number && k->v.component)
            unlisted += k->v.component->count - ftree_ranks_listed(k->v.component);
    if (unlisted == 0)
        return;
    t->victims.ranges = 0;
    t->victims.count = unlisted < t->victims.count ? t->victims.count - unlisted : 0;
}

/* True: others may say why ranks wait, so it is to be known which of them wait because of this one;
 * then it is reported by that event. */
static bool tell_apart(struct ftree *ft, const struct known *k, const struct ftree_ranks *victims)
{
    struct ftree_ranks *copy = NULL;
    bool others = ftree_verdict_is_wait(&k->v);

    FTREE_EACH(const struct known, other, ft->state->known)
        others = others || ftree_verdict_is_wait(&other->v);
    if (others && victims->count > 0)
        copy = ftree_alloc(ft, NULL, sizeof(*copy));
    if (!copy)
        return false;
    *copy = *victims;
    if (FTREE_EMIT(ft, VICTIMS, .node = k->v.node, .by = k->v.fln, .number = k->v.id,
                   .u.victims = copy))
        return true;
    ftree_alloc(ft, copy, 0);
    return false;
}

/* The victims of what was told together are in. */
static void conclude(struct ftree *ft, ftree_time now, struct announcement *t)
{
    if (t->asker == FTREE_NONE)
        leave_out_components(ft, t);
    FTREE_EACH(struct known, k, ft->state->known) {
        if (k->announcement != t->number)
            continue;
        k->announcement = 0;
        if (t->asker == FTREE_NONE && !tell_apart(ft, k, &t->victims))
            ftree_gather_report(ft, k, &t->victims);
    }
    if (t->asker == FTREE_NONE)
        return;
    if (t->victims.count == 0 && t->acknowledge != FTREE_NEVER)
        acknowledge(ft, now, t, WIRE_FLAG_NOBODY_WAITS);
    else
        ftree_gather_send(ft, now, t, &t->victims);
}

static void finish(struct ftree *ft, ftree_time now, int32_t i)
{
    struct announcement t = ft->announce->announcements.items[i];

    ftree_alloc(ft, t.due.items, 0);
    FTREE_DROP(ft->announce->announcements, i);
    conclude(ft, now, &t);
}

/* A message may come twice, so a reply counts only from someone who still owes one.  -1: nobody
 * waits for it. */
static int32_t settle(struct ftree *ft, int32_t from, uint32_t told)
{
    for (int32_t i = 0; i < ft->announce->announcements.n; i++) {
        struct announcement *t = &ft->announce->announcements.items[i];
        for (int32_t j = 0; j < t->due.n; j++)
            if (t->due.items[j].node == from && t->due.items[j].told == told) {
                FTREE_DROP(t->due, j);
                return i;
            }
    }
    return -1;
}

void ftree_gather_finish_if_in(struct ftree *ft, ftree_time now, int32_t i)
{
    if (ft->announce->announcements.items[i].due.n == 0)
        finish(ft, now, i);
}

void ftree_gather_victims(struct ftree *ft, ftree_time now, int32_t from,
                          const struct wire_victims *w)
{
    int32_t i = settle(ft, from, w->told);

    ftree_outbox_ack(ft, now, from, w->told);
    if (i < 0)
        return;
    ftree_ranks_merge(&ft->announce->announcements.items[i].victims, &w->ranks);
    bound_victims(ft, &ft->announce->announcements.items[i].victims);
    ftree_gather_finish_if_in(ft, now, i);
}

void ftree_gather_nobody_waits(struct ftree *ft, ftree_time now, int32_t from, uint32_t told)
{
    int32_t i = settle(ft, from, told);

    if (i >= 0)
        ftree_gather_finish_if_in(ft, now, i);
}

void ftree_gather_wait_for(struct ftree *ft, int32_t announcement, int32_t node, uint32_t told)
{
    struct due *due = announcement >= 0
                          ? FTREE_PUSH(ft, ft->announce->announcements.items[announcement].due)
                          : NULL;

    if (due)
        *due = (struct due){.node = node, .told = told};
}

/* Each level has `gather` more than the one below, so that each node has answered before the one
 * above stops waiting.  It must be longer than the outbox is patient: those below a lost node are
 * told in its place, and a reply may have to be sent twice. */
static ftree_time gather_time(const struct ftree *ft, int32_t from)
{
    int32_t top = from == FTREE_NONE ? ftree_partition_top(ft) : ft->self;
    int32_t height = ftree_topo_height(ft->topo, top);

    return ft->cfg.gather * (ftree_time) (height > 0 ? height : 1);
}

uint32_t ftree_gather_next(struct ftree *ft)
{
    if (++ft->announce->last_announcement == 0)
        ++ft->announce->last_announcement; /* 0 is none */
    return ft->announce->last_announcement;
}

int32_t ftree_gather_begin(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                           uint32_t asked)
{
    struct announcement *place = FTREE_RESERVE(ft, ft->announce->announcements, 1)
                                     ? FTREE_PUSH(ft, ft->announce->announcements)
                                     : NULL;
    struct announcement t = {.number = ft->announce->last_announcement,
                             .asker = from,
                             .asked = asked,
                             .path = (uint8_t) path,
                             .until = now + gather_time(ft, from),
                             .acknowledge = from == FTREE_NONE ? FTREE_NEVER : now + KEPT_BACK(ft)};

    ftree_gather_own(ft, now, t.number, &t.victims);
    if (place)
        *place = t;
    else
        conclude(ft, now, &t);
    return place ? ft->announce->announcements.n - 1 : -1;
}

/* How this very message was or will be answered by the victims; ANNOUNCED_NOBODY_WAITS: it is
 * not. */
enum announced ftree_gather_answered(struct ftree *ft, int32_t from, enum ftree_path path,
                                     uint32_t id)
{
    FTREE_EACH(struct announcement, t, ft->announce->announcements) {
        if (t->asker != from || t->asked != id)
            continue;
        t->acknowledge = FTREE_NEVER; /* by the caller, now */
        return ANNOUNCED;
    }
    return ftree_outbox_answered(ft, from, path, id);
}

bool ftree_gather_is_under_way(const struct ftree *ft)
{
    return ft->announce->announcements.n > 0 || ft->announce->queued > 0;
}

/* Others answer in the place of who did not acknowledge a message, and hear of it only now. */
int32_t ftree_gather_settle_late(struct ftree *ft, ftree_time now, const struct message *l)
{
    int32_t announcement = settle(ft, l->to, l->id);

    if (announcement >= 0) {
        struct announcement *t = &ft->announce->announcements.items[announcement];
        t->until = ftree_max(t->until, now + ft->cfg.gather / 2);
    }
    return announcement;
}

void ftree_gather_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->announce->announcements.n;) {
        struct announcement *t = &ft->announce->announcements.items[i];
        if (t->until <= now) {
            finish(ft, now, i);
            continue;
        }
        if (t->acknowledge <= now) {
            acknowledge(ft, now, t, 0);
            t->acknowledge = FTREE_NEVER;
        }
        i++;
    }
}

ftree_time ftree_gather_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    FTREE_EACH(const struct announcement, g, ft->announce->announcements) {
        t = ftree_min(t, ftree_min(g->until, g->acknowledge));
    }
    return t;
}

void ftree_announce_clear(struct ftree *ft)
{
    FTREE_EACH(struct announcement, t, ft->announce->announcements)
        ftree_alloc(ft, t->due.items, 0);
    ftree_alloc(ft, ft->announce->announcements.items, 0);
}
