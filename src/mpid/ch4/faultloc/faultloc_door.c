/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* struct ucred */
#endif

#include "faultloc_door.h"

#include "faultloc_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define COMPLAINTS 5
#define BURIAL (10000 * FTREE_MS) /* how long the socket of a dead agent may still look alive */

/* ---- where ----------------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool faultloc_door_folder(uid_t uid, char *out, size_t room)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int n;

    /* it may have come with the environment from another host */
    if (runtime && runtime[0] == '/' && is_directory(runtime))
        n = snprintf(out, room, "%s/faultloc", runtime);
    else
        n = snprintf(out, room, "/tmp/faultloc-%lu", (unsigned long) uid);
    return n > 0 && (size_t) n < room;
}

bool faultloc_door_name(const char *job_id, const char *node, char *out, size_t room)
{
    return faultloc_expand("%j@%h.sock", job_id, node, out, room);
}

/* A folder that somebody else has made in /tmp could be read, or emptied, by them. */
static int check_folder(const char *path)
{
    struct stat st;

    if (mkdir(path, 0700) && errno != EEXIST)
        return errno;
    if (lstat(path, &st))
        return errno;
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return st.st_uid != geteuid() || (st.st_mode & 077) ? EPERM : 0;
}

static int find_path(struct faultloc_door *d, const char *job_id, const char *node)
{
    char folder[FAULTLOC_DOOR_PATH], name[FAULTLOC_DOOR_PATH];
    int rc;

    if (!faultloc_door_folder(d->uid, folder, sizeof(folder)) ||
        !faultloc_door_name(job_id, node, name, sizeof(name)))
        return ENAMETOOLONG;
    rc = check_folder(folder);
    snprintf(d->path, sizeof(d->path), "%s", folder); /* for a message */
    if (rc)
        return rc;
    if (strlen(folder) + 1 + strlen(name) >= sizeof(d->path))
        return ENAMETOOLONG;
    strcat(d->path, "/");
    strcat(d->path, name);
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static struct sockaddr_un address_of(const struct faultloc_door *d)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    memcpy(a.sun_path, d->path, strlen(d->path));
    return a;
}

/* True if nobody is bound to the socket of that name any more. */
static bool is_stale(const struct sockaddr_un *a)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool stale =
        fd >= 0 && connect(fd, (const struct sockaddr *) a, sizeof(*a)) && errno == ECONNREFUSED;

    if (fd >= 0)
        close(fd);
    return stale;
}

static int bind_door(const struct faultloc_door *d, int fd)
{
    struct sockaddr_un a = address_of(d);

    if (bind(fd, (const struct sockaddr *) &a, sizeof(a)) == 0)
        return 0;
    if (errno != EADDRINUSE || !is_stale(&a))
        return errno;
    unlink(d->path);
    return bind(fd, (const struct sockaddr *) &a, sizeof(a)) ? errno : 0;
}

static int open_socket(struct faultloc_door *d)
{
    int one = 1, rc, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return errno;
    /* before it has a name: what comes then has its sender's credentials with it */
    rc = setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ? errno : bind_door(d, fd);
    if (rc)
        close(fd);
    else
        *d->fd = fd;
    return rc;
}

void faultloc_door_init(struct faultloc_door *d, const struct ftree_job *job, int32_t self,
                        atomic_int *fd)
{
    *d = (struct faultloc_door){.job = job, .self = self, .uid = geteuid(), .fd = fd};
    *fd = -1;
}

static void give_up(struct faultloc_door *d, const char *node, int error)
{
    const char *why = strerror(error);

    if (error == EPERM)
        why = "it must be this user's own folder, closed to everybody else (mode 0700)";
    else if (error == EADDRINUSE)
        why = "somebody else is bound to it";
    else if (error == ENAMETOOLONG)
        why = "its name is too long";
    d->given_up = true;
    faultloc_say("node %s: symptoms of other middleware cannot be taken in at %s: %s; the job goes "
                 "on without",
                 node, d->path[0] ? d->path : "a socket", why);
}

bool faultloc_door_open(struct faultloc_door *d, ftree_time now, const char *job_id)
{
    char buf[16];
    const char *node = ftree_node_name(d->job, d->self, buf, sizeof(buf));
    int rc;

    if (d->given_up || *d->fd >= 0)
        return false;
    if (!d->first_try)
        d->first_try = now;
    rc = find_path(d, job_id, node);
    if (!rc)
        rc = open_socket(d);
    if (rc && (rc != EADDRINUSE || now - d->first_try > BURIAL))
        give_up(d, node, rc);
    return rc == 0;
}

void faultloc_door_close(struct faultloc_door *d)
{
    if (*d->fd < 0)
        return;
    unlink(d->path);
    close(*d->fd);
    *d->fd = -1;
}

/* ---- listening ------------------------------------------------------------------------------- */

struct datagram {
    char text[FAULTLOC_DOOR_BYTES + 1];
    size_t len;
    struct sockaddr_un from;
    socklen_t from_len;
    uid_t uid;
    bool has_uid;
};

static bool receive(int fd, struct datagram *g)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = g->text, .iov_len = sizeof(g->text)};
    struct msghdr m = {.msg_name = &g->from,
                       .msg_namelen = sizeof(g->from),
                       .msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    /* descriptors that are sent along are not wanted, and find no room */
    ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct ucred who;

    if (n < 0)
        return false;
    g->len = (size_t) n;
    g->from_len = m.msg_namelen;
    g->has_uid = false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
            c->cmsg_len == CMSG_LEN(sizeof(who))) {
            memcpy(&who, CMSG_DATA(c), sizeof(who));
            g->uid = who.uid;
            g->has_uid = true;
        }
    return true;
}

static void answer(const struct faultloc_door *d, const struct datagram *g, const char *text)
{
    if (g->from_len > offsetof(struct sockaddr_un, sun_path))
        sendto(*d->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *) &g->from, g->from_len);
}

static void complain(struct faultloc_door *d, const char *error)
{
    char buf[16];

    if (d->complaints >= COMPLAINTS)
        return;
    d->complaints++;
    faultloc_say("node %s: a symptom was not understood: %s%s",
                 ftree_node_name(d->job, d->self, buf, sizeof(buf)), error,
                 d->complaints < COMPLAINTS ? "" : " (further ones are ignored without a word)");
}

static bool is_heard(struct faultloc_door *d, const struct datagram *g)
{
    char buf[16];

    if (g->has_uid && (g->uid == d->uid || g->uid == 0))
        return true;
    if (!d->stranger_said)
        faultloc_say("node %s: a symptom told by user %ld was refused: only user %ld and root are "
                     "heard (further ones are refused without a word)",
                     ftree_node_name(d->job, d->self, buf, sizeof(buf)),
                     g->has_uid ? (long) g->uid : -1L, (long) d->uid);
    d->stranger_said = true;
    return false;
}

bool faultloc_door_next(struct faultloc_door *d, ftree_time now, int *budget,
                        struct ftree_symptom *s)
{
    char error[FAULTLOC_DOOR_ERROR];
    struct datagram g;

    while (*d->fd >= 0 && *budget < FAULTLOC_DOOR_TURN && receive(*d->fd, &g)) {
        ++*budget;
        if (!is_heard(d, &g))
            continue;
        if (faultloc_door_read(d->job, d->self, now, g.text, g.len, s, error)) {
            answer(d, &g, "ok");
            return true;
        }
        answer(d, &g, error);
        complain(d, error);
    }
    return false;
}
