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

all_faults="nic-down cable switch-down one-way-to one-way-from loss5 loss10 loss30 slow mtu flap"
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
                      (mtu and slow: bulk or paced, whose messages are large enough)
  --runs N            runs of each fault (1)
  --seed S            what is drawn; each run has one of its own, which its line tells (1)
  --hosts N           hosts (8)
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
limits=0,0 out='' keep=''
read_options '--faults=faults --programs=programs --runs=runs --seed=seed --hosts=hosts --busy:busy
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

# "CLASS NAME" of each verdict that stands.
given() {
    jq -r '.verdicts[] | select(.withdrawn == null)
        | "\(.class) \(.component.name | sub("^(rank|switch) "; ""))"' \
        "$work/run/run-1/report.json" 2>/dev/null | sort || :
}

# Sets GOT: the class, "CLASS elsewhere" where another component is named, "none", or the classes of
# several; and WHY where it is not what was wanted.
judge() {
    local want got extra
    WHY='' LATENCY=null
    want=$(wanted) got=$(given)
    extra=$(comm -13 <(echo "$want") <(echo "$got") | grep . || :)
    LATENCY=$(jq '.latency_s' "$work/run/result.json" 2>/dev/null || echo null)
    if [ -z "$got" ]; then
        GOT=none
    elif [ -n "$extra" ]; then
        GOT=$(cut -d' ' -f1 <<<"$extra" | sort -u | paste -sd+)
        ! cut -d' ' -f1 <<<"$want" | grep -qxF "$GOT" || GOT+=' elsewhere'
    else
        GOT=$(cut -d' ' -f1 <<<"$got" | sort -u | paste -sd+)
    fi
    [ "$want" = "$got" ] || WHY="verdicts are '${got//$'\n'/, }', not '${want//$'\n'/, }'"
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

note_run() {
    jq -nc --arg fault "$fault" --arg program "$program" --arg did "${FAULTS[*]:-}" \
        --arg got "$GOT" --arg why "$WHY" --argjson latency "$LATENCY" --argjson seed "$run_seed" \
        '{fault: $fault, program: $program, did: $did, seed: $seed, got: $got,
          latency_s: $latency, ok: ($why == ""), why: $why}' >>"$work/runs.json"
}

tell_run() {
    printf '%3d/%-3d %5s  %-16s %-9s %-32s %-28s %7s  %s\n' "$number" "$total" "$run_seed" "$fault" \
        "$program" "$(IFS=+; echo "${FAULTS[*]:-}")" "$GOT" "${LATENCY/null/-}" "${WHY:-ok}"
}

# --- the matrix -------------------------------------------------------------------------------

# Rows are faults, columns what they got.
make_matrix() {
    jq -s --arg order "$all_faults" '
        def med: sort | if length == 0 then null else .[(length - 1) / 2 | floor] end;
        . as $runs | ([.[].got] | unique) as $columns
        | { columns: $columns, rows: [ $order | split(" ")[] as $f
            | [$runs[] | select(.fault == $f)] | select(length > 0) | . as $r
            | { fault: $f, runs: length, right: ([.[] | select(.ok)] | length),
                latency_median_s: ([.[].latency_s | values] | med),
                latency_max_s: ([.[].latency_s | values] | max),
                cells: [ $columns[] as $c | [$r[] | select(.got == $c)]
                    | { runs: length, right: ([.[] | select(.ok)] | length) } ] } ] }' "$work/runs.json"
}

# A table of words, each column as wide as its widest.
matrix_text() {
    jq -r '
        def show: if . == null then "-" else (. * 10 | round / 10 | tostring) end;
        [["fault", "right", "median/s", "max/s"] + .columns]
        + [.rows[] | [.fault, "\(.right)/\(.runs)", (.latency_median_s | show), (.latency_max_s | show)]
            + [.cells[] | if .runs == 0 then "." elif .right == .runs then "\(.runs)"
                          else "\(.runs)!" end]]
        | . as $t | [range($t[0] | length) as $i | [$t[] | .[$i] | length] | max + 2] as $w
        | $t[] | . as $r | [range(length) | $r[.] + " " * ($w[.] - ($r[.] | length))] | add
        | sub(" +$"; "")' "$1"
    echo 'A number with ! has runs that were not right.'
}

# Green: right; red: not.
matrix_svg() {
    jq -r '
        def text($x; $y; $more): "<text x=\"\($x)\" y=\"\($y)\" \($more)>\(.)</text>";
        def seconds: if . == null then "-" else "\(. * 10 | round / 10) s" end;
        110 as $w | 26 as $h | 150 as $left | 160 as $top
        | (.columns | length) as $n | ($left + $n * $w) as $edge
        | "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\($edge + 250)\""
          + " height=\"\($top + (.rows | length) * $h + 40)\" font-family=\"sans-serif\" font-size=\"13\">",
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        ("Faults (rows) and the verdicts that they got (columns)"
            | text(10; 24; "font-size=\"16\" font-weight=\"bold\"")),
        (.columns | to_entries[] | .key as $i | .value
            | text($left + ($i + 0.5) * $w; $top - 10;
                   "transform=\"rotate(-25 \($left + ($i + 0.5) * $w) \($top - 10))\"")),
        ("right" | text($edge + 12; $top - 10; "")),
        ("median, longest" | text($edge + 80; $top - 10; "")),
        (.rows | to_entries[] | ($top + .key * $h) as $y | .value
            | (.fault | text($left - 10; $y + 17; "text-anchor=\"end\"")),
              (.cells | to_entries[] | ($left + .key * $w) as $x | .value
                | "<rect x=\"\($x)\" y=\"\($y)\" width=\"\($w - 2)\" height=\"\($h - 2)\" fill=\"\(
                      if .runs == 0 then "#f2f2f2" elif .right == .runs then "#b7e1b0"
                      else "#f2a6a0" end)\"/>",
                  (select(.runs > 0) | .runs | tostring
                    | text($x + $w / 2 - 1; $y + 17; "text-anchor=\"middle\""))),
              ("\(.right) of \(.runs)" | text($edge + 12; $y + 17; "")),
              ("\(.latency_median_s | seconds), \(.latency_max_s | seconds)"
                | text($edge + 80; $y + 17; ""))),
        "</svg>"' "$1"
}

write_matrix() {
    make_matrix >"$work/matrix.json"
    matrix_text "$work/matrix.json" | tee "$work/matrix.txt"
    [ -n "$out" ] || return 0
    matrix_svg "$work/matrix.json" >"$work/matrix.svg"
    mkdir -p "$out"
    cp "$work"/matrix.* "$work/runs.json" "$out/"
}

# --- all of it --------------------------------------------------------------------------------

# Every fault with each seed, in an order that the seed draws.
mapfile -t order < <(for fault in ${faults//,/ }; do
    for ((i = seed; i < seed + runs; i++)); do echo "$(cksum <<<"$seed $fault $i") $fault $i"; done
done | sort -n | awk '{ print $3, $4 }')
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
    note_run
    tell_run
    count_run
done
echo
write_matrix
end_campaign
