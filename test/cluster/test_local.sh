#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Local mode: four nodes in name only on one machine, one process is stopped. Needs no root.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --local --hosts 4 --faultloc --fault "stop 2" -- alltoall --seconds 3600
