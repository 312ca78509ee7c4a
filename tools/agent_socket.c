/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "agent_socket.h"

#include "faultloc/base/say.h"
#include "faultloc/base/sock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKETS_MAX 1024
#define ENTRIES_MAX 4096 /* of a folder */
#define SEND_MS 10000
#define ANSWER_MAX (256 * 1024 * 1024)

struct agent_sockets {
    int n;
    bool too_many;
    struct agent_socket sock[SOCKETS_MAX];
};

/* ---- users ----------------------------------------------------------------------------------- */

/* A user id as it is written in the name of a folder, and in no other way. */
static bool read_uid(const char *text, uid_t *uid)
{
    char *end, again[24];
    unsigned long n = strtoul(text, &end, 10);

    *uid = (uid_t) n;
    snprintf(again, sizeof(again), "%lu", (unsigned long) *uid);
    return !strcmp(text, again);
}

bool tool_agent_option(int n, char **arguments, int *i, struct agent_choice *c)
{
    const char **to = !strcmp(arguments[*i], "--user")   ? &c->user
                      : !strcmp(arguments[*i], "--job")  ? &c->job
                      : !strcmp(arguments[*i], "--node") ? &c->node
                                                         : NULL;

    if (to && *i + 1 == n)
        c->no_value = arguments[*i];
    else if (to)
        *to = arguments[++*i];
    return to;
}

enum tool_exit tool_agent_check(struct agent_choice *c)
{
    const struct passwd *known = c->user ? getpwnam(c->user) : NULL;

    if (c->no_value)
        return tool_wrong(c->command, "missing value after ", c->no_value);
    if (known)
        c->uid = known->pw_uid;
    if (!known && c->user && !read_uid(c->user, &c->uid))
        return tool_wrong(c->command, "no such user: ", c->user);
    return TOOL_OK;
}

/* ---- symptom sockets ------------------------------------------------------------------------- */

/* A socket connected to the symptom socket; -1 with errno: nobody is behind it, or it is not its
 * user's. */
static int connect_to(const struct agent_socket *d)
{
    const struct timeval patience = {.tv_sec = SEND_MS / 1000};
    int folder = faultloc_symptom_socket_open_folder(d->folder, d->uid), fd, error;

    if (folder < 0)
        return -1;
    fd = faultloc_symptom_socket_connect(folder, d->name, d->uid);
    error = errno;
    close(folder);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    errno = error;
    return fd;
}

static bool is_same(const struct agent_socket *a, const struct agent_socket *b)
{
    return a->uid == b->uid && !strcmp(a->job, b->job) && !strcmp(a->node, b->node);
}

/* JOB@NODE.sock */
static bool read_name(struct agent_socket *d, const char *name)
{
    const char *at = strchr(name, '@'), *end = strrchr(name, '.');

    if (!at || !end || end < at || strcmp(end, ".sock") || strlen(name) >= sizeof(d->name))
        return false;
    strcpy(d->name, name);
    snprintf(d->job, sizeof(d->job), "%.*s", (int) (at - name), name);
    snprintf(d->node, sizeof(d->node), "%.*s", (int) (end - at - 1), at + 1);
    return true;
}

static void add_socket(struct agent_sockets *sockets, const char *folder, uid_t uid,
                       const char *name)
{
    struct agent_socket d = {.uid = uid};
    int fd;

    snprintf(d.folder, sizeof(d.folder), "%s", folder);
    if (!read_name(&d, name) || (fd = connect_to(&d)) < 0)
        return;
    close(fd);
    for (int i = 0; i < sockets->n; i++)
        if (is_same(&sockets->sock[i], &d))
            return;
    if (sockets->n < SOCKETS_MAX)
        sockets->sock[sockets->n++] = d;
    else
        sockets->too_many = true;
}

/* A directory to be read, NULL: there is none, or it is not to be trusted. */
static DIR *open_list(const char *folder, uid_t uid)
{
    int at = faultloc_symptom_socket_open_folder(folder, uid);
    int fd = at < 0 ? -1 : openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);

    if (at >= 0)
        close(at);
    if (fd >= 0 && !list)
        close(fd);
    return list;
}

static void search(struct agent_sockets *sockets, const char *folder, uid_t uid)
{
    DIR *list = open_list(folder, uid);
    const struct dirent *e;
    int n = 0;

    while (list && (e = readdir(list)) && ++n <= ENTRIES_MAX)
        add_socket(sockets, folder, uid, e->d_name);
    sockets->too_many = sockets->too_many || n > ENTRIES_MAX;
    if (list)
        closedir(list);
}

static void search_of(struct agent_sockets *sockets, uid_t uid)
{
    char folder[FAULTLOC_SYMPTOM_PATH];

    if (uid == geteuid() && faultloc_symptom_socket_folder(uid, folder, sizeof(folder)))
        search(sockets, folder, uid);
    snprintf(folder, sizeof(folder), "/run/user/%lu/faultloc", (unsigned long) uid);
    search(sockets, folder, uid);
    snprintf(folder, sizeof(folder), "/tmp/faultloc-%lu", (unsigned long) uid);
    search(sockets, folder, uid);
}

/* Of every user who has an entry `prefix`UID in that folder. */
static void search_users(struct agent_sockets *sockets, const char *folder, const char *prefix)
{
    DIR *list = opendir(folder);
    const struct dirent *e;
    uid_t uid;

    while (list && (e = readdir(list)))
        if (!strncmp(e->d_name, prefix, strlen(prefix)) &&
            read_uid(e->d_name + strlen(prefix), &uid))
            search_of(sockets, uid);
    if (list)
        closedir(list);
}

/* The user's own jobs, wherever their agents found XDG_RUNTIME_DIR; for root those of all users. */
static void find_sockets(struct agent_sockets *sockets, const struct agent_choice *o)
{
    search_of(sockets, o->user ? o->uid : geteuid());
    if (o->user || geteuid() != 0)
        return;
    search_users(sockets, "/run/user", "");
    search_users(sockets, "/tmp", "faultloc-");
}

/* "4711.2" is the second job of the name 4711 here, or a step of it. */
static bool is_numbered(const char *name, const char *job)
{
    size_t len = strlen(job);

    return !strncmp(name, job, len) && name[len] == '.' && name[len + 1] &&
           !name[len + 1 + strspn(name + len + 1, "0123456789")];
}

static bool fits(const struct agent_socket *d, const struct agent_choice *o)
{
    return (!o->job || !strcmp(d->job, o->job) || (o->numbered && is_numbered(d->job, o->job))) &&
           (!o->node || !strcmp(d->node, o->node));
}

/* What is known, for a message: jobs, or the nodes of one. */
static void list_sockets(const struct agent_sockets *sockets, const char *command, const char *job)
{
    if (!sockets->n)
        tool_say(stderr, "faultloc %s: this host has no job with FaultLoc", command);
    for (int i = 0; i < sockets->n; i++) {
        const struct agent_socket *d = &sockets->sock[i];
        if (!job || !strcmp(d->job, job))
            tool_say(stderr, "faultloc %s: found: job %s, node %s, user %lu", command, d->job,
                     d->node, (unsigned long) d->uid);
    }
}

/* Several symptom sockets fit: "" if it is known which one is meant, else what is missing. */
static const char *missing(const struct agent_sockets *sockets, const struct agent_choice *o,
                           const struct agent_socket *first)
{
    bool jobs = false, users = false, nodes = false;

    for (int i = 0; i < sockets->n; i++) {
        const struct agent_socket *d = &sockets->sock[i];
        if (!fits(d, o))
            continue;
        jobs = jobs || strcmp(first->job, d->job);
        users = users || first->uid != d->uid;
        nodes = nodes || strcmp(first->node, d->node);
    }
    if (jobs)
        return "this host has several jobs: select one with --job";
    /* one who is not the job's user may have made a symptom socket of this name */
    if (users || (sockets->too_many && !o->user && geteuid() == 0))
        return "this host has jobs of several users: select one with --user";
    /* any agent of the job accepts a symptom that names its component */
    if (nodes && !o->any_node)
        return o->component
                   ? "this host has several agents of the job: select one with --node or --component"
                   : "this host has several agents of the job: select one with --node";
    return "";
}

static const struct agent_socket *find_first(const struct agent_sockets *sockets,
                                             const struct agent_choice *o)
{
    for (int i = 0; i < sockets->n; i++)
        if (fits(&sockets->sock[i], o))
            return &sockets->sock[i];
    return NULL;
}

/* Who names a job means the one of that name, and where there is none those with a number. */
const struct agent_socket *tool_agent_pick(struct agent_choice *o)
{
    static struct agent_sockets sockets;
    const struct agent_socket *first;
    const char *what = "no such job on this host, or it runs without MPIR_CVAR_FAULTLOC=1";

    find_sockets(&sockets, o);
    first = find_first(&sockets, o);
    o->numbered = !first;
    if (!first)
        first = find_first(&sockets, o);
    if (first)
        what = missing(&sockets, o, first);
    if (!*what)
        return first;
    tool_say(stderr, "faultloc %s: %s; see faultloc %s --help", o->command, what, o->command);
    list_sockets(&sockets, o->command, first && o->job && !o->numbered ? o->job : NULL);
    return NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Returns 0 or an errno. */
static int put(int fd, const char *bytes, size_t len)
{
    int room = (int) (2 * len);

    if (len == 0)
        return 0;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    return send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t) len ? 0 : errno;
}

/* Returns the end of a pair of sockets on which the answer comes, or -1 with errno. */
static int send_question(const struct agent_socket *d, const char *text, const char *bytes,
                         size_t len)
{
    int fd = connect_to(d), pair[2], one = 1, rc;

    if (fd < 0)
        return -1;
    rc = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ? errno : 0;
    if (!rc) {
        setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
        rc = put(pair[0], bytes, len);
        if (!rc)
            rc = faultloc_sock_send(fd, text, strlen(text), &pair[1], 1, 0);
        rc = rc == EAGAIN ? ETIMEDOUT : rc;
        close(pair[1]);
        if (rc)
            close(pair[0]);
    }
    close(fd);
    errno = rc;
    return rc ? -1 : pair[0];
}

/* NULL: it cannot be read, or is too long. */
static char *read_answer(int file)
{
    char *text = NULL;
    size_t len;

    if (lseek(file, 0, SEEK_SET) == 0 && faultloc_read_whole(file, ANSWER_MAX, &text, &len) == 0)
        return text;
    free(text);
    return NULL;
}

/* The kernel says who sent it: only the job's user and root are believed. */
static enum agent_answer receive(int fd, uid_t uid, char **text)
{
    static char buf[FAULTLOC_STATUS_BYTES];
    struct faultloc_beside beside;
    ssize_t n = faultloc_sock_receive(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT, 1, &beside);
    bool is_ours = beside.has_sender && (beside.uid == uid || beside.uid == 0);

    buf[n > 0 ? n : 0] = '\0';
    if (n > 0 && is_ours)
        *text = beside.fds == 0 || strcmp(buf, FAULTLOC_REPLY_IN_FILE) ? strdup(buf)
                                                                      : read_answer(beside.fd[0]);
    if (beside.fds > 0)
        close(beside.fd[0]);
    if (n > 0 && !is_ours)
        return WRONG_USER;
    return *text ? ANSWERED : NO_ANSWER;
}

enum agent_answer tool_agent_ask(const struct agent_socket *d, const char *text, const char *bytes,
                                 size_t len, int ms, char **answer)
{
    struct pollfd p = {.fd = send_question(d, text, bytes, len), .events = POLLIN};
    enum agent_answer what = NO_ANSWER_YET;

    *answer = NULL;
    if (p.fd < 0)
        return NOT_ASKED;
    if (poll(&p, 1, ms) == 1)
        what = receive(p.fd, d->uid, answer);
    close(p.fd);
    return what;
}

enum tool_exit tool_agent_silent(const char *command, const struct agent_socket *d,
                                 enum agent_answer answer, const char *perhaps)
{
    tool_say(stderr, "faultloc %s: the agent of node %s of job %s %s%s", command, d->node, d->job,
             answer == NO_ANSWER_YET ? "has not answered: it is stopped or busy"
             : answer == WRONG_USER  ? "is not the owner's"
                                     : "did not answer: it has ended",
             answer == WRONG_USER ? "" : perhaps);
    return TOOL_TROUBLE;
}
