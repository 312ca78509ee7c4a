#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Ranks that call fork(): what a child calls of MPI is not taken for the rank's; and a rank that goes
# on in its child, as a program that becomes a daemon does, has not ended.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
faultloc=${FAULTLOC_PROGRAM:?names the program faultloc}
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run

same -n 2 fork_child --kind local

# fork_child ARGS...: the job, which goes on until the file is there.
fork_child() {
    rm -f "$work/go"
    begin -n 2 "$bin/fork_child" --file "$work/go" "$@"
}

# status TEXT: is said of the ranks, sooner or later.
status() { await "a status with '$1'" has_status "$1"; }
has_status() {
    "$faultloc" status --ranks >"$work/answer" 2>&1 || :
    grep -qE "$1" "$work/answer"
}

# finish CODES WORD: the job goes on, and ends so.
finish() {
    touch "$work/go"
    end_job
    [[ $code =~ ^$1$ ]] && [ "$(cat "$work/out")" = "$2" ] ||
        bad "code $code: $(cat "$work/out" "$work/err")"
    ! grep -E 'fault elsewhere|by a signal' "$work/err" || bad "the job was ended"
}

fork_child --kind inside
await "a child" grep -q child "$work/out"
status '^ +2  outside MPI .* 0-1$'
finish 0 "the child has ended"
[ ! -e "$work/report.json" ] || bad "there is a report"
echo "ok: a child that ends inside MPI"

# Without MPI_Finalize stock hydra ends with 0 or 1, see test_nofinalize.sh.
# (One that ends with another code than 0 has crashed.)
for args in "" "--twice 1"; do
    # shellcheck disable=SC2086
    fork_child --kind daemon $args
    status '^ +1  waiting in MPI_Recv .* 1, for 0$'
    status '^ +1  outside MPI .* 0$'
    grep -qx 'no verdict' "$work/answer" || bad "a verdict: $(cat "$work/answer")"
    finish '[013]' "the result"
    echo "ok: ranks that go on in their child${args:+, $args}"
done
