/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

/* Each invariant, broken by hand: what ftree_check() says is the condition that does not hold. */

static struct lone *busy(void)
{
    struct lone *l = lone_of(shape_binary(7, 2), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 4, FTREE_NONE, 1);

    l->state[1].phase = FTREE_PHASE_GONE;
    lone_stall(l, 2, 6);
    lone_stall(l, 3, 12);
    ftree_ranks_add(&v.victims, 0, 1);
    ftree_ranks_add(&v.victims, 5, 6);
    ftree_verdict_add_evidence(&v, &(struct ftree_evidence){.target = 4}); /* it is kept whole */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    v = lone_verdict(l, "process-crash/pid-gone", 6, 12, 2);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ftree_peer_unresponsive(l->ft, l->now, 5, false);
    ck_assert_int_eq(l->ft->observe->stalls.n, 2);
    ck_assert_int_eq(l->ft->observe->findings.n, 1);
    ck_assert_ptr_nonnull(ftree_suspect(l->ft, 3));
    ck_assert_int_eq(l->ft->state->known.n, 2);
    ck_assert_int_eq(l->ft->net->outbox.n, 1);
    ck_assert_int_eq(l->ft->state->peers.n, 1);
    ck_assert_ptr_null(ftree_check(l->ft));
    return l;
}

/* Breaks one thing, checks what is said, and puts it back. */
#define BROKEN(place, value, said) \
    do { \
        __typeof__(place) whole = (place); \
        const char *says; \
        (place) = (value); \
        says = ftree_check(l->ft); \
        (place) = whole; \
        ck_assert_msg(says != NULL, "%s = %s goes unnoticed", #place, #value); \
        ck_assert_str_eq(says, said); \
        ck_assert_ptr_null(ftree_check(l->ft)); \
    } while (0)

TEST_CASE(symptoms)
{
    struct lone *l = busy();
    struct stall *s = l->ft->observe->stalls.items;

    BROKEN(s->rank, -1, "s->rank >= 0 && s->rank < ft->job->size");
    BROKEN(s->rank, 14, "s->rank >= 0 && s->rank < ft->job->size");
    BROKEN(s->rank, 0, "ftree_node_of(ft, s->rank) == ft->self");
    BROKEN(s->rank, 3, "ft->observe->stalls.items[j].rank != s->rank");
    BROKEN(s->interval, 20001 * FTREE_MS, "s->interval <= 2 * ft->cfg.stall_repeat_max");
    BROKEN(l->ft->observe->findings.items[0].rank, 0,
           "ftree_node_of(ft, f->rank) == ft->self");
}

TEST_CASE(suspects)
{
    struct lone *l = busy();
    struct ftree_case *g = ftree_case_find(l->ft, 3, FTREE_NONE);
    struct suspect *su = g->suspect;
    struct ftree_case *other, twin;
    struct suspect its;
    struct ftree_symptom s;

    BROKEN(g->node, -1, "g->node >= 0 && g->node < ft->job->nodes");
    BROKEN(g->node, 7, "g->node >= 0 && g->node < ft->job->nodes");
    BROKEN(g->node, 1, "g->node != ft->self");
    BROKEN(g->state, CASE_CALLED, "g->state != CASE_CALLED && g->state != CASE_DECIDED");
    BROKEN(g->candidates, 0, "g->candidates > 0");
    BROKEN(g->node, 4, "!ftree_has_failed(ft, g->node)");
    BROKEN(su->node, 4, "su && su->node == g->node && su->switch_ == g->switch_");
    BROKEN(su->nonce, 0, "su->nonce != 0");
    BROKEN(su->again, su->opened - 1, "su->again >= su->opened");
    BROKEN(su->again, su->deadline + 1, "su->again <= su->deadline");
    BROKEN(g->first, su->opened + 1, "g->first <= su->opened");
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_SILENT, 5, FTREE_NONE, 2, l->now, l->now);
    LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    other = ftree_case_find(l->ft, 5, FTREE_NONE);
    twin = *other;
    twin.node = 3;
    its = *other->suspect;
    its.node = 3;
    twin.suspect = &its;
    BROKEN(*other, twin, "ftree_suspect(ft, su->node) == su");
}

TEST_CASE(sets_of_ranks)
{
    struct lone *l = busy();
    struct ftree_ranks *set = &l->ft->state->known.items[0].full->victims;

    BROKEN(set->ranges, -1, "set->ranges >= 0 && set->ranges <= FTREE_RANGES_MAX");
    BROKEN(set->ranges, FTREE_RANGES_MAX + 1,
           "set->ranges >= 0 && set->ranges <= FTREE_RANGES_MAX");
    BROKEN(set->range[0].first, -1,
           "set->range[i].first >= 0 && set->range[i].last < ft->job->size");
    BROKEN(set->range[1].last, 14,
           "set->range[i].first >= 0 && set->range[i].last < ft->job->size");
    BROKEN(set->range[0].first, 2, "set->range[i].first <= set->range[i].last");
    BROKEN(set->range[1].first, 2, "i == 0 || set->range[i].first > set->range[i - 1].last + 1");
    BROKEN(set->count, 3, "listed <= set->count");
}

TEST_CASE(verdicts)
{
    struct lone *l = busy();
    struct known *k = &l->ft->state->known.items[0];
    struct announcing *a = ftree_announcing(l->ft, k);

    BROKEN(k->v.class_, FTREE_CLASS_COUNT,
           "k->v.class_ < FTREE_CLASS_COUNT && k->v.kind < FTREE_KIND_COUNT");
    BROKEN(k->v.kind, FTREE_KIND_COUNT,
           "k->v.class_ < FTREE_CLASS_COUNT && k->v.kind < FTREE_KIND_COUNT");
    BROKEN(k->full->evidences, FTREE_EVIDENCE_MAX + 1,
           "v->evidences <= FTREE_EVIDENCE_MAX && v->candidates <= FTREE_CANDIDATE_MAX");
    BROKEN(k->full->candidates, FTREE_CANDIDATE_MAX + 1,
           "v->evidences <= FTREE_EVIDENCE_MAX && v->candidates <= FTREE_CANDIDATE_MAX");
    BROKEN(k->v.first_symptom, k->v.located + 1, "k->v.first_symptom <= k->v.located");
    BROKEN(k->v.withdrawn, 1, "!k->recheck && a->announcement == 0");
    BROKEN(a->announcement, 1, "!a->reported || a->announcement == 0");
    BROKEN(a->announced, false, "!a->reported || a->announced");
    BROKEN(a->up, UP_SENT, "!a->announced || a->up == UP_NOTHING");
}

static const char counts[] =
    "queued == ft->announce->queued && unsent == ft->announce->unsent && rechecked == ft->state->rechecked";

TEST_CASE(what_is_counted_of_verdicts)
{
    struct lone *l = busy();
    struct known *k = &l->ft->state->known.items[1];

    BROKEN(l->ft->announce->queued, 1, counts);
    BROKEN(ftree_announcing(l->ft, k)->queued, true, counts);
    BROKEN(l->ft->announce->unsent, 1, counts);
    BROKEN(l->ft->state->rechecked, l->ft->state->rechecked + 1, counts);
    BROKEN(k->recheck, NULL, counts);
}

TEST_CASE(equal_verdicts)
{
    struct lone *l = busy();
    struct known *k = &l->ft->state->known.items[1], *first = &l->ft->state->known.items[0];

    k->v.node = l->ft->state->by_node.items[1].node = 4; /* made equal to the first */
    k->v.fln = first->v.fln;
    BROKEN(k->v.id, first->v.id, "ftree_verdict_by_id(ft, &k->v) == k");
    k->v.class_ = FTREE_CLASS_NODE_OUTAGE;
    BROKEN(k->v.rank, FTREE_NONE, "ftree_verdict_same(ft, &k->v) == k");
}

static const char order[] =
    "i == 0 || p[-1].node < p->node || (p[-1].node == p->node && p[-1].at < p->at)";

TEST_CASE(the_index_of_verdicts)
{
    struct lone *l = busy();
    struct place *p = l->ft->state->by_node.items;

    BROKEN(l->ft->state->by_node.n, 1, "ft->state->by_node.n == ft->state->known.n");
    BROKEN(l->ft->announce->of.n, 1, "ft->announce->of.n == ft->state->known.n");
    BROKEN(p[1].at, 2, "p->at >= 0 && p->at < ft->state->known.n");
    BROKEN(p[0].at, -1, "p->at >= 0 && p->at < ft->state->known.n");
    BROKEN(p[1].node, 5, "p->node == ft->state->known.items[p->at].v.node");
    BROKEN(p[1], p[0], order); /* twice the same */
    BROKEN(p[0], p[1], order);
    l->ft->state->known.items[1].v.node = p[1].node = 4;
    ck_assert_ptr_null(ftree_check(l->ft));
    p[0].at = 1; /* the younger one is the first */
    p[1].at = 0;
    ck_assert_str_eq(ftree_check(l->ft), order);
}

TEST_CASE(announcements)
{
    struct lone *l = lone_of(shape_binary(7, 2), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 4, FTREE_NONE, 1);
    struct survey_round *r;

    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1);
    r = l->ft->survey->work->rounds.items;
    BROKEN(r->due.n, 0, "r->due.n > 0 && r->asker.node != ft->self");
    BROKEN(r->number, 2, "a->announcement == 0 || is_gathered(ft, a->announcement)");
    BROKEN(r->asker.node, 1, "r->due.n > 0 && r->asker.node != ft->self");
}

TEST_CASE(messages)
{
    struct lone *l = busy();
    struct message *message = l->ft->net->outbox.items;

    BROKEN(message->payload, NULL, "l->payload && l->payload->messages > 0");
    BROKEN(message->payload->messages, 0, "l->payload && l->payload->messages > 0");
    BROKEN(message->payload->len, WIRE_HEADER - 1,
           "l->payload->len >= WIRE_HEADER && l->payload->len <= FTREE_MESSAGE_MAX");
    BROKEN(message->payload->len, FTREE_MESSAGE_MAX + 1,
           "l->payload->len >= WIRE_HEADER && l->payload->len <= FTREE_MESSAGE_MAX");
    BROKEN(message->to, -1, "l->to >= 0 && l->to < ft->job->nodes && l->to != ft->self");
    BROKEN(message->to, 7, "l->to >= 0 && l->to < ft->job->nodes && l->to != ft->self");
    BROKEN(message->to, 1, "l->to >= 0 && l->to < ft->job->nodes && l->to != ft->self");
    BROKEN(message->tries, 0, "l->tries > 0");
    BROKEN(message->id, 0, "l->id != 0");
    BROKEN(l->ft->state->peers.items[0].node, 1,
           "p->node != ft->self");
}

TEST_CASE(the_handle)
{
    struct lone *l = lone_of(shape_binary(7, 2), 1);

    BROKEN(l->ft->self, -1, "ft->self >= 0 && ft->self < ft->job->nodes");
    BROKEN(l->ft->self, 7, "ft->self >= 0 && ft->self < ft->job->nodes");
    BROKEN(l->ft->net->rto, 149 * FTREE_MS,
           "ft->net->rto >= ft->cfg.rto_min && ft->net->rto <= ft->cfg.rto_max");
    BROKEN(l->ft->net->rto, 1001 * FTREE_MS,
           "ft->net->rto >= ft->cfg.rto_min && ft->net->rto <= ft->cfg.rto_max");
    BROKEN(l->ft->leave->goodbye_sent, true, "!ft->leave->goodbye_sent || ft->state->leaving");
    BROKEN(l->ft->leave->may_go, true, "!ft->leave->may_go || ft->state->leaving");
}
