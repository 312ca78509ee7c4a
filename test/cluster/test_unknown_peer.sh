#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A lost host while the others wait for a message from anybody: nobody knows whom to ask about.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 4 --faultloc --fault "power-off h4" -- \
    anysource --seconds 3600
