/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/announce/announce.h"

#include "ftree/base/event.h"

/* Who waits because of what was announced. */

static bool is_component(const struct ftree *ft, const struct summary *v, int32_t rank)
{
    if (v->kind == FTREE_KIND_SWITCH)
        return false;
    if (v->component)
        return ftree_ranks_has(v->component, rank);
    return v->rank == FTREE_NONE ? ftree_node_of(ft, rank) == v->node : rank == v->rank;
}

/* Of what is being announced: when the first symptom of the last one was, which is the shortest
 * wait. */
static ftree_time last_first_symptom(const struct ftree *ft)
{
    ftree_time last = 0;

    for (int32_t i = 0; i < ft->announce->batch.n; i++)
        last = ftree_max(last,
                         ft->state->known.items[ft->announce->batch.items[i]].v.first_symptom);
    return last;
}

/* True if what is being announced is about this rank. */
static bool is_about(const struct ftree *ft, uint32_t announcement, int32_t rank)
{
    FTREE_EACH_ABOUT(k, ft, ft->self)
        if (ftree_announcing(ft, k)->announcement == announcement &&
            is_component(ft, &k->v, rank))
            return true;
    FTREE_EACH(const struct known, other, ft->state->known) /* of another node, too */
        if (ftree_announcing(ft, other)->announcement == announcement && other->v.component &&
            ftree_ranks_has(other->v.component, rank))
            return true;
    return false;
}

/* Who has waited for half the stall limit, or, of what is announced before anybody has stalled (a
 * crash), an eighth of the time since the first symptom: a chain of waits needs time to build
 * up. */
void ftree_victims_own(struct ftree *ft, ftree_time now, uint32_t announcement,
                      struct ftree_ranks *victims)
{
    ftree_time since = now - last_first_symptom(ft);
    ftree_time limit = ftree_min(ft->cfg.stall, since < ft->cfg.stall / 2 ? since / 4 : since);
    struct ftree_rank_state s;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        if (ftree_symptom_is_victim(&s, limit) && !is_about(ft, announcement, s.rank))
            ftree_ranks_add(victims, s.rank, s.rank);
    }
    ftree_survey_bound_victims(ft, victims);
}

void ftree_victims_report(struct ftree *ft, struct known *k, const struct ftree_ranks *victims)
{
    struct ftree_verdict v = {0};

    ftree_verdict_load(ft, k, &v);
    ftree_ranks_merge(&v.victims, victims);
    ftree_survey_bound_victims(ft, &v.victims);
    ftree_verdict_keep(ft, k, &v);
    ftree_announcing(ft, k)->reported = true;
    ftree_trace(ft, "reports %s of %s: %d victims", ftree_class_name(v.class_),
                ftree_name_of(ft, &k->v), v.victims.count);
    if (ft->io->report)
        ft->io->report(ft->io_ctx, &v);
}

/* Ranks of a component that found no room in its list wait, too, and their nodes take them for
 * victims. Who they are nobody can tell, so the others are only counted then. */
static void leave_out_components(const struct ftree *ft, struct survey_round *r)
{
    struct ftree_ranks *victims = &r->answer.victims;
    int32_t unlisted = 0;

    FTREE_EACH(const struct known, k, ft->state->known)
        if (ftree_announcing(ft, k)->announcement == r->number && k->v.component)
            unlisted += k->v.component->count - ftree_ranks_listed(k->v.component);
    if (unlisted == 0)
        return;
    victims->ranges = 0;
    victims->count = unlisted < victims->count ? victims->count - unlisted : 0;
}

/* True: others may say why ranks wait, so it is to be known which of them wait because of this one;
 * then it is reported by that event. */
static bool tell_apart(struct ftree *ft, const struct known *k, const struct ftree_ranks *victims)
{
    struct ftree_ranks *copy = NULL;

    if (victims->count > 0 && FTREE_ANY(const struct known, other, ft->state->known,
                                        ftree_verdict_is_wait(&other->v)))
        copy = ftree_alloc_copy(ft, victims, sizeof(*copy));
    if (!copy)
        return false;
    if (FTREE_EMIT(ft, VICTIMS, .node = k->v.node, .by = k->v.fln, .number = k->v.id,
                   .u.victims = copy))
        return true;
    ftree_alloc(ft, copy, 0);
    return false;
}

void ftree_victims_in(struct ftree *ft, struct survey_round *r)
{
    bool at_root = r->asker.node == FTREE_NONE;

    if (at_root)
        leave_out_components(ft, r);
    FTREE_EACH(struct known, k, ft->state->known) {
        struct announcing *a = ftree_announcing(ft, k);
        if (a->announcement != r->number)
            continue;
        a->announcement = 0;
        if (at_root && !tell_apart(ft, k, &r->answer.victims))
            ftree_victims_report(ft, k, &r->answer.victims);
    }
}
