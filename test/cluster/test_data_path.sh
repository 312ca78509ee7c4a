#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A host loses its data network alone: its interface goes down, then its cable is pulled; then all hosts of
# a switch do.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

for fault in data-down cable; do
    "$cluster" scenario --name "t$$" --hosts 4 --faultloc --fault "$fault h3" -- \
        alltoall --seconds 3600
done
"$cluster" scenario --name "t$$" --hosts 4 --switches 2 --faultloc --fault "switch-off 2" -- \
    alltoall --seconds 3600
