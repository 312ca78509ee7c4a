/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef MESSAGES_H_INCLUDED
#define MESSAGES_H_INCLUDED

#include "ftree_int.h"

/*
 * Valid messages to begin with: every type, the smallest and the fullest, for a job of
 * MESSAGES_NODES nodes with two ranks each.  Tests read them back, spoil them, and mutate them.
 */

#define MESSAGES_NODES 8
#define MESSAGES_SIZE (2 * MESSAGES_NODES)

/* The job they are of; constant, shared by all. */
const struct ftree_job *messages_job(void);

/* Makes the i-th message as of time `now`; false: there are no more. */
bool messages_make(int i, ftree_time now, struct wire_message *m);

/* What is told of a verdict to all nodes, without the number of its rule. */
struct summary messages_summary(const struct ftree_verdict *v);

/* A message that tells n verdicts; its bytes are w's. */
struct wire_message messages_told(ftree_time now, const struct ftree_verdict *v, int32_t n,
                                  struct wire_summaries *w);

#endif /* MESSAGES_H_INCLUDED */
