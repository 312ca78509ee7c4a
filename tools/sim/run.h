/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef RUN_H_INCLUDED
#define RUN_H_INCLUDED

#include "ftree/topology/topo.h"
#include "sim/hang.h"
#include "sim/network.h"
#include "sim/sim_program.h"
#include "sim/queue.h"
#include "sim/script.h"
#include "sim/truth.h"

#include <stdio.h>

/*
 * One run: all nodes of a job, each with a handle of the core, between them the network, and a
 * clock that goes from one event to the next.
 *
 *     run.c          the clock: events, ticks, the end
 *     handle.c       handles are made and take turns on the stage; what follows once one was called
 *     sim_agent.c    what a handle is given: messages, states of ranks, memory; what its work costs
 *     fault.c        faults begin and end, who waits, and what is to be found
 *     hang.c         ranks that wait for each other, and what ranks that wait say of themselves
 *     sim_program.c  what ranks do while they do not wait, and what is sampled of that
 *     trace.c        what each handle received and decided, to be replayed
 */

struct sim_run;

#define SIM_BEGINS (1000 * FTREE_MS) /* not 0, which the core takes for "never" in places */

/* What is the same in all runs. */
struct sim_options {
    const struct sim_topology *topology;
    const struct sim_script *script;
    const struct sim_program *program; /* what its ranks run; NULL: nobody takes samples */
    ftree_time ran; /* how long when the simulation begins */
    struct sim_latency link;
    double loss, duplicate, delay;
    ftree_time delay_max;
    ftree_time cost; /* CPU time of an agent for a message, in or out */
    int32_t partners; /* how many ranks wait for each node that is gone */
    ftree_time grace; /* how long a run goes on when all is found, so that what is wrong shows */
    ftree_time limit; /* how long after the last fault it ends when it is not */
    bool check; /* every invariant of a handle after each of its events */
    FILE *trace; /* NULL: none */
    /* Called every now and then; may be NULL. */
    void (*progress)(void *ctx, const struct sim_run *r);
    void *progress_ctx;
};

/* One line of the processor's cache. */
struct sim_node {
    struct sim_run *run;
    void *ft; /* its handle; NULL: it was given nothing so far; see sim_handle() */
    ftree_time busy_until; /* its agent works until then */
    ftree_time asleep_until; /* its processes are stopped until then */
    ftree_time due; /* its tick is; FTREE_NEVER: none is */
    ftree_time tick_at; /* that one in the queue counts; FTREE_NEVER: none does */
    uint32_t messages; /* sent and received */
    uint32_t beside; /* of them: those about its own suspects, and about who waits for whom, with what
                      * acknowledges these */
    bool off; /* no power */
    bool crashed; /* its ranks have ended; its agent reports that, and leaves */
    bool gone; /* and so have its agent and its deputy */
    bool tick_queued; /* its tick waits for its CPU */
    bool packed; /* ft is, see stage.h */
    uint8_t link; /* enum ftree_link: what its kernel says of the data interface; 0: up */
};

struct sim_rank {
    ftree_time since; /* it waits; 0: it does not */
    ftree_time until; /* and then goes on; 0: it depends */
    int32_t peer;
    int32_t hang, place; /* the line that made it hang, from 1, and its place there; 0: it does not */
    uint32_t stamp; /* changes with each wait */
    uint32_t look; /* that it was asked at last */
    ftree_time longest; /* phase in which all waited for it, that is over */
    char letter; /* state of its process while it is not in MPI: 'S', 'D'; 0: it runs */
    bool stopped; /* its process is, and not those of all its node */
    bool finalized;
};

/* The nodes (or switches) that a line of the script came to. */
struct sim_hit {
    int32_t *node;
    int32_t nodes;
    int32_t *switch_;
    int32_t switches;
    struct sim_hang hang;
};

struct sim_run {
    const struct sim_options *options;
    struct ftree_job job;
    struct topo topo; /* its */
    struct ftree_config cfg;
    uint64_t seed;
    ftree_time now, end;
    struct sim_queue queue;
    struct sim_network network;
    struct ftree_io io;
    struct draw draw; /* targets and waits; the network has a stream of its own */
    struct sim_truth truth;
    struct sim_node *node; /* [nodes] */
    struct sim_node *on_stage; /* its handle is; NULL: none is */
    struct sim_rank *rank; /* [size] */
    struct sim_hit *hit; /* [lines of the script] */
    struct sim_phase *phase; /* [phases], of the program */
    int32_t phases;
    struct sim_instants instants;
    ftree_time longest; /* of these, that is over */
    struct sim_program_tests tests; /* by all nodes */
    int32_t faults_left; /* beginnings and ends that are still to come */
    ftree_time last_fault; /* when the last one was */
    uint64_t events, ticks, messages, bytes;
    uint64_t waits_messages, waits_bytes; /* of these: who waits for whom */
    uint64_t hash; /* of all that happened, in its order */
    uint64_t idle; /* bytes of a handle that was given nothing */
    uint64_t memory, memory_most; /* of all handles, in bytes, with those not made yet */
    const char *broken; /* an invariant that does not hold; NULL: all do */
    int32_t broken_node;
};

/* Purpose: makes a run and goes through it to its end; sim_run_free() ends it. */
void sim_run(struct sim_run *r, const struct sim_options *options, uint64_t seed);
void sim_run_free(struct sim_run *r);

/* Purpose: makes `value` part of the run's hash. */
static inline void sim_run_note(struct sim_run *r, uint64_t value)
{
    r->hash = draw_mix(r->hash ^ value) + 0x9e3779b97f4a7c15u;
}

/* ---- handle.c -------------------------------------------------------------------------------- */

/* Purpose: the node's handle, to be given something: made now if it was given nothing so far.  So
 * it is in the processor's cache, and nodes to which nothing happens cost no memory.  Those of
 * leaves are on the stage in turn: the handle is valid until another node's is asked for. */
struct ftree *sim_handle(struct sim_run *r, int32_t node);

/* Purpose: ends the node's handle, if it has one. */
void sim_handle_end(struct sim_run *r, int32_t node);

/* Purpose: true if the node's agent can do anything now. */
bool sim_handle_runs(const struct sim_run *r, int32_t node);

/* Purpose: the node's tick is due at `at`, and no more when it was; FTREE_NEVER: not at all. */
void sim_handle_due(struct sim_run *r, int32_t node, ftree_time at);

/* Purpose: the node's handle was called: its next tick is noted, and it is checked; its agent ends,
 * if it is time. */
void sim_handle_touch(struct sim_run *r, int32_t node);

/* Purpose: a rank begins to wait for another within that time, if it does not wait yet; it goes
 * on. */
void sim_handle_wait(struct sim_run *r, int32_t rank, int32_t peer, ftree_time within);
void sim_handle_goes_on(struct sim_run *r, int32_t rank);

/* ---- sim_agent.c ----------------------------------------------------------------------------- */

/* Purpose: what the options give a handle. */
struct ftree_io sim_agent_io(const struct sim_options *options);

/* Purpose: an event of one node, at the time r->now. */
void sim_agent_message(struct sim_run *r, struct sim_event *e);
void sim_agent_reach(struct sim_run *r, struct sim_event *e);
void sim_agent_stall(struct sim_run *r, struct sim_event *e);
void sim_agent_tick(struct sim_run *r, int32_t node);

/* ---- fault.c --------------------------------------------------------------------------------- */

/* Purpose: draws what the script leaves open, and puts its lines into the queue. */
void sim_fault_plan(struct sim_run *r);
void sim_fault_event(struct sim_run *r, const struct sim_event *e);
void sim_fault_over(struct sim_run *r, const struct sim_event *e);
void sim_fault_free(struct sim_run *r);

/* What is gone for less time than this need not be noticed, but may be: the stall limit, a
 * window of questions, the victims, and as much again for a network that loses messages. */
#define SIM_NOTICED (5000 * FTREE_MS)

/* ---- trace.c --------------------------------------------------------------------------------- */

void sim_trace_begin(const struct sim_run *r);
void sim_trace_end(const struct sim_run *r);
void sim_trace_message(const struct sim_run *r, const struct sim_event *e);
void sim_trace_reach(const struct sim_run *r, const struct sim_event *e);
void sim_trace_stall(const struct sim_run *r, int32_t node, int32_t rank);
/* An input that is a word, as replay_read.c has them; rank FTREE_NONE: it is of none. */
void sim_trace_in(const struct sim_run *r, int32_t node, const char *what, int32_t rank);
void sim_trace_look(const struct sim_run *r, int32_t node, const struct ftree_rank_state *s);
/* What a rank has said of its waits; page NULL: nothing, for the reason `said`. */
void sim_trace_waits(const struct sim_run *r, int32_t node, int32_t rank, uint32_t look,
                     enum ftree_waits_look said, const struct waits_page *page,
                     const int32_t *with, int32_t n);
void sim_trace_state(const struct sim_run *r, int32_t node, const struct ftree_node_state *s);
void sim_trace_send(const struct sim_run *r, int32_t node, const struct ftree_route *to,
                    const void *bytes, size_t len);
void sim_trace_line(const struct sim_run *r, int32_t node, const char *line);

#endif /* RUN_H_INCLUDED */
