/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_BASE_EVENT_H_INCLUDED
#define FTREE_BASE_EVENT_H_INCLUDED

#include "ftree/base/base.h"

#pragma GCC visibility push(hidden)

/*
 * What a step has found that another step has to act on.  No step calls another: it emits an event,
 * and ftree.c, the one place where the steps meet, hands that to the step that owns it, once the
 * one that emitted it has returned.  What follows from an event is done before the next one (depth
 * first).
 */

enum ftree_event_kind {
    FTREE_EVENT_SYMPTOM, /* `symptom` is to be analysed */
    FTREE_EVENT_AGAIN, /* the node that `symptom` was sent to does not take it */
    FTREE_EVENT_SILENT, /* `node` does not acknowledge */
    FTREE_EVENT_SEARCH, /* round `number`, sent by node `by`, asks every node; 0: a new one is to */
    FTREE_EVENT_LOOK, /* the own ranks are to be looked at */
    FTREE_EVENT_CASE, /* `node` or `switch_` is to be asked, in round `number` */
    FTREE_EVENT_DUE, /* the time that it had to answer is over */
    FTREE_EVENT_REST, /* there may be more verdicts about a rank of `node`: see probe.c */
    FTREE_EVENT_CLOSED, /* it is not asked any more; `well`: because it is well */
    FTREE_EVENT_VERDICT, /* see ftree_emit_verdict() */
    FTREE_EVENT_LEARNED, /* the verdict `number` of `by` about `node` is known */
    FTREE_EVENT_OVER, /* that verdict is over, for it is as `why` says */
    FTREE_EVENT_RETURNED, /* `node` did not acknowledge `message` with this number */
    FTREE_EVENT_LEFT, /* `node` has left */
    FTREE_EVENT_STALLED, /* the own rank `number` has waited for the stall limit */
    FTREE_EVENT_RESUMED, /* the own rank `number` does not wait any more */
    FTREE_EVENT_ASK_RANKS, /* query `number` wants to know what the own ranks do */
    FTREE_EVENT_RANKS_SAID, /* they do what `classes` says */
    FTREE_EVENT_ASK_ALL, /* all nodes are to say who is outside MPI, and their samples since `first` */
    FTREE_EVENT_ALL_SAID, /* they say `hang`; NULL: not all of them did */
    FTREE_EVENT_ASK_LAGS, /* all nodes are to say what slows their ranks */
    FTREE_EVENT_LAGS_ASKED, /* this one is asked that */
    FTREE_EVENT_LAGS_SAID, /* they say `lags` */
    FTREE_EVENT_VICTIMS /* `victims` of the verdict `number` of `by` about `node`, which is to be
                         * reported, may wait because of another one */
};

struct payload;
struct hang_answer;
struct lag_answer;

struct ftree_event {
    uint8_t kind; /* enum ftree_event_kind */
    bool well;
    int32_t node, switch_, by;
    uint32_t number;
    union {
        struct ftree_symptom symptom;
        struct {
            int32_t model, sign, after; /* `after`: the last rank that was concluded about */
            bool at_end;
        } rest;
        char why[64];
        struct {
            uint8_t type;
            struct payload *payload; /* a share of it is the event's */
        } message;
        struct ftree_rank_classes *classes; /* the event's */
        struct hang_answer *hang; /* likewise */
        struct lag_answer *lags; /* likewise */
        struct ftree_ranks *victims; /* likewise */
        uint64_t first;
    } u;
};

#define FTREE_EVENTS_FIRST 8

/* Those that wait; they live no longer than one call of the handle. */
struct ftree_events {
    int32_t n, room; /* of items, NULL as long as `first` has room */
    struct ftree_event *items;
    struct ftree_event first[FTREE_EVENTS_FIRST];
    bool has_verdict;
    struct ftree_verdict verdict;
};

/* False: out of memory, and nobody will hear of it. */
bool ftree_emit(struct ftree *ft, const struct ftree_event *e);
#define FTREE_EMIT(ft, kind_, ...) \
    ftree_emit((ft), &(struct ftree_event){.kind = FTREE_EVENT_##kind_, __VA_ARGS__})

/* A verdict found here.  A step returns before it emits another: there is room for one. */
/* A verdict is over: its node, who found it, its number there; and why. */
void ftree_emit_over(struct ftree *ft, int32_t node, int32_t fln, uint32_t number,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
void ftree_emit_verdict(struct ftree *ft, const struct ftree_verdict *v);
void ftree_emit_symptom(struct ftree *ft, enum ftree_event_kind kind,
                        const struct ftree_symptom *s);

/* True: the step is to return soon, for what it does next may depend on what comes of them. */
bool ftree_events_wait(const struct ftree *ft);

/* Between these two steps may be called; `q` is the caller's. */
void ftree_events_begin(struct ftree *ft, struct ftree_events *q);
void ftree_events_end(struct ftree *ft);

/* The last one; false: there is none.  Those from place n on are put into the order in which they
 * are to be taken. */
bool ftree_events_take(struct ftree *ft, struct ftree_event *e);
void ftree_events_turn(struct ftree *ft, int32_t n);

#pragma GCC visibility pop

#endif /* FTREE_BASE_EVENT_H_INCLUDED */
