/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_connect.h"
#include "suite.h"

#include "files.h"

#include <unistd.h>

/* Connections that a process asks for in vain, as a folder like /proc says. */

#define HEAD \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define TO_H2 "0100000A:C8CA 0200000A:A233 "
#define QUEUES " 00000001:00000000 01:0000016A "
#define REST " 0        0 7427698 2 0000000000000000 400 0 0 1 7\n"

static const struct {
    const char *file, *table;
    const char *link; /* of descriptor 16 */
    int n, tries;
    const char *to;
} rows[] = {
    {"40/net/tcp", HEAD "   0: " TO_H2 "02" QUEUES "00000006" REST, "socket:[7427698]", 1, 7,
     "10.0.0.2 (h2), port 41523"},
    {"40/net/tcp", HEAD "   0: " TO_H2 "02" QUEUES "00000002" REST, "socket:[7427698]", 0, 0, ""},
    {"40/net/tcp", HEAD "   0: " TO_H2 "01" QUEUES "00000006" REST, "socket:[7427698]", 0, 0, ""},
    {"40/net/tcp", HEAD "   0: " TO_H2 "02" QUEUES "00000006" REST, "socket:[7427699]", 0, 0, ""},
    {"40/net/tcp", HEAD "   0: 0100000A:C8CA 0300000A:0050 02" QUEUES "00000003" REST,
     "socket:[7427698]", 1, 4, "10.0.0.3, port 80"}, /* it has no name */
    {"40/net/tcp6", HEAD "   0: 00000000000000000000000000000000:C8CA B80D0120000000000000000001000000:"
                         "A233 02" QUEUES "00000006" REST, "socket:[7427698]", 1, 7,
     "2001:db8::1, port 41523"},
    {"40/net/tcp", HEAD "   0: 0100000A:C8CA 02:A233 02" QUEUES "00000006" REST, "socket:[7427698]", 0, 0,
     ""},
    {"40/net/tcp", "nonsense\n", "socket:[7427698]", 0, 0, ""},
    {"41/net/tcp", HEAD, "socket:[7427698]", 0, 0, ""},
};

static void link_descriptor(int pid, const char *target)
{
    char path[128];

    snprintf(path, sizeof(path), "%d/fd/none", pid);
    files_write(path, "");
    snprintf(path, sizeof(path), "%s/%d/fd/16", files_root, pid);
    ck_assert_int_eq(symlink(target, path), 0);
}

static int look(struct HYD_faultloc_connect *c)
{
    char hosts[80];

    snprintf(hosts, sizeof(hosts), "%s/hosts", files_root);
    files_write("hosts", "127.0.0.1 localhost\n10.0.0.22 h22\n# 10.0.0.2 no\n10.0.0.2\th2 node2 # data\n");
    return HYD_faultloc_connects(files_root, hosts, 40, c);
}

TEST_CASES(who_asks_whom_in_vain, COUNT(rows))
{
    struct HYD_faultloc_connect c[HYD_FAULTLOC_CONNECTS_MAX];

    files_begin();
    files_write(rows[_i].file, rows[_i].table);
    link_descriptor(40, rows[_i].link);
    ck_assert_int_eq(look(c), rows[_i].n);
    if (rows[_i].n) {
        ck_assert_str_eq(c[0].to, rows[_i].to);
        ck_assert_int_eq(c[0].tries, rows[_i].tries);
    }
}

/* What hydra started may be a script. */
TEST_CASE(a_child_is_looked_at_where_the_process_has_none)
{
    struct HYD_faultloc_connect c[HYD_FAULTLOC_CONNECTS_MAX];

    files_begin();
    files_write("40/task/40/children", "41 ");
    files_write("41/stat", "41 (app) S 40 41 41 0 -1 0 0\n");
    files_write("41/net/tcp", HEAD "   0: " TO_H2 "02" QUEUES "00000006" REST);
    link_descriptor(41, "socket:[7427698]");
    ck_assert_int_eq(look(c), 1);
}
