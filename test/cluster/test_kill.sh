#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A killed process on a host that answers; the launcher is told to leave the others alone.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 4 --faultloc --mpiexec-arg -disable-auto-cleanup \
    --fault "kill 2" -- alltoall --seconds 3600
