#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two ranks that end 50 ms apart are two verdicts, and the one that was heard of first is the first.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/crash_campaign.sh" --kinds two --ppn 1
