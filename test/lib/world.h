/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WORLD_H_INCLUDED
#define WORLD_H_INCLUDED

#include "ftree.h"
#include "ftree/report/report.h"
#include "ftree_inspect.h"
#include "ftree/topology/tree.h"
#include "shape.h"

/*
 * A small world for tests: some nodes, each with a handle of the core, a network between them and
 * a clock that only moves when it is told to.  Faults are fields to be set.  What happened is a
 * trace, line by line, to be read like a story.
 *
 * The network answers as a kernel does: a live process's port connects; a stopped one's connects
 * and stays silent; a dead one's is refused; a node without power is silent.
 */

#define WORLD_NODES_MAX 1100
#define WORLD_RANKS_MAX 1100

/* What one end of a path does to packets in one direction. */
struct world_way {
    bool dead, no_large;
    int loss_percent;
    ftree_time late;
};

struct world_node {
    struct ftree *ft;
    bool off; /* no power */
    bool mute; /* its agent is stopped: connects, never answers; what comes waits for it */
    bool gone; /* its agent's process has ended: refused */
    bool no_deputy; /* nor does its deputy answer */
    bool crashed; /* all its ranks have: its agent goes, and its deputy, once that is told */
    bool path_down[FTREE_PATHS]; /* its end of the path is cut */
    struct world_way to[FTREE_PATHS], from[FTREE_PATHS]; /* a connection needs both directions */
    ftree_time busy; /* so much later it takes a packet that has come */
    int64_t packets; /* that it has sent */
    ftree_time asleep_until; /* its agent does not run until then */
    ftree_time asleep_since; /* the world's: 0: it runs */
    int64_t sent, received; /* messages, since the last world_count_reset() */
};

struct world {
    struct ftree_job job;
    struct ftree_config cfg;
    ftree_time now;
    ftree_time latency; /* of a message, one way */
    ftree_time jitter; /* at most so much more, drawn: messages overtake each other */
    int loss_percent; /* of messages, drawn by a fixed seed */
    int dup_percent; /* of messages: they come twice, the second up to 1 s later */
    bool is_cut; /* nothing passes between the two nodes of `cut`, on the path `cut_path` */
    int32_t cut[2];
    int cut_path; /* FTREE_PATHS: on all */
    struct world_way trunk; /* what comes to nodes behind the switch `trunk_to` from others */
    int32_t trunk_to;
    bool strangers; /* packets pass over a link that is dead in one direction only if a rank of one end
                     * waits for the other end: else it knows no address of that */
    bool departs; /* an agent that may go ends: its ports are refused */
    uint64_t random;
    struct world_node node[WORLD_NODES_MAX];
    struct ftree_rank_state rank[WORLD_RANKS_MAX];
    ftree_time wait_since[WORLD_RANKS_MAX]; /* 0: the rank does not wait */
    struct world_event *events;
    int32_t n_events, room_events;
    int32_t verdicts_on[WORLD_NODES_MAX]; /* verdict callbacks per node */
    int32_t withdrawals_on[WORLD_NODES_MAX];
    int32_t withdrawals; /* told to people */
    bool steps; /* the trace has the steps on the way to a decision, too */
    struct ftree_node_state state[WORLD_NODES_MAX]; /* what state probes are told */
    struct ftree_verdict report[64];
    int32_t reporter[64];
    ftree_time reported_at[64];
    int32_t reports;
    struct ftree_io io; /* of all handles */
    void *ranks; /* of waiting_ranks.h; the world frees it */
    struct ftree_waiting note; /* the last, */
    int32_t notes; /* of so many */
    char *trace;
    size_t trace_len, trace_room;
    int32_t fail_alloc_in; /* the n-th allocation from now fails; 0: none */
    bool fail_on; /* and so do all that follow */
    int64_t live_allocations;
    int32_t rank_node[WORLD_RANKS_MAX], node_first[WORLD_NODES_MAX + 1];
    int32_t node_ranks[WORLD_RANKS_MAX], rank_pid[WORLD_RANKS_MAX];
};

/* Makes a world of that shape (without a topology), ranks in blocks, time at 1 s.  It ends with the
 * test, if it is not ended before.  There is one at a time. */
struct world *world_of(struct shape shape);

/* The same of `nodes` nodes with `ppn` ranks each. */
struct world *world_new(int32_t nodes, int32_t ppn, int32_t fanout);

/* The same with a tree from outside, which must outlive it; NULL: by fan-out. */
struct world *world_new_tree(const struct ftree_tree *tree, int32_t nodes, int32_t ppn,
                             int32_t fanout);

/* From now on bursts are possible. */
void world_packets(struct world *w);

/* A symptom about a node that node `by` is told now, by other middleware. */
void world_symptom(struct world *w, int32_t by, enum ftree_symptom_kind kind, int32_t node);

/* For callbacks of io that others set: the world, and the i-th rank of the node that calls. */
struct world *world_at(void *ctx, int32_t i, int32_t *rank);

/* Ends it; checks that no handle leaked. */
void world_free(struct world *w);

/* Rank `rank` begins to wait for `peer` now; the agents find that out by world_run(). */
void world_wait(struct world *w, int32_t rank, int32_t peer);

/* All ranks except those of node `but` (FTREE_NONE: nobody) wait for rank `peer`. */
void world_all_wait(struct world *w, int32_t but, int32_t peer);

/* The rank goes on. */
void world_go_on(struct world *w, int32_t rank);

/* Lets `duration` pass, event by event; every handle is checked after each of its steps. */
void world_run(struct world *w, ftree_time duration);

/* Runs until there are `n` reports, at most `limit`; returns whether there are. */
bool world_run_until_reports(struct world *w, int32_t n, ftree_time limit);

/* The trace since the last call; lines are "<ms> <node>: <decision>\n". */
const char *world_trace(struct world *w);

void world_count_reset(struct world *w);

/* The most messages any node sent and received since the last world_count_reset(). */
int64_t world_busiest(const struct world *w);

/* Makes a handle anew, as succession does: the verdicts of the old one are restored. */
void world_succeed(struct world *w, int32_t node);

/* The deputy takes over from an agent that is stopped, which it kills, or has ended: what came for
 * that is lost. */
void world_take_over(struct world *w, int32_t node);

/* The process of a rank ends. */
void world_end_process(struct world *w, int32_t rank);

/* Those of all ranks of a node do. */
void world_crash(struct world *w, int32_t node);

#endif /* WORLD_H_INCLUDED */
