# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2154

# What agents and deputies take while a job is healthy, on hosts that are network namespaces: CPU
# time, wake-ups, packets, memory. Sourced by bench.sh.

cluster=$here/../cluster/cluster
cluster_name=bench$$
job=/run/faultloc-cluster/$cluster_name/job
settle=3 # seconds; what agents do at the start of a job is over by then

cluster_hosts() { seq -f h%g "$hosts"; }

# start_healthy FAULTLOC: a job whose ranks compute nothing for 20 ms, then meet, again and again;
# returns when that has gone on for a while.
start_healthy() {
    local end=$((SECONDS + 300))
    rm -rf "$job" "$work/stop"
    "$cluster" run --name "$cluster_name" --quiet --ppn "$ppn" --mpi "$mpi" \
        --env MPIR_CVAR_FAULTLOC="$1" --env MPIR_CVAR_FAULTLOC_REPORT= \
        --env MPIR_CVAR_FAULTLOC_TRACE= -- alltoall --pause-ms 20 --seconds 86400 \
        --until "$work/stop" </dev/null >"$work/healthy.out" 2>"$work/healthy.err" &
    healthy=$!
    until [ -e "$job/pids/looping" ]; do
        { running "$healthy" && [ $SECONDS -lt $end ]; } ||
            die 1 "the healthy job did not come to its loop, see $work/healthy.err"
        sleep 0.1
    done
    sleep $settle
}

end_healthy() {
    : >"$work/stop"
    wait "$healthy" || die 1 "the healthy job failed with exit code $?, see $work/healthy.err"
    healthy=
    ! grep -F '[faultloc]' "$work/healthy.err" ||
        die 1 "FaultLoc says something about a healthy job"
}

# memory PID KIND...: KiB, each shared page in proportion. Pss is all, Pss_Anon and Pss_Shmem are
# without files, such as code, which other processes of the machine may share or not.
memory() {
    local file=/proc/$1/smaps_rollup
    shift
    awk -v kinds=" $* " 'index(kinds, " " substr($1, 1, length($1) - 1) " ") { n += $2 }
        END { print n }' "$file"
}

# ranks_memory: of all ranks together, KiB.
ranks_memory() {
    local file pid sum=0
    for file in "$job"/pids/rank.*; do
        read -r _ pid <"$file"
        sum=$((sum + $(memory "$pid" Pss_Anon Pss_Shmem)))
    done
    echo $sum
}

# look_at_agents: a line for each host: its name; of its agent and its deputy together the
# nanoseconds on a CPU, the times that a thread has gone to sleep, KiB.
look_at_agents() {
    local host pid
    for host in $(cluster_hosts); do
        for pid in $(ip netns pids "$cluster_name-$host"); do
            case $(cat "/proc/$pid/comm" 2>/dev/null) in faultloc-agent | faultloc-deputy) ;;
                *) continue ;;
            esac
            echo "$host $(cat "/proc/$pid/task"/*/schedstat | awk '{ s += $1 } END { print s }')" \
                "$(cat "/proc/$pid/task"/*/status |
                    awk '$1 == "voluntary_ctxt_switches:" { s += $2 } END { print s }')" \
                "$(memory "$pid" Pss)"
        done | awk -v host="$host" '{ ns += $2; n += $3; kib += $4 }
            END { if (NR != 2) exit 1; print host, ns, n, kib }' ||
            die 1 "there are not an agent and a deputy on $host"
    done
}

# wait_and_say SECONDS
wait_and_say() {
    local end=$((SECONDS + $1))
    while [ $SECONDS -lt $end ]; do
        running "$healthy" || die 1 "the healthy job has ended, see $work/healthy.err"
        sleep 1
        [ $(((end - SECONDS) % 10)) != 0 ] || say "overhead: $((end - SECONDS)) s to go"
    done
}

end_cluster() {
    : >"$work/stop"
    [ -z "${healthy:-}" ] || wait "$healthy" 2>/dev/null || :
    "$cluster" down --name "$cluster_name" --quiet 2>/dev/null || :
}

measure_overhead() {
    local why off from to
    if ! why=$("$cluster" check --quiet 2>&1); then
        leave_out overhead "${why#*SKIP: }"
        return 0
    fi
    command -v nft >/dev/null || {
        leave_out overhead "no program nft (Debian package nftables)"
        return 0
    }
    say "overhead: a healthy job on $hosts hosts of $ppn ranks, without and with FaultLoc"
    trap end_cluster EXIT
    "$cluster" up --name "$cluster_name" --hosts "$hosts" --quiet || die 1 "no cluster"
    start_healthy 0
    wait_and_say "$seconds" # a rank takes more memory in its first seconds, off and on
    off=$(ranks_memory)
    end_healthy
    start_healthy 1
    "$cluster" count start --name "$cluster_name"
    look_at_agents >"$work/agents.0"
    from=$(now_us)
    wait_and_say "$seconds"
    look_at_agents >"$work/agents.1"
    to=$(now_us)
    "$cluster" count read --name "$cluster_name" >"$work/ports"
    [ -s "$work/ports" ] || die 1 "no port of an agent was found"
    paste -d' ' "$work"/agents.{0,1} | jq -R -n --argjson us $((to - from)) \
        --argjson hosts "$hosts" --argjson ppn "$ppn" --argjson ranks $(($(ranks_memory) - off)) \
        --argjson packets "$(awk '{ n += $3 + $5 } END { print n }' "$work/ports")" '
        def row($name; $unit; $values; $bound): {name: $name, unit: $unit, values: $values} +
            if $bound == null then {} else {bound: $bound,
                state: (if ($values | max) <= $bound then "met" else "not met" end)} end;
        [inputs | split(" ") | map(tonumber? // .)] as $at |
        ($at | map(.[7])) as $agents | ($ranks / $hosts / $ppn) as $rank |
        {seconds: ($us / 1e6), hosts: $hosts, ranks_per_host: $ppn, rows: [
            row("CPU time of agent and deputy"; "% of a core";
                $at | map((.[5] - .[1]) / 1e3 / $us * 100); 0.1),
            row("wake-ups of agent and deputy"; "per second";
                $at | map((.[6] - .[2]) * 1e6 / $us); 3),
            row("packets of all agents and deputies"; "packets"; [$packets]; 0),
            row("memory of agent and deputy"; "KiB"; $agents; null),
            row("memory in a rank, mean"; "KiB"; [$rank]; null),
            row("memory in all, per rank"; "KiB"; $agents | map($rank + . / $ppn); 256)]}' \
        >"$work/overhead.json"
    end_healthy
    end_cluster
    trap - EXIT
}
