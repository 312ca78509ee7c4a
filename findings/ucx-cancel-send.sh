#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1), tcp: ucp_request_cancel() of a large send has no effect.
#
# ucp.h says of it: "After calling this routine, the request will be in completed or canceled (but not both) state
# regardless of the status of the target endpoint".  A guess by that: a send that waits for its receiver (10 MB; the peer
# has no receive for it, or is stopped) ends with UCS_ERR_CANCELED (-16), and its buffer is free.
# Seen: the request is in progress as before, 5 s later as well, and nothing is said.  Only the end of the whole endpoint
# ends it: ucp_ep_close_nbx() with UCP_EP_CLOSE_FLAG_FORCE does, with UCS_ERR_CANCELED, at once, where the endpoint has
# UCP_ERR_HANDLING_MODE_PEER.  So: to give up one send to a peer that hangs is to give up the peer.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile cancel <<'END'
#include "pair.h"

int main(void)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    static char large[10 << 20];
    ucp_ep_h ep = pair();
    ucs_status_ptr_t request;

    if (peer == 0)
        go_on(60);
    printf("small send: %s\n", result(ucp_tag_send_nbx(ep, word, sizeof(word), 1, &none), 5));
    request = ucp_tag_send_nbx(ep, large, sizeof(large), 2, &none);
    printf("large send: %s\n", result(request, 1));
    ucp_request_cancel(worker, request);
    printf("after ucp_request_cancel(): %s\n", result(request, 5));
    result(ucp_ep_close_nbx(ep, &force), 5);
    printf("after ucp_ep_close_nbx(): %s\n", result(request, 5));
    kill(peer, SIGKILL);
    return 0;
}
END
./cancel | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
small send: Success
large send: Operation in progress
after ucp_request_cancel(): Operation in progress
after ucp_ep_close_nbx(): Request canceled
END
echo "as seen with UCX $version"
