/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "faultloc/base/proc.h"

#include <stdio.h>
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

static int own_caller(const struct handler_frame *f, int n)
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

bool handler_is_script(const struct handler_frame *f)
{
    const char *tool;

    return faultloc_proc_language(f->module, &tool);
}

int handler_caller(const struct handler_frame *f, int n)
{
    int own = own_caller(f, n), i = own;

    while (i < n && faultloc_proc_is_glue(f[i].module))
        i++;
    return i < n && handler_is_script(&f[i]) ? i : own;
}

void handler_name_script(struct handler_frame *f, pid_t pid)
{
    const char *tool = NULL, *language = faultloc_proc_language(f->module, &tool);
    char text[HANDLER_TEXT_MAX] = "";

    if (tool)
        snprintf(text, sizeof(text), ", which %s %d shows on its node", tool, (int) pid);
    snprintf(f->function, sizeof(f->function), "a line of %s code%s", language, text);
    f->module[0] = f->file[0] = '\0';
    f->line = 0;
}
