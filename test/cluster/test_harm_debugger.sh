#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A debugger holds the only rank of a host, one of two, or both: a job with the action abort goes on
# when it lets go.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/harm_campaign.sh" \
    --kinds debug-rank,debug-node --programs alltoall,halo --ppn 1,2 --settle 2 --seed 1
