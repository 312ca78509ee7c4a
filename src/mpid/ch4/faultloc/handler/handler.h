/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_HANDLER_H_INCLUDED
#define FAULTLOC_HANDLER_H_INCLUDED

#include <json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The program faultloc-handler: says of processes of its own user what their threads do and where
 * in the code they are.  It is a process of its own, because reading symbols may crash, and a file
 * system that does not answer may hold it for ever: that costs the stack, and nothing else.
 *
 *     main.c            the order of the work, the deadline, the output
 *     thread_facts.c    what /proc says: state, system call, open file, mount point
 *     syscalls.c        the numbers of system calls: names, and which have a file
 *     snapshot.c        registers and inner stack of a thread: one that waits is only read
 *     sample.c          one that runs is sampled by perf_event_open(2), and runs on
 *     frame_pointer.c   where a function's frame is, if the kernel does not say the frame pointer
 *     unwind.c          from a snapshot to function, file and line (libdwfl)
 *     caller.c          which of the frames is the program's call of MPI
 *     function_names.c  C++ names as people write them
 *     print.c           JSON
 *
 * No process is stopped, not even for a moment: a system call that has begun to transfer would return
 * less than it was asked for, others EINTR or what a system call filter does not permit
 * (doc/user-processes.md has all that is done to a process).
 *
 * What a process does is bounded here and checked again by who reads it.  One process is worked on at
 * a time, so that the memory needed does not grow with their number.
 */

#define HANDLER_THREADS_MAX 64 /* of a process that are looked at */
#define HANDLER_FRAMES_MAX 96 /* of a thread, from the inside */
#define HANDLER_TEXT_MAX 256
#define HANDLER_PATH_MAX 512

/* A mounted file system; "": not known. */
struct handler_mount {
    char point[HANDLER_PATH_MAX], type[64], source[HANDLER_TEXT_MAX];
    char server[HANDLER_TEXT_MAX]; /* where it is on a network, by `source` */
};

/* What a system call works on; fd -1: a path. */
struct handler_file {
    int fd;
    char path[HANDLER_PATH_MAX]; /* as the kernel names it: "pipe:[123]" too; "": there is none */
    struct handler_mount mount;
};

struct handler_frame {
    uint64_t pc;
    bool is_activation; /* the next instruction; else the address that is returned to */
    int line; /* 0: not known, as are texts that are "" */
    char function[HANDLER_TEXT_MAX], file[HANDLER_PATH_MAX], module[HANDLER_TEXT_MAX];
};

#define HANDLER_REGISTERS 33

struct handler_thread {
    pid_t tid;
    char state, name[64], wait_channel[64];
    double cpu_s; /* < 0: not known */
    long syscall; /* < 0: none, or not known */
    struct handler_file file;
    uint64_t turns; /* how often it has got a CPU; 0: not known */
    /* the snapshot */
    bool has_registers; /* all; else those that `sp` and `pc` are in, which are 0 where none is
                         * known */
    uint64_t sp, pc, registers[HANDLER_REGISTERS]; /* in DWARF's order */
    /* what came of it */
    int frames;
    struct handler_frame *frame; /* the innermost first */
    bool is_cut; /* there are further frames */
    const char *why; /* there is no stack, or not all of it; NULL: nothing is missing */
};

struct handler_process {
    pid_t pid;
    uint64_t start; /* as proc(5) has it, field 22; 0: any */
    uint64_t sp, pc; /* of a wait that has not ended: where it returns to; 0: not known */
    char state, name[64];
    int all_threads, threads;
    struct handler_thread *thread;
    const char *why; /* nothing is known of it; NULL: something is */
    bool done; /* the stacks are in */
};

#define HANDLER_WAIT_MS 1000 /* until the threads of a process run, all in all */

/* ---- thread_facts.c -------------------------------------------------------------------------- */

/* Purpose: fills in what /proc says of a process and its threads, which the process then owns; asks
 * no other file system.  `root`: where proc is mounted, NULL: /proc. */
void handler_facts(const char *root, struct handler_process *p);
void handler_free(struct handler_process *p);

/* Purpose: the same of a thread `tid` that was not looked at, or some time ago. */
void handler_thread_facts(const char *root, pid_t pid, struct handler_thread *t);

/* Purpose: true as long as the thread, whose facts are known, waits and has not run since. */
bool handler_still_waits(pid_t pid, const struct handler_thread *t);

/* Purpose: of the text of a mountinfo file the mount with number `id`, or where that is < 0 the one
 * that `path` is below.  False: there is none.  Pure. */
bool handler_mount_find(const char *text, long id, const char *path, struct handler_mount *out);

/* ---- syscalls.c ------------------------------------------------------------------------------ */

struct handler_syscall {
    long number;
    const char *name;
    int fd, path; /* the argument that is it, 0 to 5; -1: none is */
};

/* Purpose: NULL: not known here. */
const struct handler_syscall *handler_syscall(long number);

/* ---- snapshot.c ------------------------------------------------------------------------------ */

#define HANDLER_COPY_BYTES 65536

/* The inner stack of a thread, from address `at` on.  The whole stack ends at `end`. */
struct handler_copy {
    uint64_t at, end;
    size_t bytes;
    uint8_t stack[HANDLER_COPY_BYTES];
};

/* Purpose: fills in the facts, the registers and the copy; or `why` there are none.  False: they are
 * not of one moment, for the thread began or ceased to run.  `mem`: the memory of process `pid`.
 * `wait_ms`: for so long it may wait until threads run; what it has waited is taken off. */
bool handler_snapshot(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy,
                      int *wait_ms);

/* Purpose: the copy of the stack from t->sp on, below which nothing is wanted.  False: it cannot be read. */
bool handler_snapshot_wait(pid_t pid, int mem, struct handler_thread *t, struct handler_copy *copy);

/* ---- sample.c -------------------------------------------------------------------------------- */

enum handler_sampled {
    HANDLER_SAMPLED,
    HANDLER_NOT_SAMPLED, /* it did not run in that time, or in the kernel alone */
    HANDLER_DENIED /* by kernel.perf_event_paranoid, a system call filter, or an old kernel */
};

/* Purpose: registers and inner stack of a thread that runs.  The kernel copies them in an interrupt
 * of its timer; the thread is neither stopped nor signalled.
 * Source: perf_event_open(2), PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER. */
enum handler_sampled handler_sample(struct handler_thread *t, struct handler_copy *copy, int wait_ms);

/* ---- frame_pointer.c ------------------------------------------------------------------------- */

/* What is read of the process: the bytes that are there.  ctx: the caller's. */
typedef size_t handler_read(void *ctx, uint64_t at, void *buf, size_t len);

/* Purpose: the frame pointer of a function of x86-64 code that keeps one.  `start`: where its code
 * begins; `sp`: its stack pointer.  Returns 0: not found.  Pure. */
uint64_t handler_frame_pointer(handler_read *read, void *ctx, uint64_t start, uint64_t sp);

/* ---- unwind.c -------------------------------------------------------------------------------- */

/* Purpose: takes the snapshot of each thread, one after the other, and fills in its frames; where
 * there is no libdw, why there are none. */
void handler_unwind(struct handler_process *p);
bool handler_can_unwind(void);

/* Purpose: of the wait at p->sp, or of the first thread where that is not known, the program's call of
 * MPI alone, and what called that where its line is not known; so no debugging information of
 * libraries is read.  It need not wait for the thread to get a CPU. */
void handler_unwind_caller(struct handler_process *p);

/* Purpose: fills in function, file and line of the instruction at f->pc, of which the process's memory
 * is not read: it may be one that nobody may trace. */
void handler_name_address(pid_t pid, struct handler_frame *f);

/* ---- caller.c -------------------------------------------------------------------------------- */

/* Purpose: of n frames, the innermost first, the program's own that is nearest to MPI, or the
 * innermost of its own where it is in no call of MPI; libraries have the module alone.  Where glue alone
 * is between MPI and an interpreter: the interpreter's.  n: none is.  Pure. */
int handler_caller(const struct handler_frame *f, int n);

/* Purpose: true for a frame of an interpreter, whose own functions say nothing of the script; and its
 * words instead of these.  Pure. */
bool handler_is_script(const struct handler_frame *f);
void handler_name_script(struct handler_frame *f, pid_t pid);

/* ---- function_names.c ------------------------------------------------------------------------ */

/* Purpose: a symbol as people write the function: of C++ without its parameters and the type that
 * it returns, where the C++ library is there to tell. */
void handler_function(const char *symbol, char *buf, size_t len);

/* ---- print.c --------------------------------------------------------------------------------- */

/* Purpose: the JSON of a process, schema faultloc-handler/1 (faultloc-handler(1)).  NULL: out of
 * memory. */
struct json_object *handler_json(const struct handler_process *p);

#endif /* FAULTLOC_HANDLER_H_INCLUDED */
