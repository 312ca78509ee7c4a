# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2153,SC2154

# A job on the cluster: starting it, finding its ranks, ending it. Sourced by test/cluster/cluster.
#
# The run folder RUN holds what a run leaves behind:
#     out err        what mpiexec wrote, each line after the microsecond it came at
#     pids/rank.R    "HOST PID", written by the test programs; pids/looping says their loop runs
#     report.json    FaultLoc's report
#     trace          FaultLoc's trace, "SECOND HOST: WHAT", of all agents
#     exit           "CODE MICROSECOND", when mpiexec has ended

# In local mode the hosts are names only, and all processes are on this machine.
job_env() {
    echo "FAULTLOC_TEST_PIDFILE=$RUN/pids"
    echo "FAULTLOC_TEST_RUN=$RUN"
    # a job in the foreground is the user's: its report goes where FaultLoc puts it
    [ -n "${FOREGROUND:-}" ] || echo "MPIR_CVAR_FAULTLOC_REPORT=$RUN/report.json"
    echo "UCX_TLS=tcp,self"
    echo "FI_PROVIDER=tcp"
    # UCX says at every start that it has found a newer kernel than it knows, or no memory limit
    echo "UCX_LOG_LEVEL=${UCX_LOG_LEVEL:-error}"
    if [ -n "${LOCAL:-}" ]; then
        echo "MPIR_CVAR_NOLOCAL=1"
        echo "UCX_NET_DEVICES=lo"
        echo "FI_TCP_IFACE=lo"
    else
        echo "FAULTLOC_CLUSTER=$NAME"
        echo "FAULTLOC_CLUSTER_SKEW_S=$SKEW"
        echo "UCX_NET_DEVICES=eth0"
        echo "FI_TCP_IFACE=eth0"
        echo "XDG_RUNTIME_DIR=$(runtime_dir)"
        # whoever sets these in the environment means it; --env comes last, and counts
        [ "$(switch_count)" -le 1 ] || [ -n "${MPIR_CVAR_FAULTLOC_TOPOLOGY+set}" ] ||
            echo "MPIR_CVAR_FAULTLOC_TOPOLOGY=$(topology_file)"
    fi
    [ -z "$ADAPTERS" ] || echo "MPIR_CVAR_FAULTLOC_SYSFS=$RUN/sys-%h"
    [ -n "${MPIR_CVAR_FAULTLOC_TRACE+set}" ] || echo "MPIR_CVAR_FAULTLOC_TRACE=$RUN/trace"
    [ ${#JOB_ENV[@]} -eq 0 ] || printf '%s\n' "${JOB_ENV[@]}"
}

# port_of HOST: the folder of its made-up port.
port_of() { echo "$RUN/sys-$1/class/infiniband/mlx5_0/ports/1"; }

make_adapters() {
    local i port
    for ((i = 1; i <= HOSTS; i++)); do
        port=$(port_of "h$i")
        mkdir -p "$port/counters" "$RUN/sys-h$i/class/net/eth0/device/infiniband/mlx5_0"
        echo "4: ACTIVE" >"$port/state"
        echo "5: LinkUp" >"$port/phys_state"
        echo "100 Gb/sec (4X EDR)" >"$port/rate"
        echo InfiniBand >"$port/link_layer"
        echo 0 >"$port/counters/link_downed"
        echo 1000 >"$port/counters/symbol_error"
        printf '0x%x\n' "$i" >"$port/lid"
        mkdir -p "$port/gids"
        printf 'fe80:0000:0000:0000:506b:4b03:00c3:%04x\n' "$i" >"$port/gids/0"
    done
}

rank_count() { echo "${RANKS:-$((HOSTS * PPN))}"; }

# "h1:2,h2:2,...": how many ranks each host has. With --ranks they are dealt out as evenly as they
# come; with --alone the last host has the last rank and no other.
host_list() {
    local i n hosts=$HOSTS ranks alone=
    ranks=$(rank_count)
    if [ -n "$ALONE" ]; then
        alone=,h$hosts:1
        ranks=$((ranks - 1)) hosts=$((hosts - 1))
    fi
    for ((i = 1; i <= hosts; i++)); do
        n=$((ranks * i / hosts - ranks * (i - 1) / hosts))
        printf '%sh%d:%d' "$([ $i = 1 ] || echo ,)" $i $n
    done
    echo "$alone"
}

# Fills COMMAND with the mpiexec line for "$@" (program and arguments).
mpiexec_command() {
    local i vars
    mapfile -t vars < <(job_env)
    COMMAND=(env "${vars[@]}" "$MPI/bin/mpiexec" ${MPIEXEC_ARGS[@]+"${MPIEXEC_ARGS[@]}"})
    if [ -n "${LOCAL:-}" ]; then
        for ((i = 1; i <= HOSTS; i++)); do
            COMMAND+=(-n 1 -env MPIR_CVAR_FAULTLOC_NODE_NAME "h$i" "$@")
            [ "$i" -eq "$HOSTS" ] || COMMAND+=(:)
        done
        return
    fi
    COMMAND+=(-launcher ssh -launcher-exec "$CLUSTER_HOME/launcher" -iface eth1
        -hosts "$(host_list)" -n "$(rank_count)" "$@")
}

stamp_lines() {
    local line
    trap '' INT TERM
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s %s\n' "${EPOCHREALTIME/[.,]/}" "$line"
    done
}

on_login() { if [ -n "${LOCAL:-}" ]; then exec "$@"; else host_exec login "$@"; fi; }

# start_job PROGRAM ARGUMENTS: starts mpiexec in the background, all it says goes to the run folder.
start_job() {
    local program
    program=$(find_program "$1") || exit $EXIT_FAIL
    shift
    mkdir -p "$RUN/pids"
    [ -z "$ADAPTERS" ] || make_adapters
    mpiexec_command "$program" "$@"
    printf '%q ' "${COMMAND[@]}" >"$RUN/command"
    (
        trap - EXIT
        (trap - EXIT; on_login "${COMMAND[@]}") \
            </dev/null > >(stamp_lines >"$RUN/out") 2> >(stamp_lines >"$RUN/err") &
        echo $! >"$RUN/mpiexec.pid"
        code=0
        wait $! 2>/dev/null || code=$?
        echo "$code $(now_us)" >"$RUN/exit.tmp"
        mv "$RUN/exit.tmp" "$RUN/exit"
    ) &
    JOB=$!
    wait_until 10 test -s "$RUN/mpiexec.pid" || fail "mpiexec did not start"
}

job_ended() { [ -e "$RUN/exit" ]; }

looping_or_ended() {
    job_ended && return
    [ -e "$RUN/pids/looping" ] || return 1
    local r ranks
    ranks=$(rank_count)
    for ((r = 0; r < ranks; r++)); do
        [ -e "$RUN/pids/rank.$r" ] || return 1
    done
}

# Waits until the program says that its loop runs, on all ranks.
await_loop() {
    wait_until "$1" looping_or_ended || fail "the job did not come to its loop in $1 s: $(job_log)"
    ! job_ended || fail "the job ended before its loop began: $(job_log)"
}

job_log() {
    echo "mpiexec's output follows (also in $RUN)"
    cut -d' ' -f2- "$RUN/out" "$RUN/err" 2>/dev/null | tail -n 20
}

# Ends a job that is still there.
end_job() {
    [ ! -s "$RUN/mpiexec.pid" ] || end_mpiexec "$(cat "$RUN/mpiexec.pid")"
}

# Processes of the run on this machine, found by the marker in their environment; local mode only.
local_pids() {
    local env
    for env in /proc/[0-9]*/environ; do
        ! grep -qzxF "FAULTLOC_TEST_RUN=$RUN" "$env" 2>/dev/null || basename "$(dirname "$env")"
    done
}

# Processes that should be gone once mpiexec has ended. A silent ssh client is none of them.
left_over_pids() {
    local host pid
    if [ -n "${LOCAL:-}" ]; then
        local_pids
        return
    fi
    for host in login $(all_hosts); do
        for pid in $(ip netns pids "$(ns_of "$host")"); do
            ! running "$pid" || grep -qz '^silent-ssh' "/proc/$pid/cmdline" 2>/dev/null ||
                echo "$pid"
        done
    done
}
nothing_left() { [ -z "$(left_over_pids)" ]; }

# Puts the number of processes left behind into LEFT and ends them. A stand-in for ssh to a host
# that is off is ended without being counted: a real one stays, too.
sweep_job() {
    local pids
    LEFT=0
    wait_until "${1:-5}" nothing_left || LEFT=$(left_over_pids | wc -l)
    [ "$LEFT" = 0 ] || describe_pids >"$RUN/left-over"
    if [ -n "${LOCAL:-}" ]; then
        pids=$(local_pids)
        # shellcheck disable=SC2086
        [ -z "$pids" ] || kill -KILL $pids 2>/dev/null || :
        # what agents that were killed left of their symptom sockets
        [ ! -s "$RUN/mpiexec.pid" ] || rm -f "/tmp/faultloc-$(id -u)/$(cat "$RUN/mpiexec.pid")@"*
    else
        local host
        for host in login $(all_hosts); do kill_host "$(ns_of "$host")" || :; done
    fi
    [ -z "${JOB:-}" ] || wait "$JOB" 2>/dev/null || :
    JOB=
}

describe_pids() {
    local pid
    for pid in $(left_over_pids); do
        echo "$pid $(cat "/proc/$pid/comm") $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done
}

# --- who is where -----------------------------------------------------------------------------

pids_folder() { echo "${RUN:-$(state_dir)/job}/pids"; }

# A program that writes no file is found by the rank in its environment, in its host's namespace.
rank_from_environ() {
    local host pid
    [ -z "${LOCAL:-}" ] || return 0
    for host in $(all_hosts); do
        for pid in $(ip netns pids "$(ns_of "$host")"); do
            if grep -qzxF "PMI_RANK=$1" "/proc/$pid/environ" 2>/dev/null; then
                echo "$host $pid"
                return
            fi
        done
    done
}

# rank_place RANK: "HOST PID"
rank_place() {
    local file place
    is_number "$1" || fail "a rank is a number, got '$1'"
    file=$(pids_folder)/rank.$1
    if [ -s "$file" ]; then place=$(cat "$file"); else place=$(rank_from_environ "$1"); fi
    [ -n "$place" ] || fail "no running rank $1 found"
    echo "$place"
}
rank_host() { local p; p=$(rank_place "$1") || exit; echo "${p% *}"; }
rank_pid() { local p; p=$(rank_place "$1") || exit; echo "${p#* }"; }

# agent_pid HOST [deputy]: the process that is the host's agent, or its deputy, in this job.
agent_pid() {
    local pid role=${2:-agent}
    for pid in $(ip netns pids "$(ns_of "$1")"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "faultloc-$role" ] || { echo "$pid"; return; }
    done
    fail "no process faultloc-$role runs on $1"
}

# ranks_of_host HOST: its ranks, ascending, separated by commas.
ranks_of_host() {
    local f
    for f in "$(pids_folder)"/rank.*; do
        [ "$(cut -d' ' -f1 "$f")" != "$1" ] || echo "${f##*.}"
    done | sort -n | paste -sd,
}
all_ranks() {
    local f
    for f in "$(pids_folder)"/rank.*; do echo "${f##*.}"; done | sort -n | paste -sd,
}
