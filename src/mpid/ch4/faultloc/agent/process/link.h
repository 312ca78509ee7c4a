/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LINK_H_INCLUDED
#define FAULTLOC_LINK_H_INCLUDED

#include "faultloc/agent/process/program.h"

/* The core's messages, between it and the agent's channel. */

#define FAULTLOC_LINK_FAILED 32

struct faultloc_link {
    struct faultloc_line line;
    /* What a send said at once; the core hears of it when it has returned. */
    struct {
        int32_t node;
        uint8_t path, role;
        enum ftree_reach reach;
        int error;
    } failed[FAULTLOC_LINK_FAILED];
    int failures;
    bool malformed_said;
};

/* Purpose: opens the agent's channel, for the program's core.  Until then nothing can be sent.
 * Errors: an errno. */
int faultloc_link_open(struct faultloc_link *l, struct faultloc_program *p);

/* Purpose: sends a message of the core's (struct ftree_io).  Errors: an errno. */
int faultloc_link_send(struct faultloc_link *l, const struct ftree_route *to, const void *bytes,
                       size_t len);

/* Purpose: sends a packet of the core's, and takes what comes, or no more (struct ftree_io). */
int faultloc_link_send_packet(struct faultloc_link *l, const struct ftree_route *to, bool large,
                              const void *bytes, size_t len);
void faultloc_link_packets(struct faultloc_link *l, bool take);

/* Purpose: reports the results of sends to the core; not from within the core. */
void faultloc_link_hand_over(struct faultloc_link *l, ftree_time now);

#endif /* FAULTLOC_LINK_H_INCLUDED */
