/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/start.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"
#include "faultloc/base/spawn.h"
#include "faultloc/board/board.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC 0x464c5332u /* "FLS2"; to be changed with what the two processes share */
#define FDS_MAX (1 + FTREE_ROLES * FTREE_PATHS)

_Static_assert(FDS_MAX <= FAULTLOC_SOCK_FDS, "they go beside one packet");

/* As it travels; the descriptors come beside it, in the order board, agent's ports, deputy's. */
struct packet {
    uint32_t magic, bytes;
    uint32_t layout; /* sizeof(struct faultloc_board) */
    uint8_t key[FAULTLOC_KEY_SIZE];
    uint16_t port[FTREE_ROLES];
    uint8_t has_fd[FTREE_ROLES][FTREE_PATHS];
};

struct answer {
    uint32_t magic;
    int32_t error;
};

#define OUTPUTS 2

/* Standard output and error come beside it; of another length than the order to quit. */
struct outputs {
    uint32_t magic;
    uint8_t has_fd[OUTPUTS];
};

/* ---- the rank -------------------------------------------------------------------------------- */

static size_t pack(const struct faultloc_start *start, struct packet *p, int fd[FDS_MAX])
{
    size_t n = 0;

    *p = (struct packet){
        .magic = MAGIC, .bytes = sizeof(*p), .layout = sizeof(struct faultloc_board)};
    memcpy(p->key, start->key, sizeof(p->key));
    fd[n++] = start->board_fd;
    for (int role = 0; role < FTREE_ROLES; role++) {
        p->port[role] = start->ports[role].port;
        for (int path = 0; path < FTREE_PATHS; path++)
            if (p->port[role] && start->ports[role].fd[path] >= 0) {
                p->has_fd[role][path] = 1;
                fd[n++] = start->ports[role].fd[path];
            }
    }
    return n;
}

static int send_start(int sock, const struct faultloc_start *start)
{
    struct packet p;
    int fd[FDS_MAX], rc;
    size_t n = pack(start, &p, fd);

    rc = faultloc_sock_send(sock, &p, sizeof(p), fd, n, MSG_NOSIGNAL);
    sodium_memzero(&p, sizeof(p));
    return rc;
}

/* Those that are what the program was given.  One that has ended meanwhile misses nothing. */
static void send_outputs(int sock)
{
    struct outputs o = {.magic = MAGIC};
    int fd[OUTPUTS];
    size_t n = 0;

    for (int i = 0; i < OUTPUTS; i++)
        if (faultloc_output_is_given(STDOUT_FILENO + i)) {
            o.has_fd[i] = 1;
            fd[n++] = STDOUT_FILENO + i;
        }
    (void) faultloc_sock_send(sock, &o, sizeof(o), fd, n, MSG_NOSIGNAL);
}

int faultloc_start_send(const char *path, const struct faultloc_start *start, int *sock)
{
    int pair[2], rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return errno;
    /* the packet first: it waits in the kernel, and the program finds it when it begins */
    rc = send_start(pair[0], start);
    if (!rc)
        rc = faultloc_spawn(path, pair[1]);
    close(pair[1]);
    if (rc)
        close(pair[0]);
    else
        *sock = pair[0];
    return rc;
}

/* As poll(2).  A timer of the program's may interrupt it again and again: that does not prolong
 * it. */
static int await_answer(int sock, int ms)
{
    struct pollfd p = {.fd = sock, .events = POLLIN};
    ftree_time now = faultloc_now(), by = now + (ftree_time) ms * FTREE_MS;
    int n;

    while ((n = poll(&p, 1, (int) ((by - now + FTREE_MS - 1) / FTREE_MS))) < 0 && errno == EINTR) {
        now = faultloc_now();
        if (now >= by)
            return 0;
    }
    return n;
}

bool faultloc_start_is_ready(int sock, int ms, char *error, size_t room)
{
    struct answer a;
    ssize_t n = await_answer(sock, ms);

    if (n == 0) {
        snprintf(error, room, "no answer within %d s", ms / 1000);
        return false;
    }
    while ((n = recv(sock, &a, sizeof(a), 0)) < 0 && errno == EINTR)
        ;
    if (n != sizeof(a) || a.magic != MAGIC)
        snprintf(error, room, n > 0 ? "it is of another build" : "it ended at once");
    else if (a.error == EPROTO)
        snprintf(error, room, "it is of another build");
    else if (a.error)
        snprintf(error, room, "%s", strerror(a.error));
    if (n != sizeof(a) || a.magic != MAGIC || a.error)
        return false;
    send_outputs(sock);
    return true;
}

void faultloc_start_end(int sock, bool go)
{
    (void) !send(sock, go ? "g" : "q", 1, MSG_NOSIGNAL);
    close(sock);
}

/* ---- the program ----------------------------------------------------------------------------- */

static bool unpack(const struct packet *p, const int *fd, size_t fds, struct faultloc_start *start)
{
    size_t n = 0;

    if (fds == 0)
        return false;
    memcpy(start->key, p->key, sizeof(start->key));
    start->board_fd = fd[n++];
    for (int role = 0; role < FTREE_ROLES; role++) {
        start->ports[role].port = p->port[role];
        for (int path = 0; path < FTREE_PATHS; path++) {
            start->ports[role].fd[path] = -1;
            if (!p->has_fd[role][path])
                continue;
            if (n == fds) /* the kernel drops what this process may not have */
                return false;
            start->ports[role].fd[path] = fd[n++];
        }
    }
    return n == fds;
}

int faultloc_start_take(int sock, struct faultloc_start *start)
{
    struct faultloc_beside beside;
    struct packet p;
    ssize_t n = faultloc_sock_receive(sock, &p, sizeof(p), 0, FDS_MAX, &beside);
    bool fine;

    if (n < 0)
        return errno;
    fine = n == sizeof(p) && p.magic == MAGIC && p.bytes == sizeof(p) &&
           p.layout == sizeof(struct faultloc_board) &&
           unpack(&p, beside.fd, beside.fds, start);
    sodium_memzero(&p, sizeof(p));
    if (!fine)
        faultloc_start_answer(sock, EPROTO);
    return fine ? 0 : EPROTO;
}

void faultloc_start_answer(int sock, int error)
{
    struct answer a = {.magic = MAGIC, .error = error};

    (void) !send(sock, &a, sizeof(a), MSG_NOSIGNAL);
}

void faultloc_start_keep_output(void)
{
    int kept = memfd_create("faultloc-output", MFD_CLOEXEC);

    for (int i = 0; i < OUTPUTS && kept >= 0; i++)
        (void) dup2(kept, STDOUT_FILENO + i);
    if (kept > STDERR_FILENO)
        close(kept);
}

/* What was kept goes first. */
static void take_output(int number, int fd)
{
    char text[1024];
    off_t at = 0;
    ssize_t n;

    while (number == STDERR_FILENO && (n = pread(number, text, sizeof(text) - 1, at)) > 0) {
        text[n] = '\0';
        faultloc_write(fd, text);
        at += n;
    }
    (void) dup2(fd, number);
    close(fd);
}

static void take_outputs(const struct faultloc_beside *b, const struct outputs *o)
{
    size_t taken = 0;

    for (int i = 0; i < OUTPUTS; i++) /* what is written where there is none is not to be kept */
        take_output(STDOUT_FILENO + i, o->has_fd[i] && taken < b->fds
                                           ? b->fd[taken++]
                                           : open("/dev/null", O_WRONLY | O_CLOEXEC));
}

enum faultloc_start_word faultloc_start_hear(int sock)
{
    struct faultloc_beside beside;
    struct outputs o;
    char *word = (char *) &o;
    ssize_t n;

    do /* an answer that was not read is an error first, and then what was sent is there */
        n = faultloc_sock_receive(sock, &o, sizeof(o), 0, OUTPUTS, &beside);
    while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    if (n == 1)
        return *word == 'g' ? FAULTLOC_START_GO : FAULTLOC_START_QUIT;
    if (n != sizeof(o))
        return FAULTLOC_START_LOST;
    take_outputs(&beside, &o);
    return FAULTLOC_START_WAIT;
}
