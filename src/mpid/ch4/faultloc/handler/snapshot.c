/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/syscalls.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * A thread is held only while its registers and its stack are copied; they are read afterwards.
 *
 * It is held by PTRACE_SEIZE and PTRACE_INTERRUPT, which send no signal and leave a thread that is
 * stopped as it is.  A tracer that ends lets go of all that it traces, whatever becomes of it, so
 * nothing is left held.  The tracer is a thread here, which ends when the copies are made, or when a
 * thread could not be held in time: that one would stop later, with nobody to let it go; the next
 * tracer goes on with the others.
 *
 * Some system calls end with EINTR when their thread is held, and a program may take that for an
 * error.  In these it is not held: the kernel tells stack pointer and program counter of a thread
 * that waits.  The same goes for state D, in which nobody can be held, and for a call on a file of a
 * FUSE server, which is told to interrupt it and may end it with EINTR (fuse_interrupted() of libfuse).
 */

#define HOLD_NS 100000000 /* so long a thread may take to be held */
#define RED_ZONE 128 /* of x86-64's ABI, below the stack pointer */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* In DWARF's order, as the ABI of each architecture has it.  False: not for this one. */
#if defined(__x86_64__)
static bool take_registers(const struct user_regs_struct *r, struct handler_thread *t)
{
    const uint64_t all[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
                            r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip};

    memcpy(t->registers, all, sizeof(all));
    t->sp = r->rsp;
    t->pc = r->rip;
    return true;
}
#elif defined(__aarch64__)
static bool take_registers(const struct user_regs_struct *r, struct handler_thread *t)
{
    for (int i = 0; i < 31; i++)
        t->registers[i] = r->regs[i];
    t->registers[31] = t->sp = r->sp;
    t->pc = r->pc;
    return true;
}
#else
static bool take_registers(const struct user_regs_struct *r, struct handler_thread *t)
{
    (void) r;
    t->why = "stacks are read on x86-64 and 64-bit ARM only";
    return false;
}
#endif

/* ---- a copy ---------------------------------------------------------------------------------- */

struct work {
    struct handler_process *p;
    size_t bytes;
    int mem; /* the process's memory */
    int next; /* the thread that comes next */
};

static void copy_stack(const struct work *w, struct handler_thread *t)
{
    ssize_t n;

    t->stack_at = t->sp > RED_ZONE ? t->sp - RED_ZONE : 0;
    n = pread(w->mem, t->stack, w->bytes, (off_t) t->stack_at);
    t->stack_bytes = n > 0 ? (size_t) n : 0;
    if (n <= 0)
        t->why = "its stack cannot be read";
}

static void copy_registers(struct handler_thread *t)
{
    struct user_regs_struct r;
    struct iovec v = {.iov_base = &r, .iov_len = sizeof(r)};

    if (ptrace(PTRACE_GETREGSET, t->tid, (void *) NT_PRSTATUS, &v))
        t->why = "its registers cannot be read";
    else
        t->has_registers = take_registers(&r, t);
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

/* A signal that has come just then is passed on. */
static void let_go(pid_t tid, int status)
{
    long signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);

    ptrace(PTRACE_DETACH, tid, NULL, (void *) signal);
}

static const char *why_not(int error)
{
    return error == EPERM   ? "ptrace is not permitted: a debugger holds it, or the system forbids it "
                              "(kernel.yama.ptrace_scope)"
           : error == ESRCH || error == ENOENT ? "the thread has ended"
                            : "ptrace failed";
}

/* False: it is not held yet, and may still be. */
static bool hold(const struct work *w, struct handler_thread *t)
{
    uint64_t from = now_ns();
    int status;

    if (ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL)) {
        t->why = why_not(errno);
        return true;
    }
    if (!wait_until_held(t->tid, from + HOLD_NS, &status)) {
        t->why = "the thread could not be held in time";
        return false;
    }
    copy_registers(t);
    if (t->has_registers)
        copy_stack(w, t);
    let_go(t->tid, status);
    t->pause_ns = now_ns() - from;
    return true;
}

/* A call on a socket that has a timeout ends with EINTR.  Where the kernel does not say, it may have
 * one. */
static bool may_have_timeout(pid_t pid, const struct handler_file *f)
{
    struct timeval in = {0}, out = {0};
    socklen_t len = sizeof(in);
    int process, fd = -1;
    bool known;

    if (strncmp(f->path, "socket:", 7))
        return false;
    process = (int) syscall(SYS_pidfd_open, pid, 0);
    if (process >= 0) {
        fd = (int) syscall(SYS_pidfd_getfd, process, f->fd, 0);
        close(process);
    }
    known = fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &in, &len) == 0 &&
            getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &out, &len) == 0;
    if (fd >= 0)
        close(fd);
    return !known || timerisset(&in) || timerisset(&out);
}

static bool may_be_held(pid_t pid, const struct handler_thread *t)
{
    const struct handler_syscall *s = handler_syscall(t->syscall);

    return t->state != 'D' && !(s && s->interrupts) &&
           !faultloc_proc_awaits_fuse(t->wait_channel) && !may_have_timeout(pid, &t->file);
}

/* The thread may have gone on since the kernel told where it waits, and then its stack does not
 * fit: what was read from it is compared. */
static void copy_without_holding(const struct work *w, struct handler_thread *t)
{
    uint64_t arguments[6], sp, pc;
    char path[64], line[512] = "";
    long number;
    FILE *f;

    if (!t->sp) {
        t->why = "it is in the kernel, which does not tell where it was called";
        return;
    }
    copy_stack(w, t);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int) w->p->pid, (int) t->tid);
    f = fopen(path, "re");
    if (!f || !fgets(line, sizeof(line), f) ||
        !handler_syscall_parse(line, &number, arguments, &sp, &pc) || sp != t->sp || pc != t->pc)
        t->why = "it ran meanwhile";
    if (f)
        fclose(f);
}

static void *copy_all(void *arg)
{
    struct work *w = arg;
    bool goes_on = true;

    while (goes_on && w->next < w->p->threads) {
        struct handler_thread *t = &w->p->thread[w->next++];
        handler_thread_facts(NULL, w->p->pid, t); /* it may be in another call than some time ago */
        if (t->why || t->state == 'Z' || t->state == 'X')
            continue;
        t->stack = malloc(w->bytes);
        if (!t->stack) {
            t->why = "out of memory";
            continue;
        }
        memset(t->stack, 1, w->bytes); /* so that no page is missing while the thread is held */
        if (may_be_held(w->p->pid, t))
            goes_on = hold(w, t);
        else
            copy_without_holding(w, t);
    }
    return NULL;
}

void handler_snapshot(struct handler_process *p, size_t bytes)
{
    struct work w = {.p = p, .bytes = bytes};
    pthread_t tracer;
    sigset_t set;
    char path[64];

    if (p->why)
        return;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int) p->pid);
    w.mem = open(path, O_RDONLY | O_CLOEXEC);
    if (w.mem < 0)
        for (int i = 0; i < p->threads; i++)
            p->thread[i].why = why_not(errno == EACCES ? EPERM : errno);
    while (w.mem >= 0 && w.next < p->threads && pthread_create(&tracer, NULL, copy_all, &w) == 0)
        pthread_join(tracer, NULL);
    if (w.mem >= 0)
        close(w.mem);
}
