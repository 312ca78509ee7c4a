/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/fabric.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LOST FAULTLOC_FABRIC_LOST
#define OWN FAULTLOC_FABRIC_OWN
#define NOTHING FAULTLOC_FABRIC_NOTHING
#define ANY FAULTLOC_FABRIC_ANY

/* Linux's numbers, as UCX and libfabric have them; the first row that fits holds. */
static const struct faultloc_fabric_code codes[] = {
    {"ucx", "", -80, ANY, LOST, ECONNRESET}, /* what TCP makes of the next, and of silence */
    {"ucx", "", -25, ANY, LOST, ECONNRESET},
    {"ucx", "", -24, ANY, LOST, ENOTCONN},
    {"ucx", "", -23, ANY, LOST, ECONNREFUSED},
    {"ucx", "", -20, ANY, LOST, ETIMEDOUT},
    {"ucx", "", -17, ANY, LOST, EIO}, /* a neighbour's shared memory */
    {"ucx", "", -16, ANY, OWN, 0},
    {"ucx", "", -6, ANY, LOST, EHOSTUNREACH}, /* or refused: a line in the log tells */
    {"ofi", "rxm", 125, 107, LOST, ECONNRESET},
    {"ofi", "rxm", 125, -125, OWN, 0},
    {"ofi", "net", 125, 107, LOST, ECONNRESET},
    {"ofi", "net", 125, ANY, OWN, 0}, /* whatever errno the thread had */
    {"ofi", "rxd", 125, 0, OWN, 0},   /* of a dead peer nothing comes */
    {"ofi", "sockets", 5, -5, LOST, ECONNRESET},
    {"ofi", "sockets", -2, ANY, LOST, ECONNREFUSED},
    {"ofi", "", 107, ANY, LOST, ENOTCONN}, /* in the middle of a message */
    {"ofi", "", -11, ANY, NOTHING, 0},
};

#define N_CODES ((int) (sizeof(codes) / sizeof(codes[0])))

const struct faultloc_fabric_code *faultloc_fabric_row(int i)
{
    return i >= 0 && i < N_CODES ? &codes[i] : NULL;
}

const struct faultloc_fabric_code *faultloc_fabric_find(const char *netmod, const char *provider,
                                                        int status, int prov_errno)
{
    for (int i = 0; i < N_CODES; i++)
        if (!strcmp(codes[i].netmod, netmod) && strstr(provider, codes[i].provider) &&
            codes[i].status == status &&
            (codes[i].prov_errno == ANY || codes[i].prov_errno == prov_errno))
            return &codes[i];
    return NULL;
}

int faultloc_fabric_errno(const char *netmod, const char *provider, int status, int prov_errno)
{
    const struct faultloc_fabric_code *code =
        faultloc_fabric_find(netmod, provider, status, prov_errno);

    return code && code->error ? code->error : EIO;
}

/* A number follows the device, that of the path: interfaces have dots in their names, too. */
bool faultloc_fabric_lane(const char *line, char device[FAULTLOC_FABRIC_DEVICE])
{
    const char *at = strstr(line, "lane[");
    char *dot;

    at = at ? strchr(at, '/') : NULL;
    if (!at || sscanf(at, "/%63s md[", device) != 1)
        return false;
    dot = strrchr(device, '.');
    if (dot && dot > device && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1))
        *dot = '\0';
    return true;
}
