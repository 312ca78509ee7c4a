#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two switches; the root of the tree loses its power: a leaf that all have drawn acts for it.
# The tree: h1 is the root and the FLN behind leaf1 (h2, h3, h4 are below it); h5 is the FLN behind
# leaf2 (h6, h7, h8 are below it). Further arguments are those of 'cluster campaign', as --runs 10.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" campaign --name "t$$" --hosts 8 --switches 2 --faultloc "$@" \
    --fault "power-off h1" \
    --expect-json '.verdicts[0].fln | IN("h2", "h3", "h4", "h6", "h7", "h8")' \
    --expect-trace ' goes to substitute h[234678]$' \
    -- alltoall --seconds 3600
