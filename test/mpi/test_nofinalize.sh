#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Ranks that return from main without MPI_Finalize. Hydra kills the others once the first is gone,
# so the exit code is a race, without FaultLoc, too: a few tries.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

tries=10
same -n 1 nofinalize
same -n 2 nofinalize
same -n 2 nofinalize --code 5
