#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Jobs that end well, and jobs whose mpiexec is killed (SIGKILL) or ended (SIGTERM, SIGINT) at a random
# moment: soon afterwards no process, socket, or file of FaultLoc is left.
#
# test_ended_jobs.sh [JOBS]      how many jobs (18)
#
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
jobs=${1:-18}
soon=15 # seconds; an agent goes on for 2 s after its ranks, and this machine may be busy

"$here/build.sh" --mpi "$mpi" --out "$bin" alltoall
mkdir -m 700 "$work/run" "$work/cwd"
export XDG_RUNTIME_DIR=$work/run # what agents keep of the environment: tells that they are ours

processes() { # of all jobs here
    local file
    for file in $(grep -lzsxF "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" /proc/[0-9]*/environ); do
        file=${file%/environ} file=${file#/proc/}
        [ "$file" = $$ ] || [ "$file" = "$BASHPID" ] || ! name=$(ps -o comm= -p "$file") ||
            [[ $name =~ ^(bash|grep|ps)$ ]] || echo "$file $name"
    done
}
left() { # what there is of FaultLoc's
    processes | grep -E 'faultloc|alltoall|hydra' || :
    find "$work/run" "$work/cwd" -mindepth 1 ! -type d
}

# end_job HOW: KILL, TERM or INT to mpiexec after a moment; well: it ends by itself
end_job() {
    local pid code=0 seconds=0.2
    [ "$1" = well ] || seconds=60
    (
        cd "$work/cwd"
        trap - INT
        MPIR_CVAR_FAULTLOC=1 exec "$mpi/bin/mpiexec" -n 2 "$bin/alltoall" --seconds $seconds
    ) </dev/null >"$work/o" 2>&1 &
    pid=$!
    if [ "$1" != well ]; then
        sleep "$((RANDOM % 3)).$((RANDOM % 1000))"
        kill -s "$1" $pid
    fi
    wait $pid || code=$?
    [ "$1" != well ] || [ $code = 0 ] || bad "a job ended with $code: $(cat "$work/o")"
}

ends=(KILL TERM well KILL INT well)
set -m # else a background process ignores SIGINT
for ((i = 0; i < jobs; i++)); do
    end_job "${ends[i % 6]}" 2>/dev/null
done
end=$((SECONDS + soon))
until [ -z "$(left)" ]; do
    [ $SECONDS -lt $end ] || bad "left after $soon s: $(left)"
    sleep 0.2
done
echo "ok: $jobs jobs, nothing left $((SECONDS - end + soon)) s after the last"
