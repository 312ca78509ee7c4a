/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/*
 * A thread that waits is only read.  The kernel tells its stack pointer and program counter, and how
 * often it has got a CPU: as long as that is the same it has not run, and what is read of its stack
 * is of one moment.  One that runs is sampled.
 */

#define SAMPLE_MS 100
#define RED_ZONE 128 /* of x86-64's ABI, below the stack pointer */

/* Beyond the end of a stack may be anything, which reading would bring into memory.  0: not known. */
static uint64_t end_of_stack(pid_t pid, uint64_t sp)
{
    uint64_t from, to, end = 0;
    char path[64], line[512];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int) pid);
    f = fopen(path, "re");
    while (f && end == 0 && fgets(line, sizeof(line), f))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2 && from <= sp && sp < to)
            end = to;
    if (f)
        fclose(f);
    return end;
}

/* False: it cannot be read. */
static bool copy_stack(int mem, uint64_t sp, struct handler_copy *copy)
{
    uint64_t at = sp > RED_ZONE ? sp - RED_ZONE : 0, room = copy->end - at;
    ssize_t n;

    if (copy->end == 0)
        return false;
    n = pread(mem, copy->stack, room < sizeof(copy->stack) ? room : sizeof(copy->stack), (off_t) at);
    copy->at = at;
    copy->bytes = n > 0 ? (size_t) n : 0;
    return n > 0;
}

/* False: it may have run meanwhile. */
static bool copy_waiting(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy)
{
    if (t->sp == 0)
        return false;
    copy->end = end_of_stack(pid, t->sp);
    if (!copy_stack(mem, t->sp, copy)) {
        t->why = "its stack cannot be read";
        return true;
    }
    return handler_still_waits(pid, t);
}

/* False: it does not run any more.  What it waited in before is of another moment. */
static bool copy_running(pid_t pid, struct handler_thread *t, struct handler_copy *copy, int *wait_ms)
{
    int ms = *wait_ms < SAMPLE_MS ? *wait_ms : SAMPLE_MS;

    t->syscall = -1;
    t->wait_channel[0] = t->file.path[0] = '\0';
    switch (handler_sample(t, copy, ms)) {
        case HANDLER_SAMPLED:
            copy->end = end_of_stack(pid, t->sp);
            return true;
        case HANDLER_DENIED:
            t->why = "it runs, and perf_event_open(2) is not permitted: kernel.perf_event_paranoid "
                     "above 2, or the filter of a container";
            return true;
        default:
            *wait_ms -= ms;
            t->why = "it does not get a CPU, or runs in the kernel alone";
            return false;
    }
}

bool handler_snapshot_wait(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy)
{
    copy->end = end_of_stack(pid, t->sp);
    return copy_stack(mem, t->sp, copy);
}

bool handler_snapshot(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy,
                      int *wait_ms)
{
    copy->bytes = 0;
    handler_thread_facts(NULL, pid, t); /* it may be elsewhere than some time ago */
    if (t->state == 'Z' || t->state == 'X')
        t->why = "the thread has ended";
    if (t->why)
        return true;
    return t->state == 'R' ? copy_running(pid, t, copy, wait_ms) : copy_waiting(pid, mem, t, copy);
}
