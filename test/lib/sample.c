/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sample.h"

#include "ftree/base/symptom.h"

#include <stdio.h>

static const char *const names[] = {"h0", "h1", "h2", "h3"};
static const int32_t rank_node[] = {0, 0, 1, 1, 2, 2, 3, 3};
static const int32_t node_first[] = {0, 2, 4, 6, 8};
static const int32_t node_ranks[] = {0, 1, 2, 3, 4, 5, 6, 7};

const struct ftree_job sample_job = {.nodes = 4,
                                     .size = 8,
                                     .fanout = 32,
                                     .has_path = {true, true},
                                     .node_name = names,
                                     .rank_node = rank_node,
                                     .node_first = node_first,
                                     .node_ranks = node_ranks};

static int32_t parent[] = {FTREE_NONE, 0, 0, 2}, first_child[] = {1, 3, 3, 4, 4};
static int32_t height[] = {2, 0, 1, 0}, leaf[] = {1, 3};
static const char *const switches[] = {"leaf0", "leaf1"};
static int32_t above[] = {FTREE_NONE, FTREE_NONE}, heads[] = {0, 2};
static int32_t node_switch[] = {0, 0, 1, 1};

const struct ftree_tree sample_tree = {.nodes = 4,
                                       .parent = parent,
                                       .first_child = first_child,
                                       .height = height,
                                       .leaves = 2,
                                       .leaf = leaf,
                                       .switches = 2,
                                       .switch_name = switches,
                                       .switch_parent = above,
                                       .switch_head = heads,
                                       .node_switch = node_switch};

const char *sample_address(void *ctx, int32_t node, enum ftree_path path, char *buf, size_t len)
{
    (void) ctx;
    if (path == FTREE_PATH_MGMT && node == 0)
        return NULL;
    snprintf(buf, len, "10.%d.0.%d", (int) path, (int) node + 1);
    return buf;
}

#define SPANS(n_, count_, ...) \
    { \
        .items = (struct ftree_span[]){__VA_ARGS__}, .n = n_, .count = count_ \
    }

static struct ftree_rank_class classes[] = {
    {.state = FTREE_DOES_WAIT,
     .call = 0x11,
     .comm = "rows",
     .count = 3,
     .example = 0,
     .shortest = 1500 * FTREE_MS,
     .longest = 12040 * FTREE_MS,
     .any = 1,
     .ranks = SPANS(3, 3, {0, 0}, {2, 2}, {4, 4}),
     .peers = SPANS(1, 1, {5, 5})},
    {.state = FTREE_DOES_CALL,
     .call = 0x11,
     .count = 1,
     .example = 6,
     .ranks = SPANS(1, 1, {6, 6})},
    {.state = FTREE_DOES_STOP, .count = 1, .example = 7, .ranks = SPANS(1, 1, {7, 7})},
};

static const struct ftree_suspicion suspicions[] = {
    {.node = 2,
     .switch_ = FTREE_NONE,
     .by = 0,
     .kind = FTREE_SYMPTOM_PEER_STALL,
     .age = 1200 * FTREE_MS},
    {.node = 2,
     .switch_ = 1,
     .by = 1,
     .kind = FTREE_SYMPTOM_PEER_STALL,
     .age = 200 * FTREE_MS},
};

const struct ftree_query_result sample_status = {
    .kind = FTREE_QUERY_STATUS,
    .number = 5,
    .root = 0,
    .nodes = 4,
    .answered = SPANS(1, 1, {0, 0}),
    .left = SPANS(1, 1, {1, 1}),
    .failed = SPANS(1, 1, {3, 3}),
    .silent = SPANS(1, 1, {2, 2}),
    .classes = {.items = classes, .n = 3, .dropped = 1, .dropped_ranks = 1},
    .suspicions = 2,
    .more_suspicions = 1,
    .suspicion = suspicions};
