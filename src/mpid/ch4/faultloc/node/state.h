/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_STATE_H_INCLUDED
#define FAULTLOC_STATE_H_INCLUDED

#include "faultloc/node/losses.h"
#include "faultloc/node/watch.h"

/*
 * What a state probe brings: how this node and its ranks are, from /proc, /sys and the kernel.
 * Nothing is read before somebody asks; then every file is read once, up to a bounded length, and
 * cores while there is time.  What is missing or makes no sense is not known, and never an error.
 *
 * Sources: proc(5); Documentation/accounting/psi.rst, admin-guide/pm/cpufreq.rst and
 * ABI/testing/sysfs-class-net, ABI/stable/sysfs-class-infiniband of Linux.
 */

struct faultloc_state {
    struct faultloc_watch *watch; /* its proc_root is used for the node's files, too */
    const char *sys_root; /* NULL: /sys */
    const char *iface; /* the data interface; "": not known */
    const char *port; /* of the adapter that the data pass; NULL, "": not known */
    struct faultloc_losses *losses; /* of both; NULL: not known */
    uint64_t patience; /* ns, for reading what there is of every core; 0: the default, 20 ms */
};

/* Purpose: reads the state as of now, CLOCK_MONOTONIC ns.  Takes 1 ms or so on a small node, a few
 * tens at the most where every file is slow. */
void faultloc_state_read(struct faultloc_state *st, ftree_time now, struct ftree_node_state *out);

#endif /* FAULTLOC_STATE_H_INCLUDED */
