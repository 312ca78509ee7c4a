/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_KEEPALIVE_H_INCLUDED
#define FAULTLOC_KEEPALIVE_H_INCLUDED

#include <stdbool.h>

#define HYD_FAULTLOC_KEEPALIVE_OPTIONS 5

/* A TCP connection whose other end may be lost.  To begin with all zero: it is not watched. */
struct HYD_faultloc_keepalive {
    bool on;
    int before[HYD_FAULTLOC_KEEPALIVE_OPTIONS]; /* where `on`: the options as they were */
};

/* Purpose: while it is on, a host that answers nothing is noticed within some 4 s, as an error of
 * the connection.  Turned off, the connection is as it was before: each option that was changed has
 * its old value, and probes that run are stopped.  What is so already is not touched.
 * Errors: none; without it the loss is noticed late, as by default. */
void HYD_faultloc_keepalive_set(struct HYD_faultloc_keepalive *k, int fd, bool on);

#endif /* FAULTLOC_KEEPALIVE_H_INCLUDED */
