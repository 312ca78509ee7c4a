#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank, all ranks of a job, or all its hosts, stand still for some seconds, and go on one after the other
# or together: nobody is accused, and the job goes on.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/harm_campaign.sh" \
    --kinds stop-one,stop-apart,stop-late,freeze-all --programs alltoall,halo --ppn 2 \
    --stop-min 3 --stop-max 5 --settle 2 --seed 1
