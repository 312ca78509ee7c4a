/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A rank is lost while others do something that needs it; under MPI_ERRORS_RETURN each of them must
 * get an error of the class MPIX_ERR_PROC_FAILED, and nothing toward the lost rank may report
 * success from then on, while the others still talk to each other.
 *
 * lost_peer --list
 * lost_peer --case NAME [--rank R] [--how exit|kill|wait] [--limit SECONDS]
 *
 * Rank R (the last) ends itself by _exit or SIGKILL once all are ready, or waits to be ended. What
 * is pending begins before, what is new after the first error. The other ranks print a line "rank N
 * CASE: control back after MS ms", at the end "rank N CASE: ok", or what was wrong. */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIG (4 << 20)

static int rank, size, lost;
static int small;
static char *big;
static const char *what;
static double limit;

static int class_of(int rc)
{
    int class = MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    return class;
}

static void wrong(const char *step, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "success";
    int len;

    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &len);
    printf("rank %d %s: wrong at %s: class %d, %s\n", rank, what, step, class_of(rc), text);
    fflush(stdout);
    _exit(1);
}

static void must_fail(const char *step, int rc)
{
    if (class_of(rc) != MPIX_ERR_PROC_FAILED)
        wrong(step, rc);
}

static void must_pend(const char *step, int rc)
{
    if (class_of(rc) != MPIX_ERR_PROC_FAILED_PENDING)
        wrong(step, rc);
}

static void must_succeed(const char *step, int rc)
{
    if (rc != MPI_SUCCESS)
        wrong(step, rc);
}

static void end_of_time(int sig)
{
    char line[128];
    int n = snprintf(line, sizeof(line), "rank %d %s: hangs\n", rank, what);

    (void) sig;
    if (write(1, line, (size_t) n) < 0)
        _exit(2);
    _exit(1);
}

/* ---- what is pending when the rank is lost ---------------------------------------------------- */

static MPI_Request request;

static void begin_irecv(void)
{
    MPI_Irecv(&small, 1, MPI_INT, lost, 1, MPI_COMM_WORLD, &request);
}

static void begin_isend(void)
{
    MPI_Isend(big, BIG, MPI_CHAR, lost, 1, MPI_COMM_WORLD, &request);
}

static void begin_issend(void)
{
    MPI_Issend(&small, 1, MPI_INT, lost, 1, MPI_COMM_WORLD, &request);
}

static void begin_persistent(void)
{
    MPI_Recv_init(&small, 1, MPI_INT, lost, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
}

static void end_wait(void)
{
    must_fail("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void end_test(void)
{
    int flag = 0, rc = MPI_SUCCESS;

    while (!flag && rc == MPI_SUCCESS)
        rc = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    must_fail("MPI_Test", rc);
}

static void end_waitany(void)
{
    int i;

    must_fail("MPI_Waitany", MPI_Waitany(1, &request, &i, MPI_STATUS_IGNORE));
}

static void end_waitall(void)
{
    MPI_Status status;
    int rc = MPI_Waitall(1, &request, &status);

    if (class_of(rc) != MPI_ERR_IN_STATUS)
        wrong("MPI_Waitall", rc);
    must_fail("MPI_Waitall's status", status.MPI_ERROR);
}

static void do_recv(void)
{
    must_fail("MPI_Recv", MPI_Recv(&small, 1, MPI_INT, lost, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void do_send(void)
{
    int rc = MPI_SUCCESS;

    /* what leaves before the verdict may be a success */
    while (rc == MPI_SUCCESS) {
        rc = MPI_Send(&small, 1, MPI_INT, lost, 1, MPI_COMM_WORLD);
        usleep(1000);
    }
    must_fail("MPI_Send", rc);
}

static void do_big_send(void)
{
    must_fail("MPI_Send", MPI_Send(big, BIG, MPI_CHAR, lost, 1, MPI_COMM_WORLD));
}

static void do_ssend(void)
{
    must_fail("MPI_Ssend", MPI_Ssend(&small, 1, MPI_INT, lost, 1, MPI_COMM_WORLD));
}

static void do_sendrecv(void)
{
    int in;

    must_fail("MPI_Sendrecv", MPI_Sendrecv(&small, 1, MPI_INT, lost, 1, &in, 1, MPI_INT, lost, 1,
                                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void do_any(void)
{
    must_fail("MPI_Recv of any source", MPI_Recv(&small, 1, MPI_INT, MPI_ANY_SOURCE, 1,
                                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void do_iany(void)
{
    MPI_Irecv(&small, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    must_pend("MPI_Wait of any source", MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (request == MPI_REQUEST_NULL)
        wrong("the request, which is gone", MPI_SUCCESS);
    if (MPI_Waitall(1, &request, MPI_STATUSES_IGNORE) == MPI_SUCCESS || request == MPI_REQUEST_NULL)
        wrong("the request of MPI_Waitall, which succeeds or is gone", MPI_SUCCESS);
    MPI_Cancel(&request);
    must_succeed("MPI_Wait of what was cancelled", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void do_any_sendrecv(void)
{
    int in;

    must_fail("MPI_Sendrecv of any source",
              MPI_Sendrecv(&small, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, 1,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void do_probe(void)
{
    must_fail("MPI_Probe", MPI_Probe(lost, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void do_mprobe(void)
{
    MPI_Message message;

    must_fail("MPI_Mprobe", MPI_Mprobe(lost, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
}

static void do_any_probe(void)
{
    must_fail("MPI_Probe of any source",
              MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* In a collective operation some ranks may be through before the loss, or need the lost one not. */
static void do_collective(int (*call)(void))
{
    int rc = MPI_SUCCESS;

    for (double begin = tu_now(); rc == MPI_SUCCESS && tu_now() - begin < limit;)
        rc = call();
    must_fail("the collective", rc);
}

/* All call it as often, whether it fails or not, and each comes out of it: where the lost one is needed by
 * some alone, others may succeed. They know of the loss at the end. */
static void do_always(int (*call)(void))
{
    MPI_Group failed;
    int n = 0;

    for (int i = 0; i < 40; i++) {
        int rc = call();
        if (rc != MPI_SUCCESS)
            must_fail("the collective", rc);
        usleep(50000);
    }
    while (n == 0) {
        MPIX_Comm_failure_ack(MPI_COMM_WORLD);
        must_succeed("what is acknowledged", MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed));
        MPI_Group_size(failed, &n);
        MPI_Group_free(&failed);
    }
}

static int call_barrier(void)
{
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int call_allreduce(void)
{
    int out;

    return MPI_Allreduce(&small, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int call_alltoall(void)
{
    static int in[1024], out[1024];

    return MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
}

static int call_bcast(void)
{
    return MPI_Bcast(&small, 1, MPI_INT, lost, MPI_COMM_WORLD);
}

static int call_reduce(void)
{
    int out;

    return MPI_Reduce(&small, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static int call_scan(void)
{
    int out;

    return MPI_Scan(&small, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int call_gather(void)
{
    static int in[1024];

    return MPI_Gather(&small, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* From another than the lost one, which has others below it in the tree. */
static int call_bcast_below(void)
{
    return MPI_Bcast(&small, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static int call_ibarrier(void)
{
    MPI_Request r;
    int rc = MPI_Ibarrier(MPI_COMM_WORLD, &r);

    return rc ? rc : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void do_barrier(void)
{
    do_collective(call_barrier);
}

static void do_allreduce(void)
{
    do_collective(call_allreduce);
}

static void do_alltoall(void)
{
    do_collective(call_alltoall);
}

static void do_bcast(void)
{
    do_collective(call_bcast);
}

static void do_bcast_below(void)
{
    do_always(call_bcast_below);
}

static void do_reduce(void)
{
    do_always(call_reduce);
}

static void do_scan(void)
{
    do_always(call_scan);
}

static void do_gather(void)
{
    do_always(call_gather);
}

static void do_ibarrier(void)
{
    do_collective(call_ibarrier);
}

/* ---- one-sided --------------------------------------------------------------------------------- */

static MPI_Win window = MPI_WIN_NULL;

static void lock_all(void)
{
    MPI_Win_lock_all(0, window);
}

/* What is complete before the verdict may be a success. */
static void do_epoch(int (*call)(void))
{
    int rc = MPI_SUCCESS;

    for (double begin = tu_now(); rc == MPI_SUCCESS && tu_now() - begin < limit;) {
        rc = call();
        rc = rc ? rc : MPI_Win_flush(lost, window);
    }
    must_fail("the one-sided operation", rc);
}

static int call_put(void)
{
    return MPI_Put(&small, 1, MPI_INT, lost, 0, 1, MPI_INT, window);
}

static int call_get(void)
{
    return MPI_Get(&small, 1, MPI_INT, lost, 0, 1, MPI_INT, window);
}

static int call_accumulate(void)
{
    return MPI_Accumulate(&small, 1, MPI_INT, lost, 0, 1, MPI_INT, MPI_SUM, window);
}

static int call_fetch(void)
{
    static int out;

    return MPI_Fetch_and_op(&small, &out, MPI_INT, lost, 0, MPI_SUM, window);
}

static void do_put(void)
{
    do_epoch(call_put);
}

static void do_get(void)
{
    do_epoch(call_get);
}

static void do_accumulate(void)
{
    do_epoch(call_accumulate);
}

static void do_fetch(void)
{
    do_epoch(call_fetch);
}

static int begin_rput(MPI_Request *r)
{
    return MPI_Rput(big, BIG / (int) sizeof(int), MPI_INT, lost, 0, BIG / (int) sizeof(int), MPI_INT,
                    window, r);
}

static int begin_rget(MPI_Request *r)
{
    return MPI_Rget(big, BIG / (int) sizeof(int), MPI_INT, lost, 0, BIG / (int) sizeof(int), MPI_INT,
                    window, r);
}

static int begin_raccumulate(MPI_Request *r)
{
    return MPI_Raccumulate(&small, 1, MPI_INT, lost, 0, 1, MPI_INT, MPI_SUM, window, r);
}

static int begin_rfetch(MPI_Request *r)
{
    static int out;

    return MPI_Rget_accumulate(&small, 1, MPI_INT, &out, 1, MPI_INT, lost, 0, 1, MPI_INT, MPI_SUM,
                               window, r);
}

/* Its request is waited for, without a flush. */
static void do_requested(int (*begin_it)(MPI_Request *r))
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = MPI_SUCCESS;

    for (double begin = tu_now(); rc == MPI_SUCCESS && tu_now() - begin < limit;) {
        rc = begin_it(&r);
        rc = rc ? rc : MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    must_fail("the one-sided operation with a request", rc);
}

static void do_rput(void)
{
    do_requested(begin_rput);
}

static void do_rget(void)
{
    do_requested(begin_rget);
}

static void do_raccumulate(void)
{
    do_requested(begin_raccumulate);
}

static void do_rfetch(void)
{
    do_requested(begin_rfetch);
}

static void do_lock(void)
{
    int rc = MPI_SUCCESS;

    for (double begin = tu_now(); rc == MPI_SUCCESS && tu_now() - begin < limit;) {
        rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, lost, 0, window);
        rc = rc ? rc : MPI_Win_unlock(lost, window);
    }
    must_fail("MPI_Win_lock or MPI_Win_unlock", rc);
}

static int call_fence(void)
{
    return MPI_Win_fence(0, window);
}

static void do_fence(void)
{
    do_collective(call_fence);
}

static void make_window(void)
{
    MPI_Win_create(big, BIG, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
}

static const struct {
    const char *name;
    void (*begin)(void); /* before the loss; NULL: nothing */
    void (*end)(void);
} cases[] = {
    {"recv", NULL, do_recv},
    {"send", NULL, do_send},
    {"big-send", NULL, do_big_send},
    {"ssend", NULL, do_ssend},
    {"sendrecv", NULL, do_sendrecv},
    {"irecv-wait", begin_irecv, end_wait},
    {"irecv-test", begin_irecv, end_test},
    {"irecv-waitany", begin_irecv, end_waitany},
    {"irecv-waitall", begin_irecv, end_waitall},
    {"isend-wait", begin_isend, end_wait},
    {"isend-test", begin_isend, end_test},
    {"issend-wait", begin_issend, end_wait},
    {"persistent", begin_persistent, end_wait},
    {"any", NULL, do_any},
    {"iany", NULL, do_iany},
    {"any-sendrecv", NULL, do_any_sendrecv},
    {"probe", NULL, do_probe},
    {"mprobe", NULL, do_mprobe},
    {"any-probe", NULL, do_any_probe},
    {"barrier", NULL, do_barrier},
    {"allreduce", NULL, do_allreduce},
    {"alltoall", NULL, do_alltoall},
    {"bcast", NULL, do_bcast},
    {"bcast-below", NULL, do_bcast_below},
    {"reduce", NULL, do_reduce},
    {"gather", NULL, do_gather},
    {"scan", NULL, do_scan},
    {"ibarrier", NULL, do_ibarrier},
    {"rma-put", lock_all, do_put},
    {"rma-get", lock_all, do_get},
    {"rma-accumulate", lock_all, do_accumulate},
    {"rma-fetch", lock_all, do_fetch},
    {"rma-rput", lock_all, do_rput},
    {"rma-rget", lock_all, do_rget},
    {"rma-raccumulate", lock_all, do_raccumulate},
    {"rma-rfetch", lock_all, do_rfetch},
    {"rma-lock", NULL, do_lock},
    {"rma-fence", NULL, do_fence},
};

/* ---- afterwards -------------------------------------------------------------------------------- */

static void nothing_succeeds(void)
{
    MPI_Request r[3];
    int flag;

    must_fail("a new MPI_Send", MPI_Send(&small, 1, MPI_INT, lost, 2, MPI_COMM_WORLD));
    must_fail("a new MPI_Ssend", MPI_Ssend(&small, 1, MPI_INT, lost, 2, MPI_COMM_WORLD));
    must_fail("a new MPI_Recv",
              MPI_Recv(&small, 1, MPI_INT, lost, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    must_fail("a new MPI_Iprobe", MPI_Iprobe(lost, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    MPI_Isend(&small, 1, MPI_INT, lost, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&small, 1, MPI_INT, lost, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(big, BIG, MPI_CHAR, lost, 2, MPI_COMM_WORLD, &r[2]);
    for (int i = 0; i < 3; i++)
        must_fail("a new request", MPI_Wait(&r[i], MPI_STATUS_IGNORE));
}

/* Each other pair exchanges a message, small and big, and the lower rank receives first. */
static void others_go_on(void)
{
    for (int peer = 0; peer < size; peer++) {
        int in = -1, out = 100 * rank + peer;
        if (peer == rank || peer == lost)
            continue;
        must_succeed("MPI_Sendrecv with another",
                     MPI_Sendrecv(&out, 1, MPI_INT, peer, 3, &in, 1, MPI_INT, peer, 3,
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (in != 100 * peer + rank)
            wrong("the message of another", MPI_SUCCESS);
        if (rank < peer)
            must_succeed("MPI_Recv of another", MPI_Recv(big, BIG, MPI_CHAR, peer, 4, MPI_COMM_WORLD,
                                                         MPI_STATUS_IGNORE));
        else
            must_succeed("MPI_Send to another",
                         MPI_Send(big, BIG, MPI_CHAR, peer, 4, MPI_COMM_WORLD));
    }
}

/* In a window of those that are left all puts into the memory of the next. */
static void others_put(MPI_Comm comm)
{
    int me, n, in = -1;
    MPI_Win win;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    must_succeed("MPI_Win_create of those that are left",
                 MPI_Win_create(&in, sizeof(in), sizeof(in), MPI_INFO_NULL, comm, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    must_succeed("MPI_Win_fence of those that are left", MPI_Win_fence(0, win));
    must_succeed("MPI_Put of those that are left",
                 MPI_Put(&me, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win));
    must_succeed("MPI_Win_fence after a put", MPI_Win_fence(0, win));
    if (in != (me + n - 1) % n)
        wrong("what another has put", MPI_SUCCESS);
    MPI_Win_free(&win);
}

/* Who is left makes a communicator without the lost one, in which all is well. */
static void others_meet(void)
{
    MPI_Group all, left;
    MPI_Comm comm;
    int one = 1, sum = 0;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &lost, &left);
    must_succeed("MPI_Comm_create_group", MPI_Comm_create_group(MPI_COMM_WORLD, left, 5, &comm));
    for (int i = 0; i < 10; i++)
        must_succeed("MPI_Allreduce of those that are left",
                     MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    if (sum != size - 1)
        wrong("the sum of those that are left", MPI_SUCCESS);
    others_put(comm);
    MPI_Group_free(&left);
    MPI_Group_free(&all);
    MPI_Comm_free(&comm);
}

/* Everybody has connected to everybody, so that the loss of one can be seen by all. */
static void connect_all(void)
{
    int *in = calloc((size_t) size, sizeof(int)), *out = calloc((size_t) size, sizeof(int));

    if (!in || !out)
        tu_fail("lost_peer", "out of memory");
    for (int i = 0; i < 3; i++)
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    free(in);
    free(out);
}

static void be_lost(const char *how)
{
    if (!strcmp(how, "wait"))
        for (;;)
            pause();
    usleep(200000);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    _exit(3);
}

int main(int argc, char **argv)
{
    size_t c = 0;
    double begin;

    if (argc > 1 && !strcmp(argv[1], "--list")) {
        for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
            puts(cases[c].name);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    what = tu_string(argc, argv, "--case", "recv");
    lost = (int) tu_number(argc, argv, "--rank", size - 1);
    limit = tu_number(argc, argv, "--limit", 20);
    while (c < sizeof(cases) / sizeof(cases[0]) && strcmp(cases[c].name, what))
        c++;
    if (c == sizeof(cases) / sizeof(cases[0]) || lost < 0 || lost >= size)
        tu_fail("lost_peer", "no such case, or no such rank");
    big = calloc(1, BIG);
    if (!big)
        tu_fail("lost_peer", "out of memory");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    connect_all();
    if (!strncmp(what, "rma", 3))
        make_window();
    if (rank != lost && cases[c].begin)
        cases[c].begin();
    if (window != MPI_WIN_NULL)
        MPI_Barrier(MPI_COMM_WORLD); /* the lost rank grants the locks */
    tu_looping(rank);
    if (rank == lost)
        be_lost(tu_string(argc, argv, "--how", "exit"));
    signal(SIGALRM, end_of_time);
    alarm((unsigned) limit);
    begin = tu_now();
    cases[c].end();
    printf("rank %d %s: control back after %.0f ms\n", rank, what, 1000 * (tu_now() - begin));
    fflush(stdout);
    nothing_succeeds();
    others_go_on();
    others_meet();
    if (window == MPI_WIN_NULL) /* to free it needs all of its members */
        MPI_Finalize();
    printf("rank %d %s: ok\n", rank, what);
    fflush(stdout);
    if (window != MPI_WIN_NULL)
        _exit(0);
    return 0;
}
