#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPI_Abort is at once, with its rank and code; a rank that dies in MPI_Init makes nobody hang.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/crash_campaign.sh" --kinds mpi-abort,init --ppn 1
