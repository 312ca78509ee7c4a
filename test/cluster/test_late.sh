#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A job on five hosts that does not start: a rank waits before MPI_Init, another is stopped there, a
# proxy is stopped, a host is out of mpiexec's reach. mpiexec says who is missing and why, and when
# all have come. The same for a rank that is late for MPI_Finalize. The job ends with exit code 0.
# Then a job of which one host cannot connect to another: mpiexec says so, and it starts once it can.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/cluster
mpi=${FAULTLOC_MPI:?names the MPI to be tested, as FAULTLOC_MPI=/opt/mpich-faultloc}
name=s$$
pids=/run/faultloc-cluster/$name/job/pids

"$cluster" check >/dev/null || exit $?
work=$(mktemp -d)
job=

finish() {
    local code=$?
    "$cluster" down --quiet --name "$name" || :
    [ -z "$job" ] || wait "$job" || :
    rm -rf "$work"
    exit $code
}
trap finish EXIT

bad() { echo "FAILED: $*"; sed 's/^/    /' "$work/err"; exit 1; }

# await WHAT COMMAND...: until it succeeds.
await() {
    local what=$1 end=$((SECONDS + 120))
    shift
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $end ] || bad "no $what"
        kill -0 "$job" 2>/dev/null || bad "the job has ended, no $what"
        sleep 0.1
    done
}

says() { grep -q "^\[faultloc\] *$1\$" "$work/err"; }
expect() { await "line '$1'" says "$1"; }
pid_of() { cut -d' ' -f2 "$pids/$1"; }
go() { : >"$pids/go.$1"; }

"$here/../mpi/build.sh" --mpi "$mpi" --out "$work" late
"$cluster" up --quiet --name "$name" --hosts 5
"$cluster" run --quiet --name "$name" --faultloc --hosts 5 --ppn 2 --env MPIR_CVAR_FAULTLOC_REPORT= \
    -- "$work/late" --init 3,5,6,9 --finalize 2 >"$work/out" 2>"$work/err" </dev/null &
job=$!

for rank in 3 5 6 9; do await "rank $rank" test -s "$pids/init.$rank"; done
proxy=$(awk '$1 == "PPid:" { print $2 }' "/proc/$(pid_of init.6)/status")
kill -STOP "$proxy"
kill -STOP "$(pid_of init.5)"
"$cluster" exec --name "$name" h5 ip link set eth1 down

expect 'MPI_Init: 4 of 10 ranks have arrived, last one [0-9]* s ago; 6 ranks on h\[2-5\] have not'
expect "2 ranks (6-7) on h4: hydra's proxy does not answer, the kernel of the host does"
expect "2 ranks (8-9) on h5: neither hydra's proxy nor the kernel of the host answers"
expect "rank 3 on h2 (pid $(pid_of init.3)): MPI_Init not called; late sleeping in hrtimer_nanosleep"
expect "rank 5 on h3 (pid $(pid_of init.5)): MPI_Init not called; late stopped"
echo "ok: all who are missing, and why"

"$cluster" exec --name "$name" h5 ip link set eth1 up
kill -CONT "$proxy" "$(pid_of init.5)"
for rank in 5 6 9; do go init.$rank; done
expect 'MPI_Init: 9 of 10 ranks have arrived, last one [0-9]* s ago; 1 rank on h2 has not'
echo "ok: the others come, one is missing"

go init.3
expect 'MPI_Init: all 10 ranks have arrived, after [0-9]* s'
echo "ok: all have come"

expect 'MPI_Finalize: 9 of 10 ranks have arrived, last one 1[0-3] s ago; 1 rank on h2 has not'
expect "rank 2 on h2 (pid $(pid_of finalize.2)): late sleeping in hrtimer_nanosleep"
go finalize.2
code=0
wait "$job" || code=$?
job=
[ $code -eq 0 ] || bad "exit code $code"
says 'MPI_Finalize: all 10 ranks have arrived, after [0-9]* s' || bad "no end of MPI_Finalize"
! grep -qvE '^\[faultloc\] (MPI_(Init|Finalize): |  )' "$work/err" || bad "there is more"
echo "ok: MPI_Finalize"

# Who asks whom first is not known: so each of both drops what the other asks for.
drop_requests() { # HOST OF-HOST
    "$cluster" exec --name "$name" "$1" nft -f - <<END
table inet faultloc_late {
    chain requests {
        type filter hook input priority 0;
        ip saddr 10.0.0.${2#h} tcp flags & (syn | ack) == syn drop
    }
}
END
}
if command -v nft >/dev/null; then
    drop_requests h1 h2
    drop_requests h2 h1
    "$cluster" run --quiet --name "$name" --faultloc --hosts 3 --ppn 1 --env MPIR_CVAR_FAULTLOC_REPORT= \
        -- "$work/late" --init 0 --finalize 0 >"$work/out" 2>"$work/err" </dev/null &
    job=$!
    await "rank 0" test -s "$pids/init.0"
    go init.0
    expect 'MPI_Init: rank [01] on h[12] (pid [0-9]*) cannot connect to 10.0.0.[12] (h[12]), port [0-9]*: no answer to [0-9]* requests in [0-9]* s; look for a firewall between these hosts'
    for host in h1 h2; do "$cluster" exec --name "$name" $host nft delete table inet faultloc_late; done
    await "rank 0 in MPI_Finalize" test -s "$pids/finalize.0"
    go finalize.0
    code=0
    wait "$job" || code=$?
    job=
    [ $code -eq 0 ] || bad "exit code $code"
    echo "ok: who asks whom for a connection in vain"
fi
