/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_HANDLERS_H_INCLUDED
#define FAULTLOC_HANDLERS_H_INCLUDED

#include "faultloc/io/child.h"
#include "faultloc/agent/process/program.h"

/*
 * What services of the site say of a node that is silent: has it power, is its switch port up.  The
 * program faultloc-handlers asks them, once for each suspect, where the job has a file that names them
 * (MPIR_CVAR_FAULTLOC_HANDLERS).  It may hang, die, or print anything: that costs what it would have
 * said, and the verdict says so.
 */

#define FAULTLOC_HANDLERS_NAME "faultloc-handlers"
#define FAULTLOC_HANDLERS_MAX 64 /* at the same time; */
#define FAULTLOC_HANDLERS_WAIT_MAX 1024 /* so many nodes wait for their turn (a rack has lost its power) */
#define FAULTLOC_HANDLERS_PATIENCE (5000 * FTREE_MS) /* since it was started */
#define FAULTLOC_HANDLERS_BYTES (64 * 1024) /* that it may print */

struct faultloc_handlers {
    const struct faultloc_program *p;
    char path[FAULTLOC_SPAWN_PATH]; /* of the program; "": beside this one */
    struct faultloc_child child[FAULTLOC_HANDLERS_MAX];
    int32_t node[FAULTLOC_HANDLERS_MAX]; /* about which it is asked */
    struct {
        int32_t node;
        ftree_time since;
    } waiting[FAULTLOC_HANDLERS_WAIT_MAX]; /* in their order; */
    int waits; /* so many */
    ftree_time home_at, home_pause; /* when this node may be looked at again */
};

/* Purpose: "4711,4712": the ranks of this node, as many as there is room for. */
void faultloc_handlers_ranks(const struct faultloc_program *p, char *text, size_t room);

/* Purpose: begins; nothing is started. */
void faultloc_handlers_init(struct faultloc_handlers *h, const struct faultloc_program *p);

/* Purpose: asks about a node, when it is its turn; what comes of it goes to the core in a later
 * faultloc_handlers_turn(), or that its turn did not come.
 * False: there are none, too many wait, or the program cannot be started. */
bool faultloc_handlers_ask(struct faultloc_handlers *h, ftree_time now, int32_t node);

/* Purpose: somebody examines this node: asks those that know what only it can know (os, gpu), but for
 * the time after the last look, which doubles.  What they find goes to the core as symptoms of this
 * node.  True: it may yet come. */
#define FAULTLOC_HANDLERS_PAUSE (8 * 1000 * FTREE_MS)
#define FAULTLOC_HANDLERS_PAUSE_MAX (600 * 1000 * FTREE_MS)
bool faultloc_handlers_ask_home(struct faultloc_handlers *h, ftree_time now);

/* Purpose: reads what has come, and ends what is over; and when to call it again. */
void faultloc_handlers_turn(struct faultloc_handlers *h, ftree_time now);
ftree_time faultloc_handlers_deadline(const struct faultloc_handlers *h);

/* Purpose: ends those that run. */
void faultloc_handlers_end(struct faultloc_handlers *h);

/* ---- what it prints -------------------------------------------------------------------------- */

/* Purpose: a line of the program, checked: the symptom that it names (-1: none), how long ago that was (0:
 * it is so), and in `text` the same for people, printable ASCII.  False: it is no such line.  Pure. */
bool faultloc_handlers_read(const char *line, size_t len, int *symptom, ftree_time *age, char *text,
                            size_t room);

#endif /* FAULTLOC_HANDLERS_H_INCLUDED */
