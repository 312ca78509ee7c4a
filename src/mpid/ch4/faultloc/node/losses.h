/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LOSSES_H_INCLUDED
#define FAULTLOC_LOSSES_H_INCLUDED

#include "ftree/base/io.h"

/*
 * What the data interface and the adapter's port have counted of errors and losses since the job
 * began.  They are read once when it begins, and then where somebody asks.  Many drivers count nowhere
 * else than in their own statistics (ethtool -S), of which everybody may read those of any interface.
 *
 * Sources: ethtool.h and Documentation/networking/statistics.rst of Linux, and, for the drivers' names,
 * networking/device_drivers (mlx5/counters.rst, intel/i40e.rst, ice.rst, amazon/ena.rst) and the
 * sources of bnxt_en, virtio_net, veth.
 */

struct faultloc_loss;

struct faultloc_losses {
    const char *proc_root, *sys_root; /* NULL: /proc, /sys */
    const char *iface; /* the data interface; "": not known */
    const char *port; /* of the adapter that the data pass; NULL, "": not known */
    const uint8_t *link; /* enum ftree_link of the interface, as it is; NULL: up */
    int (*ethtool)(const char *iface, void *command); /* SIOCETHTOOL, an errno; NULL: the kernel's */
    uint64_t patience; /* ns, for a driver; 0: the default, 100 ms */
    bool slow; /* the driver has taken longer, and is asked no more */
    ftree_time since; /* when they were read first */
    int32_t n;
    struct faultloc_loss *first; /* as they were then; NULL: they were not */
    ftree_time looked; /* when they were read last, and what that came to: */
    uint64_t errors, drops;
    char text[FTREE_LOSSES_MAX];
};

/* Purpose: reads them for the first time.  A driver may take long: nobody should wait.  What `first` has
 * is the caller's to free, or ends with the process. */
void faultloc_losses_begin(struct faultloc_losses *l, ftree_time now);

/* Purpose: fills in what has been counted since, as of at most 1 s ago: link_errors, link_drops and
 * losses of *s. */
void faultloc_losses_read(struct faultloc_losses *l, ftree_time now, struct ftree_node_state *s);

#endif /* FAULTLOC_LOSSES_H_INCLUDED */
