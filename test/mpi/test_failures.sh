#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank dies on this machine, and the others learn of it: by asking, by an event, from the report.
# In a healthy job, and with FaultLoc off, nobody learns of anything.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

# wants COUNT LINE: so many ranks said that.
wants() {
    [ "$(grep -c "^rank [0-9]*: $2\$" "$work/out")" = "$1" ] ||
        bad "not $1 ranks said '$2': $(cat "$work/out" "$work/err")"
}

valid() {
    [ -z "${FAULTLOC_PROGRAM:-}" ] || [ ! -x "$FAULTLOC_PROGRAM" ] ||
        "$FAULTLOC_PROGRAM" check "$work/own.json" >"$work/check" ||
        bad "the report is not valid: $(cat "$work/check")"
}

"$here/build.sh" --mpi "$mpi" --out "$bin" failures
for value in 0 1; do
    by_rank $value -n 4 "$bin/failures" --victim -1 --json "$work/own.json"
    wants 4 '0 failed, 0 events'
    [ $code = 0 ] || bad "a healthy job ends with $code: $(cat "$work/err")"
    valid
    echo "ok: healthy, FaultLoc $value"
done

# the first rank, that started the agent; another; the last
for victim in 0 1 3; do
    rm -f "$work/own.json"
    by_rank 1 -disable-auto-cleanup -n 4 "$bin/failures" --victim $victim --json "$work/own.json"
    wants 3 '1 failed, 1 events'
    valid
    echo "ok: rank $victim died; the others know"
done
