/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * A rank is asked what it waits for, by its area of the board; the test writes what the rank would.
 * Only an answer to the question that was asked, whole and within its bounds, is handed on.
 */

#include "faultloc/node/wait_page.h"
#include "suite.h"

#include <string.h>
#include <unistd.h>

#define RECV 0x0000ffu
#define SLOTS 2
#define RANK 5 /* of slot 1, as the job says */

static struct faultloc_board *board;
static struct faultloc_watch watch;
static struct faultloc_seen seen[SLOTS];
static struct faultloc_wait_asked asked[SLOTS];
static struct faultloc_wait_page waits;
static const struct waits_page *page;
static const int32_t with[WAITS_PEERS_MAX + 1] = {3, 0};

/* Node 1 of 2 has ranks 4 and 5 of 6. */
static const int32_t node_first[] = {0, 4, 6}, node_ranks[] = {0, 1, 2, 3, 4, 5};
static const int32_t rank_node[] = {0, 0, 0, 0, 1, 1};
static const struct ftree_job job = {.nodes = 2,
                                     .size = 6,
                                     .fanout = 2,
                                     .rank_node = rank_node,
                                     .node_first = node_first,
                                     .node_ranks = node_ranks};

BEFORE_EACH
{
    int fd;

    ck_assert_int_eq(faultloc_board_make(2, 6, SLOTS, 0, &board, &fd), 0);
    close(fd);
    memset(seen, 0, sizeof(seen));
    memset(asked, 0, sizeof(asked));
    watch = (struct faultloc_watch){.board = board, .seen = seen};
    waits = (struct faultloc_wait_page){.watch = &watch, .job = &job, .self = 1, .asked = asked};
    for (int32_t i = 0; i < SLOTS; i++) {
        faultloc_board_slot(board, i)->state = FAULTLOC_SLOT_RUNNING;
        faultloc_board_slot(board, i)->call = RECV;
    }
}

static struct faultloc_wait_area *area(void)
{
    return faultloc_board_wait_area(board, 1);
}

static enum ftree_waits_look look_at(int ms, uint32_t number)
{
    return faultloc_wait_page_look(&waits, (ftree_time) ms * FTREE_MS, 1, number, with, 2, &page);
}

/* A receive from rank 3 on the world. */
static void fill_in(struct waits_page *p)
{
    struct waits_record *r = &p->record[0];

    p->records = 1;
    *r = (struct waits_record){.rank = RANK,
                               .threads = 1,
                               .state = WAITS_WAITING,
                               .mode = WAITS_FOR_ALL,
                               .call = RECV,
                               .stamp = 77,
                               .requests = 1,
                               .comms = 1};
    r->request[0] = (struct waits_request){.kind = WAITS_RECV, .peer = 3, .tag = 7};
    r->comm[0] = (struct waits_comm){
        .key = {.context = 1}, .size = 6, .name = "MPI_COMM_WORLD", .runs = 1};
    r->comm[0].run[0] = (struct waits_run){0, 1, 6};
    p->exchanges = 1;
    p->exchange[0].peer = 3;
    p->posted = 1;
    p->post[0] = (struct waits_flow){.kind = WAITS_POSTED, .peer = 3, .tag = 7, .count = 1};
    p->last = 1;
    p->sent[0] = (struct waits_flow){.kind = WAITS_SENT, .peer = 2, .tag = 1, .count = 1};
}

/* The rank writes its page, if it is asked anything new. */
static void answer(void)
{
    struct faultloc_wait_area *a = area();
    uint32_t number = a->asked;

    if (number == a->answered)
        return;
    a->writing++;
    fill_in(&a->page);
    a->answered = number;
    a->writing++;
}

/* ---- asking ---------------------------------------------------------------------------------- */

TEST_CASE(a_rank_is_asked_once_and_answers)
{
    uint32_t number;

    ck_assert_int_eq(look_at(1000, 1), FTREE_WAITS_PENDING);
    ck_assert_uint_eq(faultloc_board_slot(board, 1)->news, 1);
    ck_assert_uint_eq(faultloc_board_slot(board, 0)->news, 0);
    ck_assert_int_eq(area()->with_n, 2);
    ck_assert_int_eq(area()->with[0], 3);
    number = area()->asked;
    ck_assert_uint_ne(number, 0);
    faultloc_board_slot(board, 1)->news = 0;
    ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_PENDING);
    ck_assert_uint_eq(area()->asked, number);
    ck_assert_uint_eq(faultloc_board_slot(board, 1)->news, 0);
    answer();
    ck_assert_int_eq(look_at(1002, 1), FTREE_WAITS_READY);
    ck_assert_ptr_eq(page, &waits.page);
    ck_assert_int_eq(page->record[0].rank, RANK);
    ck_assert_uint_eq(page->record[0].stamp, 77);
}

TEST_CASE(another_look_asks_anew)
{
    look_at(1000, 1);
    answer();
    ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_READY);
    ck_assert_int_eq(look_at(1002, 2), FTREE_WAITS_PENDING);
    answer();
    ck_assert_int_eq(look_at(1003, 2), FTREE_WAITS_READY);
}

/* A successor begins with the same numbers: the page that is there was another's. */
TEST_CASE(a_page_for_the_agent_before_is_not_this_one)
{
    look_at(1000, 1);
    answer();
    memset(asked, 0, sizeof(asked));
    ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_PENDING);
    answer();
    ck_assert_int_eq(look_at(1002, 1), FTREE_WAITS_READY);
}

TEST_CASE(numbers_go_round_without_those_that_mean_something)
{
    area()->asked = UINT32_MAX;
    area()->answered = 1;
    look_at(1000, 1);
    ck_assert_uint_eq(area()->asked, 2);
}

TEST_CASE(no_more_ranks_are_named_than_have_room)
{
    faultloc_wait_page_look(&waits, FTREE_MS, 1, 1, with, WAITS_PEERS_MAX + 1, &page);
    ck_assert_int_eq(area()->with_n, WAITS_PEERS_MAX);
    faultloc_wait_page_look(&waits, FTREE_MS, 1, 2, NULL, 0, &page);
    ck_assert_int_eq(area()->with_n, 0);
}

/* ---- ranks that do not answer ---------------------------------------------------------------- */

TEST_CASE(who_has_left_or_is_gone_is_not_asked)
{
    static const uint32_t states[] = {FAULTLOC_SLOT_EMPTY, FAULTLOC_SLOT_LEFT,
                                      FAULTLOC_SLOT_VICTIM};

    for (size_t i = 0; i < COUNT(states); i++) {
        faultloc_board_slot(board, 1)->state = states[i];
        ck_assert_int_eq(look_at(1000, 1), FTREE_WAITS_UNABLE);
    }
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_RUNNING;
    seen[1].gone = true;
    ck_assert_int_eq(look_at(1000, 1), FTREE_WAITS_UNABLE);
    ck_assert_uint_eq(area()->asked, 0);
}

TEST_CASES(who_stays_outside_mpi_will_not_answer, 2)
{
    faultloc_board_slot(board, 1)->many_threads = (uint32_t) _i;
    faultloc_board_slot(board, 1)->call = 3u << FAULTLOC_CALL_BITS;
    ck_assert_int_eq(look_at(1000, 1), FTREE_WAITS_PENDING);
    ck_assert_int_eq(look_at(1009, 1), FTREE_WAITS_PENDING);
    ck_assert_int_eq(look_at(1010, 1), FTREE_WAITS_UNABLE);
}

TEST_CASE(who_polls_may_sleep_in_between)
{
    faultloc_board_slot(board, 1)->call = 3u << FAULTLOC_CALL_BITS;
    faultloc_board_slot(board, 1)->polls = 2;
    ck_assert_int_eq(look_at(1000, 1), FTREE_WAITS_PENDING);
    ck_assert_int_eq(look_at(1199, 1), FTREE_WAITS_PENDING);
    ck_assert_int_eq(look_at(1200, 1), FTREE_WAITS_UNABLE);
    ck_assert_int_eq(look_at(1300, 2), FTREE_WAITS_PENDING); /* it has not polled since */
    ck_assert_int_eq(look_at(1310, 2), FTREE_WAITS_UNABLE);
}

/* A loop around MPI_Test is mostly seen between two calls. */
TEST_CASE(who_comes_back_to_mpi_may_still_answer)
{
    faultloc_board_slot(board, 1)->call = (uint64_t) 3 << FAULTLOC_CALL_BITS;
    look_at(1000, 1);
    faultloc_board_slot(board, 1)->call = (uint64_t) 4 << FAULTLOC_CALL_BITS;
    ck_assert_int_eq(look_at(1050, 1), FTREE_WAITS_PENDING);
    answer();
    ck_assert_int_eq(look_at(1051, 1), FTREE_WAITS_READY);
}

TEST_CASE(who_has_answered_may_be_outside_since)
{
    faultloc_board_slot(board, 1)->call = 0;
    look_at(1000, 1);
    answer();
    ck_assert_int_eq(look_at(1050, 1), FTREE_WAITS_READY);
}

/* It wrote a page when it called MPI_Finalize, and waits in the process manager's barrier now, or
 * has ended. */
TEST_CASE(the_last_page_is_the_answer_to_all_later_looks)
{
    fill_in(&area()->page);
    area()->page.record[0].state = WAITS_FINALIZING;
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_FINALIZING;
    ck_assert_int_eq(look_at(1000, 1), FTREE_WAITS_READY);
    ck_assert_int_eq(page->record[0].state, WAITS_FINALIZING);
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_LEFT;
    seen[1].gone = true;
    ck_assert_int_eq(look_at(1001, 2), FTREE_WAITS_READY);
    area()->page.exchanges = -1;
    ck_assert_int_eq(look_at(1002, 3), FTREE_WAITS_UNABLE);
}

TEST_CASE(an_older_page_is_not_the_last_one)
{
    look_at(1000, 1);
    answer();
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_FINALIZING;
    ck_assert_int_eq(look_at(1001, 2), FTREE_WAITS_PENDING);
    answer();
    ck_assert_int_eq(look_at(1002, 2), FTREE_WAITS_READY);
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_LEFT;
    ck_assert_int_eq(look_at(1003, 3), FTREE_WAITS_UNABLE);
    area()->page.record[0].state = WAITS_FINALIZING;
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_FINALIZING;
    seen[1].gone = true;
    ck_assert_int_eq(look_at(1004, 4), FTREE_WAITS_UNABLE);
}

/* ---- pages ----------------------------------------------------------------------------------- */

TEST_CASE(what_is_being_written_is_not_read)
{
    look_at(1000, 1);
    answer();
    area()->writing++;
    ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_PENDING);
    area()->writing++;
    ck_assert_int_eq(look_at(1002, 1), FTREE_WAITS_READY);
}

TEST_CASE(a_page_that_says_nothing_is_none)
{
    look_at(1000, 1);
    answer();
    area()->page.records = 0;
    ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_UNABLE);
}

TEST_CASE(the_copy_stays_when_the_rank_writes_on)
{
    look_at(1000, 1);
    answer();
    look_at(1001, 1);
    memset(&area()->page, 0xff, sizeof(area()->page));
    ck_assert_int_eq(page->records, 1);
    ck_assert_uint_eq(page->record[0].stamp, 77);
}

/* Each row writes beyond one bound. */
#define BROKEN(X) \
    X(records = -1) \
    X(records = WAITS_THREADS_MAX + 1) \
    X(record[0].rank = 4) \
    X(record[0].rank = INT32_MAX) \
    X(record[0].requests = WAITS_REQUESTS_MAX + 1) \
    X(record[0].comms = INT32_MAX) \
    X(record[0].comms = -1) \
    X(record[0].state = WAITS_STATE_COUNT) \
    X(record[0].request[0].peer = 6) \
    X(record[0].request[0].comm = 1) \
    X(record[0].comm[0].runs = WAITS_RUNS_MAX + 1) \
    X(record[0].comm[0].run[0].count = INT32_MAX) \
    X(record[0].comm[0].before.begun = 1) \
    X(exchanges = WAITS_PEERS_MAX + 1) \
    X(exchanges = -1) \
    X(exchange[0].peer = -1) \
    X(exchange[0].peer = 6) \
    X(posted = WAITS_FLOWS_MAX + 1) \
    X(posted = INT32_MIN) \
    X(post[0].kind = WAITS_SENT) \
    X(post[0].peer = WAITS_ANY - 1) \
    X(post[0].peer = 6) \
    X(last = WAITS_LAST_MAX + 1) \
    X(last = -1) \
    X(sent[0].kind = WAITS_POSTED) \
    X(sent[0].peer = 6)

#define ROW_OF(assignment) \
    do { \
        if (row-- == 0) \
            p->assignment; \
    } while (0);
#define ONE_OF(assignment) +1

static void break_one(struct waits_page *p, int row)
{
    BROKEN(ROW_OF)
}

TEST_CASES(a_page_beyond_its_bounds_is_refused, BROKEN(ONE_OF))
{
    look_at(1000, 1);
    answer();
    break_one(&area()->page, _i);
    ck_assert_ptr_nonnull(faultloc_wait_page_check(&job, RANK, &area()->page));
    ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_UNABLE);
}

TEST_CASE(garbage_is_refused)
{
    look_at(1000, 1);
    for (int byte = 1; byte < 256; byte++) {
        memset(&area()->page, byte, sizeof(area()->page));
        area()->answered = area()->asked;
        ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_UNABLE);
    }
}

TEST_CASE(names_and_booleans_are_set_right)
{
    look_at(1000, 1);
    answer();
    strcpy(area()->page.record[0].comm[0].name, "my\033[2J\n\xc3\xa9");
    memset(&area()->page.record[0].polls, 0x55, 1);
    memset(&area()->page.posted_more, 0xaa, 1);
    memset(&area()->page.record[0].comm[0].last.blocking, 2, 1);
    memset(&area()->page.record[0].comm[0].before.blocking, 4, 1);
    ck_assert_int_eq(look_at(1001, 1), FTREE_WAITS_READY);
    ck_assert_str_eq(page->record[0].comm[0].name, "my?[2J???");
    ck_assert(page->record[0].polls);
    ck_assert(page->posted_more);
    ck_assert(page->record[0].comm[0].last.blocking);
    ck_assert(page->record[0].comm[0].before.blocking);
    ck_assert(!page->record[0].more);
}
