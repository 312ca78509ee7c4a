/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef HANG_H_INCLUDED
#define HANG_H_INCLUDED

#include "ftree.h"

/*
 * Ranks that wait for each other, as a program that hangs does: the lines of a script that begin
 * with ring, knot, any source, chain and collective.  Which ranks these are is drawn before the run
 * begins; what each of them says of itself when its agent asks is made up when it is asked.
 */

struct sim_run;
struct sim_hit;
struct sim_event;
struct waits_page;

enum sim_shape {
    SIM_RING, /* each receives from the next one */
    SIM_KNOT, /* each waits for one of its two neighbours in the ring */
    SIM_ANY_SOURCE, /* each receives from any member of a communicator of all of them */
    SIM_CHAIN, /* each receives from the next one, the last one from `end` */
    SIM_ALL_BUT, /* all ranks are in a collective, but `end`, which is not in MPI */
    SIM_ALL_BUT_RECEIVE, /* and which receives from one of the others */
    SIM_OTHER_ROOT, /* all are in one, of which `end` names another root */
    SIM_SHAPES
};

struct sim_hang {
    uint8_t shape; /* enum sim_shape */
    int32_t n; /* ranks that wait for each other, in `rank`; of a collective 0: all do */
    int32_t chains; /* of a chain: in so many, each of n / chains ranks */
    int32_t *rank; /* [n], in the order in which they wait */
    int32_t end; /* FTREE_NONE: there is none */
    int32_t for_; /* SIM_ALL_BUT_RECEIVE: whom `end` receives from */
};

/* Purpose: draws which ranks the line is about, and which nodes these are on. */
void sim_hang_plan(struct sim_run *r, int32_t line);

/* Purpose: its ranks begin to wait, or go on. */
void sim_hang_begin(struct sim_run *r, int32_t line);
void sim_hang_end(struct sim_run *r, int32_t line);

/* Purpose: an event of a line of random phases, from == 0 and 2: one begins, 3: one ends. */
void sim_hang_phase(struct sim_run *r, const struct sim_event *e);

const char *sim_hang_call_name(uint32_t call);

/* Purpose: what the rank says of itself; as io->waits.  The page holds until the next call. */
enum ftree_waits_look sim_hang_look(struct sim_run *r, int32_t rank, uint32_t look,
                                    const int32_t *with, int32_t n,
                                    const struct waits_page **page);

#endif /* HANG_H_INCLUDED */
