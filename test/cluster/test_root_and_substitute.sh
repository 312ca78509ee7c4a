#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two switches; the root loses its power, and so does the leaf that all have drawn to act for
# it.
# The tree: h1 is the root and the FLN behind leaf1 (h2, h3, h4 are below it); h5 is the FLN behind
# leaf2 (h6, h7, h8 are below it). Further arguments are those of 'cluster campaign', as --runs 10.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" campaign --name "t$$" --hosts 8 --switches 2 --faultloc "$@" \
    --fault "power-off h1" --fault "power-off-substitute 1" \
    --expect-json 'all(.verdicts[]; .fln != "h1")' \
    -- alltoall --seconds 3600
