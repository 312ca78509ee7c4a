/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/job.h"

#include "tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int faultloc_job_describe(const struct faultloc_board *b, struct faultloc_job *out)
{
    int rc;

    *out = (struct faultloc_job){.names = malloc((size_t) b->nodes * sizeof(*out->names))};
    if (!out->names)
        return ENOMEM;
    if (b->tree_bytes) {
        rc = ftree_tree_unpack(faultloc_board_tree(b), b->tree_bytes, &out->tree);
        if (rc)
            return rc == FTREE_ERR_NOMEM ? ENOMEM : EPROTO;
    }
    for (int32_t i = 0; i < b->nodes; i++)
        out->names[i] = faultloc_board_name(b, i);
    out->job = (struct ftree_job){.nodes = b->nodes,
                                  .size = b->size,
                                  .fanout = b->fanout,
                                  .tree = out->tree,
                                  .seed = b->seed,
                                  .node_name = out->names,
                                  .rank_node = faultloc_board_rank_node(b),
                                  .node_first = faultloc_board_node_first(b),
                                  .node_ranks = faultloc_board_node_ranks(b),
                                  .rank_pid = faultloc_board_rank_pid(b)};
    memcpy(out->job.has_path, b->has_path, sizeof(out->job.has_path));
    return 0;
}

void faultloc_job_free(struct faultloc_job *j)
{
    free(j->names);
    ftree_tree_free(j->tree);
    *j = (struct faultloc_job){.names = NULL};
}
