/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_FABRIC_H_INCLUDED
#define FAULTLOC_FABRIC_H_INCLUDED

#include <stdbool.h>

/*
 * What an error of the transport can mean.  A code is a symptom, never a verdict: none says whether
 * the process, its node or the way there has failed.  doc/failed-ranks.md has the same table.
 */

enum faultloc_fabric_says {
    FAULTLOC_FABRIC_LOST,    /* there is no connection to the peer any more, or none came about */
    FAULTLOC_FABRIC_OWN,     /* the rank itself has cancelled the operation */
    FAULTLOC_FABRIC_NOTHING  /* late, stopped, dead and unreachable peers look alike */
};

#define FAULTLOC_FABRIC_ANY (-32768) /* any code of the provider's */

struct faultloc_fabric_code {
    const char *netmod;   /* "ucx", "ofi" */
    const char *provider; /* a part of its name; "": of all */
    int status;           /* of UCX, or `err` of OFI's completion queue; below 0: returned at once */
    int prov_errno;
    enum faultloc_fabric_says says;
    int error;            /* errno that stands for it; 0: none does */
};

/* Purpose: the row of a code; NULL: it is not known. */
const struct faultloc_fabric_code *faultloc_fabric_find(const char *netmod, const char *provider,
                                                        int status, int prov_errno);

/* Purpose: the i-th row; NULL: there are no more. */
const struct faultloc_fabric_code *faultloc_fabric_row(int i);

/* Purpose: the errno that a symptom of that code has, EIO where it is not known. */
int faultloc_fabric_errno(const char *netmod, const char *provider, int status, int prov_errno);

/* Purpose: the device of a lane, from a line of ucp_ep_print_info(): "eth0" of
 * "#  lane[0]:  2:tcp/eth0.0 md[2] -> ..."; false: it is another line. */
#define FAULTLOC_FABRIC_DEVICE 64
bool faultloc_fabric_lane(const char *line, char device[FAULTLOC_FABRIC_DEVICE]);

#endif /* FAULTLOC_FABRIC_H_INCLUDED */
