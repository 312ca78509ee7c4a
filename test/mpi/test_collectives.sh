#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What is noted of collective operations, of each of them; nothing with FaultLoc off.
# Exit code: 0 passed, 1 failed, 77 libmpi was stripped.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

nm "$mpi/lib/libmpi.so" >"$work/symbols" 2>/dev/null || :
if ! grep -q MPIDI_faultloc_last_collective "$work/symbols"; then
    echo "skipped: $mpi/lib/libmpi.so has no table of symbols"
    exit 77
fi
same -n 4 collectives
same -n 2 collectives
