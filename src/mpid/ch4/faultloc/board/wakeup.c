/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/wakeup.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- the wakeup socket ----------------------------------------------------------------------- */

/* A zero byte and five hexadecimal digits: unix(7), autobind. */
#define NAME_BYTES 6
#define CLEAR_MAX 64 /* the kernel queues some ten; a sender that never stops must not hold us up */

_Static_assert(FAULTLOC_LAUNCHER_PATH == sizeof(((struct sockaddr_un *) NULL)->sun_path),
               "a path is as long as an address can be");
_Static_assert(NAME_BYTES <= FAULTLOC_WAKEUP_SIZE, "a name fits");

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

int faultloc_wakeup_open(struct faultloc_board *b, int *fd)
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
    /* a rank that reads the name while it changes wakes nobody, or a process that ignores it */
    memcpy(b->wakeup, name, NAME_BYTES);
    return 0;
}

void faultloc_wakeup_clear(int fd)
{
    char byte;

    for (int i = 0; i < CLEAR_MAX && recv(fd, &byte, 1, MSG_DONTWAIT) >= 0; i++)
        ;
}

void faultloc_wakeup_close(struct faultloc_board *b, int *fd)
{
    char name[NAME_BYTES];

    if (*fd < 0)
        return;
    if (find_name(*fd, name) == 0 && !memcmp(name, b->wakeup, NAME_BYTES))
        memset(b->wakeup, 0, sizeof(b->wakeup));
    close(*fd);
    *fd = -1;
}

bool faultloc_wakeup_send(const struct faultloc_board *b)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    bool sent;
    int fd;

    memcpy(a.sun_path, b->wakeup, NAME_BYTES);
    if (!a.sun_path[1] || (fd = open_socket()) < 0)
        return false;
    /* EAGAIN: it is full, so the agent is about to wake */
    sent = sendto(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *) &a,
                  offsetof(struct sockaddr_un, sun_path) + NAME_BYTES) == 0 ||
           errno == EAGAIN;
    close(fd);
    return sent;
}

/* ---- to the launcher ------------------------------------------------------------------------- */

/* The kernel's own names begin with a zero byte, and end where the address does. */
static socklen_t address_of(const char *path, struct sockaddr_un *to)
{
    memcpy(to->sun_path, path, strlen(path) + 1);
    if (path[0] != '@')
        return sizeof(*to);
    to->sun_path[0] = '\0';
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(path));
}

int faultloc_launcher_send(const char *path, const struct faultloc_launcher_message *w)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    socklen_t len;
    int fd, rc;

    if (!path[0])
        return 0;
    if (strlen(path) >= sizeof(to.sun_path))
        return ENAMETOOLONG;
    len = address_of(path, &to);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    rc = sendto(fd, w, sizeof(*w), MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *) &to,
                len) < 0
             ? errno
             : 0;
    close(fd);
    return rc;
}

void faultloc_launcher_send_reason(const char *path, int32_t rank, int32_t pid,
                                   enum faultloc_launcher_reason reason, const char *text)
{
    struct faultloc_launcher_message w;

    memset(&w, 0, sizeof(w)); /* the padding, too: it leaves the process */
    w.magic = FAULTLOC_LAUNCHER_MAGIC;
    w.bytes = sizeof(w);
    w.kind = FAULTLOC_LAUNCHER_REASON;
    w.ended_rank = rank;
    w.ended_pid = pid;
    w.reason = (uint8_t) reason;
    snprintf(w.line, sizeof(w.line), "%.*s", FAULTLOC_REASON_SIZE - 1, text);
    (void) faultloc_launcher_send(path, &w);
}

/* ---- peer errors ----------------------------------------------------------------------------- */

bool faultloc_peer_errors_add(struct faultloc_peer_errors *errors, ftree_time now, int32_t rank,
                              int32_t error)
{
    uint32_t n = errors->count < FAULTLOC_PEER_ERRORS ? errors->count : FAULTLOC_PEER_ERRORS;

    for (uint32_t i = 0; i < n; i++)
        if (errors->entry[i].rank == rank)
            return false;
    n = errors->count % FAULTLOC_PEER_ERRORS;
    errors->entry[n].rank = rank;
    errors->entry[n].error = error;
    errors->entry[n].at_ns = now;
    __atomic_store_n(&errors->count, errors->count + 1, __ATOMIC_RELEASE);
    return true;
}

static bool is_unreachable(int error)
{
    return error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT ||
           error == EHOSTDOWN || error == ENETDOWN;
}

bool faultloc_peer_errors_next(const struct faultloc_peer_errors *errors,
                               const struct ftree_job *job, ftree_time now, uint32_t *heard,
                               struct ftree_symptom *s)
{
    uint32_t count = __atomic_load_n(&errors->count, __ATOMIC_ACQUIRE);
    bool reset;

    if (count - *heard > FAULTLOC_PEER_ERRORS)
        *heard = count - FAULTLOC_PEER_ERRORS;
    for (; *heard != count; ++*heard) {
        uint32_t i = *heard % FAULTLOC_PEER_ERRORS;
        int32_t rank = errors->entry[i].rank, error = errors->entry[i].error;
        uint64_t at = errors->entry[i].at_ns;

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
        snprintf(s->detail, sizeof(s->detail), "reported by the transport");
        ++*heard;
        return true;
    }
    return false;
}
