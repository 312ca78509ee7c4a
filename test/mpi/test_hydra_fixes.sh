#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What patches/upstream-fixes mends of hydra. A process comes to a barrier of PMI and ends; the
# others come later, and go on. It was a process of their own host, or all of another. mpiexec hands
# signals on to who is left, and goes on with a write that a signal interrupts. Each time stock
# hydra ends the job, and says that something of its own went wrong.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

# left LABEL MPIEXEC-ARGS... PROGRAM ARGS...: rank 1 leaves the barrier, and hydra has no complaint;
# its exit code tells of rank 0. SELF among the arguments is the process number of mpiexec.
left() {
    local label=$1 code=0
    shift
    rm -rf "$work/folder"
    mkdir "$work/folder"
    timeout -s INT -k 5 60 bash -c 'exec "${@/SELF/$$}"' - "$mpi/bin/mpiexec" \
        -disable-auto-cleanup "$@" </dev/null >"$work/out" 2>&1 || code=$?
    if [ $code -gt 1 ] || ! grep -qx "rank 1 left the barrier" "$work/out" ||
        grep -q "^\[\(mpiexec\|proxy\)" "$work/out"; then
        bad "$label: exit code $code: $(tail -n 20 "$work/out")"
    fi
    echo "ok: $label"
}

export MPIR_CVAR_FAULTLOC=0
"$here/build.sh" --mpi "$mpi" --out "$bin" pmi_client
apart="-launcher fork -hosts one,two -ppn 1"
left "a process of the same host has died" -n 2 "$bin/pmi_client" "$work/folder"
# shellcheck disable=SC2086  # options
left "the only process of another host has died" $apart -n 2 "$bin/pmi_client" "$work/folder"
# shellcheck disable=SC2086
left "a signal for who is left" $apart -n 2 "$bin/pmi_client" "$work/folder" SELF

# mpiexec waits in a write to a pipe that nobody reads when it is given signals: several, because
# the first of them finds a write of which a part is done.
interrupted() {
    local pid i code=0
    mkfifo "$work/pipe"
    exec 7<>"$work/pipe"
    # the process stays until all is read: stock hydra is killed by a signal that it hands on to a
    # proxy which has just ended
    # shellcheck disable=SC2016
    "$mpi/bin/mpiexec" -n 1 sh -c 'trap "" USR1; head -c 1000000 /dev/zero
        until [ -e "$1" ]; do sleep 0.1; done' sh "$work/read" >"$work/pipe" \
        2>"$work/err" </dev/null 7>&- &
    pid=$!
    python3 - $pid <<'END' || bad "a write that is interrupted: the pipe does not fill, or mpiexec ends: $(tail -n 20 "$work/err")"
import array, fcntl, os, select, signal, sys, termios, time
F_GETPIPE_SZ, end = 1032, time.time() + 60
there = array.array("i", [0])
while there[0] < fcntl.fcntl(7, F_GETPIPE_SZ):
    if time.time() > end:
        sys.exit(1)
    select.select([], [], [], 0.01)
    fcntl.ioctl(7, termios.FIONREAD, there)
for i in range(20):
    os.kill(int(sys.argv[1]), signal.SIGUSR1)
    select.select([], [], [], 0.02)
END
    exec 8<"$work/pipe"
    cat <&8 >"$work/out" 7>&- &
    exec 7>&- 8<&-
    for ((i = 0; i < 600; i++)); do
        [ "$(stat -c %s "$work/out")" -lt 1000000 ] || break
        sleep 0.1
    done
    : >"$work/read"
    wait $pid || code=$?
    wait
    [ $code -eq 0 ] && [ "$(stat -c %s "$work/out")" -eq 1000000 ] ||
        bad "a write that is interrupted: exit code $code: $(tail -n 20 "$work/err")"
    echo "ok: a write that is interrupted"
}
interrupted

# mpiexec waits in a write again, of what rank 1 says. Meanwhile it is given a signal, and all is gone
# on the host of rank 0: it hands the signal on before it reads that.
gone() {
    local pid proxy code=0
    mkfifo "$work/full"
    exec 7<>"$work/full"
    # shellcheck disable=SC2016,SC2086
    "$mpi/bin/mpiexec" $apart -n 2 sh -c 'trap "" USR1
        [ "$PMI_RANK" = 0 ] || head -c 1000000 /dev/zero; echo >"$1.$PMI_RANK"; exec sleep 60' \
        sh "$work/begun" >"$work/full" 2>"$work/err" </dev/null 7>&- &
    pid=$!
    until [ -e "$work/begun.0" ]; do sleep 0.1; done
    sleep 1
    proxy=$(pgrep -P $pid hydra_pmi_proxy | head -n 1)
    kill -USR1 $pid
    sleep 0.2
    # shellcheck disable=SC2046
    kill -KILL "$proxy" $(pgrep -P "$proxy")
    sleep 0.2
    cat <&7 >/dev/null &
    wait $pid || code=$?
    kill $!
    exec 7>&-
    [ $code -ne 141 ] || bad "a write to a proxy that is gone: SIGPIPE"
    echo "ok: a write to a proxy that is gone"
}
gone
