#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two of eight hosts at the same moment: h2 (node 1 of 0 to 7) is the FLN of h4 (node 3).
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 8 --faultloc --env MPIR_CVAR_FAULTLOC_FANOUT=2 \
    --fault "power-off h2" --fault "power-off h4" -- alltoall --seconds 3600
