#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1), tcp: a peer that closes in good order is a lost peer, "endpoint timeout".
#
# ucp_ep_close_nbx() without UCP_EP_CLOSE_FLAG_FORCE flushes what is under way.  A guess: whose peer has closed its endpoint
# so, with success, and destroyed its worker, is told nothing, or UCS_ERR_CONNECTION_RESET; the error callback with
# UCS_ERR_ENDPOINT_TIMEOUT is for a peer that is lost.
# Seen: the callback gets UCS_ERR_ENDPOINT_TIMEOUT (-80), at once, as it does for a peer that was killed.  So: the
# callback is no evidence of a crash, unless each says goodbye before it closes; where processes leave at different
# times, those that stay have an "error" for each.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile close <<'END'
#include "pair.h"

int main(int argc, char **argv)
{
    ucp_ep_h ep = pair();

    result(ucp_tag_send_nbx(ep, word, sizeof(word), 1, &none), 5);
    if (peer == 0) {
        go_on(1);
        if (argc > 1)
            raise(SIGKILL);
        printf("the peer has closed: %s\n", result(ucp_ep_close_nbx(ep, &none), 5));
        fflush(stdout);
        ucp_worker_destroy(worker);
        sleep(60);
    }
    for (double end = now() + 10; !lost && now() < end; ucp_worker_progress(worker))
        ;
    printf("error callback: %s\n", lost ? ucs_status_string(lost) : "none");
    kill(peer, SIGKILL);
    return 0;
}
END
{ ./close; ./close killed; } | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
the peer has closed: Success
error callback: Endpoint timeout
error callback: Endpoint timeout
END
echo "as seen with UCX $version"
