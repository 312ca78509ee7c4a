/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/ftree_int.h"

#include "ftree/base/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------ */

void ftree_config_default(struct ftree_config *cfg)
{
    *cfg = (struct ftree_config){.stall = 1000 * FTREE_MS,
                                 .stall_repeat_max = 10000 * FTREE_MS,
                                 .sample = 400 * FTREE_MS,
                                 .alpha = 0.001,
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

static void join(struct ftree_whole *w)
{
    w->ft.topo = &w->topo;
    w->ft.state = &w->state;
    w->ft.net = &w->net;
    w->ft.observe = &w->observe;
    w->ft.intake = &w->intake;
    w->ft.examine = &w->examine;
    w->examine.waits_for = ftree_symptom_waits_for;
    w->ft.announce = &w->announce;
    w->ft.leave = &w->leave;
    w->ft.waitfor = &w->waitfor;
    w->ft.survey = &w->survey;
    w->ft.straggle = &w->straggle;
}

int ftree_create(const struct ftree_job *job, int32_t self, const struct ftree_config *cfg,
                 const struct ftree_io *io, void *io_ctx, struct ftree **out)
{
    struct ftree_whole *w;
    struct ftree *ft;

    *out = NULL;
    if (!job_is_valid(job) || self < 0 || self >= job->nodes || !io->send || !io->look)
        return FTREE_ERR_INVALID;
    w = io->alloc ? io->alloc(io_ctx, NULL, sizeof(*w)) : malloc(sizeof(*w));
    if (!w)
        return FTREE_ERR_NOMEM;
    memset(w, 0, sizeof(*w));
    ft = &w->ft;
    join(w);
    ft->job = job;
    ft->io = io;
    ft->io_ctx = io_ctx;
    if (cfg)
        ft->cfg = *cfg;
    else
        ftree_config_default(&ft->cfg);
    w->topo = ftree_topo_of(job);
    ft->rules = job->rules;
    ft->self = self;
    ft->net->rto = ft->cfg.rto_min;
    *out = ft;
    return FTREE_OK;
}

void ftree_destroy(struct ftree *ft)
{
    if (!ft)
        return;
    ftree_outbox_clear(ft);
    ftree_parcel_clear(ft);
    ftree_observe_clear(ft);
    ftree_intake_clear(ft);
    ftree_examine_clear(ft);
    ftree_waitfor_clear(ft);
    ftree_survey_clear(ft);
    ftree_straggle_clear(ft);
    ftree_announce_clear(ft);
    ftree_state_clear(ft);
    ftree_alloc(ft, ft, 0); /* the first of all */
}

/* ---- where the steps meet -------------------------------------------------------------------- */

static struct known *verdict_of(struct ftree *ft, const struct ftree_event *e)
{
    return ftree_verdict_by_id(ft,
                               &(struct summary){.node = e->node, .fln = e->by, .id = e->number});
}

/* Its author takes another way. */
static void return_message(struct ftree *ft, ftree_time now, const struct ftree_event *e)
{
    const struct message l = {
        .to = e->node, .id = e->number, .type = e->u.message.type, .payload = e->u.message.payload};

    switch (l.type) {
        case WIRE_FLOOD_QUERY:
            ftree_flood_upward(ft, now, FTREE_NONE); /* past the node that is silent */
            break;
        case WIRE_GOODBYE:
            ftree_leave_undeliverable(ft, now, l.to);
            break;
        case WIRE_RELEASE:
            ftree_leave_unreleased(ft, now, l.to);
            break;
        case WIRE_WAITS_UP:
        case WIRE_WAITS_LOOK:
        case WIRE_WAITS_SEEN:
            ftree_waitfor_undeliverable(ft, now, (enum wire_type) l.type, l.to);
            break;
        case WIRE_QUERY_UP:
        case WIRE_QUERY_DOWN:
        case WIRE_QUERY_ANSWER:
        case WIRE_QUERY_RESULT:
            ftree_survey_undeliverable(ft, now, (enum wire_type) l.type, l.to);
            break;
        default:
            ftree_announce_undeliverable(ft, now, &l);
            break;
    }
    ftree_outbox_release(ft, l.payload);
}

static void raise_verdict(struct ftree *ft, ftree_time now)
{
    const struct ftree_verdict v = ft->events->verdict;

    ft->events->has_verdict = false;
    ftree_announce_raise(ft, now, &v);
}

/* more: nothing has come of the one before, which was learned with this one. */
static void learned(struct ftree *ft, ftree_time now, const struct ftree_event *e, bool more)
{
    struct known *k = verdict_of(ft, e);

    if (!more) {
        ftree_probe_learned(ft);
        ftree_waitfor_learned(ft, now);
        ftree_survey_learned(ft, now);
        ftree_fabric_learned(ft);
    }
    if (!k)
        return;
    ftree_recheck_watch(ft, now, k);
    if (ftree_way(ft, now, k->v.node, FTREE_NONE) != FTREE_NONE)
        ftree_outbox_heard(ft, now, k->v.node); /* what it missed goes by way of another */
}

static void is_over(struct ftree *ft, ftree_time now, const struct ftree_event *e)
{
    struct known *k = verdict_of(ft, e);

    if (k && !k->v.withdrawn)
        ftree_announce_withdraw(ft, now, k, e->u.why);
}

static void report(struct ftree *ft, const struct ftree_event *e)
{
    struct known *k = verdict_of(ft, e);

    if (k && !k->v.withdrawn) {
        ftree_waitfor_victims(ft, k, e->u.victims);
        ftree_victims_report(ft, k, e->u.victims);
    }
    ftree_alloc(ft, e->u.victims, 0);
}

/* Hands an event to the step that owns it; `last` is the kind of the one before. */
static void hand_over(struct ftree *ft, ftree_time now, const struct ftree_event *e, int last)
{
    switch ((enum ftree_event_kind) e->kind) {
        case FTREE_EVENT_SYMPTOM:
            ftree_intake(ft, now, &e->u.symptom, false);
            break;
        case FTREE_EVENT_AGAIN:
            ftree_intake_again(ft, now, &e->u.symptom);
            break;
        case FTREE_EVENT_SILENT:
            ftree_intake_silent(ft, now, e->node);
            break;
        case FTREE_EVENT_SEARCH:
            if (e->number)
                ftree_flood_join(ft, now, e->number, e->by);
            else
                ftree_flood_start(ft, now);
            break;
        case FTREE_EVENT_LOOK:
            ftree_symptom_look(ft, now, now);
            break;
        case FTREE_EVENT_CASE:
            ftree_probe_open(ft, now, e->node, e->switch_, e->number);
            break;
        case FTREE_EVENT_DUE:
            ftree_correlate_again(ft, now, e->node, e->switch_);
            ftree_probe_due(ft, now, e->node);
            break;
        case FTREE_EVENT_REST:
            ftree_probe_rest(ft, now, e);
            break;
        case FTREE_EVENT_CLOSED:
            ftree_announce_release(ft, now);
            ftree_correlate_closed(ft, now, e->node, e->switch_, e->well);
            break;
        case FTREE_EVENT_VERDICT:
            raise_verdict(ft, now);
            break;
        case FTREE_EVENT_LEARNED:
            learned(ft, now, e, last == FTREE_EVENT_LEARNED);
            break;
        case FTREE_EVENT_OVER:
            is_over(ft, now, e);
            break;
        case FTREE_EVENT_RETURNED:
            return_message(ft, now, e);
            break;
        case FTREE_EVENT_LEFT:
            ftree_leave_goodbye(ft, now, e->node, true);
            break;
        case FTREE_EVENT_STALLED:
            ftree_waitfor_stalled(ft, now, (int32_t) e->number);
            break;
        case FTREE_EVENT_RESUMED:
            ftree_waitfor_resumed(ft, now, (int32_t) e->number);
            break;
        case FTREE_EVENT_ASK_RANKS:
            ftree_recheck_own(ft, now);
            ftree_waitfor_say(ft, now, e->number);
            break;
        case FTREE_EVENT_ASK_ALL:
            ftree_survey_hang(ft, now, e->u.first);
            break;
        case FTREE_EVENT_ALL_SAID:
            ftree_waitfor_said(ft, now, e->u.hang);
            break;
        case FTREE_EVENT_RANKS_SAID:
            ftree_survey_said(ft, now, e->number, e->u.classes);
            break;
        case FTREE_EVENT_ASK_LAGS:
            ftree_survey_lags(ft, now);
            break;
        case FTREE_EVENT_LAGS_ASKED:
            ftree_straggle_asked(ft, now);
            break;
        case FTREE_EVENT_LAGS_SAID:
            ftree_straggle_said(ft, now, e->u.lags);
            break;
        case FTREE_EVENT_VICTIMS:
            report(ft, e);
            break;
    }
}

/* Hands over the events that wait, and those that follow; false: there were none. */
static bool drain(struct ftree *ft, ftree_time now)
{
    bool any = ftree_events_wait(ft);
    struct ftree_event e;
    int32_t n, last = -1;

    ftree_events_turn(ft, 0);
    while (ftree_events_take(ft, &e)) {
        n = ft->events->n;
        hand_over(ft, now, &e, last);
        last = e.kind;
        ftree_events_turn(ft, n);
    }
    return any;
}

void ftree_end(struct ftree *ft, ftree_time now)
{
    drain(ft, now);
    ftree_events_end(ft);
}

/* What is called in it may emit events: these, and what follows from them, are handed over then. */
#define WITH_EVENTS(ft, now) \
    for (struct ftree_events q, *at = (ftree_events_begin((ft), &q), &q); at; \
         at = NULL, ftree_end((ft), (now)))

int ftree_stall(struct ftree *ft, ftree_time now, int32_t rank, int32_t peer, ftree_time waiting)
{
    int rc;

    WITH_EVENTS(ft, now) {
        rc = ftree_symptom_stall(ft, now, rank, peer, waiting);
        ftree_fabric_resumed(ft, now); /* it may have waited for another one before */
        while (drain(ft, now))
            ftree_symptom_tick(ft, now);
    }
    return rc;
}

void ftree_stall_over(struct ftree *ft, ftree_time now, int32_t rank)
{
    WITH_EVENTS(ft, now) {
        ftree_symptom_over(ft, rank);
        ftree_fabric_resumed(ft, now);
    }
}

int ftree_symptom(struct ftree *ft, ftree_time now, const struct ftree_symptom *s)
{
    int rc;

    WITH_EVENTS(ft, now)
        rc = ftree_symptom_take(ft, now, s);
    return rc;
}

void ftree_limits(const struct ftree *ft, char *text, size_t room)
{
    ftree_rules_limits(ft->rules, text, room);
}

int ftree_confirm(struct ftree *ft, ftree_time now, int32_t fln, uint32_t id)
{
    int rc;

    WITH_EVENTS(ft, now)
        rc = ftree_recheck_confirm(ft, now, fln, id);
    return rc;
}

int ftree_inquire(struct ftree *ft, ftree_time now, int32_t node, int32_t rank, uint32_t *number)
{
    int rc;

    *number = 0;
    if (node < 0 || node >= ft->job->nodes || rank < FTREE_NONE || rank >= ft->job->size ||
        (rank != FTREE_NONE && ftree_node_of(ft, rank) != node))
        return FTREE_ERR_INVALID;
    WITH_EVENTS(ft, now)
        rc = ftree_inquiry_begin(ft, now, node, rank, number);
    return rc;
}

int ftree_query_stacks(struct ftree *ft, ftree_time now, const struct ftree_ranks *ranks,
                       int what, uint32_t *number)
{
    struct ftree_bytes request = {0};
    int rc = FTREE_ERR_NOMEM;

    if (survey_stacks_request(ft, ranks, what, &request))
        rc = ftree_query(ft, now, FTREE_QUERY_STACKS, request.items, (size_t) request.n, number);
    ftree_alloc(ft, request.items, 0);
    return rc;
}

void ftree_stacks_taken(struct ftree *ft, ftree_time now, uint32_t number, struct ftree_stacks *s)
{
    WITH_EVENTS(ft, now)
        ftree_survey_stacks_taken(ft, now, number, s);
}

void ftree_block_over(struct ftree *ft, ftree_time now)
{
    WITH_EVENTS(ft, now) {
        ftree_straggle_look(ft, now);
        ftree_waitfor_look(ft, now);
    }
}

void ftree_fabric_said(struct ftree *ft, ftree_time now, uint32_t number, enum ftree_fabric says,
                       uint32_t us, const char *why)
{
    WITH_EVENTS(ft, now)
        ftree_fabric_asked(ft, now, number, says, us, why);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void heard_from(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                       const struct wire_message *m)
{
    ftree_silence_heard(ft, now, from, path, FTREE_REACH_ANSWERED);
    if (m->type == WIRE_ANSWER && m->u.answer.role == FTREE_ROLE_DEPUTY)
        return; /* its agent is as silent as before */
    ftree_recheck_heard(ft, now, from, path);
    if (ftree_peer_heard(ft, from))
        ftree_outbox_heard(ft, now, from);
}

static void dispatch(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                     uint64_t conn, const struct wire_message *m)
{
    bool substitute = m->flags & WIRE_FLAG_SUBSTITUTE;

    switch (m->type) {
        case WIRE_ACK:
            ftree_outbox_ack(ft, now, from, m->u.ack);
            if (m->flags & WIRE_FLAG_NOBODY_WAITS)
                ftree_survey_victims(ft, now, from, m->u.ack, NULL);
            break;
        case WIRE_BUSY:
            ftree_outbox_busy(ft, now, from, m->u.ack);
            break;
        case WIRE_SYMPTOM:
            if (ftree_is_leaving(ft))
                ftree_leave_say_so(ft, now, from);
            else
                ftree_intake(ft, now, &m->u.symptom, substitute);
            break;
        case WIRE_PROBE:
            if (m->u.probe.ask == RULES_ASK_BURST)
                ftree_burst_asked(ft, now, from, m->u.probe.nonce);
            else
                ftree_answer(ft, now, from, path, conn, &m->u.probe);
            break;
        case WIRE_ANSWER: /* its nonce is that of one question */
            ftree_connections_answer(ft, now, from, path, &m->u.answer);
            ftree_recheck_answer(ft, from, path, &m->u.answer);
            ftree_indirect_answer(ft, now, from, path, &m->u.answer);
            ftree_inquiry_answer(ft, now, from, path, &m->u.answer);
            ftree_probe_answer(ft, now, from, path, &m->u.answer);
            break;
        case WIRE_STATE:
            ftree_inquiry_state(ft, from, &m->u.state);
            ftree_probe_state(ft, now, from, &m->u.state, m->flags & WIRE_FLAG_DELIVERS);
            break;
        case WIRE_LOG:
            ftree_inquiry_log(ft, from, &m->u.log);
            ftree_probe_log(ft, now, from, &m->u.log);
            break;
        case WIRE_FABRIC:
            ftree_fabric(ft, now, from, &m->u.fabric);
            break;
        case WIRE_HEARD:
            ftree_burst_heard(ft, now, from, &m->u.heard);
            break;
        case WIRE_INDIRECT_PROBE:
            ftree_indirect(ft, now, from, &m->u.indirect_probe);
            break;
        case WIRE_INDIRECT_RESULT:
            ftree_probe_indirect_result(ft, now, from, &m->u.indirect_result,
                                        m->flags & WIRE_FLAG_DELIVERS);
            break;
        case WIRE_FLOOD_QUERY:
            ftree_flood_heard(ft, now, m->u.round, from);
            break;
        case WIRE_VERDICT_UP:
            ftree_announce_up(ft, now, from, &m->u.verdict, m->flags & WIRE_FLAG_MORE);
            break;
        case WIRE_PACKET: /* see ftree_packet() */
        case WIRE_VERDICT_DOWN: /* what came of it is said with the acknowledgment */
        case WIRE_RELAY: /* see take_relayed() */
            break;
        case WIRE_VICTIMS:
            ftree_outbox_ack(ft, now, from, m->u.victims.message);
            ftree_survey_victims(ft, now, from, m->u.victims.message, &m->u.victims.ranks);
            break;
        case WIRE_GOODBYE:
            ftree_leave_goodbye(ft, now, from, m->flags & WIRE_FLAG_MORE);
            ftree_waitfor_undeliverable(ft, now, WIRE_WAITS_UP, from);
            break;
        case WIRE_RELEASE:
            ftree_leave_release(ft, now);
            break;
        case WIRE_WAITS_UP:
            if (ftree_is_leaving(ft))
                ftree_leave_is_needed(ft, now, from);
            else
                ftree_waitfor_part(ft, now, from, WIRE_WAITS_UP, &m->u.part);
            break;
        case WIRE_WAITS_LOOK: /* also of who leaves: others may wait for one of its ranks */
            if (ftree_is_leaving(ft)) /* lest its port, once closed, be taken for a crash */
                ftree_leave_say_so(ft, now, from);
            /* fallthrough */
        case WIRE_WAITS_SEEN:
            ftree_waitfor_part(ft, now, from, (enum wire_type) m->type, &m->u.part);
            break;
        case WIRE_QUERY_UP:
        case WIRE_QUERY_DOWN:
        case WIRE_QUERY_ANSWER:
        case WIRE_QUERY_RESULT:
            ftree_survey_part(ft, now, from, (enum wire_type) m->type, &m->u.part);
            break;
    }
}

/* Victims that are an acknowledgment themselves are not. */
static bool is_acknowledged(const struct ftree *ft, int32_t from, const struct wire_message *m)
{
    return ftree_wire_is_reliable(m->type) &&
           (m->type != WIRE_VICTIMS || !ftree_outbox_waits_for(ft, from, m->u.victims.message));
}

/* conn: 0 where it came by way of another. */
static void take_message(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                         uint64_t conn, const struct wire_message *m)
{
    struct ftree_route back = {.node = from, .path = (uint8_t) path, .conn = conn};
    enum announced reached = ANNOUNCED;

    if (m->type == WIRE_SYMPTOM && !ftree_is_leaving(ft) &&
        ftree_intake_is_overloaded(ft, now, &m->u.symptom)) {
        ftree_acknowledge(ft, now, &back, WIRE_BUSY, 0, m->id);
        return;
    }
    if (m->type == WIRE_VERDICT_DOWN)
        reached = ftree_announce_down(ft, now, &back, m);
    drain(ft, now);
    if (is_acknowledged(ft, from, m) && reached != ANNOUNCED_ASKING)
        ftree_acknowledge(ft, now, &back, WIRE_ACK,
                          reached == ANNOUNCED_NOBODY_WAITS ? WIRE_FLAG_NOBODY_WAITS : 0, m->id);
    dispatch(ft, now, from, path, conn, m);
}

/* What is not acknowledged is not relayed either, but for acknowledgments. */
static int take_relayed(struct ftree *ft, ftree_time now, int32_t by, enum ftree_path path,
                        const struct wire_message *relayed)
{
    const struct wire_relay *r = &relayed->u.relay;
    struct wire_message m;
    int rc;

    if (!(relayed->flags & WIRE_FLAG_PASSED_ON)) {
        ftree_relay_pass_on(ft, by, path, r);
        return FTREE_OK;
    }
    rc = ftree_wire_decode(ft->job, now, r->bytes, r->len, &m);
    if (rc)
        return rc;
    if (r->node == ft->self ||
        (!ftree_wire_is_reliable(m.type) && m.type != WIRE_ACK && m.type != WIRE_BUSY))
        return FTREE_ERR_MALFORMED;
    ftree_peer_heard_by(ft, now, r->node, by);
    take_message(ft, now, r->node, path, 0, &m);
    return FTREE_OK;
}

static int receive(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                   uint64_t conn, const void *bytes, size_t len)
{
    struct wire_message m;
    int rc;

    if (from < 0 || from >= ft->job->nodes || from == ft->self || path >= FTREE_PATHS)
        return FTREE_ERR_INVALID;
    rc = ftree_wire_decode(ft->job, now, bytes, len, &m);
    if (rc)
        return rc;
    heard_from(ft, now, from, path, &m);
    if (m.type == WIRE_RELAY)
        return take_relayed(ft, now, from, path, &m);
    take_message(ft, now, from, path, conn, &m);
    return FTREE_OK;
}

int ftree_receive(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                  uint64_t conn, const void *bytes, size_t len)
{
    int rc;

    WITH_EVENTS(ft, now)
        rc = receive(ft, now, from, path, conn, bytes, len);
    return rc;
}

int ftree_packet(struct ftree *ft, ftree_time now, ftree_time arrived, int32_t from,
                 enum ftree_path path, const void *bytes, size_t len)
{
    struct wire_message m;
    int rc;

    if (from < 0 || from >= ft->job->nodes || from == ft->self || path >= FTREE_PATHS)
        return FTREE_ERR_INVALID;
    rc = ftree_wire_decode(ft->job, now, bytes, len, &m);
    if (rc || m.type != WIRE_PACKET)
        return rc ? rc : FTREE_ERR_MALFORMED;
    ftree_burst_packet(ft, now, arrived, from, path, &m.u.packet);
    return FTREE_OK;
}

int ftree_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                  enum ftree_role role, enum ftree_reach reach, int error)
{
    if (node < 0 || node >= ft->job->nodes || path >= FTREE_PATHS || role >= FTREE_ROLES ||
        reach >= FTREE_REACH_COUNT)
        return FTREE_ERR_INVALID;
    WITH_EVENTS(ft, now) {
        ftree_silence_heard(ft, now, node, path, reach);
        ftree_indirect_reached(ft, now, node, path, role, reach);
        ftree_inquiry_reached(ft, node, path, role, reach);
        ftree_probe_reached(ft, now, node, path, role, reach, error);
        if (role == FTREE_ROLE_AGENT)
            ftree_outbox_reached(ft, now, node, reach);
    }
    return FTREE_OK;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* In this order. */
static const struct {
    void (*tick)(struct ftree *ft, ftree_time now); /* does what is due in a step */
    ftree_time (*deadline)(const struct ftree *ft);
} steps[] = {
    {ftree_intake_tick, ftree_intake_deadline},
    {ftree_symptom_tick, ftree_symptom_deadline},
    {ftree_connections_tick, ftree_connections_deadline},
    {ftree_indirect_tick, ftree_indirect_deadline},
    {ftree_inquiry_tick, ftree_inquiry_deadline},
    {ftree_burst_tick, ftree_burst_deadline},
    {ftree_fabric_tick, ftree_fabric_deadline},
    {ftree_probe_tick, ftree_probe_deadline},
    {ftree_waitfor_tick, ftree_waitfor_deadline},
    {ftree_straggle_tick, ftree_straggle_deadline},
    {ftree_announce_tick, ftree_announce_deadline},
    {ftree_recheck_tick, ftree_recheck_deadline},
    {ftree_outbox_tick, ftree_outbox_deadline},
    {ftree_survey_tick, ftree_survey_deadline}, /* the last whom it awaits may have been given up */
    {ftree_parcel_tick, ftree_parcel_deadline},
    {ftree_correlate_tick, ftree_correlate_deadline}, /* what all these did may have been the last of
                                                       * a case */
    {ftree_leave_tick, ftree_leave_deadline},
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

ftree_time ftree_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    for (size_t i = 0; i < STEPS; i++)
        t = ftree_min(t, steps[i].deadline(ft));
    return t;
}

/* Time in which this agent did not run counts for nobody.  (A tick and a timer of the caller's may
 * tell of the same pause.) */
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

void ftree_late(struct ftree *ft, ftree_time now, ftree_time late)
{
    ftree_own_late(ft, now, late);
    excuse(ft, now, late);
}

void ftree_own_link(struct ftree *ft, ftree_time now, bool up)
{
    ft->state->own_link_down = !up;
    ftree_burst_link(ft, now, up);
}

void ftree_tick(struct ftree *ft, ftree_time now)
{
    ftree_time due = ftree_deadline(ft);

    WITH_EVENTS(ft, now) {
        ftree_late(ft, now, due != FTREE_NEVER && now > due ? now - due : 0);
        for (size_t i = 0; i < STEPS; i++)
            do
                steps[i].tick(ft, now);
            while (drain(ft, now));
    }
}

void ftree_use_rules(struct ftree *ft, ftree_time now, const struct ftree_rules *rules)
{
    if (ft->rules == rules)
        return;
    ft->rules = rules;
    ftree_trace(ft, "uses the rules %s", rules->name);
    WITH_EVENTS(ft, now) {
        ftree_correlate_anew(ft, now);
        ftree_probe_restart(ft, now);
        drain(ft, now);
        ftree_correlate_examine_all(ft, now);
    }
}

/* ---- the own node ---------------------------------------------------------------------------- */

bool ftree_query_own(struct ftree *ft, ftree_time now, struct ftree_query_result *r)
{
    *r = (struct ftree_query_result){.kind = FTREE_QUERY_STATUS, .root = FTREE_NONE, .nodes = 1};
    ftree_waitfor_see(ft, now, &r->classes);
    return ftree_spans_add(ft, &r->answered, ft->self, ft->self);
}

void ftree_query_own_free(struct ftree *ft, struct ftree_query_result *r)
{
    ftree_classes_clear(ft, &r->classes);
    ftree_spans_clear(ft, &r->answered);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static bool is_component(const struct ftree_job *job, const struct ftree_verdict *v)
{
    const struct ftree_ranks *c = &v->component;

    if (c->count == 0 && c->ranges == 0)
        return true;
    return c->ranges > 0 && c->ranges <= FTREE_RANGES_MAX && c->count > 0 &&
           c->count <= job->size && c->range[0].first == v->rank &&
           c->range[c->ranges - 1].last < job->size;
}

int ftree_restore(struct ftree *ft, ftree_time now, const struct ftree_verdict *v)
{
    int32_t switches = ft->job->tree ? ft->job->tree->switches : 0;
    struct summary summary;
    struct known *k;
    bool is_new;

    if (v->class_ >= FTREE_CLASS_COUNT || v->kind >= FTREE_KIND_COUNT || v->node < 0 ||
        v->node >= ft->job->nodes || v->rank < FTREE_NONE || v->rank >= ft->job->size ||
        v->switch_ < FTREE_NONE || v->switch_ >= switches ||
        (v->kind == FTREE_KIND_SWITCH) != (v->switch_ != FTREE_NONE) ||
        !is_component(ft->job, v))
        return FTREE_ERR_INVALID;
    summary = ftree_verdict_summary(ft, v);
    is_new = !ftree_verdict_by_id(ft, &summary);
    k = ftree_announce_restore(ft, now, v);
    if (!k)
        return FTREE_ERR_NOMEM;
    ftree_recheck_restored(ft, now, k);
    if (is_new && !k->v.withdrawn && k->v.fln == ft->self &&
        ftree_verdict_needs(ft, &k->v, RULES_FACT_FABRIC))
        WITH_EVENTS(ft, now) /* where ranks still wait it is asked anew */
            ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "the agent that asked has ended");
    ftree_announce_forget(ft, now);
    return FTREE_OK;
}

bool ftree_verdict_at(const struct ftree *ft, int32_t i, struct ftree_verdict *v)
{
    if (i < 0 || i >= ft->state->known.n)
        return false;
    memset(v, 0, sizeof(*v));
    ftree_verdict_load(ft, &ft->state->known.items[i], v);
    return true;
}

/* ---- the end of a job ------------------------------------------------------------------------ */

static void leave(struct ftree *ft, ftree_time now, bool cut_short)
{
    if (!ftree_leave_begin(ft, now, cut_short))
        return;
    WITH_EVENTS(ft, now) {
        ftree_observe_stop(ft);
        ftree_intake_stop(ft);
        ftree_waitfor_clear(ft);
        ftree_examine_stop(ft);
        ftree_announce_release(ft, now);
        ftree_outbox_heard(ft, now, FTREE_NONE); /* what waits there is sent now or never */
        ftree_leave_try(ft, now);
    }
}

void ftree_leave(struct ftree *ft, ftree_time now)
{
    leave(ft, now, false);
}

void ftree_leave_at_once(struct ftree *ft, ftree_time now)
{
    leave(ft, now, true);
    ftree_leave_hurry(ft, now);
}

bool ftree_has_unacknowledged(const struct ftree *ft)
{
    return !ftree_outbox_is_empty(ft) || ftree_is_announcing(ft);
}

bool ftree_has_unannounced(const struct ftree *ft)
{
    return ftree_symptom_any_finding(ft) || ftree_announce_has_pending(ft);
}

bool ftree_may_go(const struct ftree *ft)
{
    /* what is still in the box (a release on its way down) must have been acknowledged, and a
     * verdict whose victims are being asked for must be reported to people */
    return ftree_leave_is_over(ft) && !ftree_has_unacknowledged(ft);
}
