/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/note.h"

#include "faultloc/node/watch.h"
#include "ftree/base/base.h"

#include <stdio.h>

#define FOR_A_WHILE (1000 * FTREE_MS) /* a sleep that says something */

void faultloc_note_begin(struct faultloc_note *n, const struct ftree_waiting *w)
{
    n->waiting = *w;
    n->asked = false;
}

static bool is_due(const struct faultloc_note *n)
{
    return n->waiting.count > 0 || n->waiting.asleep;
}

static void drop(struct faultloc_note *n)
{
    n->waiting.count = 0;
    n->waiting.asleep = false;
}

static void tell(struct faultloc_note *n)
{
    faultloc_reporter_waiting(n->reporter, &n->waiting);
    drop(n);
}

/* ---- a verdict ------------------------------------------------------------------------------- */

/* One that is only slow is nowhere in particular. */
static bool is_by_samples(const struct ftree_verdict *v)
{
    if (v->class_ == FTREE_CLASS_STRAGGLER)
        return false;
    for (int32_t i = 0; i < v->evidences; i++)
        if (v->evidence[i].source == FTREE_EVIDENCE_SAMPLE)
            return true;
    return false;
}

static void tell_finding(struct faultloc_note *n)
{
    n->finding.step = FAULTLOC_FINDING_NONE;
    n->tell(n->ctx, &n->finding.v);
}

static void without_stacks(struct faultloc_note *n, const char *why)
{
    faultloc_reporter_stacks(n->reporter, &n->finding.v, NULL, why);
    tell_finding(n);
}

/* Those of the component; more than its first ones would say little more. */
static void begin_ranks(struct faultloc_finding *f)
{
    const struct ftree_ranks *c = &f->v.component;

    f->ranks = (struct ftree_ranks){0};
    if (c->count == 0)
        ftree_ranks_add(&f->ranks, f->v.rank, f->v.rank);
    for (int32_t i = 0; i < c->ranges; i++)
        for (int32_t r = c->range[i].first;
             r <= c->range[i].last && f->ranks.count < FAULTLOC_FINDING_RANKS; r++)
            ftree_ranks_add(&f->ranks, r, r);
}

bool faultloc_note_verdict(struct faultloc_note *n, ftree_time now, const struct ftree_verdict *v)
{
    struct faultloc_finding *f = &n->finding;

    if (f->step != FAULTLOC_FINDING_NONE && f->v.fln == v->fln && f->v.id == v->id) {
        f->step = FAULTLOC_FINDING_NONE;
        if (v->withdrawn)
            return true;
    }
    if (v->withdrawn || v->local_only || v->rank == FTREE_NONE || !is_by_samples(v))
        return false;
    if (f->step != FAULTLOC_FINDING_NONE) {
        faultloc_reporter_stacks(n->reporter, v, NULL, "those of another verdict were being taken");
        return false;
    }
    f->v = *v;
    f->step = FAULTLOC_FINDING_BEGUN;
    f->until = now + FAULTLOC_FINDING_PATIENCE;
    begin_ranks(f);
    return true;
}

static void turn_finding(struct faultloc_note *n, ftree_time now)
{
    struct faultloc_finding *f = &n->finding;
    struct ftree *ft = n->reporter->p->ft;

    if (f->step == FAULTLOC_FINDING_BEGUN)
        f->step = ftree_query(ft, now, FTREE_QUERY_STATUS, NULL, 0, &f->number)
                      ? FAULTLOC_FINDING_RANKS_KNOWN
                      : FAULTLOC_FINDING_CLASSES;
    if (f->step == FAULTLOC_FINDING_RANKS_KNOWN)
        f->step = ftree_query_stacks(ft, now, &f->ranks, true, &f->number)
                      ? FAULTLOC_FINDING_NONE
                      : FAULTLOC_FINDING_STACKS;
    if (f->step == FAULTLOC_FINDING_NONE)
        without_stacks(n, "they could not be asked for");
    else if (f->step == FAULTLOC_FINDING_READY)
        tell_finding(n);
    else if (now >= f->until)
        without_stacks(n, "not all nodes have answered in time");
}

static void finding_answered(struct faultloc_note *n, const struct ftree_query_result *r)
{
    struct faultloc_finding *f = &n->finding;
    struct ftree_waiting w;

    if (f->step == FAULTLOC_FINDING_CLASSES && r->kind == FTREE_QUERY_STATUS &&
        r->number == f->number) {
        faultloc_note_classes(&w, &r->classes);
        for (int32_t i = 0; i < w.classes; i++)
            ftree_ranks_add(&f->ranks, w.class_[i].example, w.class_[i].example);
        f->step = FAULTLOC_FINDING_RANKS_KNOWN;
    } else if (f->step == FAULTLOC_FINDING_STACKS && r->kind == FTREE_QUERY_STACKS &&
               r->number == f->number) {
        faultloc_reporter_stacks(n->reporter, &f->v, r->stacks,
                                 *r->refused ? r->refused : "no node has answered");
        f->step = FAULTLOC_FINDING_READY;
    }
}

void faultloc_note_end(struct faultloc_note *n)
{
    if (n->finding.step == FAULTLOC_FINDING_READY)
        tell_finding(n);
    else if (n->finding.step != FAULTLOC_FINDING_NONE)
        without_stacks(n, "ranks have ended before they were taken");
}

ftree_time faultloc_note_deadline(const struct faultloc_note *n)
{
    switch (n->finding.step) {
        case FAULTLOC_FINDING_NONE:
            return FTREE_NEVER;
        case FAULTLOC_FINDING_CLASSES:
        case FAULTLOC_FINDING_STACKS:
            return n->finding.until;
        default:
            return 0;
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

void faultloc_note_turn(struct faultloc_note *n, ftree_time now)
{
    if (n->finding.step != FAULTLOC_FINDING_NONE)
        turn_finding(n, now);
    if (!is_due(n) || n->asked)
        return;
    n->asked = true;
    if (!ftree_query(n->reporter->p->ft, now, FTREE_QUERY_STATUS, NULL, 0, &n->number))
        return;
    if (n->waiting.asleep)
        drop(n);
    else
        tell(n);
}

/* Not those that have done something a moment ago, or were never asked before. */
static int64_t count_asleep(const struct ftree_rank_classes *c)
{
    int64_t n = 0;

    for (int32_t i = 0; i < c->n; i++)
        if (c->items[i].state == FTREE_DOES_SLEEP && c->items[i].shortest >= FOR_A_WHILE)
            n += c->items[i].count;
    return n;
}

void faultloc_note_answered(struct faultloc_note *n, const struct ftree_query_result *r)
{
    finding_answered(n, r);
    if (!is_due(n) || !n->asked || r->number != n->number || r->kind != FTREE_QUERY_STATUS)
        return;
    if (n->waiting.asleep && count_asleep(&r->classes) < n->reporter->p->job.job.size) {
        drop(n);
        return;
    }
    faultloc_note_classes(&n->waiting, &r->classes);
    tell(n);
}

static const struct ftree_rank_class *class_of(const struct ftree_rank_classes *c, int32_t rank)
{
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t k = 0; k < c->items[i].ranks.n; k++)
            if (rank >= c->items[i].ranks.items[k].first && rank <= c->items[i].ranks.items[k].last)
                return &c->items[i];
    return NULL;
}

/* "outside MPI, asleep in a pipe (anon_pipe_read): child 4711 (seq)" */
static void say_sleep(const struct ftree_rank_class *k, int32_t rank, char *buf, size_t len)
{
    bool known = k->example == rank && *k->on;

    snprintf(buf, len, "%s%s, asleep%s%s%s%s", k->call ? "in " : "outside MPI",
             k->call ? faultloc_call_name(k->call) : "", *k->comm ? " in " : "", k->comm,
             known ? ": " : "", known ? k->on : "");
}

/* Of ranks that others wait for, and that sleep outside MPI, their kernel knows more. */
static void note_sleep(struct ftree_waiting *w, const struct ftree_rank_classes *c)
{
    for (int32_t i = 0; i < w->ends; i++) {
        const struct ftree_rank_class *k = class_of(c, w->end[i].rank);
        if (!k || k->state != FTREE_DOES_SLEEP || k->shortest < FOR_A_WHILE)
            continue;
        say_sleep(k, w->end[i].rank, w->end[i].state, sizeof(w->end[i].state));
        w->end[i].still = k->shortest;
    }
}

void faultloc_note_classes(struct ftree_waiting *w, const struct ftree_rank_classes *c)
{
    uint8_t wanted = w->asleep ? FTREE_DOES_SLEEP : FTREE_DOES_WAIT;

    note_sleep(w, c);
    w->classes = 0;
    for (int32_t i = 0; i < c->n && w->classes < FTREE_WAITING_CLASSES_MAX; i++) {
        const struct ftree_rank_class *of = &c->items[i];
        int k = w->classes;

        if (of->state != wanted)
            continue;
        snprintf(w->class_[k].call, sizeof(w->class_[k].call), "%s",
                 of->call    ? faultloc_call_name(of->call)
                 : w->asleep ? ""
                             : "MPI");
        snprintf(w->class_[k].on, sizeof(w->class_[k].on), "%s", of->on);
        snprintf(w->class_[k].comm, sizeof(w->class_[k].comm), "%s", of->comm);
        w->class_[k].count = of->count;
        w->class_[k].example = of->example;
        w->classes++;
    }
}
