#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# More ranks than cores.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

same -n $((4 * $(nproc))) alltoall --iterations 20
MPIR_CVAR_NOLOCAL=1 same -n $((2 * $(nproc))) alltoall --iterations 20
