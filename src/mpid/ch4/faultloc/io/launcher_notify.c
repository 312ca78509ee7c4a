/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/launcher_notify.h"

#include "ftree/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(FAULTLOC_LAUNCHER_PATH == sizeof(((struct sockaddr_un *) NULL)->sun_path),
               "a path is as long as an address can be");

static void begin(struct faultloc_launcher_message *w, enum faultloc_launcher_kind kind)
{
    memset(w, 0, sizeof(*w)); /* the padding, too: it leaves the process */
    w->magic = FAULTLOC_LAUNCHER_MAGIC;
    w->bytes = sizeof(*w);
    w->kind = kind;
}

void faultloc_launcher_hello(const char *symptom_socket, struct faultloc_launcher_message *w)
{
    begin(w, FAULTLOC_LAUNCHER_HELLO);
    snprintf(w->symptom_socket, sizeof(w->symptom_socket), "%s", symptom_socket);
}

static void copy_ranks(const struct ftree_ranks *from, struct faultloc_launcher_ranks *to)
{
    to->count = from->count;
    for (; to->ranges < from->ranges && to->ranges < FAULTLOC_LAUNCHER_RANGES; to->ranges++) {
        to->range[to->ranges].first = from->range[to->ranges].first;
        to->range[to->ranges].last = from->range[to->ranges].last;
    }
}

void faultloc_launcher_verdict(const struct ftree_job *job, const struct ftree_verdict *v,
                               struct faultloc_launcher_message *w)
{
    struct ftree_ranks ranks;
    char buf[16];

    begin(w, v->withdrawn ? FAULTLOC_LAUNCHER_WITHDRAWN : FAULTLOC_LAUNCHER_VERDICT);
    w->id = v->id;
    w->fln = v->fln;
    snprintf(w->class_, sizeof(w->class_), "%s", ftree_class_name(v->class_));
    snprintf(w->host, sizeof(w->host), "%s", ftree_node_name(job, v->node, buf, sizeof(buf)));
    ftree_report_line(job, v, w->line, sizeof(w->line));
    w->ends_ranks = ftree_verdict_ends_ranks(v);
    ftree_report_component_ranks(job, v, &ranks);
    copy_ranks(&ranks, &w->ranks);
    copy_ranks(&v->victims, &w->victims);
}

void faultloc_launcher_ending(const struct ftree_job *job, const struct ftree_verdict *v,
                              int32_t rank, int32_t pid, struct faultloc_launcher_message *w)
{
    faultloc_launcher_verdict(job, v, w);
    w->kind = FAULTLOC_LAUNCHER_ENDING;
    w->ended_rank = rank;
    w->ended_pid = pid;
}

void faultloc_launcher_finalizing(struct faultloc_launcher_message *w)
{
    begin(w, FAULTLOC_LAUNCHER_FINALIZING);
}

void faultloc_launcher_finalizing_add(struct faultloc_launcher_message *w, int32_t rank)
{
    struct faultloc_launcher_ranks *r = &w->ranks;

    r->count++;
    if (r->ranges && r->range[r->ranges - 1].last == rank - 1)
        r->range[r->ranges - 1].last = rank;
    else if (r->ranges < FAULTLOC_LAUNCHER_RANGES) {
        r->range[r->ranges].first = r->range[r->ranges].last = rank;
        r->ranges++;
    }
}

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
