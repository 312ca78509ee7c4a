#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two switches; a host reports 500 symptoms about a healthy one a second, for 5 s: that one is
# asked, it answers, the job goes on and nobody is accused.
# The tree: h1 is the root and the FLN behind leaf1 (h2, h3, h4 are below it); h5 is the FLN behind
# leaf2 (h6, h7, h8 are below it). Further arguments are those of 'cluster campaign', as --runs 10.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" campaign --name "t$$" --hosts 8 --switches 2 --faultloc "$@" \
    --fault "symptoms h2 node-down h7 2500 500" \
    --expect-trace ' h5: h7 is well' --forbid-trace ': verdict ' \
    -- alltoall --seconds 20
