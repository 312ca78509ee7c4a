/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * A worker: jobs are done in order by a thread that nobody waits for, the queue is bounded, and
 * what the two share lives as long as either needs it.
 */

#include "faultloc/io/worker.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EACH 100 /* bytes that a job counts for */

struct numbered {
    struct faultloc_task job;
    int number;
};

static struct faultloc_worker worker;
static int gate; /* eventfd: jobs are held until it can be read */
static char done[256]; /* the numbers of the jobs done, and "-N": of N lost */
static atomic_int held, dropped, ends;

static void note(const char *format, int number)
{
    snprintf(done + strlen(done), sizeof(done) - strlen(done), format, number);
}

static void run(struct faultloc_worker *l, struct faultloc_task *job)
{
    struct pollfd p = {.fd = gate, .events = POLLIN};

    (void) l;
    held++;
    poll(&p, 1, -1);
    held--;
    note(" %d", ((struct numbered *) job)->number);
    free(job);
}

static void lost(struct faultloc_worker *l, uint32_t jobs)
{
    (void) l;
    note(" -%d", (int) jobs);
}

static void ended(struct faultloc_worker *l)
{
    (void) l;
    ends++;
}

static void drop(struct faultloc_task *job)
{
    dropped++;
    free(job);
}

static const struct faultloc_worker_ops all = {
    .name = "a-worker", .run = run, .lost = lost, .ended = ended, .drop = drop};
static const struct faultloc_worker_ops newest = {
    .name = "a-worker", .newest = true, .run = run, .lost = lost, .ended = ended, .drop = drop};

static void setup(const struct faultloc_worker_ops *ops)
{
    gate = eventfd(0, EFD_CLOEXEC);
    faultloc_worker_init(&worker, ops, NULL, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

static bool add(int number, size_t limit)
{
    struct numbered *n = calloc(1, sizeof(*n));

    n->number = number;
    n->job.bytes = EACH;
    return faultloc_worker_add(&worker, &n->job, limit);
}

/* The first is being done and held, so that all others wait. */
static void add_first(void)
{
    ck_assert(add(1, 0));
    UNTIL(held == 1);
}

static void open_gate(void)
{
    faultloc_eventfd_signal(gate);
}

static void teardown(void)
{
    ck_assert(faultloc_worker_stop(&worker));
    UNTIL(ends == 1 && process_threads(getpid(), "a-worker") == 0);
    faultloc_worker_destroy(&worker);
    close(worker.notify);
    close(gate);
}

TEST_CASE(jobs_are_done_in_order)
{
    struct pollfd notify;

    setup(&all);
    ck_assert(faultloc_worker_idle(&worker));
    for (int i = 1; i <= 9; i++)
        ck_assert(add(i, 9 * EACH));
    ck_assert(!faultloc_worker_idle(&worker));
    open_gate();
    notify = (struct pollfd){.fd = worker.notify, .events = POLLIN};
    ck_assert_int_eq(poll(&notify, 1, PROCESS_DEADLINE_MS), 1);
    ck_assert(faultloc_worker_idle(&worker));
    ck_assert_str_eq(done, " 1 2 3 4 5 6 7 8 9");
    teardown();
}

/* One that nothing waits before is taken, however large; each has its own limit. */
TEST_CASE(what_there_is_no_room_for_is_counted)
{
    setup(&all);
    add_first();
    ck_assert(add(2, 0));
    ck_assert(add(3, 2 * EACH));
    ck_assert(!add(4, 2 * EACH));
    ck_assert(!add(5, 2 * EACH));
    ck_assert(add(6, 3 * EACH));
    ck_assert(!faultloc_worker_add(&worker, NULL, 9 * EACH));
    ck_assert_int_eq(dropped, 2);
    open_gate();
    UNTIL(faultloc_worker_idle(&worker));
    ck_assert_str_eq(done, " 1 2 3 6 -3");
    teardown();
}

TEST_CASE(the_newest_takes_the_place_of_what_waits)
{
    setup(&newest);
    add_first();
    for (int i = 2; i <= 5; i++)
        ck_assert(add(i, 0));
    ck_assert_int_eq(dropped, 3);
    open_gate();
    UNTIL(faultloc_worker_idle(&worker));
    ck_assert_str_eq(done, " 1 5");
    teardown();
}

TEST_CASE(what_waits_at_the_end_is_not_done)
{
    setup(&all);
    add_first();
    add(2, EACH);
    ck_assert(!faultloc_worker_stopping(&worker));
    ck_assert(faultloc_worker_stop(&worker)); /* returns */
    ck_assert(faultloc_worker_stopping(&worker));
    ck_assert_int_eq(held, 1);
    ck_assert_int_eq(ends, 0);
    open_gate();
    teardown();
    ck_assert_str_eq(done, " 1");
    ck_assert_int_eq(dropped, 1);
}

TEST_CASE(a_worker_without_jobs_has_no_thread)
{
    setup(&all);
    ck_assert(!faultloc_worker_stop(&worker));
    ck_assert_int_eq(faultloc_worker_start(&worker), ECANCELED);
    add(1, EACH);
    ck_assert_int_eq(process_threads(getpid(), "a-worker"), 0);
    faultloc_worker_destroy(&worker);
    ck_assert_int_eq(dropped, 1);
    close(worker.notify);
    close(gate);
}

/* One that this thread blocks stays pending if the other does not take it. */
TEST_CASE(signals_are_for_others)
{
    sigset_t one, pending;

    setup(&all);
    add_first();
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    kill(getpid(), SIGUSR1);
    sigpending(&pending);
    ck_assert(sigismember(&pending, SIGUSR1));
    open_gate();
    teardown();
}
