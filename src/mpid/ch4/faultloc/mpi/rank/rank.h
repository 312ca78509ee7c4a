/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_RANK_H_INCLUDED
#define FAULTLOC_RANK_H_INCLUDED

#include "mpidimpl.h"

#include "faultloc/board/board.h"
#include "faultloc/seam/faultloc_base.h"

/* This rank: its settings, its board and its slot there, and the objects that MPICH has. */

/* ---- settings.c ------------------------------------------------------------------------------ */

/* Purpose: says, on rank 0, which numbers of the user's are none, and what is used instead. */
void MPIDI_faultloc_say_unread(void);

/* Purpose: what the user has set, for the agent of this node. */
void MPIDI_faultloc_read_settings(struct faultloc_settings *s, const char *job_id,
                                  const char *node);

/* Purpose: children of a node in the tree, where nothing else says how many. */
int32_t MPIDI_faultloc_read_fanout(void);

/* Purpose: what the job is called; a board knows it, too. */
void MPIDI_faultloc_read_job_id(char *out, size_t room);

/* Purpose: what this node is called; `name` has FAULTLOC_NAME_SIZE bytes, the rest are 0. */
void MPIDI_faultloc_read_node_name(char *name);

/* ---- objects.c ------------------------------------------------------------------------------- */

/* Purpose: calls `f` for each object of the pool, freed ones among them.  `per_block`: how many are
 * in a block that MPICH has added: HANDLE_NUM_INDICES, of requests REQUEST_NUM_INDICES. */
void MPIDI_faultloc_each_object(const MPIR_Object_alloc_t * pool, int per_block,
                                void (*f) (void *object, void *arg), void *arg);

/* ---- rank.c ---------------------------------------------------------------------------------- */

/* Purpose: this node's board; NULL: faultloc is off or disabled, or the rank has left. */
struct faultloc_board *MPIDI_faultloc_board(void);

/* Purpose: the job in words of the core; NULL likewise. */
const struct ftree_job *MPIDI_faultloc_job(void);

/* Purpose: where this rank says what it waits for; NULL: faultloc is off or disabled. */
struct faultloc_wait_area *MPIDI_faultloc_wait_area(void);

/* Purpose: how long a verdict is waited for, ns. */
ftree_time MPIDI_faultloc_grace(void);

/* Purpose: the board as long as it is mapped, from within MPI_Init on. */
struct faultloc_board *MPIDI_faultloc_mapped_board(void);

/* Purpose: in MPI_Init: this rank has a board, whatever comes of it. */
void MPIDI_faultloc_take_board(struct faultloc_board *b);

/* Purpose: maps the rank's slot of its board, which is behind `fd`, and says there who it is.
 * Returns false, and says why, where that cannot be. */
bool MPIDI_faultloc_map_slot(int fd, int32_t slot);

/* Purpose: lets the agent have this process traced, where it asks for that. */
void MPIDI_faultloc_permit_tracer(void);

/* Purpose: in a child of fork(): it goes on as the rank, if that has ended. */
void MPIDI_faultloc_go_on(void);

/* Purpose: all ranks agree: faultloc is on, or it is disabled, and there is no board any more. */
void MPIDI_faultloc_begin(bool on);

#endif /* FAULTLOC_RANK_H_INCLUDED */
