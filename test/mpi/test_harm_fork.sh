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
job=
trap '[ -z "$job" ] || kill $job 2>/dev/null || :; rm -rf "$work"' EXIT

same -n 2 fork_child --kind local

# begin ARGS...: the job, which goes on until the file is there.
begin() {
    rm -f "$work/go"
    MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_REPORT=$work/report.json timeout 300 "$mpi/bin/mpiexec" \
        -n 2 "$bin/fork_child" --file "$work/go" "$@" </dev/null >"$work/out" 2>"$work/err" &
    job=$!
}

# status TEXT...: is said of the ranks, sooner or later.
status() {
    local text=$1 try
    for try in $(seq 150); do
        "$faultloc" status --ranks >"$work/answer" 2>&1 || :
        ! grep -qE "$text" "$work/answer" || return 0
        sleep 0.2
    done
    bad "no '$text' in: $(cat "$work/answer" "$work/out" "$work/err")"
}

# finish CODES WORD: the job goes on, and ends so.
finish() {
    local code=0
    touch "$work/go"
    wait $job || code=$?
    job=
    [[ $code =~ ^$1$ ]] && [ "$(cat "$work/out")" = "$2" ] ||
        bad "code $code: $(cat "$work/out" "$work/err")"
    ! grep -E 'fault elsewhere|by a signal' "$work/err" || bad "the job was ended"
}

begin --kind inside
for _ in $(seq 300); do
    ! grep -q 'child' "$work/out" || break
    sleep 0.1
done
status '^ +2  outside MPI .* 0-1$'
finish 0 "the child has ended"
[ ! -e "$work/report.json" ] || bad "there is a report"
echo "ok: a child that ends inside MPI"

# Without MPI_Finalize stock hydra ends with 0 or 1, see test_nofinalize.sh.
# (One that ends with another code than 0 has crashed.)
for args in "" "--twice 1"; do
    # shellcheck disable=SC2086
    begin --kind daemon $args
    status '^ +1  waiting in MPI_Recv .* 1, for 0$'
    status '^ +1  outside MPI .* 0$'
    grep -qx 'no verdict' "$work/answer" || bad "a verdict: $(cat "$work/answer")"
    finish '[013]' "the result"
    echo "ok: ranks that go on in their child${args:+, $args}"
done
