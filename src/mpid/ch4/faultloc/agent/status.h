/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_STATUS_H_INCLUDED
#define FAULTLOC_STATUS_H_INCLUDED

#include "faultloc/agent/program.h"

/* Purpose: how the ranks of this node are, and what verdicts it knows: one JSON object, schema
 * faultloc-status/1 (faultloc(1)).  `now_ms` is the Unix time of `now`.  Returns a string to be freed
 * by free(3); NULL: out of memory. */
char *faultloc_status_json(struct faultloc_program *p, struct ftree *ft, ftree_time now,
                           int64_t now_ms);

#endif /* FAULTLOC_STATUS_H_INCLUDED */
