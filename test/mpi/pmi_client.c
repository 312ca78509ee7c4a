/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A client of hydra's PMI, without MPI: rank 0 comes to the barrier and ends there, which leaves
 * the others waiting for nobody.  With mpiexec -disable-auto-cleanup they come to the barrier once
 * that is known, and must get out of it.
 *
 * pmi_client FOLDER [MPIEXEC-PID]
 *
 * FOLDER is where rank 0 says which proxy started it: what that proxy ended for has been handled
 * by mpiexec before the others go on, if they are on another host.  With MPIEXEC-PID rank 1 sends
 * mpiexec SIGUSR1 first, which it hands on to all ranks.  Prints "rank 1 left the barrier". */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int pmi;

static void say(const char *line)
{
    if (write(pmi, line, strlen(line)) < 0)
        _exit(3);
}

/* Reads up to the end of a line, which must begin with `expected`. */
static void hear(const char *expected)
{
    char line[4096];
    size_t n = 0;
    ssize_t got;

    do {
        got = read(pmi, line + n, 1);
        if (got == 0 || (got < 0 && errno != EINTR) || n + 2 > sizeof(line)) {
            fprintf(stderr, "pmi_client: no answer \"%s\"\n", expected);
            _exit(4);
        }
        n += got > 0;
    } while (n == 0 || line[n - 1] != '\n');
    line[n] = '\0';
    if (strncmp(line, expected, strlen(expected)) != 0) {
        fprintf(stderr, "pmi_client: \"%s\" expected, not %s", expected, line);
        _exit(4);
    }
}

static void path_of(const char *folder, const char *name, char *out, size_t room)
{
    snprintf(out, room, "%s/%s", folder, name);
}

/* SIGUSR1 would end rank 1 where it has not blocked it yet. */
static void say_ready(const char *folder)
{
    char path[4096];
    FILE *file;

    path_of(folder, "ready", path, sizeof(path));
    file = fopen(path, "w");
    if (!file || fclose(file))
        _exit(5);
}

static void await_ready(const char *folder)
{
    char path[4096];

    path_of(folder, "ready", path, sizeof(path));
    while (access(path, F_OK))
        poll(NULL, 0, 1);
}

static void end_in_barrier(const char *folder)
{
    char path[4096], at[4096];
    FILE *file;

    path_of(folder, "proxy", path, sizeof(path));
    path_of(folder, "proxy.new", at, sizeof(at));
    file = fopen(at, "w");
    if (!file || fprintf(file, "%d\n", (int) getppid()) < 0 || fclose(file) || rename(at, path))
        _exit(5);
    say("cmd=barrier_in\n");
    _exit(0);
}

/* The proxy that started rank 0; 0: it has not said so yet. */
static int read_proxy(const char *folder)
{
    char path[4096];
    int pid = 0;
    FILE *file;

    path_of(folder, "proxy", path, sizeof(path));
    file = fopen(path, "r");
    if (file && fscanf(file, "%d", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

/* A process that has ended and was not waited for runs no file any more. */
static int is_running(int pid)
{
    char path[64], file[8];

    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    return readlink(path, file, sizeof(file)) >= 0;
}

/* Hydra sends SIGUSR1 to the others on a host where a process has ended; a proxy ends with its last
 * one. The answer from mpiexec comes after it has heard of either. */
static void wait_for_end(const char *folder, const sigset_t *signals)
{
    const struct timespec now = {0, 0};
    int proxy, number;

    while ((proxy = read_proxy(folder)) == 0)
        poll(NULL, 0, 1);
    if (proxy == getppid())
        sigwait(signals, &number);
    while (proxy != getppid() && is_running(proxy))
        poll(NULL, 0, 1);
    say("cmd=lookup_name service=none\n");
    hear("cmd=lookup_result");
    sigtimedwait(signals, NULL, &now); /* one from before */
}

int main(int argc, char **argv)
{
    const char *fd = getenv("PMI_FD"), *rank = getenv("PMI_RANK");
    sigset_t signals;
    int number;

    if (argc < 2 || !fd || !rank)
        return 2;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    alarm(20);
    if (atoi(rank) != 0)
        say_ready(argv[1]);
    pmi = atoi(fd);
    say("cmd=init pmi_version=1 pmi_subversion=1\n");
    hear("cmd=response_to_init");
    if (atoi(rank) == 0) {
        await_ready(argv[1]);
        end_in_barrier(argv[1]);
    }
    wait_for_end(argv[1], &signals);
    if (argc > 2) {
        kill(atoi(argv[2]), SIGUSR1);
        sigwait(&signals, &number);
    }
    say("cmd=barrier_in\n");
    hear("cmd=barrier_out");
    printf("rank %s left the barrier\n", rank);
    say("cmd=finalize\n");
    hear("cmd=finalize_ack");
    return 0;
}
