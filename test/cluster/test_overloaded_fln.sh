#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two switches; a host loses its power while the FLN above it is overloaded: its CPUs are busy and
# its agent does not run for 2 s. It is passed over, and nobody holds it for lost. Its rank (4) is
# one that nobody waits for: so only the agents notice.
# The tree: h1 is the root and the FLN behind leaf1 (h2, h3, h4 are below it); h5 is the FLN behind
# leaf2 (h6, h7, h8 are below it). Further arguments are those of 'cluster campaign', as --runs 10.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" campaign --name "t$$" --hosts 8 --switches 2 --faultloc "$@" \
    --fault "power-off h7" --fault "overload h5 2000 @200" --settle 6 --bystanders 4 \
    --expect-json '.verdicts[0].fln != "h5"' \
    --expect-trace ': (symptom to h5 not acknowledged|h5 is busy)$' \
    -- aside --rank 4 --seconds 3600
