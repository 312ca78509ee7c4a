/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/text_file.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * File systems of servers: each is asked how full it is, by a process of its own, for a server that is
 * gone may hold that for good.
 */

#define MOUNTS_MAX 16
#define PATIENCE_MS 600
#define FILE_MAX (256 * 1024)

static const char *const types[] = {"nfs",  "nfs4", "lustre", "cifs", "smb3",
                                    "ceph", "gpfs", "beegfs", "9p"};

struct mount {
    char point[512], type[32], source[256];
    int fd; /* -1: it has answered */
    pid_t pid;
};

static bool is_remote(const char *type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(type, types[i]))
            return true;
    return false;
}

/* id parent major:minor root point options [optional]... - type source options; a blank is "\040". */
static bool read_mount(const char *line, struct mount *m)
{
    const char *rest = strstr(line, " - ");
    char *to = m->point;

    if (!rest || sscanf(line, "%*d %*d %*s %*s %511s", m->point) != 1 ||
        sscanf(rest + 3, "%31s %255s", m->type, m->source) != 2 || !is_remote(m->type))
        return false;
    for (const char *from = m->point; (*to = *from); from++, to++)
        if (!strncmp(from, "\\040", 4))
            *to = ' ', from += 3;
    return true;
}

static bool ask_mount(struct mount *m)
{
    int fds[2];
    struct statvfs s;

    if (pipe(fds))
        return false;
    m->pid = fork();
    if (m->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* all but this: the reader of what the handler says would wait for this child, too */
        dup2(fds[1], 0);
        close_range(1, ~0U, 0);
        _exit(statvfs(m->point, &s) != 0);
    }
    close(fds[1]);
    m->fd = fds[0];
    return m->pid > 0;
}

static void await(struct mount *m, int n)
{
    ftree_time now = faultloc_now(), until = now + PATIENCE_MS * FTREE_MS;
    struct pollfd fds[MOUNTS_MAX];
    int left = n;

    for (; left > 0 && now < until; now = faultloc_now()) {
        for (int i = 0; i < n; i++)
            fds[i] = (struct pollfd){.fd = m[i].fd, .events = POLLIN};
        poll(fds, (nfds_t) n, (int) ((until - now) / FTREE_MS) + 1);
        for (int i = 0; i < n; i++)
            if (m[i].fd >= 0 && fds[i].revents) {
                close(m[i].fd);
                m[i].fd = -1;
                left--;
            }
    }
}

/* A link of a process, such as its folder: is it on the mount?  To read a link asks no server. */
static bool is_on(const struct mount *m, const char *link)
{
    char to[1024];
    ssize_t n = readlink(link, to, sizeof(to) - 1);
    size_t len = strlen(m->point);

    to[n > 0 ? n : 0] = '\0';
    return !strncmp(to, m->point, len) && (to[len] == '/' || !to[len]);
}

static bool has_open(const char *proc, long pid, const struct mount *m)
{
    char path[600];
    struct dirent *e;
    DIR *d;
    bool has = false;

    snprintf(path, sizeof(path), "%s/%ld/fd", proc, pid);
    d = opendir(path);
    while (d && !has && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%.300s/%ld/fd/%.200s", proc, pid, e->d_name);
        has = is_on(m, path);
    }
    if (d)
        closedir(d);
    return has;
}

/* A mount that no rank uses stops none. */
static bool has_rank(const struct site_os *o, const struct mount *m)
{
    char path[600], *end;

    for (const char *at = o->ranks; at && *at; at = *end == ',' ? end + 1 : "") {
        long pid = strtol(at, &end, 10);
        if (pid <= 0)
            return false;
        snprintf(path, sizeof(path), "%s/%ld/cwd", o->proc, pid);
        if (is_on(m, path))
            return true;
        snprintf(path, sizeof(path), "%s/%ld/exe", o->proc, pid);
        if (is_on(m, path) || has_open(o->proc, pid, m))
            return true;
    }
    return false;
}

/* One that does not end is left: its parent ends soon. */
static void finish(struct site_os *o, struct mount *m)
{
    const char *server = strncmp(m->source, "//", 2) ? m->source : m->source + 2;
    int len =
        (int) (strstr(server, ":/") ? strstr(server, ":/") - server : (long) strcspn(server, "/"));

    if (m->fd >= 0) {
        kill(m->pid, SIGKILL);
        close(m->fd);
        site_os_say(o, has_rank(o, m) ? "mount-silent" : NULL,
                    "%.40s of %.*s (%s) has not answered within %d ms", m->point,
                    len < 40 ? len : 40, server, m->type, PATIENCE_MS);
    } else {
        waitpid(m->pid, NULL, 0);
    }
}

void site_os_mounts(struct site_os *o)
{
    char *text = malloc(FILE_MAX);
    struct mount mount[MOUNTS_MAX];
    int n = 0;

    if (text && faultloc_text_read(o->proc, text, FILE_MAX, "self/mountinfo") > 0)
        for (char *line = text, *end; *line && n < MOUNTS_MAX; line = end) {
            end = line + strcspn(line, "\n");
            end += *end == '\n' ? (*end = '\0', 1) : 0;
            n += read_mount(line, &mount[n]) && ask_mount(&mount[n]);
        }
    free(text);
    await(mount, n);
    o->mounts_answer = n > 0;
    for (int i = 0; i < n; i++)
        o->mounts_answer &= mount[i].fd < 0;
    for (int i = 0; i < n; i++)
        finish(o, &mount[i]);
}
