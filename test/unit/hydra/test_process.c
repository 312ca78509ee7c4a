/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_process.h"
#include "files.h"
#include "suite.h"

#include <sys/stat.h>
#include <unistd.h>

/* Process `pid`, in a folder that looks like /proc. */
static void make(int pid, const char *stat, const char *wchan, const char *children)
{
    char name[64];

    snprintf(name, sizeof(name), "%d/stat", pid);
    files_write(name, stat);
    snprintf(name, sizeof(name), "%d/wchan", pid);
    if (wchan)
        files_write(name, wchan);
    snprintf(name, sizeof(name), "%d/task/%d/children", pid, pid);
    if (children)
        files_write(name, children);
}

static void is_described(const struct HYD_faultloc_process *p, int barrier, const char *want)
{
    char out[HYD_FAULTLOC_STATE];

    ck_assert_str_eq(HYD_faultloc_process_state(files_root, p, barrier, out), want);
}

static const struct {
    const char *stat, *wchan, *want;
} rows[] = {
    {"7 (app) R 1 7", "0", "app running"},
    {"7 (app) S 1 7", "hrtimer_nanosleep", "app sleeping in hrtimer_nanosleep"},
    {"7 (app) S 1 7", "0", "app sleeping"},
    {"7 (app) S 1 7", "", "app sleeping"},
    {"7 (app) S 1 7", NULL, "app sleeping"},
    {"7 (app) S 1 7", "a\033[2J", "app sleeping"},
    {"7 (app) D 1 7", "rpc_wait_bit_killable", "app in disk sleep in rpc_wait_bit_killable"},
    {"7 (app) D 1 7", "__refrigerator", "app frozen"},
    {"7 (app) S 1 7", "get_signal", "app frozen"},
    {"7 (app) T 1 7", "do_signal_stop", "app stopped"},
    {"7 (app) t 1 7", "ptrace_stop", "app held by a debugger"},
    {"7 (app) Z 1 7", "0", "app has ended"},
    {"7 (app) Z 1 7 7 0 -1 0 0 0 0 0 9 0 0 0 20 0 1 0 777", "0", "app has ended"},
    {"7 (app) Z 1 7 7 0 -1 0 0 0 0 0 9 0 0 0 20 0 2 0 777", "0",
     "app without its first thread, which has ended"},
    {"7 (a) b (c) R 1 7", "0", "a) b (c running"},
    {"7 (a\033\xffz) R 1 7", "0", "a??z running"},
    {"7 (app", "0", "state not known"},
    {"7 (app)", "0", "state not known"},
    {"", "0", "state not known"},
};

TEST_CASES(states, COUNT(rows))
{
    struct HYD_faultloc_process p = {.pid = 7, .inited = true};

    files_begin();
    make(7, rows[_i].stat, rows[_i].wchan, NULL);
    is_described(&p, 2, rows[_i].want);
}

TEST_CASE(where_it_is)
{
    struct HYD_faultloc_process p = {.pid = 7};

    files_begin();
    make(7, "7 (app) T 1 7", NULL, NULL);
    is_described(&p, 1, "MPI_Init not called; app stopped");
    p.inited = true;
    is_described(&p, 1, "inside MPI_Init; app stopped");
    is_described(&p, 2, "app stopped");
    p.finalizing = 1;
    is_described(&p, 2, "inside MPI_Finalize; app stopped");
    p.finalizing = 0;
    p.pid = 8;
    is_described(&p, 2, "state not known");
}

TEST_CASE(how_it_ended)
{
    struct HYD_faultloc_end end = {.status = 3 << 8};
    struct HYD_faultloc_process p = {.pid = 7, .end = &end};

    files_begin();
    make(7, "7 (another) R 1 7", NULL, NULL);
    is_described(&p, 1, "MPI_Init not called; ended, exit code 3");
}

/* A script that waits for what it has started is not of interest. */
TEST_CASE(the_child_of_a_script)
{
    struct HYD_faultloc_process p = {.pid = 7, .inited = true};

    files_begin();
    make(7, "7 (sh) S 1 7", "do_wait", "8");
    is_described(&p, 2, "sh sleeping in do_wait"); /* the child has just ended */
    make(8, "8 (bash) S 1 7", "do_wait", "9 10");
    make(9, "9 (app) D 1 7", "folio_wait_bit", "11");
    make(10, "10 (faultloc-agent) S 1 7", "ep_poll", NULL);
    make(11, "11 (helper) S 1 7", "pipe_read", NULL);
    is_described(&p, 2, "app in disk sleep in folio_wait_bit");
    make(10, "10 (tee) S 1 7", "pipe_read", NULL);
    is_described(&p, 2, "bash sleeping in do_wait"); /* which one is not known */
    make(8, "8 (bash) S 1 7", "do_wait", "7");
    is_described(&p, 2, "bash sleeping in do_wait"); /* it ends */
}

/* The kernel itself, of this process. */
TEST_CASE(the_real_proc)
{
    struct HYD_faultloc_process p = {.pid = getpid(), .inited = true};
    char out[HYD_FAULTLOC_STATE];

    ck_assert_ptr_nonnull(strstr(HYD_faultloc_process_state("/proc", &p, 2, out), " running"));
}

TEST_CASE(what_a_process_says)
{
    struct HYD_faultloc_calls calls = {.barriers = 0};

    HYD_faultloc_calls_note(&calls, "barrier_in", 5);
    ck_assert(calls.barriers == 1 && calls.came == 5 && !calls.put);
    HYD_faultloc_calls_note(&calls, "put", 6);
    HYD_faultloc_calls_note(&calls, "get", 7);
    ck_assert(calls.barriers == 1 && !calls.put);
    HYD_faultloc_calls_note(&calls, "barrier_in", 8);
    ck_assert(calls.barriers == 2 && calls.came == 8 && calls.put);
    HYD_faultloc_calls_note(&calls, "barrier_in", 9);
    ck_assert(calls.barriers == 3 && !calls.put);
}

static struct HYD_faultloc_arrivals new_arrivals(int barrier)
{
    return (struct HYD_faultloc_arrivals){.barrier = barrier, .first_ms = -1, .last_ms = -1};
}

TEST_CASE(who_has_come)
{
    struct HYD_faultloc_arrivals a = new_arrivals(2);
    struct HYD_faultloc_end end = {.status = 0};
    struct HYD_faultloc_process p = {.end = &end, .pid = 40};

    HYD_faultloc_arrivals_add(&a, &p, 1000);
    ck_assert_int_eq(a.come, 0);
    ck_assert(a.first_ms == -1 && a.last_ms == -1);
    for (p.rank = 1; p.rank < 4; p.rank++) {
        p.calls =
            (struct HYD_faultloc_calls){.barriers = 2, .came = 200 * p.rank, .put = p.rank == 2};
        HYD_faultloc_arrivals_add(&a, &p, 1000);
    }
    ck_assert_int_eq(a.come, 3);
    ck_assert(a.first_ms == 800 && a.last_ms == 400 && a.put);
    ck_assert_int_eq(a.groups, 1);
    ck_assert_int_eq(a.group[0].pid, 40);
    p.calls.barriers = 1;
    HYD_faultloc_arrivals_add(&a, &p, 1000); /* rank 4 */
    ck_assert_int_eq(a.groups, 1);
    ck_assert_int_eq(a.group[0].pid, 0);
    ck_assert_int_eq(a.group[0].ranks.count, 2);
    ck_assert_int_eq(a.group[0].ranks.ranges, 2);
    ck_assert_str_eq(a.group[0].state, "MPI_Init not called; ended, exit code 0");
}

/* It is not in the barrier yet, but does not keep the others waiting. */
TEST_CASE(who_is_inside_mpi_finalize)
{
    struct HYD_faultloc_arrivals a = new_arrivals(2);
    struct HYD_faultloc_end end = {.status = 0};
    struct HYD_faultloc_process p = {.end = &end, .inited = true, .rank = 1};

    HYD_faultloc_arrivals_add(&a, &p, 1000);
    ck_assert(!a.group[0].inside && a.last_ms == -1);
    p.rank = 2;
    p.finalizing = 300;
    HYD_faultloc_arrivals_add(&a, &p, 1000);
    ck_assert_int_eq(a.come, 0);
    ck_assert_int_eq(a.groups, 2);
    ck_assert(a.group[1].inside && a.first_ms == 700 && a.last_ms == 700);
}

/* More states, and more ranges, than there is room for. */
TEST_CASE(there_is_a_bound)
{
    struct HYD_faultloc_arrivals a = new_arrivals(1);
    int ranks = 0;

    for (int i = 0; i < 200; i++) {
        struct HYD_faultloc_end end = {.status = i % 20 << 8};
        struct HYD_faultloc_process p = {.rank = 3 * i, .end = &end};
        HYD_faultloc_arrivals_add(&a, &p, 0);
    }
    ck_assert_int_eq(a.groups, HYD_FAULTLOC_GROUPS);
    ck_assert_str_eq(a.group[HYD_FAULTLOC_GROUPS - 2].state,
                     "MPI_Init not called; ended, exit code 6");
    ck_assert_str_eq(a.group[HYD_FAULTLOC_GROUPS - 1].state, "in other states");
    for (int i = 0; i < a.groups; i++)
        ranks += a.group[i].ranks.count;
    ck_assert_int_eq(ranks, 200);
    ck_assert_int_eq(a.group[HYD_FAULTLOC_GROUPS - 1].ranks.ranges, FAULTLOC_LAUNCHER_RANGES);
    ck_assert(HYD_faultloc_is_arrivals(&a, 600));
}

TEST_CASE(what_keeps_mpiexec_waiting)
{
    struct HYD_faultloc_arrivals a = new_arrivals(2);
    struct HYD_faultloc_process p = {.rank = 0, .pid = getpid()};

    a.last_ms = 59999;
    HYD_faultloc_arrivals_add_left(&a, &p, ""); /* it runs */
    ck_assert_int_eq(a.groups, 0);
    HYD_faultloc_arrivals_add_left(&a, &p, "process 4711 (sleep)");
    ck_assert_int_eq(a.groups, 1);
    ck_assert_str_eq(a.group[0].state,
                     "ended, but its output is held open by process 4711 (sleep)");
    ck_assert_int_eq(a.group[0].pid, getpid());
    p = (struct HYD_faultloc_process){.rank = 1, .pid = 1};
    HYD_faultloc_arrivals_add_left(&a, &p, "");
    ck_assert_int_eq(a.groups, 2);
    ck_assert(strstr(a.group[1].state, "has not ended since MPI_Finalize; ") == a.group[1].state);
    p = (struct HYD_faultloc_process){.rank = 2, .pid = getpid(), .finalizing = 1};
    HYD_faultloc_arrivals_add_left(&a, &p, "");
    ck_assert(strstr(a.group[2].state, "still in MPI_Finalize; ") == a.group[2].state);
    p.finalizing = 0;
    a.last_ms = 60000;
    HYD_faultloc_arrivals_add_left(&a, &p, "");
    ck_assert_int_eq(a.groups, 4);
}

TEST_CASE(what_is_refused)
{
    struct HYD_faultloc_arrivals good = new_arrivals(1), a;

    good.groups = 2;
    good.come = 2;
    faultloc_launcher_add_rank(&good.group[1].ranks, 9);
    ck_assert(HYD_faultloc_is_arrivals(&good, 10));
    ck_assert(!HYD_faultloc_is_arrivals(&good, 9));
    a = good, a.groups = -1;
    ck_assert(!HYD_faultloc_is_arrivals(&a, 10));
    a = good, a.groups = HYD_FAULTLOC_GROUPS + 1;
    ck_assert(!HYD_faultloc_is_arrivals(&a, 10));
    a = good, a.come = 11;
    ck_assert(!HYD_faultloc_is_arrivals(&a, 10));
    a = good;
    memset(a.group[1].state, 'x', sizeof(a.group[1].state));
    ck_assert(!HYD_faultloc_is_arrivals(&a, 10));
}
