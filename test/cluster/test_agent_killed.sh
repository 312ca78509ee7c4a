#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The agent of a host (its lowest rank) dies, and nobody misses that rank. Another rank takes over
# as agent, and names the one that is stopped next.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 2 --ppn 4 --faultloc --mpiexec-arg -disable-auto-cleanup \
    --before "kill-quietly 4" --fault "stop 6" -- aside --rank 4 --seconds 3600
