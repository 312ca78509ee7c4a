/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Ranks that call fork(), for test_harm_fork.sh, two of them; and ranks that stay, for
 * test_harm_same_job.sh.
 *
 * fork_child --kind KIND --file FILE
 *
 * local   each rank's child calls what MPI lets it, while the rank goes on
 * inside  the child of rank 0 ends inside MPI_Recv; then the ranks are outside MPI until FILE is
 *         there
 * hold    none forks; each prints "rank R pid P", and they are outside MPI until FILE is there
 * daemon  each rank ends, with code --code, and goes on in its child, or in that one's (--twice 1):
 *         rank 1 waits for rank 0, which is outside MPI until FILE is there.  UCX does not let a child
 *         call MPI_Finalize. */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank;
static const char *file;

static void wait_for_file(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    while (access(file, F_OK))
        nanosleep(&pause, NULL);
}

static void call_locally(void)
{
    MPI_Datatype type;
    int n;

    MPI_Initialized(&n);
    MPI_Type_size(MPI_INT, &n);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < 100; i++) {
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Type_free(&type);
    }
    _exit(0);
}

static void run_local(void)
{
    double x = rank, sum = 0;
    pid_t child;

    for (int i = 0; i < 50; i++) {
        child = fork();
        if (child == 0)
            call_locally();
        for (int k = 0; k < 20; k++)
            MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        waitpid(child, NULL, 0);
    }
    if (rank == 0)
        tu_say(sum == 1 ? "ok\n" : "wrong\n");
}

static void leave(int signal_)
{
    (void) signal_;
    _exit(0);
}

/* By the time that it has used, so it is in MPI_Recv however busy the machine. */
static void end_inside(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 100000}};
    int x;

    signal(SIGVTALRM, leave);
    setitimer(ITIMER_VIRTUAL, &soon, NULL);
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    _exit(1);
}

static void run_inside(void)
{
    pid_t child = rank == 0 ? fork() : 0;
    int status = 0;

    if (rank == 0 && child == 0)
        end_inside();
    if (rank == 0)
        waitpid(child, &status, 0);
    if (rank == 0)
        tu_say(status == 0 ? "the child has ended\n" : "wrong\n");
    wait_for_file();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_hold(void)
{
    char line[64];

    snprintf(line, sizeof(line), "rank %d pid %d\n", rank, (int) getpid());
    tu_say(line);
    wait_for_file();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_daemon(int code, bool twice)
{
    int x = 0;

    if (fork())
        _exit(code);
    setsid();
    if (twice && fork())
        _exit(0);
    if (rank == 0) {
        wait_for_file();
        MPI_Send(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        tu_say("the result\n");
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *kind = tu_string(argc, argv, "--kind", "local");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = tu_string(argc, argv, "--file", "");
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(kind, "daemon"))
        run_daemon((int) tu_number(argc, argv, "--code", 0),
                   tu_number(argc, argv, "--twice", 0) > 0);
    else if (!strcmp(kind, "inside"))
        run_inside();
    else if (!strcmp(kind, "hold"))
        run_hold();
    else
        run_local();
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
