/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * A stranger at an agent's port: tries one way of getting in, or in the way, and tells what came of
 * it.  It links net/frame.c, so that what it sends is right but for what is to be wrong.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/net/frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_MS 30000
/* Connections of a flood that are on their way at a time; more than a listening socket holds would
 * be dropped by the kernel and tried again a second later. */
#define FLOOD_WINDOW 256

static const char usage_text[] =
    "Usage: stranger ADDRESS PORT ATTACK\n"
    "\n"
    "Attacks the agent that listens at ADDRESS PORT, and prints how the agent reacted.\n"
    "\n"
    "ATTACK is one of\n"
    "  no-key       connect and send nothing\n"
    "  wrong-key    answer the agent's challenge with another key\n"
    "  huge-length  do the same, then send the header of a frame of 4 GiB\n"
    "  random       send 512 random bytes\n"
    "  flood N      open N connections and leave them; N is 1 to 1000000\n"
    "\n"
    "Exit code: 0 the agent closed the connection (flood: N connections were opened), 1 it did\n"
    "not within 30 s or could not be reached, 2 wrong arguments.\n";

static struct addrinfo *target;

/* ---- telling --------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 1, 2), noreturn)) fail(const char *format, ...)
{
    va_list args;

    fputs("stranger: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void __attribute__((noreturn)) fail_usage(const char *what)
{
    fprintf(stderr, "stranger: %s; see stranger --help\n", what);
    exit(2);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* ---- one connection -------------------------------------------------------------------------- */

static int start_connect(void)
{
    int fd = socket(target->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, target->ai_addr, target->ai_addrlen) < 0 && errno != EINPROGRESS) {
        int rc = errno;
        close(fd);
        errno = rc;
        return -1;
    }
    return fd;
}

/* Waits for events on one descriptor; returns false when the deadline has passed. */
static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = deadline - now_ms();

    return left > 0 && poll(&p, 1, (int) left) > 0;
}

static int connect_now(void)
{
    int fd = start_connect(), error = 0;
    socklen_t len = sizeof(error);

    if (fd < 0)
        fail("cannot connect: %s", strerror(errno));
    if (!wait_for(fd, POLLOUT, now_ms() + DEADLINE_MS))
        fail("cannot connect: no answer");
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (error)
        fail("cannot connect: %s", strerror(error));
    return fd;
}

/* Reads exactly `len` bytes. */
static void must_recv(int fd, void *bytes, size_t len)
{
    int64_t deadline = now_ms() + DEADLINE_MS;
    size_t have = 0;

    while (have < len) {
        if (!wait_for(fd, POLLIN, deadline))
            fail("the agent sent no challenge");
        ssize_t n = recv(fd, (char *) bytes + have, len - have, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            fail("the agent closed the connection before its challenge");
        have += n > 0 ? (size_t) n : 0;
    }
}

/* Sends; that the agent has closed by then is no error but what we are here for. */
static void try_send(int fd, const void *bytes, size_t len)
{
    if (send(fd, bytes, len, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
        fail("cannot send: %s", strerror(errno));
}

/* Reads what comes until the agent closes.  Returns how many bytes came, -1: it did not close. */
static ssize_t read_to_end(int fd)
{
    int64_t deadline = now_ms() + DEADLINE_MS;
    ssize_t count = 0;
    char bytes[4096];

    while (wait_for(fd, POLLIN, deadline)) {
        ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return count;
        count += n > 0 ? n : 0;
    }
    return -1;
}

static int report(const char *did, int fd, int64_t since)
{
    ssize_t count = read_to_end(fd);

    close(fd);
    if (count < 0) {
        printf("%s: NOT refused: the connection is open after %d s\n", did, DEADLINE_MS / 1000);
        return 1;
    }
    printf("%s: refused: the agent closed the connection after %lld ms and sent %zd bytes\n", did,
           (long long) (now_ms() - since), count);
    return 0;
}

/* ---- attacks --------------------------------------------------------------------------------- */

static int attack_no_key(void)
{
    int64_t since = now_ms();

    return report("connected and said nothing", connect_now(), since);
}

/* Takes the challenge and answers it with a key of its own. */
static int enter_with_wrong_key(struct faultloc_session *session)
{
    const struct faultloc_hello who = {0};
    uint8_t key[FAULTLOC_KEY_SIZE];
    uint8_t challenge[FAULTLOC_CHALLENGE_SIZE], hello[FAULTLOC_HELLO_SIZE];
    int fd = connect_now();

    must_recv(fd, challenge, sizeof(challenge));
    randombytes_buf(key, sizeof(key));
    if (faultloc_frame_hello(key, challenge, &who, hello, session))
        fail("that is no agent of this version: its challenge is not one");
    try_send(fd, hello, sizeof(hello));
    return fd;
}

static int attack_wrong_key(void)
{
    struct faultloc_session session;
    int64_t since = now_ms();

    return report("answered the challenge with a wrong key", enter_with_wrong_key(&session), since);
}

static int attack_huge_length(void)
{
    struct faultloc_session session;
    uint8_t head[FAULTLOC_FRAME_HEAD] = {0};
    int64_t since = now_ms();
    int fd = enter_with_wrong_key(&session);

    faultloc_frame_begin(head, 0xffffffff);
    try_send(fd, head, sizeof(head));
    return report("sent a frame's header with length 4294967295", fd, since);
}

static int attack_random(void)
{
    uint8_t bytes[512];
    int64_t since = now_ms();
    int fd = connect_now();

    randombytes_buf(bytes, sizeof(bytes));
    try_send(fd, bytes, sizeof(bytes));
    return report("sent 512 random bytes", fd, since);
}

/* ---- flood ----------------------------------------------------------------------------------- */

struct flood {
    struct pollfd *fds; /* those that are open; events is POLLOUT until connected */
    size_t open;
    size_t waiting; /* of them not connected yet */
    size_t limit; /* how many may be open */
    long opened, closed, left, failed;
};

/* As many descriptors as the system gives; who wants more leaves the oldest. */
static size_t raise_descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 64 ? limit.rlim_cur - 32 : 32;
}

static void drop(struct flood *f, size_t i)
{
    close(f->fds[i].fd);
    f->waiting -= f->fds[i].events == POLLOUT;
    f->fds[i] = f->fds[--f->open];
}

static void open_more(struct flood *f, long n)
{
    while (f->opened + f->failed + (long) f->waiting < n && f->waiting < FLOOD_WINDOW) {
        if (f->open == f->limit) {
            drop(f, 0);
            f->left++;
        }
        int fd = start_connect();
        if (fd < 0) {
            f->failed++;
            continue;
        }
        f->fds[f->open++] = (struct pollfd){.fd = fd, .events = POLLOUT};
        f->waiting++;
    }
}

static void on_waiting(struct flood *f, size_t i)
{
    int error = 0;
    socklen_t len = sizeof(error);

    getsockopt(f->fds[i].fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (error && error != ECONNRESET && error != EPIPE) { /* those were opened, and then closed */
        drop(f, i);
        f->failed++;
        return;
    }
    f->fds[i].events = POLLIN;
    f->waiting--;
    f->opened++;
}

static void on_open(struct flood *f, size_t i)
{
    char bytes[256];
    ssize_t n = recv(f->fds[i].fd, bytes, sizeof(bytes), 0);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        drop(f, i);
        f->closed++;
    }
}

/* One round of events.  From the end, because drop() moves the last to the dropped one's place. */
static void flood_step(struct flood *f)
{
    if (poll(f->fds, f->open, 100) < 0 && errno != EINTR)
        fail("poll: %s", strerror(errno));
    for (size_t i = f->open; i-- > 0;) {
        short events = f->fds[i].revents;
        f->fds[i].revents = 0;
        if (events && f->fds[i].events == POLLOUT)
            on_waiting(f, i);
        else if (events)
            on_open(f, i);
    }
}

static int attack_flood(long n)
{
    struct flood f = {.limit = raise_descriptors()};
    int64_t since = now_ms(), deadline = since + 2 * DEADLINE_MS;

    if ((size_t) n < f.limit)
        f.limit = (size_t) n;
    f.fds = calloc(f.limit, sizeof(*f.fds));
    if (!f.fds)
        fail("no memory for %ld connections", n);
    while (f.opened + f.failed < n && now_ms() < deadline) {
        open_more(&f, n);
        flood_step(&f);
    }
    int64_t took = now_ms() - since;
    /* All are left as they are; the agent closes them in its own time. */
    deadline = now_ms() + DEADLINE_MS;
    while (f.open > 0 && now_ms() < deadline)
        flood_step(&f);
    printf("opened %ld connections in %lld ms (%ld failed); the agent closed %ld, %ld were left, "
           "%zu are open\n",
           f.opened, (long long) took, f.failed, f.closed, f.left, f.open);
    free(f.fds);
    return f.opened >= n ? 0 : 1;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static long parse_count(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || n < 1 || n > 1000000)
        fail_usage("flood wants a number from 1 to 1000000");
    return n;
}

static int run(int argc, char **argv)
{
    const char *attack = argv[3];
    const bool is_flood = strcmp(attack, "flood") == 0;

    if (argc != (is_flood ? 5 : 4))
        fail_usage("wrong number of arguments");
    if (is_flood)
        return attack_flood(parse_count(argv[4]));
    if (strcmp(attack, "no-key") == 0)
        return attack_no_key();
    if (strcmp(attack, "wrong-key") == 0)
        return attack_wrong_key();
    if (strcmp(attack, "huge-length") == 0)
        return attack_huge_length();
    if (strcmp(attack, "random") == 0)
        return attack_random();
    fail_usage("there is no such attack");
}

int main(int argc, char **argv)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage_text, stdout);
        return 0;
    }
    if (argc < 4)
        fail_usage("wants ADDRESS PORT ATTACK");
    int rc = getaddrinfo(argv[1], argv[2], &hints, &target);
    if (rc)
        fail_usage(gai_strerror(rc));
    if (sodium_init() < 0)
        fail("libsodium does not start");
    rc = run(argc, argv);
    freeaddrinfo(target);
    return rc;
}
