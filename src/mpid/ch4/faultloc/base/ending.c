/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/ending.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/syscalls.h"
#include "faultloc/base/text_file.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

#define POLLED_MAX 64 /* descriptors of a poll that are looked at */
#define LINK_MAX_BYTES 128

struct process {
    const char *root;
    pid_t pid;
    bool is_handling; /* signals, by handlers of its own */
};

/* What a thread sleeps in. */
struct call {
    long number;
    unsigned long arg[6];
};

/* ---- signals --------------------------------------------------------------------------------- */

#define OF_SIGNAL(n) (1ull << ((n) - 1))
/* Those of which a handler does not go on with the program's work, also where it is that of a
 * language (Fortran handles SIGQUIT, SIGXCPU and SIGXFSZ in each program, Python SIGINT); two of the
 * C library's own, and two that MPICH (SIGUSR1) and UCX (SIGHUP) handle in each rank. */
#define NOT_OF_PROGRAM \
    (OF_SIGNAL(SIGILL) | OF_SIGNAL(SIGTRAP) | OF_SIGNAL(SIGABRT) | OF_SIGNAL(SIGBUS) | \
     OF_SIGNAL(SIGFPE) | OF_SIGNAL(SIGSEGV) | OF_SIGNAL(SIGSYS) | OF_SIGNAL(SIGQUIT) | \
     OF_SIGNAL(SIGXCPU) | OF_SIGNAL(SIGXFSZ) | OF_SIGNAL(SIGINT) | OF_SIGNAL(32) | \
     OF_SIGNAL(33) | OF_SIGNAL(SIGUSR1) | OF_SIGNAL(SIGHUP))

static bool handles_signals(const char *root, pid_t pid)
{
    static const char title[] = "\nSigCgt:";
    char text[16384];
    const char *at;

    faultloc_text_read(root, text, sizeof(text), "%d/status", (int) pid);
    at = strstr(text, title);
    return at && (strtoull(at + sizeof(title) - 1, NULL, 16) & ~NOT_OF_PROGRAM) != 0;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static void link_of(const struct process *p, long fd, char link[LINK_MAX_BYTES])
{
    char path[256];
    ssize_t n;

    snprintf(path, sizeof(path), "%s/%d/fd/%ld", p->root, (int) p->pid, fd);
    n = readlink(path, link, LINK_MAX_BYTES - 1);
    link[n > 0 ? n : 0] = '\0';
}

static bool begins_with(const char *text, const char *begin)
{
    return !strncmp(text, begin, strlen(begin));
}

/* Standard input, also by another number, or a terminal. */
static bool is_input(const struct process *p, long fd)
{
    char link[LINK_MAX_BYTES], input[LINK_MAX_BYTES];

    if (fd == 0)
        return true;
    link_of(p, fd, link);
    link_of(p, 0, input);
    return (*link && !strcmp(link, input)) || begins_with(link, "/dev/pts/") ||
           begins_with(link, "/dev/tty") || begins_with(link, "/dev/console");
}

/* Or it is not known. */
static bool any_in_disk_sleep(const struct process *p)
{
    const struct dirent *entry;
    struct faultloc_proc thread;
    char path[256];
    bool any = false;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/%d/task", p->root, (int) p->pid);
    dir = opendir(path);
    if (!dir)
        return true;
    while (!any && (entry = readdir(dir)) != NULL)
        any = faultloc_proc_read(path, (pid_t) strtol(entry->d_name, NULL, 10), &thread) == 0 &&
              thread.state == 'D';
    closedir(dir);
    return any;
}

/* False: it cannot be read, or that may have to wait for a disk: a thread that waits in a page fault
 * has the lock of the process's memory. */
static bool read_memory(const struct process *p, unsigned long at, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *) (uintptr_t) at, bytes};

    return at && !any_in_disk_sleep(p) && process_vm_readv(p->pid, &here, 1, &there, 1, 0) == (ssize_t) bytes;
}

static bool polls_input(const struct process *p, unsigned long fds, unsigned long n)
{
    struct pollfd polled[POLLED_MAX];

    n = n < POLLED_MAX ? n : POLLED_MAX;
    if (n == 0 || !read_memory(p, fds, polled, n * sizeof(polled[0])))
        return false;
    for (unsigned long i = 0; i < n; i++)
        if (polled[i].fd >= 0 && (polled[i].events & POLLIN) && is_input(p, polled[i].fd))
            return true;
    return false;
}

static bool selects_input(const struct process *p, unsigned long n, unsigned long set)
{
    unsigned long bits;

    if (!read_memory(p, set, &bits, sizeof(bits)))
        return false;
    for (unsigned long fd = 0; fd < n && fd < 8 * sizeof(bits); fd++)
        if ((bits >> fd & 1) && is_input(p, (long) fd))
            return true;
    return false;
}

/* Of an epoll the kernel lists the descriptors.  Source: proc(5), /proc/PID/fdinfo. */
static bool epolls_input(const struct process *p, int epoll)
{
    static const char title[] = "\ntfd:";
    unsigned events;
    char text[4096];
    long fd;

    faultloc_text_read(p->root, text, sizeof(text), "%d/fdinfo/%d", (int) p->pid, epoll);
    for (const char *at = strstr(text, title); at; at = strstr(at + 1, title))
        if (sscanf(at + sizeof(title) - 1, "%ld events: %x", &fd, &events) == 2 &&
            (events & EPOLLIN) && is_input(p, fd))
            return true;
    return false;
}

static bool reads(long number)
{
    return number == SYS_read || number == SYS_readv || number == SYS_recvfrom ||
           number == SYS_recvmsg;
}

static bool waits_for_input(const struct process *p, const struct call *c)
{
    switch (c->number) {
#ifdef SYS_poll
        case SYS_poll:
#endif
        case SYS_ppoll:
            return polls_input(p, c->arg[0], c->arg[1]);
#ifdef SYS_select
        case SYS_select:
#endif
        case SYS_pselect6:
            return selects_input(p, c->arg[0], c->arg[1]);
#ifdef SYS_epoll_wait
        case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
        case SYS_epoll_pwait2:
#endif
        case SYS_epoll_pwait:
            return epolls_input(p, (int) c->arg[0]);
        default:
            return reads(c->number) && is_input(p, (int) c->arg[0]);
    }
}

static bool reads_from(const struct process *p, const struct call *c, const char *link)
{
    char of[LINK_MAX_BYTES] = "";

    if (c->number == SYS_read)
        link_of(p, (int) c->arg[0], of);
    return !strcmp(of, link);
}

/* ---- timeouts -------------------------------------------------------------------------------- */

/* Calls with a timeout: the argument that points to it, or is it, in ms. */
static const struct {
    long number;
    int8_t pointer, ms;
} timed[] = {
#ifdef SYS_poll
    {SYS_poll, -1, 2},
    {SYS_select, 4, -1},
    {SYS_epoll_wait, -1, 3},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, 3, -1},
#endif
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, 3, -1},
#endif
    {SYS_ppoll, 2, -1},           {SYS_pselect6, 4, -1},     {SYS_epoll_pwait, -1, 3},
    {SYS_nanosleep, 0, -1},       {SYS_clock_nanosleep, 2, -1}, {SYS_futex, 3, -1},
    {SYS_rt_sigtimedwait, 2, -1}, {SYS_semtimedop, 3, -1},   {SYS_mq_timedreceive, 4, -1},
    {SYS_mq_timedsend, 4, -1},    {SYS_recvmmsg, 4, -1},     {SYS_io_getevents, 4, -1}};

static bool has_timeout(const struct process *p, const struct call *c)
{
    if (c->number == SYS_restart_syscall) /* no other call goes on by that */
        return true;
    for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
        if (timed[i].number == c->number)
            return timed[i].ms < 0 ? c->arg[timed[i].pointer] != 0 : (int) c->arg[timed[i].ms] > 0;
    return reads_from(p, c, "anon_inode:[timerfd]");
}

/* ---- one thread ------------------------------------------------------------------------------ */

static bool waits_for_signal(const struct process *p, const struct call *c)
{
#ifdef SYS_pause
    if (c->number == SYS_pause)
        return true;
#endif
    return c->number == SYS_rt_sigsuspend || c->number == SYS_rt_sigtimedwait ||
           reads_from(p, c, "anon_inode:[signalfd]");
}

#define FUTEX_COMMAND 0x7f /* as in linux/futex.h: what is done, */
#define FUTEX_OF_PROCESS 0x80 /* a flag, */
#define FUTEX_WAITS 0 /* the two commands that wait, */
#define FUTEX_WAITS_FOR_BITS 9
#define FUTEX_LOCKS 6 /* and those of a lock with priority inheritance */
#define FUTEX_LOCKS_2 13
#define FUTEX_THREAD 0x3ffffffful /* of a value: its number, beside two flags */

/* For a lock, or the end of another thread, without a timeout: no signal ends that.  A semaphore,
 * which a handler may post, a condition and a read-write lock look alike, and not like these. */
static bool waits_for_thread(const struct process *p, const struct call *c)
{
    unsigned long command = c->arg[1] & FUTEX_COMMAND;
    char name[32];

    if (c->number != SYS_futex)
        return false;
    if (c->arg[1] & FUTEX_OF_PROCESS)
        return command == FUTEX_WAITS || command == FUTEX_LOCKS || command == FUTEX_LOCKS_2;
    if (command != FUTEX_WAITS && command != FUTEX_WAITS_FOR_BITS)
        return false;
    /* the word is the number of the thread that is joined, or has a lock that is robust */
    faultloc_text_read(p->root, name, sizeof(name), "%d/task/%lu/comm", (int) p->pid,
                       c->arg[2] & FUTEX_THREAD);
    return *name;
}

#ifdef SYS_poll
static bool waits_in_poll(const struct process *p, long tid)
{
    char wchan[64];

    faultloc_text_read(p->root, wchan, sizeof(wchan), "%d/task/%ld/wchan", (int) p->pid, tid);
    return strstr(wchan, "poll");
}
#endif

/* False: it runs, or the kernel does not tell.  After a stop a poll goes on by restart_syscall(),
 * with its own arguments, also where it has no timeout. */
static bool read_call(const struct process *p, long tid, struct call *c)
{
    char line[256];

    faultloc_text_read(p->root, line, sizeof(line), "%d/task/%ld/syscall", (int) p->pid, tid);
    if (sscanf(line, "%ld %lx %lx %lx %lx %lx %lx", &c->number, &c->arg[0], &c->arg[1],
               &c->arg[2], &c->arg[3], &c->arg[4], &c->arg[5]) != 7)
        return false;
#ifdef SYS_poll
    if (c->number == SYS_restart_syscall && waits_in_poll(p, tid))
        c->number = SYS_poll;
#endif
    return true;
}

static enum ftree_ending ending_of(const struct process *p, long tid)
{
    struct call c;

    if (!read_call(p, tid, &c))
        return FTREE_ENDING_UNKNOWN;
    if (waits_for_input(p, &c))
        return FTREE_ENDING_INPUT;
    if (has_timeout(p, &c))
        return FTREE_ENDING_TIMEOUT;
    if (waits_for_signal(p, &c))
        return FTREE_ENDING_SIGNAL;
    if (waits_for_thread(p, &c))
        return FTREE_ENDING_THREAD;
    return p->is_handling ? FTREE_ENDING_SIGNAL : FTREE_ENDING_UNKNOWN;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_known(const pid_t *known, int n, long tid)
{
    for (int i = 0; i < n; i++)
        if (known[i] == tid)
            return true;
    return false;
}

enum ftree_ending faultloc_ending(const char *root, pid_t pid, const pid_t *known, int n)
{
    struct process p = {.root = root ? root : "/proc", .pid = pid};
    enum ftree_ending found = FTREE_ENDING_THREAD;
    const struct dirent *entry;
    char path[256];
    DIR *dir;

    snprintf(path, sizeof(path), "%s/%d/task", p.root, (int) pid);
    dir = opendir(path);
    if (!dir)
        return FTREE_ENDING_UNKNOWN;
    p.is_handling = handles_signals(p.root, pid);
    while (found < FTREE_ENDING_INPUT && (entry = readdir(dir)) != NULL) {
        long tid = strtol(entry->d_name, NULL, 10);
        enum ftree_ending of = FTREE_ENDING_THREAD;
        if (tid > 0 && !is_known(known, n, tid))
            of = ending_of(&p, tid);
        found = of > found ? of : found; /* the enumeration is in that order */
    }
    closedir(dir);
    return found;
}
