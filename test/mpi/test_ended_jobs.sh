#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Jobs that end well, and jobs whose mpiexec is killed (SIGKILL) or ended (SIGTERM, SIGINT) at a
# random moment: soon afterwards no process, socket, or file of FaultLoc is left, and no report of a
# fault. A job that is ended just when its agent begins, the first or a new one: no fault is told
# of. Where one is, the test prints what the report says.
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
has_left() { [ -z "$(left)" ]; }

# no_fault WHAT: of any job so far.
no_fault() {
    local file said
    said=$(grep -F '[faultloc] process-' "$work/o" || :)
    for file in "$work/cwd"/faultloc-*.json; do
        [ ! -e "$file" ] || said+=$'\n'$("${top_builddir:+$top_builddir/tools/}faultloc" report \
            "$file" 2>/dev/null || cat "$file")
    done
    [ -z "$said" ] || bad "$1 has a fault: $said"
}

start_job() { # SECONDS; sets pid
    (
        cd "$work/cwd"
        trap - INT
        MPIR_CVAR_FAULTLOC=1 exec "$mpi/bin/mpiexec" -n 2 "$bin/alltoall" --seconds "$1"
    ) </dev/null >"$work/o" 2>&1 &
    pid=$!
}

# end_job HOW: KILL, TERM or INT to mpiexec after a moment; well: it ends by itself
end_job() {
    local code=0 pause seconds=0.2
    pause=$((RANDOM % 3)).$((RANDOM % 1000))
    [ "$1" = well ] || seconds=60
    start_job $seconds
    if [ "$1" != well ]; then
        sleep "$pause"
        kill -s "$1" $pid
    fi
    wait $pid || code=$?
    [ "$1" != well ] || [ $code = 0 ] || bad "a job ended with $code: $(cat "$work/o")"
    ENDED+=" $1 to $pid after $pause s;"
}

# end_at_start HOW: the agent's program only begins to run when the ranks have ended.
end_at_start() {
    rm -f "$work/held" "$work/go"
    start_job 60
    await "an agent that is held" test -e "$work/held"
    kill -s "$1" $pid
    wait $pid 2>/dev/null || :
    await "the end of the ranks" has_processes 0 alltoall
    : >"$work/go"
    await "the end of the agent" has_processes 0 faultloc
    no_fault "a job that was ended by SIG$1 when its agent began"
    echo "ok: a job that was ended by SIG$1 when its agent began"
}

# The proxy has not heard of the new agent when it is told to end the processes.
end_with_new_agent() {
    local proxy agent
    start_job 60
    await "two of FaultLoc's processes" has_processes 2 faultloc
    proxy=$(processes | awk '$2 == "hydra_pmi_proxy" { print $1 }')
    agent=$(processes | awk '$2 == "faultloc-agent" { print $1 }')
    trap 'kill -KILL $proxy $pid 2>/dev/null; rm -rf "$work"' EXIT
    kill -STOP "$proxy"
    kill -KILL "$agent"
    await "the deputy of the new agent" has_new_agent "$agent"
    kill -INT $pid
    await "mpiexec to end the processes" grep -q 'Sending Ctrl-C' "$work/o"
    kill -CONT "$proxy"
    wait $pid || :
    trap 'rm -rf "$work"' EXIT
    no_fault "a job that was ended when a new agent had begun"
}
has_processes() { [ "$(processes | grep -c "$2" || :)" = "$1" ]; }
has_new_agent() {
    local now
    now=$(processes)
    [[ $now == *faultloc-agent* && $now == *faultloc-deputy* && $now != *"$1 faultloc"* ]]
}

ends=(KILL TERM well KILL INT well) ENDED=
set -m # else a background process ignores SIGINT
for ((i = 0; i < jobs; i++)); do
    end_job "${ends[i % 6]}" 2>/dev/null
done
for ((i = 0; i < 5; i++)); do end_with_new_agent; done
echo "ok: five jobs that were ended just when a new agent had begun"
end=$((SECONDS + soon))
until has_left; do
    [ $SECONDS -lt $end ] || no_fault "one of these jobs ($ENDED)"
    [ $SECONDS -lt $end ] || bad "left after $soon s: $(left)"
    sleep 0.2
done
echo "ok: $jobs jobs, nothing left $((SECONDS - end + soon)) s after the last"

mkdir -p "$work/copy/lib" "$work/copy/libexec" # an agent is started by what is beside libmpi
cp -L "$mpi/lib"/libmpi.so* "$work/copy/lib/"  # beside the library itself, not beside a link
cat >"$work/copy/libexec/faultloc-agent" <<END
#!/bin/sh
exec setsid sh -c ': >"$work/held"; until [ -e "$work/go" ]; do sleep 0.1; done
    exec "$mpi/libexec/faultloc-agent"'
END
chmod 700 "$work/copy/libexec/faultloc-agent"
export LD_LIBRARY_PATH=$work/copy/lib
for how in KILL TERM INT; do end_at_start $how; done
