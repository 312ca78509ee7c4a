/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_INT_H_INCLUDED
#define FTREE_INT_H_INCLUDED

#include "ftree.h"
#include "topo.h"
#include "wire.h"

#include <stdarg.h>

#pragma GCC visibility push(hidden)

/*
 * One handle, as the files of the core share it.  Who owns what:
 *
 *     symptom.c    stalls of the own ranks, local findings that wait to settle
 *     correlate.c  what to do with a symptom: explained, forwarded (and merged), or a suspect
 *     probe.c      suspects: asking a node over each path until it is decided
 *     verdict.c    the decision, and the verdicts known
 *     spread.c     verdicts on their way up and down, the victims on their way up
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

enum symptom_kind {
    SYMPTOM_STALL, /* a rank waits for a rank of the suspect */
    SYMPTOM_SILENT /* a node does not acknowledge */
};

/* A local rank that waits longer than the limit. */
struct stall {
    int32_t rank;
    int32_t peer; /* FTREE_NONE: not known */
    ftree_time since;
    ftree_time told, again; /* when it was told, and is to be told (again) */
    ftree_time interval;
};

/* A local rank in trouble, to be looked at once more before it is a verdict. */
struct finding {
    int32_t rank;
    ftree_time first_symptom;
    ftree_time confirm;
};

/* A symptom that was passed on, so that equal ones stay here for a while. */
struct forward {
    int32_t node;
    ftree_time at;
    uint32_t held; /* equal ones since */
};

/* A node under examination; see probe.c. */
struct suspect {
    int32_t node;
    int32_t rank; /* someone waits for this rank, FTREE_NONE */
    uint32_t nonce;
    uint32_t symptoms;
    uint32_t round; /* of the sweep that asks, 0: a symptom named the node */
    uint8_t tries;
    bool deputy_asked;
    bool untold; /* a verdict could not be told to it: again once it is well */
    int32_t witness; /* how far from the own node the last witness asked was */
    ftree_time first_symptom, opened, asked, next_try, deadline;
    uint8_t reach[FTREE_PATHS][FTREE_ROLES];
    int16_t error[FTREE_PATHS][FTREE_ROLES];
    struct wire_trouble deputy_word; /* rank FTREE_NONE: none */
    struct ftree_ranks waiting; /* as the deputy says */
};

/* A verdict and how far it has got. */
enum up_state {
    UP_NOTHING, /* it came down: nothing to tell */
    UP_PENDING, /* to be told at `up_again`, or once the root is decided about */
    UP_SENT /* on its way; told again at `up_again` if it does not come down */
};

struct known {
    struct ftree_verdict v;
    uint8_t up;
    uint8_t up_tries;
    bool told_down, gathered, reported;
    int32_t asker; /* who wants the victims, FTREE_NONE: this is the acting root */
    FTREE_ARRAY(int32_t) due; /* nodes that have still to name theirs */
    ftree_time up_again;
    ftree_time gather_until; /* FTREE_NEVER: not gathering */
};

struct letter {
    uint32_t id;
    int32_t to;
    uint8_t type;
    uint8_t tries;
    ftree_time sent, next;
    uint16_t len;
    uint8_t *bytes;
};

struct mute {
    int32_t node;
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

    ftree_time srtt, rttvar, rto; /* RFC 6298; srtt 0: nothing measured */

    FTREE_ARRAY(struct stall) stalls;
    FTREE_ARRAY(struct finding) findings;
    FTREE_ARRAY(struct forward) forwards;
    FTREE_ARRAY(struct suspect) suspects;
    FTREE_ARRAY(struct known) known;
    FTREE_ARRAY(struct letter) outbox;
    FTREE_ARRAY(struct mute) mutes;

    struct {
        ftree_time at; /* when another node was last heard on this path, 0: never */
        int32_t node;
        uint8_t reach; /* it answered, or its kernel did */
    } heard[FTREE_PATHS];

    ftree_time looked_at; /* when the own ranks were last looked at */

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

/* Removes item i by moving the last one into its place. */
#define FTREE_DROP(array, i) ((array).items[i] = (array).items[--(array).n])

void *ftree_alloc(struct ftree *ft, void *ptr, size_t size);
void ftree_trace(struct ftree *ft, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *ftree_name(const struct ftree *ft, int32_t node, char buf[16]);
int32_t ftree_node_of(const struct ftree *ft, int32_t rank);
int32_t ftree_ranks_of(const struct ftree_job *job, int32_t node);
int32_t ftree_rank_at(const struct ftree_job *job, int32_t node, int32_t i);

/* Sends m once, by one path, unacknowledged.  Returns 0 or an errno. */
int ftree_send(struct ftree *ft, ftree_time now, const struct ftree_route *to,
               struct wire_message *m);
void ftree_rtt(struct ftree *ft, ftree_time rtt);

/* ---- the steps of the flow, in order --------------------------------------------------------- */

/* symptom.c */
bool ftree_symptom_is_trouble(const struct ftree_rank_state *s);
bool ftree_symptom_is_victim(const struct ftree_rank_state *s, ftree_time limit);
void ftree_symptom_look(struct ftree *ft, ftree_time now, ftree_time first_symptom);
void ftree_symptom_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_symptom_deadline(const struct ftree *ft);

/* correlate.c */
void ftree_correlate(struct ftree *ft, ftree_time now, const struct wire_symptom *s,
                     bool substitute);
void ftree_correlate_silent(struct ftree *ft, ftree_time now, int32_t node);
void ftree_correlate_unreachable(struct ftree *ft, ftree_time now, int32_t hop,
                                 const struct wire_symptom *s);
int32_t ftree_correlate_upward(struct ftree *ft, ftree_time now, int32_t skip, bool *substitute);
bool ftree_correlate_usable(const struct ftree *ft, ftree_time now, int32_t node);
void ftree_correlate_tick(struct ftree *ft, ftree_time now);

/* probe.c */
void ftree_probe_open(struct ftree *ft, ftree_time now, const struct wire_symptom *s,
                      uint32_t round);
struct suspect *ftree_probe_find(const struct ftree *ft, int32_t node);
void ftree_probe_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                        const struct wire_answer *a);
void ftree_probe_asked(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                       uint64_t conn, const struct wire_probe *p);
void ftree_probe_reached(struct ftree *ft, int32_t node, enum ftree_path path, enum ftree_role role,
                         enum ftree_reach reach, int error);
void ftree_probe_excuse(struct ftree *ft, ftree_time now, ftree_time late);
void ftree_probe_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_probe_deadline(const struct ftree *ft);
void ftree_probe_compose_answer(struct wire_answer *a, const struct wire_probe *p,
                                const struct ftree_rank_state *s, ftree_time limit);

/* verdict.c */
struct verdict_findings {
    bool has_path[FTREE_PATHS];
    uint8_t reach[FTREE_PATHS][FTREE_ROLES];
    bool witness[FTREE_PATHS]; /* another node was heard on this path meanwhile */
    bool any_other_node; /* there is a node that could be a witness */
    int32_t ranks; /* of the suspect */
    char deputy_word; /* the state of a process in trouble there, 0: none */
};

enum verdict_outcome {
    VERDICT_ALIVE,
    VERDICT_RULE, /* `rule` says what */
    VERDICT_RULE_ON_SELF /* `rule` is about the asking node */
};

enum verdict_outcome ftree_verdict_decide(const struct verdict_findings *f, enum ftree_rule *rule);
void ftree_verdict_init(struct ftree_verdict *v, enum ftree_rule rule, int32_t node, int32_t rank);
void ftree_verdict_add_evidence(struct ftree_verdict *v, const struct ftree_evidence *e);
struct known *ftree_verdict_find(const struct ftree *ft, int class_, int32_t node, int32_t rank);
bool ftree_verdict_on_rank(const struct ftree *ft, int32_t node, int32_t rank);
struct known *ftree_verdict_explaining(const struct ftree *ft, const struct ftree_verdict *v);
bool ftree_verdict_takes_node(const struct ftree *ft, const struct ftree_verdict *v);
int32_t ftree_verdict_failed(const struct ftree *ft, int32_t except);
void ftree_verdict_ranks_add(struct ftree_ranks *set, int32_t first, int32_t last);
void ftree_verdict_ranks_merge(struct ftree_ranks *set, const struct ftree_ranks *more);

/* spread.c */
void ftree_spread_raise(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
void ftree_spread_up(struct ftree *ft, ftree_time now, int32_t from, const struct ftree_verdict *v);
void ftree_spread_down(struct ftree *ft, ftree_time now, int32_t from,
                       const struct ftree_verdict *v);
void ftree_spread_victims(struct ftree *ft, ftree_time now, int32_t from,
                          const struct wire_victims *w);
void ftree_spread_retell(struct ftree *ft, ftree_time now, int32_t node);
void ftree_spread_clear(struct ftree *ft);
void ftree_spread_undeliverable(struct ftree *ft, ftree_time now, const struct letter *l);
void ftree_spread_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_spread_deadline(const struct ftree *ft);
bool ftree_spread_is_root(const struct ftree *ft);
bool ftree_spread_is_gathering(const struct ftree *ft);

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
void ftree_outbox_put(struct ftree *ft, ftree_time now, int32_t to, struct wire_message *m);
void ftree_outbox_ack(struct ftree *ft, ftree_time now, int32_t from, uint32_t id);
void ftree_outbox_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_reach reach);
void ftree_outbox_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_outbox_deadline(const struct ftree *ft);
void ftree_outbox_mute(struct ftree *ft, ftree_time now, int32_t node);
void ftree_outbox_clear(struct ftree *ft);

/* Calls f(ft, child, arg) for every node that stands in as a child of `node`: its children, and in
 * place of one that has failed, or is this node itself, that one's children, and so on. */
void ftree_spread_children(struct ftree *ft, int32_t node,
                           void (*f)(struct ftree *, int32_t, void *), void *arg);

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
