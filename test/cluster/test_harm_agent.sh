#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The processes that watch a host are stopped, one of them is killed, or both: the job goes on.
# Exit code: 0 passed, 1 failed, 77 no root, no namespaces, or no such processes here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/harm_campaign.sh" \
    --kinds agent-kill,agent-stop,agents-kill --programs alltoall,halo --ppn 2 --settle 2 --seed 1
