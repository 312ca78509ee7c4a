#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank that is ended by a signal is named, before the others are ended because of it.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/crash_campaign.sh" --kinds kill,segv --ppn 1
