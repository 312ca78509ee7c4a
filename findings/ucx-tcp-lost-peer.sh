#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1), tcp: a peer that was killed is an "endpoint timeout", at once.
#
# ucs_status_t has UCS_ERR_CONNECTION_RESET (-25) and UCS_ERR_ENDPOINT_TIMEOUT (-80).  A guess: when the
# kernel of the peer resets the connection, because the process was killed, the error callback of an endpoint
# (UCP_ERR_HANDLING_MODE_PEER) gets the first; and the second after a time without an answer.
# Seen: the callback gets UCS_ERR_ENDPOINT_TIMEOUT within a fraction of a second, while the host is well and
# nothing has timed out.  It is the same status as after minutes of silence, so that a killed process, a lost
# host and a cut cable are one.  A small message that is sent after the end of the peer is UCS_OK first, for it
# was handed to the kernel.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile lost <<'END'
#include "pair.h"

int main(void)
{
    unsigned major, minor, release;
    double killed;
    ucp_ep_h ep = pair();

    if (peer == 0)
        go_on(600);
    go_on(1);
    printf("sent: %s\n", result(ucp_tag_send_nbx(ep, word, sizeof(word), 1, &none), 60));
    go_on(0.5);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    killed = now();
    printf("sent after SIGKILL: %s\n", result(ucp_tag_send_nbx(ep, word, sizeof(word), 1, &none), 60));
    while (!lost && now() < killed + 60)
        ucp_worker_progress(worker);
    ucp_get_version(&major, &minor, &release);
    printf("UCX %u.%u.%u: %d, %s, %s\n", major, minor, release, (int) lost, ucs_status_string(lost),
           now() < killed + 2 ? "at once" : "late");
    return 0;
}
END
./lost | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
sent: Success
sent after SIGKILL: Success
UCX 1.13.1: -80, Endpoint timeout, at once
END
echo "as seen with UCX $version"
