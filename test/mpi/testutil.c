/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "testutil.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *harness_folder(void)
{
    const char *folder = getenv("FAULTLOC_TEST_PIDFILE");

    return (folder && *folder) ? folder : NULL;
}

/* A name in the network's sense; with nodes that are names only, FaultLoc's own name counts. */
static const char *host_name(char *buf, size_t len)
{
    const char *name = getenv("MPIR_CVAR_FAULTLOC_NODE_NAME");

    if (name && *name)
        return name;
    if (gethostname(buf, len))
        return "unknown";
    buf[len - 1] = '\0';
    return buf;
}

/* Rename makes the file appear complete: the harness may look at any moment. */
/* Without memory of malloc()'s: a handler of a signal calls it, too. */
static void write_file(const char *folder, const char *name, const char *text)
{
    char tmp[4096], path[4096];
    size_t len = strlen(text);
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(tmp, sizeof(tmp), "%s/.%s.%ld", folder, name, (long) getpid());
    fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, text, len) != (ssize_t) len || close(fd) || rename(tmp, path)) {
        perror(path);
        _exit(2);
    }
}

void tu_hello(int rank)
{
    char buf[256], name[32], text[320];
    const char *folder = harness_folder();
    const char *host = host_name(buf, sizeof(buf));

    if (!folder)
        return;
    printf("rank %d host %s pid %ld\n", rank, host, (long) getpid());
    fflush(stdout);
    snprintf(name, sizeof(name), "rank.%d", rank);
    snprintf(text, sizeof(text), "%s %ld\n", host, (long) getpid());
    write_file(folder, name, text);
}

void tu_note(const char *what, int rank)
{
    const char *folder = harness_folder();
    char name[64], text[64];
    struct timespec t;

    if (!folder)
        return;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(name, sizeof(name), "%s.%d", what, rank);
    snprintf(text, sizeof(text), "%d %ld %lld\n", rank, (long) getpid(),
             (long long) t.tv_sec * 1000000 + t.tv_nsec / 1000);
    write_file(folder, name, text);
}

void tu_looping(int rank)
{
    const char *folder = harness_folder();

    if (rank != 0 || !folder)
        return;
    /* PMI_Init() unbuffers stdout: printf(), which becomes puts(), would write the end of the line
     * by itself, and another rank's line may come between */
    fputs("looping\n", stdout);
    fflush(stdout);
    write_file(folder, "looping", "\n");
}

void tu_say(const char *line)
{
    fflush(stdout);
    if (write(STDOUT_FILENO, line, strlen(line)) < 0)
        tu_fail("testutil", "cannot write to standard output");
}

void tu_blocks(const char *call, int rank)
{
    char line[128];
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(line, sizeof(line), "BLOCKS rank %d in %s at %lld.%06ld\n", rank, call,
             (long long) t.tv_sec, t.tv_nsec / 1000);
    tu_say(line);
    tu_note("blocked", rank);
}

const char *tu_string(int argc, char **argv, const char *name, const char *fallback)
{
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name))
            return argv[i + 1];
    return fallback;
}

double tu_number(int argc, char **argv, const char *name, double fallback)
{
    const char *text = tu_string(argc, argv, name, NULL);
    char *end;
    double value;

    if (!text)
        return fallback;
    value = strtod(text, &end);
    if (end == text || *end) {
        fprintf(stderr, "%s: %s wants a number, got '%s'\n", argv[0], name, text);
        exit(2);
    }
    return value;
}

double tu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

void tu_compute(double seconds)
{
    double end = tu_now() + seconds;

    while (tu_now() < end)
        ;
}

/* MPICH 4.0.2 over UCX and TCP hangs in MPI_Finalize now and then, patched or not: a rank waits for
 * its connections to close while their other ends wait in PMI and do not turn the network any more.
 * A test must not hang with it; scripts look for the note, and try again. */
static void leave_finalize(int signal)
{
    static const char note[] = "MPICH's own MPI_Finalize hangs; this rank leaves it\n";

    (void) signal;
    if (write(STDERR_FILENO, note, sizeof(note) - 1) < 0)
        _exit(1);
    _exit(0);
}

void tu_meet(MPI_Comm comm)
{
    long long at[2];
    struct timespec t;
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && harness_folder())
        write_file(harness_folder(), "ending", "\n");
    MPI_Barrier(comm);
    clock_gettime(CLOCK_REALTIME, &t);
    at[0] = t.tv_sec;
    at[1] = t.tv_nsec + 300000000;
    MPI_Bcast(at, 2, MPI_LONG_LONG, 0, comm);
    t.tv_sec = (time_t) (at[0] + at[1] / 1000000000);
    t.tv_nsec = (long) (at[1] % 1000000000);
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
    signal(SIGALRM, leave_finalize);
    alarm(15);
}

void tu_fail(const char *program, const char *message)
{
    fprintf(stderr, "%s: %s\n", program, message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
