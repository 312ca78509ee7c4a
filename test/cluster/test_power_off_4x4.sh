#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Four hosts with four ranks each: one loses its power, all its ranks are named.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 4 --ppn 4 --faultloc --fault "power-off h2" -- \
    alltoall --seconds 3600
