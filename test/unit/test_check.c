/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"


/* Each invariant, broken by hand: what ftree_check() says is the condition that does not hold. */

static struct lone *busy(void)
{
    struct lone *l = lone_new(7, 2, 2, 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 4, FTREE_NONE, 1);

    l->state[1].phase = FTREE_PHASE_GONE;
    lone_stall(l, 2, 6);
    lone_stall(l, 3, 12);
    ftree_verdict_ranks_add(&v.victims, 0, 1);
    ftree_verdict_ranks_add(&v.victims, 5, 6);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    v = lone_verdict(l, "process-crash/pid-gone", 6, 12, 2);
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ftree_outbox_mute(l->ft, l->now, 5, false);
    ck_assert_int_eq(l->ft->stalls.n, 2);
    ck_assert_int_eq(l->ft->findings.n, 1);
    ck_assert_int_eq(l->ft->suspects.n, 1);
    ck_assert_int_eq(l->ft->known.n, 2);
    ck_assert_int_eq(l->ft->outbox.n, 1);
    ck_assert_int_eq(l->ft->mutes.n, 1);
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

START_TEST(symptoms)
{
    struct lone *l = busy();
    struct stall *s = l->ft->stalls.items;

    BROKEN(s->rank, -1, "s->rank >= 0 && s->rank < ft->job->size");
    BROKEN(s->rank, 14, "s->rank >= 0 && s->rank < ft->job->size");
    BROKEN(s->rank, 0, "ftree_node_of(ft, s->rank) == ft->self");
    BROKEN(s->rank, 3, "ft->stalls.items[j].rank != s->rank");
    BROKEN(s->interval, 20001 * FTREE_MS, "s->interval <= 2 * ft->cfg.stall_repeat_max");
    BROKEN(l->ft->findings.items[0].rank, 0,
           "ftree_node_of(ft, ft->findings.items[i].rank) == ft->self");
    lone_free(l);
}
END_TEST

START_TEST(suspects)
{
    struct lone *l = busy();
    struct suspect *su = l->ft->suspects.items, *other;
    struct ftree_symptom s;

    BROKEN(su->node, -1, "su->node >= 0 && su->node < ft->job->nodes && su->node != ft->self");
    BROKEN(su->node, 7, "su->node >= 0 && su->node < ft->job->nodes && su->node != ft->self");
    BROKEN(su->node, 1, "su->node >= 0 && su->node < ft->job->nodes && su->node != ft->self");
    BROKEN(su->node, 4, "!ftree_has_failed(ft, su->node)");
    BROKEN(su->nonce, 0, "su->nonce != 0");
    BROKEN(su->again, su->opened - 1, "su->again >= su->opened");
    BROKEN(su->again, su->deadline + 1, "su->again <= su->deadline");
    BROKEN(su->first_symptom, su->opened + 1, "su->first_symptom <= su->opened");
    ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_SILENT, 5, FTREE_NONE, 2, l->now, l->now);
    ftree_group_add(l->ft, l->now, &s, 0);
    other = &l->ft->suspects.items[1];
    BROKEN(other->node, 3, "ft->suspects.items[j].node != su->node");
    lone_free(l);
}
END_TEST

START_TEST(sets_of_ranks)
{
    struct lone *l = busy();
    struct ftree_ranks *set = &l->ft->known.items[0].v.victims;

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
    lone_free(l);
}
END_TEST

START_TEST(verdicts)
{
    struct lone *l = busy();
    struct known *k = &l->ft->known.items[0];

    BROKEN(k->v.class_, FTREE_CLASS_COUNT,
           "k->v.class_ < FTREE_CLASS_COUNT && k->v.kind < FTREE_KIND_COUNT");
    BROKEN(k->v.kind, FTREE_KIND_COUNT,
           "k->v.class_ < FTREE_CLASS_COUNT && k->v.kind < FTREE_KIND_COUNT");
    BROKEN(k->v.evidences, FTREE_EVIDENCE_MAX + 1,
           "k->v.evidences <= FTREE_EVIDENCE_MAX && k->v.candidates <= FTREE_CANDIDATE_MAX");
    BROKEN(k->v.candidates, FTREE_CANDIDATE_MAX + 1,
           "k->v.evidences <= FTREE_EVIDENCE_MAX && k->v.candidates <= FTREE_CANDIDATE_MAX");
    BROKEN(k->v.first_symptom, k->v.located + 1, "k->v.first_symptom <= k->v.located");
    BROKEN(k->gathered, false, "!k->reported || k->gathered");
    BROKEN(k->told_down, false, "!k->gathered || k->told_down");
    BROKEN(k->up, UP_SENT, "!k->told_down || k->up == UP_NOTHING");
    k->v.fln = l->ft->known.items[1].v.fln;
    BROKEN(k->v.id, l->ft->known.items[1].v.id, "ftree_verdict_by_id(ft, k->v.fln, k->v.id) == k");
    k = &l->ft->known.items[1]; /* made equal to the first */
    k->v.class_ = FTREE_CLASS_NODE_OUTAGE;
    k->v.node = 4;
    BROKEN(k->v.rank, FTREE_NONE, "ftree_verdict_find(ft, k->v.class_, k->v.node, k->v.rank) == k");
    lone_free(l);
}
END_TEST

START_TEST(messages)
{
    struct lone *l = busy();
    struct letter *letter = l->ft->outbox.items;

    BROKEN(letter->bytes, NULL, "l->bytes && l->len >= WIRE_HEADER && l->len <= FTREE_MESSAGE_MAX");
    BROKEN(letter->len, WIRE_HEADER - 1,
           "l->bytes && l->len >= WIRE_HEADER && l->len <= FTREE_MESSAGE_MAX");
    BROKEN(letter->len, FTREE_MESSAGE_MAX + 1,
           "l->bytes && l->len >= WIRE_HEADER && l->len <= FTREE_MESSAGE_MAX");
    BROKEN(letter->to, -1, "l->to >= 0 && l->to < ft->job->nodes && l->to != ft->self");
    BROKEN(letter->to, 7, "l->to >= 0 && l->to < ft->job->nodes && l->to != ft->self");
    BROKEN(letter->to, 1, "l->to >= 0 && l->to < ft->job->nodes && l->to != ft->self");
    BROKEN(letter->tries, 0, "l->tries > 0");
    BROKEN(letter->id, 0, "l->id != 0");
    BROKEN(l->ft->mutes.items[0].node, 1, "ft->mutes.items[i].node != ft->self");
    lone_free(l);
}
END_TEST

START_TEST(the_handle)
{
    struct lone *l = lone_new(7, 2, 2, 1);

    BROKEN(l->ft->self, -1, "ft->self >= 0 && ft->self < ft->job->nodes");
    BROKEN(l->ft->self, 7, "ft->self >= 0 && ft->self < ft->job->nodes");
    BROKEN(l->ft->rto, 149 * FTREE_MS, "ft->rto >= ft->cfg.rto_min && ft->rto <= ft->cfg.rto_max");
    BROKEN(l->ft->rto, 1001 * FTREE_MS, "ft->rto >= ft->cfg.rto_min && ft->rto <= ft->cfg.rto_max");
    BROKEN(l->ft->goodbye_sent, true, "!ft->goodbye_sent || ft->leaving");
    BROKEN(l->ft->may_go, true, "!ft->may_go || ft->leaving");
    lone_free(l);
}
END_TEST

SUITE("check")
{
    TEST(symptoms);
    TEST(suspects);
    TEST(sets_of_ranks);
    TEST(verdicts);
    TEST(messages);
    TEST(the_handle);
}
