/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SCRIPT_H_INCLUDED
#define SCRIPT_H_INCLUDED

#include "sim/topology.h"

/*
 * What goes wrong in a run, and when: one line each, in the language that `faultloc simulate --help`
 * describes (command.c).
 */

enum sim_verb {
    SIM_LOSE,
    SIM_KILL,
    SIM_FREEZE,
    SIM_STOP,
    SIM_CUT,
    SIM_PARTITION,
    SIM_RETURN,
    SIM_HEAL,
    SIM_STORM,
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
    ftree_time by; /* of random waits and phases: how long they are at most */
    ftree_time every; /* of these */
    ftree_time within; /* waits begin */
    uint8_t shape; /* enum sim_shape, of SIM_HANG; */
    bool scattered, sleeps;
    int32_t count, chains; /* ranks of all chains; chains 0: it is none */
    struct sim_target target;
    int32_t other; /* of SIM_CUT the node from which it is cut (FTREE_NONE: from all); of SIM_STOP:
                    * the rank */
};

struct sim_script {
    struct sim_fault *fault;
    int32_t n;
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
