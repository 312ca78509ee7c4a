/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "program.h"

#include "base.h"
#include "faultloc/base/proc.h"
#include "sample.h"
#include "suite.h"

#include <sys/socket.h>
#include <unistd.h>

#define RANKS 2

static int no_send(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    (void) ctx, (void) to, (void) bytes, (void) len;
    return 0;
}

static void look(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    struct faultloc_program *p = ctx;

    faultloc_watch_look(&p->watch, PROGRAM_NOW, i, true, state);
}

static void no_verdict(void *ctx, const struct ftree_verdict *v)
{
    (void) ctx, (void) v;
}

static const struct ftree_io io = {
    .send = no_send, .look = look, .verdict = no_verdict, .report = no_verdict};

void program_open(struct faultloc_program *p, int32_t self)
{
    static struct faultloc_seen seen[RANKS];
    struct faultloc_proc own = {0};

    ck_assert_int_eq(faultloc_proc_read(NULL, getpid(), &own), 0);
    memset(seen, 0, sizeof(seen));
    *p = (struct faultloc_program){.self = self, .epoll = -1, .job = {.job = sample_job}};
    ck_assert_int_eq(faultloc_board_make(4, 8, RANKS, 0, &p->board, &p->board_fd), 0);
    strcpy(p->board->job_id, "4711");
    p->job.job.rules = base_rules();
    p->job.names = (const char **) (uintptr_t) sample_job.node_name;
    p->watch = (struct faultloc_watch){.board = p->board, .seen = seen};
    for (int32_t i = 0; i < RANKS; i++) {
        struct faultloc_slot *slot = faultloc_board_slot(p->board, i);
        slot->rank = sample_job.node_ranks[sample_job.node_first[self] + i];
        slot->pid = getpid();
        slot->start = own.start;
        slot->state = FAULTLOC_SLOT_RUNNING;
    }
    ck_assert_int_eq(ftree_create(&p->job.job, self, NULL, &io, p, &p->ft), FTREE_OK);
}

void program_close(struct faultloc_program *p)
{
    ftree_destroy(p->ft);
    faultloc_board_unmap(p->board);
    close(p->board_fd);
}

void program_rank_gone(struct faultloc_program *p, int32_t i)
{
    p->watch.seen[i].gone = true;
}

int program_question(int *reply)
{
    int fd[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
    *reply = fd[0];
    return fd[1];
}

const char *program_answer(int fd)
{
    static char text[4096];
    ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

    text[n > 0 ? n : 0] = '\0';
    return text;
}
