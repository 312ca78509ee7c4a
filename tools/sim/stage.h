/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef STAGE_H_INCLUDED
#define STAGE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/*
 * Idle handles of a million nodes are nearly equal, and only one at a time is called.  So they take
 * turns on a stage: memory at one address, in which the pointers of each are valid.  One that leaves
 * it is packed: what is kept of a handle is in which words it differs from another one, a model.
 * That is a hundred bytes or two instead of one or two thousand, and the stage itself stays in the
 * processor's cache.  What finds no room on the stage is in the pool, and stays where it is.
 *
 * With AddressSanitizer there is no stage, so that wrong use is found.  For one thread.
 */

/* Purpose: false: there is no stage, and nothing else here may be called. */
bool sim_stage_exists(void);

/* Purpose: empties the stage, which keeps nothing. */
void sim_stage_clear(void);

/* Purpose: what is on the stage, as a block of the pool; it is put there again, and its first block
 * returned. */
void *sim_stage_pack(void);
void *sim_stage_unpack(void *packed);

/* Purpose: as sim_pool_alloc(), on the stage if there is room; blocks have the same sizes. */
void *sim_stage_alloc(void *ptr, size_t size);

/* Purpose: forgets all models, when nothing that was packed is left. */
void sim_stage_drop(void);

#endif /* STAGE_H_INCLUDED */
