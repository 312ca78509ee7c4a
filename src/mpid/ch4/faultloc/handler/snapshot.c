/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include <unistd.h>

/*
 * A thread that waits is only read.  The kernel tells its stack pointer and program counter, and how
 * often it has got a CPU: as long as that is the same it has not run, and the copy of its stack
 * is of one moment.  One that runs is sampled, or held where that is not permitted.
 */

#define ATTEMPTS 8 /* it may run and wait in turns */
#define MISS 4 /* so many attempts one counts for that took 100 ms */

bool handler_copy_stack(int mem, uint64_t sp, struct handler_copy *copy)
{
    ssize_t n;

    copy->at = sp > HANDLER_RED_ZONE ? sp - HANDLER_RED_ZONE : 0;
    n = pread(mem, copy->stack, sizeof(copy->stack), (off_t) copy->at);
    copy->bytes = n > 0 ? (size_t) n : 0;
    return n > 0;
}

/* False: it may have run meanwhile. */
static bool copy_waiting(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy)
{
    struct handler_thread after = {.tid = t->tid};

    if (t->sp == 0)
        return false;
    if (!handler_copy_stack(mem, t->sp, copy)) {
        t->why = "its stack cannot be read";
        return true;
    }
    handler_thread_facts(NULL, pid, &after);
    return after.turns == t->turns && after.sp == t->sp && after.pc == t->pc;
}

/* False: it does not run any more. */
static bool copy_running(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy)
{
    switch (handler_sample(t, copy)) {
        case HANDLER_SAMPLED:
            return true;
        case HANDLER_DENIED:
            return handler_hold(pid, mem, t, copy);
        default:
            t->why = "it does not get a CPU, or runs in the kernel alone";
            return false;
    }
}

void handler_snapshot(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy)
{
    bool done = false;

    for (int i = 0; i < ATTEMPTS && !done; i += t->state == 'R' ? MISS : 1) {
        copy->bytes = 0;
        handler_thread_facts(NULL, pid, t); /* it may be elsewhere than some time ago */
        if (t->why || t->state == 'Z' || t->state == 'X')
            return;
        done = t->state == 'R' ? copy_running(pid, mem, t, copy)
                               : copy_waiting(pid, mem, t, copy);
    }
    if (!done && !t->why)
        t->why = t->sp ? "it ran meanwhile" : "the kernel does not tell where it waits";
    if (t->why)
        copy->bytes = 0;
}
