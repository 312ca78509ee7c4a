/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* pipe2 */
#endif

#include "faultloc_bell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the bell -------------------------------------------------------------------------------- */

int faultloc_bell_open(struct faultloc_board *b, int fd[2])
{
    struct stat st;

    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK)) {
        fd[0] = fd[1] = -1;
        return errno;
    }
    if (fstat(fd[1], &st)) {
        int rc = errno;
        close(fd[0]);
        close(fd[1]);
        fd[0] = fd[1] = -1;
        return rc;
    }
    b->bell_fd = fd[1];
    b->bell_inode = (uint64_t) st.st_ino;
    b->bell_pid = (int32_t) getpid();
    return 0;
}

void faultloc_bell_hush(int fd)
{
    char bytes[256];

    while (read(fd, bytes, sizeof(bytes)) == (ssize_t) sizeof(bytes))
        ;
}

void faultloc_bell_close(struct faultloc_board *b, int fd[2])
{
    if (fd[0] < 0)
        return;
    if (b->bell_pid == (int32_t) getpid() && b->bell_fd == fd[1])
        b->bell_pid = 0;
    close(fd[0]);
    close(fd[1]);
    fd[0] = fd[1] = -1;
}

static bool is_bell(const struct faultloc_board *b, const struct stat *st)
{
    return S_ISFIFO(st->st_mode) && (uint64_t) st->st_ino == b->bell_inode;
}

int faultloc_bell_watch(const struct faultloc_board *b)
{
    char path[64];
    struct stat st;
    int pid = b->bell_pid, fd;

    if (pid <= 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, (int) b->bell_fd);
    /* the agent may have died, and its numbers may be another's: not even opened is what is no pipe */
    if (stat(path, &st) || !is_bell(b, &st))
        return -1;
    fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !is_bell(b, &st))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool faultloc_bell_ring(const struct faultloc_board *b)
{
    int fd = faultloc_bell_watch(b);
    bool rang = fd >= 0 && (write(fd, "", 1) == 1 || errno == EAGAIN); /* full: it rings already */

    if (fd >= 0)
        close(fd);
    return rang;
}

/* ---- what is told ---------------------------------------------------------------------------- */

bool faultloc_told_write(struct faultloc_told *told, ftree_time now, int32_t rank, int32_t error)
{
    uint32_t n = told->count < FAULTLOC_TOLD ? told->count : FAULTLOC_TOLD;

    for (uint32_t i = 0; i < n; i++)
        if (told->entry[i].rank == rank)
            return false;
    n = told->count % FAULTLOC_TOLD;
    told->entry[n].rank = rank;
    told->entry[n].error = error;
    told->entry[n].at_ns = now;
    __atomic_store_n(&told->count, told->count + 1, __ATOMIC_RELEASE);
    return true;
}

static bool is_unreachable(int error)
{
    return error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT ||
           error == EHOSTDOWN || error == ENETDOWN;
}

bool faultloc_told_read(const struct faultloc_told *told, const struct ftree_job *job,
                        ftree_time now, uint32_t *heard, struct ftree_symptom *s)
{
    uint32_t count = __atomic_load_n(&told->count, __ATOMIC_ACQUIRE);
    bool reset;

    if (count - *heard > FAULTLOC_TOLD)
        *heard = count - FAULTLOC_TOLD;
    for (; *heard != count; ++*heard) {
        uint32_t i = *heard % FAULTLOC_TOLD;
        int32_t rank = told->entry[i].rank, error = told->entry[i].error;
        uint64_t at = told->entry[i].at_ns;

        if (rank < 0 || rank >= job->size || error <= 0 || error >= 4096)
            continue;
        at = at < now ? at : now; /* it may have been noted since */
        reset = !is_unreachable(error);
        *s = (struct ftree_symptom){.kind = reset ? FTREE_SYMPTOM_PEER_RESET
                                                  : FTREE_SYMPTOM_PEER_UNREACHABLE,
                                    .about = {.kind = reset ? FTREE_KIND_RANK : FTREE_KIND_NODE,
                                              .node = job->rank_node ? job->rank_node[rank] : rank,
                                              .rank = rank,
                                              .switch_ = FTREE_NONE},
                                    .count = 1,
                                    .error = error,
                                    .first = at,
                                    .last = at};
        s->severity = ftree_symptom_info(s->kind)->severity;
        snprintf(s->detail, sizeof(s->detail), "told by the transport");
        ++*heard;
        return true;
    }
    return false;
}
