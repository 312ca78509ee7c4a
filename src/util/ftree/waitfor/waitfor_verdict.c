/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/base/event.h"

#include <stdio.h>
#include <string.h>

/* What was confirmed, as a verdict: its class and sign by the rule base, its component, and one
 * line of evidence a rank, the cycle first and in order. */

#define LINES_MAX (FTREE_EVIDENCE_MAX - 2) /* the others are for what nearly matched */
/* Where ranks poll, or not all can be known: in 1/1000, and how long such a verdict must have stood
 * before the job may be ended because of it. */
#define DOUBT 190
#define DOUBT_HOLDS (600 * 1000 * FTREE_MS)

static struct waits_names names_of(const struct ftree *ft)
{
    return (struct waits_names){
        .job = ft->job, .call = ft->io->call_name, .op = ft->io->op_name};
}

#define add_line(ft, now, rank, v, ...) \
    ftree_verdict_add_line((ft), (now), FTREE_EVIDENCE_WAIT, ftree_node_of((ft), (rank)), (v), \
                           __VA_ARGS__)

/* `before` the line: "<- " where the line before waits for this rank. */
static void add_record(struct ftree *ft, ftree_time now, const char *before,
                       const struct waitfor_answer *a, struct ftree_verdict *v)
{
    struct waits_record left = {.rank = a->rank, .threads = 1, .state = WAITS_FINALIZED};
    const struct waits_names names = names_of(ft);
    char line[FTREE_DETAIL_MAX];

    ftree_waits_line(&names, a->records > 0 ? &a->record[0] : &left, line,
                     sizeof(line) - strlen(before));
    add_line(ft, now, a->rank, v, "%s%s", before, line);
}

/* What would have matched, had its tag or communicator been another. */
static void add_near(struct ftree *ft, ftree_time now, const struct waitfor_candidate *c,
                     const struct waitfor_answer *a, struct ftree_verdict *v)
{
    struct waits_hints hints;
    char line[FTREE_DETAIL_MAX];

    for (int32_t i = 0; i < a->records; i++)
        for (int32_t k = 0; k < a->record[i].requests; k++) {
            struct waits_request q = a->record[i].request[k];
            waitfor_hints(c, a, &a->record[i], &q, &hints);
            for (int32_t h = 0; h < hints.hints; h++) {
                q.peer = hints.hint[h].peer;
                ftree_waits_hint_line(&q, a->record[i].comm[q.comm].key.context, a->rank,
                                      &hints.hint[h], line, sizeof(line));
                add_line(ft, now, q.peer, v, "%s", line);
            }
        }
}

/* ---- a core ---------------------------------------------------------------------------------- */

static bool waits_for_one(const struct waitfor_answer *a)
{
    for (int32_t i = 0; i < a->records; i++) {
        const struct waits_record *r = &a->record[i];
        if (r->mode == WAITS_FOR_ONE)
            return true;
        for (int32_t k = 0; k < r->requests; k++)
            if (r->request[k].peer == WAITS_ANY)
                return true;
    }
    return false;
}

/* No rank has done anything wrong: all of them are in one collective, and have called it alike. */
static bool are_alike(const struct waitfor_candidate *c, const struct waits_core *core)
{
    const struct waitfor_answer *first = waitfor_asked_find(c, core->rank[0])->answer, *a;

    for (int32_t i = 1; i < core->ranks; i++) {
        a = waitfor_asked_find(c, core->rank[i])->answer;
        if (first->records != 1 || a->records != 1 ||
            !ftree_waits_alike(&first->record[0], &a->record[0]))
            return false;
    }
    return core->ranks > 1;
}

static int sign_of_core(const struct waitfor_candidate *c, const struct waits_core *core)
{
    if (core->missing)
        return core->collective ? RULES_WAITS_BEHIND : RULES_WAITS_MISSING_PARTNER;
    if (core->ranks == 1)
        return RULES_WAITS_SELF;
    if (are_alike(c, core))
        return RULES_WAITS_LIBRARY;
    for (int32_t i = 0; i < core->ranks; i++)
        if (waits_for_one(waitfor_asked_find(c, core->rank[i])->answer))
            return RULES_WAITS_KNOT;
    return RULES_WAITS_CYCLE;
}

/* The n ranks in the order of a report, of which the first `cycle` are one. */
static void tell_core(struct ftree *ft, ftree_time now, const struct waitfor_candidate *c,
                      const int32_t *rank, int32_t n, int32_t cycle, struct ftree_verdict *v)
{
    int32_t shown = n <= LINES_MAX ? n : LINES_MAX - 1;

    for (int32_t i = 0; i < shown; i++)
        add_record(ft, now, i > 0 && i < cycle ? "<- " : "",
                   waitfor_asked_find(c, rank[i])->answer, v);
    if (shown < n)
        add_line(ft, now, rank[shown], v, "and %d more ranks", n - shown);
    for (int32_t i = 0; i < shown; i++)
        add_near(ft, now, c, waitfor_asked_find(c, rank[i])->answer, v);
}

/* Of those who are missing also some who wait for them. */
static void tell_missing(struct ftree *ft, ftree_time now, const struct waitfor_candidate *c,
                         const struct ftree_ranks *missing, struct ftree_verdict *v)
{
    int32_t shown = 0;

    for (int waits = 0; waits < 2; waits++)
        FTREE_EACH(const struct waitfor_asked, a, c->ranks)
            if (ftree_ranks_has(missing, a->rank) == !waits && shown++ < LINES_MAX)
                add_record(ft, now, "", a->answer, v);
    FTREE_EACH(const struct waitfor_asked, a, c->ranks)
        add_near(ft, now, c, a->answer, v);
}

static void tell_in_order(struct ftree *ft, ftree_time now, const struct waitfor_candidate *c,
                          const struct waits *w, int32_t i, const struct waits_core *core,
                          struct ftree_verdict *v)
{
    int32_t *rank = ftree_alloc(ft, NULL, (size_t) core->ranks * sizeof(*rank)), cycle;

    if (!rank)
        return;
    cycle = ftree_waits_order(w, i, rank);
    if (cycle == 0)
        memcpy(rank, core->rank, (size_t) core->ranks * sizeof(*rank));
    tell_core(ft, now, c, rank, core->ranks, cycle, v);
    ftree_alloc(ft, rank, 0);
}

/* ---- a mismatch ------------------------------------------------------------------------------ */

static int sign_of_mismatch(const struct waits_mismatch *m)
{
    bool done = false, others = false;

    if (m->how != WAITS_DIFFER_COUNT)
        return m->how == WAITS_DIFFER ? RULES_WAITS_DIFFERENT : RULES_WAITS_ORDER;
    for (int32_t i = 0; i < m->classes && i < WAITS_CLASSES_MAX; i++)
        if (ftree_ranks_has(&m->odd, m->class_[i].example))
            *(m->class_[i].done ? &done : &others) = true;
    return !done ? RULES_WAITS_AHEAD : others ? RULES_WAITS_UNEVEN : RULES_WAITS_BEHIND;
}

static bool holds_lock(const struct waitfor_answer *a)
{
    for (int32_t i = 0; a->records > 0 && i < a->record[0].comms; i++)
        if (ftree_waits_is_lock(a->record[0].comm[i].key) &&
            a->record[0].comm[i].last.begun < WAITS_LOCK_NONE)
            return true;
    return false;
}

/* A line for each class; and whose lock others may wait for. */
static void tell_mismatch(struct ftree *ft, ftree_time now, const struct waitfor_candidate *c,
                          const struct waits *w, struct ftree_verdict *v)
{
    const struct waits_names names = names_of(ft);
    const struct waits_mismatch *m = c->mismatch;
    int32_t shown = WAITS_CLASSES_MAX;
    char line[FTREE_DETAIL_MAX];

    for (int32_t i = 0; i < m->classes && i < WAITS_CLASSES_MAX; i++) {
        ftree_waits_class_line(&names, w, m, i, line, sizeof(line));
        add_line(ft, now, m->class_[i].example, v, "%s", line);
    }
    FTREE_EACH(const struct waitfor_asked, a, c->ranks)
        if (m->how == WAITS_DIFFER_COUNT && holds_lock(a->answer) && shown++ < LINES_MAX)
            add_record(ft, now, "", a->answer, v);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Ranks that go on after a fault may part because each had another error of it. */
static void add_before(struct ftree *ft, ftree_time now, struct ftree_verdict *v)
{
    char of[32] = "";

    FTREE_EACH(const struct known, k, ft->state->known) {
        if (k->v.withdrawn || k->v.class_ == FTREE_CLASS_STRAGGLER ||
            ftree_class_says(k->v.class_, FTREE_IS_WARNING) || ftree_verdict_is_wait(&k->v))
            continue;
        if (k->v.rank != FTREE_NONE)
            snprintf(of, sizeof(of), "rank %d on ", (int) k->v.rank);
        add_line(ft, now, v->rank, v, "after %s of %s%s, which stands: this may follow from it",
                 ftree_class_name(k->v.class_), of, ftree_name(ft, k->v.node));
        return;
    }
}

static bool begin(struct ftree *ft, ftree_time now, int what, int32_t rank, bool unsure,
                  struct ftree_verdict *v)
{
    int32_t model;
    const struct rules_sign *sign = ftree_rules_decide_waits(ft->rules, what, &model);

    if (!sign)
        return false;
    ftree_verdict_init(ft, now, v, sign, ft->rules->model[model].class_, ftree_node_of(ft, rank),
                       rank);
    if (unsure)
        v->confidence = (uint16_t) (v->confidence > DOUBT ? v->confidence - DOUBT : 0);
    add_before(ft, now, v);
    return true;
}

/* Who polls may stop that by itself, or have somebody outside the job wait for it; NULL: nothing of
 * the kind is known. */
static const char *may_go_on(const struct waitfor_answer *a)
{
    for (int32_t i = 0; i < a->records; i++) {
        if (a->record[i].polls)
            return "polls, and may have other work to do";
        if (a->record[i].handles)
            return "has a thread that may be woken by a signal";
    }
    return NULL;
}

/* Where there is doubt: how long the job is not ended because of it, and why. */
static void hold_back(struct ftree *ft, ftree_time now, const struct waitfor_candidate *c,
                      struct ftree_verdict *v)
{
    const char *why = NULL;
    int32_t i = 0;

    while (i < c->ranks.n && !(why = may_go_on(c->ranks.items[i].answer)))
        i++;
    v->holds_back = why ? FTREE_HOLDS_FOR_EVER : DOUBT_HOLDS;
    if (why)
        add_line(ft, now, v->rank, v, "the job is never ended because of it: rank %d %s",
                 (int) c->ranks.items[i].rank, why);
    else
        add_line(ft, now, v->rank, v, "the job may be ended after 600 s: %s",
                 c->some_go_on ? "ranks that have left that collective go on"
                               : "not all is known of what is under way");
}

/* It came about when the last of them began to wait. */
static void set_time(const struct waitfor_candidate *c, struct ftree_verdict *v)
{
    ftree_time since = 0;

    FTREE_EACH(const struct waitfor_asked, a, c->ranks)
        since = ftree_max(since, a->answer->since);
    if (since && since < v->first_symptom)
        v->first_symptom = since;
    v->symptoms = (uint32_t) c->ranks.n;
    v->pid = 0;
}

static void emit(struct ftree *ft, struct waitfor_candidate *c, struct ftree_verdict *v)
{
    set_time(c, v);
    if (v->component.count <= 1) {
        v->component = (struct ftree_ranks){0};
        v->pid = ft->job->rank_pid ? ft->job->rank_pid[v->rank] : 0;
    }
    c->verdict = v->id;
    c->fln = ft->self;
    c->class_ = v->class_;
    c->node = v->node;
    c->rank = v->rank;
    ftree_emit_verdict(ft, v);
}

/* ---- who is not where the others are --------------------------------------------------------- */

static bool is_in_collective(const struct waitfor_answer *a)
{
    const struct waits_record *r = &a->record[0];

    for (int32_t i = 0; i < r->requests; i++)
        if (r->request[i].kind == WAITS_COLLECTIVE && r->request[i].comm >= 0 &&
            !ftree_waits_is_lock(r->comm[r->request[i].comm].key))
            return true;
    return false;
}

/* It waits for that rank's messages alone, and has sent it some that are not received. */
static bool misses(const struct waitfor_answer *a, const struct waitfor_answer *other)
{
    const struct waits_exchange *own = waitfor_exchange_with(a, other->rank);
    const struct waits_exchange *its = waitfor_exchange_with(other, a->rank);
    const struct waits_record *r = &a->record[0];

    for (int32_t i = 0; i < r->requests; i++)
        if (r->request[i].kind > WAITS_RECV || r->request[i].peer != other->rank)
            return false;
    return r->requests > 0 && !r->more && r->mode == WAITS_FOR_ALL &&
           (own ? own->sent.count : 0) != (its ? its->received.count : 0);
}

/* The rank of a cycle that is in a collective, where two others at least, which are all there are,
 * exchange messages with it; FTREE_NONE: there is none. */
static int32_t absent_of(const struct waitfor_candidate *c, const struct waits_core *core)
{
    const struct waitfor_answer *absent = NULL, *a;

    for (int32_t i = 0; i < core->ranks && !core->missing && core->ranks > 2; i++) {
        a = waitfor_asked_find(c, core->rank[i])->answer;
        if (a->records != 1 || (absent && is_in_collective(a)))
            return FTREE_NONE;
        absent = is_in_collective(a) ? a : absent;
    }
    for (int32_t i = 0; i < core->ranks && absent; i++) {
        a = waitfor_asked_find(c, core->rank[i])->answer;
        if (a != absent && !misses(a, absent))
            return FTREE_NONE;
    }
    return absent ? absent->rank : FTREE_NONE;
}

/* NULL: nobody is odd, or who is has not been confirmed. */
static const struct waits_mismatch *order_of(const struct waitfor_candidate *c,
                                             const struct waits_core *core)
{
    const struct waits_mismatch *m = core->missing ? NULL : c->mismatch;
    int32_t odd = 0;

    for (int32_t i = 0; m && i < core->ranks; i++)
        odd += ftree_ranks_has(&m->odd, core->rank[i]);
    return m && odd == m->odd.count ? m : NULL;
}

/* Those of a core who are odd, if any are.  Returns the sign. */
static int find_odd(const struct waitfor_candidate *c, const struct waits_core *core,
                    struct ftree_ranks *odd)
{
    const struct waits_mismatch *order = order_of(c, core);
    int32_t absent = order ? FTREE_NONE : absent_of(c, core);

    *odd = order ? order->odd : (struct ftree_ranks){0};
    if (absent != FTREE_NONE)
        ftree_ranks_add(odd, absent, absent);
    return order ? RULES_WAITS_ORDER
                 : absent != FTREE_NONE ? RULES_WAITS_ABSENT : sign_of_core(c, core);
}

static void tell(struct ftree *ft, ftree_time now, const struct waitfor_candidate *c,
                 const struct waits *w, int32_t i, const struct waits_core *core,
                 struct ftree_verdict *v)
{
    if (core->missing)
        tell_missing(ft, now, c, &v->component, v);
    else if (order_of(c, core))
        tell_mismatch(ft, now, c, w, v);
    else
        tell_in_order(ft, now, c, w, i, core, v);
}

/* The ranks of a core, of which those who are odd are named. */
static bool add_core(struct ftree *ft, struct waitfor_candidate *c, const struct waits_core *core,
                     const struct ftree_ranks *odd, struct ftree_verdict *v)
{
    for (int32_t k = 0; k < core->ranks; k++) {
        if (!FTREE_ADD(ft, c->component, core->rank[k]))
            return false;
        if (!odd || ftree_ranks_has(odd, core->rank[k]))
            ftree_ranks_add(&v->component, core->rank[k], core->rank[k]);
    }
    return true;
}

/* Several that are missing are one finding: the same ranks wait for them. */
static bool core_verdict(struct ftree *ft, ftree_time now, struct waitfor_candidate *c,
                         const struct waits *w, bool unsure)
{
    struct waits_core core, other;
    struct ftree_verdict v;
    struct ftree_ranks odd;
    int32_t i = 0;
    int sign;

    while (ftree_waits_core_at(w, i, &core) && core.missing != c->is_core_missing)
        i++;
    sign = find_odd(c, &core, &odd);
    if (!begin(ft, now, sign, odd.ranges > 0 ? odd.range[0].first : core.id, unsure, &v) ||
        !add_core(ft, c, &core, odd.ranges > 0 ? &odd : NULL, &v))
        return false;
    for (int32_t k = i + 1; core.missing && ftree_waits_core_at(w, k, &other); k++)
        if (other.missing && !add_core(ft, c, &other, NULL, &v))
            return false;
    if (unsure)
        hold_back(ft, now, c, &v);
    tell(ft, now, c, w, i, &core, &v);
    emit(ft, c, &v);
    return true;
}

/* A class is where the one of its ranks is that was asked. */
static void note_left(const struct waitfor_candidate *c)
{
    struct waits_mismatch *m = c->mismatch;

    for (int32_t i = 0; i < m->classes && i < WAITS_CLASSES_MAX; i++) {
        const struct waitfor_asked *a = waitfor_asked_find(c, m->class_[i].example);
        if (m->how == WAITS_DIFFER && a && !waitfor_is_held(c, a->answer))
            m->class_[i].gone = m->class_[i].count;
    }
}

/* If one of these goes on it is over: those who are held in it, for the others have left it already;
 * all, where nobody is. */
static bool add_held(struct ftree *ft, struct waitfor_candidate *c)
{
    for (int all = 0; all < 2 && c->component.n == 0; all++)
        FTREE_EACH(const struct waitfor_asked, a, c->ranks)
            if ((all || waitfor_is_held(c, a->answer)) && !FTREE_ADD(ft, c->component, a->rank))
                return false;
    return true;
}

static bool mismatch_verdict(struct ftree *ft, ftree_time now, struct waitfor_candidate *c,
                             const struct waits *w)
{
    const struct waits_mismatch *m = c->mismatch;
    struct ftree_verdict v;

    if (m->odd.ranges == 0 ||
        !begin(ft, now, sign_of_mismatch(m), m->odd.range[0].first, c->some_go_on, &v))
        return false;
    if (!add_held(ft, c))
        return false;
    if (c->some_go_on)
        hold_back(ft, now, c, &v);
    v.component = m->odd;
    note_left(c);
    tell_mismatch(ft, now, c, w, &v);
    emit(ft, c, &v);
    return true;
}

bool waitfor_verdict(struct ftree *ft, ftree_time now, struct waitfor_candidate *c,
                     const struct waits *w, bool unsure)
{
    c->component.n = 0;
    return c->kind == WAITFOR_MISMATCH ? mismatch_verdict(ft, now, c, w)
                                       : core_verdict(ft, now, c, w, unsure);
}
