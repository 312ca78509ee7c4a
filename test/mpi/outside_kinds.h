/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef OUTSIDE_KINDS_H_INCLUDED
#define OUTSIDE_KINDS_H_INCLUDED

#include "patterns.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/socket.h>

/* The kinds of outside.c: what ranks do outside MPI, or in a function that MPI calls.  A kind is judged by its table below. */

/* Stacks are looked at: a call at the end of a function is not to take its place. */
#pragma GCC optimize("no-optimize-sibling-calls")

struct kind {
    const char *name;
    const char *class_; /* of the right verdict on the rank; NULL: none is right */
    void (*stay)(void); /* of one that hangs; its name is in the stack */
    void (*turn)(void); /* of one that does not: after each round, in all ranks */
    double between; /* seconds for which one rank works and the others wait, between two parts */
    enum { IN_PATTERN, ONE_AFTER, ALL_AFTER } hangs; /* a rank in a pattern, one after it, or all */
    void (*work)(double ms); /* NULL: work() */
};

static struct {
    const struct kind *kind;
    int victim;
    unsigned draws;
    double began, after, seconds, work_ms, late, computes;
    const char *file;
    int serves; /* so many ranks, each of which has as much work as all of its turns; 1: none */
    long turns;
    double next; /* when this rank does again what its kind does */
} outside;

/* From 0 to 1, not 0. */
static double any(void)
{
    return (rand_r(&outside.draws) + 1.0) / (RAND_MAX + 1.0);
}

/* Many ranks share few processors: all that work at the same time compute for a fifth of one; but the
 * one that may get less than it wants wants --computes of one. */
static void work(double ms)
{
    double share = me.rank == outside.victim ? outside.computes : 0.2 / me.size;
    double end = tu_now() + ms / 1e3, computes = fmin(ms, 10) * share;

    do {
        tu_compute(computes / 1e3);
        rest_ms(fmin(ms, 10) - computes);
    } while (tu_now() < end);
}

/* ---- they hang ------------------------------------------------------------------------------- */

/* MPI_Wtime is no return to MPI. */
static void stay_spin(void)
{
    while (MPI_Wtime() > 0)
        ;
}

static void stay_sleep(void)
{
    for (;;)
        sleep(1000000);
}

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *lock_crosswise(void *arg)
{
    (void) arg;
    pthread_mutex_lock(&other);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&one);
    return NULL;
}

/* Two threads each have what the other waits for. */
static void stay_mutex(void)
{
    pthread_t thread;

    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, lock_crosswise, NULL);
    pthread_mutex_lock(&one);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&other);
}

static void stay_pipe(void)
{
    int fd[2];
    char c;

    if (pipe(fd) == 0)
        (void) !read(fd[0], &c, 1);
}

/* A service that is no rank does not answer, as long as the rank is there. */
static void stay_service(void)
{
    int fd[2];
    char c;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
        fail("there is no socket");
    if (fork() == 0) {
        close(fd[0]);
        _exit((int) read(fd[1], &c, 1));
    }
    close(fd[1]);
    (void) !read(fd[0], &c, 1);
}

/* A file system that does not answer. */
static void stay_io(void)
{
    int fd = open(outside.file, O_RDONLY);
    char c;

    if (fd < 0)
        fail("--file cannot be opened");
    (void) !read(fd, &c, 1);
}

/* A control group, whose file of processes --file names, that has less memory, and no OOM killer. */
static void stay_memory(void)
{
    const size_t piece = 1 << 20;
    FILE *f = fopen(outside.file, "w");
    char *p;

    if (!f || fprintf(f, "%d\n", (int) getpid()) < 0 || fclose(f))
        fail("--file cannot be written");
    for (int i = 0; i < 64 && (p = malloc(piece)) != NULL; i++)
        for (size_t k = 0; k < piece; k += 4096)
            ((volatile char *) p)[k] = 1;
}

static void stay_callback(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void) in;
    (void) inout;
    (void) n;
    (void) type;
    for (;;)
        sleep(1000000);
}

/* Code of the program that MPI calls: the rank hangs inside an MPI function. */
static void call_back(void)
{
    int in = 1, inout = 2;
    MPI_Op op;

    MPI_Op_create(stay_callback, 1, &op);
    MPI_Reduce_local(&in, &inout, 1, MPI_INT, op);
}

/* ---- they do not ----------------------------------------------------------------------------- */

/* Phases of 0.1 to 60 s, each size as often as any other, in each rank some ten seconds apart. */
static void turn_phases(void)
{
    if (tu_now() < outside.next)
        return;
    if (outside.next > 0)
        work(100 * pow(600, any()));
    outside.next = tu_now() - 10 * log(any());
}

/* Most rounds are short, few are very long: the work has no mean. */
static void turn_uneven(void)
{
    work(fmin(outside.work_ms / 4 / any(), 20000));
}

/* A rank writes for --late seconds, and computes for it, from its 100th round on. */
static void turn_checkpoint(void)
{
    double end = tu_now() + outside.late;
    static char block[1 << 16];
    FILE *f;

    if (me.rank != outside.victim || outside.turns % 100 != 0)
        return;
    f = tmpfile();
    while (f && tu_now() < end) {
        fwrite(block, sizeof(block), 1, f);
        fflush(f);
        fdatasync(fileno(f));
        rewind(f);
        work(50);
    }
    if (f)
        fclose(f);
}

/* Once a rank computes for --late seconds, after a round like any other. */
static void turn_late(void)
{
    if (me.rank != outside.victim || outside.next > 0 || tu_now() - outside.began < outside.after)
        return;
    outside.next = 1;
    work(outside.late * 1e3);
}

/* ---- an answer ---- */

static struct {
    int fd[2];
    double ms; /* until it comes */
} answer;

static void *answer_late(void *arg)
{
    rest_ms(answer.ms);
    return write(answer.fd[1], "", 1) == 1 ? arg : NULL;
}

/* A rank asks somebody who is no rank, and who takes from 0.1 s to --late seconds, each size as often
 * as any other; some ten seconds apart. */
static void turn_served(void)
{
    pthread_t thread;
    char c;

    if (me.rank != outside.victim || tu_now() < outside.next)
        return;
    if (outside.next > 0) {
        answer.ms = 100 * pow(10 * outside.late, any());
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, answer.fd) ||
            pthread_create(&thread, NULL, answer_late, NULL) || read(answer.fd[0], &c, 1) != 1)
            fail("there is no answer");
        pthread_join(thread, NULL);
        close(answer.fd[0]);
        close(answer.fd[1]);
    }
    outside.next = tu_now() - 10 * log(any());
}

static void turn_none(void)
{
}

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* All ranks have the same work for most of their time, each on a core of its own, but for one that
 * serves all others, which keeps none of them waiting: of two ranks it is computed, and takes longer
 * where they have one core.  For the others time goes by: there are not that many cores. */
static void work_hungry(double ms)
{
    int computes = me.rank == outside.victim || me.rank == outside.victim + 1;
    double end =
        (computes ? cpu_now() : tu_now()) + (20 * outside.work_ms + ms) / 1e3 / outside.serves;

    while (computes && cpu_now() < end)
        tu_compute(1e-3);
    if (!computes)
        rest_ms((end - tu_now()) * 1e3);
}

static const struct kind kinds[] = {
    {"spin", "user-code-hang", stay_spin, NULL, 0, IN_PATTERN},
    {"sleep", "user-code-hang", stay_sleep, NULL, 0, IN_PATTERN},
    {"mutex", "user-code-hang", stay_mutex, NULL, 0, IN_PATTERN},
    {"pipe", "user-code-hang", stay_pipe, NULL, 0, IN_PATTERN},
    {"service", "user-code-hang", stay_service, NULL, 0, IN_PATTERN},
    {"callback", "mpi-hang", call_back, NULL, 0, IN_PATTERN},
    {"memory", "user-code-hang", stay_memory, NULL, 0, IN_PATTERN},
    {"io", "io-hang", stay_io, NULL, 0, IN_PATTERN},
    {"io-first", "io-hang", stay_io, NULL, 0, ONE_AFTER},
    {"io-all", "io-hang", stay_io, NULL, 0, ALL_AFTER},
    {"even", NULL, NULL, turn_none, 0, IN_PATTERN},
    {"phases", NULL, NULL, turn_phases, 0, IN_PATTERN},
    {"uneven", NULL, NULL, turn_uneven, 0, IN_PATTERN},
    {"checkpoint", NULL, NULL, turn_checkpoint, 0, IN_PATTERN},
    {"late", NULL, NULL, turn_late, 0, IN_PATTERN},
    {"served", NULL, NULL, turn_served, 0, IN_PATTERN},
    {"first-phase", NULL, NULL, turn_none, 120, IN_PATTERN},
    {"hungry", NULL, NULL, turn_none, 0, IN_PATTERN, work_hungry},
};

#endif /* OUTSIDE_KINDS_H_INCLUDED */
