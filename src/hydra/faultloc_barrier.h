/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_BARRIER_H_INCLUDED
#define FAULTLOC_BARRIER_H_INCLUDED

#include "faultloc_hydra.h"
#include "faultloc_incident.h"
#include "hydra.h"

/*
 * Barriers of PMI, in MPI_Init and MPI_Finalize, to which not all ranks come.  A proxy says when
 * all of its ranks have come; those that have not said so are asked once nobody has come for a
 * while.  And what is left behind the last: processes that do not end, and others that hold their
 * output open.
 */

/* Purpose: all processes of a proxy have come to the barrier. */
void HYD_faultloc_barrier_came(const struct HYD_proxy *proxy);

/* Purpose: true if some have come to the barrier, and all proxies of the group that are connected
 * wait there. */
bool HYD_faultloc_barrier_holds(const struct HYD_pg *pg);

/* Purpose: a proxy has answered, or has ranks that wait for others of its own. */
void HYD_faultloc_barrier_answer(const struct HYD_proxy *proxy,
                                 const struct HYD_faultloc_arrivals *answer);

/* Purpose: the processes of a proxy are through with MPI, and keep mpiexec waiting. */
void HYD_faultloc_barrier_left(const struct HYD_proxy *proxy,
                               const struct HYD_faultloc_arrivals *answer);

/* Purpose: when HYD_faultloc_barrier_turn() has something to do; HYD_FAULTLOC_NEVER: nothing. */
int64_t HYD_faultloc_barrier_due(void);

/* Purpose: asks proxies, and prints notes on standard error. */
void HYD_faultloc_barrier_turn(const struct HYD_faultloc_incident *incident, int64_t now);

#endif /* FAULTLOC_BARRIER_H_INCLUDED */
