#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPI_THREAD_MULTIPLE with several threads in MPI at the same time. Those that poll are asked while
# they do.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

same -n 2 threads --threads 3 --rounds 100
export MPIR_CVAR_FAULTLOC_STALL_MS=500
same -n 2 threads --threads 8 --rounds 4 --pause-ms 800
