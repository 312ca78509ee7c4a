/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_NODE_STACKS_H_INCLUDED
#define FAULTLOC_NODE_STACKS_H_INCLUDED

#include "faultloc/io/child.h"
#include "faultloc/board/board.h"

#include <json.h>
#include <sys/types.h>

/*
 * Stacks of the own node's ranks, taken by the program faultloc-handler, which the agent starts
 * when somebody asks and never otherwise.  It may hang, die, or print anything: that costs the
 * stacks, and the reason says what happened.  One runs at a time; further requests wait.
 *
 *     node_stacks.c  the program: started, read, ended
 *     stack_json.c   what it prints: checked, shortened, as calls of the core
 */

#define FAULTLOC_HANDLER_NAME "faultloc-handler"
#define FAULTLOC_STACKS_PATIENCE (5000 * FTREE_MS) /* since it was started */
#define FAULTLOC_STACKS_REQUESTS 4 /* that wait */
#define FAULTLOC_STACKS_BYTES (8 * 1024 * 1024) /* that it may print */

/* What came of one rank: `process` is checked, and the caller's until the callback returns; NULL
 * where there is nothing.  `why`: there is no stack, or not all of it; NULL: nothing is missing. */
struct faultloc_stack {
    int32_t local; /* its slot */
    struct json_object *process;
    const char *why;
};

typedef void faultloc_stacks_taken(void *ctx, uint32_t number, const struct faultloc_stack *stack,
                                   int32_t n);

struct faultloc_stacks_request {
    int32_t *local; /* [n] slots */
    int32_t n;
    uint64_t *call; /* [n] the slots' words of the call, 0: any; NULL: whole stacks are wanted, else
                     * the program's call of MPI alone */
    faultloc_stacks_taken *taken;
    void *ctx;
    uint32_t number; /* the caller's own */
};

struct faultloc_stacks {
    const struct faultloc_board *board;
    char path[FAULTLOC_SPAWN_PATH]; /* of the handler; "": beside this program */
    int32_t n;
    struct faultloc_stacks_request request[FAULTLOC_STACKS_REQUESTS]; /* the first one is under
                                                                       * way */
    struct faultloc_child child;
};

/* Purpose: begins; nothing is started yet. */
void faultloc_stacks_init(struct faultloc_stacks *s, const struct faultloc_board *board, int epoll);

/* Purpose: asks the ranks that Yama does not let the agent trace to permit it; each does so in
 * MPI_Init, or later when MPICH turns its progress.  `scope`: where kernel.yama.ptrace_scope is
 * read, NULL: in /proc. */
void faultloc_stacks_ask_leave(const struct faultloc_board *board, const char *scope);

/* Purpose: has the stacks of n local ranks taken; `taken` is called once, by a later
 * faultloc_stacks_turn(), with an entry for each.  callers: only the call of MPI that the program is in,
 * and what called that where its line is not known (faultloc-handler --caller); one that has gone on
 * meanwhile has none.  False: too many requests wait. */
bool faultloc_stacks_take(struct faultloc_stacks *s, const int32_t *local, int32_t n, bool callers,
                          faultloc_stacks_taken *taken, void *ctx, uint32_t number);

/* Purpose: reads what has come, and ends what is over; and when to call it again. */
void faultloc_stacks_turn(struct faultloc_stacks *s, ftree_time now);
ftree_time faultloc_stacks_deadline(const struct faultloc_stacks *s);

/* Purpose: ends the handler that runs; nobody is called back. */
void faultloc_stacks_end(struct faultloc_stacks *s);

/* ---- stack_json.c ---------------------------------------------------------------------------- */

#define FAULTLOC_STACK_CALLS_MAX 96 /* of a thread */

/* Purpose: checks a line of the handler: known members of the right type alone, bounded, texts
 * printable ASCII.  Returns a new object, the caller's; NULL: it is not one, or out of memory.
 * Pure. */
struct json_object *faultloc_stack_check(const char *line, size_t len);

/* Purpose: the process that a checked line is of, 0: none; and whether its stacks are in it. */
pid_t faultloc_stack_pid(struct json_object *process);
bool faultloc_stack_is_whole(struct json_object *process);

/* Purpose: the calls of thread i of a checked process, the outermost first, from main (or the
 * thread's own function) to the MPI function, or to the innermost one where the thread is in none
 * or MPI has called something; the strings are the object's.
 * Returns how many, 0: it has none; -1: there is no such thread. */
int32_t faultloc_stack_calls(struct json_object *process, int32_t i, struct ftree_call *call,
                             int32_t room);

/* Purpose: the stacks of these ranks of node `self` as the core has them, with the checked
 * processes as details if wanted.  Where memory is out, a part is missing. */
void faultloc_stacks_collect(struct ftree *ft, const struct ftree_job *job, int32_t self,
                             const struct faultloc_stack *stack, int32_t n, bool details,
                             struct ftree_stacks *out);

/* Purpose: a checked process for people and programs: each thread with its calls as one line,
 * "stack". */
void faultloc_stack_add_lines(struct json_object *process);

/* Purpose: the file of the file call that a thread of a checked process is in, and whether that is
 * its first thread.  The object's; NULL: none is. */
struct json_object *faultloc_stack_open_file(struct json_object *process, bool *is_first);

/* Purpose: takes the calls out of a checked process. */
void faultloc_stack_drop_frames(struct json_object *process);

/* Purpose: true for a thread of a library, which says nothing of the program: UCX's `async`. */
bool faultloc_stack_is_helper(struct json_object *process, int32_t i);

#endif /* FAULTLOC_NODE_STACKS_H_INCLUDED */
