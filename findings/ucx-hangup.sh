#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1): a program that is linked with it is not ended by SIGHUP.
#
# The kernel sends SIGHUP when a terminal or the connection of ssh goes, and it ends what has no handler of its own.  A
# guess: a rank whose program has none ends by it, whether it uses UCX or not.
# Seen: it lives on.  UCX has a handler from the moment at which the library is loaded, which puts UCX's log at its highest
# level ("debug mode"), so that such a rank begins to fill its output, too.  With UCX_HANDLE_ERRORS=none, which is for the
# handlers of crashes, it is the same.  UCX_DEBUG_SIGNO=0, or another signal, gives the default back.  So: ranks may be
# left over after a lost login; end them by SIGTERM.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile hangup <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <ucp/api/ucp.h>

int main(int argc, char **argv)
{
    struct sigaction action;

    if (argc > 2) /* for the linker */
        ucp_get_version_string();
    sigaction(SIGHUP, NULL, &action);
    printf("%s, ", action.sa_handler == SIG_DFL ? "no handler" : "a handler");
    fflush(stdout);
    raise(atoi(argv[1]));
    puts("still here");
    return 0;
}
END
run() {
    local code=0
    env --default-signal=HUP "$1" ./hangup "$2" >out 2>err || code=$?
    echo "signal $2, $1: $(cat out) exit code $code"
}
{
    run UCX_HANDLE_ERRORS=bt 1
    run UCX_HANDLE_ERRORS=none 1
    run UCX_DEBUG_SIGNO=0 1
    run UCX_DEBUG_SIGNO=SIGUSR2 1
    run UCX_HANDLE_ERRORS=bt 15
} 2>/dev/null | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
signal 1, UCX_HANDLE_ERRORS=bt: a handler, still here exit code 0
signal 1, UCX_HANDLE_ERRORS=none: a handler, still here exit code 0
signal 1, UCX_DEBUG_SIGNO=0: no handler,  exit code 129
signal 1, UCX_DEBUG_SIGNO=SIGUSR2: no handler,  exit code 129
signal 15, UCX_HANDLE_ERRORS=bt: a handler,  exit code 143
END
echo "as seen with UCX $version"
