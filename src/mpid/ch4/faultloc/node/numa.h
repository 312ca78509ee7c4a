/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_NUMA_H_INCLUDED
#define FAULTLOC_NUMA_H_INCLUDED

#include <stdbool.h>

/*
 * hwloc's view of this node: which NUMA node a CPU belongs to, and whether a network interface sits
 * by it.  Where FaultLoc is built without hwloc, nothing is known.
 *
 * hwloc's own variables hold (HWLOC_XMLFILE, HWLOC_SYNTHETIC), so a wrong BIOS can be set right,
 * and a test can have any machine.
 */

struct faultloc_numa;

/* Purpose: begins to read the topology in a worker (io/worker.h), for it takes some ms, and for
 * ever where a file of hwloc's is on a dead file system; until it is there nothing is known.  The
 * caller's, who ends it with faultloc_numa_free().  NULL: built without hwloc, or no thread can be
 * had.  Components of hwloc that ask devices and libraries (GPUs, an X server) or run on every CPU
 * in turn are left out: this is done in a job that has trouble already. */
struct faultloc_numa *faultloc_numa_load(void);

/* Purpose: waits at most `ms` until it is read; -1: for ever.  False: it is not read. */
bool faultloc_numa_wait(struct faultloc_numa *numa, int ms);

/* Purpose: frees it, now or when it is read; NULL is allowed. */
void faultloc_numa_free(struct faultloc_numa *numa);

/* Purpose: the NUMA node of a CPU, both by the operating system's numbers; -1: not known, also
 * where numa is NULL or cpu below 0. */
int faultloc_numa_of_cpu(struct faultloc_numa *numa, int cpu);

/* Purpose: 1: interface `name` sits by NUMA node `node`; 0: by another; -1: not known, as for an
 * interface that is no device of its own (a bridge, a VLAN). */
int faultloc_numa_has_nic(struct faultloc_numa *numa, int node, const char *name);

#endif /* FAULTLOC_NUMA_H_INCLUDED */
