#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Networks that are silent for nearly as long as a job survives with the action abort: it goes on.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/harm_campaign.sh" \
    --kinds net-all,net-one,net-host --programs alltoall,halo --ppn 1 \
    --silence-min 4.2 --survive 4.8 --settle 2 --seed 1
