/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What codes of the transport can mean, and that the documents say the same.
 */

#include "faultloc/base/fabric.h"

#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY FAULTLOC_FABRIC_ANY
#define UNKNOWN (-1)

static const struct {
    const char *netmod, *provider;
    int status, prov_errno;
    int says, error;
} cases[] = {
    {"ucx", "", -80, ANY, FAULTLOC_FABRIC_LOST, ECONNRESET},
    {"ucx", "", -6, ANY, FAULTLOC_FABRIC_LOST, EHOSTUNREACH},
    {"ucx", "", -16, ANY, FAULTLOC_FABRIC_OWN, EIO},
    {"ucx", "", -3, ANY, UNKNOWN, EIO},
    {"ofi", "tcp;ofi_rxm", 125, 107, FAULTLOC_FABRIC_LOST, ECONNRESET},
    {"ofi", "verbs;ofi_rxm", 125, 107, FAULTLOC_FABRIC_LOST, ECONNRESET},
    {"ofi", "tcp;ofi_rxm", 125, -125, FAULTLOC_FABRIC_OWN, EIO},
    {"ofi", "tcp;ofi_rxm", 125, 0, UNKNOWN, EIO},
    {"ofi", "tcp;ofi_rxm", 107, 0, FAULTLOC_FABRIC_LOST, ENOTCONN},
    {"ofi", "net", 125, 11, FAULTLOC_FABRIC_OWN, EIO},
    {"ofi", "net", 125, 107, FAULTLOC_FABRIC_LOST, ECONNRESET},
    {"ofi", "udp;ofi_rxd", 125, 0, FAULTLOC_FABRIC_OWN, EIO},
    {"ofi", "sockets", 5, -5, FAULTLOC_FABRIC_LOST, ECONNRESET},
    {"ofi", "sockets", -2, ANY, FAULTLOC_FABRIC_LOST, ECONNREFUSED},
    {"ofi", "shm", -11, ANY, FAULTLOC_FABRIC_NOTHING, EIO},
    {"ofi", "psm2", 125, 107, UNKNOWN, EIO},
};

TEST_CASES(a_code_means, COUNT(cases))
{
    const struct faultloc_fabric_code *code =
        faultloc_fabric_find(cases[_i].netmod, cases[_i].provider, cases[_i].status,
                             cases[_i].prov_errno);

    ck_assert_int_eq(code ? (int) code->says : UNKNOWN, cases[_i].says);
    ck_assert_int_eq(faultloc_fabric_errno(cases[_i].netmod, cases[_i].provider, cases[_i].status,
                                           cases[_i].prov_errno), cases[_i].error);
}

static const struct {
    const char *line, *device; /* NULL: none */
} lanes[] = {
    {"#                 lane[0]:  0:tcp/eth0.0 md[0]                -> md[0]/tcp/sysdev[255] am", "eth0"},
    {"#   lane[1]: 12:rc_mlx5/mlx5_0:1.0 md[4] -> md[4]/ib/sysdev[3] rma_bw#0", "mlx5_0:1"},
    {"#   lane[0]:  0:tcp/eth0.100.0 md[0] -> md[0]/tcp/sysdev[255] am", "eth0.100"},
    {"#   lane[2]:  4:posix/memory.0 md[3] -> md[3]/posix/sysdev[255]", "memory"},
    {"#   lane[0]:  0:tcp/eth0. md[0]", "eth0."},
    {"#   lane[0]:  0:tcp/.0 md[0]", ".0"},
    {"#   lane[0]:  0:tcp/", NULL},
    {"#   lane[0]:  <none>", NULL},
    {"#               peer: <no debug data>", NULL},
    {"#            tag_send: 0..<egr/short>..8185", NULL},
    {"", NULL},
};

/* As UCX 1.13 prints them. */
TEST_CASES(the_device_of_a_lane, COUNT(lanes))
{
    char device[FAULTLOC_FABRIC_DEVICE];

    ck_assert_int_eq(faultloc_fabric_lane(lanes[_i].line, device), lanes[_i].device != NULL);
    if (lanes[_i].device)
        ck_assert_str_eq(device, lanes[_i].device);
}

/* As the document has it: "ofi:rxm 125/107 lost". */
static void put_row(const struct faultloc_fabric_code *row, char *out, size_t room)
{
    static const char *const says[] = {
        [FAULTLOC_FABRIC_LOST] = "lost",[FAULTLOC_FABRIC_OWN] = "own",
        [FAULTLOC_FABRIC_NOTHING] = "nothing"
    };
    char prov[16] = "any";

    if (row->prov_errno != ANY)
        snprintf(prov, sizeof(prov), "%d", row->prov_errno);
    snprintf(out, room, "    %s%s%s %d/%s %s\n", row->netmod, *row->provider ? ":" : "",
             row->provider, row->status, prov, says[row->says]);
}

TEST_CASE(the_document_has_the_same_table)
{
    const char *top = getenv("top_srcdir");
    char path[4096], line[256], wanted[256];
    int n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/doc/failed-ranks.md", top ? top : ".");
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, "    ucx", 7) != 0 && strncmp(line, "    ofi", 7) != 0)
            continue;
        ck_assert_ptr_nonnull(faultloc_fabric_row(n));
        put_row(faultloc_fabric_row(n++), wanted, sizeof(wanted));
        ck_assert_str_eq(line, wanted);
    }
    fclose(f);
    ck_assert_ptr_null(faultloc_fabric_row(n));
    ck_assert_ptr_null(faultloc_fabric_row(-1));
}
