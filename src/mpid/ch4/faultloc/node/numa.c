/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* HAVE_HWLOC is in MPICH's configuration; elsewhere it is the compiler's command that says so. */
#if defined(__has_include)
#if __has_include("mpichconf.h")
#include "mpichconf.h"
#endif
#endif

#include "faultloc/node/numa.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HWLOC

#include "faultloc/io/worker.h"

#include <hwloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* hwloc reads files of anybody's (HWLOC_XMLFILE) and asks the kernel for much. */
struct faultloc_numa {
    struct faultloc_worker worker;
    struct faultloc_task job;
    hwloc_topology_t topology; /* the owner's while the worker is idle; NULL: could not be loaded */
    int notify; /* eventfd to the owner */
    atomic_int holders; /* owner and thread: the last frees */
};

/* Left out by name; a name that a version of hwloc does not know is no error. */
static void leave_out(hwloc_topology_t topology)
{
#if HWLOC_API_VERSION >= 0x00020100
    static const char *const names[] = {"cuda", "nvml", "rsmi", "levelzero", "opencl", "gl", "x86"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, names[i]);
#else
    (void) topology;
#endif
}

static hwloc_topology_t load(void)
{
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology))
        return NULL;
    leave_out(topology);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology) == 0)
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

static void let_go(struct faultloc_numa *numa)
{
    if (atomic_fetch_sub(&numa->holders, 1) > 1)
        return;
    faultloc_worker_destroy(&numa->worker);
    if (numa->topology)
        hwloc_topology_destroy(numa->topology);
    if (numa->notify >= 0)
        close(numa->notify);
    free(numa);
}

static void run(struct faultloc_worker *worker, struct faultloc_task *job)
{
    struct faultloc_numa *numa = worker->owner;

    (void) job;
    numa->topology = load();
}

static void ended(struct faultloc_worker *worker)
{
    let_go(worker->owner);
}

static const struct faultloc_worker_ops ops = {
    .name = "faultloc-hwloc", .run = run, .ended = ended};

struct faultloc_numa *faultloc_numa_load(void)
{
    struct faultloc_numa *numa = calloc(1, sizeof(*numa));

    if (!numa)
        return NULL;
    numa->holders = 1;
    numa->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    faultloc_worker_init(&numa->worker, &ops, numa, numa->notify);
    if (numa->notify < 0 || faultloc_worker_start(&numa->worker)) {
        let_go(numa);
        return NULL;
    }
    numa->holders++; /* the thread ends when it is ordered to */
    faultloc_worker_add(&numa->worker, &numa->job, 0);
    return numa;
}

bool faultloc_numa_wait(struct faultloc_numa *numa, int ms)
{
    struct pollfd p = {.events = POLLIN};

    if (!numa)
        return false;
    p.fd = numa->notify; /* readable once it is loaded, and from then on */
    return poll(&p, 1, ms) > 0;
}

void faultloc_numa_free(struct faultloc_numa *numa)
{
    if (!numa)
        return;
    faultloc_worker_stop(&numa->worker);
    let_go(numa);
}

/* NULL: not known. */
static hwloc_topology_t topology_of(struct faultloc_numa *numa)
{
    return numa && faultloc_worker_idle(&numa->worker) ? numa->topology : NULL;
}

int faultloc_numa_of_cpu(struct faultloc_numa *numa, int cpu)
{
    hwloc_topology_t topology = topology_of(numa);
    hwloc_obj_t node = NULL;

    if (!topology || cpu < 0)
        return -1;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
        if (node->cpuset && hwloc_bitmap_isset(node->cpuset, (unsigned) cpu))
            return (int) node->os_index;
    return -1;
}

int faultloc_numa_has_nic(struct faultloc_numa *numa, int node, const char *name)
{
    hwloc_topology_t topology = topology_of(numa);
    hwloc_obj_t device = NULL, place;

    if (!topology || node < 0)
        return -1;
    while ((device = hwloc_get_next_osdev(topology, device)))
        if (device->name && strcmp(device->name, name) == 0)
            break;
    place = device ? hwloc_get_non_io_ancestor_obj(topology, device) : NULL;
    if (!place || !place->nodeset)
        return -1;
    if (!hwloc_bitmap_isset(place->nodeset, (unsigned) node))
        return 0;
    /* what hangs off the whole machine: the firmware did not say where */
    if (place == hwloc_get_root_obj(topology) && hwloc_bitmap_weight(place->nodeset) > 1)
        return -1;
    return 1;
}

#else /* HAVE_HWLOC */

struct faultloc_numa *faultloc_numa_load(void)
{
    return NULL;
}

bool faultloc_numa_wait(struct faultloc_numa *numa, int ms)
{
    (void) numa;
    (void) ms;
    return false;
}

void faultloc_numa_free(struct faultloc_numa *numa)
{
    (void) numa;
}

int faultloc_numa_of_cpu(struct faultloc_numa *numa, int cpu)
{
    (void) numa;
    (void) cpu;
    return -1;
}

int faultloc_numa_has_nic(struct faultloc_numa *numa, int node, const char *name)
{
    (void) numa;
    (void) node;
    (void) name;
    return -1;
}

#endif /* HAVE_HWLOC */
