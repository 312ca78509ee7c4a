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

#include "faultloc_numa.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HWLOC

#include <hwloc.h>

struct faultloc_numa {
    hwloc_topology_t topology;
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

struct faultloc_numa *faultloc_numa_load(void)
{
    struct faultloc_numa *numa = malloc(sizeof(*numa));

    if (!numa || hwloc_topology_init(&numa->topology)) {
        free(numa);
        return NULL;
    }
    leave_out(numa->topology);
    hwloc_topology_set_io_types_filter(numa->topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(numa->topology)) {
        hwloc_topology_destroy(numa->topology);
        free(numa);
        return NULL;
    }
    return numa;
}

void faultloc_numa_free(struct faultloc_numa *numa)
{
    if (!numa)
        return;
    hwloc_topology_destroy(numa->topology);
    free(numa);
}

int faultloc_numa_of_cpu(const struct faultloc_numa *numa, int cpu)
{
    hwloc_obj_t node = NULL;

    if (!numa || cpu < 0)
        return -1;
    while ((node = hwloc_get_next_obj_by_type(numa->topology, HWLOC_OBJ_NUMANODE, node)))
        if (node->cpuset && hwloc_bitmap_isset(node->cpuset, (unsigned) cpu))
            return (int) node->os_index;
    return -1;
}

int faultloc_numa_has_nic(const struct faultloc_numa *numa, int node, const char *name)
{
    hwloc_obj_t device = NULL, place;

    if (!numa || node < 0)
        return -1;
    while ((device = hwloc_get_next_osdev(numa->topology, device)))
        if (device->name && strcmp(device->name, name) == 0)
            break;
    place = device ? hwloc_get_non_io_ancestor_obj(numa->topology, device) : NULL;
    if (!place || !place->nodeset)
        return -1;
    if (!hwloc_bitmap_isset(place->nodeset, (unsigned) node))
        return 0;
    /* what hangs off the whole machine: the firmware did not say where */
    if (place == hwloc_get_root_obj(numa->topology) && hwloc_bitmap_weight(place->nodeset) > 1)
        return -1;
    return 1;
}

#else /* HAVE_HWLOC */

struct faultloc_numa *faultloc_numa_load(void)
{
    return NULL;
}

void faultloc_numa_free(struct faultloc_numa *numa)
{
    (void) numa;
}

int faultloc_numa_of_cpu(const struct faultloc_numa *numa, int cpu)
{
    (void) numa;
    (void) cpu;
    return -1;
}

int faultloc_numa_has_nic(const struct faultloc_numa *numa, int node, const char *name)
{
    (void) numa;
    (void) node;
    (void) name;
    return -1;
}

#endif /* HAVE_HWLOC */
