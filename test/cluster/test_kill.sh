#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A killed process on a host that answers; the launcher is told to leave the others alone. They wait
# for a message from anybody: a rank that sends to a dead one gets an error from UCX, at which MPI
# ends the job before anybody can be asked.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 4 --faultloc --mpiexec-arg -disable-auto-cleanup \
    --fault "kill 3" -- anysource --seconds 3600
