#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A program that has sessions only and never calls MPI_Init.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

same -n 1 sessions
same -n 3 sessions
