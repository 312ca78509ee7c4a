/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/wire_int.h"

#include "ftree/topology/tree.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

static void put_ranks(struct wire_writer *w, const struct ftree_ranks *ranks)
{
    ftree_wire_put(w, (uint32_t) ranks->count, 4);
    ftree_wire_put(w, (uint32_t) ranks->ranges, 2);
    for (int32_t i = 0; i < ranks->ranges; i++) {
        ftree_wire_put(w, (uint32_t) ranks->range[i].first, 4);
        ftree_wire_put(w, (uint32_t) ranks->range[i].last, 4);
    }
}

#define COMPONENT_BYTES 13
#define EVIDENCE_BYTES (5 + 12 + 8 + FTREE_DETAIL_MAX)
#define RANKS_BYTES (6 + 8 * FTREE_RANGES_MAX)
_Static_assert(WIRE_HEADER + 2 * FTREE_NAME_MAX + FTREE_DETAIL_MAX + COMPONENT_BYTES + 64 +
                       FTREE_EVIDENCE_MAX * EVIDENCE_BYTES + FTREE_CANDIDATE_MAX * 4 +
                       RANKS_BYTES <=
                   FTREE_MESSAGE_MAX,
               "a verdict fits into a message");

static void put_evidence(struct wire_writer *w, const struct ftree_evidence *e, ftree_time now)
{
    ftree_wire_put(w, e->source, 1);
    ftree_wire_put(w, e->path, 1);
    ftree_wire_put(w, e->role, 1);
    ftree_wire_put(w, e->reach, 1);
    ftree_wire_put(w, (uint8_t) e->proc_state, 1);
    ftree_wire_put(w, (uint32_t) e->target, 4);
    ftree_wire_put(w, (uint32_t) e->by, 4);
    ftree_wire_put(w, (uint32_t) e->error, 4);
    ftree_wire_put_age(w, now, e->at);
    ftree_wire_put_text(w, e->detail);
}

static void put_component(struct wire_writer *w, uint8_t kind, int32_t node, int32_t rank,
                          int32_t switch_)
{
    ftree_wire_put(w, kind, 1);
    ftree_wire_put(w, (uint32_t) node, 4);
    ftree_wire_put(w, (uint32_t) rank, 4);
    ftree_wire_put(w, (uint32_t) switch_, 4);
}

static void put_verdict(struct wire_writer *w, const struct ftree_verdict *v, ftree_time now)
{
    ftree_wire_put(w, v->class_, 1);
    ftree_wire_put(w, v->confidence, 2);
    ftree_wire_put_text(w, v->rule);
    ftree_wire_put_text(w, v->because);
    ftree_wire_put_text(w, v->raised_by);
    ftree_wire_put(w, v->id, 4);
    put_component(w, v->kind, v->node, v->rank, v->switch_);
    ftree_wire_put(w, (uint32_t) v->pid, 4);
    ftree_wire_put(w, (uint32_t) v->fln, 4);
    ftree_wire_put(w, v->symptoms, 4);
    ftree_wire_put_age(w, now, v->first_symptom);
    ftree_wire_put_age(w, now, v->located);
    ftree_wire_put(w, v->withdrawn != 0, 1);
    ftree_wire_put_age(w, now, v->withdrawn);
    ftree_wire_put(w, (uint32_t) v->evidences, 1);
    for (int32_t i = 0; i < v->evidences; i++)
        put_evidence(w, &v->evidence[i], now);
    ftree_wire_put(w, (uint32_t) v->candidates, 1);
    for (int32_t i = 0; i < v->candidates; i++) {
        ftree_wire_put(w, v->candidate[i].class_, 1);
        ftree_wire_put(w, v->candidate[i].confidence, 2);
        ftree_wire_put(w, v->candidate[i].ruled_out, 1);
    }
    put_ranks(w, &v->victims);
}

static void put_answer(struct wire_writer *w, const struct wire_answer *a)
{
    ftree_wire_put(w, a->nonce, 4);
    ftree_wire_put(w, a->role, 1);
    ftree_wire_put(w, a->leaving, 1);
    ftree_wire_put(w, a->asked_phase, 1);
    ftree_wire_put(w, (uint32_t) a->asked_peer, 4);
    ftree_wire_put(w, a->asked_told, 1);
    ftree_wire_put(w, (uint32_t) a->troubles, 1);
    for (int32_t i = 0; i < a->troubles; i++) {
        ftree_wire_put(w, (uint32_t) a->trouble[i].rank, 4);
        ftree_wire_put(w, (uint32_t) a->trouble[i].pid, 4);
        ftree_wire_put(w, a->trouble[i].phase, 1);
        ftree_wire_put(w, (uint8_t) a->trouble[i].proc_state, 1);
    }
    put_ranks(w, &a->waiting);
}

static void put_symptom(struct wire_writer *w, const struct ftree_symptom *s, ftree_time now)
{
    ftree_wire_put(w, s->kind, 1);
    ftree_wire_put(w, s->severity, 1);
    put_component(w, s->about.kind, s->about.node, s->about.rank, s->about.switch_);
    ftree_wire_put(w, (uint32_t) s->reporters, 1);
    for (int32_t i = 0; i < s->reporters; i++)
        ftree_wire_put(w, (uint32_t) s->reporter[i], 4);
    ftree_wire_put(w, s->count, 4);
    ftree_wire_put(w, (uint32_t) s->error, 4);
    ftree_wire_put_age(w, now, s->first);
    ftree_wire_put_age(w, now, s->last);
    ftree_wire_put_text(w, s->detail);
}

static void put_probe(struct wire_writer *w, const struct wire_probe *p, ftree_time now)
{
    ftree_wire_put(w, p->nonce, 4);
    ftree_wire_put(w, p->round, 4);
    ftree_wire_put(w, p->ask, 1);
    ftree_wire_put(w, (uint32_t) p->rank, 4);
    ftree_wire_put_age(w, now, p->first);
}

#define OUTLINE_WITHDRAWN 1
#define OUTLINE_OWN_RULE 2 /* else that of the summary before */
#define OUTLINE_BYTES_MAX (1 + 2 + 4 + COMPONENT_BYTES + 4 + 1 + 3 * 5 + 1 + FTREE_NAME_MAX)

/* A microsecond is the unit, and 2^40 of them are twelve days. */
static void put_short_age(struct wire_writer *w, ftree_time now, ftree_time at)
{
    ftree_time age_us = at < now ? (now - at) / 1000 : 0;

    ftree_wire_put(w, age_us >> 40 ? ((ftree_time) 1 << 40) - 1 : age_us, 5);
}

bool ftree_wire_put_summary(struct wire_summaries *w, ftree_time now, const struct summary *o,
                            const char *rule)
{
    struct wire_writer to = {.p = w->bytes, .len = w->len};
    bool own_rule = w->n == 0 || strcmp(rule, w->rule);

    if (w->len + OUTLINE_BYTES_MAX > sizeof(w->bytes))
        return false;
    ftree_wire_put(&to, o->class_, 1);
    ftree_wire_put(&to, o->confidence, 2);
    ftree_wire_put(&to, o->id, 4);
    put_component(&to, o->kind, o->node, o->rank, o->switch_);
    ftree_wire_put(&to, (uint32_t) o->fln, 4);
    ftree_wire_put(&to, (o->withdrawn ? OUTLINE_WITHDRAWN : 0) | (own_rule ? OUTLINE_OWN_RULE : 0),
                   1);
    put_short_age(&to, now, o->first_symptom);
    put_short_age(&to, now, o->located);
    if (o->withdrawn)
        put_short_age(&to, now, o->withdrawn);
    if (own_rule) {
        snprintf(w->rule, sizeof(w->rule), "%s", rule);
        ftree_wire_put_text(&to, w->rule);
    }
    w->len = to.len;
    w->n++;
    return true;
}

struct wire_told ftree_wire_told(const struct wire_summaries *w)
{
    return (struct wire_told){.n = w->n, .len = w->len, .bytes = w->bytes};
}

size_t ftree_wire_encode(const struct wire_message *m, ftree_time now, void *buf)
{
    struct wire_writer w = {.p = buf};

    ftree_wire_put(&w, WIRE_MAGIC, 1);
    ftree_wire_put(&w, WIRE_VERSION, 1);
    ftree_wire_put(&w, m->type, 1);
    ftree_wire_put(&w, m->flags, 1);
    ftree_wire_put(&w, m->id, 4);
    switch (m->type) {
        case WIRE_ACK:
        case WIRE_BUSY:
            ftree_wire_put(&w, m->u.ack, 4);
            break;
        case WIRE_SYMPTOM:
            put_symptom(&w, &m->u.symptom, now);
            break;
        case WIRE_PROBE:
            put_probe(&w, &m->u.probe, now);
            break;
        case WIRE_ANSWER:
            put_answer(&w, &m->u.answer);
            break;
        case WIRE_STATE:
            ftree_wire_put(&w, m->u.state.nonce, 4);
            ftree_wire_put_state(&w, &m->u.state.state);
            break;
        case WIRE_LOG:
            ftree_wire_put(&w, m->u.log.nonce, 4);
            ftree_wire_put_log(&w, &m->u.log.log, now);
            break;
        case WIRE_VISIT:
            ftree_wire_put(&w, m->u.visit.nonce, 4);
            ftree_wire_put(&w, (uint32_t) m->u.visit.target, 4);
            break;
        case WIRE_SEEN:
            ftree_wire_put(&w, m->u.seen.nonce, 4);
            ftree_wire_put(&w, (uint32_t) m->u.seen.target, 4);
            ftree_wire_put(&w, m->u.seen.path, 1);
            ftree_wire_put(&w, m->u.seen.reach, 1);
            break;
        case WIRE_SWEEP:
            ftree_wire_put(&w, m->u.round, 4);
            break;
        case WIRE_VERDICT_UP:
            put_verdict(&w, &m->u.verdict, now);
            break;
        case WIRE_VERDICT_DOWN:
            ftree_wire_put(&w, (uint32_t) m->u.told.n, 2);
            if (m->u.told.n > 0)
                memcpy(w.p + w.len, m->u.told.bytes, m->u.told.len);
            w.len += m->u.told.len;
            break;
        case WIRE_VICTIMS:
            ftree_wire_put(&w, m->u.victims.told, 4);
            put_ranks(&w, &m->u.victims.ranks);
            break;
        default:
            break;
    }
    return w.len;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool get_bool(struct wire_reader *r)
{
    return ftree_wire_get_below(r, 1, 2) != 0;
}

static void get_ranks(struct wire_reader *r, struct ftree_ranks *ranks)
{
    int64_t sum = 0, next = 0;

    ranks->count = (int32_t) ftree_wire_get_below(r, 4, (uint64_t) r->job->size + 1);
    ranks->ranges = (int32_t) ftree_wire_get_below(r, 2, FTREE_RANGES_MAX + 1);
    for (int32_t i = 0; i < ranks->ranges && !r->bad; i++) {
        int32_t first = ftree_wire_get_rank(r, false);
        int32_t last = ftree_wire_get_rank(r, false);
        if (first < next || last < first)
            r->bad = true;
        ranks->range[i].first = first;
        ranks->range[i].last = last;
        sum += (int64_t) last - first + 1;
        next = last + 2; /* ranges that touch would be one */
    }
    if (sum > ranks->count)
        r->bad = true;
}

static void get_evidence(struct wire_reader *r, struct ftree_evidence *e)
{
    e->source = (uint8_t) ftree_wire_get_below(r, 1, FTREE_EVIDENCE_SOURCES);
    e->path = (uint8_t) ftree_wire_get_below(r, 1, FTREE_PATHS + 1);
    e->role = (uint8_t) ftree_wire_get_below(r, 1, FTREE_ROLES);
    e->reach = (uint8_t) ftree_wire_get_below(r, 1, FTREE_REACH_COUNT);
    e->proc_state = ftree_wire_get_proc_state(r);
    e->target = ftree_wire_get_node(r);
    e->by = ftree_wire_get_node(r);
    e->error = (int32_t) ftree_wire_get_below(r, 4, 4096);
    e->at = ftree_wire_get_age(r);
    ftree_wire_get_text(r, e->detail, sizeof(e->detail));
}

static bool same_node(const struct ftree_job *job, int32_t rank, int32_t node)
{
    return (job->rank_node ? job->rank_node[rank] : rank) == node;
}

static void get_component(struct wire_reader *r, struct ftree_component *c)
{
    uint64_t switches = r->job->tree ? (uint64_t) r->job->tree->switches : 0;
    uint32_t switch_;

    c->kind = (uint8_t) ftree_wire_get_below(r, 1, FTREE_KIND_COUNT);
    c->node = ftree_wire_get_node(r);
    c->rank = ftree_wire_get_rank(r, true);
    switch_ = (uint32_t) ftree_wire_get(r, 4);
    c->switch_ = (int32_t) switch_;
    if ((c->kind == FTREE_KIND_SWITCH) != (switch_ != (uint32_t) FTREE_NONE) ||
        (switch_ != (uint32_t) FTREE_NONE && switch_ >= switches))
        r->bad = true;
    if (!r->bad && c->rank != FTREE_NONE && !same_node(r->job, c->rank, c->node))
        r->bad = true;
}

static void get_verdict(struct wire_reader *r, struct ftree_verdict *v)
{
    struct ftree_component c;
    bool withdrawn;

    v->class_ = (uint8_t) ftree_wire_get_below(r, 1, FTREE_CLASS_COUNT);
    v->confidence = (uint16_t) ftree_wire_get_below(r, 2, 1001);
    ftree_wire_get_text(r, v->rule, sizeof(v->rule));
    ftree_wire_get_text(r, v->because, sizeof(v->because));
    ftree_wire_get_text(r, v->raised_by, sizeof(v->raised_by));
    v->id = (uint32_t) ftree_wire_get(r, 4);
    get_component(r, &c);
    v->kind = c.kind;
    v->node = c.node;
    v->rank = c.rank;
    v->switch_ = c.switch_;
    v->pid = (int32_t) ftree_wire_get_below(r, 4, INT32_MAX);
    v->fln = ftree_wire_get_node(r);
    v->symptoms = (uint32_t) ftree_wire_get(r, 4);
    v->first_symptom = ftree_wire_get_age(r);
    v->located = ftree_wire_get_age(r);
    withdrawn = get_bool(r);
    v->withdrawn = ftree_wire_get_age(r);
    v->withdrawn = withdrawn ? v->withdrawn + !v->withdrawn : 0; /* 0 is kept for "it stands" */
    v->evidences = (int32_t) ftree_wire_get_below(r, 1, FTREE_EVIDENCE_MAX + 1);
    for (int32_t i = 0; i < v->evidences; i++)
        get_evidence(r, &v->evidence[i]);
    v->candidates = (int32_t) ftree_wire_get_below(r, 1, FTREE_CANDIDATE_MAX + 1);
    for (int32_t i = 0; i < v->candidates; i++) {
        v->candidate[i].class_ = (uint8_t) ftree_wire_get_below(r, 1, FTREE_CLASS_COUNT);
        v->candidate[i].confidence = (uint16_t) ftree_wire_get_below(r, 2, 1001);
        v->candidate[i].ruled_out = get_bool(r);
    }
    get_ranks(r, &v->victims);
    if (v->first_symptom > v->located)
        r->bad = true;
}

static ftree_time get_short_age(struct wire_reader *r)
{
    ftree_time age = ftree_wire_get(r, 5) * 1000;

    return age < r->now ? r->now - age : 0;
}

static void get_summary(struct wire_reader *r, struct summary *o, char rule[FTREE_NAME_MAX])
{
    struct ftree_component c;
    uint32_t flags;

    memset(o, 0, sizeof(*o));
    o->class_ = (uint8_t) ftree_wire_get_below(r, 1, FTREE_CLASS_COUNT);
    o->confidence = (uint16_t) ftree_wire_get_below(r, 2, 1001);
    o->id = (uint32_t) ftree_wire_get(r, 4);
    get_component(r, &c);
    o->kind = c.kind;
    o->node = c.node;
    o->rank = c.rank;
    o->switch_ = c.switch_;
    o->fln = ftree_wire_get_node(r);
    flags = ftree_wire_get_below(r, 1, 4);
    o->first_symptom = get_short_age(r);
    o->located = get_short_age(r);
    if (flags & OUTLINE_WITHDRAWN) {
        o->withdrawn = get_short_age(r);
        o->withdrawn += !o->withdrawn; /* 0 is kept for "it stands" */
    }
    if (flags & OUTLINE_OWN_RULE)
        ftree_wire_get_text(r, rule, FTREE_NAME_MAX);
    if (o->first_symptom > o->located)
        r->bad = true;
}

bool ftree_wire_get_summary(const struct ftree_job *job, ftree_time now, struct wire_told *t,
                            struct summary *o, char rule[FTREE_NAME_MAX])
{
    struct wire_reader r = {.p = t->bytes, .left = t->len, .job = job, .now = now};

    if (t->n == 0)
        return false;
    get_summary(&r, o, rule);
    if (r.bad)
        return false;
    t->bytes = r.p;
    t->len = r.left;
    t->n--;
    return true;
}

/* Each is read once to be checked, and again by whoever wants it. */
static void get_told(struct wire_reader *r, struct wire_told *t)
{
    struct wire_told rest;
    struct summary o;
    char rule[FTREE_NAME_MAX] = "";

    t->n = (int32_t) ftree_wire_get(r, 2);
    t->bytes = r->p;
    t->len = r->left;
    rest = *t;
    while (ftree_wire_get_summary(r->job, r->now, &rest, &o, rule))
        ;
    if (rest.n > 0)
        r->bad = true;
    r->p += r->left - rest.len;
    r->left = rest.len;
}

static void get_answer(struct wire_reader *r, struct wire_answer *a)
{
    a->nonce = (uint32_t) ftree_wire_get(r, 4);
    a->role = (uint8_t) ftree_wire_get_below(r, 1, FTREE_ROLES);
    a->leaving = get_bool(r);
    a->asked_phase = (uint8_t) ftree_wire_get_below(r, 1, FTREE_PHASE_COUNT);
    a->asked_peer = ftree_wire_get_rank(r, true);
    a->asked_told = get_bool(r);
    a->troubles = (int32_t) ftree_wire_get_below(r, 1, WIRE_TROUBLES_MAX + 1);
    for (int32_t i = 0; i < a->troubles; i++) {
        a->trouble[i].rank = ftree_wire_get_rank(r, false);
        a->trouble[i].pid = (int32_t) ftree_wire_get_below(r, 4, INT32_MAX);
        a->trouble[i].phase = (uint8_t) ftree_wire_get_below(r, 1, FTREE_PHASE_COUNT);
        a->trouble[i].proc_state = ftree_wire_get_proc_state(r);
    }
    get_ranks(r, &a->waiting);
}

static void get_symptom(struct wire_reader *r, struct ftree_symptom *s)
{
    s->kind = (uint8_t) ftree_wire_get_below(r, 1, FTREE_SYMPTOM_COUNT);
    s->severity = (uint8_t) ftree_wire_get_below(r, 1, FTREE_SEVERITY_COUNT);
    get_component(r, &s->about);
    s->reporters = (int32_t) ftree_wire_get_below(r, 1, FTREE_REPORTERS_MAX + 1);
    for (int32_t i = 0; i < s->reporters; i++)
        s->reporter[i] = ftree_wire_get_node(r);
    s->count = (uint32_t) ftree_wire_get(r, 4);
    s->error = (int32_t) ftree_wire_get_below(r, 4, 4096);
    s->first = ftree_wire_get_age(r);
    s->last = ftree_wire_get_age(r);
    ftree_wire_get_text(r, s->detail, sizeof(s->detail));
    if (s->first > s->last || s->reporters == 0 || s->count == 0)
        r->bad = true;
}

static void get_probe(struct wire_reader *r, struct wire_probe *p)
{
    p->nonce = (uint32_t) ftree_wire_get(r, 4);
    p->round = (uint32_t) ftree_wire_get(r, 4);
    p->ask = (uint8_t) ftree_wire_get_below(r, 1, RULES_ASKS);
    p->rank = ftree_wire_get_rank(r, true);
    p->first = ftree_wire_get_age(r);
}

static void get_body(struct wire_reader *r, struct wire_message *m)
{
    switch (m->type) {
        case WIRE_ACK:
        case WIRE_BUSY:
            m->u.ack = (uint32_t) ftree_wire_get(r, 4);
            break;
        case WIRE_SYMPTOM:
            get_symptom(r, &m->u.symptom);
            break;
        case WIRE_PROBE:
            get_probe(r, &m->u.probe);
            break;
        case WIRE_ANSWER:
            get_answer(r, &m->u.answer);
            break;
        case WIRE_STATE:
            m->u.state.nonce = (uint32_t) ftree_wire_get(r, 4);
            ftree_wire_get_state(r, &m->u.state.state);
            break;
        case WIRE_LOG:
            m->u.log.nonce = (uint32_t) ftree_wire_get(r, 4);
            ftree_wire_get_log(r, &m->u.log.log);
            break;
        case WIRE_VISIT:
            m->u.visit.nonce = (uint32_t) ftree_wire_get(r, 4);
            m->u.visit.target = ftree_wire_get_node(r);
            break;
        case WIRE_SEEN:
            m->u.seen.nonce = (uint32_t) ftree_wire_get(r, 4);
            m->u.seen.target = ftree_wire_get_node(r);
            m->u.seen.path = (uint8_t) ftree_wire_get_below(r, 1, FTREE_PATHS);
            m->u.seen.reach = (uint8_t) ftree_wire_get_below(r, 1, FTREE_REACH_COUNT);
            break;
        case WIRE_SWEEP:
            m->u.round = (uint32_t) ftree_wire_get(r, 4);
            break;
        case WIRE_VERDICT_UP:
            get_verdict(r, &m->u.verdict);
            break;
        case WIRE_VERDICT_DOWN:
            get_told(r, &m->u.told);
            break;
        case WIRE_VICTIMS:
            m->u.victims.told = (uint32_t) ftree_wire_get(r, 4);
            get_ranks(r, &m->u.victims.ranks);
            break;
        default:
            break;
    }
}

static bool flags_belong(const struct wire_message *m)
{
    switch (m->type) {
        case WIRE_ACK:
            return (m->flags & ~WIRE_FLAG_NOBODY_WAITS) == 0;
        case WIRE_SYMPTOM:
            return (m->flags & ~WIRE_FLAG_SUBSTITUTE) == 0;
        case WIRE_VERDICT_UP:
            return (m->flags & ~(WIRE_FLAG_SUBSTITUTE | WIRE_FLAG_MORE)) == 0;
        case WIRE_VERDICT_DOWN:
            return (m->flags & ~WIRE_FLAG_PASS_ON) == 0;
        default:
            return m->flags == 0;
    }
}

/* The largest body has thousands of bytes, and most messages are acknowledgments. */
static void clear_body(struct wire_message *m)
{
    static const size_t bytes[WIRE_TYPE_COUNT] = {
        [WIRE_SYMPTOM] = sizeof(m->u.symptom), [WIRE_PROBE] = sizeof(m->u.probe),
        [WIRE_ANSWER] = sizeof(m->u.answer),   [WIRE_STATE] = sizeof(m->u.state),
        [WIRE_LOG] = sizeof(m->u.log),         [WIRE_VERDICT_UP] = sizeof(m->u.verdict),
        [WIRE_VICTIMS] = sizeof(m->u.victims)};

    memset(&m->u, 0, bytes[m->type]);
}

int ftree_wire_decode(const struct ftree_job *job, ftree_time now, const void *buf, size_t len,
                      struct wire_message *m)
{
    struct wire_reader r = {.p = buf, .left = len, .job = job, .now = now};

    if (len < WIRE_HEADER || len > FTREE_MESSAGE_MAX || ftree_wire_get(&r, 1) != WIRE_MAGIC)
        return FTREE_ERR_MALFORMED;
    if (ftree_wire_get(&r, 1) != WIRE_VERSION)
        return FTREE_ERR_VERSION;
    m->type = (uint8_t) ftree_wire_get_below(&r, 1, WIRE_TYPE_COUNT);
    m->flags = (uint8_t) ftree_wire_get(&r, 1);
    m->id = (uint32_t) ftree_wire_get(&r, 4);
    if (r.bad || !flags_belong(m))
        return FTREE_ERR_MALFORMED;
    clear_body(m);
    get_body(&r, m);
    return r.bad || r.left ? FTREE_ERR_MALFORMED : FTREE_OK;
}

int ftree_wire_renew(const struct ftree_job *job, ftree_time written, const void *buf, size_t len,
                     ftree_time now, void *out)
{
    struct wire_summaries w = {0};
    struct wire_message m;
    struct summary o;
    char rule[FTREE_NAME_MAX] = "";
    int rc = ftree_wire_decode(job, written, buf, len, &m);

    if (rc)
        return rc;
    if (m.type == WIRE_VERDICT_DOWN) {
        while (ftree_wire_get_summary(job, written, &m.u.told, &o, rule))
            ftree_wire_put_summary(&w, now, &o, rule);
        m.u.told = ftree_wire_told(&w);
    }
    ftree_wire_encode(&m, now, out);
    return FTREE_OK;
}

static const struct {
    const char *name;
    bool reliable;
} types[] = {
#define WIRE_TYPE_ROW(id, text, reliable) {text, reliable},
    WIRE_TYPES(WIRE_TYPE_ROW)
#undef WIRE_TYPE_ROW
};

const char *ftree_wire_type_name(int type)
{
    return type >= 0 && type < WIRE_TYPE_COUNT ? types[type].name : "?";
}

bool ftree_wire_is_reliable(int type)
{
    return type >= 0 && type < WIRE_TYPE_COUNT && types[type].reliable;
}
