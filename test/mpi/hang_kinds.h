/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef HANG_KINDS_H_INCLUDED
#define HANG_KINDS_H_INCLUDED

#include "patterns.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of hang.c. Ranks are named by their place in a drawn order: A, B, C, D are of(0) to
 * of(3). A kind is judged by its table below. */

/* Stacks are looked at (test/cluster/waits_campaign.sh): a call at the end of a function is not to
 * take its place. */
#pragma GCC optimize("no-optimize-sibling-calls")

#define MOST_RANKS 1024
#define MOST_THREADS 16
#define EVERYBODY MOST_RANKS
#define BIG_BYTES (8 << 20) /* no transport takes that before there is a receive for it */

struct kind {
    const char *name;
    const char *class_; /* of the right verdict; NULL: none is right */
    int core, takes; /* its component and those that take part: so many ranks, from A on */
    int threads; /* 0: not for threads; else for so many or more */
    double late;
    void (*prepare)(void); /* by all ranks, before all else */
    void (*run)(int place);
};

static struct {
    const struct kind *kind;
    int order[MOST_RANKS];
    unsigned seed;
    double apart_ms, late, poll_ms, work_us;
    int threads;
    atomic_int blocked;
    MPI_Comm x, y, group, inter, own[MOST_THREADS];
    MPI_Win win;
} hang = {.win = MPI_WIN_NULL};

static _Thread_local int thread;

static int of(int place)
{
    return hang.order[place];
}

static int place_of(int rank)
{
    int place = 0;

    while (hang.order[place] != rank)
        place++;
    return place;
}

static int my_place(void)
{
    return place_of(me.rank);
}

static int in_all(int ranks)
{
    return ranks < me.size ? ranks : me.size;
}

/* To be called right before a call that blocks; the last of the rank's threads says it. */
static void blocks(const char *call)
{
    if (atomic_fetch_add(&hang.blocked, 1) + 1 >= hang.threads)
        tu_blocks(call, me.rank);
}

/* Tags of threads are their own, and so are the communicators of their collectives. */
static int tag(int n)
{
    return 7 + 10 * thread + n;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The rank of a place in a communicator; of an intercommunicator, in its other group. */
static int rank_in(MPI_Comm comm, int place)
{
    MPI_Group world, group;
    int inter, rank, at = of(place);

    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (inter)
        MPI_Comm_remote_group(comm, &group);
    else
        MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(world, 1, &at, group, &rank);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    return rank;
}

static void recv_from(int place, int t, MPI_Comm comm)
{
    int x, from = rank_in(comm, place);

    blocks("MPI_Recv");
    MPI_Recv(&x, 1, MPI_INT, from, t, comm, MPI_STATUS_IGNORE);
}

/* A receive that is expected to end. */
static void take_from(int place, int t, MPI_Comm comm)
{
    MPI_Recv(&(int){0}, 1, MPI_INT, rank_in(comm, place), t, comm, MPI_STATUS_IGNORE);
}

static void send_to(int place, int t, MPI_Comm comm)
{
    MPI_Send(&(int){0}, 1, MPI_INT, rank_in(comm, place), t, comm);
}

static void isend_to(int place, int t, MPI_Comm comm, MPI_Request *r)
{
    static int zero;

    MPI_Isend(&zero, 1, MPI_INT, rank_in(comm, place), t, comm, r);
}

static void irecv_from(int place, int t, MPI_Comm comm, int *x, MPI_Request *r)
{
    MPI_Irecv(x, 1, MPI_INT, rank_in(comm, place), t, comm, r);
}

static void barrier_of(MPI_Comm comm)
{
    blocks("MPI_Barrier");
    MPI_Barrier(comm);
}

/* The world, or of many threads the thread's own one. */
static MPI_Comm all(void)
{
    return hang.threads > 1 ? hang.own[thread] : MPI_COMM_WORLD;
}

static void barrier(void)
{
    barrier_of(all());
}

/* ---- communicators --------------------------------------------------------------------------- */

static void make_own(void)
{
    for (int i = 0; hang.threads > 1 && i < hang.threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &hang.own[i]);
}

/* X has the world's ranks, Y has them in reverse. */
static void make_two_comms(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &hang.x);
    MPI_Comm_set_name(hang.x, "X");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me.rank, &hang.y);
    MPI_Comm_set_name(hang.y, "Y");
}

static void make_group(void)
{
    int in = my_place() < hang.kind->takes;

    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, my_place(), &hang.group);
    if (in)
        MPI_Comm_set_name(hang.group, "the group");
}

static void make_inter(void)
{
    int side = my_place() % 2;

    MPI_Comm_split(MPI_COMM_WORLD, side, my_place(), &hang.x);
    MPI_Intercomm_create(hang.x, 0, MPI_COMM_WORLD, of(!side), 1, &hang.inter);
}

/* A ring of the places. */
static void make_ring(void)
{
    int near[2] = {of((my_place() + 1) % me.size), of((my_place() + me.size - 1) % me.size)};

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, near, MPI_UNWEIGHTED, 2, near, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &hang.x);
}

static void make_halves(void)
{
    MPI_Comm_split(MPI_COMM_WORLD, my_place() % 2, my_place(), &hang.x);
}

static void make_win(void)
{
    static int memory[16];

    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &hang.win);
}

/* ---- deadlocks ------------------------------------------------------------------------------- */

static void recv_recv(int i)
{
    recv_from(!i, tag(0), MPI_COMM_WORLD);
}

static void old_message(int i)
{
    if (i == 0)
        send_to(1, tag(1), MPI_COMM_WORLD);
    for (int n = 0; n < 40; n++) {
        if (i == 0)
            send_to(1, tag(2), MPI_COMM_WORLD);
        take_from(!i, tag(2), MPI_COMM_WORLD);
        if (i == 1)
            send_to(0, tag(2), MPI_COMM_WORLD);
    }
    recv_from(!i, tag(0), MPI_COMM_WORLD);
}

static void ssend_ssend(int i)
{
    int x = 0;

    blocks("MPI_Ssend");
    MPI_Ssend(&x, 1, MPI_INT, of(!i), tag(0), MPI_COMM_WORLD);
}

static void big_send_send(int i)
{
    char *data = calloc(1, BIG_BYTES);

    blocks("MPI_Send");
    MPI_Send(data, BIG_BYTES, MPI_CHAR, of(!i), tag(0), MPI_COMM_WORLD);
    free(data);
}

static void ring5(int i)
{
    recv_from((i + 1) % in_all(5), tag(0), MPI_COMM_WORLD);
}

static void two_comms(int i)
{
    recv_from((i + 1) % 3, tag(0), i == 1 ? hang.y : hang.x);
}

/* A and B have one request that does not come true, and others that do: a send, a receive of the
 * other's, and of C's. */
static void waitall(int i)
{
    MPI_Request r[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status[4];
    int x[3];

    if (i == 2) {
        send_to(0, tag(1), MPI_COMM_WORLD);
        return;
    }
    irecv_from(!i, tag(0), MPI_COMM_WORLD, &x[0], &r[0]);
    irecv_from(!i, tag(2), MPI_COMM_WORLD, &x[1], &r[1]);
    isend_to(!i, tag(2), MPI_COMM_WORLD, &r[2]);
    if (i == 0)
        irecv_from(2, tag(1), MPI_COMM_WORLD, &x[2], &r[3]);
    blocks("MPI_Waitall");
    MPI_Waitall(4, r, status);
}

static void test_loop(int i)
{
    MPI_Request r;
    double end = MPI_Wtime() + 3600;
    int x, done = 0;

    irecv_from(!i, tag(0), MPI_COMM_WORLD, &x, &r);
    blocks("MPI_Test");
    while (!done && MPI_Wtime() < end)
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void rest_loop(int i)
{
    MPI_Request r;
    int x, done = 0;

    irecv_from(!i, tag(0), MPI_COMM_WORLD, &x, &r);
    blocks("MPI_Test");
    while (!done) {
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        rest_ms(hang.poll_ms);
    }
}

static void iprobe_loop(int i)
{
    int there = 0;

    blocks("MPI_Iprobe");
    while (!there)
        MPI_Iprobe(of(!i), tag(0), MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

/* Each asks for two things in turn, and would go on with either. */
static void poll_both(int i)
{
    MPI_Request r;
    int x, done = 0, there = 0;

    irecv_from(!i, tag(0), MPI_COMM_WORLD, &x, &r);
    blocks("MPI_Iprobe");
    while (!done && !there) {
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        MPI_Iprobe(MPI_ANY_SOURCE, tag(1), hang.group, &there, MPI_STATUS_IGNORE);
    }
}

static void recv_any(MPI_Comm comm)
{
    int x;

    blocks("MPI_Recv");
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, tag(0), comm, MPI_STATUS_IGNORE);
}

/* B waits for either A or C; the other receive is left. */
static void wait_any(void)
{
    static int x[2];
    MPI_Request r[2];
    int which;

    irecv_from(0, tag(0), hang.group, &x[0], &r[0]);
    irecv_from(2, tag(0), hang.group, &x[1], &r[1]);
    blocks("MPI_Waitany");
    MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
    MPI_Cancel(&r[!which]);
    MPI_Wait(&r[!which], MPI_STATUS_IGNORE);
}

static void or_knot(int i)
{
    if (i == 1)
        wait_any();
    else
        recv_any(hang.group);
}

/* D -> A -> B -> C. */
static void or_no_knot(int i)
{
    if (i < 3)
        or_knot(i);
    else
        tu_compute(hang.late);
    if (i != 2)
        send_to((i + 1) % 4, tag(0), hang.group);
}

static void wrong_tag(int i)
{
    if (i == 1)
        send_to(0, tag(2), MPI_COMM_WORLD);
    recv_from(!i, tag(i), MPI_COMM_WORLD);
}

static void wrong_comm(int i)
{
    if (i == 1)
        send_to(0, tag(0), hang.y);
    recv_from(!i, tag(i), hang.x);
}

static void missing_send(int i)
{
    if (i == 0)
        recv_from(1, tag(0), MPI_COMM_WORLD);
    barrier();
}

/* A waits for B before the operation, and the others in it. */
static void missing(int i, const char *call, void (*operation)(void))
{
    if (i == 0)
        recv_from(1, tag(0), MPI_COMM_WORLD);
    blocks(call);
    operation();
}

static void fence(void)
{
    MPI_Win_fence(0, hang.win);
}

static void missing_fence(int i)
{
    fence();
    missing(i, "MPI_Win_fence", fence);
}

static void split_type(void)
{
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &hang.x);
}

static void missing_split(int i)
{
    missing(i, "MPI_Comm_split_type", split_type);
}

#ifdef MPI_MODE_RDWR
static MPI_File file;

/* A file that nobody finds any more: the job ends by a signal. */
static void make_file(void)
{
    char name[32] = "";
    int code;

    snprintf(name, sizeof(name), "/tmp/hang-%d", (int) getpid());
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me.rank == 0)
        unlink(name);
    if (code != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_all(void)
{
    MPI_File_write_all(file, &me.rank, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void missing_write(int i)
{
    missing(i, "MPI_File_write_all", write_all);
}
#endif

static void intercomm_create(void)
{
    MPI_Intercomm_create(hang.x, 0, MPI_COMM_WORLD, of(my_place() % 2 == 0), 1, &hang.inter);
}

static void missing_inter(int i)
{
    missing(i, "MPI_Intercomm_create", intercomm_create);
}

static void comm_idup(void)
{
    MPI_Request r;

    MPI_Comm_idup(MPI_COMM_WORLD, &hang.x, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void missing_idup(int i)
{
    missing(i, "MPI_Wait", comm_idup);
}

static void neighbours(void)
{
    int out[2] = {0}, in[2];

    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, hang.x);
}

static void missing_near(int i)
{
    missing(i, "MPI_Neighbor_alltoall", neighbours);
}

/* Each has something for all others. */
static void ialltoallv(void)
{
    int n = me.size, counts[n], at[n], out[n], in[n];
    MPI_Request r;

    for (int i = 0; i < n; i++) {
        counts[i] = 1;
        at[i] = out[i] = i;
    }
    MPI_Ialltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void missing_iv(int i)
{
    missing(i, "MPI_Wait", ialltoallv);
}

static void scatterv(void)
{
    int n = me.size, counts[n], at[n], out[n], in;

    for (int i = 0; i < n; i++) {
        counts[i] = 1;
        at[i] = out[i] = i;
    }
    MPI_Scatterv(out, counts, at, MPI_INT, &in, 1, MPI_INT, of(0), MPI_COMM_WORLD);
}

static void missing_scatterv(int i)
{
    missing(i, "MPI_Scatterv", scatterv);
}

static void early_finalize(int i)
{
    if (i > 0)
        recv_from(i > 1, tag(0), MPI_COMM_WORLD);
    blocks("MPI_Finalize");
    MPI_Finalize();
    exit(0);
}

/* The holder has forgotten it, and the target is of no interest. */
static void lock_left(int i)
{
    if (i == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(2), 0, hang.win);
    MPI_Barrier(MPI_COMM_WORLD);
    blocks(i == 1 ? "MPI_Win_lock" : "MPI_Finalize");
    if (i == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(2), 0, hang.win);
    MPI_Finalize();
    exit(0);
}

static void intercomm(int i)
{
    recv_from(!i, tag(0), hang.inter);
}

static void hold_lock(void)
{
    send_to(1, tag(1), MPI_COMM_WORLD);
    recv_from(1, tag(0), MPI_COMM_WORLD);
}

/* B had the lock before. */
static void rma_lock(int i)
{
    if (i == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(2), 0, hang.win);
        MPI_Win_unlock(of(2), hang.win);
        send_to(0, tag(2), MPI_COMM_WORLD);
        take_from(0, tag(1), MPI_COMM_WORLD);
        blocks("MPI_Win_lock");
    } else {
        take_from(1, tag(2), MPI_COMM_WORLD);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(2), 0, hang.win);
    hold_lock();
}

static void rma_shared(int i)
{
    if (i == 1) {
        take_from(0, tag(1), MPI_COMM_WORLD);
        blocks("MPI_Win_lock");
    }
    MPI_Win_lock(i == 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, of(2), 0, hang.win);
    hold_lock();
}

static void rma_lock_all(int i)
{
    if (i == 0) {
        MPI_Win_lock_all(0, hang.win);
    } else {
        take_from(0, tag(1), MPI_COMM_WORLD);
        blocks("MPI_Win_lock");
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(2), 0, hang.win);
    }
    hold_lock();
}

static void rma_all_wanted(int i)
{
    if (i == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(2), 0, hang.win);
    } else {
        take_from(0, tag(1), MPI_COMM_WORLD);
        blocks("MPI_Win_lock_all");
        MPI_Win_lock_all(0, hang.win);
    }
    hold_lock();
}

static void rma_crosswise(int i)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(2 + i), 0, hang.win);
    send_to(!i, tag(1), MPI_COMM_WORLD);
    take_from(!i, tag(1), MPI_COMM_WORLD);
    blocks("MPI_Win_lock");
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, of(3 - i), 0, hang.win);
}

/* B's epoch is exposed to A, who waits for B. */
static void win_test(int i)
{
    MPI_Group world, group;
    int to = of(0), done = 0;

    if (i == 0) {
        recv_from(1, tag(0), MPI_COMM_WORLD);
        return;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &to, &group);
    MPI_Win_post(group, 0, hang.win);
    blocks("MPI_Win_test");
    while (!done)
        MPI_Win_test(hang.win, &done);
}

static void pscw(int i)
{
    MPI_Group world, group;
    int to = of(1);

    if (i == 1) {
        recv_from(0, tag(0), MPI_COMM_WORLD);
        return;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &to, &group);
    blocks("MPI_Win_start");
    MPI_Win_start(group, 0, hang.win);
    MPI_Win_complete(hang.win);
}

static void pscw_one(int i)
{
    MPI_Group world, group;
    int origins[2] = {of(1), of(2)}, target = of(0);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (i == 0) {
        MPI_Group_incl(world, 2, origins, &group);
        MPI_Win_post(group, 0, hang.win);
        blocks("MPI_Win_wait");
        MPI_Win_wait(hang.win);
        return;
    }
    if (i == 1) {
        MPI_Group_incl(world, 1, &target, &group);
        MPI_Win_start(group, 0, hang.win);
        MPI_Win_complete(hang.win);
    }
    recv_from(0, tag(0), MPI_COMM_WORLD);
}

/* ---- partitioned ----------------------------------------------------------------------------- */

#define PARTS 4

static void wait_for_parts(MPI_Request *r)
{
    blocks("MPI_Wait");
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

static void part_recv(int i)
{
    int x[PARTS];
    MPI_Request r;

    if (i == 1) {
        recv_from(0, tag(0), MPI_COMM_WORLD);
        return;
    }
    MPI_Precv_init(x, PARTS, 1, MPI_INT, of(1), tag(1), MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    wait_for_parts(&r);
}

/* The first `ready` of them are made ready. */
static void send_parts(int to, int ready)
{
    int x[PARTS] = {0};
    MPI_Request r;

    MPI_Psend_init(x, PARTS, 1, MPI_INT, to, tag(1), MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Pready_range(0, ready - 1, r);
    wait_for_parts(&r);
}

static void part_send(int i)
{
    if (i == 1)
        recv_from(0, tag(0), MPI_COMM_WORLD);
    else
        send_parts(of(1), PARTS);
}

/* A partition is missing, and nobody else can make it ready. */
static void part_missing(int i)
{
    (void) i;
    send_parts((me.rank + 1) % me.size, PARTS - 1);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void bcast_roots(int i)
{
    int x = i;

    blocks("MPI_Bcast");
    MPI_Bcast(&x, 1, MPI_INT, of(i == 0), all());
}

/* The root sends to each of the others, needs nobody, and goes on. */
static void scatterv_barrier(int i)
{
    int x = 1, sum;

    if (i > 0) {
        barrier();
        return;
    }
    scatterv();
    blocks("MPI_Allreduce");
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_allreduce(int i)
{
    int x = 1, sum;

    if (i == 0) {
        blocks("MPI_Reduce");
        MPI_Reduce(&x, &sum, 1, MPI_INT, MPI_SUM, me.rank, all());
    } else {
        blocks("MPI_Allreduce");
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, all());
    }
}

static void skip_allreduce(int i)
{
    int x = 1, sum;

    for (int n = 1; n <= 5; n++) {
        if (n == 5 && i == 0)
            break;
        if (n == 5)
            blocks("MPI_Allreduce");
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, all());
    }
    barrier();
}

/* All others have called MPI_Finalize. */
static void extra_allreduce(int i)
{
    int x = 1, sum;

    blocks(i == 0 ? "MPI_Allreduce" : "MPI_Finalize");
    if (i == 0)
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    exit(0);
}

static void skip_first(int i)
{
    if (i > 0)
        barrier_of(hang.x);
    blocks("MPI_Finalize");
    MPI_Finalize();
    exit(0);
}

/* MPI_Win_free has a barrier, which ends by the fence of the others. */
static void freed_window(int i)
{
    fence();
    if (i > 0) {
        fence();
        blocks("MPI_Win_free");
    }
    MPI_Win_free(&hang.win);
    blocks("MPI_Finalize");
    MPI_Finalize();
    exit(0);
}

static void make_pair(int a, int b, MPI_Comm *pair)
{
    int ranks[] = {of(a), of(b)};
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, ranks, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag(0), pair);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
}

static void context_again(int i)
{
    int x = 0;

    if (i < 2) {
        make_pair(0, 1, &hang.x);
        MPI_Barrier(hang.x);
    }
    if (i == 0)
        MPI_Comm_free(&hang.x);
    if (i != 1) {
        make_pair(0, 2, &hang.y);
        MPI_Bcast(&x, 1, MPI_INT, 0, hang.y);
        if (i == 2)
            tu_compute(hang.late);
        MPI_Barrier(hang.y);
        MPI_Comm_free(&hang.y);
    }
    if (i == 0)
        send_to(1, tag(0), MPI_COMM_WORLD);
    if (i == 1) {
        recv_from(0, tag(0), MPI_COMM_WORLD);
        MPI_Comm_free(&hang.x);
    }
}

static void first_of_two(int i)
{
    barrier_of(i == 0 ? hang.x : hang.y);
}

/* MPICH returns at once from an MPI_Alltoall of nothing. */
static void counts(int i)
{
    int n = i == 0 ? 0 : 4, out[4 * me.size], in[4 * me.size];

    memset(out, 0, sizeof(out));
    if (i > 0)
        blocks("MPI_Alltoall");
    MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, all());
    if (i == 0)
        recv_from(1, tag(0), MPI_COMM_WORLD);
}

static void ibarrier_barrier(int i)
{
    MPI_Request r;

    if (i > 0) {
        barrier();
        return;
    }
    MPI_Ibarrier(all(), &r);
    blocks("MPI_Wait");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* ---- what looks like a hang ------------------------------------------------------------------ */

static void late_send(int i)
{
    if (i == 0) {
        recv_from(1, tag(0), MPI_COMM_WORLD);
        return;
    }
    rest_ms(hang.late * 1e3);
    send_to(0, tag(0), MPI_COMM_WORLD);
}

static void compute(int i)
{
    (void) i;
    tu_compute(hang.late);
}

/* A ring of big messages. */
static void slow_link(int i)
{
    char *data = calloc(2, BIG_BYTES / 4);

    blocks("MPI_Sendrecv");
    MPI_Sendrecv(data, BIG_BYTES / 4, MPI_CHAR, of((i + 1) % me.size), tag(0), data + BIG_BYTES / 4,
                 BIG_BYTES / 4, MPI_CHAR, of((i + me.size - 1) % me.size), tag(0), MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    free(data);
}

/* Both poll for the other's message, and send when their own work is done, a piece of which each
 * does after a poll. */
static void poll_and_work(int i, void (*piece)(MPI_Request *r, int *done))
{
    MPI_Request r;
    int x, done = 0, sent = 0;
    double end = tu_now() + hang.late * (i == 0 ? 1 : 1.5);

    irecv_from(!i, tag(0), MPI_COMM_WORLD, &x, &r);
    blocks("MPI_Test");
    while (!done || !sent) {
        if (!sent && tu_now() > end) {
            send_to(!i, tag(0), MPI_COMM_WORLD);
            sent = 1;
        }
        if (!done)
            MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        piece(&r, &done);
    }
}

static void sleep_a_piece(MPI_Request *r, int *done)
{
    (void) r;
    (void) done;
    tu_compute(hang.poll_ms * 2e-4);
    rest_ms(hang.poll_ms * 0.8);
}

static void sleep_poll(int i)
{
    poll_and_work(i, sleep_a_piece);
}

static void work_a_piece(MPI_Request *r, int *done)
{
    double next = tu_now() + hang.poll_ms * 1e-3;

    while (!*done && tu_now() < next)
        MPI_Test(r, done, MPI_STATUS_IGNORE);
    tu_compute(hang.work_us * 1e-6);
}

/* In so small pieces that their turns may look like those of a loop that only asks, or so seldom that
 * few turns have any. */
static void work_poll(int i)
{
    poll_and_work(i, work_a_piece);
}

/* A asks in turn for messages of B, which are many, and of C; B needs A, and C is at work. */
static void poll_turns(int i)
{
    enum { MOST = 5 };
    MPI_Request r[MOST];
    MPI_Status status[MOST];
    int x[MOST], done = 0;

    if (i == 1) {
        recv_from(0, tag(0), MPI_COMM_WORLD);
        for (int k = 1; k < MOST; k++)
            send_to(0, tag(k), MPI_COMM_WORLD);
        return;
    }
    if (i == 2) {
        tu_compute(hang.late);
        send_to(0, tag(0), MPI_COMM_WORLD);
        return;
    }
    for (int k = 0; k < MOST; k++)
        irecv_from(k > 0 ? 1 : 2, tag(k), MPI_COMM_WORLD, &x[k], &r[k]);
    blocks("MPI_Test");
    for (int k = 0; !done; k = (k + 1) % MOST)
        MPI_Test(&r[k], &done, MPI_STATUS_IGNORE);
    send_to(1, tag(0), MPI_COMM_WORLD);
    MPI_Waitall(MOST, r, status);
}

static atomic_int worker_done;

static void *work(void *unused)
{
    (void) unused;
    tu_compute(hang.late);
    atomic_store(&worker_done, 1);
    return NULL;
}

/* Both poll for the other's message, and send when a thread that knows no MPI has done its work. */
static void worker_comes(int i)
{
    MPI_Request r;
    pthread_t worker;
    int x, done = 0, sent = 0;

    if (pthread_create(&worker, NULL, work, NULL))
        fail("cannot start a thread");
    irecv_from(!i, tag(0), MPI_COMM_WORLD, &x, &r);
    blocks("MPI_Test");
    while (!done || !sent) {
        if (!sent && atomic_load(&worker_done)) {
            send_to(!i, tag(0), MPI_COMM_WORLD);
            sent = 1;
        }
        if (!done)
            MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    }
    pthread_join(worker, NULL);
}

static volatile int *stored;

/* Rank 0's word, in memory that all ranks share. */
static void make_shared(void)
{
    MPI_Aint bytes;
    int unit, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? sizeof(*stored) : 0, sizeof(*stored), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &stored, &hang.win);
    MPI_Win_shared_query(hang.win, 0, &bytes, &unit, &stored);
    if (rank == 0)
        *stored = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A polls for a message of B, who waits for A, until something else has come. */
static void poll_until(const volatile int *come)
{
    int there = 0;

    blocks("MPI_Iprobe");
    while (!there && !*come)
        MPI_Iprobe(of(1), tag(0), MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    send_to(1, tag(0), MPI_COMM_WORLD);
    recv_from(1, tag(0), MPI_COMM_WORLD);
}

static void answer(void)
{
    recv_from(0, tag(0), MPI_COMM_WORLD);
    send_to(0, tag(0), MPI_COMM_WORLD);
}

static void store_comes(int i)
{
    if (i == 0)
        poll_until(stored);
    if (i == 1)
        answer();
    if (i == 2) {
        tu_compute(hang.late);
        *stored = 1;
    }
}

/* The target need not be in an epoch. */
static void put_comes(int i)
{
    int one = 1, known, of_all = (int) hang.seed % 2;
    volatile int *word;

    if (i == 1) {
        answer();
        return;
    }
    MPI_Win_get_attr(hang.win, MPI_WIN_BASE, &word, &known);
    if (of_all)
        MPI_Win_lock_all(0, hang.win);
    if (i == 0)
        poll_until(word);
    if (i == 2) {
        tu_compute(hang.late);
        if (!of_all)
            MPI_Win_lock(MPI_LOCK_SHARED, of(0), 0, hang.win);
        MPI_Put(&one, 1, MPI_INT, of(0), 0, 1, MPI_INT, hang.win);
        if (!of_all)
            MPI_Win_unlock(of(0), hang.win);
    }
    if (of_all)
        MPI_Win_unlock_all(hang.win);
}

/* All threads wait for the other rank's, but one, which computes and then sends to all of them. */
static void thread_comes(int i)
{
    if (thread > 0) {
        recv_from(!i, tag(0), MPI_COMM_WORLD);
        return;
    }
    tu_compute(hang.late);
    for (thread = 1; thread < hang.threads; thread++)
        send_to(!i, tag(0), MPI_COMM_WORLD);
    thread = 0;
}

static void *join_next(void *arg)
{
    intptr_t left = (intptr_t) arg - 1;
    pthread_t next;

    if (left == 0) {
        recv_from(!my_place(), tag(0), MPI_COMM_WORLD);
        return NULL;
    }
    if (pthread_create(&next, NULL, join_next, (void *) left))
        fail("cannot start a thread");
    pthread_join(next, NULL);
    return NULL;
}

/* A chain of threads, of which each waits for the next one to end, and the last for the other
 * rank. */
static void thread_joins(int i)
{
    (void) i;
    if (thread > 0)
        return;
    atomic_store(&hang.blocked, hang.threads - 1);
    join_next((void *) (intptr_t) hang.threads);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Why that is the right verdict: its component is the smallest strongly connected set of ranks that
 * wait for nobody else, or a rank that has finalized and is waited for; of collectives that do not
 * match it is those that differ from the many.
 *
 *  recv-recv         A and B each need a message of the other, and neither has sent one
 *  ssend-ssend       A and B each need a receive of the other
 *  big-send-send     the same, because a message of 8 MB needs its receive
 *  ring5             each of five needs the next one's message (of 4 ranks: all)
 *  two-comms         A needs B in X, B needs C in Y, C needs A in X: no communicator has the cycle
 *  waitall           A and B need all of their requests, one of which is for the other's message;
 *                    the rest come true, C's among them
 *  test-loop         as recv-recv; they ask, again and again, with a look at the clock
 *  rest-loop         as test-loop, with a sleep in between
 *  iprobe-loop       as test-loop, with no request at all
 *  poll-both         as or-knot: A and B ask for a message of the other, and for any in a
 *                    communicator of their own
 *  or-knot           A, B and C each need one of the others, in a communicator of their own
 *  or-no-knot        the same, and D, who computes, may send to A; it does after 5 s
 *  wrong-tag         B's message has another tag than A's receive, and B waits for A's answer
 *  wrong-comm        the same, with another communicator
 *  old-message       as recv-recv, after a message that B never receives, and many others
 *  missing-send      A needs B's message; B is in the barrier, which lacks nobody but A
 *  missing-fence     the same in MPI_Win_fence, which is a barrier besides
 *  missing-split     the same in MPI_Comm_split_type, which all members agree upon
 *  missing-write     the same in MPI_File_write_all, which is several collectives inside
 *  missing-inter     the same in MPI_Intercomm_create: B's group needs A's leader, who is A
 *  missing-idup      the same in MPI_Wait for MPI_Comm_idup, while MPICH makes the communicator
 *  missing-near      the same in MPI_Neighbor_alltoall: B is A's neighbour
 *  missing-iv        the same in MPI_Ialltoallv: B needs A's part
 *  missing-scatterv  the same in MPI_Scatterv, of which A is the root
 *  early-finalize    B needs a message of A, who has called MPI_Finalize; the rest need B
 *  intercomm         as recv-recv, between two groups
 *  rma-lock          B needs the lock that A holds; A needs B's message; the target needs nobody
 *  rma-shared        the same, and B wants a shared one
 *  rma-lock-all      the same, and A holds those of all targets
 *  rma-all-wanted    the same, and B wants those of all targets
 *  rma-crosswise     A and B each hold a lock, and need that of the other
 *  pscw              A's access epoch needs B's post; B needs A's message
 *  pscw-one          A's exposure epoch needs B and C; B's is complete; both need A's message
 *  win-test          B polls for the end of A's access epoch; A needs B's message
 *  part-recv         A needs the partitioned send of B, who needs A's message
 *  part-send         A needs the partitioned receive of B, who needs A's message
 *  part-missing      A has not made a partition ready; the rest need A
 *  bcast-roots       A says another root than all others; it differs from the many
 *  scatterv-barrier  A was in MPI_Scatterv, as its root, where all others are in MPI_Barrier, and is
 *                    in the collective after it
 *  reduce-allreduce  A is in MPI_Reduce, all others at the same position in MPI_Allreduce
 *  skip-allreduce    A is in MPI_Barrier, all others at the same position in MPI_Allreduce
 *  skip-first        A has called MPI_Finalize, all others are in the first MPI_Barrier of X
 *  freed-window      A has freed the window where all others are in MPI_Win_fence, and has finalized
 *  first-of-two      A is in the first MPI_Barrier of X, all others in that of Y
 *  counts            A's last collective has no data, that of all others at the same position has
 *  ibarrier-barrier  A is in MPI_Ibarrier, all others at the same position in MPI_Barrier
 *  context-again     B is in a communicator with A, which has freed it, and is in another one with C,
 *                    of the same context; C computes, then A sends to B
 *  late-send         B sleeps outside MPI, and sends
 *  compute           A computes, and goes on
 *  slow-link         the messages are under way
 *  sleep-poll        A and B do other work between polls, and send when it is done
 *  work-poll         the same, in pieces of less than 200 us, or after polls of up to 100 ms
 *  poll-turns        A asks in turn for messages of B, who waits for A, and of C, who computes
 *  worker-comes      as sleep-poll; a thread beside that knows no MPI does the work
 *  store-comes       A asks for a message of B, who waits for A, and looks at shared memory, where C
 *                    stores something when it has computed
 *  put-comes         the same, where C puts something into the memory of A's window; A is in an epoch,
 *                    or not
 *  thread-joins      as recv-recv, by one thread of each; all others sleep until it ends
 *  thread-comes      one thread of each computes, and sends what all others wait for */
static const struct kind kinds[] = {
    {"recv-recv", "deadlock", 2, 2, 1, 0, NULL, recv_recv},
    {"ssend-ssend", "deadlock", 2, 2, 1, 0, NULL, ssend_ssend},
    {"big-send-send", "deadlock", 2, 2, 1, 0, NULL, big_send_send},
    {"ring5", "deadlock", 5, 5, 1, 0, NULL, ring5},
    {"two-comms", "deadlock", 3, 3, 1, 0, make_two_comms, two_comms},
    {"waitall", "deadlock", 2, 3, 1, 0, NULL, waitall},
    {"test-loop", "deadlock", 2, 2, 1, 0, NULL, test_loop},
    {"rest-loop", "deadlock", 2, 2, 1, 0, NULL, rest_loop},
    {"iprobe-loop", "deadlock", 2, 2, 1, 0, NULL, iprobe_loop},
    {"poll-both", "deadlock", 2, 2, 0, 0, make_group, poll_both},
    {"or-knot", "deadlock", 3, 3, 0, 0, make_group, or_knot},
    {"or-no-knot", NULL, 0, 4, 0, 5, make_group, or_no_knot},
    {"wrong-tag", "deadlock", 2, 2, 1, 0, NULL, wrong_tag},
    {"wrong-comm", "deadlock", 2, 2, 1, 0, make_two_comms, wrong_comm},
    {"old-message", "deadlock", 2, 2, 0, 0, NULL, old_message},
    {"missing-send", "deadlock", 2, EVERYBODY, 1, 0, make_own, missing_send},
    {"missing-fence", "deadlock", 2, EVERYBODY, 0, 0, make_win, missing_fence},
    {"missing-split", "deadlock", 2, EVERYBODY, 0, 0, NULL, missing_split},
#ifdef MPI_MODE_RDWR
    {"missing-write", "deadlock", 2, EVERYBODY, 0, 0, make_file, missing_write},
#endif
    {"missing-inter", "deadlock", 2, EVERYBODY, 0, 0, make_halves, missing_inter},
    {"missing-idup", "deadlock", 2, EVERYBODY, 0, 0, NULL, missing_idup},
    {"missing-near", "deadlock", 2, EVERYBODY, 0, 0, make_ring, missing_near},
    {"missing-iv", "deadlock", 2, EVERYBODY, 0, 0, NULL, missing_iv},
    {"missing-scatterv", "deadlock", 2, EVERYBODY, 0, 0, NULL, missing_scatterv},
    {"early-finalize", "deadlock", 1, EVERYBODY, 0, 0, NULL, early_finalize},
    {"lock-left", "deadlock", 1, EVERYBODY, 0, 0, make_win, lock_left},
    {"intercomm", "deadlock", 2, 2, 1, 0, make_inter, intercomm},
    {"rma-lock", "deadlock", 2, 2, 0, 0, make_win, rma_lock},
    {"rma-shared", "deadlock", 2, 2, 0, 0, make_win, rma_shared},
    {"rma-lock-all", "deadlock", 2, 2, 0, 0, make_win, rma_lock_all},
    {"rma-all-wanted", "deadlock", 2, 2, 0, 0, make_win, rma_all_wanted},
    {"rma-crosswise", "deadlock", 2, 2, 0, 0, make_win, rma_crosswise},
    {"pscw", "deadlock", 2, 2, 0, 0, make_win, pscw},
    {"pscw-one", "deadlock", 3, 3, 0, 0, make_win, pscw_one},
    {"win-test", "deadlock", 2, 2, 0, 0, make_win, win_test},
    {"part-recv", "deadlock", 2, 2, 0, 0, NULL, part_recv},
    {"part-send", "deadlock", 2, 2, 0, 0, NULL, part_send},
    {"part-missing", "deadlock", 1, 1, 0, 0, NULL, part_missing},
    {"bcast-roots", "collective-mismatch", 1, EVERYBODY, 1, 0, make_own, bcast_roots},
    {"scatterv-barrier", "collective-mismatch", 1, EVERYBODY, 0, 0, NULL, scatterv_barrier},
    {"reduce-allreduce", "collective-mismatch", 1, EVERYBODY, 1, 0, make_own, reduce_allreduce},
    {"skip-allreduce", "collective-mismatch", 1, EVERYBODY, 1, 0, make_own, skip_allreduce},
    {"extra-allreduce", "collective-mismatch", 1, EVERYBODY, 0, 0, NULL, extra_allreduce},
    {"skip-first", "collective-mismatch", 1, EVERYBODY, 0, 0, make_two_comms, skip_first},
    {"freed-window", "collective-mismatch", 1, EVERYBODY, 0, 0, make_win, freed_window},
    {"first-of-two", "deadlock", 1, EVERYBODY, 0, 0, make_two_comms, first_of_two},
    {"counts", "collective-mismatch", 1, EVERYBODY, 1, 0, make_own, counts},
    {"ibarrier-barrier", "collective-mismatch", 1, EVERYBODY, 1, 0, make_own, ibarrier_barrier},
    {"context-again", NULL, 0, 3, 0, 5, NULL, context_again},
    {"late-send", NULL, 0, 2, 1, 30, NULL, late_send},
    {"compute", NULL, 0, 1, 0, 20, NULL, compute},
    {"slow-link", NULL, 0, EVERYBODY, 0, 0, NULL, slow_link},
    {"sleep-poll", NULL, 0, 2, 0, 5, NULL, sleep_poll},
    {"work-poll", NULL, 0, 2, 0, 5, NULL, work_poll},
    {"poll-turns", NULL, 0, 3, 0, 5, NULL, poll_turns},
    {"worker-comes", NULL, 0, 2, 0, 5, NULL, worker_comes},
    {"store-comes", NULL, 0, 3, 0, 5, make_shared, store_comes},
    {"put-comes", NULL, 0, 3, 0, 5, make_win, put_comes},
    {"thread-joins", "deadlock", 2, 2, 2, 0, NULL, thread_joins},
    {"thread-comes", NULL, 0, 2, 2, 5, NULL, thread_comes},
};

#endif /* HANG_KINDS_H_INCLUDED */
