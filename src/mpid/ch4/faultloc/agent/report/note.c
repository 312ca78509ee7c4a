/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/report/note.h"

#include "faultloc/io/loop.h"
#include "faultloc/node/watch.h"
#include "ftree/base/base.h"

#include <stdio.h>
#include <string.h>

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

static bool take_finding(struct faultloc_note *n, ftree_time now, const struct ftree_verdict *v)
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
        f->step = ftree_query_stacks(ft, now, &f->ranks, FTREE_STACKS_DETAILS, &f->number)
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
    struct ftree_waiting w = {.count = 0};

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

static void end_finding(struct faultloc_note *n)
{
    if (n->finding.step == FAULTLOC_FINDING_READY)
        tell_finding(n);
    else if (n->finding.step != FAULTLOC_FINDING_NONE)
        without_stacks(n, "ranks have ended before they were taken");
}

static ftree_time finding_deadline(const struct faultloc_note *n)
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

/* ---- verdicts on ranks that wait for each other ---------------------------------------------- */

/* It is not put off for what only says more. */
static bool await_places(struct faultloc_note *n, ftree_time now, const struct ftree_verdict *v)
{
    struct faultloc_places *p = &n->places;

    if (v->withdrawn || v->local_only || v->rank == FTREE_NONE || p->n == FAULTLOC_PLACES_MAX)
        return false;
    p->item[p->n++] =
        (struct faultloc_awaited){.until = now + FAULTLOC_PLACES_PATIENCE, .v = *v};
    return true;
}

static void forget_places(struct faultloc_places *p, int32_t i)
{
    memmove(&p->item[i], &p->item[i + 1], (size_t) (--p->n - i) * sizeof(p->item[0]));
}

/* It is announced anew, or is over.  True: people need not hear of it. */
static bool end_places(struct faultloc_places *p, const struct ftree_verdict *v)
{
    bool unheard = false;

    for (int32_t i = p->n - 1; i >= 0; i--)
        if (p->item[i].v.fln == v->fln && p->item[i].v.id == v->id) {
            unheard = v->withdrawn && !p->item[i].reported;
            forget_places(p, i);
        }
    return unheard;
}

/* Of all verdicts at once of which it is not asked yet, when what was asked before is answered. */
static void ask_places(struct faultloc_note *n, ftree_time now)
{
    struct faultloc_places *p = &n->places;
    struct ftree_ranks ranks = {0}, of;
    uint32_t number = 0;

    for (int32_t i = 0; i < p->n; i++) {
        if (p->item[i].number && !p->item[i].ready)
            return;
        if (p->item[i].number)
            continue;
        ftree_report_ranks_of_places(&p->item[i].v, &of);
        ftree_ranks_merge(&ranks, &of);
    }
    if (ranks.count == 0)
        return;
    if (ftree_query_stacks(n->reporter->p->ft, now, &ranks, FTREE_STACKS_CALLERS, &number))
        number = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (!p->item[i].number) {
            p->item[i].number = number;
            p->item[i].ready = number == 0;
        }
}

static void places_answered(struct faultloc_note *n, const struct ftree_query_result *r)
{
    struct faultloc_places *p = &n->places;

    for (int32_t i = p->n - 1; i >= 0; i--) {
        struct faultloc_awaited *a = &p->item[i];
        if (a->number != r->number || r->kind != FTREE_QUERY_STACKS)
            continue;
        if (r->stacks && a->reported)
            faultloc_reporter_late_places(n->reporter, &a->v, r->stacks);
        else if (r->stacks)
            faultloc_reporter_places(n->reporter, &a->v, r->stacks);
        a->ready = true;
    }
}

static void turn_places(struct faultloc_note *n, ftree_time now)
{
    struct faultloc_places *p = &n->places;

    ask_places(n, now);
    for (int32_t i = 0; i < p->n;) {
        struct faultloc_awaited *a = &p->item[i];
        bool over = a->ready || (a->reported && now >= a->until);
        if (!a->reported && (a->ready || now >= a->until)) {
            n->tell(n->ctx, &a->v);
            a->reported = true;
            a->until += FAULTLOC_FINDING_PATIENCE;
        }
        if (over)
            forget_places(p, i);
        else
            i++;
    }
}

static ftree_time places_deadline(const struct faultloc_places *p)
{
    ftree_time t = FTREE_NEVER;
    bool asked = false;

    for (int32_t i = 0; i < p->n; i++)
        asked = asked || (p->item[i].number && !p->item[i].ready);
    for (int32_t i = 0; i < p->n; i++) {
        if (p->item[i].ready || (!p->item[i].number && !asked))
            return 0;
        t = faultloc_loop_earlier(t, p->item[i].until);
    }
    return t;
}

/* ---- all ------------------------------------------------------------------------------------- */

bool faultloc_note_verdict(struct faultloc_note *n, ftree_time now, const struct ftree_verdict *v)
{
    if (end_places(&n->places, v))
        return true;
    return ftree_class_says(v->class_, FTREE_IS_WAIT) ? await_places(n, now, v)
                                                      : take_finding(n, now, v);
}

void faultloc_note_end(struct faultloc_note *n)
{
    end_finding(n);
    for (; n->places.n > 0; forget_places(&n->places, 0))
        if (!n->places.item[0].reported)
            n->tell(n->ctx, &n->places.item[0].v);
}

ftree_time faultloc_note_deadline(const struct faultloc_note *n)
{
    return faultloc_loop_earlier(finding_deadline(n), places_deadline(&n->places));
}

void faultloc_note_turn(struct faultloc_note *n, ftree_time now)
{
    turn_places(n, now);
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
    places_answered(n, r);
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
