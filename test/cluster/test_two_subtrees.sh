#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two switches; a host behind each of them loses its power at the same moment, and the ranks behind
# each switch wait for the one of theirs. Each fault is analysed by the FLN of its own subtree,
# while the other one is, too.
# The tree: h1 is the root and the FLN behind leaf1 (h2, h3, h4 are below it); h5 is the FLN behind
# leaf2 (h6, h7, h8 are below it). Further arguments are those of 'cluster campaign', as --runs 10.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" campaign --name "t$$" --hosts 8 --switches 2 --faultloc "$@" \
    --fault "power-off h3" --fault "power-off h7" \
    --expect-json '[.verdicts[] | select(.component.name == "h3")][0].fln == "h1"' \
    --expect-json '[.verdicts[] | select(.component.name == "h7")][0].fln == "h5"' \
    --expect-json '.verdicts | (map(.first_symptom) | max) < (map(.located) | min)' \
    -- alltoall --seconds 3600 --parts 2
