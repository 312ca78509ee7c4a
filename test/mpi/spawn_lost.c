/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A rank is killed (by itself, SIGKILL) while MPI_Comm_spawn is under way: one of the parents,
 * which are all in it, or one of the children, in its MPI_Init. The others wait until they are
 * ended.
 *
 * spawn_lost [--who parent|child|nobody] [--rank R] [--children N]
 *
 * --who       whether a parent is killed, or a child (parent); nobody: a spawn that succeeds
 * --rank      which of them (0)
 * --children  how many are spawned (2)
 *
 * To keep the spawn from ending, the children do not call MPI_Init before the parent is gone; or
 * all do but the one after the child that is killed, until that is gone. That a process is gone
 * they see in /proc: the harness has one kernel for all hosts. It writes "R PID MICROSECOND" to
 * FOLDER/died.R right before it ends; children write "HOST PID" to FOLDER/child.R. With nobody
 * killed rank 0 prints "spawn_lost: N children answered". */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct {
    int rank; /* in its own world, as PMI says before MPI_Init */
    int lost, children;
    const char *who;
} me;

static const char *folder(void)
{
    const char *f = getenv("FAULTLOC_TEST_PIDFILE");

    return f ? f : "/tmp";
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* ---- who is killed --------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
    char path[4096], temporary[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.%d", folder(), name, me.rank);
    snprintf(temporary, sizeof(temporary), "%s/.%s.%d", folder(), name, me.rank);
    f = fopen(temporary, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) || rename(temporary, path))
        perror(path);
}

static void end_now(int number)
{
    (void) number;
    tu_note("died", me.rank);
    kill(getpid(), SIGKILL);
}

/* From another point of the program than the one that waits in MPI. */
static void end_in_ms(long ms)
{
    struct itimerval t = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};

    signal(SIGALRM, end_now);
    setitimer(ITIMER_REAL, &t, NULL);
}

static int has_ended(void)
{
    char path[4096], state = 0;
    long pid = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/died.%d", folder(), me.lost);
    f = fopen(path, "r");
    if (!f)
        return 0;
    if (fscanf(f, "%*d %ld", &pid) != 1)
        pid = 0;
    fclose(f);
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    f = fopen(path, "r");
    if (!f)
        return 1;
    if (fscanf(f, "%*d %*s %c", &state) != 1)
        state = 'X';
    fclose(f);
    return state == 'X' || state == 'Z';
}

/* ---- parents and children -------------------------------------------------------------------- */

static void say_child(void)
{
    char host[256] = "", text[320];

    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "%s %ld\n", host, (long) getpid());
    write_file("child", text);
}

static void be_child(int argc, char **argv)
{
    int got = -1, parent = !strcmp(me.who, "parent"), child = !strcmp(me.who, "child");
    MPI_Comm parents;

    say_child();
    if (child && me.rank == me.lost)
        end_in_ms(200);
    else if (parent || (child && me.rank == (me.lost + 1) % me.children))
        while (!has_ended())
            pause_ms(5);
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (me.rank == 0) {
        MPI_Recv(&got, 1, MPI_INT, 0, 1, parents, MPI_STATUS_IGNORE);
        got++;
        MPI_Send(&got, 1, MPI_INT, 0, 2, parents);
    }
    MPI_Comm_disconnect(&parents);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
}

static void be_parent(int argc, char **argv)
{
    int word = 41;
    MPI_Comm kids;

    MPI_Init(&argc, &argv);
    tu_hello(me.rank);
    MPI_Barrier(MPI_COMM_WORLD);
    tu_looping(me.rank);
    if (!strcmp(me.who, "parent") && me.rank == me.lost)
        end_in_ms(500);
    MPI_Comm_spawn(argv[0], &argv[1], me.children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &kids,
                   MPI_ERRCODES_IGNORE);
    if (me.rank == 0) {
        MPI_Send(&word, 1, MPI_INT, 0, 1, kids);
        MPI_Recv(&word, 1, MPI_INT, 0, 2, kids, MPI_STATUS_IGNORE);
        if (word != 42)
            tu_fail("spawn_lost", "wrong answer from the child");
        printf("spawn_lost: %d children answered\n", me.children);
    }
    MPI_Comm_disconnect(&kids);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK"), *spawned = getenv("PMI_SPAWNED");

    me.rank = rank ? atoi(rank) : 0;
    me.who = tu_string(argc, argv, "--who", "parent");
    me.lost = (int) tu_number(argc, argv, "--rank", 0);
    me.children = (int) tu_number(argc, argv, "--children", 2);
    if (spawned)
        be_child(argc, argv);
    else
        be_parent(argc, argv);
    return 0;
}
