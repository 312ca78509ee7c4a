/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/symptom_socket.h"

#include "faultloc/base/say.h"
#include "faultloc/base/sock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define COMPLAINTS 5
#define DEAD_AGENT (10000 * FTREE_MS) /* how long the socket of a dead agent may still look alive */
#define OTHER_START (300 * FTREE_MS) /* how long an ended job may have the name, as in a script */
#define NUMBERS 1000 /* of jobs of one name at a time */
#define STALE_MAX 512 /* entries of the folder that are looked at, once */
#define NEWBORN_S 10 /* a socket of this age may not be bound yet */

/* ---- where ----------------------------------------------------------------------------------- */

static bool is_directory_of(const char *path, uid_t uid)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid;
}

bool faultloc_symptom_socket_folder(uid_t uid, char *out, size_t room)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int n;

    /* it may have come with the environment of another host, or of another user */
    if (runtime && runtime[0] == '/' && is_directory_of(runtime, uid))
        n = snprintf(out, room, "%s/faultloc", runtime);
    else
        n = snprintf(out, room, "/tmp/faultloc-%lu", (unsigned long) uid);
    return n > 0 && (size_t) n < room;
}

static int close_with(int fd, int error)
{
    close(fd);
    errno = error;
    return -1;
}

/* A folder that somebody else has made in /tmp could be read, emptied, or filled, by them. */
int faultloc_symptom_socket_open_folder(const char *path, uid_t owner)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st))
        return close_with(fd, errno);
    return st.st_uid == owner && !(st.st_mode & 077) ? fd : close_with(fd, EPERM);
}

static int open_socket_of(int folder, const char *name, uid_t owner)
{
    int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st))
        return close_with(fd, errno);
    if (!S_ISSOCK(st.st_mode))
        return close_with(fd, ENOTSOCK);
    return st.st_uid == owner ? fd : close_with(fd, EPERM);
}

int faultloc_symptom_socket_connect(int folder, const char *name, uid_t owner)
{
    int at = open_socket_of(folder, name, owner), error = 0;
    int fd = at < 0 ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    if (at < 0)
        return -1;
    /* by its descriptor: whatever has that name by now, this is what was looked at */
    snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d", at);
    if (fd < 0 || connect(fd, (const struct sockaddr *) &a, sizeof(a)))
        error = errno;
    close(at);
    return error && fd >= 0 ? close_with(fd, error) : fd;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Returns the folder, opened, or -1 with errno. Notes the symptom socket's path; after an error, as
 * far as it is known, for a message. */
static int find_path(struct faultloc_symptom_socket *d, const char *job_id, const char *node)
{
    char path[FAULTLOC_SYMPTOM_PATH], name[FAULTLOC_SYMPTOM_PATH], job[FAULTLOC_SYMPTOM_PATH];
    int folder, n = d->number > 1 ? snprintf(job, sizeof(job), "%s.%d", job_id, d->number)
                                  : snprintf(job, sizeof(job), "%s", job_id);

    errno = ENAMETOOLONG;
    if (n < 0 || n >= (int) sizeof(job) ||
        !faultloc_symptom_socket_folder(d->uid, path, sizeof(path)) ||
        !faultloc_expand("%j@%h.sock", job, node, name, sizeof(name)))
        return -1;
    snprintf(d->path, sizeof(d->path), "%s", path);
    if (mkdir(path, 0700) && errno != EEXIST)
        return -1;
    folder = faultloc_symptom_socket_open_folder(path, d->uid);
    if (folder < 0)
        return -1;
    if (strlen(path) + 1 + strlen(name) >= sizeof(d->path))
        return close_with(folder, ENAMETOOLONG);
    strcat(d->path, "/");
    strcat(d->path, name);
    return folder;
}

static const char *name_of(const struct faultloc_symptom_socket *d)
{
    return strrchr(d->path, '/') + 1;
}

/* True if nobody is bound to the user's socket of that name any more. */
static bool is_stale(const struct faultloc_symptom_socket *d, int folder, const char *name)
{
    int fd = faultloc_symptom_socket_connect(folder, name, d->uid);
    bool stale = fd < 0 && errno == ECONNREFUSED;

    if (fd >= 0)
        close(fd);
    return stale;
}

/* A launcher knows the answers of an agent by the path of its symptom socket, so the symptom socket
 * is bound to that path and not to one in /proc/self/fd. Whether the path still leads to the folder
 * that was looked at is checked afterwards. */
static int bind_socket(const struct faultloc_symptom_socket *d, int folder, int fd)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int at, rc;

    memcpy(a.sun_path, d->path, strlen(d->path));
    rc = bind(fd, (const struct sockaddr *) &a, sizeof(a)) ? errno : 0;
    if (rc == EADDRINUSE && is_stale(d, folder, name_of(d))) {
        unlinkat(folder, name_of(d), 0);
        rc = bind(fd, (const struct sockaddr *) &a, sizeof(a)) ? errno : 0;
    }
    if (rc)
        return rc;
    at = open_socket_of(folder, name_of(d), d->uid);
    if (at < 0)
        return EPERM;
    close(at);
    return 0;
}

static int open_socket(struct faultloc_symptom_socket *d, int folder)
{
    int one = 1, rc, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return errno;
    /* before it has a name: what comes then has its sender's credentials with it */
    rc = setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ? errno
                                                                    : bind_socket(d, folder, fd);
    if (rc)
        close(fd);
    else
        d->fd = fd;
    return rc;
}

/* While bind(2) is under way a socket has a name already and refuses still. */
static bool is_old(int folder, const char *name)
{
    struct stat st;

    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_mtime < time(NULL) - NEWBORN_S;
}

/* Removes the symptom sockets of agents that were killed. Those of this node only: on a file system
 * that hosts share, the symptom sockets of agents that live on another host refuse, too. */
static void remove_stale(const struct faultloc_symptom_socket *d, int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const char *node = strchr(name_of(d), '@'), *at;
    struct dirent *e;

    if (fd >= 0 && !dir)
        close(fd);
    for (int i = 0; dir && i < STALE_MAX && (e = readdir(dir)); i++) {
        at = strchr(e->d_name, '@');
        if (at && !strcmp(at, node) && is_old(folder, e->d_name) && is_stale(d, folder, e->d_name))
            unlinkat(folder, e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

void faultloc_symptom_socket_init(struct faultloc_symptom_socket *d, const struct ftree_job *job,
                                  int32_t self)
{
    *d = (struct faultloc_symptom_socket){.job = job, .self = self, .uid = geteuid(), .fd = -1};
}

static void give_up(struct faultloc_symptom_socket *d, const char *node, int error)
{
    const char *why = strerror(error);

    if (error == EPERM)
        why = "it must be this user's own folder, closed to everybody else (mode 0700)";
    else if (error == EADDRINUSE)
        why = "another process is bound to it";
    else if (error == ENAMETOOLONG)
        why = "its name is too long";
    d->given_up = true;
    faultloc_say("node %s: cannot accept symptoms of other middleware at %s: %s; the job "
                 "continues without them",
                 node, d->path[0] ? d->path : "a socket", why);
}

static int try_to_open(struct faultloc_symptom_socket *d, const char *job_id, const char *node)
{
    int folder = find_path(d, job_id, node), rc;

    if (folder < 0)
        return errno;
    rc = open_socket(d, folder);
    if (!rc)
        remove_stale(d, folder);
    close(folder);
    return rc;
}

/* Its name stays another start's. */
static int take_number(struct faultloc_symptom_socket *d, const char *job_id, const char *node)
{
    int rc = EADDRINUSE;

    for (d->number = 1; rc == EADDRINUSE && d->number < NUMBERS;) {
        d->number++;
        rc = try_to_open(d, job_id, node);
    }
    return rc;
}

bool faultloc_symptom_socket_open(struct faultloc_symptom_socket *d, ftree_time now,
                                  const char *job_id)
{
    char buf[16];
    const char *node = ftree_node_name(d->job, d->self, buf, sizeof(buf));
    int rc;

    if (d->given_up || d->fd >= 0)
        return false;
    if (!d->first_try)
        d->first_try = now;
    rc = try_to_open(d, job_id, node);
    if (rc == EADDRINUSE && !d->number && now - d->first_try >= OTHER_START)
        rc = take_number(d, job_id, node);
    if (rc && (rc != EADDRINUSE || now - d->first_try > DEAD_AGENT))
        give_up(d, node, rc);
    return rc == 0;
}

void faultloc_symptom_socket_close(struct faultloc_symptom_socket *d)
{
    if (d->fd < 0)
        return;
    unlink(d->path);
    close(d->fd);
    d->fd = -1;
}

/* ---- listening ------------------------------------------------------------------------------- */

struct datagram {
    char text[FAULTLOC_SYMPTOM_BYTES + 1];
    size_t len;
    struct faultloc_beside beside;
    int reply; /* a descriptor that was sent along, -1: none */
};

static bool receive(int fd, struct datagram *g)
{
    ssize_t n = faultloc_sock_receive(fd, g->text, sizeof(g->text), MSG_DONTWAIT, 1, &g->beside);

    g->len = n > 0 ? (size_t) n : 0;
    g->reply = g->beside.fds > 0 ? g->beside.fd[0] : -1;
    return n >= 0;
}

/* An agent does not write into a network, a file or a terminal that is handed to it. */
static bool is_unix_socket(int fd)
{
    socklen_t len = sizeof(int);
    int domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

/* A file in memory that nobody can change any more; -1: there is no room for it. */
static int make_file(const char *text)
{
    int fd = faultloc_memory_file("faultloc-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING, text);

    return fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW)
               ? close_with(fd, ENOSPC)
               : fd;
}

void faultloc_symptom_socket_reply(int fd, const char *text)
{
    size_t len = strlen(text);
    int file;

    if (!is_unix_socket(fd))
        return;
    if (len <= FAULTLOC_REPLY_BYTES) {
        send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    file = make_file(text);
    if (file < 0)
        return;
    faultloc_sock_send(fd, FAULTLOC_REPLY_IN_FILE, strlen(FAULTLOC_REPLY_IN_FILE), &file, 1,
                       MSG_DONTWAIT | MSG_NOSIGNAL);
    close(file);
}

static void answer(const struct faultloc_symptom_socket *d, const struct datagram *g,
                   const char *text)
{
    const int how = MSG_DONTWAIT | MSG_NOSIGNAL;

    if (g->reply >= 0)
        faultloc_symptom_socket_reply(g->reply, text);
    else if (g->beside.from_len > offsetof(struct sockaddr_un, sun_path))
        sendto(d->fd, text, strlen(text), how, (const struct sockaddr *) &g->beside.from,
               g->beside.from_len);
}

static void complain(struct faultloc_symptom_socket *d, const char *error)
{
    char buf[16];

    if (d->complaints >= COMPLAINTS)
        return;
    d->complaints++;
    faultloc_say("node %s: invalid symptom: %s%s",
                 ftree_node_name(d->job, d->self, buf, sizeof(buf)), error,
                 d->complaints < COMPLAINTS ? "" : " (further ones are not reported)");
}

static bool is_allowed(struct faultloc_symptom_socket *d, const struct datagram *g)
{
    char buf[16];

    if (g->beside.has_sender && (g->beside.uid == d->uid || g->beside.uid == 0))
        return true;
    if (!d->refusal_reported)
        faultloc_say("node %s: a symptom from user %ld was refused: only user %ld and root may "
                     "report symptoms (further ones are not reported)",
                     ftree_node_name(d->job, d->self, buf, sizeof(buf)),
                     g->beside.has_sender ? (long) g->beside.uid : -1L, (long) d->uid);
    d->refusal_reported = true;
    return false;
}

static bool begins_with(const struct datagram *g, const char *head)
{
    return g->len > strlen(head) && !memcmp(g->text, head, strlen(head));
}

static bool is_request(const struct datagram *g)
{
    return begins_with(g, FAULTLOC_STATUS_REQUEST) || begins_with(g, FAULTLOC_ASK_QUESTION) ||
           begins_with(g, FAULTLOC_SET_REQUEST);
}

/* Its answer may come later. */
static void take_request(const struct faultloc_symptom_socket *d, ftree_time now,
                         struct datagram *g)
{
    char error[FAULTLOC_SYMPTOM_ERROR];
    const char *said = "this agent takes no requests";

    if (g->len > FAULTLOC_SYMPTOM_BYTES)
        said = "the request is too long";
    else if (d->request)
        said = d->request(d->request_ctx, now, g->text, g->len, g->beside.uid, &g->reply, error);
    if (*said)
        answer(d, g, said);
}

/* True if it is a symptom. */
static bool read_datagram(struct faultloc_symptom_socket *d, ftree_time now, struct datagram *g,
                          struct ftree_symptom *s)
{
    char error[FAULTLOC_SYMPTOM_ERROR];

    if (!is_allowed(d, g))
        return false;
    d->taken++;
    if (is_request(g)) {
        take_request(d, now, g);
        return false;
    }
    if (faultloc_symptom_parse(d->job, d->self, now, g->text, g->len, s, error)) {
        answer(d, g, "ok");
        return true;
    }
    d->taken--;
    answer(d, g, error);
    complain(d, error);
    return false;
}

bool faultloc_symptom_socket_next(struct faultloc_symptom_socket *d, ftree_time now, int *budget,
                                  struct ftree_symptom *s)
{
    struct datagram g;
    bool found;

    while (d->fd >= 0 && *budget < FAULTLOC_SYMPTOM_TURN && receive(d->fd, &g)) {
        ++*budget;
        found = read_datagram(d, now, &g, s);
        if (g.reply >= 0)
            close(g.reply);
        if (found)
            return true;
    }
    return false;
}
