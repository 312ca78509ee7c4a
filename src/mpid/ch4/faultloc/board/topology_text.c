/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/topology_text.h"

#include "faultloc/base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_read(const char *name, const char *why, char *error, size_t room)
{
    snprintf(error, room, "cannot read the topology file %s: %s", name, why);
    return FTREE_ERR_INVALID;
}

static int load_file(const char *name, struct faultloc_topology *t, char *error, size_t room)
{
    /* not to wait for somebody to write into a pipe */
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
    struct stat st;

    if (fd < 0)
        return cannot_read(name, strerror(errno), error, room);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return cannot_read(name, "it is not a regular file", error, room);
    }
    rc = faultloc_read_whole(fd, FAULTLOC_TOPOLOGY_MAX, &t->text, &t->len);
    close(fd);
    if (rc == 0 && t->len > 0)
        return FTREE_OK;
    free(t->text);
    t->text = NULL;
    if (rc == ENOMEM) {
        snprintf(error, room, "out of memory");
        return FTREE_ERR_NOMEM;
    }
    if (rc == EFBIG)
        return cannot_read(name, "it is larger than 4 MiB", error, room);
    return cannot_read(name, rc ? strerror(rc) : "it is empty", error, room);
}
_Static_assert(FAULTLOC_TOPOLOGY_MAX == 4 << 20, "said in words above");

int faultloc_topology_load(const char *value, struct faultloc_topology *t, char *error, size_t room)
{
    *t = (struct faultloc_topology){0};
    if (!value || !value[0])
        return FTREE_OK;
    if (!strchr(value, ':') || access(value, F_OK) == 0)
        return load_file(value, t, error, room);
    t->text = strdup(value);
    t->len = strlen(value);
    t->is_string = true;
    if (t->text)
        return FTREE_OK;
    snprintf(error, room, "out of memory");
    return FTREE_ERR_NOMEM;
}

int faultloc_topology_tree(const struct faultloc_topology *t, const char *value,
                           const char *const *name, int32_t nodes, int32_t fanout,
                           struct ftree_tree **out, int32_t *order, char *error, size_t room)
{
    struct ftree_tree_error e;
    int rc = t->is_string ? ftree_tree_synthetic_job(t->text, nodes, fanout, out, order, &e)
                          : ftree_tree_read(t->text, t->len, name, nodes, fanout, out, order, &e);

    if (rc == FTREE_ERR_NOMEM)
        snprintf(error, room, "out of memory");
    else if (rc && t->is_string && e.column)
        snprintf(error, room, "topology '%s', column %d: %s", value, e.column, e.text);
    else if (rc && t->is_string)
        snprintf(error, room, "topology '%s': %s", value, e.text);
    else if (rc && e.line)
        snprintf(error, room, "%s, line %d, column %d: %s", value, e.line, e.column, e.text);
    else if (rc)
        snprintf(error, room, "%s: %s", value, e.text);
    return rc;
}
