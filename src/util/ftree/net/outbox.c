/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/net/net.h"

#include "ftree/base/event.h"
#include "ftree/state/state.h"

#include <string.h>

/*
 * Messages that must arrive.  The first try takes the data path, unless a verdict speaks against
 * it; a second, one rto later, takes every path; where that is not acknowledged either (after 4/3
 * rto more), the receiver counts as unresponsive for a while and the message is handed back to its
 * author, who takes another way.  That is 350 ms at the smallest rto: a lost node on the way must
 * not cost the verdict its seconds, and a needless detour costs only a few messages, because every
 * message may safely arrive twice.
 */

#define OUTBOX_TRIES 2
#define OUTBOX_KEPT (5000 * FTREE_MS)
#define OUTBOX_WAITS 8 /* for a receiver that is unresponsive */
#define OUTBOX_ANSWER 3 /* rto_max: how long an answer is kept */

static void send_by(struct ftree *ft, const struct message *l, enum ftree_path path, bool fresh)
{
    struct ftree_route to = {.node = l->to, .path = path, .role = FTREE_ROLE_AGENT, .fresh = fresh};

    if (ft->job->has_path[path])
        ftree_relay_send(ft, &to, l->by, l->payload->bytes, l->payload->len);
}

/* What was found of its receiver is not relayed to it: that one finds the same of this one, and it
 * is one link that is broken. */
static bool is_about_receiver(const struct ftree *ft, const struct message *l)
{
    struct wire_message m;

    return l->type == WIRE_VERDICT_UP &&
           !ftree_wire_decode(ft->job, l->sent, l->payload->bytes, l->payload->len, &m) &&
           m.u.verdict.node == l->to;
}

/* Where only others reach the receiver each try is by another of them. */
static void choose_way(struct ftree *ft, ftree_time now, struct message *l)
{
    l->by = ftree_way(ft, now, l->to, l->by);
    if (l->by != FTREE_NONE && is_about_receiver(ft, l))
        l->by = FTREE_NONE;
    if (l->by != FTREE_NONE)
        ftree_trace(ft, "%s to %s goes by way of %s", ftree_wire_type_name(l->type),
                    ftree_name(ft, l->to), ftree_name(ft, l->by));
}

/* ---- what messages carry --------------------------------------------------------------------- */

static struct payload *make_payload(struct ftree *ft, ftree_time now, const uint8_t *bytes,
                                    size_t len)
{
    struct payload *payload = ftree_alloc(ft, NULL, sizeof(*payload) + len);

    if (!payload)
        return NULL;
    payload->messages = 1;
    payload->len = (uint16_t) len;
    payload->sent = now;
    memcpy(payload->bytes, bytes, len);
    return payload;
}

/* Writes a message, whose number is given, for ftree_outbox_post(); NULL: out of memory.  It is the
 * caller's until ftree_outbox_release(). */
struct payload *ftree_outbox_payload(struct ftree *ft, ftree_time now, const struct wire_message *m)
{
    uint8_t buf[FTREE_MESSAGE_MAX];

    return make_payload(ft, now, buf, ftree_wire_encode(m, now, buf));
}

void ftree_outbox_release(struct ftree *ft, struct payload *payload)
{
    if (--payload->messages == 0)
        ftree_alloc(ft, payload, 0);
}

/* What is sent has grown older while it waited here.  Others that carry it may not have been sent
 * again. */
static void renew_ages(struct ftree *ft, ftree_time now, struct message *l)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct payload *payload;

    if (ftree_wire_renew(ft->job, l->payload->sent, l->payload->bytes, l->payload->len, now, buf))
        return;
    payload = l->payload->messages > 1 ? make_payload(ft, now, buf, l->payload->len) : NULL;
    if (payload) {
        ftree_outbox_release(ft, l->payload);
        l->payload = payload;
    } else if (l->payload->messages == 1) {
        memcpy(l->payload->bytes, buf, l->payload->len); /* as long as before: only ages differ */
        l->payload->sent = now;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The data path, unless a verdict or the own kernel speaks against it: then the first try would only
 * take its time. */
static enum ftree_path first_path(const struct ftree *ft, int32_t to)
{
    if (!ft->job->has_path[FTREE_PATH_DATA])
        return FTREE_PATH_MGMT;
    if (ft->job->has_path[FTREE_PATH_MGMT] &&
        (ft->state->own_link_down || ftree_verdict_path_is_known(ft, to) ||
         ftree_verdict_path_is_known(ft, ft->self)))
        return FTREE_PATH_MGMT;
    return FTREE_PATH_DATA;
}

static void send_message(struct ftree *ft, ftree_time now, struct message *l)
{
    choose_way(ft, now, l);
    l->sent = now;
    if (l->tries == 0) {
        send_by(ft, l, first_path(ft, l->by == FTREE_NONE ? l->to : l->by), false);
        l->next = now + ft->net->rto;
    } else {
        renew_ages(ft, now, l);
        for (int path = 0; path < FTREE_PATHS; path++)
            send_by(ft, l, path, true);
        l->next = now + ft->net->rto * 4 / 3;
    }
    l->tries++;
}

struct message *ftree_outbox_post(struct ftree *ft, ftree_time now, int32_t to,
                                  enum wire_type type, uint32_t id, struct payload *payload)
{
    struct message *l = FTREE_PUSH(ft, ft->net->outbox);

    if (!l)
        return NULL;
    payload->messages++;
    l->payload = payload;
    l->id = id;
    l->to = to;
    l->by = FTREE_NONE;
    l->type = (uint8_t) type;
    send_message(ft, now, l);
    return l;
}

void ftree_outbox_put(struct ftree *ft, ftree_time now, int32_t to, struct wire_message *m)
{
    struct payload *payload;

    m->id = ++ft->next_id;
    payload = ftree_outbox_payload(ft, now, m);
    if (!payload)
        return;
    ftree_outbox_post(ft, now, to, (enum wire_type) m->type, m->id, payload);
    ftree_outbox_release(ft, payload);
}

void ftree_acknowledge(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                       enum wire_type type, uint8_t flags, uint32_t id)
{
    struct wire_message m;
    uint8_t buf[FTREE_MESSAGE_MAX];

    m.type = (uint8_t) type;
    m.flags = flags;
    m.u.ack = id;
    m.id = ++ft->next_id;
    ftree_relay_send(ft, to, ftree_way(ft, now, to->node, FTREE_NONE), buf,
                     ftree_wire_encode(&m, now, buf));
}

/* Sends what answers, and so acknowledges, a message that came over this path.  If it is lost that
 * message comes again: so it is kept as long as the far side may be patient. */
void ftree_outbox_answer(struct ftree *ft, ftree_time now, int32_t to, enum ftree_path path,
                         struct wire_message *m)
{
    struct message *l = FTREE_PUSH(ft, ft->net->outbox);
    struct payload *payload;

    m->id = ++ft->next_id;
    payload = ftree_outbox_payload(ft, now, m);
    if (!l || !payload) {
        if (payload)
            ftree_outbox_release(ft, payload);
        ft->net->outbox.n -= l != NULL;
        return;
    }
    *l = (struct message){.id = m->id,
                          .to = to,
                          .by = ftree_way(ft, now, to, FTREE_NONE),
                          .type = m->type,
                          .tries = OUTBOX_TRIES,
                          .answer = true,
                          .sent = now,
                          .next = now + OUTBOX_ANSWER * ft->cfg.rto_max,
                          .payload = payload};
    send_by(ft, l, path, false);
}

/* Message `id` of that node came again over that path: how it was acknowledged by the victims,
 * which in that case are sent again; ANNOUNCED_NOBODY_WAITS: it was not. */
enum announced ftree_outbox_answered(struct ftree *ft, int32_t to, enum ftree_path path,
                                     uint32_t id)
{
    struct wire_message m;

    FTREE_EACH(const struct message, l, ft->net->outbox) {
        if (l->to != to || l->type != WIRE_VICTIMS ||
            ftree_wire_decode(ft->job, l->sent, l->payload->bytes, l->payload->len, &m) ||
            m.u.victims.message != id)
            continue;
        if (!l->answer)
            return ANNOUNCED;
        send_by(ft, l, path, false);
        return ANNOUNCED_ASKING;
    }
    return ANNOUNCED_NOBODY_WAITS;
}

/* True if nobody has to acknowledge anything any more. */
bool ftree_outbox_is_empty(const struct ftree *ft)
{
    return !FTREE_ANY(struct message, l, ft->net->outbox, !l->answer);
}

/* NULL: it was acknowledged, or given up. */
static struct message *find_message(const struct ftree *ft, int32_t to, uint32_t id)
{
    return FTREE_FIND(struct message, l, ft->net->outbox, l->to == to && l->id == id);
}

/* True if it has not acknowledged that message yet. */
bool ftree_outbox_waits_for(const struct ftree *ft, int32_t from, uint32_t id)
{
    return find_message(ft, from, id) != NULL;
}

/* The symptom that it carries is to go to another. */
static void send_elsewhere(struct ftree *ft, const struct message *l)
{
    struct wire_message m;

    if (!ftree_wire_decode(ft->job, l->payload->sent, l->payload->bytes, l->payload->len, &m))
        ftree_emit_symptom(ft, FTREE_EVENT_AGAIN, &m.u.symptom);
}

/* A substitute of the root that does not acknowledge at once may be lost with the root, and so may
 * the next: the symptom goes to that one while this one is asked again, lest each takes its 7/3 rto
 * after the other.  If both get it both ask, and find the same. */
static void try_next_substitute(struct ftree *ft, ftree_time now, struct message *l)
{
    struct wire_message m;

    if (l->type != WIRE_SYMPTOM ||
        ftree_wire_decode(ft->job, l->payload->sent, l->payload->bytes, l->payload->len, &m) ||
        !(m.flags & WIRE_FLAG_SUBSTITUTE))
        return;
    l->elsewhere = true;
    ftree_peer_unresponsive(ft, now, l->to, false); /* until it is heard */
    ftree_emit_symptom(ft, FTREE_EVENT_AGAIN, &m.u.symptom);
}

static void drop(struct ftree *ft, const struct message *l)
{
    ftree_outbox_release(ft, l->payload);
    FTREE_DROP(ft->net->outbox, (int32_t) (l - ft->net->outbox.items));
}

/* Who acknowledges one message works on what it was sent, and what was sent after it may still wait
 * its turn there: to send that again would only make its queue longer (RFC 6298, 5.3).  What was
 * sent before it has been overtaken: else one that is lost would not be sent again while others are
 * acknowledged. */
static void restart_timers(struct ftree *ft, ftree_time now, int32_t to, ftree_time sent)
{
    FTREE_EACH(struct message, l, ft->net->outbox)
        if (l->to == to && !l->answer && l->sent >= sent)
            l->next = ftree_max(l->next, now + ft->net->rto);
}

void ftree_outbox_ack(struct ftree *ft, ftree_time now, int32_t from, uint32_t id)
{
    struct message *l = find_message(ft, from, id);
    ftree_time sent;

    if (!l)
        return;
    /* Karn: a repeated message measures nothing; nor does one that those below answer first */
    if (l->tries == 1 && l->type != WIRE_VERDICT_DOWN && l->by == FTREE_NONE)
        ftree_rtt(ft, now - l->sent);
    sent = l->sent;
    drop(ft, l);
    restart_timers(ft, now, from, sent);
}

/* It will not take the symptom: somebody else does. */
void ftree_outbox_busy(struct ftree *ft, ftree_time now, int32_t from, uint32_t id)
{
    struct message *l = find_message(ft, from, id);

    if (!l || l->type != WIRE_SYMPTOM)
        return;
    ftree_trace(ft, "%s is busy", ftree_name(ft, from));
    ftree_peer_unresponsive(ft, now, from, true);
    send_elsewhere(ft, l);
    drop(ft, l);
}

/* The far side said no at once: the second try need not wait.  What waits for it to be heard does:
 * each no would use up one of its tries. */
void ftree_outbox_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_reach reach)
{
    if (reach == FTREE_REACH_CONNECTED || reach == FTREE_REACH_ANSWERED)
        return;
    FTREE_EACH(struct message, l, ft->net->outbox) {
        if (l->to == node && l->tries == 1 && l->waits == 0)
            l->next = now;
    }
}

/* Those below a node that does not acknowledge a verdict receive it at once; the node itself
 * receives it again as soon as it is heard, or after a while: it may have been the network that
 * lost it. */
static void keep(struct ftree *ft, ftree_time now, const struct message *l)
{
    struct message *kept = NULL;

    if (!ftree_is_leaving(ft) && !ftree_has_failed(ft, l->to) && !ftree_peer_has_left(ft, l->to) &&
        l->waits < OUTBOX_WAITS)
        kept = FTREE_PUSH(ft, ft->net->outbox);
    if (!kept) {
        ftree_outbox_release(ft, l->payload);
        return;
    }
    *kept = *l;
    kept->tries = OUTBOX_TRIES - 1;
    kept->waits++;
    kept->elsewhere = true;
    kept->next = now + OUTBOX_KEPT;
}

/* A node that was unresponsive is heard again; FTREE_NONE: none is waited for any more. */
void ftree_outbox_heard(struct ftree *ft, ftree_time now, int32_t node)
{
    FTREE_EACH(struct message, l, ft->net->outbox)
        if ((l->to == node || node == FTREE_NONE) && l->waits > 0 && l->tries < OUTBOX_TRIES)
            l->next = now;
}

/* Its author takes another way. */
static void give_back(struct ftree *ft, const struct message *l)
{
    const struct ftree_event e = {.kind = FTREE_EVENT_RETURNED,
                                  .node = l->to,
                                  .number = l->id,
                                  .u.message = {.type = l->type, .payload = l->payload}};

    if (l->type == WIRE_SYMPTOM)
        send_elsewhere(ft, l);
    else if (ftree_emit(ft, &e))
        l->payload->messages++;
}

static void give_up(struct ftree *ft, ftree_time now, int32_t i)
{
    struct message l = ft->net->outbox.items[i];

    FTREE_DROP(ft->net->outbox, i);
    ftree_trace(ft, "%s to %s not acknowledged", ftree_wire_type_name(l.type),
                ftree_name(ft, l.to));
    ftree_peer_unresponsive(ft, now, l.to, false);
    if (!ftree_is_leaving(ft) && !ftree_has_failed(ft, l.to))
        FTREE_EMIT(ft, SILENT, .node = l.to);
    if (!l.elsewhere)
        give_back(ft, &l);
    if (l.type == WIRE_VERDICT_DOWN)
        keep(ft, now, &l);
    else
        ftree_outbox_release(ft, l.payload);
}

void ftree_outbox_tick(struct ftree *ft, ftree_time now)
{
    ftree_peer_tick(ft, now);
    for (int32_t i = 0; i < ft->net->outbox.n && !ftree_events_wait(ft);) {
        struct message *l = &ft->net->outbox.items[i];
        if (l->next > now) {
            i++;
        } else if (l->answer) {
            drop(ft, l);
        } else if (l->tries < OUTBOX_TRIES) {
            send_message(ft, now, l);
            try_next_substitute(ft, now, l);
            i++;
        } else {
            give_up(ft, now, i);
        }
    }
}

ftree_time ftree_outbox_deadline(const struct ftree *ft)
{
    return FTREE_EARLIEST(struct message, l, ft->net->outbox, l->next);
}

void ftree_outbox_clear(struct ftree *ft)
{
    while (ft->net->outbox.n > 0)
        drop(ft, ft->net->outbox.items);
    ftree_alloc(ft, ft->net->outbox.items, 0);
}
