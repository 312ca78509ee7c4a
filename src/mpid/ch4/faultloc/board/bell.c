/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/bell.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- the bell -------------------------------------------------------------------------------- */

/* A zero byte and five hexadecimal digits: unix(7), autobind. */
#define NAME_BYTES 6
#define HUSH_MAX 64 /* the kernel holds some ten; a stranger who goes on ringing must not hold us up */

_Static_assert(NAME_BYTES <= FAULTLOC_BELL_SIZE, "a name fits");

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The kernel's choice. */
static int find_name(int fd, char name[NAME_BYTES])
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(a);

    if (getsockname(fd, (struct sockaddr *) &a, &len))
        return errno;
    memcpy(name, a.sun_path, NAME_BYTES);
    return 0;
}

int faultloc_bell_open(struct faultloc_board *b, int *fd)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    char name[NAME_BYTES];
    int rc;

    *fd = open_socket();
    if (*fd < 0)
        return errno;
    rc = bind(*fd, (const struct sockaddr *) &any, sizeof(sa_family_t)) ? errno
                                                                        : find_name(*fd, name);
    if (rc) {
        close(*fd);
        *fd = -1;
        return rc;
    }
    /* a rank that reads the name while it changes rings nowhere, or at somebody who ignores it */
    memcpy(b->bell, name, NAME_BYTES);
    return 0;
}

void faultloc_bell_hush(int fd)
{
    char byte;

    for (int i = 0; i < HUSH_MAX && recv(fd, &byte, 1, MSG_DONTWAIT) >= 0; i++)
        ;
}

void faultloc_bell_close(struct faultloc_board *b, int *fd)
{
    char name[NAME_BYTES];

    if (*fd < 0)
        return;
    if (find_name(*fd, name) == 0 && !memcmp(name, b->bell, NAME_BYTES))
        memset(b->bell, 0, sizeof(b->bell));
    close(*fd);
    *fd = -1;
}

bool faultloc_bell_ring(const struct faultloc_board *b)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    bool rang;
    int fd;

    memcpy(a.sun_path, b->bell, NAME_BYTES);
    if (!a.sun_path[1] || (fd = open_socket()) < 0)
        return false;
    /* EAGAIN: it is full, and rings already */
    rang = sendto(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *) &a,
                  offsetof(struct sockaddr_un, sun_path) + NAME_BYTES) == 0 ||
           errno == EAGAIN;
    close(fd);
    return rang;
}

/* ---- what is told ---------------------------------------------------------------------------- */

bool faultloc_told_write(struct faultloc_told *told, ftree_time now, int32_t rank, int32_t error)
{
    uint32_t n = told->count < FAULTLOC_TOLD ? told->count : FAULTLOC_TOLD;

    for (uint32_t i = 0; i < n; i++)
        if (told->entry[i].rank == rank)
            return false;
    n = told->count % FAULTLOC_TOLD;
    told->entry[n].rank = rank;
    told->entry[n].error = error;
    told->entry[n].at_ns = now;
    __atomic_store_n(&told->count, told->count + 1, __ATOMIC_RELEASE);
    return true;
}

static bool is_unreachable(int error)
{
    return error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT ||
           error == EHOSTDOWN || error == ENETDOWN;
}

bool faultloc_told_read(const struct faultloc_told *told, const struct ftree_job *job,
                        ftree_time now, uint32_t *heard, struct ftree_symptom *s)
{
    uint32_t count = __atomic_load_n(&told->count, __ATOMIC_ACQUIRE);
    bool reset;

    if (count - *heard > FAULTLOC_TOLD)
        *heard = count - FAULTLOC_TOLD;
    for (; *heard != count; ++*heard) {
        uint32_t i = *heard % FAULTLOC_TOLD;
        int32_t rank = told->entry[i].rank, error = told->entry[i].error;
        uint64_t at = told->entry[i].at_ns;

        if (rank < 0 || rank >= job->size || error <= 0 || error >= 4096)
            continue;
        at = at < now ? at : now; /* it may have been noted since */
        reset = !is_unreachable(error);
        *s = (struct ftree_symptom){.kind = reset ? FTREE_SYMPTOM_PEER_RESET
                                                  : FTREE_SYMPTOM_PEER_UNREACHABLE,
                                    .about = {.kind = reset ? FTREE_KIND_RANK : FTREE_KIND_NODE,
                                              .node = job->rank_node ? job->rank_node[rank] : rank,
                                              .rank = rank,
                                              .switch_ = FTREE_NONE},
                                    .count = 1,
                                    .error = error,
                                    .first = at,
                                    .last = at};
        s->severity = ftree_symptom_info(s->kind)->severity;
        snprintf(s->detail, sizeof(s->detail), "told by the transport");
        ++*heard;
        return true;
    }
    return false;
}
