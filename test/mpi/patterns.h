/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef PATTERNS_H_INCLUDED
#define PATTERNS_H_INCLUDED

#include "testutil.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The usual ways in which ranks work together, and every word that arrives is checked. To be
 * included by one source file of a program.
 *
 * alltoall    MPI_Alltoall, as in a distributed FFT
 * halo        neighbours on a ring exchange by MPI_Irecv, MPI_Isend and MPI_Waitall; a sum over all
 * pipeline    a chain of stages
 * stream      the same, and nobody waits for those behind him
 * master      a master that takes results from MPI_ANY_SOURCE
 * phases      long phases outside MPI
 * irregular   messages of 0 bytes to 1 MB between random ranks; MPI_Iprobe and MPI_Testany only */

static struct {
    const char *program;
    int rank, size;
    double end, pause_ms;
    const char *until; /* rank 0 ends a pattern when this file exists, or at `end` (tu_now()) */
    int loops;
} me;

/* What the program has: it is told, once, that all ranks are connected and in their loop; has its
 * turn after each round; and may keep a pattern from ending. */
static void pattern_loops(void);
static void pattern_turn(void);
static int pattern_may_end(void);

/* After MPI_Init. */
static void pattern_begin(const char *program)
{
    me.program = program;
    me.until = "";
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me.size);
}

static void fail(const char *what)
{
    tu_fail(me.program, what);
}

static void rest_ms(double ms)
{
    struct timespec t = {.tv_sec = (time_t) (ms / 1e3) };

    t.tv_nsec = (long) ((ms - (double) t.tv_sec * 1e3) * 1e6);
    nanosleep(&t, NULL);
}

/* After each round. */
static void step(long round)
{
    if (round == 0 && !me.loops) {
        me.loops = 1;
        MPI_Barrier(MPI_COMM_WORLD);
        tu_looping(me.rank);
        pattern_loops();
    }
    pattern_turn();
    rest_ms(me.pause_ms);
}

/* Rank 0 decides, and tells the others with what it sends. */
static int enough(void)
{
    return me.rank == 0 && pattern_may_end() &&
           (tu_now() > me.end || (*me.until && access(me.until, F_OK) == 0));
}

static int64_t word(int64_t from, int64_t to, int64_t round)
{
    return from * 1000003 + to * 7919 + round * 31;
}

static long talk_alltoall(void)
{
    int64_t out[2 * me.size], in[2 * me.size];
    long round = 0;

    for (int stop = 0; !stop; round++) {
        stop = enough();
        for (int to = 0; to < me.size; to++) {
            out[2 * to] = stop;
            out[2 * to + 1] = word(me.rank, to, round);
        }
        MPI_Alltoall(out, 2, MPI_INT64_T, in, 2, MPI_INT64_T, MPI_COMM_WORLD);
        for (int from = 0; from < me.size; from++)
            if (in[2 * from + 1] != word(from, me.rank, round))
                fail("a word arrived changed");
        stop = (int) in[0];
        step(round);
    }
    return round;
}

#define CELLS 256

/* Who flows from cell to cell is neither made nor lost: the sum over all ranks stays. */
static void flow(int64_t *u)
{
    int64_t flux[CELLS + 1];

    for (int i = 0; i <= CELLS; i++)
        flux[i] = (u[i] - u[i + 1]) / 4;
    for (int i = 1; i <= CELLS; i++)
        u[i] += flux[i - 1] - flux[i];
}

static void swap_halo(int64_t *u, long round)
{
    int left = (me.rank + me.size - 1) % me.size, right = (me.rank + 1) % me.size;
    int64_t out[2][2] = {{round, u[1]}, {round, u[CELLS]}}, in[2][2];
    MPI_Request r[4];
    MPI_Status s[4];

    MPI_Irecv(in[0], 2, MPI_INT64_T, left, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], 2, MPI_INT64_T, right, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(out[0], 2, MPI_INT64_T, left, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(out[1], 2, MPI_INT64_T, right, 1, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, s);
    if (in[0][0] != round || in[1][0] != round)
        fail("a neighbour is in another round");
    u[0] = in[0][1];
    u[CELLS + 1] = in[1][1];
}

static long talk_halo(void)
{
    int64_t u[CELLS + 2], now[2], all[2], first = 0;
    long round = 0;

    for (int i = 1; i <= CELLS; i++)
        u[i] = ((int64_t) me.rank * CELLS + i) * 7919 % 10007 * 1000000;
    for (all[1] = 0; !all[1]; round++) {
        swap_halo(u, round);
        flow(u);
        if (round % 8 == 0) {
            now[0] = 0;
            for (int i = 1; i <= CELLS; i++)
                now[0] += u[i];
            now[1] = enough();
            MPI_Allreduce(now, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
            if (round == 0)
                first = all[0];
            if (all[0] != first)
                fail("the sum over all cells has changed");
        }
        step(round);
    }
    return round;
}

static int64_t stage(int64_t x, int rank)
{
    return (x * 31 + rank) % 1000000007;
}

static int64_t through(int64_t n)
{
    for (int rank = 0; rank < me.size - 1; rank++)
        n = stage(n, rank);
    return n;
}

/* Items go from rank to rank; the last one acknowledges each such number of them, lest the first run
 * ahead; 0: none. */
static long be_stage(int acknowledged)
{
    int last = me.size - 1;
    int64_t x[2] = {0, 0};
    long n = 0;

    for (; x[0] >= 0; n++) {
        if (me.rank > 0)
            MPI_Recv(x, 2, MPI_INT64_T, me.rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            x[0] = enough() ? -1 : n, x[1] = n;
        if (me.rank == last && x[0] >= 0 && (x[0] != n || x[1] != through(n)))
            fail("an item arrived wrong at the end of the pipeline");
        x[1] = stage(x[1], me.rank);
        if (me.rank < last)
            MPI_Send(x, 2, MPI_INT64_T, me.rank + 1, 1, MPI_COMM_WORLD);
        if (acknowledged && (n + 1) % acknowledged == 0 && me.rank == last)
            MPI_Send(x, 1, MPI_INT64_T, 0, 2, MPI_COMM_WORLD);
        if (acknowledged && (n + 1) % acknowledged == 0 && me.rank == 0)
            MPI_Recv(&(int64_t){0}, 1, MPI_INT64_T, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        step(n);
    }
    return n;
}

static long talk_pipeline(void)
{
    return be_stage(16);
}

static long talk_stream(void)
{
    return be_stage(0);
}

static int64_t task(int64_t n)
{
    return n * n % 10007;
}

static long be_master(void)
{
    int64_t sent = 0, sum = 0, want = 0, got;
    long round = 0;
    MPI_Status s;

    for (int to = 1; to < me.size; to++, sent++)
        MPI_Send(&sent, 1, MPI_INT64_T, to, 1, MPI_COMM_WORLD);
    for (int at_work = me.size - 1; at_work > 0; round++) {
        MPI_Recv(&got, 1, MPI_INT64_T, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &s);
        sum += got;
        if (!enough()) {
            MPI_Send(&sent, 1, MPI_INT64_T, s.MPI_SOURCE, 1, MPI_COMM_WORLD);
            sent++;
        } else {
            MPI_Send(&(int64_t){-1}, 1, MPI_INT64_T, s.MPI_SOURCE, 1, MPI_COMM_WORLD);
            at_work--;
        }
        if (round == 0)
            step(0);
        pattern_turn();
    }
    for (int64_t n = 0; n < sent; n++)
        want += task(n);
    if (sum != want)
        fail("the results do not add up");
    return round;
}

static long talk_master(void)
{
    int64_t n, result;
    long round = 0;

    if (me.rank == 0)
        return be_master();
    for (;; round++) {
        MPI_Recv(&n, 1, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (n < 0)
            return round;
        result = task(n);
        MPI_Send(&result, 1, MPI_INT64_T, 0, 2, MPI_COMM_WORLD);
        step(round);
    }
}

/* Outside MPI for two seconds, in turn; where it is only that nobody else gets the processor that
 * would be lost, it sleeps. */
static long talk_phases(void)
{
    int64_t now[2], all[2] = {0, 0};
    long round = 0;

    for (; !all[1]; round++) {
        double end = tu_now() + (round > 0 && round % me.size == me.rank ? 2.0 : 0.1);

        while (tu_now() < end) {
            tu_compute(0.001);
            rest_ms(10);
            pattern_turn();
        }
        now[0] = word(me.rank, 0, round);
        now[1] = enough();
        MPI_Allreduce(now, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int rank = 0; rank < me.size; rank++)
            all[0] -= word(rank, 0, round);
        if (all[0])
            fail("the sum over all ranks is wrong");
        step(round);
    }
    return round;
}

/* ---- irregular ------------------------------------------------------------------------------- */

#define SENDS 4
#define MOST_BYTES (1 << 20)

/* Messages of any size to anybody, taken as they come: ranks poll, and never wait. */
static struct {
    char *out[SENDS], *in;
    MPI_Request request[SENDS];
    unsigned draws;
    int *sent; /* to each rank */
    int received, stop;
} irregular;

static int draw(int n)
{
    return rand_r(&irregular.draws) % n;
}

static int draw_bytes(void)
{
    static const int most[] = {1, 64, 16 << 10, MOST_BYTES};

    return draw(most[draw(4)]);
}

static void mark(char *data, int bytes, int64_t from, int64_t to)
{
    int64_t w = word(from, to, bytes);

    if (bytes >= 16) {
        memcpy(data, &w, 8);
        memcpy(data + bytes - 8, &w, 8);
    }
}

static void begin_sends(void)
{
    irregular.draws = (unsigned) me.rank * 7919 + 1;
    irregular.sent = calloc((size_t) me.size, sizeof(int));
    irregular.in = malloc(MOST_BYTES);
    irregular.received = irregular.stop = 0;
    for (int i = 0; i < SENDS; i++) {
        irregular.out[i] = malloc(MOST_BYTES);
        irregular.request[i] = MPI_REQUEST_NULL;
    }
}

static void end_sends(void)
{
    free(irregular.sent);
    free(irregular.in);
    for (int i = 0; i < SENDS; i++)
        free(irregular.out[i]);
}

static void send_to_anybody(void)
{
    int i = 0, bytes = draw_bytes(), to = (me.rank + 1 + draw(me.size - 1)) % me.size;

    while (i < SENDS && irregular.request[i] != MPI_REQUEST_NULL)
        i++;
    if (i == SENDS)
        return;
    mark(irregular.out[i], bytes, me.rank, to);
    MPI_Isend(irregular.out[i], bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD, &irregular.request[i]);
    irregular.sent[to]++;
}

static void take_message(MPI_Status *s)
{
    int64_t want;
    int bytes;

    MPI_Get_count(s, MPI_CHAR, &bytes);
    MPI_Recv(irregular.in, bytes, MPI_CHAR, s->MPI_SOURCE, s->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (s->MPI_TAG == 2) {
        irregular.stop = 1;
        return;
    }
    irregular.received++;
    want = word(s->MPI_SOURCE, me.rank, bytes);
    if (bytes >= 16 &&
        (memcmp(irregular.in, &want, 8) || memcmp(irregular.in + bytes - 8, &want, 8)))
        fail("a message arrived changed");
}

/* Returns how many sends are not complete. */
static int poll_messages(void)
{
    int arrived, i, done, open = 0;
    MPI_Status s;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &s);
    if (arrived)
        take_message(&s);
    MPI_Testany(SENDS, irregular.request, &i, &done, MPI_STATUS_IGNORE);
    for (i = 0; i < SENDS; i++)
        open += irregular.request[i] != MPI_REQUEST_NULL;
    return open;
}

static void tell_all_to_stop(void)
{
    for (int to = 1; to < me.size; to++)
        MPI_Send(NULL, 0, MPI_CHAR, to, 2, MPI_COMM_WORLD);
    irregular.stop = 1;
}

static long talk_irregular(void)
{
    int all, open;
    long round = 0;

    begin_sends();
    for (; !irregular.stop; round++) {
        send_to_anybody();
        poll_messages();
        if (enough())
            tell_all_to_stop();
        step(round);
    }
    MPI_Reduce_scatter_block(irregular.sent, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    do
        open = poll_messages();
    while (open > 0 || irregular.received < all);
    end_sends();
    return round;
}

static const struct {
    const char *name;
    long (*talk)(void);
} patterns[] = {
    {"alltoall", talk_alltoall}, {"halo", talk_halo},     {"pipeline", talk_pipeline},
    {"master", talk_master},     {"phases", talk_phases}, {"irregular", talk_irregular},
    {"stream", talk_stream},
};

static void talk(const char *name)
{
    long rounds = -1;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
        if (!strcmp(patterns[i].name, name))
            rounds = patterns[i].talk();
    if (rounds < 0)
        fail("there is no such pattern");
    MPI_Barrier(MPI_COMM_WORLD);
    if (me.rank == 0)
        printf("%s: %s, %d ranks, %ld rounds, all right\n", me.program, name, me.size, rounds);
    fflush(stdout);
}

#endif /* PATTERNS_H_INCLUDED */
