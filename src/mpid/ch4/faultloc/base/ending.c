/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/ending.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/syscalls.h"
#include "faultloc/base/text_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define POLLED_MAX 64 /* descriptors of a poll that are looked at */
#define LINK_MAX_BYTES 512

struct process {
    const char *root;
    pid_t pid;
    bool is_handling; /* signals, by handlers of its own */
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
    faultloc_proc_link(p->root, p->pid, fd, link, LINK_MAX_BYTES);
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

static bool is_in_no_disk_sleep(void *ctx, pid_t tid)
{
    const struct process *p = ctx;
    struct faultloc_proc thread;
    char path[256];

    snprintf(path, sizeof(path), "%s/%d/task", p->root, (int) p->pid);
    return faultloc_proc_read(path, tid, &thread) || thread.state != 'D';
}

/* False: it cannot be read, or that may have to wait for a disk: a thread that waits in a page fault
 * has the lock of the process's memory. */
static bool read_memory(const struct process *p, unsigned long at, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *) (uintptr_t) at, bytes};

    return at && faultloc_proc_all_threads(p->root, p->pid, is_in_no_disk_sleep,
                                           (void *) (uintptr_t) p) &&
           process_vm_readv(p->pid, &here, 1, &there, 1, 0) == (ssize_t) bytes;
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

static bool waits_for_input(const struct process *p, const struct faultloc_proc_call *c)
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

static bool reads_from(const struct process *p, const struct faultloc_proc_call *c, const char *link)
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

static bool has_timeout(const struct process *p, const struct faultloc_proc_call *c)
{
    if (c->number == SYS_restart_syscall) /* no other call goes on by that */
        return true;
    for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
        if (timed[i].number == c->number)
            return timed[i].ms < 0 ? c->arg[timed[i].pointer] != 0 : (int) c->arg[timed[i].ms] > 0;
    return reads_from(p, c, "anon_inode:[timerfd]");
}

/* ---- one thread ------------------------------------------------------------------------------ */

static bool waits_for_signal(const struct process *p, const struct faultloc_proc_call *c)
{
#ifdef SYS_pause
    if (c->number == SYS_pause)
        return true;
#endif
    return c->number == SYS_rt_sigsuspend || c->number == SYS_rt_sigtimedwait ||
           reads_from(p, c, "anon_inode:[signalfd]");
}

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif

/* For a lock, or the end of another thread, without a timeout: no signal ends that.  A semaphore,
 * which a handler may post, a condition and a read-write lock look alike, and not like these. */
static bool waits_for_thread(const struct process *p, const struct faultloc_proc_call *c)
{
    int op = (int) c->arg[1], command = op & FUTEX_CMD_MASK;
    char name[32];

    if (c->number != SYS_futex)
        return false;
    if (op & FUTEX_PRIVATE_FLAG)
        return command == FUTEX_WAIT || command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
    if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
        return false;
    /* the word is the number of the thread that is joined, or has a lock that is robust */
    faultloc_text_read(p->root, name, sizeof(name), "%d/task/%u/comm", (int) p->pid,
                       (unsigned) c->arg[2] & FUTEX_TID_MASK);
    return *name;
}

#ifdef SYS_poll
static bool waits_in_poll(const struct process *p, pid_t tid)
{
    char wchan[64];

    faultloc_text_read(p->root, wchan, sizeof(wchan), "%d/task/%d/wchan", (int) p->pid, (int) tid);
    return strstr(wchan, "poll");
}
#endif

/* False: it runs, or the kernel does not tell.  After a stop a poll goes on by restart_syscall(),
 * with its own arguments, also where it has no timeout. */
static bool read_call(const struct process *p, pid_t tid, struct faultloc_proc_call *c)
{
    if (!faultloc_proc_call(p->root, p->pid, tid, c) || c->number < 0)
        return false;
#ifdef SYS_poll
    if (c->number == SYS_restart_syscall && waits_in_poll(p, tid))
        c->number = SYS_poll;
#endif
    return true;
}

static enum ftree_ending ending_of(const struct process *p, pid_t tid)
{
    struct faultloc_proc_call c;

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

struct endings {
    struct process p;
    const pid_t *known;
    int n;
    bool any; /* thread was seen */
    enum ftree_ending found;
};

static bool take_ending(void *ctx, pid_t tid)
{
    struct endings *e = ctx;
    enum ftree_ending of = FTREE_ENDING_THREAD;

    if (!faultloc_proc_is_among(e->known, e->n, tid))
        of = ending_of(&e->p, tid);
    e->any = true;
    e->found = of > e->found ? of : e->found; /* the enumeration is in that order */
    return e->found < FTREE_ENDING_INPUT;
}

enum ftree_ending faultloc_ending(const char *root, pid_t pid, const pid_t *known, int n)
{
    struct endings e = {.p = {.root = root ? root : "/proc", .pid = pid},
                        .known = known,
                        .n = n,
                        .found = FTREE_ENDING_THREAD};

    e.p.is_handling = handles_signals(e.p.root, pid);
    faultloc_proc_all_threads(root, pid, take_ending, &e);
    return e.any ? e.found : FTREE_ENDING_UNKNOWN;
}

/* ---- whom it awaits -------------------------------------------------------------------------- */

#define LINKS_MAX 8192 /* descriptors of other processes that are looked at */

struct search {
    const struct process *p;
    const pid_t *ranks; /* of the job, on this node */
    int n, left; /* links that may be read */
};

/* Ranks may have many descriptors, and other processes of the user are few: these first. */
static pid_t find_among(struct search *s, bool ranks, const char *link, int mode)
{
    const struct dirent *entry;
    pid_t found = 0;
    DIR *dir = opendir(s->p->root);

    while (dir && !found && (entry = readdir(dir)) != NULL) {
        pid_t pid = (pid_t) strtol(entry->d_name, NULL, 10);
        bool is_rank = pid == s->p->pid || faultloc_proc_is_among(s->ranks, s->n, pid);
        if (pid > 0 && is_rank == ranks && faultloc_proc_has_open(s->p->root, pid, link, mode, &s->left))
            found = pid;
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Who has the other end: a process outside the job; -1: ranks alone; 0: nobody that can be seen. */
static pid_t find_holder(struct search *s, const char *link, int mode)
{
    pid_t found = find_among(s, false, link, mode);

    return found ? found : find_among(s, true, link, mode) ? -1 : 0;
}

/* "process 123 (driver)" */
static void name_process(const struct search *s, pid_t pid, char *buf, size_t room)
{
    struct faultloc_proc proc;

    if (pid > 0 && faultloc_proc_read(s->p->root, pid, &proc) == 0)
        snprintf(buf, room, "process %d (%.16s)", (int) pid, proc.comm);
    else
        snprintf(buf, room, "another process");
}

static bool awaits_pipe(struct search *s, const char *link, bool writes, char *whom, size_t room)
{
    pid_t holder = find_holder(s, link, writes ? O_RDONLY : O_WRONLY);
    char name[48];

    if (holder < 0)
        return false;
    name_process(s, holder, name, sizeof(name));
    snprintf(whom, room, "%s by a pipe", name);
    return true;
}

/* The socket at the other end; 0: the kernel does not tell. */
static unsigned long peer_of_unix(unsigned long inode)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req diag;
    } ask = {{.nlmsg_len = sizeof(ask), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
             {.sdiag_family = AF_UNIX,
              .udiag_states = UINT32_MAX,
              .udiag_ino = (uint32_t) inode,
              .udiag_show = UDIAG_SHOW_PEER,
              .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
    _Alignas(struct nlmsghdr) char answer[1024];
    const struct nlmsghdr *head = (const struct nlmsghdr *) (const void *) answer;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t n = fd >= 0 && send(fd, &ask, sizeof(ask), 0) > 0
                    ? recv(fd, answer, sizeof(answer), MSG_DONTWAIT)
                    : -1;
    unsigned long peer = 0;

    if (fd >= 0)
        close(fd);
    if (n < (ssize_t) NLMSG_LENGTH(sizeof(struct unix_diag_msg)) ||
        head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len > (size_t) n)
        return 0;
    n = (ssize_t) head->nlmsg_len - (ssize_t) NLMSG_LENGTH(sizeof(struct unix_diag_msg));
    for (const struct rtattr *a =
             (const struct rtattr *) (const void *) (answer +
                                                     NLMSG_LENGTH(sizeof(struct unix_diag_msg)));
         RTA_OK(a, n); a = RTA_NEXT(a, n))
        if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(uint32_t))
            peer = *(const uint32_t *) RTA_DATA(a);
    return peer;
}

#define ADDRESS_MAX 48 /* as in /proc/net/tcp6: 32 digits, and the port */

/* Finds the line of a socket by its inode, or where that is 0 by its two addresses, and fills in the
 * other of the two. */
static bool find_tcp(const struct search *s, const char *file, unsigned long *inode,
                     char local[ADDRESS_MAX], char remote[ADDRESS_MAX])
{
    char path[256], line[512], from[ADDRESS_MAX], to[ADDRESS_MAX];
    unsigned long of;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%d/net/%s", s->p->root, (int) s->p->pid, file);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof(line), f)) {
        if (sscanf(line, " %*d: %47s %47s %*x %*s %*s %*s %*u %*d %lu", from, to, &of) != 3)
            continue;
        found = *inode ? of == *inode : !strcmp(from, local) && !strcmp(to, remote);
        if (found) {
            *inode = of;
            memcpy(local, from, ADDRESS_MAX);
            memcpy(remote, to, ADDRESS_MAX);
        }
    }
    if (f)
        fclose(f);
    return found;
}

/* "0100007F:1F90" is 127.0.0.1:8080; of a longer address the last part alone is of version 4. */
static void name_address(const char *hex, char *buf, size_t room)
{
    const char *colon = strchr(hex, ':');
    size_t digits = colon ? (size_t) (colon - hex) : 0;
    bool is_4 = digits == 8 || (digits == 32 && !strncmp(hex + 16, "FFFF0000", 8));
    unsigned long a = digits >= 8 ? strtoul(colon - 8, NULL, 16) : 0;
    unsigned long port = colon ? strtoul(colon + 1, NULL, 16) : 0;

    if (is_4)
        snprintf(buf, room, "%lu.%lu.%lu.%lu:%lu", a & 255, a >> 8 & 255, a >> 16 & 255, a >> 24 & 255,
                 port);
    else
        snprintf(buf, room, "port %lu of another host", port);
}

/* Where both ends are on this node the process is known. */
static pid_t peer_of_tcp(struct search *s, unsigned long inode, char *address, size_t room)
{
    static const char *const files[] = {"tcp", "tcp6"};
    char local[ADDRESS_MAX] = "", remote[ADDRESS_MAX] = "", link[LINK_MAX_BYTES];
    unsigned long of = inode, peer = 0;
    int i = 0;

    while (i < 2 && !find_tcp(s, files[i], &of, local, remote))
        i++;
    if (i == 2)
        return 0;
    name_address(remote, address, room);
    if (!find_tcp(s, files[i], &peer, remote, local) || peer == 0)
        return 0;
    snprintf(link, sizeof(link), "socket:[%lu]", peer);
    return find_holder(s, link, -1);
}

static bool awaits_socket(struct search *s, const char *link, char *whom, size_t room)
{
    unsigned long inode = strtoul(link + strlen("socket:["), NULL, 10), peer = peer_of_unix(inode);
    char other[LINK_MAX_BYTES], name[48], address[48] = "";
    pid_t holder;

    snprintf(other, sizeof(other), "socket:[%lu]", peer);
    holder = peer ? find_holder(s, other, -1) : peer_of_tcp(s, inode, address, sizeof(address));
    if (holder < 0)
        return false;
    name_process(s, holder, name, sizeof(name));
    snprintf(whom, room, "%s by a socket", holder == 0 && *address ? address : name);
    return true;
}

/* Only of a file that the thread is seen to wait in: "/run/x" may be a FIFO, or no file to wait in. */
static bool awaits_file(struct search *s, long fd, bool writes, bool in_pipe, char *whom, size_t room)
{
    char link[LINK_MAX_BYTES];

    link_of(s->p, fd, link);
    if (begins_with(link, "socket:["))
        return awaits_socket(s, link, whom, room);
    if (begins_with(link, "pipe:[") || (in_pipe && link[0] == '/'))
        return awaits_pipe(s, link, writes, whom, room);
    return false;
}

static bool prints(long number)
{
    return number == SYS_write || number == SYS_writev || number == SYS_sendto ||
           number == SYS_sendmsg;
}

/* Standard output and error, also by another number, and a terminal. */
static bool is_output(const struct process *p, const struct faultloc_proc_call *c, char *whom, size_t room)
{
    static const char *const names[] = {"", "standard output", "standard error"};
    char link[LINK_MAX_BYTES], output[LINK_MAX_BYTES];

    if (!prints(c->number))
        return false;
    link_of(p, (long) c->arg[0], link);
    for (int fd = 1; fd <= 2; fd++) {
        link_of(p, fd, output);
        if ((long) c->arg[0] == fd || (*link && !strcmp(link, output))) {
            snprintf(whom, room, "%s is not read", names[fd]);
            return true;
        }
    }
    if (!begins_with(link, "/dev/pts/") && !begins_with(link, "/dev/tty"))
        return false;
    snprintf(whom, room, "its terminal is not read");
    return true;
}

/* The first descriptor that is polled; -1: not known. */
static long first_polled(const struct process *p, const struct faultloc_proc_call *c)
{
    struct pollfd polled;
    unsigned long bits;

    switch (c->number) {
#ifdef SYS_poll
        case SYS_poll:
#endif
        case SYS_ppoll:
            return c->arg[1] > 0 && read_memory(p, c->arg[0], &polled, sizeof(polled)) ? polled.fd : -1;
#ifdef SYS_select
        case SYS_select:
#endif
        case SYS_pselect6:
            return read_memory(p, c->arg[1], &bits, sizeof(bits)) && bits ? __builtin_ctzl(bits) : -1;
        default:
            return -1;
    }
}

static bool waits_for_child(long number)
{
    return number == SYS_wait4 || number == SYS_waitid;
}

/* Who has a lock of a file that it waits for: in the line above its own. */
static bool awaits_lock(struct search *s, char *whom, size_t room)
{
    char path[256], line[256], name[48];
    long pid, holder = 0;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof(path), "%s/locks", s->p->root);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof(line), f)) {
        bool waits = strstr(line, " -> ") != NULL;
        if (sscanf(line, waits ? "%*d: -> %*s %*s %*s %ld" : "%*d: %*s %*s %*s %ld", &pid) != 1)
            continue;
        found = waits && pid == s->p->pid;
        holder = waits ? holder : pid;
    }
    if (f)
        fclose(f);
    if (!found || (holder > 0 && faultloc_proc_is_among(s->ranks, s->n, holder)))
        return false;
    name_process(s, (pid_t) holder, name, sizeof(name));
    snprintf(whom, room, "%s has locked the file", name);
    return true;
}

static bool awaits_child(struct search *s, const struct faultloc_proc_call *c, char *whom, size_t room)
{
    long child = (int) c->arg[c->number == SYS_waitid && c->arg[0] == 1 /* P_PID */];
    char list[64], name[48];

    if (child <= 1) {
        faultloc_text_read(s->p->root, list, sizeof(list), "%d/task/%d/children", (int) s->p->pid,
                           (int) s->p->pid);
        child = strtol(list, NULL, 10);
    }
    if (child <= 0)
        return false;
    name_process(s, (pid_t) child, name, sizeof(name));
    snprintf(whom, room, "%s is its child", name);
    return true;
}

static bool awaits_in(struct search *s, const struct faultloc_proc_call *c, char *whom, size_t room)
{
    bool writes = prints(c->number), in_pipe;
    char wchan[64];

    if (c->number == SYS_flock || c->number == SYS_fcntl)
        return awaits_lock(s, whom, room);
    if (waits_for_child(c->number))
        return awaits_child(s, c, whom, room);
    faultloc_proc_wchan(s->p->root, s->p->pid, wchan, sizeof(wchan));
    if (begins_with(wchan, "wait_for_partner")) {
        snprintf(whom, room, "nobody has opened the other end of a FIFO");
        return true;
    }
    in_pipe = faultloc_proc_waits_in(wchan) == FAULTLOC_PROC_PIPE;
    if (writes || reads(c->number) || c->number == SYS_connect)
        return awaits_file(s, (long) c->arg[0], writes, in_pipe, whom, room);
    return awaits_file(s, first_polled(s->p, c), false, false, whom, room);
}

/* Who has the other end of the pipe that the first thread waits in, as find_holder() says it. */
static pid_t find_partner(struct search *s)
{
    struct faultloc_proc_call c;
    char link[LINK_MAX_BYTES];

    if (!read_call(s->p, s->p->pid, &c) || (!prints(c.number) && !reads(c.number)))
        return 0;
    link_of(s->p, (long) c.arg[0], link);
    if (!begins_with(link, "pipe:["))
        return 0;
    return find_holder(s, link, prints(c.number) ? O_RDONLY : O_WRONLY);
}

static bool waits_for_end(const struct process *p)
{
    struct faultloc_proc_call c;

    return read_call(p, p->pid, &c) && waits_for_child(c.number);
}

/* On a word that no other process sees: for ever, but for a signal whose handler changes it. */
static bool waits_for_own(void *process, pid_t tid)
{
    const struct process *p = process;
    struct faultloc_proc_call c;

    return read_call(p, tid, &c) && c.number == SYS_futex && c.arg[1] & FUTEX_PRIVATE_FLAG &&
           !has_timeout(p, &c);
}

/* As one that was forked while another thread had a lock.  Looked at twice, for one may wake another
 * meanwhile. */
static bool waits_for_itself(const struct process *p)
{
    struct process own = *p;

    return faultloc_proc_all_threads(p->root, p->pid, waits_for_own, &own) &&
           faultloc_proc_all_threads(p->root, p->pid, waits_for_own, &own);
}

bool faultloc_is_stuck_with_child(const char *root, pid_t pid, const pid_t *ranks, int n, char *whom,
                                  size_t room)
{
    const struct process rank = {.root = root ? root : "/proc", .pid = pid};
    const struct process child = {.root = rank.root, .pid = faultloc_proc_last_child(rank.root, pid)};
    struct search of_rank = {.p = &rank, .ranks = ranks, .n = n, .left = LINKS_MAX};
    struct search of_child = {.p = &child, .ranks = ranks, .n = n, .left = LINKS_MAX};
    bool in_pipe = child.pid && find_partner(&of_child) < 0;
    char name[48];

    *whom = '\0';
    if (child.pid == 0 || (!in_pipe && !waits_for_itself(&child)) ||
        (!waits_for_end(&rank) && find_partner(&of_rank) != child.pid))
        return false;
    if (faultloc_proc_last_child(rank.root, pid) != child.pid)
        return false; /* before it waited it has forked another one, which may read */
    name_process(&of_child, child.pid, name, sizeof(name));
    snprintf(whom, room, "its child, %s, waits for %s", name,
             in_pipe ? "it in a pipe" : "its own threads");
    return true;
}

struct words {
    const struct process *p;
    char *whom;
    size_t room;
    bool found;
};

static bool is_not_printing(void *words, pid_t tid)
{
    struct words *w = words;
    struct faultloc_proc_call c;

    w->found = read_call(w->p, tid, &c) && is_output(w->p, &c, w->whom, w->room);
    return !w->found;
}

bool faultloc_awaits(const char *root, pid_t pid, const pid_t *ranks, int n, char *whom, size_t room)
{
    const struct process p = {.root = root ? root : "/proc", .pid = pid};
    struct search s = {.p = &p, .ranks = ranks, .n = n, .left = LINKS_MAX};
    struct words words = {.p = &p, .whom = whom, .room = room};
    struct faultloc_proc_call c;

    *whom = '\0';
    /* another thread may wait for what is printed, and have the lock of the stream */
    faultloc_proc_all_threads(root, pid, is_not_printing, &words);
    if (words.found)
        return true;
    return read_call(&p, pid, &c) && awaits_in(&s, &c, whom, room);
}
