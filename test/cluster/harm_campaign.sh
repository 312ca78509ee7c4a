#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2015

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/cluster
# shellcheck source=/dev/null
. "$here/lib/common.sh"
. "$here/lib/campaign.sh"

rank_kinds="fork fork-exec fork-exit descriptors threads memory stderr close"
# What a rank does outside MPI for at least so many seconds, and may do: those of 75 s are waits
# that the action abort must not end, where it ends a job for a hang after 60 s.
declare -A call_kinds=([write]=25 [send]=25 [recv]=25 [read]=25 [filter]=25 [input]=75 [sleep]=75
    [poll]=75 [server]=75 [service]=75 [calls]=15 [daemon]=5 [memory-group]=20 [real-time]=20)
in_step="alltoall halo pipeline" # programs all ranks of which soon wait for one
all_kinds="net-all net-one net-host stop-one stop-even stop-apart stop-late freeze-host freeze-all busy"
all_kinds+=" pressure disk-full debug-rank debug-node debug-gdb flood clocks agent-kill agent-stop"
all_kinds+=" agents-kill tls480 tls500 $rank_kinds write send recv read filter input sleep poll"
all_kinds+=" server service calls daemon memory-group real-time"
all_programs="alltoall halo pipeline master phases"

usage() {
    cat <<END
Usage: test/cluster/harm_campaign.sh [OPTION]...

Disturbs healthy jobs on a cluster of network namespaces at random moments, for a limited time, and
checks that FaultLoc does them no harm: the job ends with exit code 0 and right results, no verdict
is in force at its end, FaultLoc prints no error message, and no process, socket, shared memory or
file is left. Prints a table. A verdict that was withdrawn is allowed, and counted.

  --kinds K,K,...     these kinds of disturbance (all):
                        net-all net-one net-host
                                       no packet passes: on both networks, on one of them, to and
                                       from one host
                        stop-one       one rank is stopped, for at least a second
                        stop-even      all ranks are stopped, and continue at the same time
                        stop-apart     all ranks are stopped, and continue one after the other,
                                       0.5 s apart
                        stop-late      all ranks are stopped; one continues 1.6 s after the others
                        freeze-host    all processes of a host are frozen by a control group
                        freeze-all     all processes of all hosts are frozen
                        busy           100 busy processes on the job's processors
                        pressure       the job's control group has hardly any memory for files
                        disk-full      the disk of report and trace is full
                        debug-rank     a debugger holds a rank
                        debug-node     a debugger holds all ranks of a host
                        debug-gdb      gdb holds a rank
                        flood          processes without the job's key open connections to a
                                       host's agent
                        clocks         the hosts' monotonic clocks are up to a day apart
                        agent-kill agent-stop agents-kill
                                       a process faultloc-agent of a host is killed; is stopped;
                                       all of a host are killed
                        tls480 tls500  the program has 480, 500 KB of static thread-local storage
                      and what a rank does to its own process (test/mpi/work.c, --harm):
                        fork fork-exec fork-exit
                                       it forks; children call _exit, run a program, call exit
                        descriptors    it opens files until it has no descriptors left
                        threads        it starts as many threads as possible, at most 2000
                        memory         it limits its address space, and uses all of it
                        stderr         it fills standard error, which nobody reads for five seconds
                        close          it closes the descriptors that are not its own
                      and calls of a rank that last, after a history of 14 s and more, so that a
                      verdict is being made; of some runs somebody has all stacks taken meanwhile
                      (status --stacks), too:
                        write send recv read
                                       one transfer of 5 MB, or of what comes late, to or from a
                                       slow process; the call must return all bytes, unchanged
                        filter         it sleeps under a filter of system calls that has it killed
                                       for restart_syscall
                        input          rank 0 waits for a line of standard input
                        sleep poll     a call with a timeout
                        server         all ranks poll for a request that does not come
                        service        a thread of each waits for one, the first for a signal
                        calls          its forked children make MPI calls that speak to nobody
                        daemon         all ranks go on in a forked child, and end without
                                       MPI_Finalize (mpiexec then has exit code 1, as without
                                       FaultLoc, and a verdict says so)
                        memory-group   it has 2000 threads and 300 MB in a control group with 48 MB
                                       of room, while stacks are taken
                        real-time      mpiexec has a real-time policy (chrt -r 1); FaultLoc's own
                                       processes must not have it
                      These take programs all ranks of which soon wait for one ($in_step).
                      The durations of net-*, stop-one and freeze-host are those of a silence
                      (--survive, --silence-min); those of stop-even, stop-apart, stop-late and
                      freeze-all are set by --stop-min and --stop-max.
  --programs P,P,...  patterns of test/mpi/work.c, one of which is drawn for each run (all):
                        $all_programs
  --action A,A,...    MPIR_CVAR_FAULTLOC_ACTION of the jobs: abort, report (abort)
  --with-fault        during each disturbance a host is switched off, or a rank stopped; the report
                      must name it once, and nothing else. Of calls that last: after a short one
                      the rank hangs, and the report must name it and the function
  --survive S         the longest silence that must cause no verdict, in seconds (5). With the
                      action abort, no longer one is drawn. With report, silences of up to 5 s are
                      drawn, and one longer than S may cause verdicts that are true at that time
  --silence-min S     the shortest silence, in seconds (0.2)
  --stop-min S, --stop-max S
                      the shortest and the longest time that all ranks are stopped, in seconds
                      (0.5, 60)
  --fork-mb M         megabytes that a rank has written to before it forks (2000)
  --settle S          how long after a disturbance to watch for verdicts, in seconds (3)
  --hosts N           hosts (4)
  --ppn K,K,...       ranks per host (1,2)
  --runs N            runs of each kind (1)
  --seed N            the seed of what is drawn (random). Run R of a kind uses N + R - 1, so that
                      '--runs 1 --seed' with the seed, kind, program, action and ppn of a run
                      repeats it
  --off               FaultLoc is off, to find what harms MPI itself
  --mpi PREFIX        the MPI under test (FAULTLOC_MPI)
  --keep FOLDER       keep the files of every run there
  --json FILE         write the results as JSON, one line per run (- for standard output)
  --help              this text

Exit code: 0 all runs passed, 1 a run failed, 2 wrong usage, 77 no root or no namespaces here, or
all runs were skipped.
END
}

kinds=${all_kinds// /,} programs=${all_programs// /,} actions=abort with_fault='' survive=5
silence_min=0.2 stop_min=0.5 stop_max=60 fork_mb=2000 settle=3 hosts=4 ppns=1,2 runs=1
seed=$((RANDOM % 30000))
off='' keep='' json=''
read_options '--with-fault:with_fault --off:off --kinds=kinds --programs=programs --action=actions
    --survive=survive --silence-min=silence_min --stop-min=stop_min --stop-max=stop_max
    --fork-mb=fork_mb --settle=settle --hosts=hosts --ppn=ppns --runs=runs --seed=seed
    --mpi=FAULTLOC_MPI --keep=keep --json=json' "$@"
check_words kind "$kinds" "$all_kinds"
check_words program "$programs" "$all_programs"
check_words action "$actions" "abort report"
check_values '--runs, --seed, --settle and --fork-mb' '[0-9]+' "$runs" "$seed" "$settle" "$fork_mb"
check_values --ppn "$NUMBERS" "$ppns"
check_values --hosts '([2-9]|[1-9][0-9]+)' "$hosts"
check_values '--survive, --silence-min, --stop-min and --stop-max' "$DECIMAL" \
    "$survive" "$silence_min" "$stop_min" "$stop_max"
to_ms() { awk -v s="$1" 'BEGIN { printf "%d", s * 1000 }'; }
survive_ms=$(to_ms "$survive") silence_min_ms=$(to_ms "$silence_min")
stop_min_ms=$(to_ms "$stop_min") stop_max_ms=$(to_ms "$stop_max")
[ "$silence_min_ms" -ge 1 ] && [ "$survive_ms" -ge "$silence_min_ms" ] ||
    die 2 "--survive $survive is less than --silence-min $silence_min"
[ "$stop_min_ms" -ge 1 ] && [ "$stop_max_ms" -ge "$stop_min_ms" ] ||
    die 2 "--stop-max $stop_max is less than --stop-min $stop_min"
"$cluster" check --quiet || exit
need jq jq
need nft nftables
[ -z "$json" ] || [ "$json" = - ] || : >"$json"
for dir in "${FAULTLOC_MPI:-$PWD/stage}" "$PWD/inst"; do # the jobs run in another folder
    [ ! -d "$dir" ] || { FAULTLOC_MPI=$(cd "$dir" && pwd) && export FAULTLOC_MPI && break; }
done

for faultloc in "${FAULTLOC_PROGRAM:-}" "${FAULTLOC_MPI:-}/bin/faultloc" \
    "${top_builddir:-$PWD}/tools/faultloc"; do
    [ ! -x "$faultloc" ] || break
done
faultloc=$(realpath "$faultloc")

name=g$$
work=$(mktemp -d)
job=/run/faultloc-cluster/$name/job
group=
finish() {
    local code=$?
    trap - EXIT
    : >"$work/read"
    [ -z "${pid:-}" ] || { kill "$pid" && wait "$pid" || :; } 2>/dev/null
    "$cluster" down --name "$name" --quiet 2>/dev/null || :
    leave_group
    clear_work
    rm -rf "$work"
    exit $code
}
clear_work() {
    [ ! -d "$work/small" ] || ! mountpoint -q "$work/small" || umount "$work/small" || umount -l "$work/small"
    rm -rf "${work:?}"/*
}

# --- what is drawn ----------------------------------------------------------------------------

# A duration is as likely to be from 1 to 2 s as from 2 to 4 s.
draw_ms() { # FROM TO
    DRAWN=$RANDOM
    DRAWN=$(awk -v a="$1" -v b="$2" -v r="$DRAWN" \
        'BEGIN { printf "%d", a * exp(r / 32767 * log(b / a)) }')
}
draw_silence() {
    local most=5000
    [ "$action" = report ] && [ "$survive_ms" -lt $most ] || most=$survive_ms
    draw_ms "$silence_min_ms" "$most"
}
# The fault of --with-fault is on another host; of a master and its workers it is the master's.
draw_host() {
    local first=1
    [ -z "$with_fault" ] || [ "$program" != master ] || first=2
    draw $first "$hosts"
    HOST=$DRAWN TARGET=h$DRAWN
}
draw_order() { # all ranks
    local r i size=$((hosts * ppn)) t
    ORDER=()
    for ((r = 0; r < size; r++)); do ORDER+=("$r"); done
    for ((i = size - 1; i > 0; i--)); do
        draw 0 $i
        t=${ORDER[i]} ORDER[i]=${ORDER[DRAWN]} ORDER[DRAWN]=$t
    done
}

s_of() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }

# --- what a run is ----------------------------------------------------------------------------

# plan: draws what is done, when and for how long. DID says it; TARGET is the host that is disturbed
# (none, or all: ''), LASTS and DELAY are in milliseconds; FAULT is for 'cluster fault'; ARGS are of
# the program, OPTIONS of the job; ALLOWED matches what FaultLoc may say beside verdicts. SKIP is
# the reason why this cannot be done here.
plan() {
    ARGS=() OPTIONS=() AS=() IN_STEP=() FAULT=() TARGET='' ALLOWED='' VICTIM='' SKIP=''
    NO_STACKS='' FAULT_AT=0
    PROGRAM=work DID=$kind REPORT=$work/report.json TRACE=$work/trace
    # shellcheck disable=SC2086
    draw_of ${programs//,/ }
    program=$DRAWN
    [ -z "${call_kinds[$kind]:-}" ] || { plan_call; return; }
    draw 300 8000 # a history of short waits counts from the third second on
    DELAY=$DRAWN
    draw_ms 2000 4000
    LASTS=$DRAWN
    case $kind in
        net-* | freeze-host) draw_silence; LASTS=$DRAWN ;;
        stop-one) draw 1000 5000; LASTS=$DRAWN ;;
        stop-* | freeze-all) draw_ms "$stop_min_ms" "$stop_max_ms"; LASTS=$DRAWN ;;
        stderr) LASTS=5000 ;;
    esac
    case $kind in
        net-all) FAULT=(silence all "$LASTS") ;;
        net-one) draw_of data mgmt; FAULT=(silence "$DRAWN" "$LASTS") DID="$DRAWN" ;;
        net-host) draw_host; FAULT=(silence "$TARGET" "$LASTS") ;;
        stop-*) draw_order ;;
        freeze-*) plan_freeze ;;
        busy) draw_host; FAULT=(crowd "$TARGET" 100 "$LASTS") TARGET='' ;;
        debug-*) plan_debug ;;
        flood) draw_host; FAULT=(flood "$TARGET" "$LASTS") ALLOWED='node h[0-9]+: refused ' ;;
        clocks) plan_clocks ;;
        agent*)
            draw_host
            draw 0 99
            AGENT=$DRAWN ALLOWED="node $TARGET: .*agent" ;;
        tls*) PROGRAM=work_$kind ;;
        disk-full)
            REPORT=$work/small/report.json TRACE=$work/small/trace
            ALLOWED='cannot write the (trace|report) to ' ;;
    esac
    [[ " $rank_kinds " != *" $kind "* ]] || plan_rank
    [ -z "$with_fault" ] || plan_fault
    case $kind in
        stop-one) FAULT=(stops "$LASTS" "${ORDER[0]}") DID="rank ${ORDER[0]}" ;;
        stop-even) plan_stops 0 0 ;;
        stop-apart) plan_stops 500 0 ;;
        stop-late) plan_stops 0 1600 ;;
    esac
    DID="${DID#"$kind"}${TARGET:+ $TARGET} $(s_of "$LASTS") s at $(s_of "$DELAY")"
    DID=${DID# }${VICTIM:+, $VICTIM at $(s_of $((DELAY + FAULT_AT)))}
}

# plan_stops APART LATE: how many ms after each other, and how many more the last one.
plan_stops() {
    local i list='' at
    for ((i = 0; i < ${#ORDER[@]}; i++)); do
        at=$((i * $1))
        [ $((i + 1)) -lt ${#ORDER[@]} ] || at=$((at + $2))
        list+=",${ORDER[i]}"
        if [ "$VICTIM" = "stop ${ORDER[i]}" ]; then
            list+=- # it never goes on
        elif [ $at -gt 0 ]; then
            list+=+$at
        fi
    done
    FAULT=(stops "$LASTS" "${list#,}") DID="ranks ${list#,}"
}

plan_freeze() {
    local all
    if [ "$kind" = freeze-host ]; then
        draw_host
        FAULT=(freeze "$TARGET" "$LASTS")
    else
        all=$(seq -s, -f 'h%g' "$hosts")
        FAULT=(freeze "$all" "$LASTS")
    fi
    [ -d /sys/fs/cgroup/freezer ] || [ -e /sys/fs/cgroup/cgroup.controllers ] ||
        SKIP="no control groups to freeze by"
}

plan_debug() {
    local first
    draw_host
    first=$(((HOST - 1) * ppn))
    draw $first $((first + ppn - 1))
    FAULT=(hold "$LASTS" "$DRAWN") DID="rank $DRAWN"
    if [ "$kind" = debug-node ]; then
        FAULT[2]=$(seq -s, $first $((first + ppn - 1)))
        DID="ranks ${FAULT[2]}"
    elif [ "$kind" = debug-gdb ]; then
        FAULT+=(gdb)
        command -v gdb >/dev/null || SKIP="no program 'gdb'"
    fi
    [ "$kind$ppn" != debug-node1 ] || SKIP="a host has one rank: the same as debug-rank"
}

plan_clocks() {
    draw 1 86400
    OPTIONS=(--skew $((DRAWN / hosts + 1))) DID="clocks $((DRAWN / hosts + 1)) s apart"
    unshare --time --fork --monotonic 1 true 2>/dev/null || SKIP="no namespaces of time here"
}

plan_rank() {
    draw_host
    draw $(((HOST - 1) * ppn)) $((HOST * ppn - 1))
    RANK=$DRAWN DID="rank $DRAWN"
    draw 1 1000000
    ARGS=(--harm "$kind" --harm-rank "$RANK" --harm-after "$(s_of "$DELAY")"
        --harm-for "$(s_of "$LASTS")" --harm-seed "$DRAWN")
    [[ $kind != fork* ]] || ARGS+=(--harm-mb "$fork_mb")
}

plan_call() {
    local harm=$kind p least=$((call_kinds[$kind] * 1000))
    for p in $in_step; do [[ ",$programs," != *",$p,"* ]] || IN_STEP+=("$p"); done
    [ ${#IN_STEP[@]} -gt 0 ] || { SKIP="of no program do all ranks soon wait for one"; return; }
    draw_of "${IN_STEP[@]}"
    program=$DRAWN
    draw 14000 20000
    DELAY=$DRAWN
    draw $least $((least * 13 / 10))
    LASTS=$DRAWN
    draw 0 $((hosts * ppn - 1))
    RANK=$DRAWN
    draw 0 1
    ASKS=$DRAWN
    case $kind in
        input) RANK=0 ;;
        memory-group) harm=threads ASKS=1 ARGS=(--harm-mb 300) ;;
        real-time)
            harm=sleep ASKS=1 AS=(chrt -r 1)
            "${AS[@]}" true 2>/dev/null || SKIP="no real-time policy can be had" ;;
    esac
    if [ -n "$with_fault" ]; then
        FAULT_AT=1000 VICTIM="hang $RANK" WANT="user-code-hang:$RANK"
        [ "$harm" = threads ] || LASTS=300 # a stay that is no longer than others
        ARGS+=(--hang-rank "$RANK" --hang-after "$(s_of $((DELAY + FAULT_AT)))")
    fi
    # the ranks are to be seen in MPI now and then, else a wait there is nothing familiar
    ARGS+=(--harm "$harm" --harm-rank "$RANK" --harm-after "$(s_of "$DELAY")"
        --harm-for "$(s_of "$LASTS")" --pause-ms 1)
    DID="rank $RANK $(s_of "$LASTS") s at $(s_of "$DELAY")"
    [ "$ASKS" = 0 ] || DID+=", stacks on demand"
    DID+=${VICTIM:+, $VICTIM at $(s_of $((DELAY + FAULT_AT)))}
}

# On a host that is not itself disturbed. Of a worker that is lost nobody learns but the master, who
# waits for any of them; and a frozen host cannot lose its processes.
plan_fault() {
    local rank=0
    draw 0 $((hosts * ppn - 1))
    [ "$program" = master ] || rank=$DRAWN
    while [ "h$((rank / ppn + 1))" = "$TARGET" ]; do rank=$(((rank + ppn) % (hosts * ppn))); done
    draw_of power-off stop
    if [ "$DRAWN" = power-off ] && [ "$kind" != freeze-all ]; then
        VICTIM="power-off h$((rank / ppn + 1))" WANT="node-outage:h$((rank / ppn + 1))"
    else
        VICTIM="stop $rank" WANT="process-stopped:$rank"
        # whoever is disturbed continues afterwards, and would not be stopped any more
        [ "$kind" != stop-one ] || [ "${ORDER[0]}" != "$rank" ] || ORDER[0]=${ORDER[1]}
    fi
    draw 0 "$LASTS"
    FAULT_AT=$DRAWN
}

# A control group of memory, by either version of the kernel's interface.
make_group() {
    if [ -d /sys/fs/cgroup/memory ]; then
        group=/sys/fs/cgroup/memory/faultloc-$name
    else
        group=/sys/fs/cgroup/faultloc-$name
        echo +memory >/sys/fs/cgroup/cgroup.subtree_control || :
    fi 2>/dev/null
    mkdir "$group" 2>/dev/null && [ -e "$(group_file limit_in_bytes max)" ] ||
        { leave_group; SKIP="no control group can be made"; }
}
leave_group() { [ -z "$group" ] || rmdir "$group" 2>/dev/null || :; group=; }
group_file() { [[ $group == */memory/* ]] && echo "$group/memory.$1" || echo "$group/memory.$2"; }
group_was_short() {
    if [[ $group == */memory/* ]]; then
        [ "$(cat "$group/memory.failcnt")" -gt 0 ]
    else
        grep -qE '^max [^0]' "$group/memory.events"
    fi
}
group_killed() { grep -qE '^oom_kill [^0]' "$(group_file oom_control events)"; }

prepare() {
    : >"$work/err"
    case $kind in
        memory-group) make_group ;;
        input) mkfifo "$work/in" && exec {input}<>"$work/in" ;;
        pressure)
            make_group
            [ "$(stat -f -c %T "$work")" != tmpfs ] || SKIP="$work is memory, not a disk" ;;
        disk-full)
            mkdir "$work/small"
            mount -t tmpfs -o size=256k faultloc "$work/small" || SKIP="no tmpfs can be mounted" ;;
        stderr)
            mkfifo "$work/pipe"
            (
                trap - EXIT
                exec <"$work/pipe" >"$work/err"
                wait_until 200 test -e "$work/read"
                cat
            ) & ;;
    esac
}

start_job() {
    local faultloc=1 err=$work/err in=/dev/null
    [ -z "$off" ] || faultloc=0
    [ "$kind" != input ] || in=$work/in
    [ "$kind" != stderr ] || err=$work/pipe
    mkdir "$work/cwd"
    (
        [ -z "$group" ] || echo $BASHPID >"$group/cgroup.procs"
        cd "$work/cwd"
        MPIR_CVAR_FAULTLOC_TRACE=$TRACE exec ${AS[@]+"${AS[@]}"} "$cluster" run --name "$name" \
            --hosts "$hosts" --ppn "$ppn" --quiet --env MPIR_CVAR_FAULTLOC=$faultloc \
            --env MPIR_CVAR_FAULTLOC_ACTION="$action" --env FI_PROVIDER=tcp \
            --env FI_TCP_IFACE=eth0 --env MPIR_CVAR_FAULTLOC_REPORT="$REPORT" \
            ${OPTIONS[@]+"${OPTIONS[@]}"} -- \
            "$PROGRAM" --pattern "$program" --until "$work/end" ${ARGS[@]+"${ARGS[@]}"}
    ) <"$in" >"$work/out" 2>"$err" &
    pid=$!
}

ended() { [ ! -d "/proc/$pid" ]; }
is_looping() {
    [ -e "$job/pids/looping" ] &&
        [ "$(compgen -G "$job/pids/rank.*" | wc -l)" = $((hosts * ppn)) ]
}
has_begun() { is_looping || ended; }

# --- the disturbance, and what goes wrong meanwhile -------------------------------------------

disturb() {
    local fault=
    if [ -n "$VICTIM" ] && [[ $VICTIM != hang* ]]; then
        (
            trap - EXIT
            pause_ms $((DELAY + FAULT_AT))
            # shellcheck disable=SC2086
            "$cluster" fault --name "$name" --quiet $VICTIM
        ) 2>>"$work/harness" &
        fault=$!
    fi
    # the rank that has filled standard error may hang by then, because of the fault
    if [ "$kind" = stderr ] && [ -n "$fault" ]; then
        (
            trap - EXIT
            pause_ms $((DELAY + LASTS))
            : >"$work/read"
        ) &
    fi
    disturb_now 2>>"$work/harness" || ended ||
        blame "the disturbance failed: $(tail -n 1 "$work/harness")"
    : >"$work/read"
    [ -z "$fault" ] || wait $fault || ended ||
        blame "the fault failed: $(tail -n 1 "$work/harness")"
}

disturb_now() {
    if [ -n "${call_kinds[$kind]:-}" ]; then
        wait_until 120 has_called && disturb_call
        return
    fi
    if [[ " $rank_kinds " == *" $kind "* ]]; then # the rank itself waits
        wait_until 180 rank_is_done && [ -e "$job/pids/harmed.$RANK" ]
        return
    fi
    pause_ms "$DELAY"
    case $kind in
        pressure) press_memory ;;
        disk-full) fill_disk ;;
        agent*) harm_agent ;;
        clocks | tls*) pause_ms "$LASTS" ;;
        *) "$cluster" fault --name "$name" --quiet "${FAULT[@]}" ;;
    esac
}
rank_is_done() { [ -e "$job/pids/harmed.$RANK" ] || [ -e "$job/pids/blocked.$RANK" ] || ended; }
has_called() { [ -e "$job/pids/harm.$RANK" ] || ended; }

# While the call lasts, and for a moment longer where it was short: a rank is to hang.
disturb_call() {
    local i end=$((SECONDS + (LASTS + 999) / 1000))
    [ "$kind" != memory-group ] || { pause_ms 3000; leave_room 48; }
    for ((i = 0; i < 5 && ASKS; i++)); do
        rank_is_done && [ -z "$VICTIM" ] && break
        [ "$kind" = input ] && [ -n "$VICTIM" ] && break # the line would come too late
        take_stacks
        pause_ms 2000
    done
    if [ "$kind" = input ]; then
        until ended || [ $SECONDS -ge $end ]; do pause_ms 100; done
        echo "go on" >&"$input"
        exec {input}>&-
    fi
    wait_until 300 rank_is_done && ! ended || return 1
    [ "$kind" != memory-group ] || leave_room all
}

# As a person does. Of real-time jobs it is looked at who has which policy meanwhile. Process numbers
# come round in a long campaign, and bash may then wait for another process than the one meant.
take_stacks() {
    rm -f "$work/asked"
    { ask_for_stacks || echo failed; } >"$work/asked" &
    until asked; do
        [ "$kind" != real-time ] || judge_policies
        pause_ms 50
    done
    ! grep -q failed "$work/asked" || NO_STACKS=$(tail -n 1 "$work/stacks")
}
ask_for_stacks() {
    timeout 60 "$cluster" exec --name "$name" h1 "$faultloc" status --stacks --node h1 \
        >"$work/stacks" 2>&1 && echo ok
}
asked() { [ -s "$work/asked" ]; }

judge_policies() {
    local host p command policy
    for host in $(seq -f 'h%g' "$hosts"); do
        for p in $(ip netns pids "$name-$host"); do
            read -r policy command < <(ps -o cls=,comm= -p "$p") || continue
            case $command:$policy in
                faultloc-*:[FR]* | work:[!R]*)
                    [[ $WHY == *"$command has"* ]] || blame "$command has policy $policy" ;;
            esac
        done
    done
}

# leave_room MB: beyond what the control group has; all: any.
leave_room() {
    local limit
    limit=$(group_file limit_in_bytes max)
    if [ "$1" != all ]; then
        echo $(($(cat "$(group_file usage_in_bytes current)") + ($1 << 20))) >"$limit"
    else
        echo -1 >"$limit" 2>/dev/null || echo max >"$limit"
    fi
}

# What the job has of files, its own programs and libraries among them, gets 24 MB, and somebody
# else in the group writes 256 and reads them again and again.
press_memory() {
    local usage files
    usage=$(cat "$(group_file usage_in_bytes current)")
    files=$(awk '/^(total_)?(in)?active_file / { v[$1] = $2 }
        END { t = "total_active_file" in v ? "total_" : ""
              print v[t "active_file"] + v[t "inactive_file"] }' "$group/memory.stat")
    echo $((usage - files + (24 << 20))) >"$(group_file limit_in_bytes max)"
    # shellcheck disable=SC2016
    (
        trap - EXIT
        echo $BASHPID >"$group/cgroup.procs"
        timeout -s KILL "$(s_of "$LASTS")" sh -c 'dd if=/dev/zero of="$1" bs=1M count=256
            while :; do cat "$1" >/dev/null; done' sh "$work/big"
    ) || :
    leave_room all
    rm "$work/big"
    group_was_short || blame "the control group was never short of memory"
    ! group_killed || SKIP="the kernel has ended a process for memory"
}

fill_disk() {
    dd if=/dev/zero of="$work/small/fill" bs=4k status=none || :
    pause_ms "$LASTS"
    rm "$work/small/fill"
}

# The processes of a host that are agent and deputy.
harm_agent() {
    local p agents=()
    for p in $(ip netns pids "$name-$TARGET"); do
        [ "$(cat "/proc/$p/comm" 2>/dev/null)" != faultloc-agent ] || agents+=("$p")
    done
    if [ ${#agents[@]} = 0 ]; then
        SKIP="no process 'faultloc-agent' on $TARGET: this build has none"
        return
    fi
    p=${agents[AGENT % ${#agents[@]}]}
    case $kind in
        agent-kill) kill -KILL "$p" ;;
        agents-kill) kill -KILL "${agents[@]}" ;;
        agent-stop) kill -STOP "$p" ;;
    esac
    pause_ms "$LASTS"
    [ "$kind" != agent-stop ] || kill -CONT "$p" 2>/dev/null || :
}

# verdicts STATE: "CLASS:COMPONENT:HOST" of all that stand, or that were withdrawn.
verdicts() {
    local select='.withdrawn == null'
    [ "$1" = stand ] || select='.withdrawn != null'
    jq -r ".verdicts[] | select($select)"' | .class + ":" + (.component.name | sub("^rank "; "")) +
        ":" + .component.node' "$REPORT" 2>/dev/null | sort
}
is_calm() { ended || [ -z "$(verdicts stand)" ]; }
is_named() {
    ended && return
    if [ "$kind" = disk-full ]; then # there is no report that could be read
        grep -qE "^\[faultloc\] ${WANT%:*}: .*(node|rank) ${WANT#*:}([^0-9]|\$)" "$work/err"
    else
        verdicts stand | cut -d: -f1,2 | grep -qxF "$WANT"
    fi
}

# Waits until nothing more is to come; then the job is told to end.
await_calm() {
    local least
    if [ -n "$VICTIM" ]; then
        wait_until 120 is_named || blame "no verdict within 120 s: $WANT"
        [ "$action" = report ] || wait_until 120 ended ||
            blame "the action abort did not end the job within 120 s"
    else
        wait_until $((30 + settle)) is_calm || blame "verdicts still in force 30 s later: $(verdicts stand | paste -sd' ')"
    fi
    least=$((SECONDS + settle))
    until ended || [ $SECONDS -ge $least ]; do pause_ms 100; done
    [ -n "$VICTIM" ] || wait_until 30 is_calm || :
}

end_job() {
    CODE=0
    : >"$work/end"
    : >"$work/read"
    ended || [ -z "$VICTIM" ] || kill "$pid" 2>/dev/null || :
    if ! wait_until 90 ended; then
        blame "mpiexec does not end"
        kill "$pid" 2>/dev/null || :
    fi
    wait "$pid" || CODE=$?
    pid=
    wait # for whoever reads stderr
}

# --- judging ----------------------------------------------------------------------------------

blame() { WHY+="${WHY:+; }$*"; }

judge_end() {
    local said talks=1
    said=$(grep -hE -m 1 '^work: [^.]|BAD TERMINATION|[Aa]ssert|\*\*\*' "$work/err" || :)
    if [ -n "$VICTIM" ]; then
        [ $CODE != 0 ] || blame "exit code 0 after a fault"
        return
    fi
    [ -z "$NO_STACKS" ] || [ -n "$off" ] || [ $CODE != 0 ] || blame "no stacks: $NO_STACKS"
    [ $CODE = 0 ] || [ "$kind:$CODE" = daemon:1 ] || blame "exit code $CODE${said:+, $said}"
    [[ $kind != @(server|service|daemon) ]] || talks=2
    [ "$(grep -cE '^work: .* all right$' "$work/out")" = $talks ] ||
        blame "the program did not report right results"
}

# A silence that may be told of.
is_beyond() { [[ $kind =~ ^(net-.*|freeze-host)$ ]] && [ "$LASTS" -gt "$survive_ms" ]; }

# What may be said of the disturbance while it lasts: CLASS:COMPONENT:HOST.
is_true() {
    local class=${1%%:*} host=${1##*:}
    case $kind in
        net-host | freeze-host)
            is_beyond && [ "$host" = "$TARGET" ] && [ "$class" != process-crash ] ;;
        net-*)
            is_beyond &&
                [[ $class =~ ^(unknown|network-degraded|switch-fault|nic-fault|link-fault)$ ]] ;;
        stop-* | freeze-all) [[ $class =~ ^(process-stopped|node-frozen)$ ]] ;;
        debug-*) [ "$class:$host" = "process-stopped:$TARGET" ] ;;
        daemon) [ "$class" = process-crash ] ;; # its ranks end without MPI_Finalize
        *) false ;;
    esac
}

# Where a fault ended the job, what was true of the disturbance may stand beside it.
judge_standing() {
    local v named=0 other=
    for v in $(verdicts stand); do
        if [ -n "$VICTIM" ] && [ "${v%:*}" = "$WANT" ]; then
            named=$((named + 1))
        elif [ -z "$VICTIM" ] && [ "$kind" != daemon ] || ! is_true "$v"; then
            other+=" ${v%:*}"
        fi
    done
    [ -z "$VICTIM" ] || [ $named = 1 ] || [ "$kind" = disk-full ] ||
        blame "$named verdicts instead of one: $WANT"
    [ -z "$other" ] || blame "verdicts in force:$other"
}

# Where the rank that hangs is.
judge_function() {
    local function
    function=$(function_of "$RANK" "$REPORT")
    [ "$function" = stay_for_ever ] ||
        blame "function $function $(jq -r '.verdicts[0].no_stacks // ""' "$REPORT")"
}

judge_verdicts() {
    local v
    [[ $VICTIM != hang* ]] || judge_function
    STAND=$(verdicts stand | grep -c . || :) GONE=$(verdicts gone | grep -c . || :)
    judge_standing
    is_beyond || return 0
    for v in $(verdicts gone); do
        is_true "$v" || [ "${v%:*}" = "${WANT:-}" ] || blame "false verdict, withdrawn: ${v%:*}"
    done
}

# Lines of FaultLoc that belong to no report.
judge_complaints() {
    local said
    said=$(grep -F '[faultloc] ' "$work/err" |
        grep -vE '^\[faultloc\] (  |withdrawn: |waiting: |[a-z]+(-[a-z]+)+: |[a-z-]+, where its ranks are in the code:$|straggler: |deadlock: |unknown: )' |
        grep -vE "^\[faultloc\] ($late_report|${ALLOWED:-only reports})" | head -n 1 || :)
    [ -z "$said" ] || [ $CODE != 0 ] || blame "FaultLoc printed: $said"
}

judge_leftovers() {
    local left host
    left=$(find "/dev/shm/faultloc-cluster-$name" "/run/faultloc-cluster/$name/runtime" \
        "$work/cwd" ! -type d 2>/dev/null || :)
    find "/dev/shm/faultloc-cluster-$name" "/run/faultloc-cluster/$name/runtime" ! -type d -delete
    [ $CODE = 0 ] || return 0 # a host that is off cannot tidy up, nor a job that is killed
    left+=$(compgen -G "/tmp/faultloc-$(id -u)/$(cat "$job/mpiexec.pid")@*" || :)
    [ -z "$left" ] || blame "files left behind: ${left//$'\n'/ }"
    [ ! -s "$job/left-over" ] || blame "processes left behind: $(head -n 1 "$job/left-over")"
    for host in login $(seq -f 'h%g' "$hosts"); do
        left=$(ip netns exec "$name-$host" cat /proc/net/unix | grep -m 1 -o '@.*faultloc.*' || :)
        [ -z "$left" ] || blame "left behind on $host: socket $left"
    done
}

run_job() {
    start_job
    if wait_until 120 has_begun && is_looping; then
        disturb
        await_calm
    else
        blame "the job did not reach its loop"
    fi
    end_job
    judge_end
    judge_verdicts
    judge_complaints
    judge_leftovers
    leave_group
}

# MPICH's own MPI_Finalize hangs now and then (test/mpi/testutil.c): such a run is done again.
one_run() {
    local try
    for try in 1 2 3; do
        WHY='' STAND=- GONE=- CODE=-
        clear_work
        rm -rf "$job"
        seed_draws "$kind $run_seed"
        plan
        [ -n "$SKIP" ] || prepare
        [ -n "$SKIP" ] || run_job
        [ "$try" != 3 ] && grep -qs "MPICH's own MPI_Finalize hangs" "$work/err" || break
    done
    [ -z "$SKIP" ] || WHY="SKIPPED: $SKIP"
}

# --- the table --------------------------------------------------------------------------------

result_json() {
    jq -nc --arg kind "$kind" --arg program "$program" --arg action "$action" --arg did "$DID" \
        --arg why "$WHY" --arg fault "$VICTIM" --argjson ppn "$ppn" --argjson hosts "$hosts" \
        --argjson seed "$run_seed" --argjson lasts "$LASTS" --arg code "$CODE" \
        --arg stand "$STAND" --arg gone "$GONE" '
        def num: if . == "-" then null else tonumber end;
        { kind: $kind, program: $program, action: $action, hosts: $hosts, ppn: $ppn, seed: $seed,
          did: $did, lasts_ms: $lasts, fault: $fault, exit_code: ($code | num),
          standing: ($stand | num), withdrawn: ($gone | num),
          skipped: ($why | startswith("SKIPPED")), ok: ($why == ""), why: $why }'
}

tell_run() {
    printf '%-12s %-8s %3s %-6s %5s %4s %5s %9s  %s\n' "$kind" "$program" "$ppn" "$action" \
        "$run_seed" "$CODE" "$STAND" "$GONE" "$DID: ${WHY:-ok}"
    [ -z "$WHY" ] || [ -n "$SKIP" ] ||
        { grep -v '^work: \.' "$work/err" || :; } | tail -n 15 | sed 's/^/        /'
    if [ "$json" = - ]; then result_json; elif [ -n "$json" ]; then result_json >>"$json"; fi
    if [ -n "$keep" ]; then
        mkdir -p "$keep/$kind-$program-$ppn-$action-$run_seed"
        cp -r "$work"/* "$job"/pids "$keep/$kind-$program-$ppn-$action-$run_seed/" 2>/dev/null || :
    fi
}

# A cluster has lost a host by that.
after_run() {
    [[ $VICTIM == power-off* ]] || return 0
    "$cluster" down --name "$name" --quiet
    "$cluster" up --name "$name" --hosts "$hosts" --quiet
}

trap finish EXIT
trap 'exit 130' INT TERM
printf '%-12s %-8s %3s %-6s %5s %4s %5s %9s  %s\n' kind program ppn action seed code stand \
    withdrawn 'what was done: result'
"$cluster" up --name "$name" --hosts "$hosts" --quiet
for action in ${actions//,/ }; do every_run; done
end_campaign
