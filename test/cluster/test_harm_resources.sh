#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank that has no descriptor left, or closes those that are not its own; a program with much static
# thread-local storage; a full disk: the job goes on, and FaultLoc writes to no file but its own.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/harm_campaign.sh" \
    --kinds descriptors,close,tls500,disk-full --ppn 1 --settle 1 --seed 1
