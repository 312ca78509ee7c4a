/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WAITS_INT_H_INCLUDED
#define WAITS_INT_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/waits/waits.h"
#include "ftree/wire/codec.h"

#pragma GCC visibility push(hidden)

/* What the files of this room share. */

/* ---- the reduction's memory ------------------------------------------------------------------ */

/* A wait is a condition over terms: all of them, or one. */
enum term_type {
    TERM_RANK, /* `rank` goes on */
    TERM_ANY, /* any member of the communicator does */
    TERM_ALL, /* all members that have not begun its n-th collective do */
    TERM_FIRST, /* `rank` has begun its n-th collective, or goes on */
    TERM_UNKNOWN, /* nobody can tell here or above */
    TERM_TURNS, /* `rank` waits inside MPI, or goes on */
    TERM_TYPES
};

static inline bool waits_has_rank(int type)
{
    return type == TERM_RANK || type == TERM_FIRST || type == TERM_TURNS;
}

static inline bool waits_has_comm(int type)
{
    return type == TERM_ANY || type == TERM_ALL || type == TERM_FIRST;
}

struct term {
    uint8_t type;
    struct waits_key key;
    uint32_t number;
    int32_t rank;
};

static inline bool waits_is_collective(const struct term *t)
{
    return (t->type == TERM_ALL || t->type == TERM_FIRST) && !ftree_waits_is_lock(t->key);
}

#define TERMS_MAX (WAITS_REQUESTS_MAX + 1)

struct entry {
    int32_t rank;
    uint8_t thread, threads;
    uint8_t what; /* enum waits_what */
    uint8_t mode; /* of an undecided one; its terms are: */
    bool polls; /* of an undecided one */
    bool is_core; /* of a done one: found below */
    bool is_open; /* a blocked one may be in another core, too: it goes up as undecided */
    int32_t of; /* of a blocked one its core */
    int32_t term, terms;
};

/* Where a rank is in the sequence of a communicator's collectives. */
struct position {
    struct waits_key key;
    struct waits_collective last, before;
    int32_t rank;
};

struct core {
    struct waits_core c; /* c.rank is set when it is asked for */
    int32_t first; /* in core_ranks */
};

struct edge {
    int32_t node, input;
};

/* The conditions as a graph (graph.c): nodes are the entries, then the gates, by which ranks share
 * what they wait for.  A node goes on if all (or one) of its inputs do: of a gate of TERM_ANY one, and
 * of TERM_RANK, whose inputs are the threads of a rank; of others all. */
struct graph {
    int32_t nodes, entries;
    FTREE_ARRAY(struct term) gates; /* what a type does not need of a term is 0 */
    FTREE_ARRAY(struct edge) edges;
    bool *unknown; /* [nodes] it has an input besides, of which nothing is known here */
    /* The inputs of node v are in[in_first[v]] .. in[in_first[v + 1] - 1]; those that have v as an
     * input likewise. */
    int32_t *in_first, *in;
    int32_t *out_first, *out;
};

struct waits {
    struct ftree *ft;
    bool nomem; /* once memory has run out: nothing is decided any more */
    FTREE_ARRAY(struct entry) entries; /* once reduced: sorted by thread and rank, each once */
    FTREE_ARRAY(struct term) terms;
    FTREE_ARRAY(struct waits_comm) comms; /* sorted by key; last and before are not used */
    bool *comm_goes_up; /* [comms] not all of its members have spoken, or are decided */
    FTREE_ARRAY(struct position) positions; /* sorted by key, number, what must agree in both,
                                             * rank */
    FTREE_ARRAY(struct core) cores;
    FTREE_ARRAY(int32_t) core_ranks;
    FTREE_ARRAY(struct waits_mismatch) mismatches;
    struct graph graph;
    int32_t *core_of; /* [nodes] which of `cores` a node is in, FTREE_NONE */
};

/* More than any job has to say; a peer that says more is not believed. */
static inline int64_t most_entries(const struct waits *w)
{
    return (WAITS_THREADS_MAX + 1) * (int64_t) w->ft->job->size + WAITS_REQUESTS_MAX;
}

#define WAITS_ORDER(a, b) \
    do { \
        if ((a) != (b)) \
            return (a) < (b) ? -1 : 1; \
    } while (0)

static inline int key_compare(struct waits_key a, struct waits_key b)
{
    WAITS_ORDER(a.context, b.context);
    WAITS_ORDER(a.first, b.first);
    WAITS_ORDER(a.members, b.members);
    return 0;
}

/* Sorts an array, and drops all but the first of those that do not differ. */
#define WAITS_SORT(array, compare, differ) \
    do { \
        int32_t kept_ = 0; \
        if ((array).n > 0) \
            qsort((array).items, (size_t) (array).n, sizeof(*(array).items), compare); \
        for (int32_t i_ = 0; i_ < (array).n; i_++) \
            if (kept_ == 0 || differ(&(array).items[kept_ - 1], &(array).items[i_])) \
                (array).items[kept_++] = (array).items[i_]; \
        (array).n = kept_; \
    } while (0)

/* known.c */
int waits_put_comm(struct waits *w, const struct waits_comm *comm);
int waits_put_position(struct waits *w, const struct position *position);
struct entry *waits_put_entry(struct waits *w, int32_t rank, enum waits_what what);
void waits_put_term(struct waits *w, struct entry *e, const struct term *t);
int32_t waits_find(const struct waits *w, int32_t rank, int32_t thread); /* index, FTREE_NONE */
/* Sorts what was added, and drops what was said twice. */
void waits_sort(struct waits *w);
void waits_sort_positions(struct waits *w);
int waits_by_member(const void *a, const void *b); /* of positions: by communicator and rank */
/* The index of a communicator, FTREE_NONE; and of its positions the first, and the one behind. */
int32_t waits_find_comm(const struct waits *w, struct waits_key key);
int32_t waits_first_position(const struct waits *w, struct waits_key key, uint32_t begun);
int32_t waits_end_position(const struct waits *w, struct waits_key key);
bool waits_has_member(const struct waits_comm *c, int32_t rank); /* NULL: it has none */

/* What a rank did at a number; NULL: that is not known. */
const struct waits_collective *waits_did(const struct position *p, uint32_t number);

/* graph.c.  These return false once memory has run out. */
bool waits_graph_build(struct waits *w);
void waits_graph_free(struct waits *w);
int32_t waits_node_of(const struct waits *w, int32_t rank); /* FTREE_NONE: it is not known */

/* Deciding.  Tables are as long as the graph has nodes. */
struct search {
    struct waits *w;
    const struct graph *g;
    bool *goes_on;
    bool *is_fixed; /* known from below, whatever its inputs */
    bool *only_done; /* all of its inputs have called MPI_Finalize */
    bool *is_open; /* more may be known above of what it waits for */
    bool is_top;
    int32_t *pending; /* inputs that do not go on, of a node that needs all */
    int32_t *because; /* of what it goes on: at first a node, then the id of a core */
    int32_t *queue;
    int32_t head, tail;
    int32_t *spare; /* [SEARCH_SPARE][nodes + 1] for the search for cores */
};
#define SEARCH_SPARE 8

/* fixpoint.c: who goes on if what is not known does, or does not; what follows if a node does, too,
 * because of some entry or core. */
void waits_find_fixpoint(struct search *s, bool unknown_goes_on);
void waits_let_go(struct search *s, int32_t v, int32_t because);
void waits_propagate(struct search *s);
bool waits_needs_all(const struct search *s, int32_t v);
bool waits_is_done(const struct search *s, int32_t v);

/* cores.c: the cores of those who do not go on; after it all do, and `because` is an id of a
 * core. */
void waits_find_cores(struct search *s);

/* blocked.c, mismatch.c, items.c */
bool waits_decide(struct waits *w, bool is_top);
bool waits_find_mismatches(struct waits *w);
bool waits_choose_comms(struct waits *w);

/* ---- bytes ----------------------------------------------------------------------------------- */

/* NULL, or what is out of bounds. */
const char *waits_check_comm(const struct ftree_job *job, const struct waits_comm *c);
void waits_wire_key(struct wire_codec *c, struct waits_key *key);
/* All of its ranks are less than `most`. */
void waits_wire_run(struct wire_codec *c, struct waits_run *run, int32_t most);
void waits_wire_members(struct wire_codec *c, struct waits_comm *comm);
/* In all that members must agree upon, the number first. */
int waits_compare_collectives(const struct waits_collective *a, const struct waits_collective *b);
/* The last collective, and the one before it. */
void waits_wire_last(struct wire_codec *c, struct waits_collective *last,
                     struct waits_collective *before);

#pragma GCC visibility pop

#endif /* WAITS_INT_H_INCLUDED */
