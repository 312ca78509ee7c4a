#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Under Slurm, on four hosts with a slurmd each. By srun: a job ends well with no report; a killed
# rank is located and Slurm waits meanwhile. By mpiexec in an allocation: a stopped rank is. Of a
# pulled cable Slurm knows by the example doc/slurm-drain-node alone, which drains the host. And a
# host loses its power while nobody waits for it, so that only Slurm can know: its word, by the
# example doc/slurm-tell-faultloc as a trigger, leads to the verdict, and the step lives on.  A step
# that FaultLoc ends has told its verdict before; one that is cancelled, or ended by Ctrl-C or by
# MPI_Abort, has none.  After each step no process of FaultLoc is left.
# test_slurm.sh [OPTIONS of slurm up], as --proctrack cgroup
# Exit code: 0 passed, 1 failed, 77 no Slurm, no root or no namespaces here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CLUSTER_HOME=$here
# shellcheck source=/dev/null
. "$here/lib/common.sh"
name=t$$
work=

finish() {
    local code=$?
    trap - EXIT
    "$here/slurm" down --name $name --quiet 2>/dev/null || :
    "$here/cluster" down --name $name --quiet 2>/dev/null || :
    wait
    [ -z "$work" ] || rm -rf "$work"
    exit $code
}

bad() {
    echo "FAILED: $*"
    sed 's/^/    job: /' "$work/err" 2>/dev/null || :
    sed 's/^/    log: /' "$work/syslog" 2>/dev/null || :
    exit 1
}
ok() { echo "ok: $*"; }

# await SECONDS WHAT COMMAND...
await() { wait_until "$1" "${@:3}" || bad "waited in vain: $2"; }

# What a trigger says goes to the system's log, which is not to be read here.
catch_log() {
    mkdir "$work/bin"
    printf '#!/bin/sh\necho "$*" >>%q\n' "$work/syslog" >"$work/bin/logger"
    chmod +x "$work/bin/logger"
    PATH=$work/bin:$PATH
}

# by_slurm COMMAND...: on the login host. 'exec' replaces a shell: not this one.
by_slurm() { "$here/slurm" exec --name $name -- "$@"; }

job_env() {
    echo "FAULTLOC_TEST_PIDFILE=$work/pids" \
        "UCX_NET_DEVICES=eth0 UCX_TLS=tcp,self UCX_LOG_LEVEL=error" \
        "MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_REPORT=$work/faultloc-%j.json" \
        "MPIR_CVAR_FAULTLOC_TRACE=$work/trace LD_LIBRARY_PATH=$work/mark${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

# Agents keep that variable, of all that a step has in its environment.
agents() { grep -lzsE "^LD_LIBRARY_PATH=$work/mark(:|$)" /proc/[0-9]*/environ | xargs -r dirname |
    sed 's/$/\/comm/' | xargs -r grep -lsE '^faultloc-' || :; }
no_agents() { [ -z "$(agents)" ]; }

# start LAUNCHER...: the job in the background, until its loop runs on all four ranks.
start() {
    rm -rf "$work/pids" "$work"/faultloc-*.json "$work/trace" "$work/err"
    mkdir "$work/pids"
    # shellcheck disable=SC2046
    by_slurm env $(job_env) "$@" </dev/null >"$work/out" 2>"$work/err" &
    JOB=$!
    await 60 "the loop of: $*" all_ranks_run
}
all_ranks_run() {
    running "$JOB" || bad "the job ended before its loop"
    [ -e "$work/pids/looping" ] && [ "$(find "$work/pids" -name 'rank.*' | wc -l)" = 4 ]
}

rank_pid() { cut -d' ' -f2 "$work/pids/rank.$1"; }
report() { echo "$work"/faultloc-*.json; }
reported() {
    jq -e '.verdicts | length > 0' "$(report)" >/dev/null 2>&1 && return
    running "$JOB" || bad "the job ended without a verdict"
    [ ! -s "$work/syslog" ] || bad "the trigger of Slurm could not do its work"
    return 1
}

# expect CLASS COMPONENT HOW: one verdict, while the step runs, in a report with the step's name. Of
# a crash the others abort once the verdict is known, at which Slurm ends the step.
expect() {
    local said id
    await 60 "a verdict ($3)" reported
    said=$(jq -r '[.verdicts[] | .class + " " + .component.name] | join(", ")' "$(report)")
    [ "$said" = "$1 $2" ] || bad "$3: '$said', not '$1 $2'"
    await 10 "the verdict on stderr ($3)" grep -q "^\[faultloc\] $1: " "$work/err"
    id=$(jq -r .job.id "$(report)")
    [[ $id =~ ^[0-9]+\.[0-9]+$ ]] || bad "$3: the job is called '$id', not JOB.STEP"
    [ "$(basename "$(report)")" = "faultloc-$id.json" ] || bad "$3: the file is $(report)"
    [ "$1" = process-crash ] || by_slurm squeue -h -s -o %i | grep -qxF "$id" ||
        bad "$3: Slurm has ended step $id"
    ok "$3: $said, in step $id"
}

end_job() {
    by_slurm scancel --full --user=root
    await 30 "the end of the cancelled job" not_running "$JOB"
    wait "$JOB" || :
    await 30 "the end of Slurm's job" queue_is_empty
    await 10 "the end of FaultLoc's processes" no_agents
}
queue_is_empty() { [ -z "$(by_slurm squeue -h)" ]; }

# on_network COMMAND...: with the functions of the cluster.
on_network() (
    trap - EXIT
    # shellcheck source=/dev/null
    . "$here/lib/net.sh"
    NAME=$name
    "$@"
)
cable_of() { ip -n "$(ns_of "$(switch_of "$1" dsw)")" link set "$1" "$2"; }
# UCX leaves out a link that is up, but not yet in state UP (the kernel's link watch, up to a second).
links_are_up() { ! ip -n "$(ns_of "$1")" -o link show type veth | grep -qv 'state UP'; }
# A connection is refused by EHOSTUNREACH for up to a second more if the kernel's last question for
# the address (ARP, three of them a second apart) went out before the cable was back.
reaches() {
    local from=$1 to
    for to in "${@:2}"; do
        ip netns exec "$(ns_of "$from")" ping -q -c 1 -W 1 "$to" >/dev/null || return
    done
}
reason_of() { by_slurm sinfo -h -N -n "$1" -o %E; }
is_drained() { [[ $(by_slurm sinfo -h -N -n "$1" -o %T) == drain* ]] &&
    [[ $(reason_of "$1") == "FaultLoc: link-fault: "* ]]; }

"$here/slurm" check --quiet || exit
command -v jq >/dev/null || skip "no program 'jq' (Debian package jq)"
find_mpi
work=$(mktemp -d)
mkdir "$work/pids"
trap finish EXIT
trap 'exit 143' TERM INT HUP
alltoall=$(find_program alltoall)
anysource=$(find_program anysource)
crash=$(find_program crash)
export FAULTLOC_PROGRAM=${FAULTLOC_PROGRAM:-$MPI/bin/faultloc}
[ -x "$FAULTLOC_PROGRAM" ] ||
    bad "no program $FAULTLOC_PROGRAM to tell the agents: install it, or set FAULTLOC_PROGRAM"
catch_log
srun=(srun --nodes=4 --ntasks-per-node=1 --mpi=pmi2 --no-kill --kill-on-bad-exit=0 --wait=0)

"$here/cluster" up --name $name --hosts 4 --quiet
"$here/slurm" up --name $name --node-timeout 4 --quiet "$@"

code=0
# shellcheck disable=SC2046
by_slurm env $(job_env) "${srun[@]}" "$alltoall" --iterations 50 \
    >"$work/out" 2>"$work/err" || code=$?
[ $code = 0 ] || bad "srun ended with $code"
grep -q '^alltoall: 4 ranks, all words right' "$work/out" || bad "the job did not do its work"
! grep -q '^\[faultloc\]' "$work/err" || bad "something was said about a healthy job"
await 3 "the end of FaultLoc's processes after srun" no_agents
ok "srun: a healthy job ends with 0, nothing is said, no process is left"

start env MPIR_CVAR_FAULTLOC_ACTION=abort "${srun[@]}" "$anysource" --seconds 3600
[ -n "$(agents)" ] || bad "no process of FaultLoc is seen"
kill -STOP "$(rank_pid 2)"
await 60 "the end of the step by FaultLoc" not_running "$JOB"
! wait "$JOB" || bad "srun ended with 0 though the job was aborted"
grep -q '^\[faultloc\] process-stopped: ' "$work/err" || bad "the step ended before its verdict was told"
jq -e '.verdicts | length == 1' "$(report)" >/dev/null || bad "the step ended before its report was written"
await 30 "the end of Slurm's job" queue_is_empty
await 10 "the end of FaultLoc's processes after an abort" no_agents
ok "srun, action abort: the verdict is told and written before the step ends, no process is left"

start "${srun[@]}" "$anysource" --seconds 3600
kill -KILL "$(rank_pid 2)"
expect process-crash 2 "srun, a killed rank"
end_job

cancel() { by_slurm scancel --full --user=root; }
interrupt() {
    kill -INT "$(<"$work/srun")"
    await 30 "srun to take a second Ctrl-C" grep -q 'one more within 1 sec' "$work/err"
    kill -INT "$(<"$work/srun")"
}
no_word_of() {
    await 30 "the end of Slurm's job ($1)" queue_is_empty
    await 10 "the end of FaultLoc's processes ($1)" no_agents
    ! grep -q '^\[faultloc\]' "$work/err" || bad "$1: something was said about a job that was ended"
    [ ! -e "$(report)" ] || bad "$1: there is a report: $(<"$(report)")"
    ok "srun: $1: nothing is said"
}
for how in cancel interrupt; do
    # shellcheck disable=SC2016
    start bash -c 'echo $$ >"$0"; exec "$@"' "$work/srun" "${srun[@]}" "$alltoall" --seconds 3600
    $how
    await 60 "the end of the step ($how)" not_running "$JOB"
    wait "$JOB" || :
    no_word_of "$how"
done

# Slurm kills the others.
# shellcheck disable=SC2046
by_slurm env $(job_env) "${srun[@]}" "$crash" --how abort >"$work/out" 2>"$work/err" || :
grep -q 'application called MPI_Abort' "$work/err" || bad "the job was not aborted"
no_word_of MPI_Abort

start salloc --quiet --nodes=4 --ntasks-per-node=1 "$MPI/bin/mpiexec" -iface eth1 \
    "$alltoall" --seconds 3600
kill -STOP "$(rank_pid 2)"
expect process-stopped 2 "mpiexec in an allocation, a stopped rank"
end_job

# A cable that is pulled Slurm never sees: its daemons talk on the other network.
printf '#!/bin/sh\nSLURM_CONF=%q exec %q --kinds nic,link\n' \
    "$("$here/slurm" conf --name $name)" "$here/../../doc/slurm-drain-node" >"$work/drain"
chmod +x "$work/drain"
start env MPIR_CVAR_FAULTLOC_ACTION="exec:$work/drain" "${srun[@]}" "$alltoall" --seconds 3600
on_network cable_of h2 down
expect link-fault h2 "srun, a pulled cable"
await 30 "the drain of h2" is_drained h2
ok "Slurm drains it: $(reason_of h2)"
end_job
on_network cable_of h2 up
await 10 "the links of h2" on_network links_are_up h2
await 10 "answers to h2" on_network reaches h2 h1 h3 h4
by_slurm scontrol update NodeName=h2 State=RESUME

# In four parts, each rank calls MPI_Alltoall with itself. UCX would miss the host after 20 s; and
# samples, where the machine is busy: ranks that wait longer than before have all nodes asked.
by_slurm strigger --set --down --flags=PERM --program="$here/../../doc/slurm-tell-faultloc"
UCX_KEEPALIVE_INTERVAL=inf MPIR_CVAR_FAULTLOC_SAMPLE_MS=60000 \
    start "${srun[@]}" "$alltoall" --parts 4 --seconds 3600
on_network power_off h3
expect node-outage h3 "srun, a lost host that nobody waits for"
grep -q 'node-down' "$work/trace" || bad "the verdict did not come by Slurm's word"
[ "$(by_slurm sinfo -h -N -n h3 -o %T)" = 'down*' ] || bad "there was a verdict before Slurm's"
ok "Slurm had it down, and its trigger told"
end_job
