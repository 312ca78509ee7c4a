/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/node/log.h"
#include "faultloc/node/samples.h"
#include "files.h"
#include "ftree/hang/hang.h"
#include "ftree/hang/lag.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Samples of the board at instants that all nodes know, by hand-stepped looks. */

#define MS FTREE_MS
#define RECV 0x0000ffu
#define IN(id, n) (((uint64_t) (n) << FAULTLOC_CALL_BITS) | (id))
#define OUT(n) IN(0, n)

struct node {
    struct faultloc_board *board;
    struct faultloc_watch watch;
    struct faultloc_seen seen[4];
    struct faultloc_samples samples;
    struct faultloc_share share[4];
};

static struct node nodes[2];

static void make(struct node *n, int32_t slots, ftree_time epoch, ftree_time now)
{
    int fd;

    ck_assert_int_eq(faultloc_board_make(1, slots, slots, 0, &n->board, &fd), 0);
    close(fd);
    n->board->seed = 42;
    n->board->epoch = epoch;
    n->board->settings.sample = 400 * MS;
    n->watch = (struct faultloc_watch){.board = n->board, .seen = n->seen};
    for (int32_t i = 0; i < slots; i++) {
        faultloc_board_slot(n->board, i)->rank = 10 + i;
        faultloc_board_slot(n->board, i)->pid = 40 + i;
        faultloc_board_slot(n->board, i)->start = 777;
        faultloc_board_slot(n->board, i)->state = FAULTLOC_SLOT_RUNNING;
    }
    faultloc_samples_begin(&n->samples, &n->watch, now);
}

/* What it has done: page faults, ticks of CPU, ticks of its children. */
static void write_stat(char state, int faults, int ticks, int of_children)
{
    char line[256];

    snprintf(line, sizeof(line),
             "40 (app) %c 1 40 40 0 -1 0 %d 0 0 0 0 %d %d 0 20 0 1 0 777 0 0 0 0 0 0 "
             "0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             state, faults, ticks, of_children);
    files_write("40/stat", line);
}

/* A folder like /proc with process 40 in that state. */
static void make_proc(char state, const char *wchan)
{
    if (!files_root[0])
        files_begin();
    write_stat(state, 3, 2, 1);
    files_write("40/wchan", wchan);
    files_write("40/schedstat", "900 8 7\n");
}

/* Process 41, a child of it. */
static void make_child(void)
{
    files_write("40/task/40/children", "41 ");
    files_write("41/stat",
               "41 (sh) S 40 41 41 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0 0 0 0 0 0 0 0 0 "
               "0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

/* Node 1 begins later, with another clock. */
TEST_CASE(all_nodes_know_the_same_instants)
{
    ftree_time last, step, sum = 0;

    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    make(&nodes[1], 1, 501000 * MS, 507000 * MS);
    while (nodes[0].samples.instant < nodes[1].samples.instant)
        faultloc_samples_take(&nodes[0].samples, nodes[0].samples.at, 1);
    ck_assert_uint_gt(nodes[1].samples.at, 507000 * MS);
    for (int i = 0; i < 2000; i++) {
        ck_assert_uint_eq(nodes[1].samples.at - nodes[0].samples.at, 500000 * MS);
        ck_assert_uint_eq(nodes[1].samples.instant, nodes[0].samples.instant);
        last = nodes[0].samples.at;
        faultloc_samples_take(&nodes[0].samples, nodes[0].samples.at, 1);
        faultloc_samples_take(&nodes[1].samples, nodes[1].samples.at + 5 * MS, 1);
        step = nodes[0].samples.at - last;
        ck_assert(step >= 200 * MS && step <= 600 * MS);
        sum += step;
    }
    ck_assert(sum / 2000 > 390 * MS && sum / 2000 < 410 * MS);
}

TEST_CASE(other_jobs_have_other_instants)
{
    ftree_time first;

    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    first = nodes[0].samples.at;
    nodes[0].board->seed = 43;
    faultloc_samples_begin(&nodes[0].samples, &nodes[0].watch, 1000 * MS);
    ck_assert_uint_ne(nodes[0].samples.at, first);
}

TEST_CASE(an_instant_is_sampled_once_and_a_late_look_is_no_sample)
{
    struct faultloc_samples *s = &nodes[0].samples;
    int32_t out[6];
    uint64_t last;

    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    faultloc_samples_take(s, s->at - 1, 9); /* too early */
    for (int i = 1; i <= 3; i++)
        faultloc_samples_take(s, s->at + (i == 2 ? 200 : 3) * MS, i);
    last = s->instant - 1;
    ck_assert_uint_eq(faultloc_samples_last(s, out, 6), last);
    ck_assert_int_eq(out[5], 3);
    ck_assert_int_eq(out[4], -1);
    ck_assert_int_eq(out[3], 1);
    ck_assert_int_eq(out[2], -1); /* before the first */
    faultloc_samples_take(s, s->at + 60000 * MS,
                          4); /* suspended: the instants in between are gaps */
    ck_assert_uint_gt(faultloc_samples_last(s, out, 6), last + 100);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(out[i], -1);
}

TEST_CASE(old_samples_are_forgotten)
{
    static int32_t out[2 * FAULTLOC_SAMPLES];
    struct faultloc_samples *s = &nodes[0].samples;

    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    for (int i = 0; i < 3 * FAULTLOC_SAMPLES; i++)
        faultloc_samples_take(s, s->at, i);
    ck_assert_uint_eq(faultloc_samples_last(s, out, 2 * FAULTLOC_SAMPLES), s->instant - 1);
    ck_assert_int_eq(out[2 * FAULTLOC_SAMPLES - 1], 3 * FAULTLOC_SAMPLES - 1);
    for (int i = 0; i < FAULTLOC_SAMPLES - 1; i++)
        ck_assert_int_eq(out[2 * FAULTLOC_SAMPLES - 1 - i], 3 * FAULTLOC_SAMPLES - 1 - i);
    ck_assert_int_eq(out[FAULTLOC_SAMPLES], -1);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Of two ranks the second one is outside MPI at every fourth sample, and ends a call before every
 * other one; each tenth look is late. */
TEST_CASE(blocks_count_the_samples_that_are_known)
{
    struct faultloc_samples *s = &nodes[0].samples;
    struct ftree_block block[FTREE_BLOCKS_MAX + 4];
    int over = 0, known = 0;

    nodes[0] = (struct node){.board = NULL};
    make(&nodes[0], 2, 1000 * MS, 1000 * MS);
    ck_assert(!faultloc_samples_take(s, s->at, 1)); /* nobody keeps any */
    s->share = nodes[0].share;
    for (int i = 0; over < FTREE_BLOCKS_MAX + 3; i++) {
        bool late = i % 10 == 9, stopped = i % 10 == 8;
        nodes[0].seen[0].outside = 1;
        nodes[0].seen[1].outside = known % 4 == 0 && over != 2;
        nodes[0].seen[1].useful += known % 2 == 0;
        known += !late && !stopped;
        if (faultloc_samples_take(s, s->at + (late ? 200 : 3) * MS, stopped ? -1 : 1)) {
            ck_assert_int_eq(known % FTREE_BLOCK_SAMPLES, 0);
            over++;
            ck_assert_int_eq(faultloc_samples_blocks(s, 1, block, FTREE_BLOCKS_MAX + 4),
                             over < FTREE_BLOCKS_MAX ? over : FTREE_BLOCKS_MAX);
            ck_assert_int_eq(block[0].outside, over == 3 ? 0 : FTREE_BLOCK_SAMPLES / 4);
            ck_assert_int_eq(block[0].goes_on, FTREE_BLOCK_SAMPLES / 2);
            if (over > 1)
                ck_assert_int_eq(block[1].outside, over == 4 ? 0 : FTREE_BLOCK_SAMPLES / 4);
            faultloc_samples_blocks(s, 0, block, 1);
            ck_assert_int_eq(block[0].outside, FTREE_BLOCK_SAMPLES);
            ck_assert_int_eq(block[0].goes_on, FTREE_BLOCK_SAMPLES);
        }
    }
}

static void write_waited(int ms)
{
    char line[80];

    snprintf(line, sizeof(line), "900 %d000000 7\n", ms);
    files_write("40/schedstat", line);
}

/* rows: by how much more from one block to the next; a count that begins anew; one that is not known
 * before, and after */
TEST_CASES(blocks_have_how_long_a_rank_waited_for_a_cpu, 6)
{
    static const struct {
        int before, after;
        uint8_t least, most; /* a block lasts 1.6 to 4.8 s */
    } rows[] = {{100, 100, 0, 0}, {100, 1060, 20, 60}, {100, 100000, 100, 100},
                {500, 100, 0, 0}, {0, 900, 0, 0},      {500, -1, 0, 0}};
    struct faultloc_samples *s = &nodes[0].samples;
    struct ftree_block block;

    nodes[0] = (struct node){.board = NULL};
    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    make_proc('R', "0");
    nodes[0].watch.proc_root = files_root;
    s->share = nodes[0].share;
    write_waited(rows[_i].before);
    while (!faultloc_samples_take(s, s->at, 1))
        ;
    if (rows[_i].after < 0)
        files_write("40/schedstat", "");
    else
        write_waited(rows[_i].after);
    while (!faultloc_samples_take(s, s->at, 1))
        ;
    ck_assert_int_eq(faultloc_samples_blocks(s, 0, &block, 1), 1);
    ck_assert_int_ge(block.waits, rows[_i].least);
    ck_assert_int_le(block.waits, rows[_i].most);
}

/* ---- stays ----------------------------------------------------------------------------------- */

/* A node with one rank, of which the kernel says that. */
static struct faultloc_slot *make_rank(char state, const char *wchan)
{
    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    make_proc(state, wchan);
    nodes[0].watch.proc_root = files_root;
    return faultloc_board_slot(nodes[0].board, 0);
}

static bool look(struct faultloc_slot *slot, uint64_t call, ftree_time now)
{
    struct ftree_rank_state state;

    slot->call = call;
    faultloc_watch_look(&nodes[0].watch, now, 0, false, &state);
    return faultloc_watch_is_outside(&nodes[0].watch, 0, &state);
}

TEST_CASE(a_stay_lasts_while_no_call_ends)
{
    struct faultloc_slot *slot = make_rank('S', "hrtimer_nanosleep");
    struct ftree_stay stay;

    ck_assert(look(slot, OUT(5), 1000 * MS));
    ck_assert(look(slot, OUT(5), 1400 * MS));
    ck_assert(!look(slot, IN(RECV, 5), 1700 * MS)); /* 700 ms */
    ck_assert(look(slot, OUT(6), 2000 * MS));
    ck_assert(look(slot, OUT(7), 2300 * MS)); /* another stay */
    ck_assert(look(slot, OUT(7), 2900 * MS));
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 3300 * MS, 0, &stay));
    ck_assert_int_eq(stay.rank, 10);
    ck_assert_int_eq(stay.what, FTREE_OUTSIDE_SLEEPS);
    ck_assert_uint_eq(stay.calls, 7);
    ck_assert_uint_eq(stay.stay, 1000 * MS);
    ck_assert_uint_eq(stay.longest, 700 * MS);
    ck_assert_str_eq(stay.wchan, "hrtimer_nanosleep");
    ck_assert_str_eq(stay.waits_in, "a sleep");
    slot->longest_ns = UINT64_MAX; /* a rank has written there */
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 3400 * MS, 0, &stay));
    ck_assert_uint_eq(stay.longest, 3400 * MS);
}

/* A call whose progress stands still is a stay, too: the loop of the other one turns. */
TEST_CASE(a_call_without_progress_is_a_stay)
{
    struct faultloc_slot *slot = make_rank('S', "futex_wait_queue");
    struct ftree_stay stay;

    for (ftree_time t = 1000; t <= 3000; t += 500) {
        slot->spins += 256;
        ck_assert(!look(slot, IN(RECV, 5), t * MS));
    }
    ck_assert(!look(slot, IN(RECV, 5), 3900 * MS));
    ck_assert(look(slot, IN(RECV, 5), 4000 * MS));
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 4800 * MS, 0, &stay));
    ck_assert_uint_eq(stay.stay, 800 * MS);
    ck_assert_uint_eq(stay.call, IN(RECV, 5) & FAULTLOC_CALL_MASK);
    make_proc('t', "0"); /* its stacks are taken */
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 4900 * MS, 0, &stay));
    ck_assert_uint_eq(stay.away, 900 * MS);
    slot->state = FAULTLOC_SLOT_FINALIZING; /* which makes none, and waits for all others */
    ck_assert(!faultloc_samples_stay(&nodes[0].samples, 4950 * MS, 0, &stay));
    slot->state = FAULTLOC_SLOT_RUNNING;
    slot->spins += 256;
    ck_assert(!look(slot, IN(RECV, 5), 5000 * MS));
    ck_assert(!faultloc_samples_stay(&nodes[0].samples, 5100 * MS, 0, &stay));
    ck_assert_uint_eq(stay.longest, 800 * MS); /* without the time in which it was held */
}

static const struct {
    char state;
    uint8_t what;
} kernel[] = {{'R', FTREE_OUTSIDE_RUNS},    {'S', FTREE_OUTSIDE_SLEEPS},
              {'D', FTREE_OUTSIDE_DISK},    {'T', FTREE_OUTSIDE_STOPPED},
              {'t', FTREE_OUTSIDE_STOPPED}, {'F', FTREE_OUTSIDE_STOPPED},
              {'Y', FTREE_OUTSIDE_UNKNOWN}};

TEST_CASES(the_kernel_says_what_it_does, COUNT(kernel))
{
    struct faultloc_slot *slot = make_rank(kernel[_i].state, "0");
    struct ftree_stay stay;

    slot->call = OUT(5);
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 3300 * MS, 0, &stay));
    ck_assert_int_eq(stay.what, kernel[_i].what);
    ck_assert_str_eq(stay.wchan, "");
    ck_assert_str_eq(stay.waits_in, "");
}

/* Not every state D is a device's, and not every wait for one is in state D. */
static const struct {
    char state;
    const char *wchan;
    uint8_t what;
    const char *waits_in;
} places[] = {{'D', "mem_cgroup_handle_over_high", FTREE_OUTSIDE_SLEEPS, "a memory limit"},
              {'D', "wait_for_vfork_done", FTREE_OUTSIDE_AWAITS, "vfork"},
              {'D', "folio_wait_bit_common", FTREE_OUTSIDE_DISK, "files"},
              {'D', "rpc_wait_bit_killable", FTREE_OUTSIDE_DISK, "NFS"},
              {'D', "of_a_driver_of_the_site", FTREE_OUTSIDE_DISK, ""},
              {'S', "request_wait_answer", FTREE_OUTSIDE_DISK, "FUSE"}};

TEST_CASES(where_it_sleeps_says_whether_it_is_a_device, COUNT(places))
{
    struct faultloc_slot *slot = make_rank(places[_i].state, places[_i].wchan);
    struct ftree_stay stay;

    slot->call = OUT(5);
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 3300 * MS, 0, &stay));
    ck_assert_int_eq(stay.what, places[_i].what);
    ck_assert_str_eq(stay.waits_in, places[_i].waits_in);
}

/* Time in which the rank was stopped, or its agent did not run, is no part of a stay. */
TEST_CASES(a_stay_counts_from_an_interruption, 2)
{
    struct faultloc_slot *slot = make_rank(_i ? 'T' : 'S', "0");
    struct ftree_stay stay;

    for (ftree_time t = 1000; t <= 3000; t += 400)
        ck_assert(look(slot, OUT(5), t * MS));
    ck_assert(faultloc_samples_stay(&nodes[0].samples, (_i ? 3400 : 23000) * MS, 0, &stay));
    ck_assert_uint_eq(stay.stay, 0);
    ck_assert_uint_eq(stay.away, (_i ? 2400 : 22000) * MS); /* but it has not come */
    for (ftree_time t = 3800; _i && t <= 23000; t += 400) /* it was seen to be, and still is */
        ck_assert(look(slot, OUT(5), t * MS));
    make_proc('S', "0");
    look(slot, OUT(6), 23300 * MS);
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 23400 * MS, 0, &stay));
    ck_assert_uint_eq(stay.longest, 2300 * MS); /* nor of one that is over */
}

static const struct {
    int faults, ticks, of_children;
    const char *schedstat, *wchan;
    uint8_t what;
    int32_t cpu; /* per clock tick a second, in percent */
} deeds[] = {{3, 2, 1, "900 8 7\n", "futex_wait_queue", FTREE_OUTSIDE_SLEEPS, 0},
             {4, 2, 1, "900 8 7\n", "futex_wait_queue", FTREE_OUTSIDE_PAUSES, 0},
             {3, 3, 1, "900 8 7\n", "futex_wait_queue", FTREE_OUTSIDE_PAUSES, 1},
             {3, 52, 1, "900 8 7\n", "futex_wait_queue", FTREE_OUTSIDE_RUNS, 50},
             {3, 2, 2, "900 8 7\n", "futex_wait_queue", FTREE_OUTSIDE_PAUSES, 0},
             {3, 2, 1, "901 9 8\n", "hrtimer_nanosleep", FTREE_OUTSIDE_PAUSES, 0},
             {3, 2, 1, "900 8 7\n", "do_wait", FTREE_OUTSIDE_AWAITS, 0},
             {3, 2, 1, "900 8 7\n", "sk_wait_data", FTREE_OUTSIDE_AWAITS, 0},
             {3, 2, 1, "900 8 7\n", "poll_schedule_timeout", FTREE_OUTSIDE_AWAITS, 0},
             {3, 2, 1, "901 9 8\n", "poll_schedule_timeout", FTREE_OUTSIDE_PAUSES, 0},
             {3, 2, 1, "900 8 7\n", "pipe_read", FTREE_OUTSIDE_SLEEPS, 0},
             {3, 2, 1, "900 8 7\n", "request_wait_answer", FTREE_OUTSIDE_DISK, 0}};

TEST_CASES(blocked_is_who_does_nothing_at_all, COUNT(deeds))
{
    struct faultloc_slot *slot = make_rank('S', deeds[_i].wchan);
    struct ftree_stay stay;

    look(slot, OUT(5), 1000 * MS);
    faultloc_samples_stay(&nodes[0].samples, 1000 * MS, 0, &stay);
    ck_assert_int_eq(stay.cpu, FTREE_CPU_UNKNOWN);
    write_stat('S', deeds[_i].faults, deeds[_i].ticks, deeds[_i].of_children);
    files_write("40/schedstat", deeds[_i].schedstat);
    faultloc_samples_stay(&nodes[0].samples, 2000 * MS, 0, &stay);
    ck_assert_int_eq(stay.what, deeds[_i].what);
    ck_assert_int_eq(stay.cpu, deeds[_i].cpu * 100 / sysconf(_SC_CLK_TCK));
    write_stat('S', deeds[_i].faults, deeds[_i].ticks + 8, deeds[_i].of_children);
    faultloc_samples_stay(&nodes[0].samples, 2300 * MS, 0, &stay);
    ck_assert_uint_eq(stay.used, (ftree_time) (deeds[_i].ticks + 6) * 1000 * MS / /* 2 at first */
                                     (ftree_time) sysconf(_SC_CLK_TCK));
    look(slot, OUT(6), 2400 * MS); /* what was before this stay says nothing of it */
    write_stat('S', 99, 99, 99);
    faultloc_samples_stay(&nodes[0].samples, 2800 * MS, 0, &stay);
    ck_assert_int_eq(stay.cpu, FTREE_CPU_UNKNOWN);
    ck_assert_uint_eq(stay.used, 0);
}

/* Since the first look that has seen it as it is. */
TEST_CASE(who_does_nothing_is_still)
{
    struct faultloc_slot *slot = make_rank('D', "rpc_wait_bit_killable");
    static const struct {
        int at, faults, still;
    } looks[] = {{1000, 3, 0}, {2000, 3, 1000}, {31000, 3, 30000}, {32000, 4, 0}, {33000, 4, 1000}};
    struct ftree_stay stay;

    look(slot, OUT(5), 1000 * MS);
    for (size_t i = 0; i < COUNT(looks); i++) {
        write_stat('D', looks[i].faults, 2, 1);
        faultloc_samples_stay(&nodes[0].samples, looks[i].at * MS, 0, &stay);
        ck_assert_int_eq(stay.what, FTREE_OUTSIDE_DISK);
        ck_assert_uint_eq(stay.still, looks[i].still * MS);
    }
}

/* The thread in which UCX waits for events says nothing of that.  rows: without it, with it */
TEST_CASES(the_call_that_it_sleeps_in_says_what_may_end_that, 2)
{
    struct faultloc_slot *slot = make_rank('S', "futex_wait_queue");
    struct ftree_stay stay;
    char line[128];

    slot->call = OUT(5);
    make_child(); /* and its folder of threads */
    snprintf(line, sizeof(line), "%d 0x7f00 0x80 0x2 0x0 0x0 0x0 0x7ffc 0x7fd4\n", SYS_futex);
    files_write("40/task/40/syscall", line);
    files_write("40/task/40/comm", "app\n");
    if (_i) {
            files_write("40/task/47/comm", "async\n");
        files_write("40/task/47/syscall", "0 0x5 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7fd4\n");
    }
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 3300 * MS, 0, &stay));
    ck_assert_int_eq(stay.ending, FTREE_ENDING_THREAD);
    snprintf(line, sizeof(line), "%d 0x7f00 0x80 0x2 0x7f0 0x0 0x0 0x7ffc 0x7fd4\n", SYS_futex);
    files_write("40/task/40/syscall", line);
    faultloc_samples_stay(&nodes[0].samples, 3400 * MS, 0, &stay);
    ck_assert_int_eq(stay.ending, FTREE_ENDING_TIMEOUT);
}

/* Whoever waits for a disk is in no call that ends by itself, and its memory is not touched. */
TEST_CASE(of_one_in_disk_sleep_the_call_is_not_asked)
{
    struct faultloc_slot *slot = make_rank('D', "io_schedule");
    struct ftree_stay stay;

    slot->call = OUT(5);
    make_child();
    files_write("40/task/40/syscall", "0 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7fd4\n");
    files_write("40/task/40/comm", "app\n");
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 3300 * MS, 0, &stay));
    ck_assert_int_eq(stay.what, FTREE_OUTSIDE_DISK);
    ck_assert_int_eq(stay.ending, FTREE_ENDING_UNKNOWN);
}

/* As where Yama lets nobody see the call. */
TEST_CASES(a_sleep_ends_by_itself, 2)
{
    struct faultloc_slot *slot = make_rank('S', _i ? "hrtimer_nanosleep" : "futex_wait_queue");
    struct ftree_stay stay;

    slot->call = OUT(5);
    ck_assert(faultloc_samples_stay(&nodes[0].samples, 3300 * MS, 0, &stay));
    ck_assert_int_eq(stay.ending, _i ? FTREE_ENDING_TIMEOUT : FTREE_ENDING_UNKNOWN);
}

/* It may wait for what the child writes. */
TEST_CASE(who_has_a_child_is_not_blocked)
{
    struct faultloc_slot *slot = make_rank('S', "pipe_read");
    struct ftree_stay stay;

    look(slot, OUT(5), 1000 * MS);
    faultloc_samples_stay(&nodes[0].samples, 1000 * MS, 0, &stay);
    faultloc_samples_stay(&nodes[0].samples, 2000 * MS, 0, &stay);
    ck_assert_int_eq(stay.what, FTREE_OUTSIDE_SLEEPS);
    make_child();
    faultloc_samples_stay(&nodes[0].samples, 3000 * MS, 0, &stay);
    ck_assert_int_eq(stay.what, FTREE_OUTSIDE_AWAITS);
}

/* What it has used of a CPU is a number of percent also where two looks follow at once. */
TEST_CASE(any_use_of_the_cpu_is_a_number)
{
    struct faultloc_slot *slot = make_rank('S', "futex_wait_queue");
    struct ftree_stay stay;

    look(slot, OUT(5), 1000 * MS);
    faultloc_samples_stay(&nodes[0].samples, 1000 * MS, 0, &stay);
    write_stat('S', 3, INT32_MAX, 1);
    faultloc_samples_stay(&nodes[0].samples, 1000 * MS + 1000, 0, &stay);
    ck_assert_int_eq(stay.cpu, INT32_MAX);
}

/* Only waits that are over count.  rows: one thread; many, of which no short wait is noted */
TEST_CASES(a_call_is_familiar_once_it_was_seen_often_enough, 2)
{
    struct faultloc_slot *slot;
    ftree_time now = 1000 * MS;

    make(&nodes[0], 1, now, now);
    slot = faultloc_board_slot(nodes[0].board, 0);
    slot->many_threads = (uint32_t) _i;
    for (int i = 0; i < FAULTLOC_FAMILIAR; i++, now += 800 * MS) {
        look(slot, IN(RECV, i), now);
        look(slot, IN(RECV, i), now + 400 * MS);
        ck_assert(!faultloc_watch_is_familiar(&nodes[0].watch, RECV));
    }
    look(slot, IN(0x00aau, FAULTLOC_FAMILIAR), now);
    ck_assert(faultloc_watch_is_familiar(&nodes[0].watch, RECV));
    ck_assert(!faultloc_watch_is_familiar(&nodes[0].watch, 0x00aa));
    for (uint32_t i = 0; i < 3 * FAULTLOC_VISITS; i++, now += 400 * MS) /* once each */
        look(slot, IN(0x1001 + 2 * i, FAULTLOC_FAMILIAR + 1 + i), now);
    ck_assert(faultloc_watch_is_familiar(&nodes[0].watch, RECV));
}

/* Message n of a rank that takes and sends by turns; `other`: this one has another tag. */
static void begin_message(int n, bool other)
{
    struct faultloc_page *page = (void *) faultloc_board_slot(nodes[0].board, 0);

    if (n % 2)
        FAULTLOC_RING_WRITE(&page->ring, FAULTLOC_RING_SEND, 8, 0, other ? 6 : 5, 3, 1, (void) 0);
    else
        FAULTLOC_RING_WRITE(&page->ring, FAULTLOC_RING_RECV, 8, 0, 5, 3, 0, (void) 0);
}

/* A send that ends at once is seen in no look.  rows: it was begun as often as needed before, once less,
 * with another tag */
TEST_CASES(a_message_as_before_is_familiar_at_once, 3)
{
    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    for (int i = 0; i < 2 * (FAULTLOC_LOG_REPEATS + (_i != 1)); i++)
        begin_message(i, false);
    if (_i == 2)
        begin_message(1, true);
    ck_assert(faultloc_log_repeats(nodes[0].board, 0) == (_i == 0));
}

/* Samples that nobody took in the stay itself do not count, and are not missed. */
TEST_CASE(the_time_before_a_stay_is_that_of_its_own_samples)
{
    struct faultloc_slot *slot = make_rank('R', "0");
    struct faultloc_samples *s = &nodes[0].samples;
    struct ftree_stay stay;

    memset(nodes[0].share, 0, sizeof(nodes[0].share));
    s->share = nodes[0].share;
    for (uint64_t i = 0; i < 100; i++) {
        look(slot, i % 4 ? OUT(i / 4) : IN(RECV, i / 4), s->at);
        faultloc_samples_take(s, s->at, 1);
    }
    for (int i = 0; i < 20; i++) {
        look(slot, OUT(77), s->at);
        faultloc_samples_take(s, s->at + (i < 10 ? 0 : 300 * MS), 1);
    }
    ck_assert(faultloc_samples_stay(s, s->at, 0, &stay));
    ck_assert_uint_eq(stay.before, 75 * 400 * MS);
}

/* rows: it is over at the first further look; at the third; that one is late; of a rank that was away
 * for seconds before nobody needs to know */
TEST_CASES(looks_at_doubling_distances_tell_how_long_a_stay_was, 4)
{
    static const uint64_t longest[] = {25, 100, 100, 2000}; /* ms */
    struct faultloc_slot *slot = make_rank('R', "0");
    ftree_time now = 2000 * MS, sampled = now, next;
    int looks = _i == 0 ? 1 : 3;

    slot->longest_ns = _i == 3 ? 2000 * MS : 0;
    look(slot, OUT(5), now);
    for (int i = 1; i <= looks; i++) {
        next = faultloc_watch_again(&nodes[0].watch, now, 0, sampled);
        ck_assert_uint_eq(next, _i == 3 ? FTREE_NEVER : sampled + (25 * MS << (i - 1)));
        if (_i == 3)
            break;
        now = next + (_i == 2 && i == looks ? 500 * MS : 0);
        look(slot, OUT(i == looks ? 6 : 5), now);
    }
    ck_assert_uint_eq(slot->longest_ns, longest[_i] * MS);
    if (_i < 3) /* one that has begun since was not sampled */
        ck_assert_uint_eq(faultloc_watch_again(&nodes[0].watch, now, 0, sampled), FTREE_NEVER);
}

static void write_moved(int kb)
{
    char text[80];

    snprintf(text, sizeof(text), "rchar: 1000\nwchar: %d000\nsyscr: 3\n", kb);
    files_write("40/io", text);
}

/* rows: it writes all the time; it has written, 5 s before, 11 s before; it moves a few bytes */
TEST_CASES(one_that_writes_much_is_in_a_phase_of_its_own, 4)
{
    static const int since[] = {0, 5, 11, 0};
    struct faultloc_slot *slot = make_rank('R', "0");
    ftree_time now = 2000 * MS;
    struct ftree_stay stay;

    look(slot, OUT(5), now);
    write_moved(7);
    ck_assert(faultloc_samples_stay(&nodes[0].samples, now += 400 * MS, 0, &stay));
    ck_assert(!stay.transfers);
    write_moved(_i == 3 ? 8 : 100);
    ck_assert(faultloc_samples_stay(&nodes[0].samples, now += 400 * MS, 0, &stay));
    for (int i = 0; i < since[_i]; i++)
        ck_assert(faultloc_samples_stay(&nodes[0].samples, now += 1000 * MS, 0, &stay));
    ck_assert(stay.transfers == (_i < 2));
}

/* With many threads, too, the word is 0 where none of them is in MPI. */
TEST_CASES(who_asks_in_vain_is_inside, 2)
{
    struct faultloc_slot *slot;

    make(&nodes[0], 1, 1000 * MS, 1000 * MS);
    slot = faultloc_board_slot(nodes[0].board, 0);
    slot->many_threads = (uint32_t) _i;
    ck_assert(look(slot, OUT(5), 1000 * MS));
    slot->polls += 9;
    ck_assert(!look(slot, OUT(14), 1400 * MS));
    ck_assert(look(slot, OUT(15), 1800 * MS));
}
