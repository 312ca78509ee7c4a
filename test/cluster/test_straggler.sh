#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A node that is said to be slow is asked for its state, which decides. With these thresholds each
# node's memory is exhausted. And nobody says it of a rank that a quota of its cgroup makes slow: the
# others wait for it, and its kernel knows why; once it has its CPU again that is over.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${FAULTLOC_PROGRAM:-${FAULTLOC_MPI:?}/bin/faultloc}" rules print |
    sed 's/"low_memory": 2,/"low_memory": 101,/; s/"memory_stall": 40,/"memory_stall": -1,/' \
        >"$work/rules.json"
"$cluster" scenario --name "t$$" --hosts 4 --faultloc --env "MPIR_CVAR_FAULTLOC_RULES=$work/rules.json" \
    --any-victims --fault "tell h3 memory-pressure straggler" -- alltoall --seconds 3600
"$(dirname "$cluster")/hang_campaign.sh" --kinds slow --programs alltoall --hosts 4 \
    --sample 200 --after 60 --deadline 120
