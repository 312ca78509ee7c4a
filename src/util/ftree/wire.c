/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "wire.h"

#include <assert.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

struct writer {
    uint8_t *p;
    size_t len;
};

static void put(struct writer *w, uint64_t value, int bytes)
{
    /* every message is bounded by the tables' sizes: see the static assertion below */
    for (int i = 0; i < bytes; i++)
        w->p[w->len++] = (uint8_t) (value >> (8 * i));
}

static void put_age(struct writer *w, ftree_time now, ftree_time at)
{
    put(w, at < now ? now - at : 0, 8);
}

static void put_ranks(struct writer *w, const struct ftree_ranks *ranks)
{
    put(w, (uint32_t) ranks->count, 4);
    put(w, (uint32_t) ranks->ranges, 2);
    for (int32_t i = 0; i < ranks->ranges; i++) {
        put(w, (uint32_t) ranks->range[i].first, 4);
        put(w, (uint32_t) ranks->range[i].last, 4);
    }
}

#define EVIDENCE_BYTES (4 + 12 + 8)
#define RANKS_BYTES (6 + 8 * FTREE_RANGES_MAX)
_Static_assert(WIRE_HEADER + 64 + FTREE_EVIDENCE_MAX * EVIDENCE_BYTES + FTREE_CANDIDATE_MAX * 4 +
                       RANKS_BYTES <=
                   FTREE_MESSAGE_MAX,
               "a verdict fits into a message");

static void put_evidence(struct writer *w, const struct ftree_evidence *e, ftree_time now)
{
    put(w, e->path, 1);
    put(w, e->role, 1);
    put(w, e->reach, 1);
    put(w, (uint8_t) e->proc_state, 1);
    put(w, (uint32_t) e->target, 4);
    put(w, (uint32_t) e->by, 4);
    put(w, (uint32_t) e->error, 4);
    put_age(w, now, e->at);
}

static void put_verdict(struct writer *w, const struct ftree_verdict *v, ftree_time now)
{
    put(w, v->class_, 1);
    put(w, v->kind, 1);
    put(w, v->rule, 1);
    put(w, v->confidence, 2);
    put(w, (uint32_t) v->node, 4);
    put(w, (uint32_t) v->rank, 4);
    put(w, (uint32_t) v->pid, 4);
    put(w, (uint32_t) v->fln, 4);
    put(w, v->symptoms, 4);
    put_age(w, now, v->first_symptom);
    put_age(w, now, v->located);
    put(w, (uint32_t) v->evidences, 1);
    for (int32_t i = 0; i < v->evidences; i++)
        put_evidence(w, &v->evidence[i], now);
    put(w, (uint32_t) v->candidates, 1);
    for (int32_t i = 0; i < v->candidates; i++) {
        put(w, v->candidate[i].class_, 1);
        put(w, v->candidate[i].confidence, 2);
        put(w, v->candidate[i].ruled_out, 1);
    }
    put_ranks(w, &v->victims);
}

static void put_answer(struct writer *w, const struct wire_answer *a)
{
    put(w, a->nonce, 4);
    put(w, a->role, 1);
    put(w, a->leaving, 1);
    put(w, a->asked_phase, 1);
    put(w, (uint32_t) a->troubles, 1);
    for (int32_t i = 0; i < a->troubles; i++) {
        put(w, (uint32_t) a->trouble[i].rank, 4);
        put(w, (uint32_t) a->trouble[i].pid, 4);
        put(w, a->trouble[i].phase, 1);
        put(w, (uint8_t) a->trouble[i].proc_state, 1);
    }
    put_ranks(w, &a->waiting);
}

static void put_symptom(struct writer *w, const struct wire_symptom *s)
{
    put(w, s->kind, 1);
    put(w, (uint32_t) s->node, 4);
    put(w, (uint32_t) s->rank, 4);
    put(w, (uint32_t) s->reporter, 4);
    put(w, s->count, 4);
    put(w, s->age, 8);
}

size_t ftree_wire_encode(const struct wire_message *m, ftree_time now, void *buf)
{
    struct writer w = {.p = buf};

    put(&w, WIRE_MAGIC, 1);
    put(&w, WIRE_VERSION, 1);
    put(&w, m->type, 1);
    put(&w, m->flags, 1);
    put(&w, m->id, 4);
    switch (m->type) {
        case WIRE_ACK:
            put(&w, m->u.ack, 4);
            break;
        case WIRE_SYMPTOM:
            put_symptom(&w, &m->u.symptom);
            break;
        case WIRE_PROBE:
            put(&w, m->u.probe.nonce, 4);
            put(&w, m->u.probe.round, 4);
            put(&w, (uint32_t) m->u.probe.rank, 4);
            put(&w, m->u.probe.age, 8);
            break;
        case WIRE_ANSWER:
            put_answer(&w, &m->u.answer);
            break;
        case WIRE_SWEEP:
            put(&w, m->u.round, 4);
            break;
        case WIRE_VERDICT_UP:
        case WIRE_VERDICT_DOWN:
            put_verdict(&w, &m->u.verdict, now);
            break;
        case WIRE_VICTIMS:
            put(&w, m->u.victims.class_, 1);
            put(&w, (uint32_t) m->u.victims.node, 4);
            put(&w, (uint32_t) m->u.victims.rank, 4);
            put_ranks(&w, &m->u.victims.ranks);
            break;
        default:
            break;
    }
    return w.len;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* `bad` is sticky, so a body is read straight through and judged once at its end. */
struct reader {
    const uint8_t *p;
    size_t left;
    bool bad;
    const struct ftree_job *job;
    ftree_time now;
};

static uint64_t get(struct reader *r, int bytes)
{
    uint64_t value = 0;

    if (r->left < (size_t) bytes) {
        r->bad = true;
        r->left = 0;
        return 0;
    }
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t) r->p[i] << (8 * i);
    r->p += bytes;
    r->left -= (size_t) bytes;
    return value;
}

/* A number of 0 .. limit - 1, or 0 and a bad message. */
static uint32_t get_below(struct reader *r, int bytes, uint64_t limit)
{
    uint64_t value = get(r, bytes);

    if (value >= limit) {
        r->bad = true;
        return 0;
    }
    return (uint32_t) value;
}

static int32_t get_node(struct reader *r)
{
    return (int32_t) get_below(r, 4, (uint64_t) r->job->nodes);
}

static int32_t get_rank(struct reader *r, bool may_be_none)
{
    uint32_t value = (uint32_t) get(r, 4);

    if (value == (uint32_t) FTREE_NONE && may_be_none)
        return FTREE_NONE;
    if (value >= (uint32_t) r->job->size) {
        r->bad = true;
        return 0;
    }
    return (int32_t) value;
}

static bool get_bool(struct reader *r)
{
    return get_below(r, 1, 2) != 0;
}

static ftree_time get_age(struct reader *r)
{
    uint64_t age = get(r, 8);

    return age < r->now ? r->now - age : 0;
}

/* State letters come from proc(5); anything else could spoil a terminal. */
static char get_proc_state(struct reader *r)
{
    char c = (char) get(r, 1);

    if (c && !memchr("RSDTtZXxKWPI", c, 12))
        r->bad = true;
    return c;
}

static void get_ranks(struct reader *r, struct ftree_ranks *ranks)
{
    int64_t sum = 0, next = 0;

    ranks->count = (int32_t) get_below(r, 4, (uint64_t) r->job->size + 1);
    ranks->ranges = (int32_t) get_below(r, 2, FTREE_RANGES_MAX + 1);
    for (int32_t i = 0; i < ranks->ranges && !r->bad; i++) {
        int32_t first = get_rank(r, false);
        int32_t last = get_rank(r, false);
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

static void get_evidence(struct reader *r, struct ftree_evidence *e)
{
    e->path = (uint8_t) get_below(r, 1, FTREE_PATHS + 1);
    e->role = (uint8_t) get_below(r, 1, FTREE_ROLES);
    e->reach = (uint8_t) get_below(r, 1, FTREE_REACH_COUNT);
    e->proc_state = get_proc_state(r);
    e->target = get_node(r);
    e->by = get_node(r);
    e->error = (int32_t) get_below(r, 4, 4096);
    e->at = get_age(r);
}

static bool same_node(const struct ftree_job *job, int32_t rank, int32_t node)
{
    return (job->rank_node ? job->rank_node[rank] : rank) == node;
}

static void get_verdict(struct reader *r, struct ftree_verdict *v)
{
    v->class_ = (uint8_t) get_below(r, 1, FTREE_CLASS_COUNT);
    v->kind = (uint8_t) get_below(r, 1, FTREE_KIND_COUNT);
    v->rule = (uint8_t) get_below(r, 1, FTREE_RULE_COUNT);
    v->confidence = (uint16_t) get_below(r, 2, 1001);
    v->node = get_node(r);
    v->rank = get_rank(r, true);
    v->pid = (int32_t) get_below(r, 4, INT32_MAX);
    v->fln = get_node(r);
    v->symptoms = (uint32_t) get(r, 4);
    v->first_symptom = get_age(r);
    v->located = get_age(r);
    v->evidences = (int32_t) get_below(r, 1, FTREE_EVIDENCE_MAX + 1);
    for (int32_t i = 0; i < v->evidences; i++)
        get_evidence(r, &v->evidence[i]);
    v->candidates = (int32_t) get_below(r, 1, FTREE_CANDIDATE_MAX + 1);
    for (int32_t i = 0; i < v->candidates; i++) {
        v->candidate[i].class_ = (uint8_t) get_below(r, 1, FTREE_CLASS_COUNT);
        v->candidate[i].confidence = (uint16_t) get_below(r, 2, 1001);
        v->candidate[i].ruled_out = get_bool(r);
    }
    get_ranks(r, &v->victims);
    if (!r->bad && v->rank != FTREE_NONE && !same_node(r->job, v->rank, v->node))
        r->bad = true;
    if (v->first_symptom > v->located)
        r->bad = true;
}

static void get_answer(struct reader *r, struct wire_answer *a)
{
    a->nonce = (uint32_t) get(r, 4);
    a->role = (uint8_t) get_below(r, 1, FTREE_ROLES);
    a->leaving = get_bool(r);
    a->asked_phase = (uint8_t) get_below(r, 1, FTREE_PHASE_COUNT);
    a->troubles = (int32_t) get_below(r, 1, WIRE_TROUBLES_MAX + 1);
    for (int32_t i = 0; i < a->troubles; i++) {
        a->trouble[i].rank = get_rank(r, false);
        a->trouble[i].pid = (int32_t) get_below(r, 4, INT32_MAX);
        a->trouble[i].phase = (uint8_t) get_below(r, 1, FTREE_PHASE_COUNT);
        a->trouble[i].proc_state = get_proc_state(r);
    }
    get_ranks(r, &a->waiting);
}

static void get_symptom(struct reader *r, struct wire_symptom *s)
{
    s->kind = (uint8_t) get_below(r, 1, 2);
    s->node = get_node(r);
    s->rank = get_rank(r, true);
    s->reporter = get_node(r);
    s->count = (uint32_t) get(r, 4);
    s->age = get(r, 8);
}

static void get_body(struct reader *r, struct wire_message *m)
{
    switch (m->type) {
        case WIRE_ACK:
            m->u.ack = (uint32_t) get(r, 4);
            break;
        case WIRE_SYMPTOM:
            get_symptom(r, &m->u.symptom);
            break;
        case WIRE_PROBE:
            m->u.probe.nonce = (uint32_t) get(r, 4);
            m->u.probe.round = (uint32_t) get(r, 4);
            m->u.probe.rank = get_rank(r, true);
            m->u.probe.age = get(r, 8);
            break;
        case WIRE_ANSWER:
            get_answer(r, &m->u.answer);
            break;
        case WIRE_SWEEP:
            m->u.round = (uint32_t) get(r, 4);
            break;
        case WIRE_VERDICT_UP:
        case WIRE_VERDICT_DOWN:
            get_verdict(r, &m->u.verdict);
            break;
        case WIRE_VICTIMS:
            m->u.victims.class_ = (uint8_t) get_below(r, 1, FTREE_CLASS_COUNT);
            m->u.victims.node = get_node(r);
            m->u.victims.rank = get_rank(r, true);
            get_ranks(r, &m->u.victims.ranks);
            break;
        default:
            break;
    }
}

int ftree_wire_decode(const struct ftree_job *job, ftree_time now, const void *buf, size_t len,
                      struct wire_message *m)
{
    struct reader r = {.p = buf, .left = len, .job = job, .now = now};

    memset(m, 0, sizeof(*m));
    if (len < WIRE_HEADER || len > FTREE_MESSAGE_MAX || get(&r, 1) != WIRE_MAGIC)
        return FTREE_ERR_MALFORMED;
    if (get(&r, 1) != WIRE_VERSION)
        return FTREE_ERR_VERSION;
    m->type = (uint8_t) get_below(&r, 1, WIRE_TYPE_COUNT);
    m->flags = (uint8_t) get_below(&r, 1, WIRE_FLAG_SUBSTITUTE + 1);
    m->id = (uint32_t) get(&r, 4);
    if (!r.bad)
        get_body(&r, m);
    return r.bad || r.left ? FTREE_ERR_MALFORMED : FTREE_OK;
}

const char *ftree_wire_type_name(int type)
{
    static const char *const name[] = {
#define WIRE_TYPE_NAME(id, text) text,
        WIRE_TYPES(WIRE_TYPE_NAME)
#undef WIRE_TYPE_NAME
    };
    return type >= 0 && type < WIRE_TYPE_COUNT ? name[type] : "?";
}
