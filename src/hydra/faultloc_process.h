/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PROCESS_H_INCLUDED
#define FAULTLOC_PROCESS_H_INCLUDED

#include "faultloc_hydra.h"

/*
 * Which of a proxy's processes have come to a barrier of PMI, and the state of those that have not,
 * as the kernel says it.  Nothing is read of a process before somebody asks.
 *
 * Source: proc(5), /proc/PID/stat, wchan and task/PID/children.
 */

/* What a process has said by PMI. */
struct HYD_faultloc_calls {
    int barriers; /* that it has come to */
    int64_t came; /* ms: when it came to the last of them */
    bool puts; /* it has put a value into PMI's store since */
    bool put; /* the same between the last and the one before */
};

/* A process of the proxy, as it is described below. */
struct HYD_faultloc_process {
    int rank, pid;
    bool inited; /* it is connected to PMI: it has called MPI_Init */
    int64_t finalizing; /* ms: since when it is in MPI_Finalize; 0: that is not known */
    struct HYD_faultloc_calls calls;
    const struct HYD_faultloc_end *end; /* how it ended; NULL: it has not */
};

/* Purpose: a process has sent this PMI command at `now`. */
void HYD_faultloc_calls_note(struct HYD_faultloc_calls *calls, const char *cmd, int64_t now);

/* Purpose: the first line of /proc/PID/NAME, printable; "" where it cannot be read. */
void HYD_faultloc_read_line(const char *proc, int pid, const char *name, char *out, size_t room);

/* Purpose: the only child of a process; 0: there is none, or there are several.  FaultLoc's own
 * processes do not count. */
int HYD_faultloc_child_of(const char *proc, int pid);

/* Purpose: the state of a process that has not come to this barrier, as text: "MPI_Init not called;
 * app sleeping in hrtimer_nanosleep". What hydra started may wait for a child, which is then
 * described. proc: where that is mounted. Returns `out`, HYD_FAULTLOC_STATE bytes. */
const char *HYD_faultloc_process_state(const char *proc, const struct HYD_faultloc_process *p,
                                       int barrier, char *out);

/* Purpose: counts a process, the next by its rank, among those that have come to `a->barrier`, or
 * among the others with its state. Begin with a->barrier set, first_ms and last_ms -1, else 0. */
void HYD_faultloc_arrivals_add(struct HYD_faultloc_arrivals *a,
                               const struct HYD_faultloc_process *p, int64_t now);

/* Purpose: adds a process that nobody waits for in MPI and that keeps mpiexec waiting: it has
 * ended, and `holder` says who has its output open; "": it has not ended.  One that runs after
 * MPI_Finalize is left out in the first minute, by a->last_ms: it may have work to do. */
void HYD_faultloc_arrivals_add_left(struct HYD_faultloc_arrivals *a,
                                    const struct HYD_faultloc_process *p, const char *holder);

#endif /* FAULTLOC_PROCESS_H_INCLUDED */
