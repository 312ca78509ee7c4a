/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What a slot, seen from time to time, says about its rank: as stories of looks, each a row with
 * what stands in the slot then and what is to be made of it.  And what /proc adds, from a folder
 * made up by the test.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/node/watch.h"
#include "suite.h"

#include "files.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEND 0x000011u
#define RECV 0x0000ffu

/* The word of a rank in call `id` after n calls have ended; and of one in user code. */
#define IN(id, n) (((uint64_t) (n) << FAULTLOC_CALL_BITS) | (id))
#define OUT(n) IN(0, n)

#define OUTSIDE FTREE_PHASE_OUTSIDE
#define INSIDE FTREE_PHASE_INSIDE
#define WAITING FTREE_PHASE_WAITING
#define LEFT FTREE_PHASE_LEFT
#define GONE FTREE_PHASE_GONE
#define NONE FTREE_NONE

static struct faultloc_board *board;
static struct faultloc_watch watch;
static struct faultloc_seen seen[8];

static void make_board(int32_t slots)
{
    int fd;

    memset(seen, 0, sizeof(seen));
    ck_assert_int_eq(faultloc_board_make(1, slots, slots, 0, &board, &fd), 0);
    close(fd);
    watch = (struct faultloc_watch){.board = board, .seen = seen};
    for (int32_t i = 0; i < slots; i++) {
        faultloc_board_slot(board, i)->rank = 10 + i;
        faultloc_board_slot(board, i)->pid = 40 + i;
        faultloc_board_slot(board, i)->start = 777;
        faultloc_board_slot(board, i)->state = FAULTLOC_SLOT_RUNNING;
    }
}

/* Of many threads others may be in MPI all the time: their identifiers are added. */
static const struct {
    bool many_threads;
    uint64_t others;
} polling[] = {{false, 0}, {true, 0}, {true, 0xffff80}};

/* A rank that asks in vain, some 100 times from look to look, from 1,000 ms on; what a look
 * sees. */
TEST_CASES(a_rank_that_asks_in_vain_waits, COUNT(polling))
{
    struct faultloc_slot *slot;
    struct ftree_rank_state state;

    make_board(1);
    slot = faultloc_board_slot(board, 0);
    slot->many_threads = polling[_i].many_threads;
    slot->polls = 70;
    slot->wait_since_ns = polling[_i].many_threads ? 0 : 300 * FTREE_MS; /* it has waited before */
    slot->wait_call = IN(RECV, 400);
    slot->spins = 1000;
    for (int i = 0; i < 5; i++, slot->polls += 100) {
        if (i == 3)
            slot->spins |= 255; /* it has answered a question */
        bool inside = i % 2; /* it is about to end in vain */
        slot->call =
            IN(inside ? RECV : 0, 500 + slot->polls - (inside ? 1 : 0)) + polling[_i].others;
        faultloc_watch_look(&watch, (1000 + 400 * i) * FTREE_MS, 0, false, &state);
        ck_assert_int_eq(state.phase, i == 0 ? OUTSIDE : WAITING);
        ck_assert_int_eq(state.peer, NONE);
        ck_assert_uint_eq(state.waiting, i * 400 * FTREE_MS);
    }
    slot->polls -= 100;
    faultloc_watch_look(&watch, 2601 * FTREE_MS, 0, false, &state); /* at once */
    ck_assert_uint_eq(state.waiting, 1601 * FTREE_MS);
    faultloc_watch_look(&watch, 3000 * FTREE_MS, 0, false, &state); /* it has gone on */
    ck_assert_int_eq(state.phase, OUTSIDE);
    slot->polls += 100;
    slot->call = OUT(500 + slot->polls + 1) + polling[_i].others; /* one has come true */
    faultloc_watch_look(&watch, 3400 * FTREE_MS, 0, false, &state);
    ck_assert_uint_eq(state.waiting, 0);
    faultloc_board_unmap(board);
}

/* The number of calls comes to its end, and begins at 0 again: 200 from look to look, half of them
 * in vain. */
TEST_CASE(counts_of_calls_begin_anew)
{
    struct faultloc_slot *slot;
    struct ftree_rank_state state;

    make_board(1);
    slot = faultloc_board_slot(board, 0);
    slot->polls = 70;
    for (uint64_t i = 0; i < 6; i++, slot->polls += 100) {
        slot->call = OUT((FAULTLOC_CALL_UNUSUAL >> FAULTLOC_CALL_BITS) - 500 + 200 * i) &
                     ~FAULTLOC_CALL_UNUSUAL;
        if (i > 2)
            slot->call += OUT(1000); /* it works more than it asks */
        faultloc_watch_look(&watch, (1000 + 400 * i) * FTREE_MS, 0, false, &state);
        ck_assert_uint_eq(state.waiting, 0);
    }
    faultloc_board_unmap(board);
}

/* ---- stories ------------------------------------------------------------------------------- */

/* One look: when, what stands in the slot (0 for "since": no wait is noted), what comes of it. */
struct look {
    int ms;
    uint64_t call, spins, wait_call;
    int since_ms, peer;
    int phase, seen_peer, waiting_ms;
};

#define LOOKS_MAX 7

static const struct story {
    const char *name;
    bool many_threads;
    uint32_t state;
    struct look look[LOOKS_MAX];
} stories[] = {
    {"user code does not wait, however long it takes",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{1000, OUT(5), 0, 0, 0, 0, OUTSIDE, NONE, 0},
      {9000, OUT(5), 0, 0, 0, 0, OUTSIDE, NONE, 0},
      {99000, OUT(5), 0, 0, 0, 0, OUTSIDE, NONE, 0}}},
    {"nor does it wait for what it waited for before",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(RECV, 5), 10, IN(RECV, 5), 900, 3, WAITING, 3, 100},
      {2000, OUT(6), 10, IN(RECV, 5), 900, 3, OUTSIDE, NONE, 0}}},
    {"a call that goes on waits since it was first seen",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(SEND, 5), 0, 0, 0, 0, INSIDE, NONE, 0},
      {1400, IN(SEND, 5), 0, 0, 0, 0, INSIDE, NONE, 400},
      {9000, IN(SEND, 5), 0, 0, 0, 0, INSIDE, NONE, 8000}}},
    {"the same call anew is another",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(SEND, 5), 0, 0, 0, 0, INSIDE, NONE, 0},
      {1400, IN(SEND, 6), 0, 0, 0, 0, INSIDE, NONE, 0},
      {1500, IN(SEND, 6), 0, 0, 0, 0, INSIDE, NONE, 100}}},
    {"a call whose loop turns without a note",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(SEND, 5), 1, 0, 0, 0, INSIDE, NONE, 0},
      {1400, IN(SEND, 5), 9, 0, 0, 0, INSIDE, NONE, 0},
      {1500, IN(SEND, 5), 9, 0, 0, 0, INSIDE, NONE, 100},
      {1600, IN(SEND, 5), 11, 0, 0, 0, INSIDE, NONE, 0}}},
    {"a noted wait counts since it was noted",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 1200, 3, WAITING, 3, 800},
      {2400, IN(RECV, 5), 999, IN(RECV, 5), 1200, 3, WAITING, 3, 1200},
      {3100, IN(RECV, 5), 1999, IN(RECV, 5), 1200, 3, WAITING, 3, 1900}}},
    {"a new wait of the same call",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 1200, 3, WAITING, 3, 800},
      {2400, IN(RECV, 5), 999, IN(RECV, 5), 2350, 4, WAITING, 4, 50}}},
    {"a wait that another call noted is not believed",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 6), 256, IN(RECV, 5), 1200, 3, INSIDE, NONE, 0},
      {2400, IN(RECV, 6), 256, IN(RECV, 5), 1200, 3, INSIDE, NONE, 400},
      {2500, IN(SEND, 6), 256, IN(RECV, 5), 1200, 3, INSIDE, NONE, 0}}},
    {"nor one of the future, as a torn note may be",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 2001, 3, INSIDE, NONE, 0},
      {2001, IN(RECV, 5), 257, IN(RECV, 5), 2001, 3, WAITING, 3, 0}}},
    {"a loop that has not turned for a second waits for something else",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 1200, 3, WAITING, 3, 800},
      {2400, IN(RECV, 5), 256, IN(RECV, 5), 1200, 3, WAITING, 3, 1200},
      {2999, IN(RECV, 5), 256, IN(RECV, 5), 1200, 3, WAITING, 3, 1799},
      {3000, IN(RECV, 5), 256, IN(RECV, 5), 1200, 3, INSIDE, NONE, 1000},
      {4500, IN(RECV, 5), 256, IN(RECV, 5), 1200, 3, INSIDE, NONE, 2500},
      {4600, IN(RECV, 5), 257, IN(RECV, 5), 1200, 3, WAITING, 3, 0}}},
    {"a rank that was stopped in its wait waits since it goes on",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 100},
      {2400, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 500},
      {2800, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 900},
      {3200, IN(RECV, 5), 300, IN(RECV, 5), 1900, 3, WAITING, 3, 0},
      {3600, IN(RECV, 5), 400, IN(RECV, 5), 1900, 3, WAITING, 3, 400},
      {4000, IN(RECV, 5), 500, IN(RECV, 5), 3900, 4, WAITING, 4, 100}}},
    {"a look that is dated before the last one is as that one",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 100},
      {2600, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 700},
      {2700, IN(RECV, 5), 300, IN(RECV, 5), 1900, 3, WAITING, 3, 0},
      {2690, IN(RECV, 5), 300, IN(RECV, 5), 1900, 3, WAITING, 3, 0}}},
    {"one that computed before its wait has not stood still in it",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 100},
      {2400, OUT(6), 256, IN(RECV, 5), 1900, 3, OUTSIDE, NONE, 0},
      {4000, OUT(6), 256, IN(RECV, 5), 1900, 3, OUTSIDE, NONE, 0},
      {4400, IN(RECV, 6), 400, IN(RECV, 6), 4050, 3, WAITING, 3, 350}}},
    {"a busy machine does not stop a wait",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{2000, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 100},
      {2300, IN(RECV, 5), 256, IN(RECV, 5), 1900, 3, WAITING, 3, 400},
      {2700, IN(RECV, 5), 257, IN(RECV, 5), 1900, 3, WAITING, 3, 800}}},
    {"a stopped rank is in the call that it was stopped in",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, WAITING, 3, 100},
      {9000, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, INSIDE, NONE, 8000}}},
    {"finalizing is a call as any other",
     false,
     FAULTLOC_SLOT_FINALIZING,
     {{1000, IN(RECV, 5), 0, 0, 0, 0, INSIDE, NONE, 0},
      {1500, IN(RECV, 5), 5, IN(RECV, 5), 1100, 2, WAITING, 2, 400}}},
    {"a rank that has not begun",
     false,
     FAULTLOC_SLOT_EMPTY,
     {{1000, 0, 0, 0, 0, 0, OUTSIDE, NONE, 0}}},
    {"who has left waits for nobody",
     false,
     FAULTLOC_SLOT_LEFT,
     {{1000, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, LEFT, NONE, 0},
      {9000, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, LEFT, NONE, 0}}},
    {"who has left because of another waited for that, and is forgotten in time",
     false,
     FAULTLOC_SLOT_VICTIM,
     {{1000, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, LEFT, 3, 100},
      {2500, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, LEFT, 3, 1600},
      {6001, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, LEFT, NONE, 0}}},
    {"whom another's MPI_Abort has ended is its victim, and is gone where the job goes on",
     false,
     FAULTLOC_SLOT_ABORTED,
     {{1000, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, LEFT, 3, 100},
      {2500, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, LEFT, 3, 1600},
      {2501, IN(RECV, 5), 256, IN(RECV, 5), 900, 3, GONE, 3, 1601}}},
    {"who left because of another at once waited for nobody",
     false,
     FAULTLOC_SLOT_VICTIM,
     {{1000, IN(RECV, 5), 256, IN(RECV, 5), 0, 3, LEFT, NONE, 0}}},
    {"peers that are no rank of the world",
     false,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(RECV, 5), 1, IN(RECV, 5), 900, FAULTLOC_PEER_LOCAL, WAITING, FTREE_LOCAL, 100},
      {1010, IN(RECV, 5), 2, IN(RECV, 5), 900, FAULTLOC_PEER_UNKNOWN, WAITING, NONE, 110},
      {1020, IN(RECV, 5), 3, IN(RECV, 5), 900, -7, WAITING, NONE, 120},
      {1030, IN(RECV, 5), 4, IN(RECV, 5), 900, 0, WAITING, 0, 130},
      {1040, IN(RECV, 5), 5, IN(RECV, 5), 900, INT32_MAX, WAITING, INT32_MAX, 140}}},
    {"many threads: a noted wait counts while its loop turns, whatever others are in",
     true,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(RECV, 5), 1, IN(RECV, 5), 900, 3, OUTSIDE, NONE, 0},
      {1400, IN(RECV + SEND, 900), 2, IN(RECV, 5), 900, 3, WAITING, 3, 500},
      {1900, IN(RECV, 901), 3, IN(RECV, 5), 900, 3, WAITING, 3, 1000},
      {1999, IN(RECV, 901), 3, IN(RECV, 5), 900, 3, WAITING, 3, 1099},
      {2000, IN(RECV, 901), 3, IN(RECV, 5), 900, 3, OUTSIDE, NONE, 0},
      {2300, IN(RECV, 901), 4, IN(RECV, 5), 900, 3, WAITING, 3, 1400}}},
    {"many threads: where none is in MPI nobody waits, though its loop has turned since",
     true,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(RECV, 5), 1, IN(RECV, 5), 900, 3, OUTSIDE, NONE, 0},
      {1400, OUT(6), 2, IN(RECV, 5), 900, 3, OUTSIDE, NONE, 0}}},
    {"many threads: and where none is noted nobody waits",
     true,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(SEND, 5), 1, 0, 0, 0, OUTSIDE, NONE, 0},
      {9000, IN(SEND, 5), 2, 0, 0, 0, OUTSIDE, NONE, 0}}},
    {"many threads: a wait that has ended is not taken for one that goes on",
     true,
     FAULTLOC_SLOT_RUNNING,
     {{1000, IN(SEND, 5), 1, IN(RECV, 4), 990, 3, OUTSIDE, NONE, 0},
      {1995, IN(SEND, 5), 1, IN(RECV, 4), 990, 3, OUTSIDE, NONE, 0}}},
};

/* unusual: several threads have called at once, and the word is worth nothing. */
static void put(struct faultloc_slot *slot, const struct look *l, bool unusual)
{
    slot->call = unusual ? FAULTLOC_CALL_UNUSUAL | ~l->call : l->call;
    slot->call_of_all = unusual ? FAULTLOC_CALL_UNUSUAL | l->call : 0;
    slot->spins = l->spins;
    slot->wait_call = l->wait_call;
    slot->wait_since_ns = (uint64_t) l->since_ms * FTREE_MS;
    slot->wait_peer = l->peer;
}

TEST_CASES(story, 2 * COUNT(stories))
{
    const struct story *s = &stories[_i / 2];
    struct faultloc_slot *slot;
    struct ftree_rank_state state;

    make_board(2);
    slot = faultloc_board_slot(board, 1);
    slot->state = s->state;
    slot->many_threads = s->many_threads;
    if (s->state == FAULTLOC_SLOT_ABORTED)
        faultloc_watch_gone(&watch, 1);
    for (int i = 0; i < LOOKS_MAX && s->look[i].ms; i++) {
        const struct look *l = &s->look[i];
        put(slot, l, _i % 2);
        memset(&state, 'x', sizeof(state));
        faultloc_watch_look(&watch, (ftree_time) l->ms * FTREE_MS, 1, false, &state);
        ck_assert_msg(state.phase == l->phase, "%s: at %d ms in phase %d, not %d", s->name, l->ms,
                      state.phase, l->phase);
        ck_assert_msg(state.peer == l->seen_peer, "%s: at %d ms peer is %d, not %d", s->name, l->ms,
                      (int) state.peer, l->seen_peer);
        ck_assert_msg(state.waiting == (ftree_time) l->waiting_ms * FTREE_MS,
                      "%s: at %d ms waits for %llu ns, not %d ms", s->name, l->ms,
                      (unsigned long long) state.waiting, l->waiting_ms);
        ck_assert_int_eq(state.rank, 11);
        ck_assert_int_eq(state.pid, 41);
        ck_assert_int_eq(state.proc_state, s->state >= FAULTLOC_SLOT_VICTIM ? 'X' : 0);
        ck_assert(!state.failed);
    }
    faultloc_board_unmap(board);
}

/* A rank may write at any moment; what is made of a slot is made of one copy of it, and whatever
 * stands there, nothing untoward comes of it. */
TEST_CASE(any_content_is_survived)
{
    struct ftree_rank_state state;
    uint64_t random = 88172645463325252u;

    make_board(1);
    for (int n = 0; n < 100000; n++) {
        uint64_t *word = (uint64_t *) faultloc_board_slot(board, 0);
        for (size_t i = 0; i < sizeof(struct faultloc_slot) / sizeof(*word); i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            word[i] = random % 5 ? random : 0;
        }
        faultloc_watch_look(&watch, random % (100000 * FTREE_MS) + (ftree_time) n * FTREE_MS, 0,
                            false, &state);
        REQUIRE(state.phase < FTREE_PHASE_COUNT);
        REQUIRE(state.peer >= FTREE_LOCAL);
        REQUIRE((state.waiting == 0 && state.peer == NONE) || state.phase == INSIDE ||
                state.phase == WAITING);
    }
    faultloc_board_unmap(board);
}

/* ---- /proc --------------------------------------------------------------------------------- */

static void put_text(int pid, const char *text)
{
    char name[32];

    snprintf(name, sizeof(name), "%d/stat", pid);
    files_write(name, text);
}

static void put_signal(int pid, char state, int threads, int start, int pending)
{
    char text[256];

    snprintf(text, sizeof(text),
             "%d (app) %c 1 42 42 0 -1 4194560 96 0 0 0 11 22 0 0 20 0 %d 0 %d "
             "1 2 3 4 5 6 7 8 %d 0 0 0 0 0 0 17 1\n",
             pid, state, threads, start, pending);
    put_text(pid, text);
}

static void put_stat(int pid, char state, int threads, int start)
{
    put_signal(pid, state, threads, start, 0);
}

static void end(void *ctx)
{
    suite_forget(ctx);
    faultloc_board_unmap(board);
}

/* Files like those of /proc and a board of four ranks, until the end of the test. */
static void setup(void)
{
    suite_keep(&board, end);
    files_begin();
    make_board(4);
    watch.proc_root = files_root;
}

static struct ftree_rank_state look(int32_t i, bool with_proc)
{
    struct ftree_rank_state state;

    faultloc_watch_look(&watch, 5000 * FTREE_MS, i, with_proc, &state);
    return state;
}

static const struct {
    char letter;
    int threads;
    int phase;
    char seen;
    int pending;
} letters[] = {
    {'R', 5, OUTSIDE, 'R', 0},
    {'S', 5, OUTSIDE, 'S', 0},
    {'D', 5, OUTSIDE, 'D', 0},
    {'T', 5, OUTSIDE, 'T', 0},
    {'t', 5, OUTSIDE, 't', 0},
    {'I', 1, OUTSIDE, 'I', 0},
    {'Z', 2, OUTSIDE, 'Z', 0},
    {'Z', 1, GONE, 0, 0},
    {'X', 1, GONE, 0, 0},
    {'x', 1, GONE, 0, 0},
    /* killed, and not ended yet */
    {'R', 5, OUTSIDE, 'X', 256},
    {'S', 5, OUTSIDE, 'X', 256},
    {'T', 5, OUTSIDE, 'X', 256},
    {'D', 5, OUTSIDE, 'D', 256},
    {'Z', 2, OUTSIDE, 'Z', 256},
    {'Z', 1, GONE, 0, 256},
};

TEST_CASES(letter, COUNT(letters))
{
    struct ftree_rank_state state;

    setup();
    put_signal(41, letters[_i].letter, letters[_i].threads, 777, letters[_i].pending);
    state = look(1, true);
    ck_assert_int_eq(state.phase, letters[_i].phase);
    ck_assert_int_eq(state.proc_state, letters[_i].seen);
}

static const struct {
    char letter;
    const char *wchan;
    char seen;
} frozen[] = {
    {'D', "__refrigerator", 'F'}, {'D', "hrtimer_nanosleep", 'F'}, {'S', "get_signal", 'F'},
    {'S', "hrtimer_nanosleep", 'S'}, {'D', "", 'D'}, {'S', NULL, 'S'},
};

/* /proc/PID/stat does not tell. */
TEST_CASES(a_frozen_rank_is_stopped, COUNT(frozen))
{
    setup();
    put_stat(41, frozen[_i].letter, 3, 777);
    if (frozen[_i].wchan)
        files_write("41/wchan", frozen[_i].wchan);
    ck_assert_int_eq(look(1, true).proc_state, frozen[_i].seen);
    ck_assert_int_eq(ftree_is_stopped(frozen[_i].seen), frozen[_i].seen == FTREE_PROC_FROZEN);
}

static char letter_at(ftree_time ms)
{
    struct ftree_rank_state state;

    faultloc_watch_look(&watch, ms * FTREE_MS, 1, true, &state);
    return state.proc_state;
}

/* Its memory limit may be raised, or another process of the group end: only what lasts is a fault,
 * and all looks from the first one on read /proc. */
TEST_CASE(a_rank_is_held_by_its_memory_limit_after_a_second)
{
    struct ftree_rank_state state;

    setup();
    put_stat(41, 'D', 3, 777);
    files_write("41/wchan", "mem_cgroup_oom_synchronize");
    ck_assert_int_eq(letter_at(5000), 'D');
    ck_assert_int_eq(letter_at(5900), 'D');
    faultloc_watch_look(&watch, 6000 * FTREE_MS, 1, false, &state);
    ck_assert_int_eq(state.proc_state, FTREE_PROC_MEMORY);
    ck_assert(watch.seen[1].stopped);
    put_text(41, "41 (app) D 1 42 42 0 -1 4194560 96 0 0 0 12 22 0 0 20 0 3 0 777 1\n");
    ck_assert_int_eq(letter_at(7000), 'D'); /* it has had some */
    ck_assert_int_eq(letter_at(8000), FTREE_PROC_MEMORY);
    files_write("41/wchan", "mem_cgroup_handle_over_high"); /* it crawls */
    ck_assert_int_eq(letter_at(9000), 'D');
    put_stat(41, 'R', 3, 777);
    ck_assert_int_eq(letter_at(10000), 'R');
}

TEST_CASE(a_stopped_rank_is_reported_with_its_wait)
{
    struct faultloc_slot *slot;
    struct ftree_rank_state state;

    setup();
    put_stat(41, 'T', 3, 777);
    slot = faultloc_board_slot(board, 1);
    slot->call = slot->wait_call = IN(RECV, 3);
    slot->wait_since_ns = 4000 * FTREE_MS;
    slot->wait_peer = 2;
    state = look(1, true);
    ck_assert_int_eq(state.phase, WAITING);
    ck_assert_int_eq(state.proc_state, 'T');
    ck_assert_int_eq(state.peer, 2);
    ck_assert_uint_eq(state.waiting, 1000 * FTREE_MS);
    put_stat(41, 'R', 3, 777); /* and waits anew when it goes on */
    state = look(1, true);
    ck_assert_uint_eq(state.waiting, 0);
}

TEST_CASE(by_turns_each_is_asked_whether_it_is_stopped)
{
    int found = 0;

    setup();
    for (int i = 0; i < board->slots; i++)
        put_stat(40 + i, i == 1 ? 'T' : 'S', 3, 777);
    for (int i = 0; i < 3 * board->slots; i++)
        found += faultloc_watch_is_stopped(&watch, 5000 * FTREE_MS);
    ck_assert_int_eq(found, 3);
    ck_assert(faultloc_watch_any_stopped(&watch)); /* also after a look at another one */
    put_stat(41, 'S', 3, 777);
    look(1, false); /* one that was stopped is asked about at each look */
    ck_assert(!faultloc_watch_any_stopped(&watch));
}

TEST_CASE(a_reused_number_is_another_process)
{
    setup();
    put_stat(41, 'S', 3, 778);
    ck_assert_int_eq(look(1, true).phase, GONE);
    put_stat(42, 'S', 3, 778);
    faultloc_board_slot(board, 2)->start = 0; /* not known: any will do */
    ck_assert_int_eq(look(2, true).phase, OUTSIDE);
}

TEST_CASE(gone_is_for_good)
{
    setup();
    ck_assert_int_eq(look(1, true).phase, GONE);
    put_stat(41, 'S', 3, 777);
    ck_assert_int_eq(look(1, true).phase, GONE);
    ck_assert_int_eq(look(1, false).phase, GONE);
    ck_assert_uint_eq(look(1, false).waiting, 0);
}

/* Not to know is not to accuse. */
TEST_CASE(what_cannot_be_read_says_nothing)
{
    struct ftree_rank_state state;

    setup();
    put_text(41, "nonsense\n");
    state = look(1, true);
    ck_assert_int_eq(state.phase, OUTSIDE);
    ck_assert_int_eq(state.proc_state, 0);
    state = look(2, false); /* has no file, but nobody asked */
    ck_assert_int_eq(state.phase, OUTSIDE);
    ck_assert_int_eq(state.proc_state, 0);
}

TEST_CASE(who_has_left_may_be_gone)
{
    setup();
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_LEFT;
    ck_assert_int_eq(look(1, true).phase, LEFT);
    faultloc_watch_gone(&watch, 1);
    ck_assert_int_eq(look(1, true).phase, LEFT);
}

/* A rank ends after one of its operations failed because another rank is lost. */
static const struct consequence {
    int failed_ms; /* when that was; 0: none did */
    int signal; /* by which it ends; 0: it exits */
    int phase;
} consequences[] = {
    {9000, 0, LEFT}, {10500, 0, LEFT}, /* a moment after this look has begun */
    {9000, SIGKILL, GONE}, {5000, 0, GONE}, {0, 0, GONE},
};

/* As a zombie: its number is nobody else's. */
static pid_t ended_child(int signal)
{
    siginfo_t info;
    pid_t pid = fork();

    if (pid == 0) {
        if (signal)
            kill(getpid(), signal);
        _exit(1);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
    return pid;
}

TEST_CASES(who_exits_because_of_a_loss_is_a_victim, COUNT(consequences))
{
    const struct consequence *c = &consequences[_i];
    pid_t pid = ended_child(c->signal);
    struct ftree_rank_state state;
    struct faultloc_slot *slot;

    make_board(1);
    slot = faultloc_board_slot(board, 0);
    slot->pid = pid;
    slot->failed_ns = (uint64_t) c->failed_ms * FTREE_MS;
    faultloc_watch_look(&watch, 10000 * FTREE_MS, 0, true, &state);
    ck_assert_int_eq(state.phase, c->phase);
    ck_assert_int_eq(state.failed, c->failed_ms > 5000);
    ck_assert_int_eq(slot->state, c->phase == LEFT ? FAULTLOC_SLOT_VICTIM : FAULTLOC_SLOT_RUNNING);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    faultloc_board_unmap(board);
}

TEST_CASE(the_kernel_says_who_is_gone)
{
    setup();
    put_stat(41, 'S', 3, 777);
    faultloc_watch_gone(&watch, 1);
    ck_assert_int_eq(look(1, false).phase, GONE);
    ck_assert_int_eq(look(1, true).phase, GONE);
    ck_assert_int_eq(look(0, false).phase, OUTSIDE);
}

TEST_CASE(who_takes_over_finds_the_ends_again)
{
    setup();
    put_stat(40, 'S', 3, 777);
    for (int32_t i = 0; i < board->slots; i++)
        faultloc_watch_gone(&watch, i);
    faultloc_watch_take_over(&watch);
    ck_assert(!faultloc_watch_all_left(&watch));
    ck_assert_int_eq(look(0, true).phase, OUTSIDE);
    ck_assert_int_eq(look(1, true).phase, GONE);
}

TEST_CASE(builtin_operators_have_names)
{
    ck_assert_str_eq(faultloc_op_name(0x58000001u), "MPI_MAX");
    ck_assert_str_eq(faultloc_op_name(0x58000003u), "MPI_SUM");
    ck_assert_str_eq(faultloc_op_name(0x5800000eu), "MPI_NO_OP");
    ck_assert_str_eq(faultloc_op_name(0x5800000fu), "an operator");
    ck_assert_str_eq(faultloc_op_name(0x58000000u), "an operator");
    ck_assert_str_eq(faultloc_op_name(0), "an operator");
}

TEST_CASE(all_have_left)
{
    setup();
    ck_assert(!faultloc_watch_all_left(&watch));
    faultloc_board_slot(board, 0)->state = FAULTLOC_SLOT_LEFT;
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_LEFT;
    faultloc_watch_gone(&watch, 2);
    ck_assert(!faultloc_watch_all_left(&watch));
    faultloc_board_slot(board, 3)->state = FAULTLOC_SLOT_FINALIZING;
    ck_assert(!faultloc_watch_all_left(&watch));
    faultloc_board_slot(board, 3)->state = FAULTLOC_SLOT_LEFT;
    ck_assert(faultloc_watch_all_left(&watch));
}
