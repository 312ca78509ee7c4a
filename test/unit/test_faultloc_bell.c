/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The bell rings from another process, when the agent has changed, and never writes to what is not a
 * bell; what is told of peers is read whole, once, and not believed blindly.
 */

#include "faultloc_bell.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

static struct faultloc_board *make(void)
{
    struct faultloc_board *b = NULL;
    int fd;

    ck_assert_int_eq(faultloc_board_make(2, 4, 2, &b, &fd), 0);
    close(fd);
    return b;
}

static bool rings(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

static bool ring_from_another_process(const struct faultloc_board *b)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(faultloc_bell_ring(b) ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status == 0;
}

START_TEST(it_rings)
{
    struct faultloc_board *b = make();
    int fd[2];

    ck_assert(!faultloc_bell_ring(b));
    ck_assert_int_eq(faultloc_bell_open(b, fd), 0);
    ck_assert(!rings(fd[0]));
    ck_assert(ring_from_another_process(b));
    ck_assert(rings(fd[0]));
    faultloc_bell_hush(fd[0]);
    ck_assert(!rings(fd[0]));
    faultloc_bell_close(b, fd);
    ck_assert(!faultloc_bell_ring(b));
    faultloc_board_unmap(b);
}
END_TEST

static bool has_error(int fd)
{
    struct pollfd p = {.fd = fd};

    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

START_TEST(who_watches_it_sees_it_taken_down)
{
    struct faultloc_board *b = make();
    int fd[2], watch;

    ck_assert_int_eq(faultloc_bell_watch(b), -1);
    ck_assert_int_eq(faultloc_bell_open(b, fd), 0);
    watch = faultloc_bell_watch(b);
    ck_assert_int_ge(watch, 0);
    ck_assert(faultloc_bell_ring(b));
    ck_assert(!has_error(watch));
    faultloc_bell_close(b, fd);
    ck_assert(has_error(watch));
    close(watch);
    faultloc_board_unmap(b);
}
END_TEST

START_TEST(ringing_it_too_often_does_not_block)
{
    struct faultloc_board *b = make();
    int fd[2];

    ck_assert_int_eq(faultloc_bell_open(b, fd), 0);
    for (int i = 0; i < 70000; i++)
        ck_assert(faultloc_bell_ring(b));
    faultloc_bell_hush(fd[0]);
    ck_assert(!rings(fd[0]));
    faultloc_bell_close(b, fd);
    faultloc_board_unmap(b);
}
END_TEST

START_TEST(the_next_agent_has_one_of_its_own)
{
    struct faultloc_board *b = make();
    int fd[2], next[2];

    ck_assert_int_eq(faultloc_bell_open(b, fd), 0);
    ck_assert_int_eq(faultloc_bell_open(b, next), 0);
    faultloc_bell_close(b, fd); /* the old one goes, and leaves the new one alone */
    ck_assert(faultloc_bell_ring(b));
    ck_assert(rings(next[0]));
    faultloc_bell_close(b, next);
    faultloc_board_unmap(b);
}
END_TEST

START_TEST(nothing_is_written_to_what_took_its_number)
{
    struct faultloc_board *b = make();
    char name[] = "/tmp/test_faultloc_bell.XXXXXX";
    int fd[2], number, file = mkstemp(name), other[2];

    ck_assert_int_eq(faultloc_bell_open(b, fd), 0);
    number = fd[1];
    ck_assert_int_eq(dup2(file, number), number); /* a program that closes what is not its own */
    ck_assert(!faultloc_bell_ring(b));
    ck_assert_int_eq(lseek(file, 0, SEEK_END), 0);
    ck_assert_int_eq(pipe(other), 0);
    ck_assert_int_eq(dup2(other[1], number), number);
    ck_assert(!faultloc_bell_ring(b));
    ck_assert(!rings(other[0]));
    unlink(name);
    faultloc_board_unmap(b);
}
END_TEST

/* ---- what is told ---------------------------------------------------------------------------- */

static const int32_t rank_node[] = {0, 0, 1, 1};
static const struct ftree_job job = {.nodes = 2, .size = 4, .rank_node = rank_node};

START_TEST(a_peer_is_told_of_once)
{
    struct faultloc_told told = {0};
    struct ftree_symptom s;
    uint32_t heard = 0;

    ck_assert(faultloc_told_write(&told, 5, 2, ECONNRESET));
    ck_assert(!faultloc_told_write(&told, 6, 2, EIO));
    ck_assert(faultloc_told_write(&told, 7, 3, EHOSTUNREACH));
    ck_assert(faultloc_told_read(&told, &job, 10, &heard, &s));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_PEER_RESET);
    ck_assert_int_eq(s.about.kind, FTREE_KIND_RANK);
    ck_assert_int_eq(s.about.rank, 2);
    ck_assert_int_eq(s.about.node, 1);
    ck_assert_int_eq(s.error, ECONNRESET);
    ck_assert_uint_eq(s.first, 5);
    ck_assert(faultloc_told_read(&told, &job, 10, &heard, &s));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_PEER_UNREACHABLE);
    ck_assert_int_eq(s.about.kind, FTREE_KIND_NODE);
    ck_assert_int_eq(s.about.node, 1);
    ck_assert(!faultloc_told_read(&told, &job, 10, &heard, &s));
}
END_TEST

START_TEST(of_many_the_last_are_read)
{
    static int32_t nodes[200];
    struct ftree_job large = {.nodes = 1, .size = 200, .rank_node = nodes};
    struct faultloc_told told = {0};
    struct ftree_symptom s;
    uint32_t heard = 0;

    for (int32_t rank = 0; rank < 200; rank++)
        ck_assert(faultloc_told_write(&told, 1, rank, ECONNRESET));
    for (int32_t rank = 200 - FAULTLOC_TOLD; rank < 200; rank++) {
        ck_assert(faultloc_told_read(&told, &large, 2, &heard, &s));
        ck_assert_int_eq(s.about.rank, rank);
    }
    ck_assert(!faultloc_told_read(&told, &large, 2, &heard, &s));
}
END_TEST

START_TEST(nonsense_is_passed_over)
{
    struct faultloc_told told = {0};
    struct ftree_symptom s;
    uint32_t heard = 0;

    faultloc_told_write(&told, 1, -1, ECONNRESET);
    faultloc_told_write(&told, 1, 4, ECONNRESET);
    faultloc_told_write(&told, 1, 1, 0);
    faultloc_told_write(&told, 1, 2, 4096);
    faultloc_told_write(&told, 99, 0, EPIPE);
    ck_assert(faultloc_told_read(&told, &job, 10, &heard, &s));
    ck_assert_int_eq(s.about.rank, 0);
    ck_assert_uint_eq(s.first, 10); /* not in the future */
    ck_assert(!faultloc_told_read(&told, &job, 10, &heard, &s));
    told.count = 0x80000000u;
    for (int i = 0; i < FAULTLOC_TOLD && faultloc_told_read(&told, &job, 10, &heard, &s); i++)
        ck_assert_int_lt(s.about.rank, 4);
}
END_TEST

SUITE("faultloc_bell")
{
    TEST(it_rings);
    TEST(who_watches_it_sees_it_taken_down);
    TEST(ringing_it_too_often_does_not_block);
    TEST(the_next_agent_has_one_of_its_own);
    TEST(nothing_is_written_to_what_took_its_number);
    TEST(a_peer_is_told_of_once);
    TEST(of_many_the_last_are_read);
    TEST(nonsense_is_passed_over);
}
