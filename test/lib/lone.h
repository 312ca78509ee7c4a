/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef LONE_H_INCLUDED
#define LONE_H_INCLUDED

#include "ftree_inspect.h"
#include "ftree_int.h"
#include "shape.h"

/*
 * One handle with nobody around it: the test plays all others.  What the handle says and sends is
 * a log, to be compared with the lines expected:
 *
 *     0 suspects n2: peer-stall, rule stalled-peer
 *     0 -> n2 data+mgmt probe
 *     150 -> n2 n3 data probe fresh
 *
 * "<ms> -> <nodes> <paths> <type>" and then "deputy", "fresh", "substitute", "nobody-waits", "more",
 * "for n3" or "from n3" (of what is relayed) where it is so.  What is sent one after the other to
 * these nodes, to each over these paths, is one line.  Every message sent is decoded again, and the
 * handle is checked after every step.
 */

#define LONE_RANKS_MAX 256
#define LONE_SENT_MAX 4096
#define LONE_VERDICTS_MAX 256
#define LONE_KERNELS_MAX 16

#define LONE_TOLD_MAX 4
#define LONE_CONNECTIONS_MAX 4

struct lone_sent {
    struct ftree_route to;
    struct wire_message m; /* of what is relayed: that itself, */
    int32_t relayed; /* and to whom it is to be passed on, or from whom; else FTREE_NONE */
    int32_t tolds; /* outlines in it, and the first ones of them */
    struct summary told[LONE_TOLD_MAX];
    ftree_time at;
};

/* A port of another node whose kernel connects or refuses. */
struct lone_kernel {
    int32_t node;
    enum ftree_path path;
    enum ftree_role role;
    enum ftree_reach reach;
    int error;
    bool due; /* a new connection was begun */
};

struct lone {
    struct ftree_job job;
    struct ftree_tree *tree; /* the job's, where that has one */
    struct ftree_config cfg;
    struct ftree *ft;
    int32_t self;
    ftree_time now;
    ftree_time stepped; /* the last time that something came or was due */
    uint32_t next_id;
    int send_error; /* what sending returns */
    /* Who was heard over a path is not heard again: else it is, after a suspect was asked anew. */
    bool hushed;
    bool bursts; /* since lone_renew(): packets are possible */
    bool takes_packets;
    int32_t packets; /* that were sent */
    bool handlers; /* since lone_renew(): there are some; */
    int32_t handled; /* how often they were asked */
    bool fabric; /* since lone_renew(): it can be asked; */
    int32_t fabric_listens, fabric_asks; /* how often, */
    uint32_t fabric_number; /* and the last question */
    bool ranks_say; /* since lone_renew(): what they wait for, when they can */
    struct lone_kernel kernel[LONE_KERNELS_MAX];
    int32_t kernels;
    int32_t looks; /* how often a rank was looked at */
    struct lone_sent sent[LONE_SENT_MAX]; /* since lone_log() was last called */
    int32_t n_sent;
    struct ftree_verdict verdict[LONE_VERDICTS_MAX], report[LONE_VERDICTS_MAX];
    int32_t verdicts, reports;
    int32_t withdrawals, withdrawals_told; /* of verdicts learnt, and of those reported */
    bool steps; /* the log has the steps on the way to a decision, too */
    struct ftree_node_state own_state; /* what a state probe is told */
    struct ftree_log_entry own_message; /* and a log probe */
    const char *reason; /* what own ranks have said of their end; NULL: nothing */
    int32_t fail_alloc_in; /* the n-th allocation from now fails; 0: none */
    int64_t live_allocations;
    struct ftree_rank_state state[LONE_RANKS_MAX]; /* of the own ranks */
    /* their connections that are stuck; since and sent: the times, not how long ago that is */
    struct ftree_connection connection[LONE_CONNECTIONS_MAX];
    int32_t connections, connections_asked; /* and how often these were asked for */
    int32_t *node_first, *node_ranks, *rank_node, *rank_pid;
    char *log;
    size_t log_len, log_room;
};

/* Makes the handle of node `self` in a job of that shape; time is 1 s, which the log calls 0.  It
 * ends with the test, if it is not ended before. */
struct lone *lone_of(struct shape shape, int32_t self);

/* The same of `nodes` nodes with `ppn` ranks each. */
struct lone *lone_new(int32_t nodes, int32_t ppn, int32_t fanout, int32_t self);

/* Ends it; checks that nothing leaked. */
void lone_free(struct lone *l);

/* Makes the handle anew in a job with that tree, which is the lone's from now on. */
void lone_use_tree(struct lone *l, struct ftree_tree *tree);

/* Ends the handle and makes it anew, with l->cfg and l->job as they are now. */
void lone_renew(struct lone *l);

/* Lets `ms` pass, tick by tick as the handle asks for them. */
void lone_run(struct lone *l, int ms);

/* Lets `ms` pass without a tick: a process that was not scheduled. */
void lone_sleep(struct lone *l, int ms);

/* A message from `from`; m->id 0: the next one. */
void lone_hear(struct lone *l, int32_t from, enum ftree_path path, struct wire_message *m);

/* The agent (or deputy) of `from` answers the last probe it was sent, over `path`, well. */
void lone_answer(struct lone *l, int32_t from, enum ftree_path path, enum ftree_role role);

/* `from` acknowledges every message sent to it since the log was last called for. */
void lone_acks(struct lone *l, int32_t from);

/* What the channel learned, as ftree_reached().  A kernel that connects or refuses does so from now
 * on for every new connection to that port, within lone_run(). */
void lone_reach(struct lone *l, int32_t node, enum ftree_path path, enum ftree_role role,
                enum ftree_reach reach, int error);

/* From now on no kernel of this node speaks. */
void lone_lost(struct lone *l, int32_t node);

/* A step is called by itself, and what follows from it is done. */
#define LONE_STEP(l, call) \
    do { \
        struct ftree_events events; \
        ftree_events_begin((l)->ft, &events); \
        call; \
        ftree_end((l)->ft, (l)->now); \
    } while (0)

/* A stall of the own rank `rank`, waiting for `peer` for one stall limit. */
void lone_stall(struct lone *l, int32_t rank, int32_t peer);

/* The last message of this type sent since the log was last called for; NULL: none. */
const struct lone_sent *lone_last(const struct lone *l, enum wire_type type);

/* How many messages of this type were sent since the log was last called for. */
int32_t lone_count(const struct lone *l, enum wire_type type);

/* The log since the last call; valid until the next one. */
const char *lone_log(struct lone *l);

/* A verdict as another node would tell it, by a sign of the built-in rules. */
struct ftree_verdict lone_verdict(const struct lone *l, const char *sign, int32_t node,
                                  int32_t rank, int32_t fln);

/* That verdict was known here before, and told to all. */
void lone_knows(struct lone *l, const char *sign, int32_t node, int32_t rank, int32_t fln);

/* Node `from` tells a verdict, up or down. */
void lone_told(struct lone *l, int32_t from, enum wire_type type, const struct ftree_verdict *v);

/* What the handle knows of a verdict, of a node under suspicion, of a node's case: there must be
 * such. */
struct ftree_inspect_verdict lone_known(const struct lone *l, int32_t i);
struct ftree_verdict lone_verdict_at(const struct lone *l, int32_t i);
struct ftree_inspect_suspect lone_suspect(const struct lone *l, int32_t node);
struct ftree_inspect_case lone_case(const struct lone *l, int32_t node);

/* The i-th verdict known is over: as the agent before knew, who has told it; or as a step found
 * just now, for it is as `why` says. */
void lone_withdraw(struct lone *l, int32_t i);
void lone_over(struct lone *l, int32_t i, const char *why);

/* This node finds it. */
void lone_finds(struct lone *l, const struct ftree_verdict *v);

/* Everybody acknowledges every message of that time. */
void lone_all_ack(struct lone *l);

/* The i-th own rank has waited for one stall limit. */
void lone_waits(struct lone *l, int32_t i);

/* Node `from` says that ranks first..last (last < first: none) wait for what message `told`
 * told. */
void lone_victims(struct lone *l, int32_t from, uint32_t told, int32_t first, int32_t last);

/* It acknowledges that message, and nobody waits there or below. */
void lone_nobody_waits(struct lone *l, int32_t from, uint32_t told);

#endif /* LONE_H_INCLUDED */
