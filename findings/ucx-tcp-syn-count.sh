#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1): with UCX_TCP_SYN_CNT set no worker can be created.
#
# UCX_TCP_SYN_CNT is the number of requests for a connection that TCP sends before it gives up, "auto" by default
# (the kernel's own); a smaller one has connects to lost hosts fail sooner.  A guess: a number, such as 3, does
# that and nothing else.
# Seen: ucp_worker_create() fails with UCS_ERR_INVALID_PARAM, and says "Invalid memory pool parameter(s)", with
# any number: what is read goes to the place of UCX_TCP_TX_MAX_BUFS, the number of buffers, too.  If that is
# set as well, to -1 (no limit, as by default), the worker is created.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile worker <<'END'
#include <stdio.h>
#include <ucp/api/ucp.h>

int main(void)
{
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t w = {0};
    ucp_context_h context;
    ucp_worker_h worker;
    ucs_status_t status = ucp_init(&p, NULL, &context);

    if (!status)
        status = ucp_worker_create(context, &w, &worker);
    puts(ucs_status_string(status));
    return 0;
}
END
{
    ./worker
    UCX_TCP_SYN_CNT=auto ./worker
    UCX_TCP_SYN_CNT=3 ./worker
    UCX_TCP_SYN_CNT=3 UCX_TCP_TX_MAX_BUFS=-1 ./worker
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
Success
Success
Invalid parameter
Success
END
echo "as seen with UCX $version"
