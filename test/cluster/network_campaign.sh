#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2015,SC2154

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/cluster
. "$here/lib/campaign.sh"
. "$here/lib/matrix.sh"

all_faults="nic-down cable switch-down switch-power-off one-way-to one-way-from loss5 loss10 loss30 slow mtu flap"
all_faults+=" half-speed new-connections power-off crash mgmt-down trunk two-nics healthy"
all_programs="alltoall bulk paced ring"

usage() {
    cat <<END
Usage: test/cluster/network_campaign.sh [OPTION]...

Breaks the network of jobs on a cluster of namespaces (two leaf switches) in many ways, in random
order, at random instants, under several programs, and prints which verdict each fault got: a
confusion matrix, as text, and with --out as JSON and as a picture (SVG).

  --faults F,F,...    these faults (all):
                        nic-down cable     a host's data interface goes down; its cable is pulled
                        switch-down        a leaf switch of the data network forwards nothing
                        switch-power-off   one has no power: its hosts have no carrier
                        one-way-to one-way-from
                                           no packet to, or from, a host on the data network
                        loss5 loss10 loss30
                                           so many percent of the packets to, or from, a host
                        slow mtu           100 kbit/s to a host; large packets do not pass to it
                        flap               a host's cable is out for 300 ms every 5 s
                        half-speed         a host's port says half the speed of all others
                        new-connections    a firewall drops what begins a connection to a host, whose
                                           rank is stopped, which is to be found
                        power-off crash    a host loses its power; a rank is killed
                        mgmt-down          a host's management interface is down for 4 s: no fault of
                                           the job's
                        trunk              30 % of the packets from the spine to a leaf are lost; there
                                           are three leaves then: with two nobody can tell which
                        two-nics           the data interfaces of two of the hosts of a leaf go down
                        healthy            no fault
  --programs P,P,...  under one of these, drawn for each run (all):
                        alltoall  small messages    bulk  large ones    paced  a pause after each step
                        ring      one message, that goes round
                      (mtu and slow: bulk or paced, whose messages are large enough; loss5: not ring,
                      which sends a packet over the link now and then)
  --runs N            runs of each fault (1)
  --seed S            what is drawn; each run has one of its own, which its line tells (1)
  --hosts N           hosts (8)
  --one-network       FaultLoc has no management network: the matrix then says what cannot be told
                      apart by the data network alone
  --busy              a busy loop on every processor meanwhile
  --deadline S        how long to wait for a verdict (30)
  --limits F,S        fail if a verdict comes later: of loss, slow, mtu, flap, half-speed and trunk S
                      seconds, of the others F; 0: no limit (0,0)
  --mpi PREFIX        the MPI under test (FAULTLOC_MPI)
  --out FOLDER        also write FOLDER/matrix.txt, matrix.json, matrix.svg and runs.json
  --keep FOLDER       keep the files of every run there
  --help              this text

Exit code: 0 each fault got its verdict and no other, 1 not so, 2 wrong usage, 77 no root or no
namespaces here.
END
}

faults=${all_faults// /,} programs=${all_programs// /,} runs=1 seed=1 hosts=8 busy='' deadline=30
limits=0,0 out='' keep='' one_network=''
read_options '--faults=faults --programs=programs --runs=runs --seed=seed --hosts=hosts --busy:busy
    --one-network:one_network
    --deadline=deadline --limits=limits --mpi=FAULTLOC_MPI --out=out --keep=keep' "$@"
check_words fault "$faults" "$all_faults"
check_words program "$programs" "$all_programs"
check_values '--runs and --deadline' '[1-9][0-9]*' "$runs" "$deadline"
check_values --seed '[0-9]+' "$seed"
check_values --hosts '([4-9]|[1-9][0-9]+)' "$hosts"
check_values --limits "$DECIMAL,$DECIMAL" "$limits"
"$cluster" check --quiet || exit
need jq jq

work=$(mktemp -d)
results=$work
name=n$$
busy_pids=()
finish() {
    local code=$? pid
    trap - EXIT
    for pid in "${busy_pids[@]}"; do kill "$pid" 2>/dev/null || :; done
    [ -z "${job:-}" ] || { kill "$job" && wait "$job"; } 2>/dev/null || :
    rm -rf "$work"
    exit $code
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- what a run is ----------------------------------------------------------------------------

draw_host() { draw 1 "$hosts"; HOST=h$DRAWN; }

# Fills FAULTS, what the cluster is to do; WANT is one verdict that is right, as "CLASS NAME", or several.
plan_fault() {
    draw_host
    local rank=$((${HOST#h} - 1)) side way leaf
    draw 1 2; leaf=$DRAWN
    draw_of to from; way=$DRAWN
    case $fault in
        nic-down) FAULTS=("data-down $HOST") ;;
        cable) FAULTS=("cable $HOST") ;;
        switch-down) FAULTS=("switch-off $leaf") ;;
        switch-power-off) FAULTS=("switch-power-off $leaf") ;;
        one-way-*) FAULTS=("one-way $HOST ${fault##*-}") ;;
        loss*) FAULTS=("loss $HOST ${fault#loss} $way") ;;
        slow) FAULTS=("slow-link $HOST 100") ;;
        mtu) FAULTS=("mtu $HOST 1200") ;;
        flap) FAULTS=("flap $HOST 300 5000") ;;
        half-speed) FAULTS=("half-speed $HOST") ;;
        new-connections) FAULTS=("new-connections $HOST" "stop $rank @+300") ;;
        power-off) FAULTS=("power-off $HOST") ;;
        crash) FAULTS=("kill $rank") OPTIONS+=(--mpiexec-arg -disable-auto-cleanup) ;;
        mgmt-down) FAULTS=("mgmt-down $HOST 4000") ;;
        trunk) switches=3 FAULTS=("trunk $leaf 30") ;;
        two-nics)
            side=$((leaf == 1 ? 0 : hosts / 2))
            FAULTS=("data-down h$((side + 1 + RANDOM % 2))" "data-down h$((side + 3))") ;;
        healthy) FAULTS=() ;;
    esac
}

plan_program() {
    local words=${programs//,/ }
    case $fault in
        loss5) words=$(tr ' ' '\n' <<<"$words" | grep -xv ring || echo alltoall) ;;
        mtu | slow) words=$(tr ' ' '\n' <<<"$words" | grep -xE 'bulk|paced' || echo bulk paced) ;;
    esac
    # shellcheck disable=SC2086
    draw_of $words
    program=$DRAWN
    case $program in
        alltoall) PROGRAM=(alltoall) ;;
        bulk) PROGRAM=(alltoall --count 8000) ;;
        paced) PROGRAM=(alltoall --count 1000 --pause-ms 20) ;;
        ring) PROGRAM=(ring) ;;
    esac
    case $fault in
        mgmt-down | healthy) PROGRAM+=(--seconds 15) ;;
        *) PROGRAM+=(--seconds 3600) ;;
    esac
}

# Runs the scenario; its own judgement is of one verdict, the matrix of all that stand.
one_run() {
    local f
    seed_draws "$run_seed $fault $hosts"
    OPTIONS=() switches=2
    [ -z "$one_network" ] || OPTIONS+=(--env MPIR_CVAR_FAULTLOC_MGMT_IFACE=none)
    plan_fault
    plan_program
    for f in "${FAULTS[@]}"; do OPTIONS+=(--fault "$f"); done
    rm -rf "$work/run"
    mkdir "$work/run"
    code=0
    "$cluster" scenario --name "$name" --hosts "$hosts" --switches "$switches" --faultloc --quiet \
        --any-victims --jitter-ms 4000 --settle 3 --deadline "$deadline" --keep "$work/run" \
        --json "$work/run/result.json" "${OPTIONS[@]}" -- "${PROGRAM[@]}" \
        >"$work/run/said" 2>&1 </dev/null &
    job=$!
    wait $job || code=$?
    job=''
    [ -z "$keep" ] || { mkdir -p "$keep" && rm -rf "$keep/$fault-$run_seed" && cp -r "$work/run" "$keep/$fault-$run_seed"; }
    judge
}

# --- judging ----------------------------------------------------------------------------------

wanted() { cat "$work"/run/run-1/expect.* 2>/dev/null | grep -v '^none$' | awk '{ print $1, $3 }' | sort; }

judge() {
    WHY='' LATENCY=null
    LATENCY=$(jq '.latency_s' "$work/run/result.json" 2>/dev/null || echo null)
    compare_verdicts "$(wanted)" "$(given "$work/run/run-1/report.json")"
    [ -n "$WHY" ] || judge_latency
    [ -f "$work/run/run-1/expect.1" ] || [ $code = 0 ] || WHY="$(tail -n 1 "$work/run/said")"
}

judge_latency() {
    local limit=${limits%,*}
    case $fault in loss* | slow | mtu | flap | half-speed | trunk) limit=${limits#*,} ;; esac
    [ "$limit" = 0 ] || [ "$LATENCY" = null ] ||
        awk -v a="$LATENCY" -v b="$limit" 'BEGIN { exit !(a <= b) }' ||
        WHY="located after $LATENCY s, more than the allowed $limit s"
}

tell_run() {
    printf '%3d/%-3d %5s  %-16s %-9s %-32s %-28s %7s  %s\n' "$number" "$total" "$run_seed" "$fault" \
        "$program" "$(IFS=+; echo "${FAULTS[*]:-}")" "$GOT" "${LATENCY/null/-}" "${WHY:-ok}"
}

# --- all of it --------------------------------------------------------------------------------

# Every fault with each seed, in an order that the seed draws.
mapfile -t order < <(for fault in ${faults//,/ }; do
    for ((i = seed; i < seed + runs; i++)); do echo "$fault $i"; done
done | draw_order "$seed")
total=${#order[@]} number=0 SKIP=''
if [ -n "$busy" ]; then
    for ((i = 0; i < $(nproc); i++)); do
        (trap - EXIT; while :; do :; done) &
        busy_pids+=($!)
    done
fi
printf '%7s %5s  %-16s %-9s %-32s %-28s %7s  %s\n' run seed fault program injected verdict s result
for entry in "${order[@]}"; do
    read -r fault run_seed <<<"$entry"
    number=$((number + 1))
    one_run
    note_run "$fault" "$program" "${FAULTS[*]:-}"
    tell_run
    count_run
done
echo
write_matrix "$all_faults"
end_campaign
