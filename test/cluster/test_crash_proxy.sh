#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# hydra's own processes are killed: all is cleaned up, the ranks are named.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/crash_campaign.sh" --kinds proxy,mpiexec --ppn 4
