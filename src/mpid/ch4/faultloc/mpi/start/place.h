/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PLACE_H_INCLUDED
#define FAULTLOC_PLACE_H_INCLUDED

#include "mpidimpl.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Who is where, when a job starts: which ranks are on one node, which of them is first there (the
 * leader), and what the ranks of a node, and the leaders, send each other until the board is there.
 *
 * MPICH knows which ranks share memory. Where each such group is one node for FaultLoc, too, which
 * is so but for MPIR_CVAR_FAULTLOC_NODE_NAME, MPIR_CVAR_NOLOCAL and the like, its ranks speak by
 * the memory that MPI_Init has for that, and only the leaders by messages. A collective operation
 * of all ranks takes a second where 60 of them share a core; else they are what all ranks use.
 */

/* Which node a rank is on: ranks with equal marks are on one. */
struct MPIDI_faultloc_mark {
    uint64_t node;              /* hash of the node's name and what makes two hosts of one name
                                 * different */
    int32_t rank, pid;
    int32_t is_group;           /* all that share memory with it are on its node */
};

struct MPIDI_faultloc_place {
    int32_t slots, slot;        /* ranks here, own place among them; 0: the leader */
    int32_t leader_pid;         /* of the own node */
    bool by_groups;             /* see above */
    int sent, received;          /* words, where it is by groups */
    bool is_first_not;          /* of those that did not agree, this is the first */
    MPIR_Comm *leaders;         /* in the order of the nodes' first numbers; NULL: this is none */
    /* In leaders, and where it is not by groups in all ranks: */
    struct MPIDI_faultloc_mark *marks;  /* [size], by rank */
    int32_t *rank_node;         /* [size] */
    int32_t *leader;            /* [size], of which the first `nodes` are used: each node's first
                                 * rank */
    int32_t *order;             /* [nodes]: numbers before a topology came; NULL: none did */
    int32_t nodes, self;        /* node */
};

/* Purpose: collective over the world: finds the place of each rank; the nodes are numbered by their
 * first ranks, so that rank 0 is on node 0.  To be ended by MPIDI_faultloc_place_free(), also after
 * an error.  Returns an error of MPI. */
int MPIDI_faultloc_place_find(struct MPIDI_faultloc_place *p, const char *node_name);

/* Purpose: for leaders: what node k is called now was node order[k].  False: out of memory. */
bool MPIDI_faultloc_place_renumber(struct MPIDI_faultloc_place *p, const int32_t * order);

/* Purpose: collective over the world: each rank gets the descriptor of the board that its node's
 * leader has. */
int MPIDI_faultloc_place_board(struct MPIDI_faultloc_place *p, int32_t * fd);

/* Purpose: collective over the world: *all is true if `mine` is on all ranks. `last`: one that is
 * lost meanwhile is nobody that anybody needs in MPI_Init any more; *all is then of the own
 * node. */
int MPIDI_faultloc_place_agree(struct MPIDI_faultloc_place *p, bool mine, bool last, bool * all);

/* Purpose: gives back what finding took; no collective but over the leaders. */
void MPIDI_faultloc_place_free(struct MPIDI_faultloc_place *p);

#endif /* FAULTLOC_PLACE_H_INCLUDED */
