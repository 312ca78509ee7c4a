/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "faultloc/base/proc.h"

#include <string.h>

static bool is_own(const struct handler_frame *f)
{
    return !faultloc_proc_is_library(f->module);
}

/* Of a tool that wraps MPI, or of an MPI that is linked into the program. */
static bool is_mpi(const struct handler_frame *f)
{
    return is_own(f) && (!strncmp(f->function, "MPI_", 4) || !strncmp(f->function, "PMPI_", 5));
}

int handler_caller(const struct handler_frame *f, int n)
{
    int i = 0, mpi;

    while (i < n && !is_own(&f[i]))
        i++;
    for (mpi = i; mpi < n && is_own(&f[mpi]) && !is_mpi(&f[mpi]);)
        mpi++;
    if (mpi == n || !is_mpi(&f[mpi]))
        return i;
    while (mpi < n && (is_mpi(&f[mpi]) || !is_own(&f[mpi])))
        mpi++;
    return mpi;
}
