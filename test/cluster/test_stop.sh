#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A stopped process: alone on its host, and one of four on it.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 4 --faultloc --fault "stop 2" -- alltoall --seconds 3600
"$cluster" scenario --name "t$$" --hosts 2 --ppn 4 --faultloc --fault "stop 6" -- \
    alltoall --seconds 3600
