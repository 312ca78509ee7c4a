/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PROC_H_INCLUDED
#define FAULTLOC_PROC_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What the kernel says about another process of this node.  Nothing here waits or, but for the last
 * function, allocates, and what is read is checked: a process chooses its own name, and may choose
 * a nasty one.
 *
 * Source: proc(5), /proc/PID/stat.
 */

/* Longest name kept, terminating zero included; the kernel's own limit is 16, and 64 for its
 * threads. */
#define FAULTLOC_PROC_COMM 64

struct faultloc_proc {
    /* The kernel's letter for the first thread: R running, S sleeping, D in the kernel and not to
     * be woken, T stopped, t stopped by a debugger, Z ended and not waited for, X gone, ... */
    char state;
    /* Threads.  More than one in state Z means that only the first has ended. */
    uint32_t threads;
    /* When it started, in clock ticks since boot: a process that has the number of one that ended
     * has another start. */
    uint64_t start;
    /* The CPU that the first thread runs on or last ran on, -1: not said. */
    int32_t processor;
    /* SIGKILL was sent to the first thread, or it is on its way out: it has not ended yet, and will
     * not run its program again. */
    bool ending;
    /* Clock ticks of CPU that its threads have used, those that have ended among them; and that
     * number together with those of its children and page faults: as long as it is the same nothing
     * has been done. */
    uint64_t ticks, done;
    uint64_t major; /* page faults that waited for a disk */
    char comm[FAULTLOC_PROC_COMM];
};

/* What became of a process. */
enum faultloc_proc_fate {
    FAULTLOC_PROC_UNKNOWN, /* /proc does not tell, or hides it */
    FAULTLOC_PROC_LIVES,
    FAULTLOC_PROC_GONE /* ended, waited for or not, or its number is another's now */
};

/* Purpose: reads the state of process `pid`.  root: where proc is mounted, NULL for "/proc".
 * Returns 0, or ESRCH (no such process), EBADMSG (what is there is no stat file), ENAMETOOLONG
 * (root), or an errno of open(2) or read(2); *proc is untouched then. */
int faultloc_proc_read(const char *root, pid_t pid, struct faultloc_proc *proc);

struct faultloc_proc_sched {
    uint64_t ran, waited; /* ns on a CPU, and for one */
    uint64_t turns; /* how often it has got one */
};

/* Purpose: what the scheduler has counted of the first thread of process `pid`; false, and all 0:
 * that is not said.  root as above.  Source: /proc/PID/schedstat. */
bool faultloc_proc_sched(const char *root, pid_t pid, struct faultloc_proc_sched *sched);

/* Purpose: how many bytes process `pid` has read and written so far by read(2), write(2) and their like:
 * files, pipes and terminals, also where a cache took them; 0: that is not said.  root as above.
 * Source: /proc/PID/io, which the kernel shows to the same user. */
uint64_t faultloc_proc_moved(const char *root, pid_t pid);

/* Purpose: as faultloc_proc_read(), from bytes at hand: `len` bytes of a stat file of process `pid`.
 * Errors: EBADMSG. */
int faultloc_proc_parse(const char *bytes, size_t len, pid_t pid, struct faultloc_proc *proc);

/* Purpose: what became of the process that had number `pid` and started at `start` (0: any). */
enum faultloc_proc_fate faultloc_proc_fate(const char *root, pid_t pid, uint64_t start);

/* Purpose: a descriptor that is readable once the process ended; the caller's, who closes it.  It
 * is closed on exec.  Returns -1 with errno: ESRCH (no such process), ENOSYS (Linux before 5.3, or
 * a filter forbids it; then ask faultloc_proc_fate() from time to time), EMFILE, ENFILE, ENOMEM.
 * Source: pidfd_open(2). */
int faultloc_proc_pidfd(pid_t pid);

/* Purpose: the wait channel of the first thread of process `pid`, a function of the kernel, in at
 * most room - 1 printable bytes; "": it runs, or the kernel does not tell.  root as above.
 * Source: proc(5), /proc/PID/wchan. */
void faultloc_proc_wchan(const char *root, pid_t pid, char *wchan, size_t room);

/* Purpose: true if a thread in state D with this wait channel waits until its control group has
 * memory: the group is at its limit, and its OOM killer is off, or busy.
 * Source: Linux, mm/memcontrol-v1.c, mem_cgroup_oom_synchronize(). */
bool faultloc_proc_awaits_memory(const char *wchan);

/* Purpose: true if a thread in this state with this wait channel is frozen, by its control group as
 * a rule.  With version 1 of control groups its state is D; it is in __refrigerator(), or, since
 * Linux 6.1, in a sleep that could be interrupted, and whose state was S.  With version 2 the state
 * is S, in do_freezer_trap(), which the compiler may have put into get_signal().
 * Source: Linux, kernel/freezer.c, kernel/signal.c. */
bool faultloc_proc_is_frozen(char state, const char *wchan);

enum faultloc_proc_place {
    FAULTLOC_PROC_ELSEWHERE,
    FAULTLOC_PROC_LOCK, /* also a condition variable, or the end of a thread */
    FAULTLOC_PROC_SLEEP,
    FAULTLOC_PROC_PIPE,
    FAULTLOC_PROC_SOCKET,
    FAULTLOC_PROC_POLL,
    FAULTLOC_PROC_FILE_LOCK,
    FAULTLOC_PROC_CHILD, /* the end of one */
    FAULTLOC_PROC_SIGNAL,
    FAULTLOC_PROC_VFORK, /* a child made by vfork(2), that has not executed its program yet */
    /* mostly in state D: */
    FAULTLOC_PROC_MEMORY, /* that its control group may use */
    FAULTLOC_PROC_FILES, /* local ones, or of a file system of no known kind */
    FAULTLOC_PROC_FUSE, /* the answer of a server; at first it can be interrupted, and is in state S */
    FAULTLOC_PROC_NFS,
    FAULTLOC_PROC_LUSTRE,
    FAULTLOC_PROC_SWAP,
    FAULTLOC_PROC_DRIVER
};

/* Purpose: what a thread with this wait channel waits in; and that in words, "a lock", "" for
 * elsewhere.
 * Source: names of functions of Linux 4.18 to 6.18, which are no interface. */
enum faultloc_proc_place faultloc_proc_waits_in(const char *wchan);
const char *faultloc_proc_place_name(enum faultloc_proc_place place);

/* Purpose: the file, or the process, for which the first thread of process `pid` sleeps with this
 * wait channel, in printable words: "/tmp/lock", "child 4711 (seq), asleep in a pipe
 * (anon_pipe_write)"; "": not known.  root as above. */
void faultloc_proc_sleeps_on(const char *root, pid_t pid, const char *wchan, char *out,
                             size_t room);

/* Purpose: true if a child of any thread of the process lives; false also where the kernel does not
 * tell (no CONFIG_PROC_CHILDREN).  root as above.
 * Source: proc(5), /proc/PID/task/TID/children. */
bool faultloc_proc_has_child(const char *root, pid_t pid);

/* Purpose: the only child of process `pid` that lives, or, where that one waits for an only child of
 * its own, as a shell does, the last of them; 0: there is none, or there are several.  FaultLoc's own
 * processes, whose names begin like that, do not count.  root as above. */
#define FAULTLOC_PROC_OWN "faultloc-"
pid_t faultloc_proc_last_child(const char *root, pid_t pid);

/* Purpose: how a process that has ended did so, as wait(2) would tell its parent, where the kernel
 * lets another one know: pidfd as of faultloc_proc_pidfd(), -1: none.  Returns false where it does
 * not.
 * Source: PIDFD_GET_INFO (Linux 6.15); before, field 52 of /proc/PID/stat as long as it is a
 * zombie. */
bool faultloc_proc_status(int pidfd, pid_t pid, int *status);

/* The system call that a thread waits in. */
struct faultloc_proc_call {
    long number; /* -1: it waits, in none */
    uint64_t arg[6], sp, pc;
};

/* Purpose: reads that of thread `tid` of process `pid`, or from a line of its file.  False: it runs,
 * or the kernel does not tell.  root as above.
 * Source: proc(5), /proc/PID/task/TID/syscall, which the kernel tells the same user unless Yama
 * forbids. */
bool faultloc_proc_call(const char *root, pid_t pid, pid_t tid, struct faultloc_proc_call *c);
bool faultloc_proc_call_parse(const char *line, struct faultloc_proc_call *c);

/* Purpose: what descriptor `fd` of process `pid` is, as the kernel names it: "/tmp/lock",
 * "pipe:[4711]"; "": there is none, or it is not known.  Asks no file system.  root as above. */
void faultloc_proc_link(const char *root, pid_t pid, long fd, char *link, size_t room);

/* Purpose: true if process `pid` has what is named so open, for reading or writing where `mode` is
 * O_RDONLY or O_WRONLY (-1: either).  *left: so many descriptors may be looked at.  root as above. */
bool faultloc_proc_has_open(const char *root, pid_t pid, const char *link, int mode, int *left);

/* Purpose: true if all threads of process `pid` are what `is` asks, until one is not; false also
 * where they cannot be listed.  root as above.  Allocates. */
bool faultloc_proc_all_threads(const char *root, pid_t pid, bool (*is)(void *ctx, pid_t tid),
                               void *ctx);

/* Purpose: the thread of that name in process `pid`; 0: there is none, or more than one, for threads
 * have the name of the one that has made them until they take another.  root as above.
 * Source: proc(5), /proc/PID/task/TID/comm. */
pid_t faultloc_proc_thread(const char *root, pid_t pid, const char *name);

/* Purpose: true if `pid` is one of the n of `known`.  Pure. */
bool faultloc_proc_is_among(const pid_t *known, int n, pid_t pid);

/* Purpose: whether all threads of process `pid`, but the `n` of `known`, sleep until another thread
 * of the process wakes them: in a futex of the process, or in pthread_join, without a timeout; and
 * not for a lock that the caller holds now and then, `lock_bytes` from `lock` on.  Where true,
 * *switches is how often those that sleep have done so: as long as it is the same they have not
 * woken.  The process must be the caller's own: the kernel tells others nothing.  False also where
 * anything cannot be read.  root as above.  Allocates.
 * Source: proc(5), /proc/PID/task/TID/syscall; futex(2). */
bool faultloc_proc_others_sleep(const char *root, pid_t pid, const pid_t *known, int n,
                                const void *lock, size_t lock_bytes, uint64_t *switches);

/* Purpose: true for the file of a module that is not the program's own, but of MPI, of a transport, or
 * of a language; its name without the folder, NULL or "": not known.  Pure. */
bool faultloc_proc_is_library(const char *module);

/* Purpose: the language of the scripts that the interpreter runs which such a module is of; *tool: the
 * command that shows where in the script a process is, to which its number is added, NULL: none is known.
 * NULL: it is of no interpreter.  Pure. */
const char *faultloc_proc_language(const char *module, const char **tool);

/* Purpose: true for a module through which scripts call C: libffi, Python's ctypes, mpi4py.  Pure. */
bool faultloc_proc_is_glue(const char *module);

/* Purpose: true if any of its threads but those runs, or wants a CPU.  As above. */
bool faultloc_proc_any_runs(const char *root, pid_t pid, const pid_t *known, int n);

#endif /* FAULTLOC_PROC_H_INCLUDED */
