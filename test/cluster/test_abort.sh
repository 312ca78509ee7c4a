#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# With the action abort mpiexec ends by itself after the report, and its exit code says so.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 4 --faultloc --env MPIR_CVAR_FAULTLOC_ACTION=abort \
    --fault "power-off h3" -- alltoall --seconds 3600
