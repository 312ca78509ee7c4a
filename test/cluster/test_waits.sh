#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Jobs that hang, and healthy ones that seem to, on four hosts and on one alone: the right class and
# the right ranks, and nothing else. waits_campaign.sh has all kinds.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
campaign=$(dirname "${BASH_SOURCE[0]}")/waits_campaign.sh

"$campaign" --ppn 1 --seed 1 \
    --kinds recv-recv,waitall,or-knot,missing-near,missing-fence,bcast-roots,or-no-knot,first-of-two,extra-allreduce
"$campaign" --one-host --seed 1 \
    --kinds big-send-send,test-loop,missing-send,skip-allreduce,freed-window,context-again,lock-left
"$campaign" --one-host --seed 1 \
    --kinds rest-loop,poll-both,sleep-poll,work-poll,poll-turns,worker-comes,store-comes,put-comes
