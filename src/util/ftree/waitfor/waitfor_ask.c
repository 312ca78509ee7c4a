/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/base/event.h"
#include "ftree/base/text.h"
#include "ftree/wire/codec.h"

#include <stdio.h>
#include <string.h>

/*
 * The own ranks say what they do.  A rank that waits turns its progress and answers within a
 * millisecond; one that has not answered after LOOK_TIME is not in MPI's progress, and nothing is
 * claimed of it.  A rank answers one look at a time, so looks with a rank in common come one after
 * the other.
 */

/* A rank that shares its core with many others gets its turn late.  Looks with a rank in common
 * follow each other: several are to end before who asks has lost patience. */
#define LOOK_TIME(ft) ftree_max(100 * FTREE_MS, (ft)->cfg.stall / 3)
#define LOOK_POLL (4 * FTREE_MS)
#define SAY_TIME (20 * FTREE_MS) /* a person waits: of the others the agent knows enough */
#define LOOKS_MAX 256 /* that wait here */

/* ---- the ranks that stall -------------------------------------------------------------------- */

struct waitfor_own *waitfor_own_find(const struct ftree *ft, int32_t rank)
{
    FTREE_EACH_IF(ft->waitfor->work, struct waitfor_own, o, ft->waitfor->work->own)
        if (o->rank == rank)
            return o;
    return NULL;
}

static void forget_records(struct ftree *ft, struct waitfor_own *own)
{
    ftree_alloc(ft, own->record, 0);
    own->record = NULL;
    own->records = 0;
}

void waitfor_own_drop(struct ftree *ft, struct waitfor_own *own)
{
    forget_records(ft, own);
    FTREE_DROP(ft->waitfor->work->own, (int32_t) (own - ft->waitfor->work->own.items));
}

/* Of many threads it is not always known which of them waits: the call tells. */
static bool is_in_mpi(const struct ftree_rank_state *s)
{
    return s->phase != FTREE_PHASE_OUTSIDE || s->call != 0;
}

/* One that has come to its end waited for that no more; others that have left had been ended. */
static bool has_gone_on(const struct ftree_rank_state *s, bool unless_it_waits)
{
    if (s->phase == FTREE_PHASE_LEFT)
        return s->proc_state != 'X' && s->call == 0;
    return ftree_symptom_is_well(s) && (!unless_it_waits || !is_in_mpi(s));
}

void waitfor_goes_on(struct ftree *ft, int32_t rank, bool unless_it_waits)
{
    struct ftree_rank_state s;

    FTREE_EACH(const struct known, k, ft->state->known) {
        if (!ftree_verdict_is_wait(&k->v) || !ftree_verdict_has_rank(&k->v, rank))
            continue;
        ft->io->look(ft->io_ctx, ftree_place_of(ft->job, ft->self, rank), &s);
        if (has_gone_on(&s, unless_it_waits))
            ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "rank %d goes on", rank);
    }
}

static bool is_as_before(const struct waitfor_own *own, const struct waits_page *page)
{
    for (int32_t i = 0; i < page->records && own->records == page->records; i++)
        if (!ftree_waits_unchanged(&own->record[i], &page->record[i]))
            return false;
    return own->records == page->records;
}

/* Whatever comes, from whomever. */
static bool serves(const struct waits_record *r)
{
    for (int32_t i = 0; i < r->requests; i++)
        if ((r->request[i].kind != WAITS_RECV && r->request[i].kind != WAITS_PROBE) ||
            r->request[i].peer != WAITS_ANY)
            return r->polls;
    return true;
}

/* Its threads in MPI are there for others, and another one computes: that has the time.  Beside one
 * that waits for somebody, threads may also run idle, as OpenMP's do. */
static bool computes(const struct waits_page *page)
{
    for (int32_t i = 0; i < page->records; i++)
        if (!page->record[i].computes || !serves(&page->record[i]))
            return false;
    return page->records > 0;
}

/* What a rank that stalls has said; page NULL: nothing. */
static void keep_records(struct ftree *ft, ftree_time now, int32_t rank, ftree_time waiting,
                         const struct waits_page *page)
{
    struct waitfor_own *own = waitfor_own_find(ft, rank);
    size_t size = page ? (size_t) page->records * sizeof(page->record[0]) : 0;

    /* else it is in the wait that it has reported, as its agent sees, and has only not answered */
    if (!own || (!page && (own->records == 0 || now - waiting <= own->said)))
        return;
    own->said = now;
    if (page && waitfor_has_records(ft, rank, page) && !computes(page)) {
        if (is_as_before(own, page))
            return;
        if (own->records > 0 && waitfor_progress(own->record, own->records) !=
                                    waitfor_progress(page->record, page->records))
            waitfor_goes_on(ft, rank, false);
        forget_records(ft, own);
        own->record = ftree_alloc_copy(ft, page->record, size);
        own->records = own->record ? page->records : 0;
    } else {
        forget_records(ft, own);
    }
    waitfor_changed(ft, now);
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void forget_look(struct ftree *ft, struct waitfor_look *l)
{
    ftree_alloc(ft, l->ranks.items, 0);
    ftree_alloc(ft, l->with.items, 0);
    ftree_alloc(ft, l->answers.items, 0);
    if (l->classes)
        ftree_classes_clear(ft, l->classes);
    ftree_alloc(ft, l->classes, 0);
    FTREE_DROP(ft->waitfor->work->looks, (int32_t) (l - ft->waitfor->work->looks.items));
}

static struct waitfor_look *push_look(struct ftree *ft, int32_t from, uint32_t number)
{
    struct waitfor_look *l = NULL;

    if (ft->waitfor->work->looks.n < LOOKS_MAX)
        l = FTREE_PUSH(ft, ft->waitfor->work->looks);
    if (!l)
        return NULL;
    l->from = from;
    l->number = number;
    return l;
}

static bool read_with(const struct ftree *ft, struct wire_codec *c, struct waitfor_look *l)
{
    int32_t n = (int32_t) ftree_wire_within(c, 0, 0, WAITS_PEERS_MAX), *with;

    for (int32_t i = 0; i < n && (with = WIRE_ITEM(c, l->with, i)); i++)
        WIRE_WITHIN(c, *with, 0, ft->job->size - 1);
    return !c->bad && !c->nomem;
}

static bool read_rank(struct ftree *ft, struct wire_codec *c, struct waitfor_look *l)
{
    struct waitfor_looked r = {.with = l->with.n};

    WIRE_WITHIN(c, r.rank, 0, ft->job->size - 1);
    r.i = c->bad ? FTREE_NONE : ftree_place_of(ft->job, ft->self, r.rank);
    if (r.i == FTREE_NONE || l->ranks.n >= ftree_ranks_of(ft->job, ft->self) ||
        !read_with(ft, c, l))
        return false;
    r.withs = l->with.n - r.with;
    return FTREE_ADD(ft, l->ranks, r);
}

void waitfor_ask(struct ftree *ft, ftree_time now, int32_t from, uint32_t number,
                 const uint8_t *bytes, size_t len)
{
    struct wire_codec c = ftree_wire_reader(ft, now, bytes, len);
    struct waitfor_look *l = NULL;

    FTREE_EACH(const struct waitfor_look, other, ft->waitfor->work->looks)
        if (other->from == from && other->number == number)
            return; /* it came twice */
    l = push_look(ft, from, number);
    while (l && c.at < c.len)
        if (!read_rank(ft, &c, l)) {
            ftree_trace(ft, "  a look of %s is not understood", ftree_name(ft, from));
            forget_look(ft, l);
            l = NULL;
        }
    ft->waitfor->work->poll = now;
}

bool waitfor_ask_all(struct ftree *ft, ftree_time now, uint32_t number)
{
    struct waitfor_look *l = push_look(ft, FTREE_NONE, number);
    struct waitfor_looked r = {.i = 0};

    if (l)
        l->classes = ftree_alloc_zeroed(ft, sizeof(*l->classes));
    for (; l && r.i < ftree_ranks_of(ft->job, ft->self); r.i++) {
        r.rank = ftree_rank_at(ft->job, ft->self, r.i);
        if (l->classes && FTREE_ADD(ft, l->ranks, r))
            continue;
        forget_look(ft, l);
        return false;
    }
    if (l)
        l->until = now + SAY_TIME;
    ft->waitfor->work->poll = now;
    return l != NULL;
}

/* Of those that stall the new ones, or all. */
static void ask_own(struct ftree *ft, bool all)
{
    struct waitfor_look *l = NULL;

    FTREE_EACH(struct waitfor_own, o, ft->waitfor->work->own) {
        if (!o->asks && !all)
            continue;
        if (!l)
            l = push_look(ft, FTREE_NONE, 0);
        if (!l || !FTREE_ADD(ft, l->ranks, ((struct waitfor_looked){.i = o->i, .rank = o->rank})))
            return;
        o->asks = false;
    }
}

static bool has_rank(const struct waitfor_look *l, int32_t rank)
{
    FTREE_EACH(const struct waitfor_looked, r, l->ranks)
        if (r->rank == rank)
            return true;
    return false;
}

static bool may_begin(const struct ftree *ft, const struct waitfor_look *l)
{
    FTREE_EACH(const struct waitfor_look, other, ft->waitfor->work->looks)
        FTREE_EACH_IF(other->begun, const struct waitfor_looked, r, other->ranks)
            if (has_rank(l, r->rank))
                return false;
    return true;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void note_answer(struct ftree *ft, ftree_time now, struct waitfor_look *l,
                        struct waitfor_looked *r, enum waitfor_seen seen, ftree_time waiting,
                        const struct waits_page *page)
{
    r->done = true;
    if (l->from == FTREE_NONE || seen == WAITFOR_READY) /* what it said before is out of date */
        keep_records(ft, now, r->rank, waiting, seen == WAITFOR_READY ? page : NULL);
    if (l->from == FTREE_NONE)
        return;
    if (!waitfor_answer_put(ft, now, &l->answers, r->rank, seen,
                            waiting > 0 && waiting < now ? now - waiting : 0, page,
                            l->with.items + r->with, r->withs))
        l->answers.n = 0; /* out of memory: the other side waits in vain */
}

static void ask_rank(struct ftree *ft, ftree_time now, struct waitfor_look *l,
                     struct waitfor_looked *r)
{
    enum ftree_waits_look said = FTREE_WAITS_UNABLE;
    const struct waits_page *page = NULL;
    struct ftree_rank_state s;

    ft->io->look(ft->io_ctx, r->i, &s);
    if (ftree_symptom_is_trouble(&s) || s.proc_state == 'X') {
        note_answer(ft, now, l, r, WAITFOR_LOST, 0, NULL);
        return;
    }
    if (ft->io->waits)
        said = ft->io->waits(ft->io_ctx, r->i, l->look, l->with.items + r->with, r->withs, &page);
    if (said != FTREE_WAITS_READY)
        page = NULL;
    if (s.phase == FTREE_PHASE_LEFT && waitfor_is_last_word(ft, r->rank, page))
        note_answer(ft, now, l, r, WAITFOR_READY, 0, page);
    else if (s.phase == FTREE_PHASE_LEFT)
        note_answer(ft, now, l, r, WAITFOR_LEFT, 0, NULL);
    else if (page)
        note_answer(ft, now, l, r, WAITFOR_READY, s.waiting, page);
    else if (said == FTREE_WAITS_UNABLE || now >= l->until)
        /* of one in MPI it may not be known: then for ever, for 0 is that it does not wait */
        note_answer(ft, now, l, r, WAITFOR_UNABLE,
                    s.waiting == 0 && is_in_mpi(&s) ? 1 : s.waiting, NULL);
}

static enum ftree_doing doing_of(const struct ftree_rank_state *s)
{
    if (s->phase == FTREE_PHASE_GONE)
        return FTREE_DOES_END;
    if (s->phase == FTREE_PHASE_LEFT)
        return FTREE_DOES_LEAVE;
    if (ftree_symptom_is_trouble(s))
        return FTREE_DOES_STOP;
    if (s->waiting > 0 || s->phase == FTREE_PHASE_WAITING)
        return FTREE_DOES_WAIT;
    return is_in_mpi(s) ? FTREE_DOES_CALL : FTREE_DOES_COMPUTE;
}

/* Of one that sleeps, outside MPI or in a call without progress: in what, and for what, as the
 * kernel says. */
static void add_sleep(const struct ftree *ft, int32_t i, struct ftree_rank_class *what)
{
    struct ftree_stay stay;

    if (what->state > FTREE_DOES_WAIT || !ft->io->stay ||
        !ft->io->stay(ft->io_ctx, i, &stay) || !ftree_hang_sleeps(&stay))
        return;
    what->state = FTREE_DOES_SLEEP;
    what->shortest = stay.still;
    if (*stay.waits_in && *stay.wchan)
        snprintf(what->comm, sizeof(what->comm), "%s (%s)", stay.waits_in, stay.wchan);
    else
        snprintf(what->comm, sizeof(what->comm), "%s",
                 *stay.waits_in ? stay.waits_in : stay.wchan);
    snprintf(what->on, sizeof(what->on), "%s", stay.on);
    ftree_text_ascii(what->comm);
    ftree_text_ascii(what->on);
}

/* What a rank does, for people: one that waits says more of that than its agent can see. */
static void class_rank(struct ftree *ft, ftree_time now, struct waitfor_look *l,
                       struct waitfor_looked *r)
{
    enum ftree_waits_look said = FTREE_WAITS_UNABLE;
    const struct waits_page *page = NULL;
    struct ftree_rank_class what = {0};
    struct ftree_rank_state s;
    int32_t records = 0;

    ft->io->look(ft->io_ctx, r->i, &s);
    what.state = (uint8_t) doing_of(&s);
    if (what.state == FTREE_DOES_WAIT && ft->io->waits && l->look)
        said = ft->io->waits(ft->io_ctx, r->i, l->look, NULL, 0, &page);
    if (said == FTREE_WAITS_PENDING && now < l->until)
        return;
    r->done = true;
    if (said == FTREE_WAITS_READY && waitfor_has_records(ft, r->rank, page)) {
        records = page->records;
        ftree_classes_of_record(page->record, records, s.waiting, &what);
    } else {
        what.call = what.state <= FTREE_DOES_WAIT ? s.call : 0;
        what.shortest = what.state == FTREE_DOES_WAIT ? s.waiting : 0;
        add_sleep(ft, r->i, &what);
    }
    ftree_classes_add(ft, l->classes, &what, r->rank, records > 0 ? page->record : NULL, records,
                      what.state == FTREE_DOES_WAIT ? s.peer : FTREE_NONE);
}

void ftree_waitfor_see(struct ftree *ft, ftree_time now, struct ftree_rank_classes *out)
{
    struct waitfor_look nobody_is_asked = {.classes = out};

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++)
        class_rank(ft, now, &nobody_is_asked,
                   &(struct waitfor_looked){.i = i, .rank = ftree_rank_at(ft->job, ft->self, i)});
    ftree_classes_bound(ft, out, FTREE_CLASSES_MAX);
}

/* True: all have answered, or never will. */
static bool ask_ranks(struct ftree *ft, ftree_time now, struct waitfor_look *l)
{
    bool all = true;

    FTREE_EACH(struct waitfor_looked, r, l->ranks) {
        if (!r->done && l->classes)
            class_rank(ft, now, l, r);
        else if (!r->done)
            ask_rank(ft, now, l, r);
        all = all && r->done;
    }
    return all;
}

/* The look is over.  True: the answers are those that the caller is given. */
static bool answer(struct ftree *ft, ftree_time now, struct waitfor_look *l, uint32_t *number,
                   waitfor_bytes *answers)
{
    bool own = l->from == ft->self;

    if (l->classes) {
        if (FTREE_EMIT(ft, RANKS_SAID, .number = l->number, .u.classes = l->classes))
            l->classes = NULL;
    } else if (own) {
        *number = l->number;
        *answers = l->answers;
        l->answers = (waitfor_bytes){0};
    } else if (l->from != FTREE_NONE) {
        ftree_parcel_send(ft, now, l->from, WIRE_WAITS_SEEN, l->number, l->answers.items,
                          (size_t) l->answers.n);
    }
    forget_look(ft, l);
    return own;
}

bool waitfor_ask_tick(struct ftree *ft, ftree_time now, uint32_t *number, waitfor_bytes *answers)
{
    struct waitfor *w = ft->waitfor->work;
    bool all = w->own.n > 0 && w->again <= now;

    ask_own(ft, all);
    if (all)
        w->again = now + ft->cfg.stall;
    for (int32_t i = 0; i < w->looks.n;) {
        struct waitfor_look *l = &w->looks.items[i];
        if (!l->begun && may_begin(ft, l)) {
            l->begun = true;
            l->look = ftree_parcel_number(&ft->waitfor->look, now);
            l->until = now + (l->classes ? SAY_TIME : LOOK_TIME(ft));
        } else if (!l->begun && l->classes && l->until <= now) {
            l->begun = true; /* the ranks are still being asked by another: without their words */
        }
        if (!l->begun || !ask_ranks(ft, now, l)) {
            i++;
            continue;
        }
        if (answer(ft, now, l, number, answers))
            return true;
        i = 0; /* one that waited for it may begin */
    }
    w->poll = now + LOOK_POLL;
    return false;
}

ftree_time waitfor_ask_deadline(const struct ftree *ft)
{
    const struct waitfor *w = ft->waitfor->work;
    ftree_time t = w->own.n > 0 ? w->again : FTREE_NEVER;

    FTREE_EACH(const struct waitfor_own, o, w->own)
        if (o->asks)
            t = ftree_min(t, w->poll);
    return w->looks.n > 0 ? ftree_min(t, w->poll) : t;
}

void waitfor_ask_clear(struct ftree *ft)
{
    while (ft->waitfor->work->looks.n > 0)
        forget_look(ft, &ft->waitfor->work->looks.items[0]);
    while (ft->waitfor->work->own.n > 0)
        waitfor_own_drop(ft, &ft->waitfor->work->own.items[0]);
    ftree_alloc(ft, ft->waitfor->work->looks.items, 0);
    ftree_alloc(ft, ft->waitfor->work->own.items, 0);
}
