/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/net/net.h"
#include "ftree/state/state.h"

/* Messages by way of another node (state/way.c): whole, as they are, and back in the same way.  Who
 * passes one on keeps nothing of it: those at both ends see to it that it arrives. */

static int send(struct ftree *ft, const struct ftree_route *to, uint8_t flags,
                const struct wire_relay *r)
{
    struct wire_message m = {.type = WIRE_RELAY, .flags = flags, .u.relay = *r};

    return ftree_send(ft, 0, to, &m); /* what is relayed has ages of its own */
}

int ftree_relay_send(struct ftree *ft, const struct ftree_route *to, int32_t by,
                     const uint8_t *bytes, size_t len)
{
    const struct wire_relay r = {.node = to->node, .len = len, .bytes = bytes};
    const struct ftree_route over = {.node = by, .path = to->path};

    if (by == FTREE_NONE || len > FTREE_MESSAGE_MAX - WIRE_RELAY_BYTES)
        return ft->io->send(ft->io_ctx, to, bytes, len);
    return send(ft, &over, 0, &r);
}

/* Over the path that it came over: where that one fails its author tries the other. */
void ftree_relay_pass_on(struct ftree *ft, int32_t from, enum ftree_path path,
                         const struct wire_relay *r)
{
    const struct wire_relay passed = {.node = from, .len = r->len, .bytes = r->bytes};
    const struct ftree_route to = {.node = r->node, .path = (uint8_t) path};

    if (r->len < WIRE_HEADER || r->node == ft->self || r->node == from ||
        ftree_has_failed(ft, r->node))
        return;
    ftree_trace(ft, "passes a message on to %s", ftree_name(ft, r->node));
    send(ft, &to, WIRE_FLAG_PASSED_ON, &passed);
}
