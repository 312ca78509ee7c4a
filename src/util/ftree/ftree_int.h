/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_INT_H_INCLUDED
#define FTREE_INT_H_INCLUDED

#include "ftree.h"
#include "rules.h"
#include "topo.h"
#include "tree.h"
#include "wire.h"

#include <stdarg.h>

#pragma GCC visibility push(hidden)

/*
 * One handle, as the files of the core share it.  Who owns what:
 *
 *     symptom.c    stalls of the own ranks, local findings that wait to settle
 *     correlate.c  where a symptom is analysed: purified, merged, sent along the tree
 *     group.c      what belongs together, and which faults the rules see behind it
 *     probe.c      suspects: asking a node by its strategy until a sign decides
 *     silence.c    how long silence lasts before it accuses, and which silence counts
 *     crowd.c      many suspects behind one switch: a few are examined, the others wait for these
 *     visit.c      asking a suspect for somebody else, from where this node is
 *     neighbour.c  one node or all behind a switch: asking a few others behind it
 *     facts.c      what the answers came to, in the words of the rule base
 *     verdict.c    the verdicts known
 *     side.c       nodes that a lost switch parts, and who is root where
 *     withdraw.c   verdicts that are over
 *     spread.c     verdicts on their way up and down, the victims on their way up
 *     relay.c      verdicts for a node that only others reach
 *     sweep.c      the search for a cause nobody can name
 *     leave.c      the end of a job
 *     outbox.c     messages that must arrive
 */

/* A growing array: `items` of `size` bytes, `n` in use. */
#define FTREE_ARRAY(type) \
    struct { \
        type *items; \
        int32_t n, room; \
    }

/* A local rank that waits longer than the limit. */
struct stall {
    int32_t rank;
    int32_t peer; /* FTREE_NONE: not known */
    ftree_time since;
    ftree_time told, again; /* when it was told, and is to be told (again) */
    ftree_time interval;
};

/* A local rank that was seen stopped, or held by a debugger. */
struct halt {
    int32_t rank;
    bool now; /* when the own ranks were last looked at */
    ftree_time last; /* when it was last seen so */
};

/* A local rank in trouble, to be looked at once more before it is a verdict. */
struct finding {
    int32_t rank;
    ftree_time first_symptom;
    ftree_time confirm;
};

/* A symptom that was passed on; equal ones stay here for a while and then follow as one. */
struct forward {
    int32_t node, switch_;
    uint8_t kind;
    int32_t rank; /* that it was about */
    ftree_time at;
    struct ftree_symptom held; /* count 0: none */
    ftree_time follows; /* when that does */
};

#define GROUP_SYMPTOMS_MAX 12
#define GROUP_CANDIDATES_MAX 16

struct group_candidate {
    uint8_t model;
    uint16_t prior; /* 1/1000 */
    int32_t rule; /* that said so */
};

/* What was observed lately of one node (or switch), and the faults that may be behind it. */
struct group {
    int32_t node, switch_; /* switch_ FTREE_NONE: the node */
    int32_t symptoms;
    struct ftree_symptom symptom[GROUP_SYMPTOMS_MAX]; /* one for each kind and component */
    struct ftree_ranks ended; /* as the process manager told: places on the node, not ranks, because
                               * these are next to each other whatever the ranks are */
    uint32_t count; /* of all */
    ftree_time first, last;
    int32_t candidates;
    struct group_candidate candidate[GROUP_CANDIDATES_MAX];
    uint64_t fired[RULES_MAX / 64]; /* bit r: rule r has */
    int32_t strategy; /* by which to ask, -1: no rule says */
    int32_t chain; /* node that its rank waits for in turn, FTREE_NONE */
    bool examined; /* a suspect is open */
    bool doubtful; /* all who reported it are suspects themselves */
    bool more; /* to be asked again when `quiet` is over */
    ftree_time quiet; /* found well: until then it is not asked again */
};

/* What others show of a path while a suspect is examined; see silence.c. */
struct works {
    ftree_time from; /* when the first one was heard there, 0: nobody was */
    ftree_time heard; /* when the last one was */
    ftree_time asked; /* since then the suspect, for the first time, by a new connection; 0: never */
};

/* A node under examination; see probe.c. */
struct suspect {
    int32_t node, switch_;
    int32_t rank; /* someone waits for this rank, FTREE_NONE */
    uint32_t nonce;
    uint32_t round; /* of the sweep that asks, 0: a symptom named the node */
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
    uint8_t prolonged; /* how often it was asked anew when its window was over */
    bool has_state, has_log;
    bool waits, waited; /* for what comes of others behind its switch; see crowd.c */
    int32_t witness; /* how far from the own node the last witness asked was */
    int32_t visitor; /* how far from the suspect the last visitor was */
    ftree_time first_symptom, opened, asked, again, deadline;
    ftree_time base; /* from which the strategy's times count */
    uint8_t reach[FTREE_PATHS][FTREE_ROLES];
    int16_t error[FTREE_PATHS][FTREE_ROLES];
    struct {
        uint8_t reach; /* the best that a visitor saw */
        int32_t by; /* who */
        ftree_time at;
    } elsewhere[FTREE_PATHS];
    struct wire_trouble deputy_word; /* rank FTREE_NONE: none */
    struct wire_trouble deputy_next; /* what it says of another rank; likewise */
    struct ftree_ranks waiting; /* as the deputy says */
    struct ftree_node_state state; /* where has_state */
    struct ftree_log_entry last; /* newest message of the rank, where has_log */
};

/* A look at a node for somebody else; see visit.c. */
struct visit {
    int32_t from, target; /* who wants to know, of whom */
    uint32_t their_nonce, nonce; /* of their question, and of the own one */
    uint8_t reach[FTREE_PATHS], told[FTREE_PATHS];
    ftree_time asked, until;
};

#define FTREE_VISITORS 2

/* A node that is asked because it is behind the same switch as a suspect, or as this node. */
struct neighbour {
    int32_t node;
    uint32_t nonce; /* of visits to it */
    ftree_time asked, last_asked; /* for the first and for the last time */
    ftree_time visited; /* when others were last asked to */
    ftree_time heard[FTREE_PATHS]; /* last; its kernel counts */
    uint8_t seen[FTREE_VISITORS]; /* the best that each visitor saw of it over data */
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

/* A verdict and how far it has got. */
enum up_state {
    UP_NOTHING, /* it came down: nothing to tell */
    UP_HELD, /* to be told with what is being found out about those below */
    UP_PENDING, /* to be told at `up_again`, or once the root is decided about */
    UP_SENT /* on its way; told again at `up_again` if it does not come down */
};

struct known {
    struct outline v;
    struct ftree_verdict *whole; /* with evidence and victims; NULL: not kept here */
    uint8_t up;
    uint8_t up_tries;
    bool queued; /* this is the acting root, and will tell it with others */
    bool told_down, reported;
    bool over_told_down; /* and that it is over */
    bool cuts; /* no path crosses the switch that it is about */
    bool ends_agent; /* it says that agent and deputy have ended there, and no more */
    uint8_t belied_by; /* bit p: an answer over path p says that it is over */
    uint8_t explained; /* times that a symptom was dropped for it, as long as they are traced */
    uint32_t telling; /* number of the one that gathers its victims, 0: none */
    uint32_t check; /* nonce of the question whether it is over, 0: not asked */
    int32_t turn; /* others asked so far whether a verdict about this node is over */
    ftree_time recheck, recheck_pause; /* FTREE_NEVER: nobody asks from here */
    ftree_time up_again;
};

/* A verdict that is asked about once more before something is done because of it. */
struct confirm {
    int32_t fln;
    uint32_t id; /* with `fln`: the verdict */
    uint8_t asks; /* how often it will still be asked about */
    bool excused; /* because the own tick was late */
    bool stands; /* else: until `until` nobody knows */
    ftree_time until;
};

/* A node that has still to name its victims, and the message that told it. */
struct due {
    int32_t node;
    uint32_t told;
};

/* Verdicts that were told together, until the victims are in. */
struct telling {
    uint32_t number;
    int32_t asker; /* who wants the victims, FTREE_NONE: this is the acting root */
    uint32_t asked; /* number of the message that told, */
    uint8_t path; /* and how it came */
    ftree_time until;
    ftree_time
        acknowledge; /* that message, if the victims are not in by then; FTREE_NEVER: it is */
    struct ftree_ranks victims;
    FTREE_ARRAY(struct due) due;
};

/* What letters carry; those that tell the same to several nodes share it. */
struct body {
    int32_t letters;
    uint16_t len;
    ftree_time sent; /* as of when it was written */
    uint8_t bytes[];
};

struct letter {
    uint32_t id;
    int32_t to;
    uint8_t type;
    uint8_t tries;
    bool elsewhere; /* what it says took another way, too */
    bool answer; /* it acknowledges a message, and nobody acknowledges it */
    uint8_t waits; /* how often it waited for its receiver to be heard again */
    ftree_time sent, next;
    struct body *body;
};

/* Where in `known` a verdict about a node is. */
struct place {
    int32_t node, at;
};

struct rule_name {
    char text[FTREE_NAME_MAX];
};

/* A node by way of which nothing is sent for a while. */
struct mute {
    int32_t node;
    bool busy; /* it said so; else it did not acknowledge */
    ftree_time until;
};

struct ftree {
    const struct ftree_job *job;
    const struct ftree_io *io;
    void *io_ctx;
    struct ftree_config cfg;
    struct topo topo;
    int32_t self;
    uint32_t next_id;

    const struct ftree_rules *rules;

    ftree_time srtt, rttvar, rto; /* RFC 6298; srtt 0: nothing measured */
    ftree_time delay, delay_var; /* of symptoms on their way here, estimated alike */
    ftree_time lag, lag_at; /* how late ticks come, and when the last one did */

    FTREE_ARRAY(struct stall) stalls;
    FTREE_ARRAY(struct finding) findings;
    FTREE_ARRAY(struct forward) forwards;
    FTREE_ARRAY(struct group) groups;
    FTREE_ARRAY(struct suspect) suspects;
    FTREE_ARRAY(struct visit) visits;
    FTREE_ARRAY(struct neighbour) neighbours;
    int32_t visitor[FTREE_VISITORS], visitors; /* who visit them, and how far from here they are */
    int32_t visitors_far;
    FTREE_ARRAY(struct known) known;
    int32_t unsent, rechecked; /* how many of them have `up`, and a time to be asked about again */
    int32_t switches; /* how many of them are about one */
    FTREE_ARRAY(struct confirm) confirms;
    FTREE_ARRAY(struct place) by_node; /* of `known`, by node and then by age */
    FTREE_ARRAY(struct rule_name) rule_names; /* of verdicts */
    FTREE_ARRAY(int32_t) batch; /* places in `known`: what is being told just now */
    FTREE_ARRAY(struct telling) tellings;
    uint32_t last_telling;
    int32_t queued; /* verdicts that the acting root will tell at `tell_at` */
    ftree_time tell_at, tell_pause;
    FTREE_ARRAY(struct letter) outbox;
    FTREE_ARRAY(struct mute) mutes;

    struct witness heard[FTREE_PATHS][2]; /* the last two nodes heard there, the last one first:
                                           * one of them is another than any suspect */

    ftree_time looked_at; /* when the own ranks were last looked at */
    FTREE_ARRAY(struct halt) halts;
    bool suspended; /* all own ranks were stopped when they were last looked at */
    ftree_time aftermath; /* until then a stop, or a wait, may be a part of a suspension */
    ftree_time woke; /* when this agent last went on after it had not run, */
    ftree_time excused; /* if only for so short that waits go on */

    uint32_t sweep_round;
    ftree_time sweep_at;

    bool leaving, goodbye_sent, may_go;
    ftree_time leave_until;
    FTREE_ARRAY(int32_t) goodbyes;
};

/* ---- ftree.c: small things all use ----------------------------------------------------------- */

/* Appends a zeroed item and returns it; NULL: out of memory, the array is as it was. */
#define FTREE_PUSH(ft, array) \
    ftree_push((ft), &(array).items, &(array).n, &(array).room, sizeof(*(array).items))
void *ftree_push(struct ftree *ft, void *items, int32_t *n, int32_t *room, size_t size);

/* Makes room for `more` items, and no more than that; false: out of memory. */
#define FTREE_RESERVE(ft, array, more) \
    ftree_reserve((ft), &(array).items, (array).n + (more), &(array).room, sizeof(*(array).items))
bool ftree_reserve(struct ftree *ft, void *items, int32_t n, int32_t *room, size_t size);

/* Removes item i by moving the last one into its place. */
#define FTREE_DROP(array, i) ((array).items[i] = (array).items[--(array).n])

void *ftree_alloc(struct ftree *ft, void *ptr, size_t size);
/* One line per decision; one that begins with two spaces is a step on the way to it.  Where nobody
 * reads them the arguments are not looked at: a name costs more than many a decision. */
#define ftree_trace(ft, ...) \
    do { \
        if ((ft)->io->trace) \
            ftree_trace_line((ft), __VA_ARGS__); \
    } while (0)
void ftree_trace_line(struct ftree *ft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *ftree_name(const struct ftree *ft, int32_t node, char buf[16]);
int32_t ftree_node_of(const struct ftree *ft, int32_t rank);
int32_t ftree_ranks_of(const struct ftree_job *job, int32_t node);
int32_t ftree_rank_at(const struct ftree_job *job, int32_t node, int32_t i);

/* Sends m once, by one path, unacknowledged.  Returns 0 or an errno. */
int ftree_send(struct ftree *ft, ftree_time now, const struct ftree_route *to,
               struct wire_message *m);
void ftree_acknowledge(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                       enum wire_type type, uint8_t flags, uint32_t id);
/* The same by every path that the job has. */
void ftree_send_all_paths(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                          struct wire_message *m);
void ftree_rtt(struct ftree *ft, ftree_time rtt);

/* ---- the steps of the flow, in order --------------------------------------------------------- */

/* symptom.c */
void ftree_symptom_init(struct ftree_symptom *s, enum ftree_symptom_kind kind, int32_t node,
                        int32_t rank, int32_t reporter, ftree_time first, ftree_time last);
void ftree_symptom_merge(struct ftree_symptom *s, const struct ftree_symptom *more);
bool ftree_symptom_is_trouble(const struct ftree_rank_state *s);
bool ftree_symptom_is_end(const struct ftree_symptom *s);
bool ftree_symptom_is_victim(const struct ftree_rank_state *s, ftree_time limit);
bool ftree_symptom_is_told(const struct ftree *ft, int32_t rank);
void ftree_symptom_look(struct ftree *ft, ftree_time now, ftree_time first_symptom);
void ftree_symptom_woke(struct ftree *ft, ftree_time now);
void ftree_symptom_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_symptom_deadline(const struct ftree *ft);

/* correlate.c */
void ftree_correlate(struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                     bool substitute);
void ftree_correlate_silent(struct ftree *ft, ftree_time now, int32_t node);
void ftree_correlate_again(struct ftree *ft, ftree_time now, const struct ftree_symptom *s);
int32_t ftree_correlate_upward(struct ftree *ft, ftree_time now, int32_t skip, bool *substitute);
bool ftree_correlate_usable(const struct ftree *ft, ftree_time now, int32_t node);
bool ftree_correlate_is_overloaded(const struct ftree *ft, ftree_time now,
                                   const struct ftree_symptom *s);
/* True if a verdict says that something is wrong with the node's data path. */
bool ftree_correlate_path_is_known(const struct ftree *ft, int32_t node);
bool ftree_correlate_is_by_path(const struct ftree *ft, const struct ftree_symptom *s);
void ftree_correlate_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_correlate_deadline(const struct ftree *ft);

/* group.c */
struct group *ftree_group_find(const struct ftree *ft, int32_t node, int32_t switch_);
void ftree_group_add(struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                     uint32_t round);
void ftree_group_found_well(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_);
void ftree_group_drop(struct ftree *ft, int32_t node, int32_t switch_);
void ftree_group_recheck(struct ftree *ft, ftree_time now);
void ftree_group_reason_anew(struct ftree *ft, ftree_time now);
void ftree_group_reason_again(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_);
ftree_time ftree_group_window(const struct ftree *ft);
uint64_t ftree_group_models(const struct group *g);
void ftree_group_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_group_deadline(const struct ftree *ft);

/* probe.c */
bool ftree_probe_open(struct ftree *ft, ftree_time now, const struct group *g, uint32_t round);
struct suspect *ftree_probe_find(const struct ftree *ft, int32_t node);
uint8_t ftree_probe_reach(const struct suspect *su, int path, int role);
void ftree_probe_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                        const struct wire_answer *a);
void ftree_probe_state(struct ftree *ft, ftree_time now, int32_t from, const struct wire_state *s);
void ftree_probe_log(struct ftree *ft, ftree_time now, int32_t from, const struct wire_log *l);
void ftree_probe_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                         enum ftree_role role, enum ftree_reach reach, int error);
void ftree_probe_seen(struct ftree *ft, ftree_time now, int32_t from, const struct wire_seen *s);
void ftree_probe_excuse(struct ftree *ft, ftree_time now, ftree_time late, bool anew);
void ftree_probe_restart(struct ftree *ft, ftree_time now);
void ftree_probe_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_probe_deadline(const struct ftree *ft);

/* silence.c */
ftree_time ftree_silence_unit(const struct ftree *ft);
ftree_time ftree_silence_window(const struct ftree *ft);
ftree_time ftree_silence_window_of(const struct ftree *ft, ftree_time now, bool one_sided);
void ftree_silence_heard(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path);
void ftree_silence_asked(struct suspect *su, ftree_time now, int path);
bool ftree_silence_counts(const struct suspect *su, int path);
bool ftree_silence_needs_witness(const struct suspect *su, int path);
ftree_time ftree_silence_until(const struct ftree *ft, ftree_time now, struct suspect *su,
                               bool *ask);

/* crowd.c */
ftree_time ftree_crowd_until(const struct ftree *ft, const struct suspect *su);

/* visit.c */
void ftree_visit(struct ftree *ft, ftree_time now, int32_t from, const struct wire_visit *w);
bool ftree_visit_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                        const struct wire_answer *a);
void ftree_visit_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                         enum ftree_role role, enum ftree_reach reach);
void ftree_visit_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_visit_deadline(const struct ftree *ft);

/* neighbour.c */
bool ftree_neighbour_matters(const struct ftree *ft);
void ftree_neighbour_ask(struct ftree *ft, ftree_time now, const struct suspect *su);
void ftree_neighbour_visit(struct ftree *ft, ftree_time now, const struct suspect *su);
void ftree_neighbour_forget(struct ftree *ft);
void ftree_neighbour_heard(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path);
void ftree_neighbour_seen(struct ftree *ft, int32_t from, const struct wire_seen *s);
struct ftree_silence ftree_neighbour_silence(const struct ftree *ft, const struct suspect *su,
                                             bool data);
void ftree_neighbour_add_evidence(const struct ftree *ft, ftree_time now, const struct suspect *su,
                                  struct ftree_verdict *v);
int32_t ftree_neighbour_beyond(const struct ftree *ft, int32_t switch_, int32_t turn);

/* answer.c */
void ftree_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                  uint64_t conn, const struct wire_probe *p);

/* facts.c */
const struct witness *ftree_facts_witness(const struct ftree *ft, const struct suspect *su,
                                          int path);
bool ftree_facts_was_witnessed(const struct ftree *ft, const struct suspect *su, int path);
bool ftree_facts_kernel_spoke(const struct suspect *su);
bool ftree_facts_answered(const struct suspect *su);
int32_t ftree_facts_ended(const struct ftree *ft, int32_t node);
void ftree_facts_add_message(const struct ftree *ft, ftree_time now, int32_t node,
                             const struct ftree_log_entry *m, bool last, struct ftree_verdict *v);
bool ftree_facts_all_ended(const struct ftree *ft, int32_t node);
int32_t ftree_facts_reset(const struct ftree *ft, int32_t node);
void ftree_facts_init(struct rules_facts *facts);
void ftree_facts_process(struct rules_facts *facts, uint8_t phase, char proc_state, int seen_by);
void ftree_facts_find(const struct ftree *ft, const struct suspect *su, bool at_end,
                      struct rules_facts *facts);
void ftree_facts_add_evidence(const struct ftree *ft, ftree_time now, const struct suspect *su,
                              struct ftree_verdict *v);

/* verdict.c */
void ftree_verdict_init(struct ftree *ft, ftree_time now, struct ftree_verdict *v,
                        const struct rules_sign *sign, int class_, int32_t node, int32_t rank);
void ftree_verdict_add_evidence(struct ftree_verdict *v, const struct ftree_evidence *e);
void ftree_verdict_support(const struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                           int32_t model, struct ftree_verdict *v);
void ftree_verdict_order(const struct ftree *ft, const struct group *g, struct ftree_verdict *v);
void ftree_verdict_list(const struct ftree *ft, const struct group *g, struct ftree_verdict *v);
bool ftree_verdict_is_masked(const struct ftree *ft, int32_t model, int32_t node);
bool ftree_verdict_is_consequence(const struct ftree *ft, int32_t model, int32_t node,
                                  int32_t switch_);
struct known *ftree_verdict_find(const struct ftree *ft, int class_, int32_t node, int32_t rank);
struct known *ftree_verdict_same(const struct ftree *ft, const struct outline *o);
const char *ftree_verdict_of(const struct ftree *ft, const struct outline *o, char buf[16]);
bool ftree_verdict_by_switch(const struct ftree *ft, int32_t node);
struct known *ftree_verdict_by_id(const struct ftree *ft, const struct outline *o);
struct known *ftree_verdict_about(const struct ftree *ft, int32_t node, int32_t *i);
bool ftree_verdict_reserve(struct ftree *ft, int32_t n);
struct known *ftree_verdict_add(struct ftree *ft, const struct outline *o);
void ftree_verdict_forget(struct ftree *ft, int32_t i);
struct outline ftree_verdict_outline(struct ftree *ft, const struct ftree_verdict *v);
const char *ftree_verdict_rule(const struct ftree *ft, const struct outline *o);
void ftree_verdict_name_rule(struct ftree *ft, struct outline *o, const char *name);
void ftree_verdict_keep(struct ftree *ft, struct known *k, const struct ftree_verdict *v);
void ftree_verdict_drop_whole(struct ftree *ft, struct known *k);
void ftree_verdict_load(const struct ftree *ft, const struct known *k, struct ftree_verdict *v);
void ftree_verdict_count_symptoms(struct known *k, uint32_t n);
void ftree_verdict_set_up(struct ftree *ft, struct known *k, enum up_state up);
void ftree_verdict_set_recheck(struct ftree *ft, struct known *k, ftree_time recheck);
bool ftree_verdict_on_rank(const struct ftree *ft, int32_t node, int32_t rank);
struct known *ftree_verdict_explaining(const struct ftree *ft, const struct outline *v);
bool ftree_verdict_takes_node(const struct ftree *ft, const struct outline *v);
bool ftree_verdict_ends_all(const struct ftree *ft, int32_t node);
bool ftree_verdict_ends_agent(const struct ftree *ft, const struct outline *v);
/* True if nobody speaks for the node: it has failed, or its agent and its deputy have ended. */
bool ftree_has_no_agent(const struct ftree *ft, int32_t node);
int32_t ftree_verdict_failed(const struct ftree *ft, int32_t except);
void ftree_verdict_ranks_add(struct ftree_ranks *set, int32_t first, int32_t last);
void ftree_verdict_ranks_merge(struct ftree_ranks *set, const struct ftree_ranks *more);

/* side.c */
bool ftree_side_is_other(const struct ftree *ft, int32_t node);
bool ftree_side_ends_at(const struct ftree *ft, int32_t node);
bool ftree_side_is_cut_off(const struct ftree *ft);
int32_t ftree_side_top(const struct ftree *ft);
int32_t ftree_side_first(const struct ftree *ft, ftree_time now, int32_t node, int32_t skip);

/* withdraw.c */
bool ftree_withdraw_cuts(const struct ftree *ft, const struct outline *v);
void ftree_withdraw_watch(struct ftree *ft, ftree_time now, struct known *k);
void ftree_withdraw_heard(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path);
bool ftree_withdraw_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                           const struct wire_answer *a);
/* A verdict is no longer known. */
void ftree_withdraw_forget_confirm(struct ftree *ft, const struct outline *v);
/* Keeps what is over within its bound.  The array moves. */
void ftree_withdraw_forget(struct ftree *ft, ftree_time now);
void ftree_withdraw_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_withdraw_deadline(const struct ftree *ft);

/* spread.c */
void ftree_spread_raise(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
/* more: another one goes with it. */
void ftree_spread_up(struct ftree *ft, ftree_time now, int32_t from, const struct ftree_verdict *v,
                     bool more);
/* Fewer are suspected: what was held for them is told at once. */
void ftree_spread_release(struct ftree *ft, ftree_time now);
/* What came of verdicts that were told from above. */
enum told {
    TOLD, /* it is acknowledged, and the victims follow */
    TOLD_NOBODY_WAITS, /* it is acknowledged, and that is all */
    TOLD_ASKING /* the answer will come soon, and acknowledges it */
};
enum told ftree_spread_down(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                            const struct wire_message *m);
/* Node `node` owes the victims to the telling at that place (-1: to none) for message `told`. */
void ftree_spread_wait_for(struct ftree *ft, int32_t telling, int32_t node, uint32_t told);
/* Names to `asker`, for its message `asked`, the victims that `node` names for message `told`.  False:
 * out of memory. */
bool ftree_spread_gather_for(struct ftree *ft, ftree_time now, int32_t asker, enum ftree_path path,
                             uint32_t asked, int32_t node, uint32_t told);
void ftree_spread_nobody_waits(struct ftree *ft, ftree_time now, int32_t from, uint32_t told);
void ftree_spread_victims(struct ftree *ft, ftree_time now, int32_t from,
                          const struct wire_victims *w);
void ftree_spread_withdraw(struct ftree *ft, ftree_time now, struct known *k, const char *why);
void ftree_spread_retell(struct ftree *ft, ftree_time now, int32_t node);
void ftree_spread_resume(struct ftree *ft, ftree_time now, struct known *k);
void ftree_spread_was_told(struct ftree *ft, struct known *k);
void ftree_spread_clear(struct ftree *ft);
void ftree_spread_undeliverable(struct ftree *ft, ftree_time now, const struct letter *l);
void ftree_spread_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_spread_deadline(const struct ftree *ft);
bool ftree_spread_is_root(const struct ftree *ft);
bool ftree_spread_can_act(const struct ftree *ft, int32_t node);
bool ftree_spread_is_gathering(const struct ftree *ft);
bool ftree_spread_is_under_way(struct ftree *ft, ftree_time now, const struct known *k);

/* relay.c */
/* Behind what was told to those below: to those whom only others reach, by way of these.  telling: as
 * for ftree_spread_wait_for(). */
void ftree_relay_tell(struct ftree *ft, ftree_time now, int32_t telling);
/* To another, what one did not acknowledge that it was to pass on. */
void ftree_relay_tell_past(struct ftree *ft, ftree_time now, const struct body *body,
                           int32_t telling);
/* How long one that passes on to that node waits for its victims, and so who asked it to. */
ftree_time ftree_relay_takes(const struct ftree *ft, int32_t node);
/* A message that is to be passed on; how it is acknowledged. */
enum told ftree_relay_pass_on(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                              const struct wire_message *m);

/* sweep.c */
void ftree_sweep_upward(struct ftree *ft, ftree_time now, int32_t from);
void ftree_sweep_start(struct ftree *ft, ftree_time now);
void ftree_sweep_heard(struct ftree *ft, ftree_time now, uint32_t round, int32_t from);
void ftree_sweep_join(struct ftree *ft, ftree_time now, uint32_t round, int32_t from);

/* leave.c */
bool ftree_leave_has_left(const struct ftree *ft, int32_t node);
void ftree_leave_say_so(struct ftree *ft, ftree_time now, int32_t to);
void ftree_leave_undeliverable(struct ftree *ft, ftree_time now, int32_t to);
void ftree_leave_goodbye(struct ftree *ft, ftree_time now, int32_t from);
void ftree_leave_release(struct ftree *ft, ftree_time now);
void ftree_leave_try(struct ftree *ft, ftree_time now);
void ftree_leave_tick(struct ftree *ft, ftree_time now);

/* outbox.c */
/* How a message that told verdicts was answered by the victims. */
enum answered {
    ANSWERED_NOT, /* not yet */
    ANSWERED_APART, /* they are on their way, and do not acknowledge it */
    ANSWERED_AGAIN /* they acknowledge it, and were sent again just now */
};
void ftree_outbox_put(struct ftree *ft, ftree_time now, int32_t to, struct wire_message *m);
struct body *ftree_outbox_body(struct ftree *ft, ftree_time now, const struct wire_message *m);
void ftree_outbox_release(struct ftree *ft, struct body *body);
void ftree_outbox_post(struct ftree *ft, ftree_time now, int32_t to, enum wire_type type,
                       uint32_t id, struct body *body);
void ftree_outbox_answer(struct ftree *ft, ftree_time now, int32_t to, enum ftree_path path,
                         struct wire_message *m);
enum answered ftree_outbox_answered(struct ftree *ft, int32_t to, enum ftree_path path,
                                    uint32_t told);
bool ftree_outbox_is_empty(const struct ftree *ft);
bool ftree_outbox_waits_for(const struct ftree *ft, int32_t from, uint32_t id);
void ftree_outbox_ack(struct ftree *ft, ftree_time now, int32_t from, uint32_t id);
void ftree_outbox_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_reach reach);
void ftree_outbox_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_outbox_deadline(const struct ftree *ft);
void ftree_outbox_busy(struct ftree *ft, ftree_time now, int32_t from, uint32_t id);
void ftree_outbox_heard(struct ftree *ft, ftree_time now, int32_t node);
void ftree_outbox_mute(struct ftree *ft, ftree_time now, int32_t node, bool busy);
/* True if it is not to be told anything for the time being; *busy, set then alone: because it said
 * itself that it has too much to do. */
bool ftree_outbox_is_mute(const struct ftree *ft, ftree_time now, int32_t node, bool *busy);
void ftree_outbox_clear(struct ftree *ft);

/* Calls f(ft, child, arg) for every node that counts as a child of `node`: its children, and in
 * place of one that has failed, or is this node itself, that one's children, and so on. */
void ftree_spread_children(struct ftree *ft, int32_t node,
                           void (*f)(struct ftree *, int32_t, void *), void *arg);

/* True if a switch (leaf or above) has the node below it; none has, where there are no switches. */
static inline bool ftree_is_behind(const struct ftree *ft, int32_t switch_, int32_t node)
{
    return switch_ != FTREE_NONE && ft->job->tree &&
           ftree_tree_is_behind(ft->job->tree, switch_, node);
}

static inline ftree_time ftree_min(ftree_time a, ftree_time b)
{
    return a < b ? a : b;
}

static inline ftree_time ftree_max(ftree_time a, ftree_time b)
{
    return a > b ? a : b;
}

#pragma GCC visibility pop

#endif /* FTREE_INT_H_INCLUDED */
