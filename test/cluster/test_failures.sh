#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# One of two ranks of a host is killed; the ranks on all hosts learn of it by asking, by an event, from
# the report, though none of them waits for it: the agent of its host sees that it is gone. (Its proxy
# is stopped meanwhile: it would kill the other one, too.)
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster

"$cluster" scenario --name "t$$" --hosts 3 --ppn 2 --faultloc --any-victims \
    --mpiexec-arg -disable-auto-cleanup --fault "kill-quietly 3" -- failures --victim 3 --how wait
