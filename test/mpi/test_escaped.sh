#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Names of a job, a host and a program (and its threads) with control characters, those of C1 among them: none reaches a
# terminal, neither as text nor in JSON, where a program reads what they were.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

program=${FAULTLOC_PROGRAM:-$mpi/bin/faultloc}
[ -x "$program" ] || program=${top_builddir:-.}/tools/faultloc
"$here/build.sh" --mpi "$mpi" --out "$bin" alltoall
nasty=$work/$'a\e[31m\x9b\n\xc3\xa9\xff'
cp "$bin/alltoall" "$nasty"
export JOB_ID=$'j\xc2\x9b31m\e[1m\x7f'
export MPIR_CVAR_FAULTLOC_NODE_NAME=$'h\xc3\xa9' XDG_RUNTIME_DIR=$work/run
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID
mkdir -m 0700 "$work/run"
report='' MPIR_CVAR_FAULTLOC_GRACE_MS=$'\e[1m\xc2\x9b' MPIR_CVAR_FAULTLOC_STALL_MS=$'\x9b2m' \
    begin -n 2 "$nasty" --seconds 100
has_status() { # and $name is that of the job, as it is in that of the socket
    name=$(find "$work/run" -name '*@*' -printf '%f' -quit | cut -d@ -f1)
    "$program" status "${name:-none}" >"$work/answer" 2>&1
}
await "a status" has_status

# safe WHAT FILE: nothing but printable characters and ends of lines
safe() {
    [ -s "$2" ] || bad "$1: nothing"
    ! LC_ALL=C grep -qP '[\x01-\x09\x0b-\x1f\x7f-\x9f]' "$2" || bad "$1: $(od -c "$2")"
}
for option in '' --here --stacks '--json' '--here --json' '--stacks --json'; do
    # shellcheck disable=SC2086 # options
    "$program" status "$name" $option >"$work/status" 2>"$work/said" ||
        bad "status $option: $(cat "$work/status" "$work/said")"
    safe "status $option" "$work/status"
    [[ $option != *json ]] || python3 - "$work/status" <<'END' || bad "$option: $(cat "$work/status")"
import json, os, sys
assert json.load(open(sys.argv[1], encoding="utf-8"))["job"] == os.environ["JOB_ID"]
END
    echo "ok: status $option"
done
grep -q $'"h\xc3\xa9"' <("$program" status "$name" --json) || bad "a name that is text is escaped"
"$program" ask rank 1 --job "$name" >"$work/status" 2>"$work/said" ||
    bad "ask: $(cat "$work/status" "$work/said")"
safe "ask" "$work/status"
grep -qF '(a?[31m??' "$work/status" || bad "no name of a thread: $(cat "$work/status")"
echo "ok: ask"
! "$mpi/libexec/faultloc-handler" $'\e[1m' 2>"$work/said" || bad "the handler: no wrong usage"
safe "the handler" "$work/said"
[ "$(grep -c 'is not a whole number that fits' "$work/err")" = 2 ] || bad "$(cat "$work/err")"
safe "what mpiexec prints" "$work/err"
echo "ok: mpiexec"
