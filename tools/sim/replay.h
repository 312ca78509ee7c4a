/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef REPLAY_H_INCLUDED
#define REPLAY_H_INCLUDED

#include "ftree.h"
#include "sim/topology.h"

#include <json.h>
#include <stdio.h>

/*
 * A trace (trace.c says how it looks) is run again: each handle is given what it was given, at the
 * times at which it was, and what it does is compared with what it did.
 *
 *     replay_read.c      a line of the file becomes a record, or what is wrong with it is said
 *     replay.c           the handles, and the comparison
 *     replay_command.c   the command line
 *
 * A trace may come from anywhere: nothing in it is believed before it is checked, and every size is
 * bounded.
 */

#define SIM_TRACE_SCHEMA "faultloc-trace/1"

/* The times of struct ftree_config. */
#define SIM_TRACE_CONFIG(X) \
    X(stall) \
    X(stall_repeat_max) \
    X(rto_min) X(rto_max) X(silence) X(settle) X(gather) X(late) X(linger) X(group_min) \
        X(group_max) X(recheck) X(expire)

/* Purpose: a hash of the built-in rules' text. */
uint64_t sim_trace_rules_hash(void);

/* ---- replay_read.c --------------------------------------------------------------------------- */

#define REPLAY_TEXT_MAX 1024

enum replay_kind {
    REPLAY_RECEIVE,
    REPLAY_REACHED,
    REPLAY_STALL,
    REPLAY_STALL_OVER,
    REPLAY_GONE,
    REPLAY_LEAVE,
    REPLAY_TICK,
    REPLAY_LAST_IN = REPLAY_TICK, /* those up to here are inputs of a handle */
    REPLAY_LOOK,
    REPLAY_WAITS,
    REPLAY_STATE,
    REPLAY_SEND,
    REPLAY_SAYS,
    REPLAY_END
};

struct replay_record {
    uint8_t kind; /* enum replay_kind */
    uint8_t path, role, reach;
    bool fresh;
    int64_t line; /* of the file */
    ftree_time at;
    int32_t node;
    int32_t other; /* node: from, about, to */
    int32_t error;
    uint64_t conn;
    ftree_time waiting; /* of a stall */
    struct ftree_rank_state rank; /* of a look; of waits its rank; of a stall its rank and peer */
    uint32_t look; /* number of what was asked of its waits */
    uint8_t said; /* enum ftree_waits_look */
    struct ftree_node_state state;
    size_t len;
    uint8_t bytes[FTREE_MESSAGE_MAX]; /* of a message, or what a rank waits for; of a line: text,
                                        * with a final zero */
};

struct replay_file {
    FILE *f;
    char *buf;
    size_t room;
    int64_t line; /* that was read last */
    struct sim_topology *topology;
    ftree_time at; /* of the last record */
    char wrong[256]; /* what is wrong with that line, and the remedy */
};

/* Purpose: reads the first line and makes the job; false: file->wrong says why not (or, where it is
 * empty, standard error has it). */
bool sim_replay_read_head(struct replay_file *file, struct sim_topology *topology,
                          struct ftree_config *cfg, uint64_t *rules_hash);

/* Purpose: the next record; false: file->wrong says what is wrong. */
bool sim_replay_read(struct replay_file *file, struct replay_record *out);

/* ---- replay.c -------------------------------------------------------------------------------- */

struct sim_replay_options {
    int32_t node; /* the story of this node, all of it; FTREE_NONE: what all nodes say */
    FILE *out; /* NULL: none */
};

struct sim_replay {
    int32_t nodes, handles; /* of the job; that received input */
    uint64_t inputs, decisions, messages; /* that were compared */
    ftree_time begins, now;
    bool other_rules; /* the trace was made with other built-in rules */
    /* the first difference, or what is wrong with the file: */
    int64_t line;
    int32_t node;
    char expected[REPLAY_TEXT_MAX], got[REPLAY_TEXT_MAX];
    char wrong[256]; /* "": nothing */
};

/* Purpose: runs a trace.  Returns 0: the same, 1: it differs, 2: the file is no good. */
int sim_replay(FILE *f, const struct sim_replay_options *options, struct sim_replay *out);

#endif /* REPLAY_H_INCLUDED */
