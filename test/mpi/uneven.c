/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A healthy program whose ranks let each other wait, in all the ways that look like a hang: the
 * ranks work together in one of the usual ways, and every word that arrives is checked. Meanwhile
 *
 * - each rank stays outside MPI now and then, at random, for moments or for long;
 * - each sends to its neighbour, which has a receive posted long before, or posts it long after;
 * - in patterns in which all ranks have the same rounds, two of them meet after some of these (or
 *   all, or three), of which one is late: see the table.
 *
 * uneven [--pattern alltoall|halo|pipeline|master|irregular] [--seconds S] [--late S]
 *        [--every-s S] [--busy F] [--seed N] [--limit S] [--pause-ms M] [--rest-us N]
 *
 * --seconds   for so long (60), and until all that is begun is done
 * --late      the longest that a rank lets others wait, in seconds (30)
 * --every-s   ranks meet about so often, and leave MPI about so often (15)
 * --busy      this part of the time outside MPI is spent computing, the rest asleep (0.1)
 * --seed      of what is drawn (1)
 * --limit     ranks that are still there after so many seconds are ended by SIGALRM (--seconds and
 *             600)
 * --rest-us   as in alltoall.c (200) */

#include "patterns.h"
#include "rest.h"

#include <stdint.h>

#define BIG_BYTES (1 << 20) /* no transport takes that before there is a receive for it */

static struct {
    unsigned own, common; /* what is drawn: by each rank for itself, by all ranks alike */
    double late, every_s, busy;
    double leave; /* when this rank is next outside MPI */
    int locked; /* all ranks have the same rounds */
    long met;
    double next_meet;
    MPI_Comm comm;
    MPI_Win win;
    int window[4];
} uneven;

/* ---- time outside MPI ------------------------------------------------------------------------ */

static double draw_within(unsigned *draws, double most)
{
    double x = (double) rand_r(draws) / RAND_MAX;

    return x * x * most; /* mostly short */
}

static void stay_outside(double s)
{
    tu_compute(s * uneven.busy);
    rest_ms(s * (1 - uneven.busy) * 1e3);
}

/* What a rank does between two polls. */
static void other_work(void)
{
    stay_outside(draw_within(&uneven.own, 0.2));
}

static void leave_now_and_then(void)
{
    if (tu_now() < uneven.leave)
        return;
    stay_outside(draw_within(&uneven.own, uneven.late));
    uneven.leave = tu_now() + draw_within(&uneven.own, 3 * uneven.every_s);
}

/* ---- messages to the neighbour --------------------------------------------------------------- */

/* The next send, or receive, begins when the last has ended and a time has passed. */
struct flow {
    MPI_Request request;
    long done, begun;
    double next;
    int64_t word;
};

static struct flow to_right, from_left;

static int right_of(void)
{
    return (me.rank + 1) % me.size;
}

static int left_of(void)
{
    return (me.rank + me.size - 1) % me.size;
}

static void begin_send(void)
{
    to_right.word = word(me.rank, right_of(), to_right.begun++);
    MPI_Issend(&to_right.word, 1, MPI_INT64_T, right_of(), 3, uneven.comm, &to_right.request);
}

static void begin_receive(void)
{
    from_left.begun++;
    MPI_Irecv(&from_left.word, 1, MPI_INT64_T, left_of(), 3, uneven.comm, &from_left.request);
}

static void end_receive(void)
{
    if (from_left.word != word(left_of(), me.rank, from_left.done))
        fail("the neighbour's word arrived changed");
}

static int is_due(struct flow *f)
{
    int done = 1;

    if (f->begun > f->done)
        MPI_Test(&f->request, &done, MPI_STATUS_IGNORE);
    if (done && f->begun > f->done) {
        if (f == &from_left)
            end_receive();
        f->done++;
        f->next = tu_now() + draw_within(&uneven.own, uneven.late);
    }
    return done && tu_now() > f->next;
}

static void turn_flows(void)
{
    if (is_due(&to_right))
        begin_send();
    if (is_due(&from_left))
        begin_receive();
}

/* Whoever sends says how many there are to receive. */
static void end_flows(void)
{
    long all;

    MPI_Sendrecv(&to_right.begun, 1, MPI_LONG, right_of(), 4, &all, 1, MPI_LONG, left_of(), 4,
                 uneven.comm, MPI_STATUS_IGNORE);
    while (from_left.done < all) {
        if (from_left.begun == from_left.done)
            begin_receive();
        MPI_Wait(&from_left.request, MPI_STATUS_IGNORE);
        end_receive();
        from_left.done++;
    }
    if (from_left.begun > from_left.done) {
        MPI_Cancel(&from_left.request);
        MPI_Wait(&from_left.request, MPI_STATUS_IGNORE);
    }
    if (to_right.begun > to_right.done)
        MPI_Wait(&to_right.request, MPI_STATUS_IGNORE);
}

/* ---- meetings -------------------------------------------------------------------------------- */

/* B is late by so many seconds; c is a third one, or A where there are two ranks. */
struct meeting {
    int a, b, c;
    double s;
};

static void take(int from)
{
    int64_t x;

    MPI_Recv(&x, 1, MPI_INT64_T, from, 5, uneven.comm, MPI_STATUS_IGNORE);
}

static void give(int to)
{
    MPI_Send(&(int64_t){0}, 1, MPI_INT64_T, to, 5, uneven.comm);
}

static void late_sender(const struct meeting *m)
{
    if (me.rank == m->a)
        take(m->b);
    if (me.rank == m->b) {
        stay_outside(m->s);
        give(m->a);
    }
}

static void late_receiver(const struct meeting *m)
{
    if (me.rank == m->a)
        MPI_Ssend(&(int64_t){0}, 1, MPI_INT64_T, m->b, 5, uneven.comm);
    if (me.rank == m->b) {
        stay_outside(m->s);
        take(m->a);
    }
}

static void big_message(const struct meeting *m)
{
    char *data = me.rank == m->a || me.rank == m->b ? calloc(1, BIG_BYTES) : NULL;

    if (me.rank == m->a)
        MPI_Send(data, BIG_BYTES, MPI_CHAR, m->b, 5, uneven.comm);
    if (me.rank == m->b) {
        stay_outside(m->s);
        MPI_Recv(data, BIG_BYTES, MPI_CHAR, MPI_ANY_SOURCE, 5, uneven.comm, MPI_STATUS_IGNORE);
    }
    free(data);
}

static void test_loop(const struct meeting *m)
{
    MPI_Request r;
    int done = 0;
    int64_t x;

    if (me.rank == m->a) {
        MPI_Irecv(&x, 1, MPI_INT64_T, m->b, 5, uneven.comm, &r);
        while (!done) {
            MPI_Test(&r, &done, MPI_STATUS_IGNORE);
            other_work();
        }
    }
    if (me.rank == m->b) {
        stay_outside(m->s);
        give(m->a);
    }
}

/* Both poll, and each sends when its own work is done. */
static void two_poll(const struct meeting *m)
{
    int other = me.rank == m->a ? m->b : m->a, arrived = 0, sent = 0;
    double end = tu_now() + m->s * (me.rank == m->a ? 0.7 : 1);

    if (me.rank != m->a && me.rank != m->b)
        return;
    while (!arrived || !sent) {
        if (!sent && tu_now() > end) {
            give(other);
            sent = 1;
        }
        if (!arrived)
            MPI_Iprobe(other, 5, uneven.comm, &arrived, MPI_STATUS_IGNORE);
        other_work();
    }
    take(other);
}

static void any_source(const struct meeting *m)
{
    if (me.rank == m->a)
        take(MPI_ANY_SOURCE);
    if (me.rank == m->b) {
        stay_outside(m->s);
        give(m->a);
    }
}

/* A and C wait for each other's message or B's; A gets B's. */
static void one_of_two(const struct meeting *m)
{
    int64_t x[2];
    MPI_Request r[2];
    int which, other = me.rank == m->a ? m->c : m->a;

    if (m->c == m->a)
        return;
    if (me.rank == m->b) {
        stay_outside(m->s);
        give(m->a);
    }
    if (me.rank != m->a && me.rank != m->c)
        return;
    MPI_Irecv(&x[0], 1, MPI_INT64_T, m->b, 5, uneven.comm, &r[0]);
    MPI_Irecv(&x[1], 1, MPI_INT64_T, other, 5, uneven.comm, &r[1]);
    MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
    MPI_Cancel(&r[!which]);
    MPI_Wait(&r[!which], MPI_STATUS_IGNORE);
    if (me.rank == m->a)
        give(m->c);
}

/* Both send first; B receives long after. */
static void late_wait(const struct meeting *m)
{
    int other = me.rank == m->a ? m->b : m->a;
    MPI_Request r[2];
    MPI_Status status[2];
    int64_t x = 0, y;

    if (me.rank != m->a && me.rank != m->b)
        return;
    MPI_Issend(&x, 1, MPI_INT64_T, other, 5, uneven.comm, &r[0]);
    if (me.rank == m->b)
        stay_outside(m->s);
    MPI_Irecv(&y, 1, MPI_INT64_T, other, 5, uneven.comm, &r[1]);
    MPI_Waitall(2, r, status);
}

static void late_allreduce(const struct meeting *m)
{
    int one = 1, sum;

    if (me.rank == m->b)
        stay_outside(m->s);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, uneven.comm);
    if (sum != me.size)
        fail("the late sum is wrong");
}

static void late_root(const struct meeting *m)
{
    int x = me.rank == m->b ? 17 : 0;

    if (me.rank == m->b)
        stay_outside(m->s);
    MPI_Bcast(&x, 1, MPI_INT, m->b, uneven.comm);
    if (x != 17)
        fail("the late broadcast is wrong");
    MPI_Reduce(me.rank == m->a ? MPI_IN_PLACE : &x, &x, 1, MPI_INT, MPI_MAX, m->a, uneven.comm);
}

static void polled_barrier(const struct meeting *m)
{
    MPI_Request r;
    int done = 0;

    if (me.rank == m->b)
        stay_outside(m->s);
    MPI_Ibarrier(uneven.comm, &r);
    while (!done) {
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        other_work();
    }
}

/* B holds the lock for long, which A wants. */
static void long_lock(const struct meeting *m)
{
    if (me.rank == m->b) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, m->c, 0, uneven.win);
        give(m->a);
        stay_outside(m->s);
        MPI_Win_unlock(m->c, uneven.win);
        take(m->a);
        give(m->c);
    }
    if (me.rank == m->a) {
        take(m->b);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, m->c, 0, uneven.win);
        MPI_Win_unlock(m->c, uneven.win);
        give(m->b);
    }
    if (me.rank == m->c) /* turns its progress meanwhile */
        take(m->b);
}

/* Two meetings at once, with other ranks, and a late third one that all of them wait for. */
static void late_split(const struct meeting *m)
{
    MPI_Comm half;
    int sum, one = 1;

    if (me.rank == m->b)
        stay_outside(m->s);
    MPI_Comm_split(uneven.comm, me.rank % 2, me.rank, &half);
    if (me.rank == m->c)
        stay_outside(m->s / 2);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Comm_free(&half);
}

static void (*const meetings[])(const struct meeting *) = {
    late_sender, late_receiver,  big_message, test_loop,      two_poll,  any_source, one_of_two,
    late_wait,   late_allreduce, late_root,   polled_barrier, long_lock, late_split,
};

static int draw_other(int a, int b)
{
    int c = rand_r(&uneven.common) % me.size;

    while (c == a || c == b)
        c = (c + 1) % me.size;
    return c;
}

static void meet(void)
{
    struct meeting m = {.a = rand_r(&uneven.common) % me.size};
    int i = rand_r(&uneven.common) % (int) (sizeof(meetings) / sizeof(*meetings));

    m.b = draw_other(m.a, m.a);
    m.c = draw_other(m.a, m.b);
    m.s = draw_within(&uneven.common, uneven.late);
    if (rand_r(&uneven.common) % 4 == 0)
        m.s = uneven.late;
    meetings[i](&m);
    uneven.met++;
}

/* In all ranks after the same round: every 8th, rank 0 says whether it is time. */
static void meet_now_and_then(void)
{
    static long round;
    int due = tu_now() > uneven.next_meet;

    if (++round % 8)
        return;
    MPI_Bcast(&due, 1, MPI_INT, 0, uneven.comm);
    if (!due)
        return;
    meet();
    uneven.next_meet = tu_now() + draw_within(&uneven.own, 3 * uneven.every_s);
}

/* ---- the pattern ----------------------------------------------------------------------------- */

static void pattern_loops(void)
{
}

static void pattern_turn(void)
{
    turn_flows();
    leave_now_and_then();
    if (uneven.locked)
        meet_now_and_then();
}

static int pattern_may_end(void)
{
    return 1;
}

static void begin(int argc, char **argv, const char *pattern)
{
    unsigned seed = (unsigned) tu_number(argc, argv, "--seed", 1);
    double seconds = tu_number(argc, argv, "--seconds", 60);

    if (me.size < 4)
        fail("at least 4 ranks, please");
    uneven.common = seed;
    uneven.own = seed * 7919 + (unsigned) me.rank * 31 + 1;
    uneven.late = tu_number(argc, argv, "--late", 30);
    uneven.every_s = tu_number(argc, argv, "--every-s", 15);
    uneven.busy = tu_number(argc, argv, "--busy", 0.1);
    uneven.locked = strcmp(pattern, "master") && strcmp(pattern, "irregular");
    uneven.leave = tu_now() + draw_within(&uneven.own, 3 * uneven.every_s);
    me.pause_ms = tu_number(argc, argv, "--pause-ms", 5);
    me.end = tu_now() + seconds;
    alarm((unsigned) tu_number(argc, argv, "--limit", seconds + 600));
    MPI_Comm_dup(MPI_COMM_WORLD, &uneven.comm);
    MPI_Win_create(uneven.window, sizeof(uneven.window), sizeof(int), MPI_INFO_NULL, uneven.comm,
                   &uneven.win);
}

int main(int argc, char **argv)
{
    const char *pattern = tu_string(argc, argv, "--pattern", "alltoall");

    rest_while_idle(tu_number(argc, argv, "--rest-us", 200));
    MPI_Init(&argc, &argv);
    pattern_begin("uneven");
    tu_hello(me.rank);
    begin(argc, argv, pattern);
    if (me.rank == 0)
        tu_say("EXPECT none\n");
    talk(pattern);
    end_flows();
    if (me.rank == 0)
        printf("uneven: ranks met %ld times, %ld words to a neighbour\n", uneven.met,
               to_right.begun);
    MPI_Win_free(&uneven.win);
    MPI_Comm_free(&uneven.comm);
    alarm(0);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
