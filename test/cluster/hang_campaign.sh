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
. "$here/lib/watch.sh"

hangs="spin sleep mutex pipe callback io io-first io-all"
slows="slow straggle"
healthy="even phases uneven checkpoint late served first-phase stop2 stop20 stop300 host-stop2 host-stop20 host-stop300"
all_kinds="$hangs $slows $healthy"
all_programs="alltoall halo pipeline master irregular"

usage() {
    cat <<END
Usage: test/cluster/hang_campaign.sh [OPTION]...

Runs jobs of which one rank never comes back to MPI, each in one way, and healthy ones that seem to,
on a cluster of network namespaces, and checks what FaultLoc says of them: one verdict of the right
class on exactly that rank, with the function in which it hangs; of one in which ranks become slow
straggler on these, which is withdrawn once they are not, and it ends well; of a healthy job none, and
it ends well. (Irregular programs may look the same in health for long: then the note is all there is.) A note of class waiting is allowed, and counted. Prints a line for each run; then, for each
number of ranks, by program and by kind, how many had the right class and rank, of how many hangs of these
the function was right, of how many others the note named the rank, and the delays in s; then accuracy,
false positives per hour with the upper end of the exact Poisson interval (95 %), and delays. The
program is test/mpi/outside.c; test/mpi/outside_kinds.h says what each kind does.

  --kinds K,K,...     these kinds (all), or hangs, or slows, or healthy:
                        $hangs
                        $slows
                        $healthy
                      callback: in a function of the program that MPI calls
                      io: a file of a FUSE server that does not answer (test/mpi/stuck_fs.c)
                      io-first: the same, and the others wait in a call that they were not in before
                      io-all: the same of all ranks, so that nobody waits in MPI
                      late: a rank computes for --late seconds, once
                      served: one rank waits now and then for an answer in a socket, up to --late seconds
                      first-phase: one rank computes for two minutes, the others wait in a call that
                      they were not in before
                      slow: one rank, which computes half of the time that it is outside MPI, gets
                      --percent of the CPU time that it has used, and 1 ms a second at least, by its
                      cgroup, until it is found
                      straggle: two ranks, which compute all of their time, share a core until they
                      are found
                      stop2, stop20, stop300: all ranks are stopped for so many seconds, and continued
                      host-stop2, host-stop20, host-stop300: one host's ranks are; process-stopped is
                      right of these, and over at the end
  --programs P,P,...  how the ranks work together (test/mpi/patterns.h), one of which is drawn for
                      each run (all): $all_programs
  --hosts N           hosts (4)
  --ppn K,K,...       ranks per host (1)
  --runs N            runs of each kind (1)
  --seed N            the seed of what is drawn: program, rank, moment (random). Run R of a kind uses
                      N + R - 1
  --after S           a rank hangs, or something is done to the job, S to 1.5 S seconds after its
                      begin (60)
  --seconds S         a healthy job lasts so long (120)
  --late S            see late, served, and a checkpoint (10)
  --percent N         see slow (5)
  --deadline S        how long to wait for a verdict (60), and twice that where ranks are slow
  --sample MS         MPIR_CVAR_FAULTLOC_SAMPLE_MS (400)
  --settle S          how long to watch for others after it (5)
  --abort             with the action abort: of a healthy job it must do nothing (but for host-stop*,
                      where it rightly ends the job)
  --mpi PREFIX        the MPI under test (FAULTLOC_MPI)
  --keep FOLDER       keep the files of every run there
  --json FILE         write the results as JSON, one line per run (- for standard output)
  --help              this text

Exit code: 0 all runs passed, 1 a run failed, 2 wrong usage, 77 no root or no namespaces here, or
all runs were skipped.
END
}

kinds=${all_kinds// /,} programs=${all_programs// /,} hosts=4 ppns=1 runs=1 seed=$((RANDOM % 30000))
after=60 lasts=120 late=10 deadline=60 settle=5 sample=400 percent=5 abort='' keep='' json=''
read_options '--abort:abort --kinds=kinds --programs=programs --hosts=hosts --ppn=ppns --runs=runs
    --seed=seed --after=after --seconds=lasts --late=late --deadline=deadline --settle=settle --sample=sample --percent=percent
    --mpi=FAULTLOC_MPI --keep=keep --json=json' "$@"
case $kinds in
    hangs) kinds=${hangs// /,} ;;
    slows) kinds=${slows// /,} ;;
    healthy) kinds=${healthy// /,} ;;
esac
check_words kind "$kinds" "$all_kinds"
check_words program "$programs" "$all_programs"
check_values '--runs, --seed, --after, --seconds, --late, --settle and --deadline' '[0-9]+' "$runs" \
    "$seed" "$after" "$lasts" "$late" "$settle" "$deadline"
check_values '--sample and --percent' '[1-9][0-9]*' "$sample" "$percent"
check_values '--ppn and --hosts' "$NUMBERS" "$ppns" "$hosts"
"$cluster" check --quiet || exit
need jq jq
[ -z "$json" ] || [ "$json" = - ] || : >"$json"
CLUSTER_HOME=$here MPI=''
find_mpi
export FAULTLOC_MPI=$MPI

name=g$$
work=$(mktemp -d)
folder=$(mktemp -d) # where a file system is mounted
job=/run/faultloc-cluster/$name/job
finish() {
    local code=$?
    trap - EXIT
    undo
    [ -z "${pid:-}" ] || { kill "$pid" && wait "$pid" || :; } 2>/dev/null
    "$cluster" down --name "$name" --quiet 2>/dev/null || :
    rmdir "$folder" 2>/dev/null || :
    rm -rf "$work"
    exit $code
}

# --- what a run is ----------------------------------------------------------------------------

is_healthy() { [[ " $healthy " == *" $kind "* ]]; }
is_slow() { [[ " $slows " == *" $kind "* ]]; }
is_hang() { ! is_healthy && ! is_slow; }
all_ranks() { seq 0 $((hosts * ppn - 1)); }

# SKIP is the reason why the kind cannot be run here.
plan() {
    local args
    SKIP='' DID=''
    # shellcheck disable=SC2086
    draw_of ${programs//,/ }
    program=$DRAWN
    draw 0 $((hosts * ppn - 1))
    victim=$DRAWN
    [ "$program" != master ] || victim=0 # nobody waits for one worker while there are others
    case $kind in checkpoint | served) victim=0 ;; esac
    [ "$kind" != straggle ] || victim=$((victim / ppn * ppn)) # and the next one
    draw "$after" $((after + after / 2))
    moment=$DRAWN
    draw 1 1000000
    args=(--pattern "$program" --rank "$victim" --after "$moment" --late "$late" --seed "$DRAWN")
    case $kind in
        io*) args+=(--kind "$kind" --file "$folder/data") ;;
        first-phase) args+=(--kind "$kind" --seconds "$after") ;;
        slow) args+=(--kind even --computes 50 --seconds $((moment + 5 * deadline)) --until "$work/over") ;;
        straggle) args+=(--kind hungry --seconds $((moment + 5 * deadline)) --until "$work/over") ;;
        *stop*)
            args+=(--kind even --seconds $((moment + ${kind##*stop} + (lasts > 60 ? lasts / 2 : 30)))) ;;
        *) args+=(--kind "$kind" --seconds "$lasts") ;;
    esac
    ARGS=("${args[@]}")
    case $kind in
        io*) serve_nothing || SKIP="no FUSE here" ;;
        slow) make_group cpu "faultloc-$name" || SKIP="no cgroup with a quota of CPU time can be made here" ;;
        straggle) [ "$ppn" -gt 1 ] || SKIP="one rank per host" ;;
    esac
}

# The server of the file system.
serve_nothing() {
    local program
    program=$(find_program stuck_fs)
    "$program" "$folder" >"$work/fs" 2>&1 &
    server=$!
    wait_until 10 serves && grep -qx ready "$work/fs"
}
serves() { grep -qsx ready "$work/fs" || [ ! -d "/proc/$server" ]; }

undo() {
    [ -z "${server:-}" ] || { kill "$server" && wait "$server" || :; } 2>/dev/null
    server=
    leave_group
}

pid_of() { cut -d' ' -f2 "$job/pids/rank.$1"; }
have_begun() { [ -e "$job/pids/looping.0" ] || [ -e "$job/pids/looping" ]; }
have_begun_or_ended() { have_begun || ended; }
have_blocked() { [ -e "$job/pids/blocked.$victim" ]; }
have_blocked_or_ended() { have_blocked || ended; }

# signal SIGNAL RANK...
signal() {
    local rank
    for rank in "${@:2}"; do kill -s "$1" "$(pid_of "$rank")" 2>/dev/null || :; done
}

stop_for() { # SECONDS RANK...
    DID="ranks ${*:2} stopped for $1 s"
    signal STOP "${@:2}"
    pause_ms $(($1 * 1000))
    signal CONT "${@:2}"
}

limit() {
    limit_cpu "$(pid_of "$victim")" "$percent"
    DID="rank $victim at $DID" EXPECT="straggler $victim withdrawn"
}

pin() {
    DID="ranks $victim and $((victim + 1)) on a core"
    EXPECT="straggler $victim,$((victim + 1)) withdrawn"
    taskset -pc 0 "$(pid_of "$victim")" >/dev/null
    taskset -pc 0 "$(pid_of $((victim + 1)))" >/dev/null
}

# What slow ranks have is taken away again.
relieve() {
    local rank
    for rank in $victim $((victim + 1)); do
        [ "$kind" != straggle ] || taskset -apc "0-$(($(nproc) - 1))" "$(pid_of "$rank")" >/dev/null
    done 2>/dev/null
    [ "$kind" != slow ] || free_cpu
}

# What is done to a healthy job from outside.
act() {
    local first=$((victim / ppn * ppn)) ranks
    case $kind in
        *stop*) ;;
        *) is_slow || return 0 ;;
    esac
    wait_until 60 have_begun_or_ended && ! ended || return 0
    pause_ms $((moment * 1000))
    case $kind in
        slow) limit ;;
        straggle) pin ;;
        host-stop*) mapfile -t ranks < <(seq $first $((first + ppn - 1))) ;;
        stop*) mapfile -t ranks < <(all_ranks) ;;
    esac
    case $kind in *stop*) stop_for "${kind##*stop}" "${ranks[@]}" ;; esac
}

# Until a rank hangs or is slow the job is a healthy one.
judge_before() {
    FALSE=$(verdict_lines | wc -l)
    [ "$FALSE" = 0 ] || blame "false, before: $(verdicts | paste -sd';')"
}

await_hang() {
    if ! wait_until $((2 * after + 120)) have_blocked_or_ended || ended; then
        blame "the job did not come to the point where it is to hang"
        return
    fi
    LAST=$(awk '{ print $3 }' "$job/pids/blocked.$victim")
    judge_before
    wait_until "$deadline" has_verdict_or_ended || blame "no verdict in $deadline s"
    pause_ms $((settle * 1000))
}

await_end() {
    act
    wait_until $((3 * lasts + 600)) ended || blame "the job does not end"
}

is_withdrawn() { verdicts | grep -q ' withdrawn$'; }
is_withdrawn_or_ended() { is_withdrawn || ended; }

await_slow() {
    act
    LAST=$(now_us)
    judge_before
    wait_until $((2 * deadline)) has_verdict_or_ended || blame "no verdict in $((2 * deadline)) s"
    pause_ms $((settle * 1000))
    relieve
    [ -z "$(verdicts)" ] || wait_until $((2 * deadline)) is_withdrawn_or_ended ||
        blame "not withdrawn in $((2 * deadline)) s"
    : >"$work/over"
    wait_until $((3 * lasts + 600)) ended || blame "the job does not end"
}

# --- judging ----------------------------------------------------------------------------------

# What is true of a host whose ranks are stopped, and then over.
is_allowed() {
    [[ $kind = host-stop* ]] && ! verdicts | grep -qvE '^process-stopped .* withdrawn$'
}

judge_verdicts() {
    GOT=$(verdicts | paste -sd';')
    NOTES=$(count_notes)
    if is_healthy; then
        if [ -n "$GOT$(verdict_lines)" ] && ! is_allowed; then
            FALSE=$(verdict_lines | wc -l)
            blame "false: ${GOT:-$(verdict_lines | head -n 1)}"
        fi
        return
    fi
    if [ "$GOT" = "$EXPECT" ]; then RIGHT=1; else blame "verdicts are '${GOT:-none}', not '$EXPECT'"; fi
    grep -qE "\\] waiting: .* for rank $victim \\(" "$work/err" && NOTED=1 || :
    [ -z "$GOT" ] || judge_time
    [ -z "$GOT" ] || is_slow || judge_function
}

judge_time() {
    local line
    line=$(verdict_lines | head -n 1)
    [ -z "$line" ] || [ -z "${LAST:-}" ] || DELAY=$(seconds "$LAST" "${line%% *}")
}

judge_function() {
    local rank
    FUNCTION=$(function_of "$victim" "$work/report.json")
    # the kernel does not let it go, but says what it waits for; of all ranks, of some of them
    [ "$kind" = io-all ] && rank='[0-9]*' || rank=$victim
    [[ $kind != io* ]] || ! grep -q "rank $rank is in a call on $folder/data" "$work/err" ||
        FUNCTION=stay_$kind
    [ "$FUNCTION" = "stay_$kind" ] ||
        blame "function $FUNCTION $(jq -r '.verdicts[0].no_stacks // ""' "$work/report.json")"
}

keep_what_is_said() {
    mkdir "$work/before"
    cp "$work/err" "$work/before"
    [ ! -e "$work/report.json" ] || cp "$work/report.json" "$work/before"
}
judge_what_was_kept() { cp "$work/before/"* "$work"; }

run_job() {
    local began on=(--env MPIR_CVAR_FAULTLOC=1 --env MPIR_CVAR_FAULTLOC_SAMPLE_MS="$sample")
    [ -z "$abort" ] || [[ $kind = host-stop* ]] || on+=(--env MPIR_CVAR_FAULTLOC_ACTION=abort)
    began=$(now_us)
    run_cluster "${on[@]}" -- outside "${ARGS[@]}"
    if is_healthy; then await_end; elif is_slow; then await_slow; else await_hang; fi
    ! is_hang || keep_what_is_said
    undo # who waits for a file system cannot be killed; it goes on then, and its verdict is over
    LASTED=$(seconds "$began" "$(if is_healthy; then now_us; else echo "${LAST:-$began}"; fi)")
    end_cluster
    ! is_hang || judge_what_was_kept
    is_slow || has_said || EXPECT=-
    judge_verdicts
    case $kind in
        first-phase) judge_end outside 2 ;;
        *) if is_hang; then judge_end ''; else judge_end outside 1; fi ;;
    esac
    judge_complaints
}

# MPICH's own MPI_Finalize hangs now and then (test/mpi/testutil.c): such a run is done again.
one_run() {
    local try
    for try in 1 2 3; do
        WHY='' EXPECT=- GOT='' DELAY=- NOTES=- CODE=- LAST='' LASTED=0 RIGHT=0 FALSE=0 NOTED=0 FUNCTION=-
        rm -rf "${work:?}"/* "$job"
        seed_draws "$kind $run_seed"
        plan
        [ -n "$SKIP" ] || run_job
        undo
        [ "$try" != 3 ] && grep -qs "MPICH's own MPI_Finalize hangs" "$work/err" || break
    done
    [ -z "$SKIP" ] || WHY="SKIPPED: $SKIP"
}

# --- the tables -------------------------------------------------------------------------------

row() { printf '%-12s %-9s %3s %6s %7s %8s %5s  %s\n' "$@"; }

result_json() {
    jq -nc --arg kind "$kind" --arg program "$program" --arg expect "$EXPECT" --arg got "$GOT" \
        --arg why "$WHY" --arg did "$DID" --argjson hosts "$hosts" --argjson ppn "$ppn" \
        --argjson seed "$run_seed" --argjson after "$moment" --arg delay "$DELAY" \
        --arg notes "$NOTES" --arg code "$CODE" --arg function "$FUNCTION" \
        --argjson lasted "$LASTED" --argjson false "$FALSE" --argjson right "$RIGHT" \
        --argjson noted "$NOTED" \
        --argjson hangs "$(if is_hang; then echo true; else echo false; fi)" \
        --argjson slow "$(if is_slow; then echo true; else echo false; fi)" '
        def num: if . == "-" then null else tonumber end;
        { kind: $kind, hangs: $hangs, slow: $slow, program: $program, hosts: $hosts, ppn: $ppn, seed: $seed,
          after_s: $after, did: $did, expected: $expect, verdicts: $got, right: ($right == 1), noted: ($noted == 1),
          function: $function, delay_s: ($delay | num), healthy_s: $lasted, false: $false,
          notes: ($notes | num), exit_code: ($code | num),
          skipped: ($why | startswith("SKIPPED")), ok: ($why == ""), why: $why }'
}

tell_run() {
    row "$kind" "$program" "$ppn" "$run_seed" "$DELAY" "$LASTED" "$NOTES" \
        "$EXPECT${DID:+ ($DID)}: ${WHY:-ok}"
    [ -z "$WHY" ] || [ -n "$SKIP" ] || cut -d' ' -f2- "$work/err" | tail -n 25 | sed 's/^/        /'
    result_json >>"$results"
    if [ "$json" = - ]; then result_json; elif [ -n "$json" ]; then result_json >>"$json"; fi
    [ -z "$keep" ] || keep_run "$keep/$kind-$program-$ppn-$run_seed"
}

# Ranks that hang or are slow, by how many ranks the job has and by its program or by the kind.
tell_group() { # program|kind
    jq -rs --arg by "$1" '
        def share: if . == [] then "-" else "\(map(select(.)) | length)/\(length)" end;
        map(select((.hangs or .slow) and (.skipped | not)))
        | group_by([.hosts * .ppn, .[$by]])[]
        | (map(.delay_s | values) | sort) as $d
        | [(.[0].hosts * .[0].ppn), .[0][$by], (map(.right) | share),
           (map(select(.right and .hangs) | .function == "stay_" + .kind) | share),
           (map(select(.hangs and (.right | not)) | .noted) | share)]
          + (if $d == [] then ["-", "-", "-"] else [$d[0], $d[($d | length) / 2 | floor], $d[-1]] end)
        | @tsv' "$results" | {
        group=()
        IFS=$'\t'
        while read -r -a group; do
            [ -n "${headed:-}" ] || printf '\n%6s %-10s %8s %9s %6s %7s %7s %7s\n' ranks "$1" right \
                function noted min median max
            headed=1
            printf '%6s %-10s %8s %9s %6s %7s %7s %7s\n' "${group[@]}"
        done
    }
}

# Exact Poisson: the rate at which so few false ones, or fewer, have a probability of 5 %.
tell_all() {
    jq -rs '
        def share($n; $of): if $of == 0 then "-" else "\($n) of \($of)" end;
        def delay: map(.delay_s | values) | sort
            | if . == [] then "-" else "min \(.[0])  median \(.[length / 2 | floor])  max \(.[-1]) s" end;
        map(select(.skipped | not)) as $all
        | ($all | map(select(.hangs))) as $hangs
        | ($all | map(select(.slow))) as $slow
        | ($all | map(.false) | add // 0) as $false
        | ($all | map(.healthy_s) | add // 0) as $s
        | "accuracy  \(share($hangs | map(select(.right)) | length; $hangs | length)) right class and rank",
          "noted     \(share($hangs | map(select(.right | not) | select(.noted)) | length;
                             $hangs | map(select(.right | not)) | length)) of the others: the note names the rank",
          "slow      \(share($slow | map(select(.right)) | length; $slow | length)) right ranks, and withdrawn; \($slow | delay)",
          "function  \(share($hangs | map(select(.right and .function == "stay_" + .kind)) | length;
                             $hangs | map(select(.right)) | length)) of these name the function",
          "delay     \($hangs | delay)",
          "healthy   \($false) false in \($s / 36 | floor | . / 100) h of \($all | map(.healthy_s > 0) | length) jobs",
          "RATE \($false) \($s)"' "$results" | while read -r line; do
        case $line in
            RATE*) awk -v n="$(cut -d' ' -f2 <<<"$line")" -v s="$(cut -d' ' -f3 <<<"$line")" '
                function below(x,  i, t, p) { t = exp(-x); p = t
                    for (i = 1; i <= n; i++) { t *= x / i; p += t }
                    return p }
                BEGIN { if (s == 0) exit
                    for (high = 1; below(high) > 0.05; ) high *= 2
                    for (i = 0; i < 60; i++) { x = (low + high) / 2
                        if (below(x) > 0.05) low = x; else high = x }
                    printf "rate      %.2f an hour, at most %.2f (95 %%); %.1f a day, at most %.1f\n",
                        n * 3600 / s, high * 3600 / s, n * 86400 / s, high * 86400 / s }' ;;
            *) echo "$line" ;;
        esac
    done
}

trap finish EXIT
trap 'exit 130' INT TERM
results=$(mktemp "$folder.XXXXXX")
row kind program ppn seed delay/s healthy/s notes 'expected: result'
"$cluster" up --name "$name" --hosts "$hosts" --quiet
every_run
tell_group program
tell_group kind
echo
tell_all
rm -f "$results"
end_campaign
