/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_MARK_H_INCLUDED
#define FAULTLOC_MARK_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether FaultLoc is on in all ranks.  A rank in which it is on says so behind the address that
 * all ranks exchange when a job starts; a rank in which it is off takes no notice of that.  So a
 * job without FaultLoc exchanges what it always did, and no other step of MPI_Init is needed.
 */

/* Where a mark may be, because nothing says how long an address is. */
#define FAULTLOC_MARK_STEP 16
#define FAULTLOC_MARK_ROOM (2 * FAULTLOC_MARK_STEP) /* bytes more than the address, at most */

/* Purpose: writes the mark of `rank` behind an address of `len` bytes, for which there is room.
 * Returns how many bytes both have. */
size_t faultloc_mark_put(void *address, size_t len, int32_t rank);

/* Purpose: true if there is the mark of `rank` in `room` bytes. */
bool faultloc_mark_find(const void *address, size_t room, int32_t rank);

#endif /* FAULTLOC_MARK_H_INCLUDED */
