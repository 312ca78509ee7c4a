/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_EXAMINE_H_INCLUDED
#define FTREE_EXAMINE_H_INCLUDED

#include "ftree/base/event.h"
#include "ftree/net/net.h"
#include "ftree/state/state.h"
#include "ftree/survey/query.h"

#pragma GCC visibility push(hidden)

/*
 * Asking a suspect by its strategy until a sign decides.
 *
 *     probe.c      asking, hearing, deciding
 *     suspect.c    what is known of one suspect
 *     facts.c      what the answers came to, in the words of the rule base
 *     silence.c    how long silence lasts before it accuses, and which silence counts
 *     crowd.c      many suspects behind one switch: a few are examined, the others wait for these
 *     neighbour.c  one node or all behind a switch: asking a few others behind it
 *     indirect.c   asking a suspect for somebody else, from where this node is
 *     burst.c      packets that are counted: what a link does to them in each direction
 *     fabric.c     whether the library that ranks' data go by brings messages
 *     handled.c    what the site's services say of a suspect
 *     inquiry.c    a person asks how a node or a rank is
 */

/* What others show of a path while a suspect is examined; see silence.c. */
struct works {
    ftree_time from; /* when the first one was heard there, 0: nobody was */
    ftree_time heard; /* when the last one was */
    ftree_time asked; /* the suspect by a new connection, for the first time since; 0: never */
};

#define FTREE_HANDLED_MAX 4

/* What the own node's handlers say of a suspect. */
struct handled {
    bool asked, awaited; /* not all is said yet; its window is over and waits for that */
    bool over; /* they were asked: once is enough */
    ftree_time until; /* it waits no longer */
    uint8_t power, port; /* as the facts of these names */
    int32_t n;
    struct {
        ftree_time at;
        char text[FTREE_DETAIL_MAX];
    } said[FTREE_HANDLED_MAX];
};

/* What asking a node or switch has brought, since its examination began. */
struct suspect {
    int32_t node, switch_; /* as of its case */
    int32_t rank; /* someone waits for this rank, FTREE_NONE */
    uint32_t nonce;
    uint32_t round; /* of the flood query that asks, 0: a symptom named the node */
    uint32_t done; /* bit s: step s of the strategy was taken */
    uint8_t tries; /* how often it was asked */
    uint8_t questions[FTREE_PATHS][FTREE_ROLES]; /* response probes that went there */
    uint8_t answered_question[FTREE_PATHS]; /* the number of the one its agent last answered */
    uint8_t connections[FTREE_PATHS][FTREE_ROLES]; /* made for them: a kernel speaks to no other */
    uint8_t kernel_connection[FTREE_PATHS][FTREE_ROLES]; /* that its kernel last spoke to, */
    uint8_t kernel[FTREE_PATHS][FTREE_ROLES]; /* and what it said */
    uint8_t since[FTREE_PATHS][FTREE_ROLES]; /* the best that was heard since, which is less, */
    int16_t since_error[FTREE_PATHS][FTREE_ROLES]; /* and its errno */
    struct works works[FTREE_PATHS];
    ftree_time connected; /* when its kernel first said so, 0: never */
    ftree_time neighbours; /* when those behind its switches were last asked, 0: never */
    ftree_time delivers[FTREE_PATHS]; /* when a node last said that data come through, 0: never */
    uint8_t prolonged; /* how often it was asked anew when its window was over */
    bool has_state, has_log;
    bool waits, waited; /* for what comes of others behind its switch; see crowd.c */
    struct handled handled;
    int32_t witness; /* how far from the own node the last witness asked was */
    int32_t helper; /* how far from the suspect the last helper was */
    ftree_time opened, asked, again, deadline;
    ftree_time base; /* from which the strategy's times count */
    uint8_t reach[FTREE_PATHS][FTREE_ROLES];
    int16_t error[FTREE_PATHS][FTREE_ROLES];
    struct {
        uint8_t reach; /* the best that a helper saw */
        int32_t by; /* who */
        ftree_time at;
    } elsewhere[FTREE_PATHS];
    struct wire_trouble deputy_word; /* rank FTREE_NONE: none */
    struct wire_trouble deputy_next; /* what it says of another rank; likewise */
    struct ftree_ranks waiting; /* as the deputy says */
    struct ftree_node_state node_state; /* where has_state */
    struct ftree_log_entry message; /* newest one of the rank, where has_log */
};

/* Goes through those that are examined now. */
#define FTREE_EACH_SUSPECT(su, ft) \
    FTREE_EACH_EXAMINED(su##_case, ft) \
        for (struct suspect *su = su##_case->suspect; su; su = NULL)

/* A probe of a node for another one that asked for it; see indirect.c. */
struct indirect_probe {
    int32_t from, target; /* who wants to know, of whom */
    uint32_t their_nonce, nonce; /* of their question, and of the own one */
    uint8_t reach[FTREE_PATHS], sent[FTREE_PATHS];
    ftree_time asked, until;
};

#define FTREE_HELPERS 2

/* A node that is asked because it is behind the same switch as a suspect, or as this node. */
struct neighbour {
    int32_t node;
    uint32_t nonce; /* of indirect probes of it */
    ftree_time asked, last_asked; /* for the first and for the last time */
    ftree_time helpers_asked; /* when others were last asked to */
    ftree_time heard[FTREE_PATHS]; /* last; its kernel counts */
    uint8_t seen[FTREE_HELPERS]; /* the best that each helper saw of it over data */
};

/* What is silent: fact "behind" or "behind-data", and which switch. */
struct ftree_silence {
    uint8_t behind;
    int32_t switch_; /* FTREE_NONE: none */
};

/* A node that was heard on a path. */
struct witness {
    ftree_time at; /* 0: nobody was */
    int32_t node;
    uint8_t reach; /* it answered, or its kernel did */
};

/* Packets to and from another node; see burst.c. */
struct burst {
    int32_t node;
    uint32_t nonce;
    bool asked; /* this node asked for it; else it was asked */
    bool said; /* the other one has said what it has heard, */
    bool prolonged; /* more time than usual was given */
    bool over; /* nothing more is to come, */
    bool looked_at; /* who examines the node has seen that, */
    bool compared; /* others behind its switch were asked because of it, */
    bool judged; /* and it was decided about */
    bool resent; /* a kernel says that packets between two nodes, of which it is one, are lost */
    uint8_t before[2]; /* groups that lost packets in the burst of which this one is the repetition: in, out */
    bool repeated; /* it is one */
    bool awaited; /* more time was given, for what the reporter sees */
    int32_t reporter; /* asked for a burst of the same node, */
    uint8_t seen[2]; /* which came to this: in, out; RULES_WAY_* */
    int32_t asker[FTREE_HELPERS]; /* who want to know what comes of this one, FTREE_NONE, */
    uint32_t asker_nonce[FTREE_HELPERS]; /* and the nonces of their questions */
    uint8_t group; /* the next one to be sent, */
    ftree_time next; /* and when; FTREE_NEVER: none, or the other one takes none yet */
    ftree_time began, ended;
    ftree_time first; /* the first symptom because of which it was asked for */
    ftree_time until;
    struct wire_way here[FTREE_PATHS], there[FTREE_PATHS]; /* as each of the two has seen it */
    int64_t took[FTREE_PATHS][WIRE_BURST_PACKETS]; /* of those heard: the way, as the clocks say */
    char losses[FTREE_LOSSES_MAX]; /* of the other one's interface, as it says itself */
};

/* What came of asking for the fabric from one node to another; see fabric.c. */
struct fabric_line {
    uint8_t says; /* enum ftree_fabric */
    uint32_t us;
    char why[FTREE_FABRIC_WHY];
};

/* A suspect that is well, and what is asked because of it. */
struct fabric_round {
    int32_t suspect, reporter, third;
    uint32_t nonce;
    uint8_t waits; /* bit i: for line i; 0: it rests until then */
    uint8_t tries; /* rounds without a rest */
    uint8_t nones; /* rounds of a standing verdict in which it could not be asked */
    bool idle; /* in the last of these no rank waited */
    bool stands; /* it came to a verdict */
    uint8_t came_to; /* the round before, as the fact "fabric", */
    int32_t about; /* of this node */
    ftree_time first, until, rests;
    struct fabric_line line[3];
};

#define FABRIC_END 8 /* bytes, the first of an address, which are random and tell one end from its successor */

/* One line that this node asks. */
struct fabric_ask {
    int32_t from, target; /* who wants to know */
    uint32_t their_nonce, nonce; /* of their question, and of the own one */
    bool asked; /* it has begun, at an end of this address, */
    uint8_t end[FABRIC_END];
    bool silent; /* and nothing came: was its other end there? */
    uint32_t us;
    ftree_time again, until;
    char why[FTREE_FABRIC_WHY];
};

/* A node that has this one ask because own ranks wait for that target: have since then at the latest. */
struct fabric_wait {
    int32_t from, target;
    uint32_t nonce;
    ftree_time since;
};

/* A node that asks this one. */
struct fabric_listen {
    int32_t node;
    uint32_t nonce;
    uint8_t closes; /* after so many signs that the end here lives it is sent that; 0: it is not */
};

struct inquiry {
    struct ftree_inquiry said;
    uint8_t path; /* over which its agent answered first */
    int32_t tries;
    ftree_time next, until;
};

/* What most handles of a simulation never have. */
struct rare {
    FTREE_ARRAY(struct inquiry) inquiries;
    FTREE_ARRAY(struct fabric_round) rounds;
    FTREE_ARRAY(struct fabric_ask) asks;
    FTREE_ARRAY(struct fabric_listen) listens;
    FTREE_ARRAY(struct fabric_wait) waits;
    struct ftree_bytes address; /* of the own end of the fabric; empty: there is none yet */
    ftree_time full, held; /* from when on nobody is sent it; when it last had not the CPU, 0: never */
};

struct ftree_examine {
    struct rare *rare; /* NULL: nobody has asked for any of that */
    FTREE_ARRAY(struct indirect_probe) indirect_probes;
    FTREE_ARRAY(struct neighbour) neighbours;
    FTREE_ARRAY(struct burst) bursts;
    bool (*waits_for)(const struct ftree *ft, int32_t node, ftree_time since); /* a rank here does */
    int32_t helper[FTREE_HELPERS], helpers; /* who probe them, and how far from here they are */
    int32_t helpers_far;
    ftree_time link_settles; /* bursts that began before have met with the own link, which was lost */
    struct witness heard[FTREE_PATHS][2]; /* the last two nodes heard there, the last one first:
                                           * one of them is another than any suspect */
};

void ftree_examine_clear(struct ftree *ft);
/* The job ends here: nothing more is to be done. */
void ftree_examine_stop(struct ftree *ft);

/* probe.c */
void ftree_probe_open(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_,
                      uint32_t round);
/* The time that the suspect had is over. */
void ftree_probe_due(struct ftree *ft, ftree_time now, int32_t node);
/* What else there is to be decided about a suspect of which a rank ended; its copy is freed at
 * last. */
void ftree_probe_rest(struct ftree *ft, ftree_time now, const struct ftree_event *rest);
/* A verdict is known: who has failed is asked no more, nor who is silent on a data path that a dead
 * switch was on. */
void ftree_probe_learned(struct ftree *ft);
void ftree_probe_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                        const struct wire_answer *a);
void ftree_probe_state(struct ftree *ft, ftree_time now, int32_t from, const struct wire_state *s,
                       bool delivers);
void ftree_probe_log(struct ftree *ft, ftree_time now, int32_t from, const struct wire_log *l);
void ftree_probe_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                         enum ftree_role role, enum ftree_reach reach, int error);
void ftree_probe_indirect_result(struct ftree *ft, ftree_time now, int32_t from,
                                 const struct wire_indirect_result *s, bool delivers);
void ftree_probe_excuse(struct ftree *ft, ftree_time now, ftree_time late, bool anew);
void ftree_probe_restart(struct ftree *ft, ftree_time now);
void ftree_probe_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_probe_deadline(const struct ftree *ft);

/* suspect.c */
/* Its examination begins, and nothing is known of it; NULL: out of memory. */
struct suspect *ftree_suspect_open(struct ftree *ft, ftree_time now, struct ftree_case *g,
                                   uint32_t round);
/* That node, which is examined; NULL: it is not. */
struct suspect *ftree_suspect(const struct ftree *ft, int32_t node);
uint8_t ftree_probe_reach(const struct suspect *su, int path, int role);
/* What is left of what was heard first, without what was heard since. */
uint8_t ftree_suspect_word_left(const struct suspect *su, int path, int role);
bool ftree_suspect_is_old_answer(const struct suspect *su, int path);
bool ftree_facts_kernel_spoke(const struct suspect *su);
bool ftree_facts_answered(const struct suspect *su);

/* silence.c */
ftree_time ftree_silence_window_of(const struct ftree *ft, ftree_time now, bool one_sided);
void ftree_silence_asked(struct suspect *su, ftree_time now, int path);
bool ftree_silence_counts(const struct suspect *su, int path);
bool ftree_silence_needs_witness(const struct suspect *su, int path);
ftree_time ftree_silence_until(struct ftree *ft, ftree_time now, struct suspect *su, bool *ask);
bool ftree_silence_is_mute(const struct ftree *ft, ftree_time now, const struct suspect *su);
/* Another node shows that a path works, if only by its kernel's refusal. */
void ftree_silence_heard(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                         enum ftree_reach reach);

/* crowd.c */
ftree_time ftree_crowd_until(const struct ftree *ft, const struct suspect *su);

/* indirect.c */
void ftree_indirect(struct ftree *ft, ftree_time now, int32_t from,
                    const struct wire_indirect_probe *w);
void ftree_indirect_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                           const struct wire_answer *a);
void ftree_indirect_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                            enum ftree_role role, enum ftree_reach reach);
void ftree_indirect_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_indirect_deadline(const struct ftree *ft);

/* handled.c */
void ftree_handled_ask(struct ftree *ft, ftree_time now, struct suspect *su);
/* True: the time that the suspect has is not over yet, because of them.  *anew: it is now, and it is
 * to be asked once more, for what is known of it is old. */
bool ftree_handled_waits(ftree_time now, struct suspect *su, bool *anew);
void ftree_handled_find(const struct suspect *su, const struct ftree_case *g,
                        struct rules_facts *facts);
void ftree_handled_add_evidence(const struct ftree *ft, const struct suspect *su,
                                struct ftree_verdict *v);
/* What could not be asked, in one line. */
void ftree_handled_add_unknown(const struct ftree *ft, const struct suspect *su, int32_t model,
                               struct ftree_verdict *v);

/* suspect.c: empty where there is none; and makes one before anything is added, false: out of memory. */
struct rare *ftree_rare(const struct ftree *ft);
bool ftree_has_rare(struct ftree *ft);
void ftree_rare_clear(struct ftree *ft);

/* fabric.c */
/* The node is well, and somebody has waited for it for long. */
void ftree_fabric_after(struct ftree *ft, ftree_time now, const struct suspect *su);
/* A wait of an own rank has ended; and a verdict has come. */
void ftree_fabric_resumed(struct ftree *ft, ftree_time now);
void ftree_fabric_learned(struct ftree *ft);
void ftree_fabric(struct ftree *ft, ftree_time now, int32_t from, const struct wire_fabric *w);
void ftree_fabric_asked(struct ftree *ft, ftree_time now, uint32_t nonce, enum ftree_fabric says,
                        uint32_t us, const char *why);
void ftree_fabric_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_fabric_deadline(const struct ftree *ft);
void ftree_fabric_stop(struct ftree *ft);

/* inquiry.c */
int ftree_inquiry_begin(struct ftree *ft, ftree_time now, int32_t node, int32_t rank,
                        uint32_t *number);
void ftree_inquiry_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                          const struct wire_answer *a);
void ftree_inquiry_state(struct ftree *ft, int32_t from, const struct wire_state *s);
void ftree_inquiry_log(struct ftree *ft, int32_t from, const struct wire_log *l);
void ftree_inquiry_reached(struct ftree *ft, int32_t node, enum ftree_path path,
                           enum ftree_role role, enum ftree_reach reach);
void ftree_inquiry_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_inquiry_deadline(const struct ftree *ft);
void ftree_inquiry_stop(struct ftree *ft);

/* neighbour.c */
void ftree_neighbour_ask(struct ftree *ft, ftree_time now, const struct suspect *su);
void ftree_neighbour_indirect_probe(struct ftree *ft, ftree_time now, const struct suspect *su);
void ftree_neighbour_forget(struct ftree *ft);
void ftree_neighbour_heard(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path);
void ftree_neighbour_indirect_result(struct ftree *ft, int32_t from,
                                     const struct wire_indirect_result *s);
bool ftree_neighbour_may_be_switch(const struct ftree *ft, const struct suspect *su);
struct ftree_silence ftree_neighbour_silence(const struct ftree *ft, const struct suspect *su,
                                             bool data);
void ftree_neighbour_add_evidence(const struct ftree *ft, ftree_time now, const struct suspect *su,
                                  struct ftree_verdict *v);

/* burst.c */
/* The node and another one are to send packets here, and get some; nothing where they were asked a
 * moment ago. */
void ftree_burst_ask(struct ftree *ft, ftree_time now, int32_t node);
/* The node is well: a burst tells whether its link is, if somebody has waited for it. */
void ftree_burst_after(struct ftree *ft, ftree_time now, int32_t node);
void ftree_burst_asked(struct ftree *ft, ftree_time now, int32_t from, uint32_t nonce);
/* Another node wants to know what comes of one; and what came of one elsewhere. */
void ftree_burst_indirect(struct ftree *ft, ftree_time now, int32_t from,
                          const struct wire_indirect_probe *w);
void ftree_burst_seen(struct ftree *ft, ftree_time now, int32_t from,
                      const struct wire_indirect_result *s);
void ftree_burst_packet(struct ftree *ft, ftree_time now, ftree_time arrived, int32_t from,
                        enum ftree_path path, const struct wire_packet *p);
void ftree_burst_heard(struct ftree *ft, ftree_time now, int32_t from, const struct wire_heard *h);
/* True once for each that is over. */
bool ftree_burst_is_news(const struct ftree *ft, int32_t node);
bool ftree_burst_runs(const struct ftree *ft, int32_t node);
void ftree_burst_facts(const struct ftree *ft, int32_t node, struct rules_facts *facts);
/* The own link is lost, or is back. */
void ftree_burst_link(struct ftree *ft, ftree_time now, bool up);
/* What is between switches is no fault of the node's: the verdict is about a switch then. */
void ftree_burst_name(const struct ftree *ft, int32_t node, struct ftree_verdict *v);
void ftree_burst_add_evidence(const struct ftree *ft, ftree_time now, int32_t node,
                              struct ftree_verdict *v);
/* What the interfaces at both ends have lost, the node's and the own, by their own counters. */
void ftree_burst_add_losses(const struct ftree *ft, ftree_time now, int32_t node,
                            struct ftree_verdict *v);
void ftree_burst_tick(struct ftree *ft, ftree_time now);
void ftree_burst_stop(struct ftree *ft);
ftree_time ftree_burst_deadline(const struct ftree *ft);

/* facts.c */
bool ftree_facts_was_witnessed(const struct ftree *ft, const struct suspect *su, int path);
int32_t ftree_facts_ended(const struct ftree *ft, int32_t node);
bool ftree_facts_all_ended(const struct ftree *ft, int32_t node);
int32_t ftree_facts_reset(const struct ftree *ft, int32_t node);
void ftree_facts_find(const struct ftree *ft, const struct suspect *su, bool at_end,
                      struct rules_facts *facts);
void ftree_facts_add_evidence(const struct ftree *ft, ftree_time now, const struct suspect *su,
                              struct ftree_verdict *v);

#pragma GCC visibility pop

#endif /* FTREE_EXAMINE_H_INCLUDED */
