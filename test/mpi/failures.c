/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* One rank dies; each of the others must learn of it: by asking for the failed processes of several
 * communicators, by the MPI_T event, which comes while it waits in MPI, and from the report.  In a
 * healthy job (--victim -1) nobody must learn of anything.
 *
 * failures [--victim RANK] [--how exit|wait] [--within SECONDS] [--json FILE]
 *
 * --how wait: the victim waits to be killed.  --json: the lowest rank that is left writes the
 * report there.  With FaultLoc off, run it with --victim -1. */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TAG_TICK,
    TAG_DONE
};

/* As in faultloc_verdict(3). */
struct verdict {
    int64_t located_ms;
    uint32_t id;
    int32_t fln, class_number, rank, node, pid, confidence, withdrawn, victims, failures;
    char class_name[24], node_name[64];
};

static struct {
    int rank, size, victim, leader;
    double within;
    int victim_pid;
    MPI_Comm copy, half, across; /* a duplicate; the rank's half, backwards; both halves */
} job;

static volatile int events;
static struct verdict seen;

static void fail(const char *what)
{
    char text[200];

    snprintf(text, sizeof(text), "rank %d: %s", job.rank, what);
    tu_fail("failures", text);
}

static void check(int condition, const char *what)
{
    if (!condition)
        fail(what);
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};

    nanosleep(&t, NULL);
}

/* ---- the event ------------------------------------------------------------------------------- */

static void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *user_data)
{
    int32_t rank;

    (void) registration;
    (void) safety;
    MPI_T_event_copy(instance, &seen);
    MPI_T_event_read(instance, 4, &rank);
    if (rank != seen.rank || user_data != &job)
        fail("the event's elements differ from its copy");
    events++;
}

static void listen_to_events(void)
{
    MPI_T_event_registration registration;
    MPI_T_enum enumtype;
    int index, provided, elements = 0, verbosity, bind, name_len = 0, desc_len = 0;

    check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "no MPI_T");
    check(MPI_T_event_get_index("faultloc_verdict", &index) == MPI_SUCCESS, "no event");
    check(MPI_T_event_get_info(index, NULL, &name_len, &verbosity, NULL, NULL, &elements, &enumtype,
                               NULL, NULL, &desc_len, &bind) == MPI_SUCCESS &&
              elements == 11 + 24 + 64 && enumtype == MPI_T_ENUM_NULL,
          "the event is described otherwise");
    check(MPI_T_event_get_info(index, NULL, NULL, &verbosity, NULL, NULL, NULL, NULL, NULL, NULL,
                               NULL, &bind) == MPI_SUCCESS,
          "what is left out is asked for");
    check(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS,
          "no handle");
    check(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                        MPI_INFO_NULL, &job, on_event) == MPI_SUCCESS,
          "no callback");
}

/* Who waits gets the event, and asks for nothing: the leader, who knows already, sends a message
 * now and then until all have had it. */
static void lead(void)
{
    double until = tu_now() + job.within;
    int done = 0, others = job.size - 2, go_on = 1, here;
    MPI_Status status;

    while (done < others) {
        check(tu_now() < until, "some ranks that wait get no event");
        pause_ms(20);
        for (int r = 0; r < job.size; r++)
            if (r != job.rank && r != job.victim)
                MPI_Send(&go_on, 1, MPI_INT, r, TAG_TICK, MPI_COMM_WORLD);
        for (;;) {
            MPI_Iprobe(MPI_ANY_SOURCE, TAG_DONE, MPI_COMM_WORLD, &here, &status);
            if (!here)
                break;
            MPI_Recv(NULL, 0, MPI_INT, status.MPI_SOURCE, TAG_DONE, MPI_COMM_WORLD, &status);
            done++;
        }
    }
    go_on = 0;
    for (int r = 0; r < job.size; r++)
        if (r != job.rank && r != job.victim)
            MPI_Send(&go_on, 1, MPI_INT, r, TAG_TICK, MPI_COMM_WORLD);
}

static void follow(void)
{
    int go_on = 1, told = 0;

    while (go_on) {
        MPI_Recv(&go_on, 1, MPI_INT, job.leader, TAG_TICK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (events > 0 && !told) {
            MPI_Send(NULL, 0, MPI_INT, job.leader, TAG_DONE, MPI_COMM_WORLD);
            told = 1;
        }
    }
}

static void check_event(void)
{
    check(events == 1, "not one event");
    check(seen.rank == job.victim, "the event has another rank");
    check(seen.pid == job.victim_pid, "the event has another pid");
    check(!strcmp(seen.class_name, "process-crash"), "the event has another class");
    check(seen.node_name[0] && !seen.withdrawn && seen.failures == 1 && seen.confidence > 500,
          "the event's other elements are wrong");
}

/* ---- asking ------------------------------------------------------------------------------------ */

/* How many have failed, and as what rank of `reference` the first of them is known. */
static int ask(MPI_Comm comm, MPI_Group reference, int *first)
{
    MPI_Group failed;
    int n, zero = 0;

    check(MPIX_Comm_failure_get_acked(comm, &failed) == MPI_SUCCESS, "get_acked fails");
    MPI_Group_size(failed, &n);
    *first = MPI_UNDEFINED;
    if (n > 0)
        MPI_Group_translate_ranks(failed, 1, &zero, reference, first);
    MPI_Group_free(&failed);
    return n;
}

static int acknowledged(MPI_Comm comm, MPI_Group reference, int *first)
{
    check(MPIX_Comm_failure_ack(comm) == MPI_SUCCESS, "ack fails");
    return ask(comm, reference, first);
}

static void make_communicators(void)
{
    int low = job.rank < job.size / 2;

    MPI_Comm_dup(MPI_COMM_WORLD, &job.copy);
    MPI_Comm_split(MPI_COMM_WORLD, low, -job.rank, &job.half);
    MPI_Intercomm_create(job.half, 0, MPI_COMM_WORLD, low ? job.size - 1 : job.size / 2 - 1, 7,
                         &job.across);
}

/* `n` failures, 0 or 1, the same wherever one asks, but only where it is acknowledged. */
static void check_communicators(int n)
{
    int first, low = job.rank < job.size / 2, victim_low = job.victim < job.size / 2;
    int in_half = n && low == victim_low;
    MPI_Group world, half;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(job.half, &half);
    check(ask(job.copy, world, &first) == 0, "a failure that nobody acknowledged there");
    check(acknowledged(job.copy, world, &first) == n, "the duplicate has others");
    check(n == 0 || first == job.victim, "the duplicate has another");
    check(acknowledged(job.half, half, &first) == in_half, "the half has others");
    if (in_half)
        check(first == (low ? job.size / 2 : job.size) - 1 - job.victim,
              "the half has another rank");
    check(acknowledged(job.across, world, &first) == n, "the intercommunicator has others");
    check(n == 0 || first == job.victim, "the intercommunicator has another");
    check(acknowledged(MPI_COMM_SELF, world, &first) == 0, "this rank is taken for failed");
    MPI_Group_free(&world);
    MPI_Group_free(&half);
}

/* Asks until there is a failure. */
static void learn(void)
{
    double until = tu_now() + job.within;
    MPI_Group world;
    int first;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    while (acknowledged(MPI_COMM_WORLD, world, &first) == 0) {
        check(tu_now() < until, "nobody says that a rank has failed");
        pause_ms(5);
    }
    check(first == job.victim, "another rank is said to have failed");
    check(ask(MPI_COMM_WORLD, world, &first) == 1, "more than one failed");
    MPI_Group_free(&world);
}

/* ---- the report ---------------------------------------------------------------------------------- */

static char *get_report(void)
{
    int room = 0, len = 0;
    char *json = NULL;

    while (MPIX_Faultloc_verdicts(json, &len) == MPI_SUCCESS && len > room) {
        room = len;
        json = realloc(json, (size_t) room);
        check(json != NULL, "out of memory");
    }
    check(json && (int) strlen(json) == len - 1, "the report's length is another");
    return json;
}

static void check_short_buffer(void)
{
    char beginning[8] = "???????", *nothing = NULL;
    int len = 5;

    check(MPIX_Faultloc_verdicts(beginning, &len) == MPI_SUCCESS && len > 5 &&
              strlen(beginning) == 4 && !strcmp(beginning + 5, "??"), "a short buffer");
    len = 10;
    check(MPIX_Faultloc_verdicts(nothing, &len) != MPI_SUCCESS, "no buffer is no error");
}

static void check_report(const char *file)
{
    char *json = get_report(), number[32];
    FILE *f;

    check(strstr(json, "\"faultloc-report/1\"") != NULL, "the report has no schema");
    if (job.victim < 0) {
        check(!strstr(json, "\"class\""), "the report of a healthy job has a verdict");
    } else {
        snprintf(number, sizeof(number), "\"pid\": %d", job.victim_pid);
        check(strstr(json, "\"process-crash\"") && strstr(json, number),
              "the report has another verdict");
    }
    f = file && job.rank == job.leader ? fopen(file, "w") : NULL;
    if (f) {
        fputs(json, f);
        fclose(f);
    }
    free(json);
    check_short_buffer();
}

/* ---- the end ------------------------------------------------------------------------------------ */

static void leave(int signal)
{
    (void) signal;
    _exit(0);
}

/* Whether MPI_Finalize comes back after a failure is another test's business. */
static void finalize(void)
{
    if (job.victim < 0)
        tu_meet(MPI_COMM_WORLD);
    if (job.victim >= 0) {
        signal(SIGALRM, leave);
        alarm(5);
    }
    MPI_Finalize();
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static void end_or_wait(const char *how)
{
    if (strcmp(how, "wait"))
        _exit(3);
    for (;;)
        pause_ms(100);
}

static void start(int argc, char **argv)
{
    int pid = (int) getpid(), *pids;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    job.victim = (int) tu_number(argc, argv, "--victim", job.size - 1);
    job.within = tu_number(argc, argv, "--within", 60);
    job.leader = job.victim == 0;
    if (job.size < 2 || job.victim >= job.size)
        tu_fail("failures", "wants two ranks at least, and a victim among them");
    pids = malloc((size_t) job.size * sizeof(*pids));
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    job.victim_pid = job.victim < 0 ? 0 : pids[job.victim];
    free(pids);
    tu_hello(job.rank);
    listen_to_events();
    make_communicators();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

int main(int argc, char **argv)
{
    const char *json;

    start(argc, argv);
    json = tu_string(argc, argv, "--json", NULL);
    check_communicators(0);
    MPI_Barrier(MPI_COMM_WORLD);
    tu_looping(job.rank);
    if (job.rank == job.victim)
        end_or_wait(tu_string(argc, argv, "--how", "exit"));
    if (job.victim >= 0) {
        if (job.rank == job.leader) {
            learn();
            lead();
        } else {
            follow();
            learn();
        }
        check_event();
    } else {
        for (int i = 0; i < 1000; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        check(events == 0, "an event in a healthy job");
    }
    check_communicators(job.victim >= 0);
    check_report(json);
    printf("rank %d: %d failed, %d events\n", job.rank, job.victim >= 0, events);
    fflush(stdout);
    finalize();
    return 0;
}
