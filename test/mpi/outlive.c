/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A rank is killed; the others have MPI_ERRORS_RETURN, go on without it, and end well. To be run
 * with mpiexec -disable-auto-cleanup.
 *
 * outlive [--rank R] [--when loop|finalize]
 *
 * --rank  who is killed (the last rank); it kills itself by SIGKILL
 * --when  in the loop; or when all others have come to MPI_Finalize
 *
 * In each round everybody exchanges a message with everybody. When a rank has learned of the loss,
 * and that nobody else has failed, the others do 5 more rounds, and call MPI_Finalize. Each of them
 * creates FOLDER/finalizing.R before that and FOLDER/well.R after it. What is wrong is printed, and
 * the exit code is then 1. The killed one writes "R PID MICROSECOND" to FOLDER/died.R. */

#include "testutil.h"

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MORE 5 /* rounds after the loss */

static struct {
    int rank, size, lost;
    int stop; /* the round after which all end: the least that is known */
} me;

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static void wrong(const char *step, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "success";
    int len;

    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &len);
    fprintf(stderr, "outlive: rank %d: wrong at %s: %s\n", me.rank, step, text);
    _exit(1);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void path_of(const char *what, int rank, char *out, size_t room)
{
    const char *folder = getenv("FAULTLOC_TEST_PIDFILE");

    snprintf(out, room, "%s/%s.%d", folder ? folder : "/tmp", what, rank);
}

/* ---- the one that is lost -------------------------------------------------------------------- */

static void end_now(void)
{
    tu_note("died", me.rank);
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static void *end_soon(void *arg)
{
    (void) arg;
    pause_ms(300);
    end_now();
    return NULL;
}

static void end_last(void)
{
    char path[4096];

    for (int r = 0; r < me.size; r++) {
        path_of("finalizing", r, path, sizeof(path));
        while (r != me.rank && access(path, F_OK))
            pause_ms(5);
    }
    pause_ms(200); /* nothing tells from outside that they are in it */
    end_now();
}

/* ---- the others ------------------------------------------------------------------------------ */

/* Who is lost is one, and the one that was to be. */
static void look_at_failures(void)
{
    MPI_Group failed, world;
    int n, zero = 0, who = -1, rc;

    rc = MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    if (rc == MPI_SUCCESS)
        rc = MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed);
    if (rc != MPI_SUCCESS)
        wrong("asking who has failed", rc);
    MPI_Group_size(failed, &n);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (n > 0)
        MPI_Group_translate_ranks(failed, 1, &zero, world, &who);
    if (n != 1 || who != me.lost)
        wrong("who has failed", MPI_SUCCESS);
    MPI_Group_free(&failed);
    MPI_Group_free(&world);
}

static void learn(int round, int peer, int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    if (peer != me.lost || class != MPIX_ERR_PROC_FAILED)
        wrong("MPI_Sendrecv", rc);
    look_at_failures();
    if (round + MORE < me.stop)
        me.stop = round + MORE;
}

/* Each passes on when all are to stop, so that all do after the same round. */
static void exchange(int round)
{
    for (int peer = 0; peer < me.size; peer++) {
        int out[2] = {round, me.stop}, in[2] = {-1, -1}, rc;
        if (peer == me.rank)
            continue;
        rc = MPI_Sendrecv(out, 2, MPI_INT, peer, 1, in, 2, MPI_INT, peer, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS)
            learn(round, peer, rc);
        else if (in[0] != round)
            wrong("the message of another", MPI_SUCCESS);
        else if (in[1] < me.stop)
            me.stop = in[1];
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int in_loop, rc;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me.size);
    tu_hello(me.rank);
    me.lost = (int) tu_number(argc, argv, "--rank", me.size - 1);
    in_loop = !strcmp(tu_string(argc, argv, "--when", "loop"), "loop");
    me.stop = in_loop ? INT_MAX : MORE;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    exchange(0);
    tu_looping(me.rank);
    if (in_loop && me.rank == me.lost && pthread_create(&thread, NULL, end_soon, NULL))
        tu_fail("outlive", "cannot start a thread");
    for (int round = 1; round <= me.stop; round++)
        exchange(round);
    if (me.rank == me.lost)
        end_last();
    tu_note("finalizing", me.rank);
    rc = MPI_Finalize();
    if (rc != MPI_SUCCESS)
        return 1;
    tu_note("well", me.rank);
    return 0;
}
