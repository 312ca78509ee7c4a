#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Killed on its host; the ranks on all other hosts learn of it by asking, by an event, from the report.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 4 --faultloc --any-victims \
    --mpiexec-arg -disable-auto-cleanup --fault "kill 3" -- failures --victim 3 --how wait
