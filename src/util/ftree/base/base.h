/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_BASE_H_INCLUDED
#define FTREE_BASE_H_INCLUDED

#include "ftree/ftree.h"

#include <stdarg.h>

#pragma GCC visibility push(hidden)

/*
 * The handle, as every room sees it, and what all of them need: arrays, the trace, names.  Each
 * room has a part of the handle that it alone looks into; its header says what that is.
 */

struct topo;
struct ftree_events;
struct ftree_state;
struct ftree_net;
struct ftree_observe;
struct ftree_intake;
struct ftree_examine;
struct ftree_announce;
struct ftree_leaving;
struct ftree_waitfor;
struct ftree_survey;
struct ftree_straggle;

struct ftree {
    const struct ftree_job *job;
    const struct ftree_io *io;
    void *io_ctx;
    const struct topo *topo;
    const struct ftree_rules *rules;
    struct ftree_config cfg;
    int32_t self;
    uint32_t next_id;
    ftree_time excused; /* the last pause in which this agent did not run was until then */
    struct ftree_events *events; /* while the handle is called: those that wait */

    struct ftree_state *state;
    struct ftree_net *net;
    struct ftree_observe *observe;
    struct ftree_intake *intake;
    struct ftree_examine *examine;
    struct ftree_announce *announce;
    struct ftree_leaving *leave;
    struct ftree_waitfor *waitfor;
    struct ftree_survey *survey;
    struct ftree_straggle *straggle;
};

/* A growing array: `items` of `size` bytes, `n` in use. */
#define FTREE_ARRAY(type) \
    struct { \
        type *items; \
        int32_t n, room; \
    }

/* Goes through an array that stays as it is meanwhile: `item` points to each of its items. */
#define FTREE_EACH(type, item, array) FTREE_EACH_IF(true, type, item, array)
#define FTREE_EACH_IF(any, type, item, array) \
    for (type *item = (any) ? (array).items : NULL, *item##_end = item ? item + (array).n : item; \
         item != item##_end; item++)

/* The first item for which `such`, an expression of it, is true; NULL: it is of none. */
#define FTREE_FIND(type, item, array, such) \
    ({ \
        type *item##_found = NULL; \
        FTREE_EACH(type, item, array) \
            if (such) { \
                item##_found = item; \
                break; \
            } \
        item##_found; \
    })

#define FTREE_ANY(...) (FTREE_FIND(__VA_ARGS__) != NULL)

/* The least `when`, likewise; FTREE_NEVER: there is no item. */
#define FTREE_EARLIEST(type, item, array, when) \
    ({ \
        ftree_time item##_least = FTREE_NEVER; \
        FTREE_EACH(type, item, array) \
            item##_least = ftree_min(item##_least, (when)); \
        item##_least; \
    })

/* Appends a zeroed item and returns it; NULL: out of memory, the array is as it was. */
#define FTREE_PUSH(ft, array) \
    ftree_push((ft), &(array).items, &(array).n, &(array).room, sizeof(*(array).items))
void *ftree_push(struct ftree *ft, void *items, int32_t *n, int32_t *room, size_t size);

/* Appends an item; false: likewise. */
#define FTREE_ADD(ft, array, item) \
    (FTREE_PUSH(ft, array) && ((array).items[(array).n - 1] = (item), true))

/* Makes room for `more` items, and no more than that; false: out of memory. */
#define FTREE_RESERVE(ft, array, more) \
    ftree_reserve((ft), &(array).items, (array).n + (more), &(array).room, sizeof(*(array).items))
bool ftree_reserve(struct ftree *ft, void *items, int32_t n, int32_t *room, size_t size);

/* Removes item i by moving the last one into its place. */
#define FTREE_DROP(array, i) ((array).items[i] = (array).items[--(array).n])

/* Bytes that grow. */
struct ftree_bytes {
    uint8_t *items;
    int32_t n, room;
};

/* False: out of memory, or too long. */
bool ftree_bytes_append(struct ftree *ft, struct ftree_bytes *out, const uint8_t *bytes, size_t len);

void *ftree_alloc(struct ftree *ft, void *ptr, size_t size);
/* The same for new memory: with zeros, or with a copy. */
void *ftree_alloc_zeroed(struct ftree *ft, size_t size);
void *ftree_alloc_copy(struct ftree *ft, const void *from, size_t size);
/* One line per decision; one that begins with two spaces is a step on the way to it.  Where nobody
 * reads them the arguments are not looked at: a name costs more than many a decision. */
#define ftree_trace(ft, ...) \
    do { \
        if ((ft)->io->trace) \
            ftree_trace_line((ft), __VA_ARGS__); \
    } while (0)
void ftree_trace_line(struct ftree *ft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends to a text, as much as finds room. */
void ftree_text_add(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The paths that the job has, as a set of bits. */
uint8_t ftree_all_paths(const struct ftree_job *job);
/* The name of a node; it lasts to the end of the block. */
#define ftree_name(ft, node) ftree_node_name((ft)->job, (node), (char[16]){""}, 16)
int32_t ftree_node_of(const struct ftree *ft, int32_t rank);
int32_t ftree_ranks_of(const struct ftree_job *job, int32_t node);
int32_t ftree_rank_at(const struct ftree_job *job, int32_t node, int32_t i);
/* Which of the node's ranks it is, from 0 on; FTREE_NONE: none of them. */
int32_t ftree_place_of(const struct ftree_job *job, int32_t node, int32_t rank);

/* Purpose: true if the job may not be ended because of it: a debugger holds a process of the
 * verdict's evidence, or that which it is about may end by itself. */
bool ftree_verdict_is_held(const struct ftree_verdict *v);

/* ranks.c */
void ftree_ranks_add(struct ftree_ranks *set, int32_t first, int32_t last);
bool ftree_ranks_has(const struct ftree_ranks *set, int32_t rank);
void ftree_ranks_merge(struct ftree_ranks *set, const struct ftree_ranks *more);
/* How many of them the ranges list. */
int32_t ftree_ranks_listed(const struct ftree_ranks *set);

/* spans.c; false: out of memory */
bool ftree_spans_add(struct ftree *ft, struct ftree_spans *s, int32_t first, int32_t last);
bool ftree_spans_merge(struct ftree *ft, struct ftree_spans *s, const struct ftree_spans *more);
bool ftree_spans_has(const struct ftree_spans *s, int32_t number);
int32_t ftree_spans_listed(const struct ftree_spans *s);
void ftree_spans_clear(struct ftree *ft, struct ftree_spans *s);
/* The run that begins with span *i, which becomes the one behind it: its first number is
 * returned. */
int32_t ftree_spans_run(const struct ftree_spans *s, int32_t *i, int32_t *step, int32_t *count);

/* symptom.c: the one form of a symptom, and what the state of a rank says */
void ftree_symptom_init(struct ftree_symptom *s, enum ftree_symptom_kind kind, int32_t node,
                        int32_t rank, int32_t reporter, ftree_time first, ftree_time last);
void ftree_symptom_merge(struct ftree_symptom *s, const struct ftree_symptom *more);
bool ftree_symptom_is_end(const struct ftree_symptom *s);
bool ftree_symptom_is_stall(const struct ftree_symptom *s);
bool ftree_symptom_may_be_path(const struct ftree_symptom *s);
bool ftree_symptom_is_trouble(const struct ftree_rank_state *s);
bool ftree_symptom_is_well(const struct ftree_rank_state *s);
bool ftree_symptom_is_victim(const struct ftree_rank_state *s, ftree_time limit);

/* For qsort(3), of int32_t. */
int ftree_compare_numbers(const void *a, const void *b);

/* Others wait for this node: what its kernel and GPU say of it is to be known soon.  True: they have
 * been asked, and are about to. */
static inline bool ftree_ask_home(const struct ftree *ft)
{
    return ft->io->handlers && ft->io->handlers(ft->io_ctx, ft->self);
}

/* The path of the ranks' data. */
static inline enum ftree_path ftree_main_path(const struct ftree *ft)
{
    return ft->job->has_path[FTREE_PATH_DATA] ? FTREE_PATH_DATA : FTREE_PATH_MGMT;
}

/* True if `such`, an expression of a path, is true for one of the two. */
#define FTREE_ANY_PATH(path, such) \
    ({ \
        bool any_path = false; \
        for (int path = 0; path < FTREE_PATHS && !any_path; path++) \
            any_path = (such); \
        any_path; \
    })

static inline ftree_time ftree_min(ftree_time a, ftree_time b)
{
    return a < b ? a : b;
}

static inline ftree_time ftree_max(ftree_time a, ftree_time b)
{
    return a > b ? a : b;
}

#pragma GCC visibility pop

#endif /* FTREE_BASE_H_INCLUDED */
