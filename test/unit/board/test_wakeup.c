/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The wakeup socket rings from another process, also when the agent has changed, and leaves nothing
 * behind in who rings it; what is told of peers is read whole, once, and not believed blindly.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/board/wakeup.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

static struct faultloc_board *make(void)
{
    struct faultloc_board *b = NULL;
    int fd;

    ck_assert_int_eq(faultloc_board_make(2, 4, 2, 0, &b, &fd), 0);
    close(fd);
    return b;
}

static bool rings(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

static void close_all(void)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
}

/* By one that has closed all its descriptors, as daemons do. */
static bool ring_from_another_process(const struct faultloc_board *b)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        close_all();
        _exit(faultloc_wakeup_send(b) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status == 0;
}

TEST_CASE(it_rings)
{
    struct faultloc_board *b = make();
    int fd;

    ck_assert(!faultloc_wakeup_send(b));
    ck_assert_int_eq(faultloc_wakeup_open(b, &fd), 0);
    ck_assert(!rings(fd));
    ck_assert(ring_from_another_process(b));
    ck_assert(rings(fd));
    faultloc_wakeup_clear(fd);
    ck_assert(!rings(fd));
    faultloc_wakeup_close(b, &fd);
    ck_assert_int_eq(fd, -1);
    ck_assert(!faultloc_wakeup_send(b));
    faultloc_wakeup_close(b, &fd); /* there is none any more */
    faultloc_board_unmap(b);
}

TEST_CASE(ringing_it_too_often_does_not_block)
{
    struct faultloc_board *b = make();
    int fd, before;

    ck_assert_int_eq(faultloc_wakeup_open(b, &fd), 0);
    before = process_descriptors();
    for (int i = 0; i < 5000; i++)
        REQUIRE(faultloc_wakeup_send(b));
    ck_assert_int_eq(process_descriptors(), before);
    faultloc_wakeup_clear(fd);
    ck_assert(!rings(fd));
    faultloc_wakeup_close(b, &fd);
    faultloc_board_unmap(b);
}

TEST_CASE(the_next_agent_has_one_of_its_own)
{
    struct faultloc_board *b = make();
    int fd, next;

    ck_assert_int_eq(faultloc_wakeup_open(b, &fd), 0);
    ck_assert_int_eq(faultloc_wakeup_open(b, &next), 0);
    faultloc_wakeup_close(b, &fd); /* the old one goes, and leaves the new one alone */
    ck_assert(faultloc_wakeup_send(b));
    ck_assert(rings(next));
    faultloc_wakeup_close(b, &next);
    faultloc_board_unmap(b);
}

static int hold_wakeup(int in, int out, void *arg)
{
    int fd;

    process_tell(out, faultloc_wakeup_open(arg, &fd) == 0 ? 'y' : 'n');
    process_obey(in);
    return 0;
}

/* Its agent was killed, and nobody has taken its name from the board. */
TEST_CASE(nobody_receives_the_wakeup_of_a_dead_agent)
{
    struct faultloc_board *b = make();
    struct process agent;

    process_start(&agent, hold_wakeup, b);
    ck_assert_int_eq(process_hear(&agent), 'y');
    ck_assert(faultloc_wakeup_send(b));
    process_kill(&agent);
    ck_assert(!faultloc_wakeup_send(b));
    faultloc_board_unmap(b);
}

TEST_CASE(without_descriptors_it_does_not_ring)
{
    struct faultloc_board *b = make();
    bool rang;
    int fd, next, rc;

    ck_assert_int_eq(faultloc_wakeup_open(b, &fd), 0);
    process_take_descriptors();
    rang = faultloc_wakeup_send(b);
    rc = faultloc_wakeup_open(b, &next);
    process_give_descriptors();
    ck_assert(!rang);
    ck_assert_int_eq(rc, EMFILE);
    ck_assert(faultloc_wakeup_send(b)); /* the name on the board is still that of the first */
    ck_assert(rings(fd));
    faultloc_wakeup_close(b, &fd);
    faultloc_board_unmap(b);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static const int32_t rank_node[] = {0, 0, 1, 1};
static const struct ftree_job job = {.nodes = 2, .size = 4, .rank_node = rank_node};

TEST_CASE(a_peer_is_reported_once)
{
    struct faultloc_peer_errors errors = {0};
    struct ftree_symptom s;
    uint32_t heard = 0;

    ck_assert(faultloc_peer_errors_add(&errors, 5, 2, ECONNRESET));
    ck_assert(!faultloc_peer_errors_add(&errors, 6, 2, EIO));
    ck_assert(faultloc_peer_errors_add(&errors, 7, 3, EHOSTUNREACH));
    ck_assert(faultloc_peer_errors_next(&errors, &job, 10, &heard, &s));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_PEER_RESET);
    ck_assert_int_eq(s.about.kind, FTREE_KIND_RANK);
    ck_assert_int_eq(s.about.rank, 2);
    ck_assert_int_eq(s.about.node, 1);
    ck_assert_int_eq(s.error, ECONNRESET);
    ck_assert_uint_eq(s.first, 5);
    ck_assert(faultloc_peer_errors_next(&errors, &job, 10, &heard, &s));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_PEER_UNREACHABLE);
    ck_assert_int_eq(s.about.kind, FTREE_KIND_NODE);
    ck_assert_int_eq(s.about.node, 1);
    ck_assert(!faultloc_peer_errors_next(&errors, &job, 10, &heard, &s));
}

TEST_CASE(of_many_the_last_are_read)
{
    static int32_t nodes[200];
    struct ftree_job large = {.nodes = 1, .size = 200, .rank_node = nodes};
    struct faultloc_peer_errors errors = {0};
    struct ftree_symptom s;
    uint32_t heard = 0;

    for (int32_t rank = 0; rank < 200; rank++)
        ck_assert(faultloc_peer_errors_add(&errors, 1, rank, ECONNRESET));
    for (int32_t rank = 200 - FAULTLOC_PEER_ERRORS; rank < 200; rank++) {
        ck_assert(faultloc_peer_errors_next(&errors, &large, 2, &heard, &s));
        ck_assert_int_eq(s.about.rank, rank);
    }
    ck_assert(!faultloc_peer_errors_next(&errors, &large, 2, &heard, &s));
}

TEST_CASE(nonsense_is_passed_over)
{
    struct faultloc_peer_errors errors = {0};
    struct ftree_symptom s;
    uint32_t heard = 0;

    faultloc_peer_errors_add(&errors, 1, -1, ECONNRESET);
    faultloc_peer_errors_add(&errors, 1, 4, ECONNRESET);
    faultloc_peer_errors_add(&errors, 1, 1, 0);
    faultloc_peer_errors_add(&errors, 1, 2, 4096);
    faultloc_peer_errors_add(&errors, 99, 0, EPIPE);
    ck_assert(faultloc_peer_errors_next(&errors, &job, 10, &heard, &s));
    ck_assert_int_eq(s.about.rank, 0);
    ck_assert_uint_eq(s.first, 10); /* not in the future */
    ck_assert(!faultloc_peer_errors_next(&errors, &job, 10, &heard, &s));
    errors.count = 0x80000000u;
    for (int i = 0; i < FAULTLOC_PEER_ERRORS &&
                    faultloc_peer_errors_next(&errors, &job, 10, &heard, &s);
         i++)
        ck_assert_int_lt(s.about.rank, 4);
}
