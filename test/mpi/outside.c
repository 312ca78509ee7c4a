/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A rank that never comes: all ranks compute for some milliseconds, at random, and meet in an
 * MPI_Allreduce, until one of them stays outside MPI.
 *
 * outside [--kind spin|sleep|mutex|pipe|slow] [--after S] [--rank R] [--work-ms M] [--late S]
 *         [--limit S]
 *
 * --kind     what the rank does then (spin): computes, sleeps, waits for a mutex that it has, reads
 *            from a pipe that nobody writes to; slow: computes for --late seconds, and goes on
 * --after    when (60), seconds from the start
 * --rank     which one (the last)
 * --work-ms  a rank computes up to twice that before they meet (20)
 * --late     see slow (20)
 * --limit    ranks that are still there after so many seconds are ended by SIGALRM (600)
 *
 * Standard output gets "EXPECT user-code-hang R" or "EXPECT none", and, when the rank is about to do
 * it, "STOPS rank R at 1763829234.123456". */

#include "testutil.h"

#include "rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void spin(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;
}

static void sleeps(void)
{
    for (;;)
        pause();
}

static void mutex(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}

static void reads_pipe(void)
{
    int fd[2];
    char c;

    if (pipe(fd) == 0)
        (void) !read(fd[0], &c, 1);
}

static const struct {
    const char *name;
    void (*stay)(void);
} kinds[] = {{"spin", spin}, {"sleep", sleeps}, {"mutex", mutex}, {"pipe", reads_pipe}, {"slow", NULL}};

static void rest(double ms)
{
    struct timespec t = {.tv_sec = (time_t) (ms / 1e3)};

    t.tv_nsec = (long) ((ms - (double) t.tv_sec * 1e3) * 1e6);
    nanosleep(&t, NULL);
}

static int kind_of(const char *name)
{
    int n = sizeof(kinds) / sizeof(kinds[0]), k = 0;

    while (k < n && strcmp(kinds[k].name, name))
        k++;
    if (k < n)
        return k;
    fprintf(stderr, "outside: there is no kind %s\n", name);
    exit(2);
}

/* One rank, once: it does not come, or late. */
static void stay_outside(int kind, int rank, double late)
{
    char line[96];
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(line, sizeof(line), "STOPS rank %d at %.6f\n", rank,
             (double) t.tv_sec + (double) t.tv_nsec * 1e-9);
    tu_say(line);
    tu_note("blocked", rank);
    if (kinds[kind].stay)
        kinds[kind].stay();
    tu_compute(late);
}

static void expect(int kind, int victim)
{
    char line[96];

    if (kinds[kind].stay)
        snprintf(line, sizeof(line), "EXPECT user-code-hang %d\n", victim);
    else
        snprintf(line, sizeof(line), "EXPECT none\n");
    tu_say(line);
}

int main(int argc, char **argv)
{
    int kind = kind_of(tu_string(argc, argv, "--kind", "spin")), rank, size, victim, stop = 0;
    double after = tu_number(argc, argv, "--after", 60), begin, end = 0;
    double work = tu_number(argc, argv, "--work-ms", 20) * 2;
    unsigned draws;

    MPI_Init(&argc, &argv);
    alarm((unsigned) tu_number(argc, argv, "--limit", 600));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    rest_while_idle(200);
    draws = (unsigned) rank + 1;
    victim = (int) tu_number(argc, argv, "--rank", size - 1);
    if (rank == 0)
        expect(kind, victim);
    begin = tu_now();
    while (!stop) {
        double ms = work * rand_r(&draws) / RAND_MAX;
        tu_compute(ms * 1e-4);
        rest(ms * 0.9);
        if (rank == victim && end == 0 && tu_now() - begin > after) {
            stay_outside(kind, rank, tu_number(argc, argv, "--late", 20));
            end = tu_now() + 5;
        }
        stop = end > 0 && tu_now() > end;
        MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        tu_looping(rank);
    }
    if (rank == 0)
        printf("outside: %d ranks, all right\n", size);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
