/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The board: its layout, how other processes come by it, the slot over a page of the program's own,
 * verdicts and ranks that are given up.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/board/board.h"
#include "process.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct faultloc_board *make(int32_t nodes, int32_t size, int32_t slots, int *fd)
{
    struct faultloc_board *b = NULL;

    ck_assert_int_eq(faultloc_board_make(nodes, size, slots, 0, &b, fd), 0);
    ck_assert_ptr_nonnull(b);
    return b;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static const struct {
    int32_t nodes, size, slots;
} shapes[] = {{1, 1, 1},  {1, 2, 2},   {1, 96, 96},     {2, 2, 1},         {3, 7, 4},
              {8, 13, 1}, {64, 64, 1}, {1024, 4096, 4}, {16384, 65536, 4}, {5, 1000, 200}};

struct area {
    uintptr_t at, bytes;
};

static int by_place(const void *a, const void *b)
{
    const struct area *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static int list_areas(const struct faultloc_board *b, struct area *area)
{
    const uintptr_t nodes = (uintptr_t) b->nodes, size = (uintptr_t) b->size;
    int n = 0;

    area[n++] = (struct area){(uintptr_t) b, sizeof(*b)};
    area[n++] = (struct area){(uintptr_t) faultloc_board_addresses(b),
                              nodes * sizeof(struct faultloc_address)};
    area[n++] = (struct area){(uintptr_t) faultloc_board_name(b, 0), nodes * FAULTLOC_NAME_SIZE};
    area[n++] = (struct area){(uintptr_t) faultloc_board_rank_node(b), size * sizeof(int32_t)};
    area[n++] =
        (struct area){(uintptr_t) faultloc_board_node_first(b), (nodes + 1) * sizeof(int32_t)};
    area[n++] = (struct area){(uintptr_t) faultloc_board_node_ranks(b), size * sizeof(int32_t)};
    area[n++] = (struct area){(uintptr_t) faultloc_board_rank_pid(b), size * sizeof(int32_t)};
    for (int32_t i = 0; i < b->slots; i++)
        area[n++] = (struct area){(uintptr_t) faultloc_board_slot(b, i), b->page};
    for (int32_t i = 0; i < b->slots; i++)
        area[n++] = (struct area){(uintptr_t) faultloc_board_wait_area(b, i), b->wait_bytes};
    return n;
}

/* No two of them overlap, all are inside, and each slot has a page of its own. */
TEST_CASES(tables_lie_apart, COUNT(shapes))
{
    static struct area area[512];
    struct stat st;
    int fd;
    struct faultloc_board *b = make(shapes[_i].nodes, shapes[_i].size, shapes[_i].slots, &fd);
    int n = list_areas(b, area);

    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_uint_eq(b->bytes, (uint64_t) st.st_size);
    ck_assert_uint_eq(b->page, (uint32_t) sysconf(_SC_PAGESIZE));
    ck_assert_uint_ge(b->page, sizeof(struct faultloc_slot));
    qsort(area, (size_t) n, sizeof(*area), by_place);
    for (int i = 0; i + 1 < n; i++)
        REQUIRE(area[i].at + area[i].bytes <= area[i + 1].at);
    REQUIRE(area[0].at == (uintptr_t) b);
    REQUIRE(area[n - 1].at + area[n - 1].bytes == (uintptr_t) b + b->bytes);
    for (int32_t i = 0; i < b->slots; i++)
        REQUIRE((uintptr_t) faultloc_board_slot(b, i) % b->page == 0);
    for (int32_t i = 0; i < b->slots; i++)
        REQUIRE((uintptr_t) faultloc_board_wait_area(b, i) % b->page == 0);
    ck_assert_uint_ge(b->wait_bytes, sizeof(struct faultloc_wait_area));
    for (int i = 0; i < n; i++)
        REQUIRE(area[i].at % _Alignof(max_align_t) == 0);
    faultloc_board_unmap(b);
    close(fd);
}

/* UCX's queues in shared memory begin at a page of their own: a rank's word of the call, which it
 * writes at each call, has another place in its page, or the two wait for each other's stores. */
TEST_CASE(the_word_of_the_call_is_not_where_pages_begin)
{
    ck_assert_uint_ge(offsetof(struct faultloc_slot, call), 256);
}

static bool is_zero(const void *bytes, size_t len)
{
    const char *p = bytes;

    return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

TEST_CASE(a_new_board_says_its_shape_and_nothing_else)
{
    int fd;
    struct faultloc_board *b = make(3, 7, 4, &fd);

    ck_assert_int_eq(b->nodes, 3);
    ck_assert_int_eq(b->size, 7);
    ck_assert_int_eq(b->slots, 4);
    ck_assert_int_eq(b->agent_pid, 0);
    ck_assert_int_eq(b->abort_code, 0);
    ck_assert_int_eq(b->verdicts, 0);
    ck_assert_int_eq(b->deputy_pid, 0);
    ck_assert(is_zero(b->wakeup, sizeof(b->wakeup)));
    ck_assert(is_zero(b->job_id, sizeof(b->job_id)));
    ck_assert(is_zero((char *) b + sizeof(*b), b->bytes - sizeof(*b)));
    ck_assert_int_eq(faultloc_board_slot(b, 3)->state, FAULTLOC_SLOT_EMPTY);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    faultloc_board_unmap(b);
    faultloc_board_unmap(NULL);
    close(fd);
}

/* ---- another process ------------------------------------------------------------------------- */

static int hold_board(int in, int out, void *arg)
{
    struct faultloc_board *b;
    int fd;

    (void) arg;
    if (faultloc_board_make(2, 5, 3, 0, &b, &fd))
        return 1;
    snprintf(faultloc_board_name(b, 1), FAULTLOC_NAME_SIZE, "c17");
    faultloc_board_rank_node(b)[4] = 1;
    faultloc_board_slot(b, 2)->call = 77;
    process_tell(out, (char) fd);
    process_obey(in);
    return faultloc_board_slot(b, 2)->call == 78 ? 0 : 1;
}

TEST_CASE(another_process_opens_it)
{
    struct process maker;
    struct faultloc_board *b;
    int their_fd, fd;

    process_start(&maker, hold_board, NULL);
    their_fd = process_hear(&maker);
    ck_assert_int_eq(faultloc_board_open(maker.pid, their_fd, &b, &fd), 0);
    ck_assert_int_eq(b->nodes, 2);
    ck_assert_int_eq(b->size, 5);
    ck_assert_int_eq(b->slots, 3);
    ck_assert_str_eq(faultloc_board_name(b, 1), "c17");
    ck_assert_int_eq(faultloc_board_rank_node(b)[4], 1);
    ck_assert_uint_eq(faultloc_board_slot(b, 2)->call, 77);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    faultloc_board_slot(b, 2)->call++;
    process_say(&maker, '.');
    ck_assert_int_eq(process_end(&maker), 0); /* it saw what was written */
    ck_assert_uint_eq(faultloc_board_slot(b, 2)->call, 78);
    faultloc_board_unmap(b);
    close(fd);
}

/* The maker may die as soon as the others have opened its board. */
TEST_CASE(it_outlives_its_maker)
{
    struct process maker;
    struct faultloc_board *b;
    int fd;

    process_start(&maker, hold_board, NULL);
    ck_assert_int_eq(faultloc_board_open(maker.pid, process_hear(&maker), &b, &fd), 0);
    process_kill(&maker);
    ck_assert_str_eq(faultloc_board_name(b, 1), "c17");
    faultloc_board_slot(b, 0)->spins = 1;
    faultloc_board_unmap(b);
    close(fd);
}

/* As agent and deputy do, which were given its descriptor. */
TEST_CASE(who_has_its_descriptor_maps_it)
{
    int fd;
    struct faultloc_board *b = make(1, 2, 2, &fd), *again = NULL;

    int before = process_descriptors();
    ck_assert_int_eq(faultloc_board_map(fd, &again), 0);
    ck_assert_int_eq(process_descriptors(), before);
    faultloc_board_slot(b, 1)->spins = 7;
    ck_assert_uint_eq(faultloc_board_slot(again, 1)->spins, 7);
    faultloc_board_unmap(b);
    faultloc_board_slot(again, 1)->spins++;
    ck_assert_int_eq(faultloc_board_map(fd, &b), 0); /* the descriptor stayed the caller's */
    ck_assert_uint_eq(faultloc_board_slot(b, 1)->spins, 8);
    faultloc_board_unmap(again);
    faultloc_board_unmap(b);
    close(fd);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void shorten(struct faultloc_board *b, int fd)
{
    (void) b;
    ck_assert_int_eq(ftruncate(fd, 100), 0);
}

static void lengthen(struct faultloc_board *b, int fd)
{
    ck_assert_int_eq(ftruncate(fd, (off_t) b->bytes + 1), 0);
}

static void cut_last_page(struct faultloc_board *b, int fd)
{
    ck_assert_int_eq(ftruncate(fd, (off_t) (b->bytes - b->page)), 0);
}

static void empty(struct faultloc_board *b, int fd)
{
    (void) b;
    ck_assert_int_eq(ftruncate(fd, 0), 0);
}

static void wrong_magic(struct faultloc_board *b, int fd)
{
    (void) fd;
    b->magic ^= 1;
}

static void wrong_layout(struct faultloc_board *b, int fd)
{
    (void) fd;
    b->layout--;
}

static void (*const damages[])(struct faultloc_board *, int) = {shorten, lengthen,    cut_last_page,
                                                                empty,   wrong_magic, wrong_layout};

TEST_CASES(a_damaged_board_is_refused, COUNT(damages))
{
    struct faultloc_board *b, *other = NULL;
    int fd, theirs;

    b = make(2, 2, 1, &fd);
    damages[_i](b, fd);
    int before = process_descriptors();
    ck_assert_int_eq(faultloc_board_open(getpid(), fd, &other, &theirs), EPROTO);
    ck_assert_int_eq(faultloc_board_map(fd, &other), EPROTO);
    ck_assert_ptr_null(other);
    ck_assert_int_eq(process_descriptors(), before);
    close(fd);
}

TEST_CASE(what_is_no_board_is_refused)
{
    struct faultloc_board *b = NULL;
    int fd, ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    int before = process_descriptors();
    ck_assert_int_eq(faultloc_board_open(getpid(), ends[0], &b, &fd), EPROTO);
    ck_assert_int_eq(faultloc_board_map(ends[0], &b), EPROTO);
    ck_assert_int_eq(faultloc_board_map(999, &b), EBADF);
    ck_assert_int_eq(faultloc_board_open(getpid(), 999, &b, &fd), ENOENT);
    ck_assert_int_eq(faultloc_board_open(getpid(), -1, &b, &fd), ENOENT);
    /* no process has this number: it is above the kernel's highest */
    ck_assert_int_eq(faultloc_board_open(1 << 30, 3, &b, &fd), ENOENT);
    ck_assert_int_eq(process_descriptors(), before);
    ck_assert_ptr_null(b);
    close(ends[0]);
    close(ends[1]);
}

TEST_CASE(without_descriptors_there_is_none)
{
    struct faultloc_board *b = NULL;
    int fd, rc;

    process_take_descriptors();
    rc = faultloc_board_make(1, 1, 1, 0, &b, &fd);
    process_give_descriptors();
    ck_assert_int_eq(rc, EMFILE);
    ck_assert_ptr_null(b);
}

/* ---- the slot over a page -------------------------------------------------------------------- */

static union {
    struct faultloc_slot slot;
    char room[FAULTLOC_SLOT_ALIGN];
} page __attribute__((aligned(FAULTLOC_SLOT_ALIGN)));

static struct faultloc_slot some_slot(void)
{
    struct faultloc_slot s;

    memset(&s, 0, sizeof(s));
    s.call = 0x1122334455667788;
    s.wait_call = 5;
    s.wait_since_ns = 6;
    s.spins = 255;
    s.wait_peer = FAULTLOC_PEER_LOCAL;
    s.state = FAULTLOC_SLOT_RUNNING;
    s.rank = 9;
    s.pid = 1234;
    s.start = UINT64_MAX;
    s.many_threads = 1;
    return s;
}

TEST_CASE(a_slot_over_a_page_carries_its_content)
{
    struct faultloc_slot before = some_slot();
    int fd;
    struct faultloc_board *b = make(1, 3, 3, &fd);

    page.slot = before;
    ck_assert_int_eq(faultloc_board_map_slot(b, fd, 1, &page), 0);
    close(fd);
    ck_assert_mem_eq(&page.slot, &before, sizeof(before));
    ck_assert_mem_eq(faultloc_board_slot(b, 1), &before, sizeof(before));
    page.slot.spins++;
    ck_assert_uint_eq(faultloc_board_slot(b, 1)->spins, 256);
    ck_assert(is_zero(faultloc_board_slot(b, 0), b->page));
    ck_assert(is_zero(faultloc_board_slot(b, 2), b->page));
    faultloc_board_unmap(b);
    page.slot.spins++; /* stays mapped: MPI may be called after the end */
    ck_assert_uint_eq(page.slot.spins, 257);
}

static int write_page(int in, int out, void *arg)
{
    struct faultloc_board *b;
    int fd;

    page.slot = some_slot();
    if (faultloc_board_open(getppid(), *(int *) arg, &b, &fd) ||
        faultloc_board_map_slot(b, fd, 1, &page))
        return 1;
    page.slot.spins = 1000;
    process_tell(out, '.');
    process_obey(in);
    return 0;
}

TEST_CASE(a_page_is_seen_by_another_process)
{
    struct process rank;
    int fd;
    struct faultloc_board *b = make(1, 2, 2, &fd);

    process_start(&rank, write_page, &fd);
    process_hear(&rank);
    ck_assert_uint_eq(faultloc_board_slot(b, 1)->spins, 1000);
    ck_assert_int_eq(faultloc_board_slot(b, 1)->pid, 1234);
    process_kill(&rank);
    ck_assert_uint_eq(faultloc_board_slot(b, 1)->spins, 1000);
    faultloc_board_unmap(b);
    close(fd);
}

TEST_CASE(a_page_that_is_not_aligned_is_refused)
{
    static const size_t off[] = {1, 8, 64, 2048};
    int fd;
    struct faultloc_board *b = make(1, 1, 1, &fd);

    memset(&page, 'x', sizeof(page));
    for (int i = 0; i < COUNT(off); i++)
        ck_assert_int_eq(faultloc_board_map_slot(b, fd, 0, page.room + off[i]), EINVAL);
    for (size_t i = 0; i < sizeof(page); i++)
        REQUIRE(page.room[i] == 'x');
    ck_assert(is_zero(faultloc_board_slot(b, 0), b->page));
    faultloc_board_unmap(b);
    close(fd);
}

TEST_CASE(a_slot_needs_the_boards_descriptor)
{
    int fd;
    struct faultloc_board *b = make(1, 1, 1, &fd);

    page.slot = some_slot();
    close(fd);
    ck_assert_int_eq(faultloc_board_map_slot(b, fd, 0, &page), EBADF);
    ck_assert_uint_eq(page.slot.spins, 255);
    faultloc_board_unmap(b);
}

/* By the kernel, which says so, and sends no signal. */
static bool may_be_written(void *at)
{
    int zero = open("/dev/zero", O_RDONLY);
    bool may = read(zero, at, sizeof(int32_t)) == sizeof(int32_t);

    close(zero);
    return may;
}

TEST_CASE(a_board_that_is_protected_is_written_by_others_and_in_the_own_slot_alone)
{
    struct faultloc_board *rank, *agent;
    int fd;

    rank = make(2, 4, 2, &fd);
    ck_assert_int_eq(faultloc_board_map(fd, &agent), 0);
    ck_assert_int_eq(faultloc_board_map_slot(rank, fd, 1, &page), 0);
    ck_assert_int_eq(faultloc_board_protect(rank, 1), 0);
    ck_assert(!may_be_written(rank));
    ck_assert(!may_be_written(faultloc_board_rank_pid(rank)));
    ck_assert(!may_be_written(faultloc_board_slot(rank, 0)));
    ck_assert(!may_be_written(faultloc_board_wait_area(rank, 0)));
    ck_assert(may_be_written(faultloc_board_wait_area(rank, 1)));
    ck_assert(may_be_written(&page.slot.spins));
    agent->abort_code = 7;
    ck_assert_int_eq(rank->abort_code, 7);
    faultloc_board_unmap(rank);
    faultloc_board_unmap(agent);
    close(fd);
}

/* ---- children of fork() ---------------------------------------------------------------------- */

/* A rank's, word by word: l leave the slot, t take it again, s store. */
static int fork_child(int in, int out, void *arg)
{
    for (;;) {
        switch (process_obey(in)) {
            case 'l':
                process_tell(out, faultloc_board_leave_slot(arg, &page) ? 'n' : 'y');
                break;
            case 't':
                process_tell(out, faultloc_board_take_slot(arg, 1, &page) ? 'n' : 'y');
                break;
            case 's':
                page.slot.call += 1u << FAULTLOC_CALL_BITS;
                process_tell(out, page.slot.spins == 255 ? 'y' : 'n'); /* the rest is there, too */
                break;
            default:
                return 0;
        }
    }
}

static char tell(const struct process *p, char word)
{
    process_say(p, word);
    return process_hear(p);
}

TEST_CASE(a_fork_child_that_leaves_the_slot_stores_elsewhere_until_it_takes_it)
{
    struct faultloc_board *rank, *agent;
    struct faultloc_slot *slot;
    struct process child;
    uint64_t call;
    int fd;

    rank = make(1, 2, 2, &fd);
    ck_assert_int_eq(faultloc_board_map(fd, &agent), 0);
    slot = faultloc_board_slot(agent, 1);
    page.slot = some_slot();
    ck_assert_int_eq(faultloc_board_map_slot(rank, fd, 1, &page), 0);
    ck_assert_int_eq(faultloc_board_protect(rank, 1), 0);
    call = slot->call;
    process_start(&child, fork_child, rank);
    ck_assert_int_eq(tell(&child, 'l'), 'y');
    ck_assert_int_eq(tell(&child, 's'), 'y');
    ck_assert_uint_eq(slot->call, call);
    slot->failures = 0x80000001u; /* the agent's, who knows nothing of the child */
    slot->longest_ns = 7;
    ck_assert_int_eq(tell(&child, 't'), 'y');
    ck_assert_uint_eq(slot->call, call + (1u << FAULTLOC_CALL_BITS));
    ck_assert_uint_eq(slot->failures, 0x80000001u);
    ck_assert_uint_eq(slot->longest_ns, 7);
    ck_assert_int_eq(tell(&child, 's'), 'y');
    ck_assert_uint_eq(slot->call, call + (2u << FAULTLOC_CALL_BITS));
    process_kill(&child);
    ck_assert_uint_eq(page.slot.call, slot->call); /* the rank's is mapped as before */
    faultloc_board_unmap(rank);
    faultloc_board_unmap(agent);
    close(fd);
}

static int execute_program(int in, int out, void *arg)
{
    (void) out, (void) arg;
    dup2(in, STDIN_FILENO);
    execlp("cat", "cat", (char *) NULL);
    return 1;
}

TEST_CASE(who_has_executed_a_program_has_mapped_no_board)
{
    int fd, other;
    struct faultloc_board *b = make(1, 1, 1, &fd), *second = make(1, 1, 1, &other);
    struct process child, program;

    faultloc_board_unmap(second);
    process_start(&child, fork_child, b);
    process_start(&program, execute_program, NULL);
    ck_assert(faultloc_board_is_mapped_by(fd, child.pid));
    ck_assert(!faultloc_board_is_mapped_by(other, child.pid));
    UNTIL(!faultloc_board_is_mapped_by(fd, program.pid));
    process_kill(&child);
    ck_assert(!faultloc_board_is_mapped_by(fd, child.pid));
    process_kill(&program);
    faultloc_board_unmap(b);
    close(fd);
    close(other);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static struct ftree_verdict verdict(uint32_t id, enum ftree_class class_, ftree_time withdrawn)
{
    return (struct ftree_verdict){
        .fln = 1, .id = id, .class_ = (uint8_t) class_, .withdrawn = withdrawn};
}

static void remember(struct faultloc_board *b, uint32_t id, enum ftree_class class_,
                     ftree_time withdrawn)
{
    struct ftree_verdict v = verdict(id, class_, withdrawn);

    faultloc_board_remember(b, &v);
}

TEST_CASE(a_verdict_that_is_over_stays_in_its_place)
{
    int fd;
    struct faultloc_board *b = make(2, 2, 1, &fd);

    remember(b, 1, FTREE_CLASS_NODE_OUTAGE, 0);
    remember(b, 2, FTREE_CLASS_PROCESS_STOPPED, 0);
    ck_assert_int_eq(b->verdicts, 2);
    ck_assert_int_eq(b->peer_lost, 1);
    ck_assert_int_eq(b->withdrawals, 0);
    remember(b, 1, FTREE_CLASS_NODE_OUTAGE, 500);
    ck_assert_int_eq(b->verdicts, 2);
    ck_assert_uint_eq(b->verdict[0].withdrawn, 500);
    ck_assert_int_eq(b->peer_lost, 0);
    ck_assert_int_eq(b->withdrawals, 1);
    remember(b, 9, FTREE_CLASS_NODE_OUTAGE, 600); /* nobody knew of it */
    ck_assert_int_eq(b->verdicts, 2);
    close(fd);
    faultloc_board_unmap(b);
}

TEST_CASE(on_a_full_board_what_is_over_gives_its_place)
{
    int fd;
    struct faultloc_board *b = make(2, 2, 1, &fd);

    for (uint32_t id = 0; id < FAULTLOC_BOARD_VERDICTS; id++)
        remember(b, id, FTREE_CLASS_PROCESS_STOPPED, 0);
    remember(b, 100, FTREE_CLASS_PROCESS_CRASH, 0); /* takes that of one that loses no peer */
    ck_assert_int_eq(b->verdicts, FAULTLOC_BOARD_VERDICTS);
    ck_assert_int_eq(b->peer_lost, 1);
    remember(b, 7, FTREE_CLASS_PROCESS_STOPPED, 900);
    remember(b, 3, FTREE_CLASS_PROCESS_STOPPED, 800);
    remember(b, 101, FTREE_CLASS_NODE_OUTAGE, 0);
    ck_assert_uint_eq(b->verdict[3].id, 101); /* over for longest */
    ck_assert_uint_eq(b->verdict[7].id, 7);
    ck_assert_int_eq(b->withdrawals, 4); /* so that all are read again */
    close(fd);
    faultloc_board_unmap(b);
}

TEST_CASE(a_loss_that_found_no_place_is_not_forgotten_for_another_verdict)
{
    int fd;
    struct faultloc_board *b = make(2, 2, 1, &fd);

    for (uint32_t id = 0; id < FAULTLOC_BOARD_VERDICTS; id++)
        remember(b, id, FTREE_CLASS_PROCESS_STOPPED, 0);
    remember(b, 100, FTREE_CLASS_NODE_OUTAGE, 0);
    remember(b, 101, FTREE_CLASS_PROCESS_STOPPED, 0);
    ck_assert_int_eq(b->peer_lost, 1);
    remember(b, 5, FTREE_CLASS_PROCESS_STOPPED, 700);
    ck_assert_int_eq(b->peer_lost, 1);
    close(fd);
    faultloc_board_unmap(b);
}

/* ---- ranks that are given up ----------------------------------------------------------------- */

/* Two nodes of two ranks each, placed in turn. */
static struct faultloc_board *make_pairs(int *fd)
{
    struct faultloc_board *b = make(2, 4, 2, fd);

    for (int32_t i = 0; i <= 2; i++)
        faultloc_board_node_first(b)[i] = 2 * i;
    for (int32_t i = 0; i < 4; i++) {
        faultloc_board_node_ranks(b)[i] = i / 2 + 2 * (i % 2);
        faultloc_board_rank_node(b)[i] = i % 2;
    }
    return b;
}

TEST_CASE(a_rank_is_given_up_once)
{
    int fd;
    struct faultloc_board *b = make_pairs(&fd);

    faultloc_board_give_up(b, 3, FAULTLOC_GIVEN_UP_ENDED);
    faultloc_board_give_up(b, 0, FAULTLOC_GIVEN_UP_ENDED);
    faultloc_board_give_up(b, 3, FAULTLOC_GIVEN_UP_ENDED);
    faultloc_board_give_up(b, -1, FAULTLOC_GIVEN_UP_ENDED); /* no ranks of this job */
    faultloc_board_give_up(b, 4, FAULTLOC_GIVEN_UP_ENDED);
    ck_assert_int_eq(b->failures, 2);
    ck_assert_int_eq(faultloc_board_failed(b)[0], 3);
    ck_assert_int_eq(faultloc_board_failed(b)[1], 0);
    ck_assert_int_eq(faultloc_board_has_failed(b)[3], FAULTLOC_GIVEN_UP_ENDED);
    ck_assert_int_eq(faultloc_board_has_failed(b)[1], 0);
    for (int32_t i = 0; i < b->slots; i++) { /* what its ranks see where a message begins */
        ck_assert_int_lt((int32_t) faultloc_board_slot(b, i)->failures, 0);
        ck_assert_uint_eq(faultloc_board_slot(b, i)->news, 1);
    }
    close(fd);
    faultloc_board_unmap(b);
}

TEST_CASE(a_verdict_gives_up_its_rank_or_all_of_its_node)
{
    int fd;
    struct faultloc_board *b = make_pairs(&fd);
    struct ftree_verdict v = verdict(1, FTREE_CLASS_PROCESS_CRASH, 0);

    v.kind = FTREE_KIND_RANK;
    v.node = 1;
    v.rank = 3;
    faultloc_board_give_up_of(b, &v);
    ck_assert_int_eq(b->failures, 1);
    v.class_ = FTREE_CLASS_PROCESS_STOPPED; /* it may go on */
    v.rank = 1;
    faultloc_board_give_up_of(b, &v);
    ck_assert_int_eq(b->failures, 1);
    v = verdict(2, FTREE_CLASS_NODE_OUTAGE, 0);
    v.kind = FTREE_KIND_NODE;
    v.node = 1;
    v.rank = 3; /* the one that somebody waited for */
    faultloc_board_give_up_of(b, &v);
    ck_assert_int_eq(b->failures, 2);
    ck_assert_int_eq(faultloc_board_failed(b)[1], 1);
    v.node = 7; /* of no board like this one */
    faultloc_board_give_up_of(b, &v);
    ck_assert_int_eq(b->failures, 2);
    close(fd);
    faultloc_board_unmap(b);
}

TEST_CASE(a_lost_node_is_given_up_after_the_grace_time)
{
    int fd;
    struct faultloc_board *b = make_pairs(&fd);
    struct ftree_verdict v = verdict(1, FTREE_CLASS_NODE_OUTAGE, 0);

    v.kind = FTREE_KIND_NODE;
    v.rank = FTREE_NONE;
    v.located = 1000;
    faultloc_board_remember(b, &v);
    b->settings.patience = 300;
    faultloc_board_settle(b, 900); /* by a clock that lags a little */
    faultloc_board_settle(b, 1299);
    ck_assert_int_eq(b->failures, 0);
    v.withdrawn = 1290;
    faultloc_board_remember(b, &v);
    faultloc_board_settle(b, 1300);
    ck_assert_int_eq(b->failures, 0);
    v.withdrawn = 0;
    faultloc_board_remember(b, &v);
    faultloc_board_settle(b, 1300);
    ck_assert_int_eq(b->failures, 2);
    close(fd);
    faultloc_board_unmap(b);
}

/* What was found before the stall limit does not end anything sooner. */
TEST_CASE(patience_counts_from_when_the_stall_limit_would_be_over)
{
    int fd;
    struct faultloc_board *b = make_pairs(&fd);
    struct ftree_verdict v = verdict(1, FTREE_CLASS_NODE_OUTAGE, 0);

    b->settings.stall = 1000;
    b->settings.patience = 4000;
    v.first_symptom = 5000;
    v.located = 5900;
    ck_assert_uint_eq(faultloc_board_early(b, &v), 600);
    ck_assert_uint_eq(faultloc_board_patience(b, &v), 5000); /* it may have been silent since 5900 */
    v.located = 5300;
    ck_assert_uint_eq(faultloc_board_patience(b, &v), 5200);
    v.located = 6700;
    ck_assert_uint_eq(faultloc_board_early(b, &v), 0);
    ck_assert_uint_eq(faultloc_board_patience(b, &v), 5000);
    v.located = 5900;
    b->settings.stall_is_set = true;
    ck_assert_uint_eq(faultloc_board_patience(b, &v), 4000);
    b->settings.stall_is_set = false;
    b->settings.patience = 100; /* who wants it soon gets it soon */
    ck_assert_uint_eq(faultloc_board_patience(b, &v), 200);
    close(fd);
    faultloc_board_unmap(b);
}

/* ---- what was set while the job runs --------------------------------------------------------- */

TEST_CASE(what_was_set_is_there_for_the_next_agent)
{
    int fd;
    struct faultloc_board *b = make_pairs(&fd);
    char *text;
    size_t len = 1;

    ck_assert_ptr_null(faultloc_board_setting(b, fd, &len));
    ck_assert_uint_eq(len, 0);
    ck_assert_int_eq(faultloc_board_keep_setting(b, fd, "a longer one", 12), 0);
    ck_assert_int_eq(faultloc_board_keep_setting(b, fd, "the last", 8), 0);
    text = faultloc_board_setting(b, fd, &len);
    ck_assert_uint_eq(len, 8);
    ck_assert_mem_eq(text, "the last", 8);
    free(text);
    faultloc_board_unmap(b);
    close(fd);
}

TEST_CASE(what_cannot_be_written_down_is_nothing)
{
    int fd;
    struct faultloc_board *b = make_pairs(&fd);
    size_t len;

    ck_assert_int_eq(faultloc_board_keep_setting(b, fd, "first", 5), 0);
    ck_assert_int_eq(faultloc_board_keep_setting(b, -1, "second", 6), EBADF);
    ck_assert_ptr_null(faultloc_board_setting(b, fd, &len));
    faultloc_board_unmap(b);
    close(fd);
}
