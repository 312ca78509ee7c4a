#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two switches; a host reports 500 symptoms about another one a second, for 5 s, and that one loses
# its power meanwhile: one group, one verdict, and the symptoms are counted.
# The tree: h1 is the root and the FLN behind leaf1 (h2, h3, h4 are below it); h5 is the FLN behind
# leaf2 (h6, h7, h8 are below it). Further arguments are those of 'cluster campaign', as --runs 10.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" campaign --name "t$$" --hosts 8 --switches 2 --faultloc \
    --mpiexec-arg -disable-auto-cleanup "$@" \
    --fault "symptoms h2 node-down h7 2500 500" --fault "power-off h7 @1000" --settle 4 \
    --expect-json '.verdicts[0].fln == "h5"' \
    --expect-json '.verdicts[0].symptoms >= 400' \
    --forbid-trace ' h[1234678]:   group h7: node-down' \
    -- alltoall --seconds 3600
