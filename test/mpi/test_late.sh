#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Jobs to whose MPI_Init or MPI_Finalize not all ranks come, all at the same time: what mpiexec says
# of a rank that ended without MPI_Init, of one that a script has started, of a host whose launcher
# takes long, of ranks that close their connections; and nothing without FaultLoc. Beside them a job
# in which all wait for a rank that is outside MPI: the note on it, twice, and no verdict; one in which that
# rank, and one in which all ranks sleep in a FIFO; and one in which ranks are late because of a verdict.
# test/cluster/test_late.sh has what needs hosts.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" late

cat >"$work/early" <<'END'
#!/bin/sh
[ "$PMI_RANK" != 1 ] || exit 0
exec "$@"
END
cat >"$work/script" <<'END'
#!/bin/sh
"$@"
exit $?
END
cat >"$work/launcher" <<'END'
#!/bin/sh
# as ssh: -x HOST COMMAND...
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
while [ "$host" = h2 ] && [ ! -e "$FAULTLOC_TEST_PIDFILE/go.launcher" ]; do sleep 0.1; done
eval "exec $*"
END
chmod +x "$work/early" "$work/script" "$work/launcher"

# start LABEL MPIEXEC-ARGS...: in the background; files that let ranks go are in $work/LABEL.d.
pids=()
start() {
    local label=$1
    shift
    mkdir "$work/$label.d"
    FAULTLOC_TEST_PIDFILE=$work/$label.d MPIR_CVAR_FAULTLOC_REPORT='' \
        timeout -s INT -k 5 150 "$mpi/bin/mpiexec" "$@" </dev/null \
        >"$work/$label.out" 2>"$work/$label.err" &
    pids+=($!)
}

# expect LABEL LINE: a line of its standard error.
expect() { await "$1: the line '$2'" grep -q "^\[faultloc\] *$2\$" "$work/$1.err"; }

start off -hosts h1,h2 -launcher fork -n 4 "$bin/late" --init 1
start early -faultloc -hosts h1,h2 -launcher fork -n 4 "$work/early" "$bin/late"
start script -faultloc -hosts h1 -launcher fork -n 4 "$work/script" "$bin/late" --init 1,2
start launcher -faultloc -launcher ssh -launcher-exec "$work/launcher" -hosts h1,h2,h3 -ppn 2 -n 6 \
    "$bin/late"
start waiting -faultloc -env UCX_TLS tcp,self -env MPIR_CVAR_NOLOCAL 1 \
    -env MPIR_CVAR_FAULTLOC_STALL_MS 300 -env MPIR_CVAR_FAULTLOC_ACTION abort \
    -env MPIR_CVAR_FAULTLOC_REPORT "$work/waiting.json" \
    -env MPIR_CVAR_FAULTLOC_TRACE "$work/waiting.trace" -n 2 "$bin/late" --send 0
start asleep -faultloc -env MPIR_CVAR_FAULTLOC_STALL_MS 300 -n 2 "$bin/late" --send 0 --fifo 1
start all -faultloc -env MPIR_CVAR_FAULTLOC_STALL_MS 300 -n 2 "$bin/late" --finalize 0,1 --fifo 1
start skip -faultloc -n 3 "$bin/late" --send 2 --skip 2
start close -faultloc -env UCX_TLS tcp,self -env MPIR_CVAR_NOLOCAL 1 -n 2 "$bin/late" --finalize 1

expect early 'MPI_Init: 3 of 4 ranks have arrived, last one [0-9]* s ago; 1 rank on h[12] has not'
expect early 'rank 1 on h[12] (pid [0-9]*): \(MPI_Init not called; \|\)ended, exit code 0'
kill -INT "${pids[1]}"
echo "ok: a rank that has ended"

expect script 'MPI_Init: 2 of 4 ranks have arrived, last one [0-9]* s ago; 2 ranks on h1 have not'
expect script '2 ranks (1-2) on h1: MPI_Init not called; late sleeping in hrtimer_nanosleep'
touch "$work/script.d/go.init.1" "$work/script.d/go.init.2"
expect script 'MPI_Init: all 4 ranks have arrived, after [0-9]* s'
echo "ok: ranks that a script has started"

expect launcher 'MPI_Init: 4 of 6 ranks have arrived, last one [0-9]* s ago; 2 ranks on h2 have not'
expect launcher "2 ranks (2-3) on h2: hydra's proxy has not connected"
: >"$work/launcher.d/go.launcher"
expect launcher 'MPI_Init: all 6 ranks have arrived, after [0-9]* s'
echo "ok: a launcher that takes long"

# After ten stall limits, and again after twice as many more, by the same agent.
who='for rank 0 (.*), which is outside MPI.*; nothing is known to be wrong'
expect waiting "waiting: 1 of 2 ranks has waited for [0-9]* s $who"
expect waiting '1 in MPI_Recv on MPI_COMM_WORLD, rank 1 (.*) alone'
expect waiting "waiting: 1 of 2 ranks has waited for \([6-9]\|[1-9][0-9][0-9]*\) s $who"
grep -q '"waiting"' "$work/waiting.json" || bad "the report has no note"
! grep -E 'verdict|succeeds as agent' "$work/waiting.trace" || bad "an agent died, or found a fault"
: >"$work/waiting.d/go.send.0"
echo "ok: all wait for a rank that is outside MPI"

expect asleep "waiting: 1 of 2 ranks has waited for [0-9]* s for rank 0 (.*), which is outside MPI, \
asleep in a pipe (.*pipe_read): .*/go.send.0; it has used no CPU time for [0-9]* s"
echo x >"$work/asleep.d/go.send.0"
echo "ok: all wait for a rank that is asleep"

all='all 2 ranks are asleep, none in a wait of MPI, and have ended no call for [0-9]* s'
expect all "waiting: $all; they may wait for each other, or for something outside the job"
expect all '2 outside MPI asleep in a pipe (.*pipe_read), rank 0 (.*) for example: .*/go.finalize.0'
echo x >"$work/all.d/go.finalize.0"
echo x >"$work/all.d/go.finalize.1"
echo "ok: all are asleep"

expect skip 'conclusion: software fault in rank 2 (.*); ticket: application'
expect skip 'MPI_Finalize: 1 of 3 ranks have arrived, last one [0-9]* s ago; 2 ranks on .* have not'
expect skip '2 of them because of the verdict that stands: .*rank 2 .*'
! grep 'late running' "$work/skip.err" || bad "victims are described as if they were late"
kill -INT "${pids[7]}"
echo "ok: ranks that are late because of a verdict"

expect close 'MPI_Finalize: 1 of 2 ranks have arrived, last one [0-9]* s ago; 1 rank on .* has not'
expect close 'rank 1 on .* (pid [0-9]*): late sleeping in hrtimer_nanosleep'
: >"$work/close.d/go.finalize.1"
expect close 'MPI_Finalize: all 2 ranks have arrived, after [0-9]* s'
echo "ok: a rank that waits for another to close their connection"

: >"$work/off.d/go.init.1"
for i in 0 2 3 4 5 6 8; do
    wait "${pids[i]}" || bad "a job failed: $(cat "$work"/*.err)"
done
wait "${pids[1]}" || :
wait "${pids[7]}" || :
[ ! -s "$work/off.err" ] || bad "without FaultLoc: $(cat "$work/off.err")"
echo "ok: nothing without FaultLoc"
