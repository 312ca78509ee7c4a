/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_INSPECT_H_INCLUDED
#define FTREE_INSPECT_H_INCLUDED

#include "ftree/ftree.h"

#pragma GCC visibility push(hidden)

struct rules_facts;

/*
 * What a handle knows, asks and has still to say, in the words of the protocol: for tests, which
 * depend on nothing else of what is inside a handle.  All functions only read, and what they hand
 * out is a copy.
 *
 * Functions that return a number count; functions that return bool say whether there is such a
 * thing, and fill *out only then (out may be NULL).  Times are of the handle's clock, in ns.
 */

/* ---- the node and the network ---------------------------------------------------------------- */

/* Purpose: the FLN of a node, -1: it is the root's; and who acts as root, see topo.h. */
int32_t ftree_inspect_parent(const struct ftree *ft, int32_t node);
int32_t ftree_inspect_root_substitute(const struct ftree *ft, int32_t k);

/* Purpose: round trips as measured so far (RFC 6298); mean 0: none was. */
struct ftree_inspect_round_trip {
    ftree_time mean, deviation, timeout;
};
struct ftree_inspect_round_trip ftree_inspect_round_trip(const struct ftree *ft);

/* Purpose: true if another node was heard over that path, if only its kernel. */
bool ftree_inspect_was_heard(const struct ftree *ft, enum ftree_path path);

/* Purpose: nodes by way of which nothing is sent for a while: unresponsive or busy ones. */
int32_t ftree_inspect_unresponsive(const struct ftree *ft);

/* ---- the own ranks --------------------------------------------------------------------------- */

/* Purpose: own ranks that are known to wait for longer than the limit, and those in trouble that
 * are to be looked at once more. */
int32_t ftree_inspect_stalls(const struct ftree *ft);
int32_t ftree_inspect_findings(const struct ftree *ft);

/* ---- symptoms -------------------------------------------------------------------------------- */

/* Purpose: the number of the last round of the flood query that this node took part in, 0: none. */
uint32_t ftree_inspect_flood_round(const struct ftree *ft);

/* Purpose: the most symptoms that were passed on and remembered at a time. */
int32_t ftree_inspect_forwards(const struct ftree *ft);

/* Purpose: cases: nodes and switches of which something was observed lately. */
int32_t ftree_inspect_cases(const struct ftree *ft);

/* Purpose: the case of a node, or with switch_ of a switch that the node stands for. */
struct ftree_inspect_case {
    ftree_time first; /* symptom */
    uint32_t count; /* of all symptoms */
    int32_t symptoms; /* different ones */
    int32_t candidates; /* for the fault behind them */
    int32_t chain; /* the node that its rank waits for in turn, FTREE_NONE */
    bool doubtful; /* all who reported it are suspects themselves */
    bool again; /* it is to be asked again after a while */
};
bool ftree_inspect_case(const struct ftree *ft, int32_t node, int32_t switch_,
                        struct ftree_inspect_case *out);

/* Purpose: the symptoms of that kind in the case of a node, merged. */
bool ftree_inspect_symptom(const struct ftree *ft, int32_t node, enum ftree_symptom_kind kind,
                           struct ftree_symptom *out);

/* Purpose: how likely that fault model is in the case of a node, in 1/1000; 0: it is no
 * candidate. */
int ftree_inspect_prior(const struct ftree *ft, int32_t node, const char *model);

/* ---- questions ------------------------------------------------------------------------------- */

/* Purpose: nodes under suspicion, that is, being asked. */
int32_t ftree_inspect_suspects(const struct ftree *ft);
bool ftree_inspect_is_suspect(const struct ftree *ft, int32_t node);

/* Purpose: a node under suspicion. */
struct ftree_inspect_suspect {
    uint32_t question; /* the number that its answers bear */
    int32_t tries; /* how often it was asked */
    ftree_time until; /* the end of its window */
    bool waits; /* for what comes of others behind its switch */
    bool has_log; /* it has the last message of the rank that is waited for */
    int32_t named; /* rank in trouble by its deputy's last word, FTREE_NONE */
    uint8_t reach[FTREE_PATHS][FTREE_ROLES]; /* the best of what was heard, */
    int error[FTREE_PATHS][FTREE_ROLES]; /* and its errno */
};
bool ftree_inspect_suspect(const struct ftree *ft, int32_t node, struct ftree_inspect_suspect *out);

/* Purpose: the number that the answers of a suspect bear, 0: it is none. */
uint32_t ftree_inspect_question(const struct ftree *ft, int32_t node);

/* Purpose: what is found about a suspect so far, or would be if its window were over, in the words
 * of the rule base; and what a verdict about it would tell as evidence, which is added to *v. */
bool ftree_inspect_facts(const struct ftree *ft, int32_t node, bool at_end, struct rules_facts *out);
bool ftree_inspect_evidence(const struct ftree *ft, ftree_time now, int32_t node,
                            struct ftree_verdict *v);

/* Purpose: nodes that are asked because they are behind the same switch as a suspect, or as this
 * node; one of them; and the first `max` of those who are to look at the others, and how far from
 * here they are: so many switches above this node are not above them. */
struct ftree_inspect_neighbour {
    uint32_t question; /* of indirect probes of it */
    ftree_time asked; /* for the first time */
    bool was_heard; /* over the data network, at any time */
    enum ftree_reach seen[2]; /* the best that each helper saw of it */
};
int32_t ftree_inspect_neighbours(const struct ftree *ft);
bool ftree_inspect_neighbour(const struct ftree *ft, int32_t node,
                             struct ftree_inspect_neighbour *out);
int32_t ftree_inspect_helpers(const struct ftree *ft, int32_t max, int32_t *node, int32_t *far);

/* Purpose: looks at nodes for others that are under way. */
int32_t ftree_inspect_indirect_probes(const struct ftree *ft);

/* ---- verdicts -------------------------------------------------------------------------------- */

/* How far a verdict is on its way to the root. */
enum ftree_inspect_up {
    FTREE_INSPECT_UP_NOTHING, /* it came down, or need not be sent */
    FTREE_INSPECT_UP_HELD, /* to be sent with what is being found out about nodes below */
    FTREE_INSPECT_UP_PENDING, /* to be sent later */
    FTREE_INSPECT_UP_SENT /* and it has not come down yet */
};

/* Purpose: how many verdicts are known, and the state of the i-th, oldest first; what it says has
 * ftree_verdict_at(). */
struct ftree_inspect_verdict {
    int32_t node, switch_, fln;
    uint32_t id;
    ftree_time withdrawn; /* 0: it stands */
    enum ftree_inspect_up up;
    bool announced;
    bool is_whole; /* its evidence is kept here */
    bool gathers; /* its victims are being asked for */
    bool parts; /* no path crosses the switch that it is about */
    bool is_rechecked; /* this node is to ask whether it is over, */
    ftree_time recheck; /* the next time then; FTREE_NEVER: it is not */
    uint32_t question; /* the number of the last such question, 0: it was not asked */
};
int32_t ftree_inspect_verdicts(const struct ftree *ft);
bool ftree_inspect_verdict(const struct ftree *ft, int32_t i, struct ftree_inspect_verdict *out);

/* Purpose: true if that verdict is known, if only that it is over. */
bool ftree_inspect_knows(const struct ftree *ft, int32_t node, int32_t fln, uint32_t id);

/* Purpose: different names of rules that are kept for the verdicts. */
int32_t ftree_inspect_rule_names(const struct ftree *ft);

/* Purpose: verdicts that the acting root will tell together, when it will or last did, and how long
 * it waited for them then. */
int32_t ftree_inspect_queued(const struct ftree *ft);
ftree_time ftree_inspect_announces_at(const struct ftree *ft);
ftree_time ftree_inspect_announce_pause(const struct ftree *ft);

/* Purpose: announcements whose victims are not in, the replies that are owed to them in all, and
 * the message for which that node owes its victims, of several the first; 0: it owes none. */
int32_t ftree_inspect_announcements(const struct ftree *ft);
int32_t ftree_inspect_owed(const struct ftree *ft);
uint32_t ftree_inspect_owes(const struct ftree *ft, int32_t node);

/* ---- what waits to be acknowledged ----------------------------------------------------------- */

/* Purpose: messages that are not acknowledged, those to one node, and the i-th of all. */
struct ftree_inspect_message {
    int32_t to;
    uint32_t id;
    int32_t tries; /* how often it was sent */
    const void *bytes; /* the handle's, until that is called again */
    size_t len;
};
int32_t ftree_inspect_outbox(const struct ftree *ft);
int32_t ftree_inspect_outbox_to(const struct ftree *ft, int32_t node);
bool ftree_inspect_message(const struct ftree *ft, int32_t i, struct ftree_inspect_message *out);

#pragma GCC visibility pop

#endif /* FTREE_INSPECT_H_INCLUDED */
