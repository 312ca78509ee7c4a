/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/wire/codec.h"

#include "ftree/topology/tree.h"

#include <stdio.h>
#include <string.h>

/* ---- parts ----------------------------------------------------------------------------------- */

#define COMPONENT_BYTES 13
#define EVIDENCE_BYTES (5 + 12 + 8 + FTREE_DETAIL_MAX)
#define RANKS_BYTES (6 + 8 * FTREE_RANGES_MAX)
_Static_assert(WIRE_RELAY_BYTES + WIRE_HEADER + 2 * FTREE_NAME_MAX + FTREE_DETAIL_MAX +
                       COMPONENT_BYTES + 64 + FTREE_EVIDENCE_MAX * EVIDENCE_BYTES +
                       FTREE_CANDIDATE_MAX * 4 + 2 * RANKS_BYTES <=
                   FTREE_MESSAGE_MAX,
               "a verdict fits into a message");

static void check_ranks(struct wire_codec *c, const struct ftree_ranks *ranks)
{
    int64_t sum = 0, next = 0;

    for (int32_t i = 0; i < ranks->ranges && !c->bad; i++) {
        int32_t first = ranks->range[i].first, last = ranks->range[i].last;
        c->bad = first < next || last < first;
        sum += (int64_t) last - first + 1;
        next = last + 2; /* ranges that touch would be one */
    }
    c->bad |= sum > ranks->count;
}

static void code_ranks(struct wire_codec *c, struct ftree_ranks *ranks)
{
    WIRE_NUMBER(c, ranks->count, 4, c->reads ? c->job->size + 1 : 0);
    WIRE_NUMBER(c, ranks->ranges, 2, FTREE_RANGES_MAX + 1);
    for (int32_t i = 0; i < ranks->ranges && !c->bad; i++) {
        ftree_wire_rank(c, &ranks->range[i].first, false);
        ftree_wire_rank(c, &ranks->range[i].last, false);
    }
    if (c->reads)
        check_ranks(c, ranks);
}

/* The ranks of a component of several; `rank` is the lowest of them. */
static void code_component_ranks(struct wire_codec *c, int32_t rank, struct ftree_ranks *ranks)
{
    code_ranks(c, ranks);
    if (c->reads && ranks->count > 0)
        c->bad |= ranks->ranges == 0 || ranks->range[0].first != rank;
}

static void code_component(struct wire_codec *c, uint8_t *kind, int32_t *node, int32_t *rank,
                           int32_t *switch_)
{
    int32_t switches = c->reads && c->job->tree ? c->job->tree->switches : 0;

    WIRE_NUMBER(c, *kind, 1, FTREE_KIND_COUNT);
    ftree_wire_node(c, node);
    ftree_wire_rank(c, rank, true);
    WIRE_NUMBER(c, *switch_, 4, 0);
    if (!c->reads)
        return;
    c->bad |= (*kind == FTREE_KIND_SWITCH) != (*switch_ != FTREE_NONE) || *switch_ < FTREE_NONE ||
              *switch_ >= switches;
    if (!c->bad && *rank != FTREE_NONE)
        c->bad = (c->job->rank_node ? c->job->rank_node[*rank] : *rank) != *node;
}

/* When a verdict was withdrawn; 0 is kept for "it stands". */
static void code_withdrawn(struct wire_codec *c, ftree_time *at, int bytes, ftree_time unit)
{
    ftree_wire_age(c, at, bytes, unit);
    if (c->reads)
        *at += !*at;
}

/* In whole ms, up to seven weeks. */
static void code_duration(struct wire_codec *c, ftree_time *t)
{
    ftree_time ms = *t / FTREE_MS;

    if (ms > UINT32_MAX)
        ms = UINT32_MAX;
    WIRE_NUMBER(c, ms, 4, 0);
    if (c->reads)
        *t = ms * FTREE_MS;
}

static void code_evidence(struct wire_codec *c, struct ftree_evidence *e)
{
    WIRE_NUMBER(c, e->source, 1, FTREE_EVIDENCE_SOURCES);
    WIRE_NUMBER(c, e->path, 1, FTREE_PATHS + 1);
    WIRE_NUMBER(c, e->role, 1, FTREE_ROLES);
    WIRE_NUMBER(c, e->reach, 1, FTREE_REACH_COUNT);
    ftree_wire_proc_state(c, &e->proc_state);
    ftree_wire_node(c, &e->target);
    ftree_wire_node(c, &e->by);
    WIRE_NUMBER(c, e->error, 4, 4096);
    ftree_wire_age(c, &e->at, 8, 1);
    ftree_wire_text(c, e->detail, sizeof(e->detail));
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void code_ack(struct wire_codec *c, uint32_t *ack)
{
    WIRE_NUMBER(c, *ack, 4, 0);
}

static void code_round(struct wire_codec *c, uint32_t *round)
{
    WIRE_NUMBER(c, *round, 4, 0);
}

static void code_nothing(struct wire_codec *c, uint8_t *nothing)
{
    (void) c;
    (void) nothing;
}

void ftree_wire_symptom(struct wire_codec *c, struct ftree_symptom *s)
{
    WIRE_NUMBER(c, s->kind, 1, FTREE_SYMPTOM_COUNT);
    WIRE_NUMBER(c, s->severity, 1, FTREE_SEVERITY_COUNT);
    code_component(c, &s->about.kind, &s->about.node, &s->about.rank, &s->about.switch_);
    WIRE_NUMBER(c, s->reporters, 1, FTREE_REPORTERS_MAX + 1);
    for (int32_t i = 0; i < s->reporters; i++)
        ftree_wire_node(c, &s->reporter[i]);
    WIRE_NUMBER(c, s->count, 4, 0);
    WIRE_NUMBER(c, s->error, 4, 4096);
    ftree_wire_age(c, &s->first, 8, 1);
    ftree_wire_age(c, &s->last, 8, 1);
    ftree_wire_text(c, s->detail, sizeof(s->detail));
    c->bad |= c->reads && (s->first > s->last || s->reporters == 0 || s->count == 0);
}

static void code_symptom(struct wire_codec *c, struct ftree_symptom *s)
{
    ftree_wire_symptom(c, s);
}

static void code_probe(struct wire_codec *c, struct wire_probe *p)
{
    WIRE_NUMBER(c, p->nonce, 4, 0);
    WIRE_NUMBER(c, p->round, 4, 0);
    WIRE_NUMBER(c, p->ask, 1, RULES_ASKS);
    ftree_wire_rank(c, &p->rank, true);
    ftree_wire_age(c, &p->first, 8, 1);
}

static void code_answer(struct wire_codec *c, struct wire_answer *a)
{
    WIRE_NUMBER(c, a->nonce, 4, 0);
    WIRE_NUMBER(c, a->role, 1, FTREE_ROLES);
    WIRE_NUMBER(c, a->leaving, 1, 2);
    WIRE_NUMBER(c, a->asked_phase, 1, FTREE_PHASE_COUNT);
    ftree_wire_rank(c, &a->asked_peer, true);
    WIRE_NUMBER(c, a->asked_reported, 1, 2);
    WIRE_NUMBER(c, a->troubles, 1, WIRE_TROUBLES_MAX + 1);
    for (int32_t i = 0; i < a->troubles; i++) {
        ftree_wire_rank(c, &a->trouble[i].rank, false);
        WIRE_NUMBER(c, a->trouble[i].pid, 4, INT32_MAX);
        WIRE_NUMBER(c, a->trouble[i].phase, 1, FTREE_PHASE_COUNT);
        ftree_wire_proc_state(c, &a->trouble[i].proc_state);
    }
    code_ranks(c, &a->waiting);
}

static void code_state(struct wire_codec *c, struct wire_state *s)
{
    WIRE_NUMBER(c, s->nonce, 4, 0);
    ftree_wire_state(c, &s->state);
}

static void code_log(struct wire_codec *c, struct wire_log *l)
{
    WIRE_NUMBER(c, l->nonce, 4, 0);
    ftree_wire_log(c, &l->log);
}

static void code_indirect_probe(struct wire_codec *c, struct wire_indirect_probe *v)
{
    WIRE_NUMBER(c, v->nonce, 4, 0);
    ftree_wire_node(c, &v->target);
    WIRE_NUMBER(c, v->burst, 1, 2);
}

static void code_indirect_result(struct wire_codec *c, struct wire_indirect_result *s)
{
    WIRE_NUMBER(c, s->nonce, 4, 0);
    ftree_wire_node(c, &s->target);
    WIRE_NUMBER(c, s->path, 1, FTREE_PATHS);
    WIRE_NUMBER(c, s->reach, 1, FTREE_REACH_COUNT);
    for (int out = 0; out < 2; out++)
        WIRE_NUMBER(c, s->way[out], 1, RULES_WAY_NO_LARGE + 1);
}

static void code_packet(struct wire_codec *c, struct wire_packet *p)
{
    WIRE_NUMBER(c, p->nonce, 4, 0);
    WIRE_NUMBER(c, p->number, 1, WIRE_BURST_PACKETS);
    WIRE_NUMBER(c, p->back, 1, 2);
    WIRE_NUMBER(c, p->sent, 8, 0);
}

static void code_heard(struct wire_codec *c, struct wire_heard *h)
{
    const uint64_t all = (uint64_t) 1 << WIRE_BURST_PACKETS;

    WIRE_NUMBER(c, h->nonce, 4, 0);
    WIRE_NUMBER(c, h->over, 1, 2);
    for (int path = 0; path < FTREE_PATHS; path++) {
        struct wire_way *w = &h->way[path];
        WIRE_NUMBER(c, w->sent, 8, all);
        WIRE_NUMBER(c, w->heard, 8, all);
        WIRE_NUMBER(c, w->late, 8, all);
        WIRE_NUMBER(c, w->worst_us, 4, 0);
        c->bad |= c->reads && w->late & ~w->heard;
    }
    ftree_wire_text(c, h->losses, sizeof(h->losses));
}

static void code_verdict(struct wire_codec *c, struct ftree_verdict *v)
{
    bool withdrawn = v->withdrawn != 0;

    WIRE_NUMBER(c, v->class_, 1, FTREE_CLASS_COUNT);
    WIRE_NUMBER(c, v->confidence, 2, 1001);
    ftree_wire_text(c, v->rule, sizeof(v->rule));
    ftree_wire_text(c, v->because, sizeof(v->because));
    ftree_wire_text(c, v->raised_by, sizeof(v->raised_by));
    WIRE_NUMBER(c, v->id, 4, 0);
    code_component(c, &v->kind, &v->node, &v->rank, &v->switch_);
    WIRE_NUMBER(c, v->pid, 4, INT32_MAX);
    ftree_wire_node(c, &v->fln);
    WIRE_NUMBER(c, v->symptoms, 4, 0);
    WIRE_NUMBER(c, v->symptom_kinds, 8, (uint64_t) 1 << FTREE_SYMPTOM_COUNT);
    ftree_wire_age(c, &v->first_symptom, 8, 1);
    ftree_wire_age(c, &v->located, 8, 1);
    WIRE_NUMBER(c, withdrawn, 1, 2);
    code_withdrawn(c, &v->withdrawn, 8, 1);
    if (c->reads && !withdrawn)
        v->withdrawn = 0;
    code_duration(c, &v->holds_back);
    WIRE_NUMBER(c, v->ticket, 1, FTREE_TICKET_COUNT);
    WIRE_NUMBER(c, v->evidences, 1, FTREE_EVIDENCE_MAX + 1);
    for (int32_t i = 0; i < v->evidences; i++)
        code_evidence(c, &v->evidence[i]);
    WIRE_NUMBER(c, v->candidates, 1, FTREE_CANDIDATE_MAX + 1);
    for (int32_t i = 0; i < v->candidates; i++) {
        WIRE_NUMBER(c, v->candidate[i].class_, 1, FTREE_CLASS_COUNT);
        WIRE_NUMBER(c, v->candidate[i].confidence, 2, 1001);
        WIRE_NUMBER(c, v->candidate[i].ruled_out, 1, 2);
    }
    code_ranks(c, &v->victims);
    code_component_ranks(c, v->rank, &v->component);
    c->bad |= c->reads && v->first_symptom > v->located;
}

static void code_victims(struct wire_codec *c, struct wire_victims *v)
{
    WIRE_NUMBER(c, v->message, 4, 0);
    code_ranks(c, &v->ranks);
}

/* As they are: they are read by their receiver. */
static void code_bytes(struct wire_codec *c, const uint8_t **bytes, size_t len)
{
    if (c->reads)
        *bytes = c->p + c->at;
    else if (len > 0)
        memcpy(c->p + c->at, *bytes, len);
    c->at += len;
    c->bad |= c->reads && c->at > c->len;
}

static void code_relay(struct wire_codec *c, struct wire_relay *r)
{
    ftree_wire_node(c, &r->node);
    WIRE_NUMBER(c, r->len, 2, c->reads ? c->len - c->at + 1 : 0);
    code_bytes(c, &r->bytes, r->len);
}

static void code_fabric(struct wire_codec *c, struct wire_fabric *w)
{
    WIRE_NUMBER(c, w->nonce, 4, 0);
    WIRE_NUMBER(c, w->step, 1, WIRE_FABRIC_STEPS);
    WIRE_NUMBER(c, w->says, 1, FTREE_FABRIC_COUNT);
    ftree_wire_node(c, &w->node);
    WIRE_NUMBER(c, w->us, 4, 0);
    WIRE_NUMBER(c, w->len, 2, FTREE_FABRIC_BYTES + 1);
    code_bytes(c, &w->bytes, w->len);
}

static void code_part(struct wire_codec *c, struct wire_part *p)
{
    WIRE_NUMBER(c, p->number, 4, 0);
    WIRE_NUMBER(c, p->part, 2, 0);
    WIRE_NUMBER(c, p->parts, 2, 0);
    WIRE_NUMBER(c, p->len, 2, c->reads ? c->len - c->at + 1 : 0);
    code_bytes(c, &p->bytes, p->len);
    c->bad |= c->reads && (p->part >= p->parts || p->len > WIRE_PART_BYTES);
}

/* ---- summaries ------------------------------------------------------------------------------- */

#define SUMMARY_WITHDRAWN 1
#define SUMMARY_OWN_RULE 2 /* else that of the summary before */
#define SUMMARY_RANKS 4 /* its component has several */
#define SUMMARY_HOLDS_BACK 8
#define SUMMARY_BYTES_MAX (1 + 2 + 4 + COMPONENT_BYTES + 4 + 1 + 3 * 5 + 4 + 1 + FTREE_NAME_MAX)

/* A microsecond is the unit, and 2^40 of them are twelve days. */
#define SHORT_AGE 5, 1000

/* ranks: those of the component. */
static void code_summary(struct wire_codec *c, struct summary *o, bool own_rule, char *rule,
                         struct ftree_ranks *ranks)
{
    uint8_t flags =
        (uint8_t) ((o->withdrawn ? SUMMARY_WITHDRAWN : 0) | (own_rule ? SUMMARY_OWN_RULE : 0) |
                   (o->component ? SUMMARY_RANKS : 0) |
                   (o->holds_back ? SUMMARY_HOLDS_BACK : 0));

    WIRE_NUMBER(c, o->class_, 1, FTREE_CLASS_COUNT);
    WIRE_NUMBER(c, o->confidence, 2, 1001);
    WIRE_NUMBER(c, o->id, 4, 0);
    code_component(c, &o->kind, &o->node, &o->rank, &o->switch_);
    ftree_wire_node(c, &o->fln);
    WIRE_NUMBER(c, flags, 1, 16);
    ftree_wire_age(c, &o->first_symptom, SHORT_AGE);
    ftree_wire_age(c, &o->located, SHORT_AGE);
    if (flags & SUMMARY_WITHDRAWN)
        code_withdrawn(c, &o->withdrawn, SHORT_AGE);
    if (flags & SUMMARY_HOLDS_BACK)
        code_duration(c, &o->holds_back);
    if (flags & SUMMARY_OWN_RULE)
        ftree_wire_text(c, rule, FTREE_NAME_MAX);
    if (flags & SUMMARY_RANKS) {
        code_component_ranks(c, o->rank, ranks);
        c->bad |= c->reads && ranks->count == 0;
        if (c->reads)
            o->component = ranks;
    }
    c->bad |= c->reads && o->first_symptom > o->located;
}

bool ftree_wire_put_summary(struct wire_summaries *w, ftree_time now, const struct summary *o,
                            const char *rule)
{
    struct wire_codec c = {.p = w->bytes, .at = w->len, .now = now};
    bool own_rule = w->n == 0 || strcmp(rule, w->rule);

    if (w->len + SUMMARY_BYTES_MAX + (o->component ? RANKS_BYTES : 0) > sizeof(w->bytes))
        return false;
    if (own_rule)
        snprintf(w->rule, sizeof(w->rule), "%s", rule);
    code_summary(&c, (struct summary *) o, own_rule, w->rule,
                 (struct ftree_ranks *) o->component); /* which are not written to */
    w->len = c.at;
    w->n++;
    return true;
}

struct wire_summary_list ftree_wire_summary_list(const struct wire_summaries *w)
{
    return (struct wire_summary_list){.n = w->n, .len = w->len, .bytes = w->bytes};
}

bool ftree_wire_get_summary(const struct ftree_job *job, ftree_time now,
                            struct wire_summary_list *t, struct summary *o,
                            char rule[FTREE_NAME_MAX])
{
    struct wire_codec c = {
        .reads = true, .p = (uint8_t *) t->bytes, .len = t->len, .job = job, .now = now};

    if (t->n == 0)
        return false;
    memset(o, 0, sizeof(*o));
    t->component.count = t->component.ranges = 0; /* to clear its table, too, would be most of the work */
    code_summary(&c, o, false, rule, &t->component);
    if (c.bad)
        return false;
    t->bytes += c.at;
    t->len -= c.at;
    t->n--;
    return true;
}

/* Each is read once to be checked, and again by its reader. */
static void read_summaries(struct wire_codec *c, struct wire_summary_list *t)
{
    struct wire_summary_list rest;
    struct summary o;
    char rule[FTREE_NAME_MAX] = "";

    t->bytes = c->p + c->at;
    t->len = c->len - c->at;
    rest = *t;
    while (ftree_wire_get_summary(c->job, c->now, &rest, &o, rule))
        ;
    c->bad |= rest.n > 0;
    c->at = c->len - rest.len;
}

static void code_summaries(struct wire_codec *c, struct wire_summary_list *t)
{
    WIRE_NUMBER(c, t->n, 2, 0);
    if (c->reads)
        read_summaries(c, t);
    else
        code_bytes(c, &t->bytes, t->len);
}

/* ---- messages -------------------------------------------------------------------------------- */

#define WIRE_TYPE_BODY(id, text, body, flags, reliable) \
    static void id##_body(struct wire_codec *c, struct wire_message *m) \
    { \
        code_##body(c, &m->u.body); \
    }
WIRE_TYPES(WIRE_TYPE_BODY)
#undef WIRE_TYPE_BODY

static const struct {
    const char *name;
    bool reliable;
    uint8_t flags;
    uint16_t size; /* of the body: the largest has thousands of bytes, most have four */
    void (*code)(struct wire_codec *c, struct wire_message *m);
} types[] = {
#define WIRE_TYPE_ROW(id, text, body, flags, reliable) \
    {text, reliable, flags, sizeof(((struct wire_message *) 0)->u.body), id##_body},
    WIRE_TYPES(WIRE_TYPE_ROW)
#undef WIRE_TYPE_ROW
};

size_t ftree_wire_encode(const struct wire_message *m, ftree_time now, void *buf)
{
    struct wire_codec c = {.p = buf, .now = now};

    ftree_wire_number(&c, WIRE_MAGIC, 1, 0);
    ftree_wire_number(&c, WIRE_VERSION, 1, 0);
    ftree_wire_number(&c, m->type, 1, 0);
    ftree_wire_number(&c, m->flags, 1, 0);
    ftree_wire_number(&c, m->id, 4, 0);
    if (m->type < WIRE_TYPE_COUNT)
        types[m->type].code(&c, (struct wire_message *) m); /* which is not written to */
    return c.at;
}

int ftree_wire_decode(const struct ftree_job *job, ftree_time now, const void *buf, size_t len,
                      struct wire_message *m)
{
    struct wire_codec c = {.reads = true, .p = (uint8_t *) buf, .len = len, .job = job, .now = now};

    if (len < WIRE_HEADER || len > FTREE_MESSAGE_MAX ||
        ftree_wire_number(&c, 0, 1, 0) != WIRE_MAGIC)
        return FTREE_ERR_MALFORMED;
    if (ftree_wire_number(&c, 0, 1, 0) != WIRE_VERSION)
        return FTREE_ERR_VERSION;
    m->type = (uint8_t) ftree_wire_number(&c, 0, 1, WIRE_TYPE_COUNT);
    m->flags = (uint8_t) ftree_wire_number(&c, 0, 1, 0);
    m->id = (uint32_t) ftree_wire_number(&c, 0, 4, 0);
    if (c.bad || m->flags & ~types[m->type].flags)
        return FTREE_ERR_MALFORMED;
    memset(&m->u, 0, types[m->type].size);
    types[m->type].code(&c, m);
    return c.bad || c.at < c.len ? FTREE_ERR_MALFORMED : FTREE_OK;
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
        while (ftree_wire_get_summary(job, written, &m.u.summaries, &o, rule))
            ftree_wire_put_summary(&w, now, &o, rule);
        m.u.summaries = ftree_wire_summary_list(&w);
    }
    ftree_wire_encode(&m, now, out);
    return FTREE_OK;
}

const char *ftree_wire_type_name(int type)
{
    return type >= 0 && type < WIRE_TYPE_COUNT ? types[type].name : "?";
}

bool ftree_wire_is_reliable(int type)
{
    return type >= 0 && type < WIRE_TYPE_COUNT && types[type].reliable;
}
