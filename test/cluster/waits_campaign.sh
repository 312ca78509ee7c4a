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
. "$here/lib/watch.sh"

deadlocks="recv-recv ssend-ssend big-send-send ring5 two-comms waitall test-loop rest-loop iprobe-loop"
missing="missing-fence missing-split missing-write missing-idup missing-inter missing-iv missing-scatterv"
deadlocks+=" poll-both or-knot wrong-tag wrong-comm old-message missing-send missing-near $missing"
deadlocks+=" early-finalize lock-left intercomm rma-lock rma-shared rma-lock-all rma-all-wanted rma-crosswise pscw pscw-one"
deadlocks+=" win-test part-recv part-send part-missing first-of-two thread-joins recv-recv-f08 recv-recv-f90 recv-recv-mpif"
mismatches="bcast-roots scatterv-barrier reduce-allreduce skip-allreduce skip-first counts extra-allreduce"
mismatches+=" ibarrier-barrier freed-window"
mismatches+=" reduce-allreduce-f08 reduce-allreduce-f90 reduce-allreduce-mpif"
healthy="or-no-knot context-again late-send compute slow-link sleep-poll work-poll poll-turns"
healthy+=" worker-comes store-comes put-comes thread-comes uneven"
all_kinds="$deadlocks $mismatches $healthy"
for_threads="${deadlocks%% poll-both*} wrong-tag wrong-comm missing-send intercomm thread-joins"
for_threads+=" bcast-roots reduce-allreduce skip-allreduce counts ibarrier-barrier late-send"
for_threads+=" thread-comes"
all_programs="alltoall halo pipeline master irregular"

indent() { fold -s -w 74 <<<"$1" | sed 's/ *$//; s/^/                          /'; }

usage() {
    cat <<END
Usage: test/cluster/waits_campaign.sh [OPTION]...

Runs jobs that hang, each in one way, and healthy ones that seem to, on a cluster of network
namespaces, and checks what FaultLoc says of them: one verdict of the right class with exactly the
right ranks, soon after the last of them has blocked; of a healthy job none, and it ends well. A
note of class waiting is allowed, and counted. Prints a table. The program is test/mpi/hang.c; the
table in test/mpi/hang_kinds.h says what each kind is, and why its verdict is right. That of kinds
ending in -f08, -f90 and -mpif (the modules mpi_f08 and mpi, and mpif.h) is test/mpi/hang_f08.F90,
where the MPI has Fortran; that of uneven is test/mpi/uneven.c.

  --kinds K,K,...     these kinds (all):
                        deadlock
$(indent "$deadlocks")
                        collective-mismatch
$(indent "$mismatches")
                        none
$(indent "$healthy")
                      slow-link needs two hosts: the outgoing data of one of them is limited
                      store-comes needs one host: its ranks share memory
  --rate R            to this rate (2mbit)
  --programs P,P,...  how the ranks work together (test/mpi/patterns.h), one of which is drawn for
                      each run (all): $all_programs
  --hosts N           hosts (4)
  --ppn K,K,...       ranks per host (1,4)
  --one-host          all ranks are on one host (--hosts 1 --ppn 4, if these are not given)
  --threads N         the ranks that hang do it with N threads at once; kinds that cannot are
                      skipped (1; of thread-joins and thread-comes 8)
  --runs N            runs of each kind (1)
  --seed N            the seed of what is drawn: program, ranks, moments (random). Run R of a kind
                      uses N + R - 1, so that '--runs 1 --seed' with the seed, kind and ppn of a
                      run repeats it
  --max-delay S       the verdict must be printed within S seconds after the last rank blocked (2.5)
  --deadline S        how long to wait for the verdict (20)
  --seconds S         how long uneven works (60)
  --settle S          how long to watch for others after it (3)
  --check-programs    look at the programs instead, with FaultLoc off: the ranks still are in the
                      call in which they hang, by gdb, S seconds (--settle) after the last of them
                      blocked; healthy jobs end well
  --mpi PREFIX        the MPI under test (FAULTLOC_MPI)
  --keep FOLDER       keep the files of every run there
  --json FILE         write the results as JSON, one line per run (- for standard output)
  --help              this text

Exit code: 0 all runs passed, 1 a run failed, 2 wrong usage, 77 no root or no namespaces here, or
all runs were skipped.
END
}

kinds=${all_kinds// /,} programs=${all_programs// /,} hosts='' ppns='' one_host='' threads=1 runs=1
seed=$((RANDOM % 30000)) max_delay=2.5 deadline=20 lasts=60 settle=3 check_programs='' keep=''
json='' rate=2mbit
read_options '--one-host:one_host --check-programs:check_programs --kinds=kinds --programs=programs
    --hosts=hosts --ppn=ppns --threads=threads --runs=runs --seed=seed --max-delay=max_delay
    --rate=rate --deadline=deadline --seconds=lasts --settle=settle --mpi=FAULTLOC_MPI --keep=keep
    --json=json' "$@"
if [ -n "$one_host" ]; then
    [ "${hosts:-1}" = 1 ] || die 2 "--one-host and --hosts $hosts contradict each other"
    hosts=1 ppns=${ppns:-4}
fi
hosts=${hosts:-4} ppns=${ppns:-1,4}

check_words kind "$kinds" "$all_kinds"
check_words program "$programs" "$all_programs"
check_values '--runs, --seed, --seconds, --settle and --deadline' '[0-9]+' "$runs" "$seed" \
    "$lasts" "$settle" "$deadline"
check_values '--ppn, --hosts and --threads' "$NUMBERS" "$ppns" "$hosts" "$threads"
check_values --rate '[1-9][0-9]*[kmg]?bit' "$rate"
check_values --max-delay "$DECIMAL" "$max_delay"
for ppn in ${ppns//,/ }; do
    [ $((hosts * ppn)) -ge 4 ] || die 2 "$hosts hosts with $ppn ranks: at least 4 ranks are needed"
done
"$cluster" check --quiet || exit
need jq jq
[ -z "$check_programs" ] || need gdb gdb
[ -z "$json" ] || [ "$json" = - ] || : >"$json"
CLUSTER_HOME=$here MPI=''
find_mpi
export FAULTLOC_MPI=$MPI

name=w$$
work=$(mktemp -d)
job=/run/faultloc-cluster/$name/job
finish() {
    local code=$?
    trap - EXIT
    [ -z "${pid:-}" ] || { kill "$pid" && wait "$pid" || :; } 2>/dev/null
    "$cluster" down --name "$name" --quiet 2>/dev/null || :
    rm -rf "$work"
    exit $code
}

# --- what a run is ----------------------------------------------------------------------------

is_healthy() { [[ " $healthy " == *" $kind "* ]]; }

mpi_says() { LD_LIBRARY_PATH=$MPI/lib "$MPI/bin/mpichversion" | tr -s '\n\t ' ' '; }

# ARGS are the program's; SLOW is the host whose data are slow; SKIP is the reason why the kind
# cannot be run here.
plan() {
    local n=$threads
    SKIP='' SLOW='' DID='' PROGRAM=hang TALKS=2
    # shellcheck disable=SC2086
    draw_of ${programs//,/ }
    program=$DRAWN
    draw 1 1000000
    ARGS=(--kind "$kind" --pattern "$program" --seed "$DRAWN")
    case $kind in
        slow-link)
            draw 1 "$hosts"
            SLOW=h$DRAWN DID="$SLOW, $rate"
            [ "$hosts" -gt 1 ] || SKIP="there is one host" ;;
        store-comes)
            [ "$hosts" = 1 ] || SKIP="its ranks share memory, so they are on one host"
            [[ $(mpi_says) != *'MPICH Version: '[5-9]*'MPICH Device: ch4:ucx'* ]] ||
                SKIP="ch4:ucx of this MPICH has no MPI_Win_allocate_shared" ;;
        lock-left)
            [[ $(mpi_says) != *'MPICH Device: ch4:ofi'* ]] ||
                SKIP="ch4:ofi ends ranks with an error that finalize without freeing their window" ;;
        missing-write)
            [[ $(mpi_says) != *--disable-romio* ]] || SKIP="this MPI has no MPI-IO" ;;
        rest-loop)
            draw 1 30
            ARGS+=(--poll-ms "$DRAWN") DID="every $DRAWN ms" ;;
        sleep-poll)
            draw 1 100
            ARGS+=(--poll-ms "$DRAWN") DID="every $DRAWN ms" ;;
        work-poll)
            draw 0 100
            local polls=$((DRAWN % 2 * DRAWN)) # ms
            draw 20 150
            local works=$((polls ? polls * 500 : DRAWN)) # us
            ARGS+=(--poll-ms "$polls" --work-us "$works") DID="$works us after $polls ms"
            draw 0 1
            [ "$DRAWN" = 0 ] || ARGS+=(--threads 1) DID+=", MPI_THREAD_MULTIPLE" ;;
        thread-joins | thread-comes) [ "$n" -gt 1 ] || n=8 ;;
        uneven) PROGRAM=uneven TALKS=1 ARGS=("${ARGS[@]:2}" --seconds "$lasts") ;;
        *-f08 | *-f90 | *-mpif)
            PROGRAM=hang_${kind##*-} ARGS=("${kind%-*}") program=fortran
            [ -x "$MPI/bin/mpifort" ] || SKIP="this MPI was built without Fortran" ;;
    esac
    [ "$n" = 1 ] || ARGS+=(--threads "$n")
    [ "$n" = 1 ] || [[ " $for_threads " == *" $kind "* ]] || SKIP="not for threads"
}

start_job() {
    local on=1
    [ -z "$check_programs" ] || on=0
    run_cluster --env MPIR_CVAR_FAULTLOC=$on -- "$PROGRAM" ${ARGS[@]+"${ARGS[@]}"}
}

# Of those that the verdict is about, and of all where all take part.
must_block() {
    case " $mismatches missing-send $missing early-finalize lock-left first-of-two " in
        *" $kind "*) seq 0 $((hosts * ppn - 1)) ;;
        *) tr , '\n' <<<"${EXPECT#* }" ;;
    esac
}
have_blocked() {
    local rank
    has_said || return
    for rank in $(must_block); do [ -e "$job/pids/blocked.$rank" ] || return; done
}
have_blocked_or_ended() { have_blocked || ended; }
has_said_or_ended() { has_said || ended; }
last_blocked() { awk '$3 > t { t = $3 } END { print t }' "$job"/pids/blocked.* 2>/dev/null; }

slow_down() {
    wait_until 120 has_said_or_ended
    ip netns exec "$name-$SLOW" tc qdisc add dev eth0 root tbf rate "$rate" burst 16kb latency 500ms
}
speed_up() { ip netns exec "$name-$SLOW" tc qdisc del dev eth0 root 2>/dev/null || :; }

await_hang() {
    if ! wait_until 120 have_blocked_or_ended || ended; then
        blame "the job did not come to the point where it is to hang"
        return
    fi
    LAST=$(last_blocked)
    if [ -n "$check_programs" ]; then
        pause_ms $((settle * 1000))
        ! ended || blame "the job does not hang"
        check_stacks
    else
        wait_until "$deadline" has_verdict_or_ended || blame "no verdict in $deadline s"
        pause_ms $((settle * 1000))
    fi
}

await_end() {
    [ -z "$SLOW" ] || slow_down
    wait_until $((lasts + 180)) ended || blame "the job does not end"
    [ -z "$SLOW" ] || speed_up
}

# What is printed because the job is ended is not judged.
end_job() {
    is_healthy || cp "$work/err" "$work/err.before"
    end_cluster
    is_healthy || mv "$work/err.before" "$work/err"
    has_said || EXPECT=-
}

# --- judging ----------------------------------------------------------------------------------

judge_verdicts() {
    local line got lines
    GOT=$(verdicts | paste -sd';')
    NOTES=$(count_notes)
    if is_healthy; then
        # one link is slower than the others, which may be said, and no more
        [ "$kind" != slow-link ] || verdict_lines | grep -qv 'network-degraded: ' || return 0
        [ -z "$GOT" ] && [ -z "$(verdict_lines)" ] ||
            blame "false: ${GOT:-$(verdict_lines | head -n 1)}"
        return
    fi
    got=${GOT//;/ and }
    [ "$GOT" = "$EXPECT" ] || blame "verdicts are '${got:-none}', not '$EXPECT'"
    [ -n "$GOT" ] && [ -n "${LAST:-}" ] || return 0
    line=$(verdict_lines | head -n 1)
    lines=$(verdict_lines | wc -l)
    [ "$lines" = 1 ] || blame "$lines verdicts on stderr"
    judge_delay "${line%% *}"
}

judge_delay() { # MICROSECOND
    local located
    [ -n "$1" ] || return 0
    DELAY=$(seconds "$LAST" "$1")
    located=$(date -d "$(jq -r '.verdicts[0].located' "$work/report.json")" +%s%6N)
    LOCATED=$(seconds "$LAST" "$located")
    awk -v d="$DELAY" -v max="$max_delay" 'BEGIN { exit !(d >= 0 && d <= max) }' ||
        blame "$DELAY s after the last rank blocked"
}

# Those who wait are in the function of their kind, and in the call that they named; one that polls
# may be seen between two calls.
check_stacks() {
    local rank call try function=$kind
    [ "$program" != fortran ] || function=${kind%-*}
    function=${function//-/_}
    for rank in $(must_block | head -n 6); do
        call=$(sed -n "s/^BLOCKS rank $rank in MPI_\([A-Za-z_]*\) at .*/\1/p" "$work/out" |
            tail -n 1)
        for try in 1 2 3 4 5; do
            gdb -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' \
                -ex 'thread apply all bt' -p "$(cut -d' ' -f2 "$job/pids/rank.$rank")" \
                >"$work/stack.$rank" 2>/dev/null </dev/null || :
            ! grep -qE "(P?MPI|internal)_$call \(" "$work/stack.$rank" || break
        done
        grep -qE "(P?MPI|internal)_$call \(" "$work/stack.$rank" &&
            grep -qE " (hang::)?$function \(" "$work/stack.$rank" ||
            blame "rank $rank is not in MPI_$call of $function()"
    done
}

run_job() {
    start_job
    if is_healthy; then await_end; else await_hang; fi
    end_job
    [ -n "$check_programs" ] || judge_verdicts
    if is_healthy; then judge_end "$PROGRAM" "$TALKS"; else judge_end ''; fi
    judge_complaints
}

# MPICH's own MPI_Finalize hangs now and then (test/mpi/testutil.c): such a run is done again.
one_run() {
    local try
    for try in 1 2 3; do
        WHY='' EXPECT=- GOT='' DELAY=- LOCATED=- NOTES=- CODE=- LAST=''
        rm -rf "${work:?}"/* "$job"
        seed_draws "$kind $run_seed"
        plan
        [ -n "$SKIP" ] || run_job
        [ "$try" != 3 ] && grep -qs "MPICH's own MPI_Finalize hangs" "$work/err" || break
    done
    [ -z "$SKIP" ] || WHY="SKIPPED: $SKIP"
}

# --- the table --------------------------------------------------------------------------------

row() { printf '%-21s %-9s %3s %6s %9s %9s %5s  %s\n' "$@"; }

result_json() {
    jq -nc --arg kind "$kind" --arg program "$program" --arg expect "$EXPECT" --arg got "$GOT" \
        --arg why "$WHY" --arg did "$DID" --argjson hosts "$hosts" --argjson ppn "$ppn" \
        --argjson threads "$threads" --argjson seed "$run_seed" --arg delay "$DELAY" \
        --arg located "$LOCATED" --arg notes "$NOTES" --arg code "$CODE" '
        def num: if . == "-" then null else tonumber end;
        { kind: $kind, program: $program, hosts: $hosts, ppn: $ppn, threads: $threads, seed: $seed,
          did: $did, expected: $expect, verdicts: $got, delay_s: ($delay | num),
          located_s: ($located | num), notes: ($notes | num), exit_code: ($code | num),
          skipped: ($why | startswith("SKIPPED")), ok: ($why == ""), why: $why }'
}

tell_run() {
    row "$kind" "$program" "$ppn" "$run_seed" "$DELAY" "$LOCATED" "$NOTES" \
        "$EXPECT${DID:+ ($DID)}: ${WHY:-ok}"
    [ -z "$WHY" ] || [ -n "$SKIP" ] || cut -d' ' -f2- "$work/err" | tail -n 15 | sed 's/^/        /'
    if [ "$json" = - ]; then result_json; elif [ -n "$json" ]; then result_json >>"$json"; fi
    [ -z "$keep" ] || keep_run "$keep/$kind-$program-$ppn-$run_seed"
}

trap finish EXIT
trap 'exit 130' INT TERM
row kind program ppn seed delay/s located/s notes 'expected: result'
"$cluster" up --name "$name" --hosts "$hosts" --quiet
every_run
end_campaign
