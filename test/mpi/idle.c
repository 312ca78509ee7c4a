/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A service that is idle and well: nothing is to come in MPI until somebody outside the job wants it.
 *
 * idle poll FILE     ranks ask for messages, with pauses, until FILE is there
 * idle signal FILE   a thread of each rank waits for messages, and the main thread for a semaphore, which
 *                    the handler of SIGTERM posts; FILE.RANK has the process's number
 * idle limit FILE    two ranks poll for each other's message until they have had enough */

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STOP (-1)

static sem_t is_over;

static void handle(int number)
{
    (void) number;
    sem_post(&is_over);
}

static void *serve(void *arg)
{
    int work = 0;

    (void) arg;
    while (work != STOP)
        MPI_Recv(&work, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void write_pid(const char *file, int rank)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s.%d", file, rank);
    f = fopen(path, "w");
    if (!f)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(f, "%d\n", (int) getpid());
    fclose(f);
}

static void wait_for_signal(const char *file, int rank)
{
    int stop = STOP;
    pthread_t thread;

    sem_init(&is_over, 0, 0);
    signal(SIGTERM, handle);
    pthread_create(&thread, NULL, serve, NULL);
    write_pid(file, rank);
    while (sem_wait(&is_over) && errno == EINTR)
        ;
    MPI_Send(&stop, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}

static void poll_for_messages(const char *file)
{
    int flag;

    while (access(file, F_OK) != 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

static void poll_within_limit(const char *file, int rank)
{
    int x, done = 0;
    MPI_Request request;

    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    while (!done && access(file, F_OK) != 0)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, provided;

    if (argc != 3) {
        fprintf(stderr, "usage: idle poll|signal|limit FILE\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "poll"))
        poll_for_messages(argv[2]);
    else if (!strcmp(argv[1], "limit"))
        poll_within_limit(argv[2], rank);
    else
        wait_for_signal(argv[2], rank);
    MPI_Finalize();
    return 0;
}
