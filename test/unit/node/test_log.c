/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The ring of a rank's last messages: order, wrap, sizes, times, and what a reader sees of a ring
 * that is being written.
 */

#include "faultloc/node/log.h"
#include "suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOW (100000 * FTREE_MS)

static struct faultloc_page page;
static struct ftree_log log_;

#define DOUBLE 0x080b /* of MPICH's handle of MPI_DOUBLE, 0x4c00080b: 8 bytes */

/* Every field of message n follows from n, so that a reader can tell a mixed one. */
static void write_message(struct faultloc_ring *r, uint32_t n)
{
    if (n % 2)
        FAULTLOC_RING_WRITE(r, FAULTLOC_RING_RECV, n * 3ull, 0, (int32_t) (n ^ 0x5555), n + 1,
                            (int32_t) (n % 7), (void) 0);
    else
        FAULTLOC_RING_WRITE(r, FAULTLOC_RING_SEND, n * 3ull, DOUBLE, (int32_t) (n ^ 0x5555), n + 1,
                            (int32_t) (n % 7), (void) 0);
}

static uint32_t number_of(const struct ftree_log_entry *e)
{
    return (uint32_t) e->tag ^ 0x5555;
}

static void require_message(const struct ftree_log_entry *e, uint32_t n)
{
    REQUIRE(e->type == (n % 2 ? FTREE_LOG_RECV : FTREE_LOG_SEND));
    REQUIRE(e->bytes == n * (n % 2 ? 3ull : 24ull));
    REQUIRE(number_of(e) == n);
    REQUIRE(e->peer == (int32_t) (n % 7));
    REQUIRE(e->context == (uint16_t) (n + 1));
}

/* ---- order and wrap ------------------------------------------------------------------------ */

TEST_CASE(an_empty_ring_has_nothing)
{
    faultloc_log_read(&page, NOW, &log_);
    ck_assert_int_eq(log_.entries, 0);
}

static const uint32_t lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 1000};

TEST_CASES(the_last_messages_newest_first, COUNT(lengths))
{
    uint32_t n = lengths[_i], held = n < FTREE_LOG_MAX ? n : FTREE_LOG_MAX;

    for (uint32_t i = 0; i < n; i++)
        write_message(&page.ring, i);
    faultloc_log_read(&page, NOW, &log_);
    ck_assert_int_eq(log_.entries, (int32_t) held);
    for (uint32_t i = 0; i < held; i++)
        require_message(&log_.entry[i], n - 1 - i);
}

/* The count is 32 bits wide, at its end it begins again.  Number 0 looks as if it had never been
 * written. */
TEST_CASE(the_count_goes_round)
{
    page.ring.count = 0u - 10 * FAULTLOC_RING_STEP;
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t held = i < FTREE_LOG_MAX ? i + 1 : FTREE_LOG_MAX;
        bool round = i >= 9 && i < 9 + FTREE_LOG_MAX;
        write_message(&page.ring, i + 1);
        faultloc_log_read(&page, NOW, &log_);
        ck_assert_int_eq(log_.entries, (int32_t) (held - round));
        require_message(&log_.entry[0], i == 9 ? 9 : i + 1);
    }
    ck_assert_uint_eq(page.ring.count, 40 * FAULTLOC_RING_STEP);
}

TEST_CASE(any_source_is_no_rank)
{
    FAULTLOC_RING_WRITE(&page.ring, FAULTLOC_RING_RECV, 8, 0, -1, 3, -2, (void) 0);
    faultloc_log_read(&page, NOW, &log_);
    ck_assert_int_eq(log_.entry[0].peer, FTREE_NONE);
    ck_assert_int_eq(log_.entry[0].tag, -1);
}

/* ---- what is being written ----------------------------------------------------------------- */

/* As a writer that is interrupted behind its claim: it has counted, and spoilt half an entry. */
TEST_CASE(an_entry_that_is_being_written_is_left_out)
{
    uint32_t count;

    for (uint32_t i = 0; i < 40; i++)
        write_message(&page.ring, i);
    FAULTLOC_RING_COUNT(&page.ring, count);
    ck_assert_uint_eq(count, 41 * FAULTLOC_RING_STEP);
    page.ring.entry[41 % FAULTLOC_RING_ENTRIES].tag = 77;
    faultloc_log_read(&page, NOW, &log_);
    ck_assert_int_eq(log_.entries, FTREE_LOG_MAX - 1);
    for (int32_t i = 0; i < log_.entries; i++)
        require_message(&log_.entry[i], (uint32_t) (39 - i));
}

TEST_CASE(garbage_is_not_believed)
{
    for (int value = 0; value < 256; value++) {
        memset(&page, value, sizeof(page));
        faultloc_log_read(&page, NOW, &log_);
        REQUIRE(log_.entries >= 0 && log_.entries <= FTREE_LOG_MAX);
        for (int32_t i = 0; i < log_.entries; i++) {
            REQUIRE(log_.entry[i].type < FTREE_LOG_TYPES && log_.entry[i].peer >= FTREE_NONE);
            REQUIRE(log_.entry[i].at <= NOW);
        }
    }
}

static _Atomic bool stop;
static _Atomic uint32_t written;

static void *keep_writing(void *arg)
{
    uint32_t n = 0;

    for (; !stop; n++) {
        write_message(arg, n);
        written = n + 1;
    }
    return NULL;
}

/* Every entry that a reader gets beside a writer who never pauses is a whole one, and each is older
 * than the one before. */
TEST_CASE(nothing_torn_is_read)
{
    pthread_t writer;
    int read = 0, wrapped = 0;
    uint32_t last = 0;

    ck_assert_int_eq(pthread_create(&writer, NULL, keep_writing, &page.ring), 0);
    while (read < 20000 || wrapped < 100) {
        uint32_t before = written;
        faultloc_log_read(&page, NOW, &log_);
        for (int32_t i = 0; i < log_.entries; i++) {
            uint32_t n = number_of(&log_.entry[i]);
            require_message(&log_.entry[i], n);
            REQUIRE(i == 0 || n < last);
            last = n;
        }
        read++;
        wrapped += log_.entries > 0 && written - before > FAULTLOC_RING_ENTRIES;
        if (log_.entries == 0 || written == before)
            sched_yield(); /* on one processor, let it write */
    }
    stop = true;
    pthread_join(writer, NULL);
    faultloc_log_read(&page, NOW, &log_);
    ck_assert_int_eq(log_.entries, FTREE_LOG_MAX);
    for (int32_t i = 0; i < log_.entries; i++)
        require_message(&log_.entry[i], written - 1 - (uint32_t) i);
}

/* ---- sizes and times ----------------------------------------------------------------------- */

static const struct {
    uint32_t datatype; /* MPICH's handle, 0: bytes */
    uint64_t count, bytes;
} sizes[] = {
    {0, 0, 0},
    {0, 77, 77},
    {0, UINT64_MAX, UINT64_MAX},
    {0x4c00010d, 5, 5}, /* MPI_BYTE */
    {0x4c000405, 5, 20}, /* MPI_INT */
    {0x4c00080b, 5, 40}, /* MPI_DOUBLE */
    {0x4c001009, 1ull << 40, 1ull << 44}, /* one of 16 bytes */
    {0x4c000405, 0, 0},
};

TEST_CASES(bytes_are_count_times_size, COUNT(sizes))
{
    FAULTLOC_RING_WRITE(&page.ring, FAULTLOC_RING_SEND, sizes[_i].count, sizes[_i].datatype, 0, 0,
                        0, (void) 0);
    faultloc_log_read(&page, NOW, &log_);
    ck_assert_uint_eq(log_.entry[0].bytes, sizes[_i].bytes);
}

static struct faultloc_board *board;

static struct faultloc_page *make_board(void)
{
    int fd;

    ck_assert_int_eq(faultloc_board_make(1, 6, 2, 0, &board, &fd), 0);
    close(fd);
    return (struct faultloc_page *) (void *) faultloc_board_slot(board, 1);
}

static ftree_time age_of(int32_t entry)
{
    return (NOW - log_.entry[entry].at) / FTREE_MS;
}

/* A message is as old as the look that first found it; one that none found is of now. */
TEST_CASE(times_are_those_of_the_looks)
{
    struct faultloc_page *p = make_board();

    write_message(&p->ring, 1);
    faultloc_log_tick(board, 1, NOW - 900 * FTREE_MS);
    write_message(&p->ring, 2);
    write_message(&p->ring, 3);
    faultloc_log_tick(board, 1, NOW - 500 * FTREE_MS);
    faultloc_log_tick(board, 1, NOW - 200 * FTREE_MS);
    faultloc_log_tick(board, 1, NOW - 100 * FTREE_MS);
    write_message(&p->ring, 4);
    faultloc_log_look(board, 1, NOW, &log_);
    ck_assert_int_eq(log_.entries, 4);
    ck_assert_uint_eq(age_of(0), 0);
    ck_assert_uint_eq(age_of(1), 500);
    ck_assert_uint_eq(age_of(2), 500);
    ck_assert_uint_eq(age_of(3), 900);
    ck_assert_uint_eq(p->ring.looks, 2); /* those that found the same are not kept */
    faultloc_board_unmap(board);
}

/* Who waits began nothing since. */
TEST_CASE(the_last_ones_are_before_the_wait)
{
    struct faultloc_page *p = make_board();

    write_message(&p->ring, 1);
    faultloc_log_tick(board, 1, NOW - 900 * FTREE_MS);
    write_message(&p->ring, 2);
    p->slot.call = p->slot.wait_call = 7;
    p->slot.wait_since_ns = NOW - 700 * FTREE_MS;
    faultloc_log_look(board, 1, NOW, &log_);
    ck_assert_uint_eq(age_of(0), 700);
    ck_assert_uint_eq(age_of(1), 900);
    faultloc_log_tick(board, 1, NOW - 650 * FTREE_MS);
    faultloc_log_look(board, 1, NOW, &log_);
    ck_assert_uint_eq(age_of(0), 700);
    p->slot.wait_call = 6; /* that wait is over */
    faultloc_log_look(board, 1, NOW, &log_);
    ck_assert_uint_eq(age_of(0), 650);
    p->slot.wait_call = 7;
    p->slot.many_threads = 1; /* another thread may have sent */
    faultloc_log_look(board, 1, NOW, &log_);
    ck_assert_uint_eq(age_of(0), 650);
    p->slot.many_threads = 0;
    p->slot.wait_since_ns = NOW + 1;
    faultloc_log_look(board, 1, NOW, &log_);
    ck_assert_uint_eq(age_of(0), 650);
    faultloc_board_unmap(board);
}

/* Of more looks than are kept the last ones count; what is older than all is as the oldest. */
TEST_CASE(many_looks)
{
    struct faultloc_page *p = make_board();
    const int looks = FAULTLOC_RING_LOOKS + 5;

    p->ring.count = 0u - 10 * FAULTLOC_RING_STEP;
    for (int i = 0; i < looks; i++) {
        write_message(&p->ring, (uint32_t) i);
        faultloc_log_tick(board, 1, NOW - (ftree_time) (looks - i) * FTREE_MS);
    }
    faultloc_log_look(board, 1, NOW, &log_);
    ck_assert_int_eq(log_.entries, looks - 1); /* without number 0 */
    for (int32_t i = 0; i < log_.entries; i++) {
        int n = (int) number_of(&log_.entry[i]), age = looks - n;
        ck_assert_int_eq((int) age_of(i), age < FAULTLOC_RING_LOOKS ? age : FAULTLOC_RING_LOOKS);
    }
    faultloc_board_unmap(board);
}

/* ---- on the board -------------------------------------------------------------------------- */

static struct faultloc_page *own_page(void)
{
    void *at =
        mmap(NULL, FAULTLOC_SLOT_ALIGN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert(at != MAP_FAILED);
    return at;
}

/* The same code writes into the private page and, once that is mapped over, to the board. */
TEST_CASE(the_agent_reads_what_the_rank_writes)
{
    struct faultloc_board *b;
    struct faultloc_page *own = own_page();
    int fd;

    write_message(&own->ring, 0);
    own->slot.rank = 5;
    ck_assert_int_eq(faultloc_board_make(1, 6, 2, 0, &b, &fd), 0);
    ck_assert_int_eq(faultloc_board_map_slot(b, fd, 1, own), 0);
    write_message(&own->ring, 1);
    faultloc_log_look(b, 1, NOW, &log_);
    ck_assert_int_eq(log_.rank, 5);
    ck_assert_int_eq(log_.entries, 2);
    require_message(&log_.entry[0], 1);
    require_message(&log_.entry[1], 0);
    faultloc_log_look(b, 0, NOW, &log_);
    ck_assert_int_eq(log_.entries, 0);
    faultloc_board_unmap(b);
    close(fd);
}

TEST_CASE(a_ring_fits_behind_a_slot)
{
    ck_assert_uint_le(sizeof(struct faultloc_page), 4096);
    ck_assert_uint_eq(offsetof(struct faultloc_page, slot), 0);
    ck_assert_uint_eq(offsetof(struct faultloc_page, ring.entry) % FAULTLOC_RING_STEP, 0);
}
