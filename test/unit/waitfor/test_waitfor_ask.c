/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"
#include "messages.h"
#include "suite.h"

/* Looks at the own ranks, which say what the test has them say. */

#define NOW (5000 * FTREE_MS)
#define NODE 1 /* of ranks 2 and 3 */

static struct ftree_rank_state state[2];
static enum ftree_waits_look said[2];
static struct waits_page page[2];
static uint32_t asked[2]; /* number of the look that the rank was asked at last */

static void look(void *ctx, int32_t i, struct ftree_rank_state *s)
{
    (void) ctx;
    *s = state[i];
}

static enum ftree_waits_look say(void *ctx, int32_t i, uint32_t number, const int32_t *with,
                                 int32_t n, const struct waits_page **out)
{
    (void) ctx;
    (void) with;
    (void) n;
    asked[i] = number;
    *out = &page[i];
    return said[i];
}

static const struct ftree_io io = {.look = look, .waits = say};
static struct ftree ft = {.io = &io, .self = NODE};
static struct ftree_waitfor part_of_handle;
static struct waitfor work;

static void begin(void)
{
    ft.job = messages_job();
    ft.waitfor = &part_of_handle;
    memset(&work, 0, sizeof(work));
    work.again = FTREE_NEVER;
    part_of_handle = (struct ftree_waitfor){.work = &work};
    for (int32_t i = 0; i < 2; i++) {
        state[i] = (struct ftree_rank_state){.rank = 2 + i, .proc_state = 'R'};
        said[i] = FTREE_WAITS_READY;
        page[i].records = 1;
        page[i].record[0] = (struct waits_record){
            .rank = 2 + i, .threads = 1, .state = WAITS_WAITING, .mode = WAITS_FOR_ALL};
    }
}

/* A look of the own node at a rank of its own, which wants messages with nobody. */
static void ask(uint32_t number, uint8_t rank)
{
    const uint8_t bytes[] = {(uint8_t) (2 * rank), 0};

    waitfor_ask(&ft, NOW, NODE, number, bytes, sizeof(bytes));
}

/* The answer of one rank to the only look; WAITFOR_SEEN_COUNT: it is not over. */
static enum waitfor_seen answer(ftree_time now)
{
    waitfor_bytes answers;
    struct waitfor_answer *a;
    enum waitfor_seen seen;
    uint32_t number;
    size_t at = 0;

    if (!waitfor_ask_tick(&ft, now, &number, &answers))
        return WAITFOR_SEEN_COUNT;
    a = waitfor_answer_get(&ft, now, answers.items, (size_t) answers.n, &at);
    ck_assert_ptr_nonnull(a);
    seen = a->seen;
    ftree_alloc(&ft, a, 0);
    ftree_alloc(&ft, answers.items, 0);
    return seen;
}

static const struct {
    const char *what;
    char proc_state;
    enum ftree_phase phase;
    enum ftree_waits_look said;
    enum waits_state state;
    enum waitfor_seen at_once, after_100_ms;
} rows[] = {
    {"it waits", 'R', FTREE_PHASE_WAITING, FTREE_WAITS_READY, WAITS_WAITING, WAITFOR_READY, 0},
    {"it is asked", 'R', FTREE_PHASE_WAITING, FTREE_WAITS_PENDING, 0, WAITFOR_SEEN_COUNT,
     WAITFOR_UNABLE},
    {"outside MPI", 'R', FTREE_PHASE_OUTSIDE, FTREE_WAITS_UNABLE, 0, WAITFOR_UNABLE, 0},
    {"stopped", 'T', FTREE_PHASE_WAITING, FTREE_WAITS_READY, WAITS_WAITING, WAITFOR_LOST, 0},
    {"ended by a signal", 'X', FTREE_PHASE_LEFT, FTREE_WAITS_READY, WAITS_WAITING, WAITFOR_LOST,
     0},
    {"gone", 'R', FTREE_PHASE_GONE, FTREE_WAITS_UNABLE, 0, WAITFOR_LOST, 0},
    {"left", 'R', FTREE_PHASE_LEFT, FTREE_WAITS_UNABLE, 0, WAITFOR_LEFT, 0},
    {"left, an old page", 'R', FTREE_PHASE_LEFT, FTREE_WAITS_READY, WAITS_WAITING, WAITFOR_LEFT, 0},
    {"left, its last page", 'R', FTREE_PHASE_LEFT, FTREE_WAITS_READY, WAITS_FINALIZING,
     WAITFOR_READY, 0},
};

TEST_CASES(what_a_rank_is_and_says_makes_its_answer, 9)
{
    enum waitfor_seen seen;

    begin();
    state[0].proc_state = rows[_i].proc_state;
    state[0].phase = rows[_i].phase;
    said[0] = rows[_i].said;
    page[0].record[0].state = rows[_i].state;
    ask(7, 2);
    seen = answer(NOW);
    ck_assert_msg(seen == rows[_i].at_once, "%s", rows[_i].what);
    if (seen == WAITFOR_SEEN_COUNT) {
        ck_assert_int_eq(answer(NOW + 99 * FTREE_MS), WAITFOR_SEEN_COUNT);
        ck_assert_int_eq(answer(NOW + 100 * FTREE_MS), rows[_i].after_100_ms);
    }
    waitfor_ask_clear(&ft);
}

TEST_CASE(a_look_that_comes_twice_is_one)
{
    begin();
    ask(7, 2);
    ask(7, 2);
    ask(8, 2);
    ck_assert_int_eq(work.looks.n, 2);
    waitfor_ask_clear(&ft);
}

/* Another rank of the node is asked at once. */
TEST_CASE(a_rank_answers_one_look_at_a_time)
{
    uint32_t first;

    begin();
    said[0] = FTREE_WAITS_PENDING;
    said[1] = FTREE_WAITS_PENDING;
    ask(7, 2);
    ask(8, 2);
    ask(9, 3);
    ck_assert_int_eq(answer(NOW), WAITFOR_SEEN_COUNT);
    first = asked[0];
    ck_assert_uint_ne(first, 0);
    ck_assert_uint_ne(asked[1], 0);
    ck_assert_int_eq(answer(NOW + 50 * FTREE_MS), WAITFOR_SEEN_COUNT);
    ck_assert_uint_eq(asked[0], first);
    said[0] = FTREE_WAITS_READY;
    ck_assert_int_eq(answer(NOW + 60 * FTREE_MS), WAITFOR_READY);
    ck_assert_int_eq(answer(NOW + 60 * FTREE_MS), WAITFOR_READY);
    ck_assert_uint_gt(asked[0], first);
    waitfor_ask_clear(&ft);
}

/* A person waits: what the agent knows is said where the ranks are still being asked by another. */
TEST_CASE(what_they_do_is_said_soon)
{
    struct ftree_events events = {0};
    struct ftree_event said_event;
    waitfor_bytes answers;
    uint32_t number, first;

    begin();
    ftree_events_begin(&ft, &events);
    said[0] = FTREE_WAITS_PENDING;
    ask(7, 2);
    ck_assert_int_eq(answer(NOW), WAITFOR_SEEN_COUNT);
    first = asked[0];
    ck_assert(waitfor_ask_all(&ft, NOW, 8));
    ck_assert(!waitfor_ask_tick(&ft, NOW + 19 * FTREE_MS, &number, &answers));
    ck_assert_int_eq(work.looks.n, 2);
    ck_assert(!waitfor_ask_tick(&ft, NOW + 20 * FTREE_MS, &number, &answers));
    ck_assert_int_eq(work.looks.n, 1);
    ck_assert_uint_eq(asked[0], first);
    ck_assert(ftree_events_take(&ft, &said_event));
    ck_assert_uint_eq(said_event.number, 8);
    ck_assert_int_eq(said_event.u.classes->n, 1);
    ck_assert_int_eq(said_event.u.classes->items[0].count, 2);
    ftree_classes_clear(&ft, said_event.u.classes);
    ftree_alloc(&ft, said_event.u.classes, 0);
    ftree_events_end(&ft);
    waitfor_ask_clear(&ft);
}

static const struct {
    const char *what;
    uint8_t bytes[6];
    size_t len;
} malformed[] = {
    {"a rank of another node", {8, 0}, 2},
    {"no such rank", {0x7f, 0}, 2},
    {"cut off", {4}, 1},
    {"with a rank that there is not", {4, 2, 0x7f}, 3},
    {"with more than there are", {4, 4, 2}, 3},
    {"more ranks than the node has", {4, 0, 6, 0, 4, 0}, 6},
};

TEST_CASES(a_malformed_look_is_dropped, 6)
{
    begin();
    waitfor_ask(&ft, NOW, 3, 7, malformed[_i].bytes, malformed[_i].len);
    ck_assert_msg(work.looks.n == 0, "%s", malformed[_i].what);
    waitfor_ask_clear(&ft);
}

TEST_CASE(looks_are_bounded)
{
    begin();
    for (uint32_t number = 1; number < 1000; number++)
        ask(number, 2);
    ck_assert_int_eq(work.looks.n, 256);
    waitfor_ask_clear(&ft);
    ck_assert_int_eq(work.looks.n, 0);
}
