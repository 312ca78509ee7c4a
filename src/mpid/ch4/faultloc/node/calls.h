/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CALLS_H_INCLUDED
#define FAULTLOC_CALLS_H_INCLUDED

#include <stdint.h>

/* Purpose: the MPI function that a slot's `call` says the rank is in, as "MPI_Recv"; a constant
 * string.  "user code": in none; "MPI": in one that is not known by name.  Calls nest, and then the
 * sum of their identifiers is nobody's. */
const char *faultloc_call_name(uint64_t call);

/* Purpose: the identifier of a function given its __func__: the same hash as the seam's macro, for
 * names that come at run time. */
uint32_t faultloc_call_id(const char *func);

#endif /* FAULTLOC_CALLS_H_INCLUDED */
