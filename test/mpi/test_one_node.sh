#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Several ranks, all on one node: nobody else can be asked.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

same -n 2 alltoall --iterations 1000
same -n 2 turns --turn 3 --seconds 6
same -n 2 anysource --seconds 3
