/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A ring in which one rank, or several one after the other, end in a way and at a moment that are
 * told. The others go on until they are ended.
 *
 * die [--ranks R,R,...] [--how kill|segv|bus|abort|exit|_exit|mpi-abort|abort-self|memory|
 *     call|abort-part|truncate|sizes|reduce|comms] [--code N]
 *     [--when loop|before|init|finalize|after] [--gap-ms MS] [--on-error exit]
 *
 * --ranks   who ends (the last rank); none: "-"
 * --how     SIGKILL, SIGSEGV, SIGBUS, abort(), exit(), _exit(), MPI_Abort() of MPI_COMM_WORLD or
 *           MPI_COMM_SELF, by a call before MPI_Init or after MPI_Finalize, or by taking memory until
 *           the kernel ends it, in the control group that the harness put it in; in the loop, and
 *           between two of its rounds, also
 *           abort-part  MPI_Abort() of a communicator of the upper half of the ranks
 *           truncate    it receives less than rank 0 sends to it, which is fatal
 *           sizes       it takes part in MPI_Bcast with less than the others
 *           reduce      in MPI_Reduce with more
 *           comms       all duplicate MPI_COMM_WORLD until there are too many
 * --code    of exit(), _exit() and MPI_Abort() (3)
 * --when    in the loop; before MPI_Init; while in MPI_Init; while in MPI_Finalize; after it
 * --gap-ms  between two of --ranks (50)
 * --on-error exit   errors are returned, and who gets one exits with code 1
 *
 * Who ends while in MPI_Init or MPI_Finalize does so when all others but one are there, too; that
 * one comes when it is gone, which it sees on its own host alone: the harness has one kernel.
 *
 * It writes "R HOST PID MICROSECOND" to FOLDER/died.R right before it ends. */

#include "testutil.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct {
    int rank, size, turn; /* turn: its place in --ranks; -1: it goes on */
    const char *how, *when;
    int code;
    long gap_ms;
} me;

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* Pages that are written to, until there are no more; no more than a machine can miss. */
static void take_memory(void)
{
    const size_t step = 1 << 20, most = 1 << 10;

    for (size_t i = 0; i < most; i++) {
        void *p = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED)
            memset(p, 1, step);
    }
    tu_fail("die", "was not ended for the memory that it took");
}

/* No handler of MPI's transport is to print a page about it first. */
static void end_by(int number)
{
    signal(number, SIG_DFL);
    kill(getpid(), number);
    for (;;)
        pause();
}

/* A page of a file that ends before it. */
static void touch_nothing(void)
{
    FILE *f = tmpfile();
    char *p = f ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(f), 0) : NULL;

    signal(SIGBUS, SIG_DFL);
    if (p && p != MAP_FAILED)
        printf("%d\n", *(volatile char *) p);
    end_by(SIGBUS);
}

static void end_now(void)
{
    tu_note("died", me.rank);
    if (!strcmp(me.how, "kill"))
        end_by(SIGKILL);
    if (!strcmp(me.how, "segv")) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile int *) (uintptr_t) me.size = 1;
    }
    if (!strcmp(me.how, "bus"))
        touch_nothing();
    if (!strcmp(me.how, "abort")) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    if (!strcmp(me.how, "exit"))
        exit(me.code);
    if (!strcmp(me.how, "mpi-abort"))
        MPI_Abort(MPI_COMM_WORLD, me.code);
    if (!strcmp(me.how, "abort-self"))
        MPI_Abort(MPI_COMM_SELF, me.code);
    if (!strcmp(me.how, "memory"))
        take_memory();
    if (!strcmp(me.how, "call"))
        MPI_Barrier(MPI_COMM_WORLD);
    _exit(me.code);
}

/* ---- moments --------------------------------------------------------------------------------- */

static void on_alarm(int number)
{
    (void) number;
    end_now();
}

/* From another point of the program than the one that waits in MPI. */
static void end_in_ms(long ms)
{
    struct itimerval t = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};

    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &t, NULL);
}

static int has_ended(void)
{
    const char *folder = getenv("FAULTLOC_TEST_PIDFILE");
    char path[4096], state = 'X', name[64];
    long pid = 0;
    int rank;
    FILE *f;

    snprintf(path, sizeof(path), "%s/died.%s", folder ? folder : "/tmp", getenv("DIE_RANKS"));
    f = fopen(path, "r");
    if (!f)
        return 0;
    if (fscanf(f, "%d %ld", &rank, &pid) != 2)
        pid = 0;
    fclose(f);
    if (!pid)
        return 0;
    snprintf(name, sizeof(name), "/proc/%ld/stat", pid);
    f = fopen(name, "r");
    if (f && fscanf(f, "%*d %*s %c", &state) != 1)
        state = 'X';
    if (f)
        fclose(f);
    return state == 'X' || state == 'Z';
}

/* The rank after the one that ends stays out of MPI until that one is gone. */
static void keep_out(const char *moment)
{
    int first = atoi(getenv("DIE_RANKS"));

    if (strcmp(me.when, moment))
        return;
    if (me.turn == 0)
        end_in_ms(100);
    else if (me.rank == (first + 1) % me.size)
        while (!has_ended())
            pause_ms(5);
}

/* ---- by MPI ---------------------------------------------------------------------------------- */

#define ROUNDS 100 /* before it */

static void abort_part(void)
{
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, me.rank >= me.size / 2, 0, &half);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me.turn == 0)
        MPI_Abort(half, me.code);
}

static void truncate_message(void)
{
    int first = atoi(getenv("DIE_RANKS"));
    double x[100] = {0};

    if (me.rank == 0)
        MPI_Send(x, 100, MPI_DOUBLE, first, 2, MPI_COMM_WORLD);
    if (me.turn == 0)
        MPI_Recv(x, 50, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void use_up_comms(void)
{
    MPI_Comm c;

    for (;;)
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
}

/* In all ranks, after so many rounds; it returns where another way was told. */
static void end_by_mpi(void)
{
    static double x[1200], y[1200];

    if (!strcmp(me.how, "abort-part"))
        abort_part();
    if (!strcmp(me.how, "truncate"))
        truncate_message();
    if (!strcmp(me.how, "sizes"))
        MPI_Bcast(x, me.turn == 0 ? 800 : 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (!strcmp(me.how, "reduce"))
        MPI_Reduce(x, y, me.turn == 0 ? 1200 : 1000, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!strcmp(me.how, "comms"))
        use_up_comms();
}

static int is_by_mpi(void)
{
    static const char *const ways[] = {"abort-part", "truncate", "sizes", "reduce", "comms"};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (!strcmp(me.how, ways[i]))
            return 1;
    return 0;
}

static int place_in(const char *list, int rank)
{
    char *end;

    for (int n = 0; *list && *list != '-'; n++) {
        if (strtol(list, &end, 10) == rank)
            return n;
        if (*end != ',')
            return -1;
        list = end + 1;
    }
    return -1;
}

static void read_options(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE"), *ranks;
    char last[16];

    me.rank = rank ? atoi(rank) : 0;
    me.size = size ? atoi(size) : 1;
    snprintf(last, sizeof(last), "%d", me.size - 1);
    ranks = tu_string(argc, argv, "--ranks", last);
    setenv("DIE_RANKS", ranks, 1);
    me.turn = place_in(ranks, me.rank);
    me.how = tu_string(argc, argv, "--how", "kill");
    me.when = tu_string(argc, argv, "--when", "loop");
    me.code = (int) tu_number(argc, argv, "--code", 3);
    me.gap_ms = (long) tu_number(argc, argv, "--gap-ms", 50);
}

static void pass_round(void)
{
    int word = me.rank, got;

    if (MPI_Sendrecv(&word, 1, MPI_INT, (me.rank + 1) % me.size, 1, &got, 1, MPI_INT,
                     (me.rank + me.size - 1) % me.size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
        exit(1);
}

static void *end_in_turn(void *arg)
{
    (void) arg;
    pause_ms(300 + me.turn * me.gap_ms);
    end_now();
    return NULL;
}

/* The harness puts it into a control group with little memory, and says so by this file. */
static void wait_for_group(void)
{
    const char *folder = getenv("FAULTLOC_TEST_PIDFILE");
    char path[4096];

    snprintf(path, sizeof(path), "%s/in-group", folder ? folder : "/tmp");
    while (!strcmp(me.how, "memory") && me.turn >= 0 && access(path, F_OK))
        pause_ms(5);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    read_options(argc, argv);
    if (!strcmp(me.when, "before") && me.turn == 0)
        end_now();
    keep_out("init");
    tu_hello(me.rank);
    wait_for_group();
    MPI_Init(&argc, &argv);
    if (!strcmp(tu_string(argc, argv, "--on-error", ""), "exit"))
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 10; i++)
        pass_round();
    MPI_Barrier(MPI_COMM_WORLD);
    tu_looping(me.rank);
    if (!strcmp(me.when, "loop")) {
        if (me.turn >= 0 && !is_by_mpi() && pthread_create(&thread, NULL, end_in_turn, NULL))
            tu_fail("die", "cannot start a thread");
        for (int i = 0;; i++) {
            if (i == ROUNDS)
                end_by_mpi();
            pass_round();
        }
    }
    keep_out("finalize");
    if (!strcmp(me.when, "after"))
        tu_meet(MPI_COMM_WORLD); /* MPICH's own MPI_Finalize hangs now and then, see there */
    MPI_Finalize();
    if (me.turn >= 0)
        end_now();
    return 0;
}
