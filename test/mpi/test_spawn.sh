#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPI_Comm_spawn, or the way in which this MPI refuses it.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

same -n 2 spawn
