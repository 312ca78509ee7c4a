/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SPAWN_H_INCLUDED
#define FAULTLOC_SPAWN_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Starts a program beside a process that must not notice: no SIGCHLD, no child in wait(-1), no
 * zombie, nothing of the process's memory copied, however large it is.
 *
 * A first process is cloned without an exit signal, clones the second one likewise, and ends; the
 * second executes the program and is nobody's child.  Both share the caller's memory, and the
 * caller is suspended meanwhile (CLONE_VM | CLONE_VFORK, as posix_spawn(3) does it), so nothing is
 * copied.  A program that is started has no real-time policy and no real-time class of I/O, whatever
 * the caller has.
 * Source: clone(2), wait(2) on __WCLONE; sched(7), ioprio_set(2).
 */

#define FAULTLOC_SPAWN_PATH 4096
#define FAULTLOC_SPAWN_FD 3 /* what the program finds open beside its standard files */

/* Purpose: where the program `name` is: in ../libexec beside the shared library that this function
 * is in, so that an installation may be moved, else in the configured libexecdir.
 * Errors: ENOENT, EACCES (it is there, and may not be executed), ENAMETOOLONG; `out` is then the
 * last place that was looked at. */
int faultloc_spawn_find(const char *name, char out[FAULTLOC_SPAWN_PATH]);

/* Purpose: executes `path`, with `fd` of the caller as its descriptor FAULTLOC_SPAWN_FD and
 * /dev/null as its standard input, output and error; all others are closed there.  Of the
 * environment it gets what it needs: where libraries and the user's runtime folder are.
 * Errors: ECHILD (the caller takes in orphans, so the program would be its child: it is the first
 * process of a PID namespace, or a subreaper), those of mmap(2), clone(2), execve(2). */
int faultloc_spawn(const char *path, int fd);

/* What a child of the agent's is started with: beside this it gets /dev/null, default signals, and
 * a session, so also a process group, of its own. */
struct faultloc_spawn_child {
    const char *path;
    char *const *arguments; /* the first is the program's name, NULL ends them */
    char *const *environment; /* more than the above, NULL ends it; NULL: nothing */
    int fd; /* its descriptor FAULTLOC_SPAWN_FD; -1: it has none */
    int input, output; /* its standard input; its standard output and error; -1: /dev/null */
    bool background; /* it computes for long: SCHED_BATCH, which disturbs others less */
};

/* Purpose: the same, as a child of the caller: *pid, to be waited for by waitpid(2) with __WALL.
 * Unless the caller ignores SIGCHLD its number is its own until then, so it can be killed by it.
 * The caller does not wait until it runs: one that cannot be executed ends with code 127.
 * Errors: those of mmap(2), clone(2); ENOMEM. */
int faultloc_spawn_child(const struct faultloc_spawn_child *child, pid_t *pid);

/* Purpose: whether a child has failed, by its status of waitpid(2), where codes up to `most` are no
 * failure; -1: nobody knows.  And its end in words: "was killed by signal 11". */
bool faultloc_spawn_failed(int status, int most, char *why, size_t room);

#endif /* FAULTLOC_SPAWN_H_INCLUDED */
