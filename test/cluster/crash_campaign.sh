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
. "$here/lib/group.sh"

all_kinds="kill segv bus abort exit _exit exit0 _exit0 abort-self memory two mpi-abort init finalize"
all_kinds+=" after proxy mpiexec power-off busy busy-agent busy-off no-cleanup no-cleanup-end spawn"
all_kinds+=" spawn-child"

usage() {
    cat <<END
Usage: test/cluster/crash_campaign.sh [OPTION]...

Ends ranks abnormally in many ways, in jobs on a cluster of network namespaces, and checks what
mpiexec reports: the first rank to end (rank, host, process, signal or code), one process-crash for
each such rank in the report, the others as victims, mpiexec's exit code and its run time. No
process may be left on any host. Prints a table.

  --kinds K,K,...   these kinds of end (all):
                      kill segv bus abort    by that signal
                      exit _exit             with code 3, before MPI_Finalize
                      exit0 _exit0           with code 0, before MPI_Finalize
                      abort-self             MPI_Abort of MPI_COMM_SELF with code 3, which MPICH makes
                                             an exit
                      memory                 out of memory, in a control group
                      two                    two ranks, 50 ms apart, by SIGKILL
                      mpi-abort              MPI_Abort with code 7
                      init finalize          killed in MPI_Init, in MPI_Finalize
                      after                  exit code 3 after MPI_Finalize
                      proxy mpiexec          hydra's proxy on a host, or mpiexec, killed
                      power-off              the host of mpiexec's first proxy is switched off
                      busy                   killed while another rank is stopped, and hosts are
                                             being asked about that
                      busy-agent             as busy, and the agent of its own host is stopped
                      busy-off               killed while another host loses its power
                      no-cleanup             killed under mpiexec -disable-auto-cleanup; the others
                                             continue and end normally
                      no-cleanup-end         as no-cleanup, while the others are in MPI_Finalize
                      spawn                  killed in MPI_Comm_spawn; skipped if this MPI cannot
                                             spawn (ch4:ucx of MPICH 4.0.2)
                      spawn-child            a spawned process is killed in MPI_Init; skipped like
                                             spawn
  --hosts N         hosts (4)
  --ppn K,K,...     ranks per host (1,4)
  --runs N          runs of each kind (1)
  --skew S          the clock of each host is S seconds ahead of that of the host before it (0)
  --max-latency S   fail if the fault is located later than S seconds after the end (0: no limit)
  --mpi PREFIX      the MPI under test (FAULTLOC_MPI)
  --keep FOLDER     keep the files of every run there
  --help            this text

Exit code: 0 all runs passed, 1 a run failed, 2 wrong usage, 77 no root or no namespaces here.
END
}

kinds=${all_kinds// /,} hosts=4 ppns=1,4 runs=1 skew=0 max_latency=0 keep=
read_options '--kinds=kinds --hosts=hosts --ppn=ppns --runs=runs --skew=skew
    --max-latency=max_latency --mpi=FAULTLOC_MPI --keep=keep' "$@"
check_words kind "$kinds" "$all_kinds"
check_values --hosts '([2-9]|[1-9][0-9]+)' "$hosts"
check_values '--runs and --skew' '[0-9]+' "$runs" "$skew"
check_values --ppn "$NUMBERS" "$ppns"
"$cluster" check --quiet || exit
[ "$skew" = 0 ] || unshare --time --fork --monotonic 1 true 2>/dev/null ||
    die 77 "--skew needs time namespaces: Linux 5.6 and util-linux 2.36"
need jq jq

name=c$$
work=$(mktemp -d)
job=/run/faultloc-cluster/$name/job
finish() {
    local code=$?
    trap - EXIT
    [ -z "${pid:-}" ] || kill "$pid" 2>/dev/null || :
    "$cluster" down --name "$name" --quiet 2>/dev/null || :
    leave_group
    rm -rf "$work"
    exit $code
}

# --- what a run is ----------------------------------------------------------------------------

# Fills PROGRAM, ARGS (of the program), OPTIONS (of the job), FIRST (the ranks that may be named first), DEAD (all that end), CODE
# (mpiexec's) and HOW (what the first line says).
plan() {
    local size=$((hosts * ppn)) other
    FIRST=$((RANDOM % size)) CODE=137 HOW='signal 9 (SIGKILL)'
    PROGRAM=die ARGS=(--how "$kind") OPTIONS=() OTHER='' OTHERS=''
    case $kind in
        kill | init | finalize | busy* | no-cleanup* | spawn*) ;;
        segv) CODE=139 HOW='signal 11 (SIGSEGV)' ;;
        bus) CODE=135 HOW='signal 7 (SIGBUS)' ;;
        abort) CODE=134 HOW='signal 6 (SIGABRT)' ;;
        exit | _exit) CODE=3 HOW='exit code 3 before MPI_Finalize' ;;
        abort-self) CODE=3 HOW='called MPI_Abort(3) on MPI_COMM_SELF' ;;
        exit0 | _exit0)
            CODE=1 HOW='exit code 0 before MPI_Finalize' ARGS=(--how "${kind%0}" --code 0) ;;
        memory) HOW='killed for memory, signal 9' ;;
        mpi-abort) CODE=7 HOW='called MPI_Abort with code 7' ARGS+=(--code 7) ;;
        after) CODE=3 HOW='exit code 3 after MPI_Finalize' ARGS=(--how exit --when after) ;;
        proxy | power-off) HOW='was lost with hydra' ;;
        mpiexec) HOW='' ;;
    esac
    case $kind in init | finalize) ARGS=(--how kill --when "$kind") ;; esac
    [ "$kind" != spawn-child ] || FIRST=$((RANDOM % children))
    DEAD=$FIRST
    if [ "$kind" = two ]; then
        other=$(((FIRST + 1 + RANDOM % (size - 1)) % size))
        DEAD=$FIRST,$other ARGS=(--how kill --gap-ms 50)
        # a process needs a processor to end, too: where many share one, 50 ms are no order
        [ $size -le $((2 * $(nproc))) ] || FIRST=$DEAD
    fi
    case $kind in
        proxy | mpiexec | power-off) ARGS=(--ranks -) FIRST= DEAD= ;;
        busy*) ARGS=(--ranks -) ;;
        no-cleanup*)
            PROGRAM=outlive ARGS=(--rank "$DEAD") OPTIONS=(--mpiexec-arg -disable-auto-cleanup)
            [ "$kind" = no-cleanup ] || ARGS+=(--when finalize) ;;
        spawn*)
            PROGRAM=spawn_lost ARGS=(--rank "$DEAD" --children "$children")
            [ "$kind" = spawn ] || ARGS+=(--who child) ;;
        *) ARGS+=(--ranks "$DEAD") ;;
    esac
}

start_job() {
    export MPIR_CVAR_FAULTLOC_TRACE=$work/trace
    "$cluster" run --name "$name" --hosts "$hosts" --ppn "$ppn" --skew "$skew" --faultloc --quiet \
        --env FI_PROVIDER=tcp --env FI_TCP_IFACE=eth0 \
        --env MPIR_CVAR_FAULTLOC_REPORT="$work/report.json" ${OPTIONS[@]+"${OPTIONS[@]}"} \
        -- $PROGRAM "${ARGS[@]}" \
        </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
}

is_looping() {
    [ -e "$job/pids/looping" ] &&
        [ "$(compgen -G "$job/pids/rank.*" | wc -l)" = $((hosts * ppn)) ]
}
has_begun() { is_looping || [ ! -d "/proc/$pid" ]; }
await_loop() {
    wait_until 60 has_begun && is_looping && return
    blame "the job did not reach its loop"
    return 1
}
proxy_pid() {
    local p
    for p in $(ip netns pids "$name-$1"); do
        [ "$(cat /proc/"$p"/comm 2>/dev/null)" != hydra_pmi_proxy ] || echo "$p"
    done
}

place() {
    local who=rank
    [ "$kind" != spawn-child ] || who=child
    cat "$job/pids/$who.$1" 2>/dev/null || :
}
host_of() { local p; p=$(place "$1"); echo "${p% *}"; }
pid_of() { local p; p=$(place "$1"); echo "${p#* }"; }
ranks_of() {
    grep -l "^$1 " "$job"/pids/rank.* | sed 's/.*rank\.//' | sort -n | paste -sd,
}

# The rank that is to take memory gets little of it.
confine() {
    wait_until 60 test -s "$job/pids/rank.$FIRST" || { blame "rank $FIRST did not start"; return; }
    pid_of "$FIRST" >"$group/cgroup.procs" && : >"$job/pids/in-group" && wait_until 60 is_short_of_memory &&
        now_us >"$work/struck"
}

# The faults that come from outside.
strike() {
    local host=h$((RANDOM % hosts + 1))
    await_loop || return 0
    pause_ms 300
    now_us >"$work/struck"
    case $kind in
        proxy) kill -KILL "$(proxy_pid $host)" ;;
        mpiexec) kill -KILL "$(cat "$job/mpiexec.pid")" ;;
        power-off)
            host=h1
            "$cluster" fault --name "$name" --quiet power-off h1 ;;
    esac
    DEAD=$(ranks_of $host)
    FIRST=$DEAD
}

# Fills VICTIM with the pid of the rank that is to be killed, and OTHER with another fault's verdict
# "CLASS:RANKS": that of another rank, or of another host than the victim's.
choose_other() {
    local rank host size=$((hosts * ppn))
    VICTIM=$(pid_of "$FIRST")
    rank=$(((FIRST + 1 + RANDOM % (size - 1)) % size))
    if [ "$kind" != busy-off ]; then
        OTHER=process-stopped:$rank OTHERS=$rank
        return
    fi
    host=$(host_of "$rank")
    [ "$host" != "$(host_of "$FIRST")" ] || host=$(host_of $(((FIRST + ppn) % size)))
    OTHERS=$(ranks_of "$host") OTHER=node-outage:$OTHERS OTHER_HOST=$host
}

# The rank is killed from outside, while FaultLoc is at work on another fault.
strike_too() {
    await_loop || return 0
    pause_ms 300
    choose_other
    [ "$kind" != busy-agent ] ||
        "$cluster" fault --name "$name" --quiet agent-stop "$(host_of "$FIRST")"
    if [ "$kind" != busy-off ]; then
        kill -STOP "$(pid_of "$OTHERS")"
        wait_until 30 grep -qE '^[0-9.]+ h[0-9]+:   asks h[0-9]+: ' "$work/trace" ||
            blame "no agent asked about the stopped rank"
        now_us >"$work/struck"
        kill -KILL "$VICTIM"
        return
    fi
    now_us >"$work/struck"
    "$cluster" fault --name "$name" --quiet power-off "$OTHER_HOST" &
    kill -KILL "$VICTIM"
    wait $!
}

# --- judging ----------------------------------------------------------------------------------

blame() { WHY+="${WHY:+; }$*"; }

# Names the rank, its host and its process, and how.
judge_first() {
    local line rank at
    local world=
    [ "$kind" != spawn-child ] || world='of spawned group 1 '
    line=$(grep -m 1 -E "^\[faultloc\] rank [0-9]+ ${world}on " "$work/err" || :)
    rank=$(sed -n 's/^\[faultloc\] rank \([0-9]*\) .*/\1/p' <<<"$line")
    [ -n "$rank" ] || { blame "mpiexec names no first rank"; return; }
    # as both are named, where their order is not known
    [[ $line != *" was among the first "* ]] || FIRST=$DEAD
    [[ ",$FIRST," == *",$rank,"* ]] || blame "mpiexec names rank $rank as the first, not $FIRST"
    [[ $line == *"$HOW"* ]] || blame "'$line' does not say '$HOW'"
    at=$(place "$rank")
    [ -z "$at" ] || [[ $line == *" on ${at% *} (pid ${at#* })"* ]] || blame "'$line', not on $at"
    [ "$(grep -cE "^\[faultloc\] rank [0-9]+ ${world}on " "$work/err")" = 1 ] ||
        blame "mpiexec names two ranks as the first"
}

judge_report() {
    local got
    got=$(jq -r '[.verdicts[] | select(.withdrawn == null) | .class + ":" +
        (.component.ranks | map(tostring) | join(","))] | sort | join(" ")' "$work/report.json" \
        2>/dev/null || :)
    VERDICTS=${got// /;}
    case $kind in
        mpi-abort | init | after | mpiexec | spawn-child) [ -z "$got" ] || blame "unexpected verdicts: $got" ;;
        proxy | power-off) [ -n "$got" ] || blame "no verdict" ;;
        busy*) judge_both ;;
        *)
            want=$(tr , '\n' <<<"$DEAD" | sed 's/^/process-crash:/' | sort | paste -sd' ')
            # who is killed in MPI_Finalize after it came to the last barrier keeps nobody: the
            # others may have ended before an agent could ask
            [ "$got" = "$want" ] || [ "$kind$got" = finalize ] ||
                blame "verdicts are '$got', not '$want'" ;;
    esac
}

# The other fault's verdict may be missing where the job ended before it was found.
judge_both() {
    local crash=process-crash:$DEAD both
    both=$(printf '%s\n' "$crash" "$OTHER" | sort | paste -sd' ')
    [ "$got" = "$both" ] || [ "$got" = "$crash" ] ||
        blame "verdicts are '$got', not '$crash', with or without '$OTHER'"
    [ "$got" = "$both" ] || ! grep -qE " h[0-9]+: verdict ${OTHER%:*} of " "$work/trace" ||
        blame "the verdict $OTHER was reached, but is not in the report"
}

# Nobody else may be among the victims. Of a crash that is told within a quarter of a second not all
# have begun to wait where sixteen ranks share two processors: three quarters are enough, and half
# within a tenth. With a host that is off the lists of who told first may be lost, too, and who was
# ended by the first fault waits no more for the second: half. Ranks that go on may not have needed
# the lost one yet.
judge_victims() {
    local want got n least=75 not=$OTHERS
    [ -z "$OTHERS" ] || not+=,$DEAD # it may have waited for the other fault before it was killed
    [ "$LATENCY" = - ] || ! awk -v l="$LATENCY" 'BEGIN { exit !(l < 0.1) }' || least=50
    case $kind in busy-off) least=50 ;; no-cleanup) least=0 ;; esac
    case $kind in mpi-abort | init | finalize | after | mpiexec | no-cleanup-end | *-child) return 0 ;; esac
    want=$(seq 0 $((hosts * ppn - 1)) | grep -vxF "${DEAD//,/$'\n'}${OTHERS:+$'\n'}${OTHERS//,/$'\n'}")
    got=$(jq -r '[.verdicts[] | select(.withdrawn == null) | .victims.ranks[]] | unique[]' \
        "$work/report.json" 2>/dev/null | grep -vxF "${not//,/$'\n'}" || :)
    n=$(grep -cxF "$want" <<<"$got" || :)
    [ "$n" = "$(grep -c . <<<"$got" || :)" ] && [ $((100 * n)) -ge $((least * $(wc -l <<<"$want"))) ] ||
        blame "victims are '$(paste -sd, <<<"$got")', not '$(paste -sd, <<<"$want")'"
}

# Those that go on have ended well, and mpiexec soon after them.
judge_survivors() {
    local well last
    well=$(compgen -G "$job/pids/well.*" | wc -l)
    [ "$well" = $((hosts * ppn - 1)) ] || blame "$well others ended normally, not $((hosts * ppn - 1))"
    last=$(awk '$3 > t { t = $3 } END { print t }' "$job"/pids/well.* 2>/dev/null || :)
    [ -z "$last" ] || [ $((ended - last)) -le 3000000 ] ||
        blame "mpiexec ended $(((ended - last) / 1000)) ms after the others"
    ! grep -q '^outlive: ' "$work/err" || blame "$(grep -m 1 '^outlive: ' "$work/err")"
}

# The moments: the first end, the last verdict located, mpiexec's end.
judge_times() {
    local struck located last=
    struck=$(cat "$work/struck" 2>/dev/null || awk 'NR == 1 || $3 < t { t = $3 } END { print t }' \
        "$job"/pids/died.* 2>/dev/null || :)
    LATENCY=- ENDED=-
    [ -n "$struck" ] || return 0
    ENDED=$(awk -v a="$struck" -v b="$ended" 'BEGIN { printf "%.3f", (b - a) / 1e6 }')
    for located in $(jq -r '.verdicts[] | select(.withdrawn == null) | .located' \
        "$work/report.json" 2>/dev/null); do
        last=$(date -d "$located" +%s%6N)
        LATENCY=$(awk -v a="$struck" -v b="$last" -v c="${LATENCY/-/-9}" \
            'BEGIN { l = (b - a) / 1e6; printf "%.3f", (l > c ? l : c) }')
    done
    case $kind in
        busy* | spawn*)
            awk -v a="$ENDED" -v b="${LATENCY/-/0}" 'BEGIN { exit !(a <= b + 3) }' ||
                blame "ended $ENDED s after the first end, located after $LATENCY s" ;;
    esac
    [ "$max_latency" = 0 ] || [ "$LATENCY" = - ] ||
        awk -v a="$LATENCY" -v b="$max_latency" 'BEGIN { exit !(a <= b) }' ||
        blame "located after $LATENCY s, more than the allowed $max_latency s"
}

one_run() {
    WHY='' VERDICTS=''
    rm -rf "${work:?}"/* "${job:?}"
    [ "$kind" != memory ] || { make_group memory "faultloc-$name" && limit_memory; } || { WHY="SKIPPED: no control group can be made"; return; }
    plan
    start_job
    case $kind in
        proxy | mpiexec | power-off) strike ;;
        busy*) strike_too ;;
        memory) confine ;;
    esac
    code=0
    if ! wait_until 60 test ! -d "/proc/$pid"; then
        blame "mpiexec does not end"
        kill "$pid"
    fi
    wait "$pid" || code=$?
    pid=
    ended=$(stat -c %.6Y "$work/err" | tr -d .)
    [ ! -s "$job/left-over" ] || blame "processes left behind: $(head -n 1 "$job/left-over")"
    if compgen -G "/run/faultloc-cluster/$name/runtime/faultloc/*.sock" >/dev/null; then
        # one that is killed leaves it to the next
        [ "$kind" = proxy ] || [[ $kind == *-off ]] || blame "a socket was left behind"
        rm -f /run/faultloc-cluster/"$name"/runtime/faultloc/*.sock
    fi
    if [ "$kind" != mpiexec ]; then
        [ $code = $CODE ] || blame "exit code $code, not $CODE"
        judge_first
    fi
    judge_report
    judge_times
    judge_victims
    [[ $kind != no-cleanup* ]] || judge_survivors
    said=$(grep -hE -m 1 'assert|BAD TERMINATION|EXIT STRING' "$work/out" "$work/err" || :)
    [ -z "$said" ] || [ "$kind" = mpiexec ] || blame "hydra printed: $said"
    if [ -n "$keep" ]; then
        mkdir -p "$keep/$kind-$ppn-$run"
        cp -r "$work"/* "$job"/pids "$keep/$kind-$ppn-$run/" 2>/dev/null || :
    fi
    leave_group
}

children=4 # that are spawned
about=$(LD_LIBRARY_PATH=${FAULTLOC_MPI:-}/lib "${FAULTLOC_MPI:-}/bin/mpichversion" 2>/dev/null || :)
[[ $about == *ch4:ofi* ]] && spawns=1 || spawns=

trap finish EXIT
trap 'exit 130' INT TERM
bad=0 all=0
printf '%-14s %3s %3s  %-7s %4s %9s %9s  %s\n' kind ppn run ended code located/s ended/s result
"$cluster" up --name "$name" --hosts "$hosts" --quiet
for ppn in ${ppns//,/ }; do
    for kind in ${kinds//,/ }; do
        if [ -z "$spawns" ] && [[ $kind == spawn* ]]; then
            printf '%-14s %3s %3s  left out: FAULTLOC_MPI names no MPI that can spawn (ch4:ofi)\n' "$kind" "$ppn" -
            continue
        fi
        for ((run = 1; run <= runs; run++)); do
            one_run
            all=$((all + 1))
            [ -z "$WHY" ] || bad=$((bad + 1))
            printf '%-14s %3s %3s  %-7s %4s %9s %9s  %s\n' "$kind" "$ppn" "$run" "${DEAD:--}" \
                "${code:--}" "${LATENCY:--}" "${ENDED:--}" "${WHY:-ok}"
            if [ -n "$WHY" ]; then
                sed 's/^/        /' "$work/err" | tail -n 15
            fi
            if [[ $kind == *-off ]]; then
                "$cluster" down --name "$name" --quiet
                "$cluster" up --name "$name" --hosts "$hosts" --quiet
            fi
        done
    done
done
echo "$((all - bad)) of $all runs passed"
[ $bad = 0 ]
