/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CHILD_H_INCLUDED
#define FAULTLOC_CHILD_H_INCLUDED

#include "faultloc/base/spawn.h"
#include "ftree/base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A process that runs beside this one: faultloc-handler, a handler or the program of the site's.  It
 * may hang, die, or print anything; nobody waits for it. */

#define FAULTLOC_CHILD_LOST 4 /* that do not end; then none is started */

struct faultloc_child {
    int epoll; /* whose loop is woken, with `tag`; -1: none is */
    uint64_t tag;
    ftree_time patience; /* since it was started; then it is killed with its process group */
    ftree_time linger; /* since all who could print have closed its output; 0: the same */
    size_t most; /* bytes that it may print */
    bool drops; /* what is more is dropped; else it is over */
    bool all_end; /* its process group is killed at its end, if any of it could still print */

    pid_t pid; /* 0: none runs */
    int fd; /* what it prints; -1: all is read */
    ftree_time until, end_by; /* when to look again; when it must have ended */
    bool lingers;
    char *text; /* what it has printed so far */
    size_t len, room;
    bool minds;
    int lost;
    pid_t lost_pid[FAULTLOC_CHILD_LOST];
};

enum faultloc_child_state {
    FAULTLOC_CHILD_RUNS, /* or there is none */
    FAULTLOC_CHILD_ENDED,
    FAULTLOC_CHILD_LATE, /* it was killed */
    FAULTLOC_CHILD_FULL /* it has printed too much, and was killed */
};

/* Purpose: where the program `name` is: beside this one.  Nothing here asks the file system, which may
 * not answer.  Errors: an errno. */
int faultloc_child_beside(const char *name, char path[FAULTLOC_SPAWN_PATH]);

/* Purpose: starts it; what it prints is child->output, or, if `fd` is not -1, child->fd: either is
 * set here.  Only where none runs.
 * Errors: an errno; ECHILD: too many do not end. */
int faultloc_child_start(struct faultloc_child *c, ftree_time now,
                         struct faultloc_spawn_child *child);

/* Purpose: the same of one that was forked, and prints to the other end of `fd`, which is the child's
 * from now on. */
void faultloc_child_watch(struct faultloc_child *c, ftree_time now, pid_t pid, int fd);

/* Purpose: reads what has come, and looks whether it has ended.  When it returns another state than
 * RUNS it is over: `text` is the caller's, and *status what waitpid(2) says, -1: it had not ended
 * by itself. */
enum faultloc_child_state faultloc_child_turn(struct faultloc_child *c, ftree_time now,
                                              int *status);

/* Purpose: when to look again. */
ftree_time faultloc_child_deadline(const struct faultloc_child *c);

/* Purpose: frees what it has printed. */
void faultloc_child_forget(struct faultloc_child *c);

/* Purpose: ends it; frees all. */
void faultloc_child_end(struct faultloc_child *c);

#endif /* FAULTLOC_CHILD_H_INCLUDED */
