/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_HOLDERS_H_INCLUDED
#define FAULTLOC_HOLDERS_H_INCLUDED

#include <stdbool.h>

#define HYD_FAULTLOC_PROGRAM "faultloc-" /* what names of FaultLoc's own processes begin with */

struct HYD_faultloc_holders {
    bool own; /* processes of FaultLoc */
    bool others;
    int pid; /* the first of these, and its name, printable; 0: there is none */
    char name[32];
};

/* Purpose: true if process `pid` has what the kernel names so open, "pipe:[4711]" or "socket:[4711]".
 * proc: where that is mounted. */
bool HYD_faultloc_has_open(const char *proc, int pid, const char *wanted);

/* Purpose: which other processes have the other end of this pipe open, as far as this user may see.
 * It looks at every process of the machine: not to be asked often. */
struct HYD_faultloc_holders HYD_faultloc_holders(int pipe_fd);

#endif /* FAULTLOC_HOLDERS_H_INCLUDED */
