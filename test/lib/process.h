/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef PROCESS_H_INCLUDED
#define PROCESS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Other processes, for tests of what processes share.  A child is forked, runs a function of the
 * test, and talks with the test by single bytes on a pair of pipes.  It dies with the test.
 *
 * Nothing here sleeps: what is waited for is waited for with a deadline that no healthy run comes
 * near; past it the test fails.
 */

#define PROCESS_DEADLINE_MS 30000

struct process {
    pid_t pid; /* 0: none, or waited for */
    int to, from; /* pipes */
};

/* Purpose: forks; the child runs body(in, out, arg) and then ends with what that returns, without
 * atexit functions.  `in` gives end of file once the test has ended. */
void process_start(struct process *p, int (*body)(int in, int out, void *arg), void *arg);

/* Purpose: one byte to the child, and one from it (fails the test when none comes). */
void process_say(const struct process *p, char word);
char process_hear(const struct process *p);

/* Purpose: for the child: one byte of the test's; ends the child at end of file.  And one to it. */
char process_obey(int in);
void process_tell(int out, char word);

/* Purpose: stops the child and waits until it is stopped; lets it go on. */
void process_stop(const struct process *p);
void process_continue(const struct process *p);

/* Purpose: kills the child by SIGKILL and buries it. */
void process_kill(struct process *p);

/* Purpose: waits until the child has ended; returns its exit code, or -signal. */
int process_end(struct process *p);

/* Purpose: true if the child has not ended. */
bool process_is_alive(const struct process *p);

/* Purpose: how many threads of that name there are in a process. */
int process_threads(pid_t pid, const char *name);

/* Purpose: how many descriptors this process has open. */
int process_descriptors(void);

/* Purpose: this process can open no descriptor more; and again as many as before. */
void process_take_descriptors(void);
void process_give_descriptors(void);

/* Purpose: from now on this system call fails in this process, as under a container's filter. */
void process_forbid(int call, int error);

/* Purpose: writes '#' until there is no room. */
void process_fill(int fd);

/* Purpose: from now on a signal interrupts this process every `us` microseconds, as a profiler's
 * timer does; 0: no more. */
void process_tick(int us);

/* Purpose: milliseconds of CLOCK_MONOTONIC; and a pause of a millisecond between two looks. */
int64_t process_now_ms(void);
void process_pause(void);

/* Waits until `condition`. */
#define UNTIL(condition) \
    do { \
        int64_t limit_ = process_now_ms() + PROCESS_DEADLINE_MS; \
        while (!(condition)) { \
            if (process_now_ms() > limit_) \
                ck_abort_msg("waited for: %s", #condition); \
            process_pause(); \
        } \
    } while (0)

#endif /* PROCESS_H_INCLUDED */
