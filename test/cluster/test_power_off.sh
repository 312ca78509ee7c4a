#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Four hosts, one rank each: a middle host loses its power, then rank 0's host does.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

for host in h3 h1; do
    "$cluster" scenario --name "t$$" --hosts 4 --faultloc --fault "power-off $host" -- \
        alltoall --seconds 3600
done
