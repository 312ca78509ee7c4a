/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Keeps a symptom socket as an agent does, for tests of the program `faultloc symptom`. A line on
 * standard output says that it is open, which symptoms are heard, and which files appear beside it.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/io/symptom_socket.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char usage_text[] =
    "Usage: symptom_listener [--as UID] JOB NODE\n"
    "       symptom_listener --at PATH\n"
    "\n"
    "Opens the symptom socket of node NODE of job JOB, as an agent does. Answers what\n"
    "`faultloc status` asks. Prints \"open\", then\n"
    "\"heard KIND\" for each symptom and \"made NAME\" for each file that appears in its folder,\n"
    "until standard input ends.\n"
    "\n"
    "  --as UID   continue as this user once the socket is open (root)\n"
    "  --at PATH  bind a socket there instead, and read nothing from it\n"
    "  --help     this text\n"
    "\n"
    "Exit code: 0 done, 1 the socket cannot be opened, 2 wrong usage.\n";

static const char *name[1];
static struct ftree_job job = {.nodes = 1, .size = 1, .node_name = name};

static void say(const char *what, const char *which)
{
    printf("%s%s\n", what, which);
    fflush(stdout);
}

static void hear(struct faultloc_symptom_socket *d)
{
    struct ftree_symptom s;
    int budget = 0;

    while (faultloc_symptom_socket_next(d, FTREE_MS, &budget, &s))
        say("heard ", ftree_symptom_info(s.kind)->name);
}

static void look_around(int watch)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t n = read(watch, bytes, sizeof(bytes));
    const struct inotify_event *e;

    for (ssize_t at = 0; at < n; at += (ssize_t) (sizeof(*e) + e->len)) {
        e = (const struct inotify_event *) (bytes + at);
        say("made ", e->len ? e->name : "");
    }
}

static int watch_folder(const struct faultloc_symptom_socket *d)
{
    int watch = inotify_init1(IN_CLOEXEC);
    char folder[FAULTLOC_SYMPTOM_PATH];

    snprintf(folder, sizeof(folder), "%.*s", (int) (strrchr(d->path, '/') - d->path), d->path);
    return inotify_add_watch(watch, folder, IN_CREATE | IN_MOVED_TO) < 0 ? -1 : watch;
}

/* A job of six ranks. */
static const char *request(void *ctx, ftree_time now, const char *text, size_t len, uid_t uid,
                           int *reply, char *error)
{
    (void) ctx, (void) now, (void) len, (void) uid, (void) reply, (void) error;
    if (strstr(text, "json"))
        return "{\"schema\": \"faultloc-status/2\", \"job\": \"4711\", \"node_states\": 7}";
    return "job 4711: 6 ranks on 1 node, as of now (node h1 alone)\n"
           "       3  waiting\n"
           "withdrawn: node-outage: node \033h2 is down\n";
}

static int keep(const char *job_id, const char *uid)
{
    struct faultloc_symptom_socket d;
    int watch;

    faultloc_symptom_socket_init(&d, &job, 0);
    d.request = request;
    if (!faultloc_symptom_socket_open(&d, FTREE_MS, job_id) || (watch = watch_folder(&d)) < 0 ||
        (uid && setuid((uid_t) atoi(uid))))
        return 1;
    struct pollfd p[] = {{.fd = d.fd, .events = POLLIN},
                         {.fd = watch, .events = POLLIN},
                         {.fd = STDIN_FILENO, .events = POLLIN}};
    say("open", "");
    while (poll(p, 3, -1) > 0 && !p[2].revents) {
        if (p[1].revents)
            look_around(watch);
        if (p[0].revents)
            hear(&d);
    }
    faultloc_symptom_socket_close(&d);
    return 0;
}

static int hold(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char c;

    if ((size_t) snprintf(a.sun_path, sizeof(a.sun_path), "%s", path) >= sizeof(a.sun_path) ||
        bind(fd, (const struct sockaddr *) &a, sizeof(a)))
        return 1;
    say("open", "");
    return read(STDIN_FILENO, &c, 1) < 0;
}

int main(int argc, char **argv)
{
    bool as = argc == 5 && !strcmp(argv[1], "--as");

    if (argc == 2 && !strcmp(argv[1], "--help"))
        return fputs(usage_text, stdout) < 0;
    if (argc == 3 && !strcmp(argv[1], "--at"))
        return hold(argv[2]);
    if (!as && argc != 3) {
        fputs(usage_text, stderr);
        return 2;
    }
    name[0] = argv[argc - 1];
    return keep(argv[argc - 2], as ? argv[2] : NULL);
}
