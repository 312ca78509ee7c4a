/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/process/link.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"

#include <errno.h>

/* ---- out ------------------------------------------------------------------------------------- */

static enum ftree_reach core_reach(enum faultloc_channel_reach reach, int error)
{
    switch (reach) {
        case FAULTLOC_CHANNEL_LOST:
            /* who listens there now is not of this job: the agent is as gone as if nobody did */
            return error == EPROTO ? FTREE_REACH_REFUSED : FTREE_REACH_NOT_ASKED;
        case FAULTLOC_CHANNEL_CONNECTED:
            return FTREE_REACH_CONNECTED;
        case FAULTLOC_CHANNEL_REFUSED:
            return FTREE_REACH_REFUSED;
        case FAULTLOC_CHANNEL_UNREACHABLE:
            return FTREE_REACH_UNREACHABLE;
        case FAULTLOC_CHANNEL_LOCAL_DOWN:
            return FTREE_REACH_LOCAL_DOWN;
        default:
            return FTREE_REACH_NOT_ASKED;
    }
}

int faultloc_link_send(struct faultloc_link *l, const struct ftree_route *to, const void *bytes,
                       size_t len)
{
    struct faultloc_channel *channel = l->line.channel;
    ftree_time now = faultloc_now();
    int rc = EDESTADDRREQ;

    if (!channel)
        return rc;
    if (to->conn)
        rc = faultloc_channel_reply(channel, now, to->conn, bytes, len);
    if (rc)
        rc = faultloc_channel_send(channel, now, to->node, to->path, to->role,
                                   to->fresh ? FAULTLOC_SEND_FRESH : 0, bytes, len);
    if (rc && l->failures < FAULTLOC_LINK_FAILED) {
        l->failed[l->failures].node = to->node;
        l->failed[l->failures].path = to->path;
        l->failed[l->failures].role = to->role;
        l->failed[l->failures].reach = core_reach(faultloc_channel_reach_of(rc), rc);
        l->failed[l->failures++].error = rc;
    }
    return rc;
}

int faultloc_link_send_packet(struct faultloc_link *l, const struct ftree_route *to, bool large,
                              const void *bytes, size_t len)
{
    return !l->line.channel ? EDESTADDRREQ
                            : faultloc_channel_send_packet(l->line.channel, to->node, to->path, large,
                                                           bytes, len);
}

void faultloc_link_packets(struct faultloc_link *l, bool take)
{
    if (l->line.channel)
        faultloc_channel_packets(l->line.channel, take);
}

void faultloc_link_hand_over(struct faultloc_link *l, ftree_time now)
{
    int n = l->failures;

    l->failures = 0;
    for (int i = 0; i < n; i++)
        if (l->failed[i].reach != FTREE_REACH_NOT_ASKED)
            ftree_reached(l->line.p->ft, now, l->failed[i].node, l->failed[i].path,
                          l->failed[i].role, l->failed[i].reach, l->failed[i].error);
}

/* ---- in: the channel's callbacks ------------------------------------------------------------- */

static void note_malformed(struct faultloc_link *l, int32_t from, int rc)
{
    if (rc && rc != FTREE_ERR_NOMEM && !l->malformed_said) {
        l->malformed_said = true;
        faultloc_say("node %s: a message from node %s was ignored: %s (further ones are not "
                     "reported)",
                     l->line.p->job.names[l->line.p->self], l->line.p->job.names[from],
                     ftree_strerror(rc));
    }
}

static void on_message(void *ctx, int32_t from, enum ftree_path path, enum ftree_role role,
                       uint64_t conn, const void *bytes, size_t len)
{
    struct faultloc_link *l = ctx;

    (void) role;
    note_malformed(l, from,
                   ftree_receive(l->line.p->ft, faultloc_now(), from, path, conn, bytes, len));
}

static void on_packet(void *ctx, int32_t from, enum ftree_path path, uint64_t age,
                      const void *bytes, size_t len)
{
    struct faultloc_link *l = ctx;
    ftree_time now = faultloc_now();

    note_malformed(l, from,
                   ftree_packet(l->line.p->ft, now, now > age ? now - age : 0, from, path, bytes,
                                len));
}

static void on_reach(void *ctx, int32_t node, enum ftree_path path, enum ftree_role role,
                     enum faultloc_channel_reach reach, int error)
{
    struct faultloc_link *l = ctx;
    enum ftree_reach core = core_reach(reach, error);

    if (core != FTREE_REACH_NOT_ASKED)
        ftree_reached(l->line.p->ft, faultloc_now(), node, path, role, core, error);
}

static void on_intruder(void *ctx, enum faultloc_intruder kind, const struct faultloc_inet *peer)
{
    struct faultloc_link *l = ctx;
    char text[FAULTLOC_ADDRESS_TEXT];

    faultloc_say("node %s: refused %s, which %s (further ones are not reported)",
                 l->line.p->job.names[l->line.p->self],
                 faultloc_inet_text(peer, text, sizeof(text)),
                 faultloc_intruder_text(kind));
}

int faultloc_link_open(struct faultloc_link *l, struct faultloc_program *p)
{
    static const struct faultloc_channel_callbacks callbacks = {
        .message = on_message, .packet = on_packet, .reach = on_reach, .intruder = on_intruder};

    return faultloc_line_open(&l->line, p, FTREE_ROLE_AGENT, &callbacks, l);
}
