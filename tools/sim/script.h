/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SCRIPT_H_INCLUDED
#define SCRIPT_H_INCLUDED

#include "sim/topology.h"

/*
 * What goes wrong in a run, and when: one line each, '#' begins a comment.
 *
 *     [t=TIME] lose TARGET               its power is gone; of switches: nothing passes them
 *     [t=TIME] kill TARGET               its ranks end; its agent tells, and goes
 *     [t=TIME] freeze TARGET             all its processes are stopped, the kernel lives
 *     [t=TIME] stop rank RANK            its process is stopped; the node's others are not
 *     [t=TIME] cut TARGET [on PATH]      its links are cut, on all paths or on one
 *     [t=TIME] cut node NODE from node NODE [on PATH]   nothing passes between these two
 *     [t=TIME] down TARGET               its data interface is down, and it says so
 *     [t=TIME] partition TARGET [on PATH]  nothing passes between it and all others
 *     [t=TIME] slow link TARGET by TIME  messages over its data links take so much longer
 *     [t=TIME] return TARGET             all of this is over for it
 *     [t=TIME] heal                      no partition any more
 *     [t=TIME] storm: all wait for TARGET   every rank begins to wait for it (it may be well)
 *     [t=TIME] node NODE waits for node NODE
 *     [t=TIME] finalize TARGET           its ranks have called MPI_Finalize
 *     [t=TIME] ring of N [scattered] ranks    each receives from the next, the last from the first
 *     [t=TIME] knot of N [scattered] ranks    each waits for one of its two neighbours in the ring
 *     [t=TIME] any source of N [scattered] ranks   each receives from any of them
 *     [t=TIME] chain of N [scattered] ranks to TARGET   each receives from the next, the last from
 *                                        the target's first rank, or, if it is `it`, from the
 *                                        first rank of the line before
 *     [t=TIME] K chains of N [scattered] ranks to TARGET
 *     [t=TIME] collective: all but TARGET     every rank is in the same one, but the target's first,
 *                                        which is not in MPI
 *     [t=TIME] collective: TARGET receives    and which receives from one of them
 *     [t=TIME] collective: TARGET has another root
 *     [t=TIME] collective: TARGET sleeps      as `all but`, and it is blocked
 *     [t=TIME] random phases every TIME of up to TIME   as healthy programs do: all ranks wait for
 *                                        one that computes, sleeps or waits for a disk, and then
 *                                        comes
 *     [t=TIME] random waits every TIME of up to TIME   as healthy programs do: one rank waits for
 *                                        another, and goes on
 *
 * Each but return, heal and finalize may end in "for TIME": then it is over again.  Where t= is
 * missing, it is 1 s.  Lines with waits may have "within TIME" before that: each of them begins
 * within that time, 10 ms.  Ranks are neighbours if they are not scattered, then in random order.
 * TIME is a number and one of ns, us, ms, s, m, h.  PATH is data or mgmt.  TARGET:
 *
 *     node LIST, switch LIST     "17", "1-4,9", "c17": numbers or names
 *     root                       node 0
 *     root and 2 substitutes     and the first two that would act for it
 *     random node, 100 random nodes, random switch, 3 random switches
 *     random fln and child       an inner node and one of its children
 *     it                         what the line before was about
 *     one of it                  a node of that, drawn
 */

enum sim_verb {
    SIM_LOSE,
    SIM_KILL,
    SIM_FREEZE,
    SIM_STOP,
    SIM_CUT,
    SIM_PARTITION,
    SIM_SLOW,
    SIM_RETURN,
    SIM_HEAL,
    SIM_STORM,
    SIM_WAIT,
    SIM_RANDOM_WAITS,
    SIM_DOWN,
    SIM_FINALIZE,
    SIM_HANG,
    SIM_RANDOM_PHASES,
    SIM_VERBS
};

enum sim_target_kind {
    SIM_NONE,
    SIM_NODES,
    SIM_SWITCHES,
    SIM_ROOT, /* and `count` substitutes */
    SIM_RANDOM_NODES, /* `count` of them */
    SIM_RANDOM_SWITCHES,
    SIM_RANDOM_FLN,
    SIM_IT,
    SIM_ONE_OF_IT
};

/* first and last of a range */
struct sim_range {
    int32_t first, last;
};

struct sim_target {
    uint8_t kind; /* enum sim_target_kind */
    int32_t count;
    struct sim_range *range; /* [ranges], of nodes or switches */
    int32_t ranges;
};

struct sim_fault {
    uint8_t verb; /* enum sim_verb */
    uint8_t paths; /* a set */
    ftree_time at;
    ftree_time lasts; /* FTREE_NEVER: for good */
    ftree_time by; /* of a slow link; of random waits and phases: how long they are at most */
    ftree_time every; /* of these */
    ftree_time within; /* waits begin */
    uint8_t shape; /* enum sim_shape, of SIM_HANG; */
    bool scattered, sleeps;
    int32_t count, chains; /* ranks of all chains; chains 0: it is none */
    struct sim_target target;
    int32_t other; /* node: of SIM_WAIT whom the target waits for, of SIM_CUT from whom it is cut
                    * (FTREE_NONE: from all); of SIM_STOP: the rank */
};

struct sim_script {
    struct sim_fault *fault;
    int32_t n, room;
};

/* What is wrong, and where: line and column from 1. */
struct sim_script_error {
    int line, column;
    char text[160];
};

/* Purpose: adds the lines of a text to the script; names and numbers are those of the topology.
 * Errors: FTREE_ERR_INVALID (*e says what; the lines before are in). */
int sim_script_read(struct sim_script *s, const char *text, const struct sim_topology *t,
                    struct sim_script_error *e);
void sim_script_free(struct sim_script *s);

#endif /* SCRIPT_H_INCLUDED */
