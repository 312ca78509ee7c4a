#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Agents and deputies that are killed or stopped are no fault of the job: nobody is accused, their
# hosts go on being watched, and the rank that is stopped next is named, on their hosts and elsewhere.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

try() {
    "$cluster" scenario --name "t$$" --hosts 3 --ppn 2 --faultloc --jitter-ms 0 "$@"
}

# succeeded, and that one is killed, too
try --before "agent-kill h2" --expect-trace ' h2: succeeds as agent$' --fault "stop 3" \
    -- alltoall --seconds 3600
try --before "agent-kill h2 deputy" --before "agent-kill h1" --fault "stop 3" \
    -- alltoall --seconds 3600
# while it is stopped its deputy answers, then ends it
try --before "agent-stop h2" --fault "stop 3" -- alltoall --seconds 3600
