#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1): who asks to be told of lost peers loses shared memory.
#
# ucp_ep_create() with UCP_ERR_HANDLING_MODE_PEER promises that each send ends, also where the peer is lost.
# A guess: the same transports carry the messages, and errors are told besides.
# Seen: of shared memory (posix, sysv) and tcp an endpoint on the same host uses shared memory with
# UCP_ERR_HANDLING_MODE_NONE, and tcp alone with UCP_ERR_HANDLING_MODE_PEER.  Nothing is said of it; only
# ucp_ep_print_info() shows it.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile lanes <<'END'
#include <stdio.h>
#include <ucp/api/ucp.h>

static void show(const char *name, ucp_err_handling_mode_t mode)
{
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t w = {0};
    ucp_ep_params_t e = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                       UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                         .err_mode = mode};
    ucp_address_t *address;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    size_t size;

    if (ucp_init(&p, NULL, &context) || ucp_worker_create(context, &w, &worker) ||
        ucp_worker_get_address(worker, &address, &size))
        return;
    e.address = address;
    printf("%s: %s\n", name, ucs_status_string(ucp_ep_create(worker, &e, &ep)));
    ucp_ep_print_info(ep, stdout);
}

int main(void)
{
    show("NONE", UCP_ERR_HANDLING_MODE_NONE);
    show("PEER", UCP_ERR_HANDLING_MODE_PEER);
    return 0;
}
END
# The mode, and the transport of active messages.
UCX_TLS=tcp,sysv UCX_NET_DEVICES=lo ./lanes |
    sed -n -e '/^[A-Z]*: /p' -e 's,.*lane.* [0-9]*:\([a-z]*\)/.* am .*,\1,p' | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
NONE: Success
sysv
PEER: Success
tcp
END
echo "as seen with UCX $version"
