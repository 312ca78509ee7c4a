/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

#define LARGE (4 << 20) /* more than a pipe or a socket takes at once */
#define SIGNALS 50

typedef struct blocking_case Case;

/* ---- what came of a call --------------------------------------------------------------------- */

static void say(Case *c, int64_t value)
{
    if (c->n < BLOCKING_SAID_MAX)
        c->said[c->n++] = value;
}

/* Returns rc. */
static int64_t result(Case *c, int64_t rc)
{
    int error = errno;

    say(c, rc);
    say(c, rc < 0 ? error : 0);
    return rc;
}

/* FNV-1a of what was received. */
static void say_bytes(Case *c, const void *bytes, int64_t n)
{
    const unsigned char *b = bytes;
    uint64_t h = 14695981039346656037u;

    for (int64_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 1099511628211u;
    say(c, (int64_t) h);
}

static char *pattern(size_t len)
{
    char *b = malloc(len);

    for (size_t i = 0; b && i < len; i++)
        b[i] = (char) ('a' + i * 7 % 26);
    return b;
}

static const struct timespec limit = {.tv_sec = BLOCKING_MS / 1000,
                                      .tv_nsec = BLOCKING_MS % 1000 * 1000000L};
static const struct timeval limit_us = {.tv_sec = BLOCKING_MS / 1000,
                                        .tv_usec = BLOCKING_MS % 1000 * 1000};
static const struct timespec tick = {.tv_nsec = 50000};

static struct timespec from_now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += limit.tv_nsec;
    t.tv_sec += limit.tv_sec + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool failed; /* to prepare: the row is left out */

static int must(int rc)
{
    failed = failed || rc < 0;
    return rc;
}

static void pipes(Case *c)
{
    must(pipe2(c->fd, O_CLOEXEC));
    must(pipe2(c->other, O_CLOEXEC));
}

static void stream(Case *c)
{
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->fd));
}

static void datagrams(Case *c)
{
    must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, c->fd));
}

static void full_pipe(Case *c)
{
    char b[4096] = "";

    pipes(c);
    fcntl(c->fd[1], F_SETFL, O_NONBLOCK);
    while (!failed && write(c->fd[1], b, sizeof(b)) > 0)
        ;
    fcntl(c->fd[1], F_SETFL, 0);
}

static void part_in_stream(Case *c)
{
    stream(c);
    must((int) write(c->fd[1], "first part, ", 12));
}

static void part_in_pipe(Case *c)
{
    pipes(c);
    must((int) write(c->fd[1], "first part, ", 12));
}

static const struct timeval hour = {.tv_sec = 3600};

static void with_timeout(Case *c, int end, int which, const struct timeval *t)
{
    stream(c);
    must(setsockopt(c->fd[end], SOL_SOCKET, which, t, sizeof(*t)));
}

static void receive_timeout(Case *c)
{
    with_timeout(c, 0, SO_RCVTIMEO, &hour);
}

static void short_receive_timeout(Case *c)
{
    with_timeout(c, 0, SO_RCVTIMEO, &limit_us);
}

static void send_timeout(Case *c)
{
    with_timeout(c, 1, SO_SNDTIMEO, &hour);
}

static void terminal(Case *c)
{
    struct termios t;
    char name[64];

    c->fd[1] = must(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (failed || grantpt(c->fd[1]) || unlockpt(c->fd[1]) ||
        ptsname_r(c->fd[1], name, sizeof(name))) {
        failed = true;
        return;
    }
    c->fd[0] = must(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    tcgetattr(c->fd[0], &t);
    cfmakeraw(&t);
    t.c_cc[VMIN] = 12;
    must(tcsetattr(c->fd[0], TCSANOW, &t));
}

static void part_in_terminal(Case *c)
{
    terminal(c);
    must((int) write(c->fd[1], "firs", 4));
}

static void event(Case *c)
{
    c->fd[0] = c->fd[1] = must(eventfd(0, EFD_CLOEXEC));
}

static void folder(Case *c)
{
    snprintf(c->path, sizeof(c->path), "/tmp/faultloc-blocking.XXXXXX");
    if (!mkdtemp(c->path))
        failed = true;
}

static void watched_folder(Case *c)
{
    folder(c);
    c->fd[0] = must(inotify_init1(IN_CLOEXEC));
    must(inotify_add_watch(c->fd[0], c->path, IN_CREATE));
}

static void name_in(const Case *c, char *name)
{
    snprintf(name, 80, "%s/x", c->path);
}

static void fifo(Case *c)
{
    char name[80];

    folder(c);
    name_in(c, name);
    must(mkfifo(name, 0600));
}

static void locked_file(Case *c)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char name[80];

    folder(c);
    name_in(c, name);
    c->fd[0] = must(open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    c->fd[1] = must(open(name, O_RDWR | O_CLOEXEC));
    must(fcntl(c->fd[1], F_OFD_SETLK, &l));
}

static void flocked_file(Case *c)
{
    char name[80];

    folder(c);
    name_in(c, name);
    c->fd[0] = must(open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    c->fd[1] = must(open(name, O_RDWR | O_CLOEXEC));
    must(flock(c->fd[1], LOCK_EX));
}

/* Locks of a process: who lets go holds it. */
static void process_lock(Case *c)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char name[80];

    folder(c);
    name_in(c, name);
    c->fd[0] = must(open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    must(fcntl(c->fd[0], F_SETLK, &l));
}

static void large_file_and_stream(Case *c)
{
    char name[80], *b = pattern(LARGE);
    int fd;

    stream(c);
    folder(c);
    name_in(c, name);
    fd = must(open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    if (write(fd, b, LARGE) != LARGE || lseek(fd, 0, SEEK_SET))
        failed = true;
    free(b);
    c->other[0] = fd;
}

static void unix_address(const Case *c, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    name_in(c, a->sun_path);
}

static void listener(Case *c)
{
    struct sockaddr_un a;

    folder(c);
    unix_address(c, &a);
    c->fd[0] = must(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    must(bind(c->fd[0], (struct sockaddr *) &a, sizeof(a)));
    must(listen(c->fd[0], 0));
}

static int connect_to(const Case *c, bool waits)
{
    struct sockaddr_un a;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0), rc;

    unix_address(c, &a);
    rc = connect(fd, (struct sockaddr *) &a, sizeof(a));
    if (rc < 0 && !waits)
        close(fd);
    return rc < 0 ? rc : fd;
}

static void full_listener(Case *c)
{
    listener(c);
    while (!failed && connect_to(c, false) >= 0)
        ;
}

/* ---- letting go ------------------------------------------------------------------------------ */

static void put(Case *c)
{
    if (write(c->fd[1], "second part\n", 12) != 12)
        abort();
}

static void put_eight(Case *c)
{
    if (write(c->fd[1], "\1\0\0\0\0\0\0\0", 8) != 8)
        abort();
}

static void put_and_close(Case *c)
{
    put(c);
    close(c->fd[1]);
}

/* Reads what the call writes, until that has ended. */
static void drain_from(Case *c, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    static char b[1 << 16];
    bool done;

    do {
        done = c->done;
        while (poll(&p, 1, 1) > 0 && p.revents & POLLIN && read(fd, b, sizeof(b)) > 0)
            ;
    } while (!done);
}

static void drain(Case *c)
{
    drain_from(c, c->fd[0]);
}

static void drain_terminal(Case *c)
{
    drain_from(c, c->fd[1]);
}

static void make_file(Case *c)
{
    char name[80];

    name_in(c, name);
    close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void open_fifo(Case *c)
{
    char name[80];

    name_in(c, name);
    c->fd[1] = open(name, O_WRONLY | O_CLOEXEC);
}

static void unlock_file(Case *c)
{
    struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    fcntl(c->fd[1], F_OFD_SETLK, &l);
}

static void unflock(Case *c)
{
    flock(c->fd[1], LOCK_UN);
}

static void unlock_process(Case *c)
{
    struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    fcntl(c->fd[0], F_SETLK, &l);
}

static void connect_once(Case *c)
{
    connect_to(c, true);
}

static void accept_once(Case *c)
{
    close(accept(c->fd[0], NULL, NULL));
}

static void send_signal(Case *c)
{
    syscall(SYS_tgkill, c->pid, c->tid, SIGUSR1);
}

static void queue_signal(Case *c)
{
    siginfo_t i = {.si_signo = SIGRTMIN, .si_code = SI_QUEUE, .si_value.sival_int = 42};

    syscall(SYS_rt_tgsigqueueinfo, c->pid, c->tid, SIGRTMIN, &i);
}

static void wake(Case *c)
{
    while (!c->done && syscall(SYS_futex, &c->word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0)
        usleep(1000);
}

static void unlock_pi(Case *c)
{
    syscall(SYS_futex, &c->word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void say_read(Case *c, const void *b, int64_t rc)
{
    say_bytes(c, b, result(c, rc));
}

static void read_(Case *c)
{
    char b[100] = "";

    say_read(c, b, read(c->fd[0], b, sizeof(b)));
}

static void readv_(Case *c)
{
    char b[100] = "";
    struct iovec v[2] = {{b, 5}, {b + 5, 95}};

    say_read(c, b, readv(c->fd[0], v, 2));
}

static void receive_(Case *c)
{
    char b[100] = "";

    say_read(c, b, recv(c->fd[0], b, sizeof(b), 0));
}

static void receive_all(Case *c)
{
    char b[24] = "";

    say_read(c, b, recv(c->fd[0], b, sizeof(b), MSG_WAITALL));
}

static void receive_message(Case *c)
{
    char b[24] = "";
    struct iovec v = {b, sizeof(b)};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

    say_read(c, b, recvmsg(c->fd[0], &m, MSG_WAITALL));
}

static void receive_messages(Case *c)
{
    struct timespec hour_ = {.tv_sec = 3600};
    char b[2][24] = {"", ""};
    struct iovec v[2] = {{b[0], 24}, {b[1], 24}};
    struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = &v[0], .msg_iovlen = 1}},
                           {.msg_hdr = {.msg_iov = &v[1], .msg_iovlen = 1}}};

    result(c, recvmmsg(c->fd[0], m, 2, 0, c->timed ? &hour_ : NULL));
    say_bytes(c, b, sizeof(b));
}

static void part_of_datagrams(Case *c)
{
    datagrams(c);
    must((int) write(c->fd[1], "first", 5));
}

static void fgets_(Case *c)
{
    FILE *f = fdopen(c->fd[0], "r");
    char b[100] = "";

    result(c, fgets(b, sizeof(b), f) != NULL);
    say_bytes(c, b, (int64_t) strlen(b));
}

static void fread_(Case *c)
{
    FILE *f = fdopen(c->fd[0], "r");
    char b[24] = "";

    say_read(c, b, (int64_t) fread(b, 1, sizeof(b), f));
}

static void open_(Case *c)
{
    char name[80];

    name_in(c, name);
    result(c, open(name, O_RDONLY | O_CLOEXEC) >= 0);
}

static void accept_(Case *c)
{
    result(c, accept(c->fd[0], NULL, NULL) >= 0);
}

static void accept4_(Case *c)
{
    result(c, accept4(c->fd[0], NULL, NULL, SOCK_CLOEXEC) >= 0);
}

static void connect_(Case *c)
{
    result(c, connect_to(c, true) >= 0);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_(Case *c)
{
    char *b = pattern(LARGE);

    result(c, write(c->fd[1], b, LARGE));
    free(b);
}

static void write_terminal(Case *c)
{
    char *b = pattern(1 << 18);

    result(c, write(c->fd[0], b, 1 << 18));
    free(b);
}

static void writev_(Case *c)
{
    char *b = pattern(LARGE);
    struct iovec v[2] = {{b, LARGE / 2}, {b + LARGE / 2, LARGE / 2}};

    result(c, writev(c->fd[1], v, 2));
    free(b);
}

static void send_(Case *c)
{
    char *b = pattern(LARGE);

    result(c, send(c->fd[1], b, LARGE, 0));
    free(b);
}

static void send_message(Case *c)
{
    char *b = pattern(LARGE);
    struct iovec v = {b, LARGE};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

    result(c, sendmsg(c->fd[1], &m, 0));
    free(b);
}

static void send_messages(Case *c)
{
    char *b = pattern(LARGE);
    struct iovec v[2] = {{b, LARGE}, {b, LARGE}};
    struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = &v[0], .msg_iovlen = 1}},
                           {.msg_hdr = {.msg_iov = &v[1], .msg_iovlen = 1}}};

    result(c, sendmmsg(c->fd[1], m, 2, 0));
    say(c, m[0].msg_len);
    say(c, m[1].msg_len);
    free(b);
}

static void fwrite_(Case *c)
{
    FILE *f = fdopen(dup(c->fd[1]), "w");
    char *b = pattern(LARGE);

    result(c, (int64_t) fwrite(b, 1, LARGE, f));
    result(c, fclose(f));
    free(b);
}

static void dprintf_(Case *c)
{
    char *b = pattern(LARGE);

    b[LARGE - 1] = '\0';
    result(c, dprintf(c->fd[1], "%s", b));
    free(b);
}

static void sendfile_(Case *c)
{
    off_t at = 0;

    result(c, sendfile(c->fd[1], c->other[0], &at, LARGE));
    say(c, at);
}

static void vmsplice_(Case *c)
{
    char *b = pattern(4096);
    struct iovec v = {b, 4096};

    result(c, vmsplice(c->fd[1], &v, 1, 0));
    free(b);
}

static void splice_(Case *c)
{
    result(c, splice(c->fd[0], NULL, c->other[1], NULL, 12, 0));
}

static void tee_(Case *c)
{
    result(c, tee(c->fd[0], c->other[1], 12, 0));
}

/* ---- locks of files -------------------------------------------------------------------------- */

static void lock_file(Case *c)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    result(c, fcntl(c->fd[0], F_OFD_SETLKW, &l));
}

static void lock_process(Case *c)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    result(c, fcntl(c->fd[0], F_SETLKW, &l));
}

static void lockf_(Case *c)
{
    result(c, lockf(c->fd[0], F_LOCK, 1));
}

static void flock_(Case *c)
{
    result(c, flock(c->fd[0], LOCK_EX));
}

/* ---- poll and its like ----------------------------------------------------------------------- */

static void poll_(Case *c)
{
    struct pollfd p = {.fd = c->fd[0], .events = POLLIN};

    result(c, poll(&p, 1, c->timed ? BLOCKING_MS : -1));
    say(c, p.revents);
}

/* The system call, which stores the time that is left where `t` is. */
static void ppoll_for(Case *c, struct timespec *t)
{
    struct pollfd p = {.fd = c->fd[0], .events = POLLIN};

    result(c, syscall(SYS_ppoll, &p, 1, t, NULL, 0));
    say(c, p.revents);
}

static void ppoll_(Case *c)
{
    struct timespec t = limit;

    ppoll_for(c, c->timed ? &t : NULL);
    say(c, t.tv_sec + t.tv_nsec);
}

static void fixed_time(Case *c)
{
    pipes(c);
    memcpy(c->page, &limit, sizeof(limit));
    must(mprotect(c->page, sizeof(c->page), PROT_READ));
}

static void ppoll_fixed_time(Case *c)
{
    ppoll_for(c, (struct timespec *) (void *) c->page);
}

static void select_(Case *c)
{
    struct timeval t = limit_us;
    fd_set set;

    FD_ZERO(&set);
    FD_SET(c->fd[0], &set);
    result(c, select(c->fd[0] + 1, &set, NULL, NULL, c->timed ? &t : NULL));
    say(c, FD_ISSET(c->fd[0], &set) != 0);
    say(c, t.tv_sec + t.tv_usec);
}

static void pselect_fixed_time(Case *c)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(c->fd[0], &set);
    result(c, syscall(SYS_pselect6, c->fd[0] + 1, &set, NULL, NULL, c->page, NULL));
}

static int epoll_of(Case *c)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = 7};
    int fd = epoll_create1(EPOLL_CLOEXEC);

    epoll_ctl(fd, EPOLL_CTL_ADD, c->fd[0], &e);
    return fd;
}

static void epoll_(Case *c)
{
    struct epoll_event e = {.events = 0};
    int fd = epoll_of(c);

    result(c, epoll_wait(fd, &e, 1, c->timed ? BLOCKING_MS : -1));
    say(c, e.events);
    close(fd);
}

static void epoll_mask(Case *c)
{
    struct epoll_event e = {.events = 0};
    int fd = epoll_of(c);
    sigset_t set;

    sigemptyset(&set);
    result(c, epoll_pwait(fd, &e, 1, -1, &set));
    say(c, e.events);
    close(fd);
}

static void epoll_pwait2_(Case *c)
{
    struct epoll_event e = {.events = 0};
    int fd = epoll_of(c);

    result(c, syscall(SYS_epoll_pwait2, fd, &e, 1, &limit, NULL, 0));
    close(fd);
}

/* ---- locks and sleeps ------------------------------------------------------------------------ */

static void futex(Case *c, int op, const struct timespec *t)
{
    result(c, syscall(SYS_futex, &c->word, op, c->word, t, NULL, FUTEX_BITSET_MATCH_ANY));
}

static void futex_(Case *c)
{
    futex(c, FUTEX_WAIT, c->timed ? &limit : NULL);
}

static void futex_until(Case *c)
{
    struct timespec t = from_now(CLOCK_MONOTONIC);

    futex(c, FUTEX_WAIT_BITSET, &t);
}

static void futex_pi(Case *c)
{
    futex(c, FUTEX_LOCK_PI, NULL);
}

static void futex_waitv(Case *c)
{
    struct futex_waitv {
        uint64_t val, uaddr;
        uint32_t flags, reserved;
    } v = {.val = c->word, .uaddr = (uintptr_t) &c->word, .flags = 2};

    result(c, syscall(SYS_futex_waitv, &v, 1, 0, NULL, 0));
}

static void held_pi(Case *c)
{
    must((int) syscall(SYS_futex, &c->word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
}

static void shared_locks(Case *c)
{
    pthread_mutexattr_t m;
    pthread_condattr_t k;
    pthread_rwlockattr_t r;
    pthread_barrierattr_t b;

    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&c->mutex, &m);
    pthread_condattr_init(&k);
    pthread_condattr_setpshared(&k, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&c->cond, &k);
    pthread_rwlockattr_init(&r);
    pthread_rwlockattr_setpshared(&r, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&c->rwlock, &r);
    pthread_barrierattr_init(&b);
    pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&c->barrier, &b, 2);
    sem_init(&c->sem, 1, 0);
}

static void held_locks(Case *c)
{
    shared_locks(c);
    pthread_mutex_lock(&c->mutex);
    pthread_rwlock_rdlock(&c->rwlock);
}

static void mutex_(Case *c)
{
    result(c, pthread_mutex_lock(&c->mutex));
}

static void rwlock_(Case *c)
{
    result(c, pthread_rwlock_wrlock(&c->rwlock));
}

static void let_locks_go(Case *c)
{
    pthread_mutex_unlock(&c->mutex);
    pthread_rwlock_unlock(&c->rwlock);
}

static void cond_(Case *c)
{
    pthread_mutex_lock(&c->mutex);
    while (c->turns == 0)
        say(c, pthread_cond_wait(&c->cond, &c->mutex));
    pthread_mutex_unlock(&c->mutex);
}

static void cond_timeout(Case *c)
{
    struct timespec t = from_now(CLOCK_REALTIME);

    pthread_mutex_lock(&c->mutex);
    say(c, pthread_cond_timedwait(&c->cond, &c->mutex, &t));
    pthread_mutex_unlock(&c->mutex);
}

static void signal_cond(Case *c)
{
    pthread_mutex_lock(&c->mutex);
    c->turns = 1;
    pthread_cond_signal(&c->cond);
    pthread_mutex_unlock(&c->mutex);
}

static void barrier_(Case *c)
{
    int rc = pthread_barrier_wait(&c->barrier);

    say(c, rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void come_to_barrier(Case *c)
{
    pthread_barrier_wait(&c->barrier);
}

static void sem_(Case *c)
{
    struct timespec t = from_now(CLOCK_REALTIME);

    result(c, c->timed ? sem_timedwait(&c->sem, &t) : sem_wait(&c->sem));
}

static void post(Case *c)
{
    sem_post(&c->sem);
}

static void nanosleep_(Case *c)
{
    struct timespec rest = {0};

    result(c, nanosleep(&limit, &rest));
    say(c, rest.tv_sec + rest.tv_nsec);
}

static void clock_sleep(Case *c)
{
    struct timespec rest = {0};

    result(c, clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, &rest));
    say(c, rest.tv_sec + rest.tv_nsec);
}

static void clock_sleep_until(Case *c)
{
    struct timespec t = from_now(CLOCK_MONOTONIC);

    result(c, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
}

static void usleep_(Case *c)
{
    result(c, usleep(BLOCKING_MS * 1000));
}

static void sleep_(Case *c)
{
    result(c, sleep(BLOCKING_MS / 1000 + 1));
}

static void timer(Case *c)
{
    struct itimerspec t = {.it_value = limit};
    uint64_t n = 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

    timerfd_settime(fd, 0, &t, NULL);
    result(c, read(fd, &n, sizeof(n)));
    say(c, (int64_t) n);
    close(fd);
}

/* ---- signals --------------------------------------------------------------------------------- */

static _Thread_local int handled, value;

static void handle(int signal_, siginfo_t *info, void *context)
{
    (void) signal_;
    (void) context;
    handled++;
    value = info->si_value.sival_int;
}

static sigset_t of_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    return set;
}

static void handles_signals(Case *c)
{
    struct sigaction a = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

    (void) c;
    must(sigaction(SIGUSR1, &a, NULL));
    must(sigaction(SIGRTMIN, &a, NULL));
}

static void unblocked(int how)
{
    sigset_t set = of_signals();

    pthread_sigmask(how, &set, NULL);
}

static void pause_(Case *c)
{
    result(c, pause());
    say(c, handled);
}

static void suspend(Case *c)
{
    sigset_t none;

    unblocked(SIG_BLOCK);
    sigemptyset(&none);
    result(c, sigsuspend(&none));
    say(c, handled);
}

static void wait_for_signal(Case *c)
{
    sigset_t set = of_signals();
    siginfo_t info = {0};

    unblocked(SIG_BLOCK);
    result(c, sigwaitinfo(&set, &info));
    say(c, info.si_value.sival_int);
}

static void wait_for_signal_timeout(Case *c)
{
    sigset_t set = of_signals();

    unblocked(SIG_BLOCK);
    result(c, sigtimedwait(&set, NULL, &limit));
}

static void signal_file(Case *c)
{
    sigset_t set = of_signals();
    struct signalfd_siginfo info = {0};
    int fd;

    unblocked(SIG_BLOCK);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    result(c, read(fd, &info, sizeof(info)));
    say(c, info.ssi_int);
    close(fd);
}

/* Each signal interrupts the call, and is counted. */
static void signals_and_pipes(Case *c)
{
    pipes(c);
    handles_signals(c);
}

static void epoll_and_signals(Case *c)
{
    struct epoll_event e;
    int fd = epoll_of(c);

    while (handled < SIGNALS) {
        say(c, epoll_wait(fd, &e, 1, -1));
        say(c, errno);
        say(c, value);
        __atomic_store_n(&c->turns, (uint32_t) handled, __ATOMIC_RELEASE);
    }
    close(fd);
}

static void send_signals(Case *c)
{
    for (uint32_t i = 0; i < SIGNALS; i++) {
        while (__atomic_load_n(&c->turns, __ATOMIC_ACQUIRE) < i)
            usleep(1000);
        usleep(2000); /* it waits again, as a rule; where not, the signal ends its next call */
        queue_signal(c);
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

/* A child that ends with code 3 when a byte comes. */
static pid_t child(const Case *c)
{
    pid_t pid = fork();
    char b;

    if (pid == 0)
        _exit(read(c->fd[0], &b, 1) == 1 ? 3 : 4);
    return pid;
}

static void wait_(Case *c)
{
    pid_t pid = child(c);
    int status = 0;

    result(c, wait4(pid, &status, 0, NULL) == pid);
    say(c, status);
}

static void waitid_(Case *c)
{
    siginfo_t info = {0};

    result(c, waitid(P_PID, (id_t) child(c), &info, WEXITED));
    say(c, info.si_status);
}

static void system_(Case *c)
{
    char command[80]; /* dash knows no descriptor of two digits */

    fcntl(c->fd[0], F_SETFD, 0);
    snprintf(command, sizeof(command), "read -r x </proc/self/fd/%d; exit 5", c->fd[0]);
    result(c, system(command));
}

static void popen_(Case *c)
{
    char command[80], b[100] = "";
    FILE *f;

    fcntl(c->fd[0], F_SETFD, 0);
    snprintf(command, sizeof(command), "read -r x </proc/self/fd/%d; echo \"$x\"", c->fd[0]);
    f = popen(command, "r");
    result(c, fgets(b, sizeof(b), f) != NULL);
    say_bytes(c, b, (int64_t) strlen(b));
    result(c, pclose(f));
}

static void *read_in_thread(void *arg)
{
    Case *c = arg;
    char b[100];

    return (void *) (intptr_t) read(c->fd[0], b, sizeof(b));
}

static void join(Case *c)
{
    pthread_t t;
    void *n = NULL;

    result(c, pthread_create(&t, NULL, read_in_thread, c));
    result(c, pthread_join(t, &n));
    say(c, (intptr_t) n);
}

/* ---- System V and POSIX queues --------------------------------------------------------------- */

struct text {
    long type;
    char bytes[1000];
};

static void semaphores(Case *c)
{
    c->fd[0] = must(semget(IPC_PRIVATE, 1, 0600));
}

static void semop_(Case *c)
{
    struct sembuf s = {.sem_op = -1};

    result(c, semop(c->fd[0], &s, 1));
    semctl(c->fd[0], 0, IPC_RMID);
}

static void semop_timeout(Case *c)
{
    struct sembuf s = {.sem_op = -1};

    result(c, semtimedop(c->fd[0], &s, 1, &limit));
    semctl(c->fd[0], 0, IPC_RMID);
}

static void raise_semaphore(Case *c)
{
    struct sembuf s = {.sem_op = 1};

    semop(c->fd[0], &s, 1);
}

static void messages(Case *c)
{
    c->fd[0] = must(msgget(IPC_PRIVATE, 0600));
}

static void full_messages(Case *c)
{
    struct text m = {.type = 1};

    messages(c);
    while (!failed && msgsnd(c->fd[0], &m, sizeof(m.bytes), IPC_NOWAIT) == 0)
        ;
}

static void msgrcv_(Case *c)
{
    struct text m = {.type = 0};

    say_read(c, m.bytes, msgrcv(c->fd[0], &m, sizeof(m.bytes), 0, 0));
    msgctl(c->fd[0], IPC_RMID, NULL);
}

static void msgsnd_(Case *c)
{
    struct text m = {.type = 1};

    result(c, msgsnd(c->fd[0], &m, sizeof(m.bytes), 0));
    msgctl(c->fd[0], IPC_RMID, NULL);
}

static void send_text(Case *c)
{
    struct text m = {.type = 1, .bytes = "a text"};

    msgsnd(c->fd[0], &m, 6, 0);
}

static void take_text(Case *c)
{
    struct text m;

    if (msgrcv(c->fd[0], &m, sizeof(m.bytes), 0, 0) < 0)
        abort();
}

static void posix_queue(Case *c)
{
    struct mq_attr a = {.mq_maxmsg = 1, .mq_msgsize = 16};

    snprintf(c->path, sizeof(c->path), "/faultloc-blocking-%d", (int) getpid());
    c->fd[0] = must(mq_open(c->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600, &a));
    mq_unlink(c->path);
    c->path[0] = '\0';
}

static void full_posix_queue(Case *c)
{
    posix_queue(c);
    must(mq_send(c->fd[0], "full", 4, 0));
}

static void mq_receive_(Case *c)
{
    char b[16] = "";

    say_read(c, b, mq_receive(c->fd[0], b, sizeof(b), NULL));
}

static void mq_receive_timeout(Case *c)
{
    struct timespec t = from_now(CLOCK_REALTIME);
    char b[16];

    result(c, mq_timedreceive(c->fd[0], b, sizeof(b), NULL, &t));
}

static void mq_send_(Case *c)
{
    result(c, mq_send(c->fd[0], "more", 4, 0));
}

static void mq_put(Case *c)
{
    mq_send(c->fd[0], "a text", 6, 0);
}

static void mq_take(Case *c)
{
    char b[16];

    if (mq_receive(c->fd[0], b, sizeof(b), NULL) < 0)
        abort();
}

/* ---- asynchronous input and output ----------------------------------------------------------- */

static void aio(Case *c)
{
    struct timespec t = limit;
    aio_context_t ctx = 0;
    struct io_event e;

    result(c, syscall(SYS_io_setup, 1, &ctx));
    result(c, syscall(SYS_io_getevents, ctx, 1, 1, &e, &t));
    syscall(SYS_io_destroy, ctx);
}

static void has_uring(Case *c)
{
    struct io_uring_params p = {0};

    c->fd[0] = must((int) syscall(SYS_io_uring_setup, 1, &p));
}

static void uring(Case *c)
{
    struct timespec t = limit;
    struct {
        uint64_t sigmask;
        uint32_t size, pad;
        uint64_t ts;
    } arg = {.ts = (uintptr_t) &t};

    result(c, syscall(SYS_io_uring_enter, c->fd[0], 0, 1, IORING_ENTER_GETEVENTS | 8, &arg,
                      sizeof(arg)));
}

/* ---- under a filter -------------------------------------------------------------------------- */

/* The process dies if a call is taken up again by restart_syscall(2). */
static void no_restart(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog p = {.len = 4, .filter = f};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* How often a call came out otherwise. */
#define LOOP(c, expected, call) \
    do { \
        int64_t others = 0; \
        while (!(c)->stop) \
            others += (call) != (expected); \
        say((c), others); \
    } while (0)

static void random_loop(Case *c)
{
    char *b = malloc(1 << 20);

    LOOP(c, 1 << 20, getrandom(b, 1 << 20, 0));
    free(b);
}

static void device_loop(Case *c, const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    char *b = malloc(LARGE);

    LOOP(c, LARGE, read(fd, b, LARGE));
    close(fd);
    free(b);
}

static void zero_loop(Case *c)
{
    device_loop(c, "/dev/zero");
}

static void urandom_loop(Case *c)
{
    device_loop(c, "/dev/urandom");
}

/* A thread reads what the loop writes. */
static void *read_all(void *arg)
{
    const int *fd = arg;
    char *b = malloc(1 << 16);

    while (read(*fd, b, 1 << 16) > 0)
        ;
    free(b);
    return NULL;
}

static void write_loop(Case *c)
{
    int64_t n = 0, others = 0;
    char *b = pattern(1 << 20);
    pthread_t reader;

    pthread_create(&reader, NULL, read_all, &c->fd[0]);
    while (!c->stop) {
        n = write(c->fd[1], b, 1 << 20);
        others += n != 1 << 20;
    }
    say(c, others);
    pthread_cancel(reader);
    pthread_join(reader, NULL);
    free(b);
}

static void poll_loop(Case *c)
{
    struct timespec t = tick;
    struct pollfd p = {.fd = c->fd[0], .events = POLLIN};

    LOOP(c, 0, (t = tick, syscall(SYS_ppoll, &p, 1, &t, NULL, 0)));
}

static void epoll_loop(Case *c)
{
    struct epoll_event e;
    int fd = epoll_of(c);

    LOOP(c, 0, epoll_wait(fd, &e, 1, 1));
    close(fd);
}

static void sleep_loop(Case *c)
{
    LOOP(c, 0, nanosleep(&tick, NULL));
}

static void semop_loop(Case *c)
{
    struct sembuf s = {.sem_op = -1};

    LOOP(c, EAGAIN, (semtimedop(c->fd[0], &s, 1, &tick), errno));
    semctl(c->fd[0], 0, IPC_RMID);
}

static void signal_loop(Case *c)
{
    sigset_t set = of_signals();

    unblocked(SIG_BLOCK);
    LOOP(c, EAGAIN, (sigtimedwait(&set, NULL, &tick), errno));
}

/* Computes for as long as it sleeps, or hardly sleeps at all. */
static void mixed_loop(Case *c)
{
    struct epoll_event e;
    int fd = epoll_of(c);
    volatile int x = 0;

    LOOP(c, 0, ({
             for (int i = 0; i < 200000; i++)
                 x++;
             epoll_wait(fd, &e, 1, 0) + (x % 5000000 ? 0 : epoll_wait(fd, &e, 1, 1));
         }));
    close(fd);
}

static void compute_loop(Case *c)
{
    uint64_t x = 88172645463325252u;

    for (int64_t i = 0; !c->stop; i++)
        x = (x ^= x << 13, x ^= x >> 7, x ^ (x << 17));
    say(c, x != 0);
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct blocking blocking[] = {
    {"read of a pipe", pipes, read_, put, 0},
    {"read of a socket", stream, read_, put, 0},
    {"read of a terminal", terminal, read_, put, 0},
    {"read of a terminal, a part is there", part_in_terminal, read_, put, 0},
    {"read of an eventfd", event, read_, put_eight, 0},
    {"read of an inotify", watched_folder, read_, make_file, 0},
    {"read of a timerfd", NULL, timer, NULL, 0},
    {"read of a signalfd", NULL, signal_file, queue_signal, 0},
    {"readv", pipes, readv_, put, 0},
    {"fgets", pipes, fgets_, put, 0},
    {"fread, a part is there", part_in_pipe, fread_, put, 0},
    {"recv", stream, receive_, put, 0},
    {"recv with a long timeout", receive_timeout, receive_, put, 0},
    {"recv with a short timeout", short_receive_timeout, receive_, NULL, 0},
    {"recv of all, a part is there", part_in_stream, receive_all, put, 0},
    {"recvmsg of all, a part is there", part_in_stream, receive_message, put, 0},
    {"recvmmsg, one is there", part_of_datagrams, receive_messages, put, 0},
    {"recvmmsg with a timeout", part_of_datagrams, receive_messages, put, BLOCKING_TIMED},
    {"open of a fifo", fifo, open_, open_fifo, 0},
    {"accept", listener, accept_, connect_once, 0},
    {"accept4", listener, accept4_, connect_once, 0},
    {"connect", full_listener, connect_, accept_once, 0},
    {"write to a pipe, a part is written", pipes, write_, drain, 0},
    {"write to a socket, a part is written", stream, write_, drain, 0},
    {"write to a terminal, a part is written", terminal, write_terminal, drain_terminal, 0},
    {"writev, a part is written", pipes, writev_, drain, 0},
    {"fwrite, a part is written", pipes, fwrite_, drain, 0},
    {"dprintf, a part is written", pipes, dprintf_, drain, 0},
    {"send, a part is sent", stream, send_, drain, 0},
    {"send with a timeout, a part is sent", send_timeout, send_, drain, 0},
    {"sendmsg, a part is sent", stream, send_message, drain, 0},
    {"sendmmsg, a part is sent", stream, send_messages, drain, 0},
    {"sendfile, a part is sent", large_file_and_stream, sendfile_, drain, 0},
    {"vmsplice", full_pipe, vmsplice_, drain, 0},
    {"splice", pipes, splice_, put, 0},
    {"tee", pipes, tee_, put, 0},
    {"fcntl for a lock", locked_file, lock_file, unlock_file, 0},
    {"fcntl for a lock of the process", process_lock, lock_process, unlock_process, BLOCKING_OWN},
    {"lockf", process_lock, lockf_, unlock_process, BLOCKING_OWN},
    {"flock", flocked_file, flock_, unflock, 0},
    {"poll", pipes, poll_, put, 0},
    {"poll with a timeout", pipes, poll_, NULL, BLOCKING_TIMED},
    {"ppoll", pipes, ppoll_, put, 0},
    {"ppoll with a timeout", pipes, ppoll_, NULL, BLOCKING_TIMED},
    {"ppoll with a timeout that cannot be changed", fixed_time, ppoll_fixed_time, NULL, 0},
    {"select", pipes, select_, put, 0},
    {"select with a timeout", pipes, select_, NULL, BLOCKING_TIMED},
    {"pselect with a timeout that cannot be changed", fixed_time, pselect_fixed_time, NULL, 0},
    {"epoll_wait", pipes, epoll_, put, 0},
    {"epoll_wait with a timeout", pipes, epoll_, NULL, BLOCKING_TIMED},
    {"epoll_pwait", pipes, epoll_mask, put, 0},
    {"epoll_pwait2 with a timeout", pipes, epoll_pwait2_, NULL, 0},
    {"futex", NULL, futex_, wake, 0},
    {"futex with a timeout", NULL, futex_, NULL, BLOCKING_TIMED},
    {"futex until a time", NULL, futex_until, NULL, 0},
    {"futex with priority inheritance", held_pi, futex_pi, unlock_pi, BLOCKING_OWN},
    {"futex_waitv", NULL, futex_waitv, wake, 0},
    {"pthread_mutex_lock", held_locks, mutex_, let_locks_go, 0},
    {"pthread_rwlock_wrlock", held_locks, rwlock_, let_locks_go, 0},
    {"pthread_cond_wait", shared_locks, cond_, signal_cond, 0},
    {"pthread_cond_timedwait", shared_locks, cond_timeout, NULL, 0},
    {"pthread_barrier_wait", shared_locks, barrier_, come_to_barrier, 0},
    {"pthread_join", pipes, join, put, 0},
    {"sem_wait", shared_locks, sem_, post, 0},
    {"sem_timedwait", shared_locks, sem_, NULL, BLOCKING_TIMED},
    {"nanosleep", NULL, nanosleep_, NULL, 0},
    {"clock_nanosleep", NULL, clock_sleep, NULL, 0},
    {"clock_nanosleep until a time", NULL, clock_sleep_until, NULL, 0},
    {"usleep", NULL, usleep_, NULL, 0},
    {"sleep", NULL, sleep_, NULL, 0},
    {"pause", handles_signals, pause_, send_signal, 0},
    {"sigsuspend", handles_signals, suspend, send_signal, 0},
    {"sigwaitinfo", NULL, wait_for_signal, queue_signal, 0},
    {"sigtimedwait", NULL, wait_for_signal_timeout, NULL, 0},
    {"epoll_wait and real-time signals", signals_and_pipes, epoll_and_signals, send_signals, 0},
    {"wait4", pipes, wait_, put, 0},
    {"waitid", pipes, waitid_, put, 0},
    {"system", pipes, system_, put, 0},
    {"popen", pipes, popen_, put_and_close, 0},
    {"semop", semaphores, semop_, raise_semaphore, 0},
    {"semtimedop", semaphores, semop_timeout, NULL, 0},
    {"msgrcv", messages, msgrcv_, send_text, 0},
    {"msgsnd", full_messages, msgsnd_, take_text, 0},
    {"mq_receive", posix_queue, mq_receive_, mq_put, 0},
    {"mq_timedreceive", posix_queue, mq_receive_timeout, NULL, 0},
    {"mq_send", full_posix_queue, mq_send_, mq_take, 0},
    {"io_getevents", NULL, aio, NULL, 0},
    {"io_uring_enter", has_uring, uring, NULL, 0},
    {"nanosleep under a filter", NULL, nanosleep_, NULL, BLOCKING_FILTERED},
    {"poll under a filter", pipes, poll_, NULL, BLOCKING_FILTERED | BLOCKING_TIMED},
    {"futex under a filter", NULL, futex_, NULL, BLOCKING_FILTERED | BLOCKING_TIMED},
    {"loop of getrandom", NULL, random_loop, NULL, BLOCKING_RUNS},
    {"loop of reads of /dev/zero", NULL, zero_loop, NULL, BLOCKING_RUNS},
    {"loop of reads of /dev/urandom", NULL, urandom_loop, NULL, BLOCKING_RUNS},
    {"loop of writes to a pipe", pipes, write_loop, NULL, BLOCKING_RUNS},
    {"loop of ppoll", pipes, poll_loop, NULL, BLOCKING_RUNS},
    {"loop of epoll_wait", pipes, epoll_loop, NULL, BLOCKING_RUNS},
    {"loop of nanosleep", NULL, sleep_loop, NULL, BLOCKING_RUNS},
    {"loop of nanosleep under a filter", NULL, sleep_loop, NULL, BLOCKING_RUNS | BLOCKING_FILTERED},
    {"loop of semtimedop", semaphores, semop_loop, NULL, BLOCKING_RUNS},
    {"loop of sigtimedwait", NULL, signal_loop, NULL, BLOCKING_RUNS},
    {"loop that computes and polls", pipes, mixed_loop, NULL, BLOCKING_RUNS},
    {"loop that computes", NULL, compute_loop, NULL, BLOCKING_RUNS},
};

const int blocking_count = sizeof(blocking) / sizeof(blocking[0]);

/* ---- a case ---------------------------------------------------------------------------------- */

struct blocking_case *blocking_prepare(const struct blocking *b)
{
    Case *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (c == MAP_FAILED)
        return NULL;
    for (int i = 0; i < 2; i++)
        c->fd[i] = c->other[i] = -1;
    c->timed = b->kind & BLOCKING_TIMED;
    failed = false;
    if (b->prepare)
        b->prepare(c);
    if (!failed)
        return c;
    blocking_end(c);
    return NULL;
}

void blocking_call(const struct blocking *b, struct blocking_case *c)
{
    c->pid = getpid();
    c->tid = (pid_t) syscall(SYS_gettid);
    if (b->kind & BLOCKING_FILTERED)
        no_restart();
    b->call(c);
    c->done = true;
}

/* In state S or D twice in a row: it has come to its call. */
bool blocking_await(const struct blocking *b, struct blocking_case *c)
{
    char path[64], line[512], *state;
    int waits = 0;
    FILE *f;

    while (c->tid == 0)
        usleep(500);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int) c->pid, (int) c->tid);
    while (!(b->kind & BLOCKING_RUNS) && waits < 3 && !c->done) {
        f = fopen(path, "re");
        if (!f || !fgets(line, sizeof(line), f) || !(state = strrchr(line, ')')))
            return false;
        fclose(f);
        waits = state[2] == 'S' || state[2] == 'D' ? waits + 1 : 0;
        usleep(500);
    }
    return true;
}

void blocking_release(const struct blocking *b, struct blocking_case *c)
{
    c->stop = true;
    if (b->release)
        b->release(c);
}

void blocking_end(struct blocking_case *c)
{
    char name[80];

    for (int i = 0; i < 2; i++) {
        close(c->fd[i]);
        close(c->other[i]);
    }
    if (c->path[0]) {
        name_in(c, name);
        unlink(name);
        rmdir(c->path);
    }
    munmap(c, sizeof(*c));
}
