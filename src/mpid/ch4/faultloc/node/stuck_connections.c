/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/stuck_connections.h"

#include "faultloc/net/delivery.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 16384 /* of a process; of further ones nothing is read */

/* The number of the socket behind this name in a folder of descriptors; 0: it is none. */
static uint32_t socket_at(int folder, const char *name)
{
    char link[64];
    ssize_t n = readlinkat(folder, name, link, sizeof(link) - 1);
    unsigned inode;

    if (n <= 0)
        return 0;
    link[n] = '\0';
    return sscanf(link, "socket:[%u]", &inode) == 1 ? inode : 0;
}

/* Those of `stuck` that process `pid` has are rank's. */
static void find_owned(const char *proc_root, int32_t pid, int32_t rank,
                       struct faultloc_stuck *stuck, int32_t n)
{
    const struct dirent *entry;
    char path[512];
    DIR *dir;

    if (snprintf(path, sizeof(path), "%s/%d/fd", proc_root ? proc_root : "/proc", (int) pid) >=
        (int) sizeof(path))
        return;
    dir = opendir(path);
    if (!dir)
        return;
    for (int i = 0; i < DESCRIPTORS_MAX && (entry = readdir(dir)) != NULL; i++) {
        uint32_t inode = socket_at(dirfd(dir), entry->d_name);
        for (int32_t k = 0; inode && k < n; k++)
            if (stuck[k].inode == inode)
                stuck[k].c.rank = rank;
    }
    closedir(dir);
}

int32_t faultloc_connections(const struct faultloc_board *b, const char *proc_root,
                             struct ftree_connection *c, int32_t n)
{
    enum ftree_path path = b->has_path[FTREE_PATH_DATA] ? FTREE_PATH_DATA : FTREE_PATH_MGMT;
    struct faultloc_stuck stuck[FTREE_CONNECTIONS_MAX];
    int32_t found, owned = 0;

    found = faultloc_stuck(faultloc_board_addresses(b), b->nodes, b->self, path, stuck,
                           n < FTREE_CONNECTIONS_MAX ? n : FTREE_CONNECTIONS_MAX);
    for (int32_t i = 0; found > 0 && i < b->slots; i++)
        find_owned(proc_root, faultloc_board_slot(b, i)->pid, faultloc_board_slot(b, i)->rank,
                   stuck, found);
    for (int32_t i = 0; i < found; i++)
        if (stuck[i].c.rank != FTREE_NONE)
            c[owned++] = stuck[i].c;
    return owned;
}
