/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_STATE_H_INCLUDED
#define FTREE_STATE_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/rules/rules.h"
#include "ftree/topology/topo.h"
#include "ftree/topology/tree.h"
#include "ftree/wire/wire.h"

#pragma GCC visibility push(hidden)

/*
 * What this node knows: of itself, of other nodes, of what is suspected, of verdicts; and the ways
 * along the tree that follow from that.
 *
 *     own.c        this agent itself
 *     verdict.c    the verdicts known
 *     explain.c    what they explain
 *     partition.c  nodes that a lost switch parts
 *     peer.c       other nodes: lost, left, silent, busy, slow
 *     route.c      the ways along the tree, past those who cannot be used; who is root
 *     way.c        nodes that only others reach
 *     cause.c      what was seen to fail before
 *     case.c       what was observed of a node, and the faults that may be behind it
 */

/* For the trace, what a case or a verdict is about: a switch, else the node; as ftree_name(). */
#define ftree_name_of(ft, of) \
    ((of)->switch_ != FTREE_NONE && (ft)->job->tree ? (ft)->job->tree->switch_name[(of)->switch_] \
                                                    : ftree_name((ft), (of)->node))

/* In stall limits: how long after a suspension nobody is accused of what may be a part of it, as
 * ranks go on one after the other. */
#define FTREE_AFTERMATH 5

#define CASE_SYMPTOMS_MAX 12
#define CASE_CANDIDATES_MAX 16

struct case_candidate {
    uint8_t model;
    uint16_t prior; /* 1/1000 */
    int32_t rule; /* that said so */
};

enum case_state {
    CASE_IDLE, /* nobody is to be asked */
    CASE_DOUBTFUL, /* all who reported it are suspects themselves */
    CASE_AGAIN, /* found well: to be asked again when `quiet` is over */
    CASE_CALLED, /* its examination begins with the event CASE that was emitted */
    CASE_EXAMINED, /* the node is a suspect, and being asked; see examine/probe.c */
    CASE_DECIDED /* it is forgotten with the event CLOSED that was emitted */
};

/* What was observed lately of one node (or switch), and the faults that may be behind it.  intake/
 * writes it; examine/ the state of one that it was given, and `chain`. */
struct ftree_case {
    int32_t node, switch_; /* switch_ FTREE_NONE: the node */
    uint8_t state; /* enum case_state */
    int32_t symptoms;
    struct ftree_symptom symptom[CASE_SYMPTOMS_MAX]; /* one for each kind and component */
    struct ftree_ranks ended; /* as the process manager says: places on the node, not ranks, because
                               * these are next to each other whatever the ranks are */
    uint32_t count; /* of all */
    ftree_time first, last;
    int32_t candidates;
    struct case_candidate candidate[CASE_CANDIDATES_MAX];
    uint64_t fired[RULES_MAX / 64]; /* bit r: rule r has */
    int32_t strategy; /* by which to ask, -1: no rule says */
    int32_t chain; /* node that its rank waits for in turn, FTREE_NONE */
    ftree_time quiet; /* found well: until then it is not asked again */
    struct suspect *suspect; /* examine/'s, of its last examination; NULL: there was none */
};

/* Goes through the cases that are examined. */
#define FTREE_EACH_EXAMINED(g, ft) \
    FTREE_EACH(const struct ftree_case, g, (ft)->state->cases) \
        if (g->state == CASE_EXAMINED)

/* A verdict; how far it has got is announce/'s (struct announcing). */
struct known {
    struct summary v;
    struct ftree_ranks *component; /* v.component, the known's own */
    struct ftree_verdict *full; /* with evidence and victims; NULL: not kept here */
    bool cuts; /* no path crosses the switch that it is about */
    uint8_t refuted_by; /* bit p: an answer over path p says that it is over */
    bool ends_agent; /* it says that agent and deputy have ended there, or cannot be reached, and no more */
    uint8_t explained; /* times that a symptom was dropped for it, as long as they are traced */
    struct recheck *recheck; /* recheck/'s; NULL: it has not asked about it, or it is over */
};

/* Goes through the verdicts that stand on a switch. */
#define FTREE_EACH_SWITCH(k, ft) \
    FTREE_EACH_IF((ft)->state->switches > 0, struct known, k, (ft)->state->known) \
        if (k->v.kind == FTREE_KIND_SWITCH && !k->v.withdrawn)

/* Goes through the verdicts about a node, the oldest first, while none is added; and through those of
 * them that stand. */
#define FTREE_EACH_ABOUT(k, ft, node) \
    for (struct known *k = ftree_verdict_about((ft), (node), NULL); k; \
         k = ftree_verdict_about((ft), (node), k))
#define FTREE_EACH_STANDING(k, ft, node) \
    FTREE_EACH_ABOUT(k, ft, node) \
        if (!k->v.withdrawn)

/* Where in `known` a verdict about a node is. */
struct place {
    int32_t node, at;
};

struct rule_name {
    char text[FTREE_NAME_MAX];
};

/* What another node did lately, or for good. */
struct peer {
    int32_t node;
    bool left, all_left; /* it said goodbye; for all below it, too */
    bool busy; /* it said so; else, where it is unresponsive, it did not acknowledge */
    int32_t by; /* until `by_until`: it is heard by way of that one */
    ftree_time unresponsive, by_until; /* until then nothing is sent by way of it; 0: it may be */
    ftree_time slow; /* until then a path to it that is silent may be no more than slow */
};

struct ftree_state {
    FTREE_ARRAY(struct ftree_case) cases;
    FTREE_ARRAY(struct known) known;
    int32_t rechecked; /* how many of them have `recheck` */
    int32_t switches; /* how many of them are about one */
    FTREE_ARRAY(struct place) by_node; /* of `known`, by node and then by age */
    FTREE_ARRAY(struct rule_name) rule_names; /* of verdicts */
    FTREE_ARRAY(struct ftree_symptom) past; /* see cause.c */
    FTREE_ARRAY(struct peer) peers;
    int32_t all_left; /* how many of them have left, with all below */
    bool leaving;
    bool own_link_down; /* of the data path, says the own kernel */
    bool outlived_silence; /* a node was silent on all paths, and came back */
    ftree_time lag, lag_at; /* how late ticks come, and when the last one did */
};

void ftree_state_clear(struct ftree *ft);

/* own.c */
bool ftree_is_leaving(const struct ftree *ft);
/* False: it was leaving already. */
bool ftree_own_leaves(struct ftree *ft);
/* How late ticks came lately; 0 where none was due for a while. */
ftree_time ftree_own_lag(const struct ftree *ft, ftree_time now);
/* How long it holds that data come through, as another node says. */
ftree_time ftree_own_data_holds(const struct ftree *ft);
/* How old they were at most when it said so. */
ftree_time ftree_own_data_age(const struct ftree *ft);
bool ftree_own_delivers(const struct ftree *ft, int32_t node, int path, ftree_time within,
                        ftree_time rtt);
bool ftree_own_tells_delivery(const struct ftree *ft, int32_t node, int path, ftree_time rtt);
void ftree_own_late(struct ftree *ft, ftree_time now, ftree_time late);

/* verdict.c */
void ftree_verdict_init(struct ftree *ft, ftree_time now, struct ftree_verdict *v,
                        const struct rules_sign *sign, int class_, int32_t node, int32_t rank);
void ftree_verdict_add_evidence(struct ftree_verdict *v, const struct ftree_evidence *e);
/* The symptom as evidence, where the model causes such; false: it does not. */
bool ftree_verdict_add_symptom(const struct ftree *ft, ftree_time now,
                               const struct ftree_symptom *s, int32_t model,
                               struct ftree_verdict *v);
void ftree_verdict_support(const struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                           int32_t model, struct ftree_verdict *v);
/* One line of evidence that the agent of `node` gave; what is not printable becomes '?'. */
void ftree_verdict_add_line(const struct ftree *ft, ftree_time now,
                            enum ftree_evidence_source source, int32_t node,
                            struct ftree_verdict *v, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* What the data interface of `node` has lost by its own counters, as it says itself; "": nothing.  And
 * the same of the own node. */
void ftree_verdict_add_losses(const struct ftree *ft, ftree_time now, int32_t node,
                              const char *losses, struct ftree_verdict *v);
void ftree_verdict_add_own_losses(const struct ftree *ft, ftree_time now, struct ftree_verdict *v);
void ftree_verdict_add_message(const struct ftree *ft, ftree_time now, int32_t node,
                               const struct ftree_log_entry *m, bool last, struct ftree_verdict *v);
void ftree_verdict_order(const struct ftree *ft, const struct ftree_case *g,
                         struct ftree_verdict *v);
void ftree_verdict_list(const struct ftree *ft, const struct ftree_case *g,
                        struct ftree_verdict *v);
/* A standing one about ranks that wait for each other. */
bool ftree_verdict_is_wait(const struct summary *v);
/* It names this rank, alone or as one of several. */
bool ftree_verdict_has_rank(const struct summary *v, int32_t rank);
bool ftree_verdict_is_masked(const struct ftree *ft, int32_t model, int32_t node);
bool ftree_verdict_is_consequence(const struct ftree *ft, int32_t model, int32_t node,
                                  int32_t switch_);
struct known *ftree_verdict_find(const struct ftree *ft, int class_, int32_t node, int32_t rank);
struct known *ftree_verdict_same(const struct ftree *ft, const struct summary *o);
bool ftree_verdict_by_switch(const struct ftree *ft, int32_t node);
struct known *ftree_verdict_by_number(const struct ftree *ft, int32_t fln, uint32_t id);
struct known *ftree_verdict_by_id(const struct ftree *ft, const struct summary *o);
/* The next one about a node after `last`, NULL: the first.  NULL: there are no more. */
struct known *ftree_verdict_about(const struct ftree *ft, int32_t node, const struct known *last);
/* True: a verdict stands that says why ranks wait, or do nothing: of any class but straggler
 * and those that warn. */
bool ftree_verdict_any_fault(const struct ftree *ft);
bool ftree_verdict_reserve(struct ftree *ft, int32_t n);
struct known *ftree_verdict_add(struct ftree *ft, const struct summary *o);
void ftree_verdict_forget(struct ftree *ft, int32_t i);
struct summary ftree_verdict_summary(struct ftree *ft, const struct ftree_verdict *v);
const char *ftree_verdict_rule(const struct ftree *ft, const struct summary *o);
/* Its sign needs that fact (enum rules_fact). */
bool ftree_verdict_needs(const struct ftree *ft, const struct summary *o, int fact);
void ftree_verdict_name_rule(struct ftree *ft, struct summary *o, const char *name);
void ftree_verdict_keep(struct ftree *ft, struct known *k, const struct ftree_verdict *v);
void ftree_verdict_drop_full(struct ftree *ft, struct known *k);
void ftree_verdict_load(const struct ftree *ft, const struct known *k, struct ftree_verdict *v);
void ftree_verdict_count_symptoms(struct known *k, uint32_t n);
/* It is over: nobody is asked about it, or waited for because of it, any more. */
void ftree_verdict_withdraw(struct ftree *ft, struct known *k, ftree_time withdrawn);
bool ftree_verdict_on_rank(const struct ftree *ft, int32_t node, int32_t rank);
/* True if each says the same of the other's FLN: it is one link that is broken. */
bool ftree_verdict_is_mutual(const struct summary *a, const struct summary *b);
struct known *ftree_verdict_explaining(const struct ftree *ft, const struct summary *v);
bool ftree_verdict_takes_node(const struct ftree *ft, const struct summary *v);
bool ftree_verdict_ends_all(const struct ftree *ft, int32_t node);
int32_t ftree_verdict_failed(const struct ftree *ft, int32_t except);

/* True where all of its node is lost, by one verdict or several. */
bool ftree_verdict_is_taken(const struct ftree *ft, int32_t node);
/* The paths over which an answer refutes the sign of that name, as a set of bits. */
uint8_t ftree_verdict_paths_of_sign(const struct ftree *ft, const char *name);

/* cause.c */
/* Keeps it, if by a model it may lead to something, or is what a GPU does. */
void ftree_cause_note(struct ftree *ft, const struct ftree_symptom *s);
struct wire_codec;
/* The part of an answer that goes up: what is kept of this node and those below it.  A reader keeps
 * it, too. */
void ftree_cause_wire(struct wire_codec *c);
/* Adds what was kept of its node lately, and the model has as symptoms, as evidence. */
void ftree_cause_tell(const struct ftree *ft, ftree_time now, int32_t model,
                      struct ftree_verdict *v);
/* What led to the fault of that model goes to the front of the evidence, the first cause first; it is
 * whom to call for. */
void ftree_cause_add(const struct ftree *ft, int32_t model, struct ftree_verdict *v);

/* explain.c */
/* True: the symptom is no news, for verdicts say so of its rank, node or data path, or of all who
 * reported it.  That is counted and traced. */
bool ftree_verdict_explains(struct ftree *ft, const struct ftree_symptom *s);
/* True if a verdict says that something is wrong with the node's data path. */
bool ftree_verdict_path_is_known(const struct ftree *ft, int32_t node);
/* True if a verdict says that a switch between the two nodes loses packets. */
bool ftree_verdict_between(const struct ftree *ft, int32_t a, int32_t b);
bool ftree_verdict_explains_path(const struct ftree *ft, const struct ftree_symptom *s);

/* partition.c */
bool ftree_partition_is_other(const struct ftree *ft, int32_t node);
bool ftree_partition_ends_at(const struct ftree *ft, int32_t node);
bool ftree_partition_is_cut_off(const struct ftree *ft);
int32_t ftree_partition_top(const struct ftree *ft);

/* peer.c */
/* How another node is, as far as is known here; from "nothing is wrong" to "nothing can be
 * known". */
enum ftree_peer {
    FTREE_PEER_OK,
    FTREE_PEER_BUSY, /* it said so a moment ago: it answers, if late */
    FTREE_PEER_UNRESPONSIVE, /* it did not acknowledge a moment ago */
    FTREE_PEER_LEFT, /* it said goodbye */
    FTREE_PEER_STOPPED, /* its agent and its deputy have ended */
    FTREE_PEER_LOST, /* all of it, as a verdict says */
    FTREE_PEER_CUT_OFF /* a lost switch is between */
};
enum ftree_peer ftree_peer(const struct ftree *ft, ftree_time now, int32_t node);
/* True if nobody speaks for the node: it has failed, or its agent and its deputy have ended. */
bool ftree_has_no_agent(const struct ftree *ft, int32_t node);
bool ftree_peer_has_left(const struct ftree *ft, int32_t node);
/* True: that is news. */
bool ftree_peer_leaves(struct ftree *ft, int32_t node, bool more);
bool ftree_peer_all_left(const struct ftree *ft, int32_t node);
/* True if its agent runs and stays; it may be unresponsive for a while. */
bool ftree_peer_can_act(const struct ftree *ft, int32_t node);
bool ftree_peer_usable(const struct ftree *ft, ftree_time now, int32_t node);
void ftree_peer_unresponsive(struct ftree *ft, ftree_time now, int32_t node, bool busy);
/* True: it did not acknowledge, and is heard again. */
bool ftree_peer_heard(struct ftree *ft, int32_t node);
/* It is heard by way of `by`; and by way of whom it was lately, FTREE_NONE: it is heard
 * directly. */
void ftree_peer_heard_by(struct ftree *ft, ftree_time now, int32_t node, int32_t by);
int32_t ftree_peer_by(const struct ftree *ft, ftree_time now, int32_t node);
/* Until then a path to it may be slow, as it was seen to be; and whether that is so now. */
void ftree_peer_slow(struct ftree *ft, ftree_time until, int32_t node);
bool ftree_peer_is_slow(const struct ftree *ft, ftree_time now, int32_t node);
void ftree_peer_tick(struct ftree *ft, ftree_time now);

/* route.c */
int32_t ftree_route_first(const struct ftree *ft, ftree_time now, int32_t node, int32_t skip);
bool ftree_route_is_root(const struct ftree *ft);
/* FTREE_NONE: nobody can act for the root. */
int32_t ftree_route_root(const struct ftree *ft);
int32_t ftree_route_upward(const struct ftree *ft, ftree_time now, int32_t skip, bool *substitute);
int32_t ftree_route_beyond(const struct ftree *ft, int32_t switch_, int32_t turn);
/* Calls f(ft, child, arg) for every node that counts as a child of `node`: its children, and in
 * place of one that has failed, or is this node itself, that one's children, and so on. */
void ftree_route_children(struct ftree *ft, int32_t node,
                          void (*f)(struct ftree *, int32_t, void *), void *arg);

/* way.c */
#define FTREE_LOOKS 16 /* so many nodes are looked at for one that can help */
/* True if the node can be asked for something about another: it hears this one, and is not
 * suspected. */
bool ftree_can_help(const struct ftree *ft, ftree_time now, int32_t node);
/* Whom to ask: the next such node by number after `from`, *far from it and more, but not `skip`; of
 * *looks those that are looked at are taken off, but for lost ones.  FTREE_NONE: none.  Neighbours
 * by number lie behind the same switch where there are any; the next time others are asked, for
 * neighbours tend to be lost together. */
int32_t ftree_helper(const struct ftree *ft, ftree_time now, int32_t from, int32_t *far,
                     int32_t *looks, int32_t skip);
/* The node by way of which another is reached that does not hear this one, but not `skip`;
 * FTREE_NONE: it hears this one, or there is none. */
int32_t ftree_way(const struct ftree *ft, ftree_time now, int32_t node, int32_t skip);

/* case.c */
struct ftree_case *ftree_case_find(const struct ftree *ft, int32_t node, int32_t switch_);
/* A new one, of which nothing is known; NULL: out of memory.  The array may move. */
struct ftree_case *ftree_case_add(struct ftree *ft, int32_t node, int32_t switch_);
/* Drops those that f(ft, now, g) says are past; the last one comes into the place of each. */
void ftree_case_drop_past(struct ftree *ft, ftree_time now,
                          bool (*f)(struct ftree *, ftree_time, struct ftree_case *));
void ftree_case_drop_all(struct ftree *ft);
void ftree_case_drop(struct ftree *ft, int32_t node, int32_t switch_);
uint64_t ftree_case_models(const struct ftree_case *g);
/* True if the node is examined, or about to be. */
bool ftree_case_is_suspect(const struct ftree *ft, int32_t node);
/* True if one at or below the node is. */
bool ftree_case_any_below(const struct ftree *ft, int32_t node);

/* True if a switch (leaf or above) has the node below it; none has, where there are no switches. */
static inline bool ftree_is_behind(const struct ftree *ft, int32_t switch_, int32_t node)
{
    return switch_ != FTREE_NONE && ft->job->tree &&
           ftree_tree_is_behind(ft->job->tree, switch_, node);
}

#pragma GCC visibility pop

#endif /* FTREE_STATE_H_INCLUDED */
