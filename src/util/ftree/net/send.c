/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/net/net.h"

/* Sending a message once, and how long an answer takes. */

int ftree_send(struct ftree *ft, ftree_time now, const struct ftree_route *to,
               struct wire_message *m)
{
    uint8_t buf[FTREE_MESSAGE_MAX];

    m->id = ++ft->next_id;
    return ft->io->send(ft->io_ctx, to, buf, ftree_wire_encode(m, now, buf));
}

/* By those paths of a set of bits that the job has. */
static void send_paths(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                       uint8_t paths, struct wire_message *m)
{
    struct ftree_route by = *to;

    for (int path = 0; path < FTREE_PATHS; path++) {
        by.path = (uint8_t) path;
        if (ft->job->has_path[path] && paths >> path & 1)
            ftree_send(ft, now, &by, m);
    }
}

void ftree_send_all_paths(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                          struct wire_message *m)
{
    send_paths(ft, now, to, ftree_all_paths(ft->job), m);
}

void ftree_ask(struct ftree *ft, ftree_time now, const struct ftree_route *to, uint8_t paths,
               uint32_t nonce)
{
    struct wire_message m = {
        .type = WIRE_PROBE,
        .u.probe = {.nonce = nonce, .rank = FTREE_NONE, .ask = RULES_ASK_RESPONSE, .first = now}};

    send_paths(ft, now, to, paths, &m);
}

/* RFC 6298, section 2, with bounds of our own and K = 4, alpha = 1/8, beta = 1/4. */
void ftree_rtt(struct ftree *ft, ftree_time rtt)
{
    ftree_time error;

    /* an answer that waited here while this process was stopped says nothing about the network */
    rtt = ftree_min(rtt, ft->cfg.rto_max);
    error = rtt > ft->net->srtt ? rtt - ft->net->srtt : ft->net->srtt - rtt;
    if (ft->net->srtt == 0) {
        ft->net->srtt = rtt;
        ft->net->rttvar = rtt / 2;
    } else {
        ft->net->rttvar = ft->net->rttvar - ft->net->rttvar / 4 + error / 4;
        ft->net->srtt = ft->net->srtt - ft->net->srtt / 8 + rtt / 8;
    }
    ft->net->rto =
        ftree_min(ft->cfg.rto_max, ftree_max(ft->cfg.rto_min, ft->net->srtt + 4 * ft->net->rttvar));
}

ftree_time ftree_silence_unit(const struct ftree *ft)
{
    return ftree_max(ft->net->rto, ft->cfg.silence / 6);
}

/* How long a suspect is asked, 900 ms: its seven questions on each path.  A node that is silent for
 * less, beside the stall limit, is not accused.  Costs every outage all of it. */
ftree_time ftree_silence_window(const struct ftree *ft)
{
    return 6 * ftree_silence_unit(ft);
}

ftree_time ftree_rto(const struct ftree *ft)
{
    return ft->net->rto;
}
