/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/truth.h"

#include "ftree/report/report.h"
#include "ftree/waitfor/waitfor.h"
#include "sim/sim_memory.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

    return (x > y) - (x < y);
}

void sim_truth_expect(struct sim_truth *t, const struct sim_expectation *e)
{
    t->expectation = sim_grow(t->expectation, t->expectations, sizeof(*t->expectation));
    t->expectation[t->expectations] = *e;
    if (e->ranks > 0)
        qsort(t->expectation[t->expectations].rank, (size_t) e->ranks, sizeof(*e->rank), by_number);
    t->expectations++;
}

void sim_truth_over(struct sim_truth *t, int32_t fault)
{
    for (int32_t i = 0; i < t->expectations; i++)
        if (t->expectation[i].fault == fault)
            t->expectation[i].over = true;
}

void sim_truth_well(struct sim_truth *t, int32_t node, int32_t switch_)
{
    for (int32_t i = 0; i < t->expectations; i++)
        if (t->expectation[i].node == node && t->expectation[i].switch_ == switch_)
            t->expectation[i].over = true;
}

/* ---- reports --------------------------------------------------------------------------------- */

/* Of more ranges than a verdict lists the number counts. */
static bool has_these_ranks(const struct sim_expectation *e, const struct ftree_verdict *v)
{
    struct ftree_ranks one = {.count = 1, .ranges = 1, .range = {{v->rank, v->rank}}};
    const struct ftree_ranks *c = v->component.count > 0 ? &v->component : &one;

    if (v->kind != FTREE_KIND_RANK || c->count != e->ranks)
        return false;
    for (int32_t i = 0; i < c->ranges; i++)
        for (int32_t rank = c->range[i].first; rank <= c->range[i].last; rank++)
            if (!bsearch(&rank, e->rank, (size_t) e->ranks, sizeof(rank), by_number))
                return false;
    return true;
}

static int32_t find_expectation(const struct sim_truth *t, const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < t->expectations; i++) {
        const struct sim_expectation *e = &t->expectation[i];
        bool any = e->node == FTREE_NONE && e->switch_ == FTREE_NONE && e->ranks == 0;
        bool same =
            e->ranks > 0 ? has_these_ranks(e, v) :
            v->kind == FTREE_KIND_SWITCH
                ? v->switch_ == e->switch_ || (e->sibling != FTREE_NONE && v->switch_ == e->sibling)
                : e->switch_ == FTREE_NONE && v->node == e->node;
        if ((any || same) && e->classes & SIM_CLASS(v->class_))
            return i;
    }
    return FTREE_NONE;
}

static void withdraw(struct sim_truth *t, ftree_time now, int32_t reporter,
                     const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < t->reports; i++) {
        struct sim_report *r = &t->report[i];
        if (r->v.fln != v->fln || r->v.id != v->id || r->reporter != reporter || r->withdrawn)
            continue;
        r->withdrawn = now;
        t->withdrawals++;
        if (r->expectation != FTREE_NONE)
            t->expectation[r->expectation].standing--;
    }
}

void sim_truth_report(struct sim_truth *t, ftree_time now, int32_t reporter,
                    const struct ftree_verdict *v)
{
    struct sim_report *r;

    if (v->withdrawn) {
        withdraw(t, now, reporter, v);
        return;
    }
    t->report = sim_grow(t->report, t->reports, sizeof(*t->report));
    r = &t->report[t->reports++];
    *r = (struct sim_report){.v = *v,
                             .reporter = reporter,
                             .at = now,
                             .expectation = v->local_only ? FTREE_NONE : find_expectation(t, v)};
    if (r->expectation != FTREE_NONE) {
        t->expectation[r->expectation].reported++;
        t->expectation[r->expectation].standing++;
    }
}

void sim_truth_raise(struct sim_truth *t, ftree_time now, const struct ftree_verdict *v)
{
    if (v->local_only || find_expectation(t, v) != FTREE_NONE)
        return;
    t->mistake = sim_grow(t->mistake, t->mistakes, sizeof(*t->mistake));
    t->mistake[t->mistakes++] = (struct sim_report){.v = *v, .at = now};
}

void sim_truth_stall(struct sim_truth *t, ftree_time now, int32_t node)
{
    for (int32_t i = 0; i < t->expectations; i++)
        if (t->expectation[i].node == node && t->expectation[i].first_stall == 0)
            t->expectation[i].first_stall = now;
}

void sim_truth_note(struct sim_truth *t, ftree_time now, const struct ftree_waiting *w)
{
    for (int32_t i = 0; i < t->expectations; i++) {
        struct sim_expectation *e = &t->expectation[i];
        if (e->waiters == 0 || e->reported > 0 || w->ends == 0 || w->end[0].rank != e->rank[0] ||
            w->count != e->waiters)
            continue;
        e->reported = e->standing = 1;
        e->noted = now;
        t->notes++;
    }
}

void sim_truth_waits(struct sim_truth *t, ftree_time now, const struct ftree *root)
{
    const struct waitfor *w = root->waitfor->work;

    for (int32_t i = 0; i < t->expectations; i++) {
        struct sim_expectation *e = &t->expectation[i];
        if (e->waiters > 0 && !e->known && w && w->ends > 0 &&
            w->end[0].rank == e->rank[0] && w->waiting == e->waiters)
            e->known = now;
    }
}

/* ---- the comparison -------------------------------------------------------------------------- */

bool sim_truth_is_complete(const struct sim_truth *t)
{
    for (int32_t i = 0; i < t->expectations; i++) {
        const struct sim_expectation *e = &t->expectation[i];
        if (e->must && e->reported < e->reporters)
            return false;
        if (e->over ? e->standing > 0
                    : e->reported > 0 && e->standing < (e->must ? e->reporters : 1))
            return false;
    }
    return true;
}

static int expectation_problem(const struct sim_expectation *e)
{
    if (e->must && e->reported < e->reporters)
        return SIM_MISSING;
    if (e->standing > e->sides)
        return SIM_TWICE;
    if (e->over && e->standing > 0)
        return SIM_NOT_WITHDRAWN;
    if (!e->over && e->reported > 0 && e->standing < (e->must ? e->reporters : 1))
        return SIM_TAKEN_BACK;
    return SIM_PROBLEMS;
}

static int report_problem(const struct sim_report *r)
{
    if (r->v.local_only)
        return SIM_PROBLEMS;
    if (r->expectation == FTREE_NONE)
        return SIM_WRONG;
    return r->unaware > 0 ? SIM_NOT_KNOWN : SIM_PROBLEMS;
}

bool sim_truth_problem(const struct sim_truth *t, int32_t i, struct sim_problem *p)
{
    *p = (struct sim_problem){.expectation = FTREE_NONE, .report = FTREE_NONE};
    for (int32_t k = 0; k < t->expectations; k++) {
        int kind = expectation_problem(&t->expectation[k]);
        if (kind == SIM_PROBLEMS || i-- > 0)
            continue;
        p->kind = (uint8_t) kind;
        p->expectation = k;
        return true;
    }
    for (int32_t k = 0; k < t->reports; k++) {
        int kind = report_problem(&t->report[k]);
        if (kind == SIM_PROBLEMS || i-- > 0)
            continue;
        p->kind = (uint8_t) kind;
        p->report = k;
        return true;
    }
    return false;
}

const char *sim_problem_name(int kind)
{
    static const char *const names[SIM_PROBLEMS] = {
        "missing", "reported twice", "not withdrawn", "wrongly withdrawn", "wrong",
        "not known to all"};

    return kind >= 0 && kind < SIM_PROBLEMS ? names[kind] : "?";
}

void sim_truth_free(struct sim_truth *t)
{
    for (int32_t i = 0; i < t->expectations; i++)
        free(t->expectation[i].rank);
    free(t->expectation);
    free(t->report);
    free(t->mistake);
    *t = (struct sim_truth){0};
}
