#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# No packet passes between the root's host and h3, on either network, while h2 and h4 reach both:
# other nodes look at h3 for the root, and so no power is said to be lost. The root cannot tell h3 of it:
# one of the others does.
# Exit code: 0 passed, 1 failed, 77 no root, no namespaces or no nft here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

# shellcheck disable=SC2016 # the expressions are jq's
"$cluster" scenario --name "t$$" --hosts 4 --faultloc --any-victims --fault "cut h1 h3" \
    --expect-json '.verdicts[0].rule == "unknown/silent-from-here-only"' \
    --expect-json '[.verdicts[0].evidence[] | select(.by != "h1" and .target == "h3")] | length > 0' \
    --expect-trace ' h1: verdict-down to h3 goes by way of h[24]$' \
    --expect-trace ' h[24]: passes a message on to h3$' \
    --expect-trace ' h3: learns unknown of h3$' \
    -- alltoall --seconds 3600
