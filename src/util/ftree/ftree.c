/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/ftree_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- small things ---------------------------------------------------------------------------- */

const char *ftree_name(const struct ftree *ft, int32_t node, char buf[16])
{
    return ftree_node_name(ft->job, node, buf, 16);
}

int32_t ftree_node_of(const struct ftree *ft, int32_t rank)
{
    return ft->job->rank_node ? ft->job->rank_node[rank] : rank;
}

int32_t ftree_ranks_of(const struct ftree_job *job, int32_t node)
{
    return job->node_first ? job->node_first[node + 1] - job->node_first[node] : 1;
}

int32_t ftree_rank_at(const struct ftree_job *job, int32_t node, int32_t i)
{
    return job->node_first ? job->node_ranks[job->node_first[node] + i] : node;
}

void *ftree_alloc(struct ftree *ft, void *ptr, size_t size)
{
    if (ft->io->alloc)
        return ft->io->alloc(ft->io_ctx, ptr, size);
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

bool ftree_reserve(struct ftree *ft, void *items, int32_t n, int32_t *room, size_t size)
{
    void *array;

    if (n <= *room)
        return true;
    /* `items` points to a pointer of another type: copied, for an assignment would be an alias */
    memcpy(&array, items, sizeof(array));
    array = ftree_alloc(ft, array, (size_t) n * size);
    if (!array)
        return false;
    memcpy(items, &array, sizeof(array));
    *room = n;
    return true;
}

void *ftree_push(struct ftree *ft, void *items, int32_t *n, int32_t *room, size_t size)
{
    uint8_t *array, *item;

    if (*n == *room && !ftree_reserve(ft, items, *room ? 2 * *room : 4, room, size))
        return NULL;
    memcpy(&array, items, sizeof(array));
    item = array + (size_t) *n * size;
    memset(item, 0, size);
    ++*n;
    return item;
}

void ftree_trace_line(struct ftree *ft, const char *format, ...)
{
    char line[256];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    ft->io->trace(ft->io_ctx, line);
}

int ftree_send(struct ftree *ft, ftree_time now, const struct ftree_route *to,
               struct wire_message *m)
{
    uint8_t buf[FTREE_MESSAGE_MAX];

    m->id = ++ft->next_id;
    return ft->io->send(ft->io_ctx, to, buf, ftree_wire_encode(m, now, buf));
}

void ftree_send_all_paths(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                          struct wire_message *m)
{
    struct ftree_route by = *to;

    for (int path = 0; path < FTREE_PATHS; path++) {
        by.path = (uint8_t) path;
        if (ft->job->has_path[path])
            ftree_send(ft, now, &by, m);
    }
}

/* RFC 6298, section 2, with bounds of our own and K = 4, alpha = 1/8, beta = 1/4. */
void ftree_rtt(struct ftree *ft, ftree_time rtt)
{
    ftree_time error;

    /* an answer that waited here while this process was stopped says nothing about the network */
    rtt = ftree_min(rtt, ft->cfg.rto_max);
    error = rtt > ft->srtt ? rtt - ft->srtt : ft->srtt - rtt;
    if (ft->srtt == 0) {
        ft->srtt = rtt;
        ft->rttvar = rtt / 2;
    } else {
        ft->rttvar = ft->rttvar - ft->rttvar / 4 + error / 4;
        ft->srtt = ft->srtt - ft->srtt / 8 + rtt / 8;
    }
    ft->rto = ftree_min(ft->cfg.rto_max, ftree_max(ft->cfg.rto_min, ft->srtt + 4 * ft->rttvar));
}

/* ---- life ------------------------------------------------------------------------------------ */

void ftree_config_default(struct ftree_config *cfg)
{
    *cfg = (struct ftree_config){.stall = 1000 * FTREE_MS,
                                 .stall_repeat_max = 10000 * FTREE_MS,
                                 .rto_min = 150 * FTREE_MS,
                                 .rto_max = 1000 * FTREE_MS,
                                 .silence = 900 * FTREE_MS,
                                 .settle = 150 * FTREE_MS,
                                 .gather = 400 * FTREE_MS,
                                 .late = 200 * FTREE_MS,
                                 .linger = 2000 * FTREE_MS,
                                 .group_min = 500 * FTREE_MS,
                                 .group_max = 10000 * FTREE_MS,
                                 .recheck = 1000 * FTREE_MS,
                                 .expire = 10000 * FTREE_MS,
                                 .pending_max = 256};
}

static bool job_is_valid(const struct ftree_job *job)
{
    return job->nodes > 0 && job->size > 0 && job->fanout > 0 && job->rules &&
           (!job->tree || job->tree->nodes == job->nodes) &&
           (!job->rank_node) == (!job->node_first) && (!job->rank_node) == (!job->node_ranks) &&
           (job->rank_node || job->size == job->nodes);
}

int ftree_create(const struct ftree_job *job, int32_t self, const struct ftree_config *cfg,
                 const struct ftree_io *io, void *io_ctx, struct ftree **out)
{
    struct ftree *ft;

    *out = NULL;
    if (!job_is_valid(job) || self < 0 || self >= job->nodes || !io->send || !io->look)
        return FTREE_ERR_INVALID;
    ft = io->alloc ? io->alloc(io_ctx, NULL, sizeof(*ft)) : malloc(sizeof(*ft));
    if (!ft)
        return FTREE_ERR_NOMEM;
    memset(ft, 0, sizeof(*ft));
    ft->job = job;
    ft->io = io;
    ft->io_ctx = io_ctx;
    if (cfg)
        ft->cfg = *cfg;
    else
        ftree_config_default(&ft->cfg);
    ft->topo = (struct topo){
        .nodes = job->nodes, .fanout = job->fanout, .seed = job->seed, .tree = job->tree};
    ft->rules = job->rules;
    ft->self = self;
    ft->rto = ft->cfg.rto_min;
    *out = ft;
    return FTREE_OK;
}

void ftree_destroy(struct ftree *ft)
{
    if (!ft)
        return;
    ftree_outbox_clear(ft);
    ftree_alloc(ft, ft->stalls.items, 0);
    ftree_alloc(ft, ft->findings.items, 0);
    ftree_alloc(ft, ft->halts.items, 0);
    ftree_alloc(ft, ft->forwards.items, 0);
    ftree_alloc(ft, ft->groups.items, 0);
    ftree_alloc(ft, ft->suspects.items, 0);
    ftree_alloc(ft, ft->visits.items, 0);
    ftree_alloc(ft, ft->neighbours.items, 0);
    ftree_spread_clear(ft);
    ftree_alloc(ft, ft->outbox.items, 0);
    ftree_alloc(ft, ft->confirms.items, 0);
    ftree_alloc(ft, ft->by_node.items, 0);
    ftree_alloc(ft, ft->rule_names.items, 0);
    ftree_alloc(ft, ft->batch.items, 0);
    ftree_alloc(ft, ft->mutes.items, 0);
    ftree_alloc(ft, ft->goodbyes.items, 0);
    ftree_alloc(ft, ft, 0);
}

/* ---- messages -------------------------------------------------------------------------------- */

void ftree_acknowledge(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                       enum wire_type type, uint8_t flags, uint32_t id)
{
    struct wire_message m;

    m.type = (uint8_t) type;
    m.flags = flags;
    m.u.ack = id;
    ftree_send(ft, now, to, &m);
}

/* Another node shows that a path works, if only by its kernel's refusal. */
static void note_witness(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                         enum ftree_reach reach)
{
    struct witness *heard = ft->heard[path];

    if (reach < FTREE_REACH_CONNECTED)
        return;
    ftree_neighbour_heard(ft, now, node, path);
    ftree_silence_heard(ft, now, node, path);
    if (heard[0].at > 0 && heard[0].node != node)
        heard[1] = heard[0];
    heard[0] = (struct witness){.at = now, .node = node, .reach = (uint8_t) reach};
}

static void heard_from(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                       const struct wire_message *m)
{
    note_witness(ft, now, from, path, FTREE_REACH_ANSWERED);
    if (m->type == WIRE_ANSWER && m->u.answer.role == FTREE_ROLE_DEPUTY)
        return; /* its agent is as mute as before */
    ftree_withdraw_heard(ft, now, from, path);
    for (int32_t i = 0; i < ft->mutes.n; i++)
        if (ft->mutes.items[i].node == from && !ft->mutes.items[i].busy) {
            FTREE_DROP(ft->mutes, i);
            ftree_outbox_heard(ft, now, from);
            return;
        }
}

static void dispatch(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                     uint64_t conn, const struct wire_message *m)
{
    bool substitute = m->flags & WIRE_FLAG_SUBSTITUTE;

    switch (m->type) {
        case WIRE_ACK:
            ftree_outbox_ack(ft, now, from, m->u.ack);
            if (m->flags & WIRE_FLAG_NOBODY_WAITS)
                ftree_spread_nobody_waits(ft, now, from, m->u.ack);
            break;
        case WIRE_BUSY:
            ftree_outbox_busy(ft, now, from, m->u.ack);
            break;
        case WIRE_SYMPTOM:
            if (ft->leaving)
                ftree_leave_say_so(ft, now, from);
            else
                ftree_correlate(ft, now, &m->u.symptom, substitute);
            break;
        case WIRE_PROBE:
            ftree_answer(ft, now, from, path, conn, &m->u.probe);
            break;
        case WIRE_ANSWER:
            if (!ftree_withdraw_answer(ft, now, from, path, &m->u.answer) &&
                !ftree_visit_answer(ft, now, from, path, &m->u.answer))
                ftree_probe_answer(ft, now, from, path, &m->u.answer);
            break;
        case WIRE_STATE:
            ftree_probe_state(ft, now, from, &m->u.state);
            break;
        case WIRE_LOG:
            ftree_probe_log(ft, now, from, &m->u.log);
            break;
        case WIRE_VISIT:
            ftree_visit(ft, now, from, &m->u.visit);
            break;
        case WIRE_SEEN:
            ftree_probe_seen(ft, now, from, &m->u.seen);
            break;
        case WIRE_SWEEP:
            ftree_sweep_heard(ft, now, m->u.round, from);
            break;
        case WIRE_VERDICT_UP:
            ftree_spread_up(ft, now, from, &m->u.verdict, m->flags & WIRE_FLAG_MORE);
            break;
        case WIRE_VERDICT_DOWN: /* what came of it is said with the acknowledgment */
            break;
        case WIRE_VICTIMS:
            ftree_spread_victims(ft, now, from, &m->u.victims);
            break;
        case WIRE_GOODBYE:
            ftree_leave_goodbye(ft, now, from);
            break;
        case WIRE_RELEASE:
            ftree_leave_release(ft, now);
            break;
    }
}

/* A probe is acknowledged by its answer, and an acknowledgment by nothing; nor are victims that are
 * one. */
static bool is_acknowledged(const struct ftree *ft, int32_t from, const struct wire_message *m)
{
    switch (m->type) {
        case WIRE_VICTIMS:
            return !ftree_outbox_waits_for(ft, from, m->u.victims.told);
        case WIRE_ACK:
        case WIRE_BUSY:
        case WIRE_PROBE:
        case WIRE_ANSWER:
        case WIRE_STATE:
        case WIRE_LOG:
        case WIRE_VISIT:
        case WIRE_SEEN:
            return false;
        default:
            return true;
    }
}

int ftree_receive(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                  uint64_t conn, const void *bytes, size_t len)
{
    struct ftree_route back = {.node = from, .path = (uint8_t) path, .conn = conn};
    enum told told = TOLD;
    struct wire_message m;
    int rc;

    if (from < 0 || from >= ft->job->nodes || from == ft->self || path >= FTREE_PATHS)
        return FTREE_ERR_INVALID;
    rc = ftree_wire_decode(ft->job, now, bytes, len, &m);
    if (rc)
        return rc;
    heard_from(ft, now, from, path, &m);
    if (m.type == WIRE_SYMPTOM && !ft->leaving &&
        ftree_correlate_is_overloaded(ft, now, &m.u.symptom)) {
        ftree_acknowledge(ft, now, &back, WIRE_BUSY, 0, m.id);
        return FTREE_OK;
    }
    if (m.type == WIRE_VERDICT_DOWN)
        told = ftree_spread_down(ft, now, from, path, &m);
    if (is_acknowledged(ft, from, &m) && told != TOLD_ASKING)
        ftree_acknowledge(ft, now, &back, WIRE_ACK,
                          told == TOLD_NOBODY_WAITS ? WIRE_FLAG_NOBODY_WAITS : 0, m.id);
    dispatch(ft, now, from, path, conn, &m);
    return FTREE_OK;
}

int ftree_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                  enum ftree_role role, enum ftree_reach reach, int error)
{
    if (node < 0 || node >= ft->job->nodes || path >= FTREE_PATHS || role >= FTREE_ROLES ||
        reach >= FTREE_REACH_COUNT)
        return FTREE_ERR_INVALID;
    note_witness(ft, now, node, path, reach);
    ftree_visit_reached(ft, now, node, path, role, reach);
    ftree_probe_reached(ft, now, node, path, role, reach, error);
    if (role == FTREE_ROLE_AGENT)
        ftree_outbox_reached(ft, now, node, reach);
    return FTREE_OK;
}

/* ---- time ------------------------------------------------------------------------------------ */

ftree_time ftree_deadline(const struct ftree *ft)
{
    ftree_time t = ftree_min(ftree_min(ftree_symptom_deadline(ft), ftree_probe_deadline(ft)),
                             ftree_min(ftree_spread_deadline(ft), ftree_outbox_deadline(ft)));

    t = ftree_min(t, ftree_min(ftree_correlate_deadline(ft), ftree_withdraw_deadline(ft)));
    t = ftree_min(t, ftree_min(ftree_group_deadline(ft), ftree_visit_deadline(ft)));
    if (ft->leaving && !ft->may_go)
        t = ftree_min(t, ft->leave_until);
    return t;
}

/* Time in which this agent did not run counts for nobody.  (A tick and a timer of the caller's may tell
 * of the same pause.) */
static void excuse(struct ftree *ft, ftree_time now, ftree_time late)
{
    bool anew = late >= ft->cfg.stall / 2;

    if (late <= ft->cfg.late || now - late < ft->excused)
        return;
    ft->excused = now;
    ftree_probe_excuse(ft, now, late, anew);
    if (anew)
        ftree_symptom_woke(ft, now);
}

/* How late ticks come shows how much CPU this agent gets: a moving mean over the last few. */
void ftree_late(struct ftree *ft, ftree_time now, ftree_time late)
{
    if (now > ft->lag_at + 5 * ft->cfg.late)
        ft->lag = late;
    else
        ft->lag = ft->lag - ft->lag / 4 + late / 4;
    ft->lag_at = now;
    excuse(ft, now, late);
}

void ftree_tick(struct ftree *ft, ftree_time now)
{
    ftree_time due = ftree_deadline(ft);

    ftree_late(ft, now, due != FTREE_NEVER && now > due ? now - due : 0);
    ftree_correlate_tick(ft, now);
    ftree_symptom_tick(ft, now);
    ftree_visit_tick(ft, now);
    ftree_probe_tick(ft, now);
    ftree_spread_tick(ft, now);
    ftree_withdraw_tick(ft, now);
    ftree_outbox_tick(ft, now);
    ftree_group_tick(ft, now); /* what all these did may have been the last of a group */
    ftree_leave_tick(ft, now);
}

void ftree_use_rules(struct ftree *ft, ftree_time now, const struct ftree_rules *rules)
{
    if (ft->rules == rules)
        return;
    ft->rules = rules;
    ftree_trace(ft, "uses the rules %s", rules->name);
    ftree_group_reason_anew(ft, now);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* What was found longer ago has been told: on its way up it is told again every two seconds. */
#define RESUME_AGE (2000 * FTREE_MS)

int ftree_restore(struct ftree *ft, ftree_time now, const struct ftree_verdict *v)
{
    struct outline o;
    int32_t switches = ft->job->tree ? ft->job->tree->switches : 0;
    struct known *k;

    if (v->class_ >= FTREE_CLASS_COUNT || v->kind >= FTREE_KIND_COUNT || v->node < 0 ||
        v->node >= ft->job->nodes || v->rank < FTREE_NONE || v->rank >= ft->job->size ||
        v->switch_ < FTREE_NONE || v->switch_ >= switches ||
        (v->kind == FTREE_KIND_SWITCH) != (v->switch_ != FTREE_NONE))
        return FTREE_ERR_INVALID;
    o = ftree_verdict_outline(ft, v);
    k = ftree_verdict_by_id(ft, &o);
    if (k) {
        if (v->withdrawn && !k->v.withdrawn) {
            k->v.withdrawn = v->withdrawn;
            k->telling = 0; /* nobody need wait for victims any more */
        } else if (!v->untold) {
            ftree_spread_was_told(ft, k);
        }
        ftree_withdraw_watch(ft, now, k);
        return FTREE_OK;
    }
    k = ftree_verdict_add(ft, &o);
    if (!k)
        return FTREE_ERR_NOMEM;
    k->cuts = ftree_withdraw_cuts(ft, &o);
    k->ends_agent = ftree_verdict_ends_agent(ft, &o);
    k->told_down = k->reported = true;
    if (v->evidences > 0)
        ftree_verdict_keep(ft, k, v);
    if (v->fln == ft->self && v->id > ft->next_id)
        ft->next_id = v->id; /* nobody may take a new verdict for one that is over */
    if (v->untold && !v->withdrawn && !v->own_only && now < v->located + RESUME_AGE)
        ftree_spread_resume(ft, now, k);
    ftree_withdraw_watch(ft, now, k);
    ftree_withdraw_forget(ft, now);
    return FTREE_OK;
}

bool ftree_verdict_at(const struct ftree *ft, int32_t i, struct ftree_verdict *v)
{
    if (i < 0 || i >= ft->known.n)
        return false;
    memset(v, 0, sizeof(*v));
    ftree_verdict_load(ft, &ft->known.items[i], v);
    return true;
}
