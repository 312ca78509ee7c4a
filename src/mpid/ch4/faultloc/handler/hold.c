/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "faultloc/base/proc.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

/*
 * It is held by PTRACE_SEIZE and PTRACE_INTERRUPT, which send no signal, while its registers and its
 * stack are copied.  But a system call in which it is then ends as by a signal that has no handler: one
 * that has transferred a part returns that.  Nothing tells whether a thread that runs is in the kernel.
 * So only one is held that has run for some time, and hardly at all in the kernel.
 *
 * A tracer that ends lets go of all that it traces, whatever becomes of it, so nothing is left held.
 * The tracer is a thread here, which ends when the copy is made, or when the thread could not be held in
 * time: it would stop later, with nobody to let it go.
 */

#define HOLD_NS 100000000 /* so long a thread may take to be held */
#define LOOK_NS 10000000
#define LOOKS 20
#define TICKS 4 /* of 10 ms in its own code */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

/* ---- whether it only computes ---------------------------------------------------------------- */

/* The number behind a name in a file of /proc/PID/task/TID; 0: there is none. */
static uint64_t number_of(pid_t pid, pid_t tid, const char *file, const char *name, int base)
{
    size_t len = strlen(name);
    char path[64], line[256];
    uint64_t number = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int) pid, (int) tid, file);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, name, len) && line[len] == ':')
            number = strtoull(line + len + 1, NULL, base);
    if (f)
        fclose(f);
    return number;
}

struct activity {
    uint64_t pauses, read, written, system_ticks, ticks;
};

/* False: the thread has ended. */
static bool look(pid_t pid, pid_t tid, struct activity *a)
{
    struct faultloc_proc proc;
    char folder[64];

    snprintf(folder, sizeof(folder), "/proc/%d/task", (int) pid);
    if (faultloc_proc_read(folder, tid, &proc))
        return false;
    *a = (struct activity){.pauses = number_of(pid, tid, "status", "voluntary_ctxt_switches", 10),
                           .read = number_of(pid, tid, "io", "rchar", 10),
                           .written = number_of(pid, tid, "io", "wchar", 10),
                           .system_ticks = proc.system_ticks,
                           .ticks = proc.ticks};
    return true;
}

/* A transfer of some length pauses, is counted when it ends, or is all that the thread does. */
static bool only_computes(pid_t pid, pid_t tid)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    struct activity first, now;
    bool alive = look(pid, tid, &first);

    for (int i = 0; i < LOOKS && alive; i++) {
        nanosleep(&pause, NULL);
        alive = look(pid, tid, &now);
        if (!alive || now.pauses != first.pauses || now.read != first.read || now.written != first.written ||
            now.system_ticks != first.system_ticks)
            return false;
        if (now.ticks - first.ticks >= TICKS)
            return true;
    }
    return false;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* In DWARF's order, as the ABI of each architecture has it. */
static bool take_registers(const struct user_regs_struct *r, struct handler_thread *t)
{
#if defined(__x86_64__)
    const uint64_t all[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
                            r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip};

    memcpy(t->registers, all, sizeof(all));
    t->sp = r->rsp;
    t->pc = r->rip;
    return true;
#elif defined(__aarch64__)
    for (int i = 0; i < 31; i++)
        t->registers[i] = r->regs[i];
    t->registers[31] = t->sp = r->sp;
    t->pc = r->pc;
    return true;
#else
    (void) r;
    t->why = "stacks are read on x86-64 and 64-bit ARM only";
    return false;
#endif
}

/* A signal that it does not block, and that ends its call. */
static bool is_signalled(pid_t pid, pid_t tid)
{
    uint64_t pending = number_of(pid, tid, "status", "SigPnd", 16) |
                       number_of(pid, tid, "status", "ShdPnd", 16);

    return (pending & ~number_of(pid, tid, "status", "SigBlk", 16)) != 0;
}

/* A call that would end with EINTR, or be taken up again by restart_syscall, has hardly begun: it is
 * begun anew instead, and the program learns nothing.
 * Source: Linux, arch/x86/kernel/signal.c, arch_do_signal_or_restart(). */
static void begin_call_anew(pid_t pid, pid_t tid, struct user_regs_struct *r)
{
#if defined(__x86_64__)
    enum { RESTARTNOINTR = 513, RESTART_RESTARTBLOCK = 516 };
    struct iovec v = {.iov_base = r, .iov_len = sizeof(*r)};
    int64_t result = (int64_t) r->rax;

    if ((int64_t) r->orig_rax < 0 || (result != -EINTR && result != -RESTART_RESTARTBLOCK) ||
        is_signalled(pid, tid))
        return;
    r->rax = (uint64_t) (int64_t) -RESTARTNOINTR;
    ptrace(PTRACE_SETREGSET, tid, (void *) NT_PRSTATUS, &v);
#else
    (void) pid;
    (void) tid;
    (void) r;
#endif
}

/* ---- holding it ------------------------------------------------------------------------------ */

struct hold {
    pid_t pid;
    int mem;
    struct handler_thread *t;
    struct handler_copy *copy;
};

/* Of a stop by PTRACE_INTERRUPT; any other is a signal, which has come just then and is passed on. */
static bool is_without_signal(int status)
{
    return status >> 16 == PTRACE_EVENT_STOP;
}

static void copy_held(const struct hold *h, int status)
{
    struct user_regs_struct r;
    struct iovec v = {.iov_base = &r, .iov_len = sizeof(r)};
    struct handler_thread *t = h->t;

    if (ptrace(PTRACE_GETREGSET, t->tid, (void *) NT_PRSTATUS, &v)) {
        t->why = "its registers cannot be read";
        return;
    }
    t->has_registers = take_registers(&r, t);
    if (t->has_registers && !handler_copy_stack(h->mem, t->sp, h->copy))
        t->why = "its stack cannot be read";
    if (is_without_signal(status))
        begin_call_anew(h->pid, t->tid, &r);
}

/* The kernel sends SIGCHLD when a thread is held; it is blocked in all threads here.  False: not in
 * time, or the thread has ended. */
static bool wait_until_held(pid_t tid, uint64_t until, int *status)
{
    uint64_t now;
    sigset_t set;
    pid_t rc;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    while ((rc = waitpid(tid, status, __WALL | WNOHANG)) == 0 && (now = now_ns()) < until) {
        struct timespec rest = {.tv_sec = (time_t) ((until - now) / 1000000000),
                                .tv_nsec = (long) ((until - now) % 1000000000)};
        sigtimedwait(&set, NULL, &rest);
    }
    return rc == tid && WIFSTOPPED(*status);
}

static const char *why_not(int error)
{
    return error == EPERM   ? "ptrace is not permitted: a debugger holds it, or the system forbids it "
                              "(kernel.yama.ptrace_scope)"
           : error == ESRCH ? "the thread has ended"
                            : "ptrace failed";
}

static void *hold(void *arg)
{
    const struct hold *h = arg;
    struct handler_thread *t = h->t;
    uint64_t from = now_ns();
    int status;

    if (ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL)) {
        t->why = why_not(errno);
    } else if (!wait_until_held(t->tid, from + HOLD_NS, &status)) {
        t->why = "the thread could not be held in time";
    } else {
        copy_held(h, status);
        ptrace(PTRACE_DETACH, t->tid, NULL,
               (void *) (long) (is_without_signal(status) ? 0 : WSTOPSIG(status)));
        t->pause_ns = now_ns() - from;
    }
    return NULL;
}

bool handler_hold(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy)
{
    struct hold h = {.pid = pid, .mem = mem, .t = t, .copy = copy};
    pthread_t tracer;
    sigset_t set;

    if (!only_computes(pid, t->tid)) {
        t->why = "perf_event_open is not permitted (kernel.perf_event_paranoid), and it calls the "
                 "system, in which ptrace would interrupt it";
        return false;
    }
    memset(copy->stack, 1, sizeof(copy->stack)); /* so that no page is missing while it is held */
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&tracer, NULL, hold, &h) == 0)
        pthread_join(tracer, NULL);
    else
        t->why = "out of memory";
    return true;
}
