/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_TOPOLOGY_TEXT_H_INCLUDED
#define FAULTLOC_TOPOLOGY_TEXT_H_INCLUDED

#include "ftree/topology/tree.h"

/*
 * What MPIR_CVAR_FAULTLOC_TOPOLOGY says: one process reads the file, all node leaders make the same
 * tree of it, also where their file systems differ.
 */

/* A file that describes more than a million nodes one by one is still smaller, bytes. */
#define FAULTLOC_TOPOLOGY_MAX (4 << 20)

struct faultloc_topology {
    char *text; /* NULL: there is none; else with a final zero behind */
    size_t len;
    bool is_string; /* "switch:2 node:4", not a file's content */
};

/* Purpose: what `value` stands for: the file of that name; where there is none and it has a ':' in
 * it, the string itself; nothing where it is empty.  t->text is the caller's, to be freed.
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_NOMEM; `error` then says why. */
int faultloc_topology_load(const char *value, struct faultloc_topology *t, char *error,
                           size_t room);

/* Purpose: the tree of a job with these nodes; `value` is for `error` alone.  For the rest see
 * ftree_tree_read().
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_NOMEM; `error` then says where and why. */
int faultloc_topology_tree(const struct faultloc_topology *t, const char *value,
                           const char *const *name, int32_t nodes, int32_t fanout,
                           struct ftree_tree **out, int32_t *order, char *error, size_t room);

#endif /* FAULTLOC_TOPOLOGY_TEXT_H_INCLUDED */
