/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SAMPLE_H_INCLUDED
#define SAMPLE_H_INCLUDED

#include "ftree/ftree.h"
#include "ftree/survey/query.h"
#include "ftree/topology/tree.h"

/* A job for reports: four nodes with two ranks each, h0 to h3, in the complete tree. */
extern const struct ftree_job sample_job;

/* The same nodes behind two leaf switches, leaf0 and leaf1, for jobs that are to have switches. */
extern const struct ftree_tree sample_tree;

/* Addresses for them, on both paths; h0 has none in the management network. */
const char *sample_address(void *ctx, int32_t node, enum ftree_path path, char *buf, size_t len);

/* An answer about that job with all that one can have: a node in each state, ranks in classes of
 * each form and in others that are not listed, a node and a switch that are suspected, and one
 * more. */
extern const struct ftree_query_result sample_status;

#endif /* SAMPLE_H_INCLUDED */
