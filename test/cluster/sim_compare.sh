#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib/campaign.sh"
cluster=$here/cluster
program=${top_builddir:-.}/tools/faultloc
fanout=2

usage() {
    cat <<'END'
Usage: test/cluster/sim_compare.sh [OPTION]...

Compares the simulator with real runs: the same faults in a cluster of namespaces
(test/cluster/cluster) and in faultloc simulate, with the same number of nodes, one rank each, and
the same tree (fan-out 2). Prints for each fault and size whether the verdicts are equal (class and
component), and the median times from the fault to the report, with the ratio of the real one to
the simulated one. 'make sim-compare COMPAREFLAGS=...' calls this.

  --runs R            real runs of each fault and size (3)
  --sim-runs R        simulated runs, with the seeds 1, 2, ... (20)
  --sizes "N..."      numbers of hosts, at least 4 ("4 8 16")
  --faults "NAME..."  only these faults, of
                        power-off   h2 loses its power
                        fln-child   h2 loses its power, and h4, whose FLN it is
                        stop        the process of rank 2 is stopped
                        data-down   the data interface of h3 goes down
                        switch      the second of two leaf switches of the data network stops
                                    forwarding
  --factor F          fail if a real median is more than F times, or less than 1/F times, the
                      simulated one (2)
  --mpi PREFIX        the MPI (FAULTLOC_MPI)
  --program FILE      the program faultloc (tools/faultloc below $top_builddir, or here)
  --json FILE         write all results as JSON, schema faultloc-compare/1
  --keep FOLDER       keep the files of all runs there
  --help              this text

Exit code: 0 all are equal and within the factor, 1 some are not, 2 wrong usage, 77 no root or no
namespaces here.
END
}

runs=3 sim_runs=20 sizes='4 8 16' faults='power-off fln-child stop data-down switch' factor=2
json='' keep=''
read_options '--runs=runs --sim-runs=sim_runs --sizes=sizes --faults=faults --factor=factor
    --mpi=FAULTLOC_MPI --program=program --json=json --keep=keep' "$@"
check_values '--runs and --sim-runs' '[1-9][0-9]{0,5}' "$runs" "$sim_runs"
check_values --factor "$DECIMAL" "$factor"
# shellcheck disable=SC2086
check_values --sizes '([4-9]|[1-9][0-9]{1,2})' $sizes

# fault NAME: what the cluster tool and the simulator call it.
fault() {
    real=() simulated=() switches=1
    case $1 in
        power-off) real=(--fault 'power-off h2') simulated=('lose node 1') ;;
        fln-child)
            real=(--fault 'power-off h2' --fault 'power-off h4') simulated=('lose node 1,3') ;;
        stop) real=(--fault 'stop 2') simulated=('stop rank 2') ;;
        data-down) real=(--fault 'data-down h3') simulated=('down node 2') ;;
        switch) real=(--fault 'switch-off 2') simulated=('lose switch leaf2') switches=2 ;;
        *) die 2 "there is no fault '$1'" ;;
    esac
}
for name in $faults; do fault "$name"; done
[ -x "$program" ] || die 2 "no program $program; 'make tools/faultloc' makes it"
command -v jq >/dev/null || { echo "SKIP: no program 'jq' (Debian package jq)"; exit 77; }
"$cluster" check --quiet >/dev/null || exit

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
[ -n "$keep" ] || keep=$work/keep

# simulate SIZE: what the simulator says, one line of JSON a run: verdicts, latency_s.
simulate() {
    local half=$(($1 / 2)) shape=(--nodes "$1") line arguments=()
    if [ "$switches" = 2 ]; then
        printf 'SwitchName=%s\n' "leaf1 Nodes=h[1-$half]" "leaf2 Nodes=h[$((half + 1))-$1]" \
            'spine Switches=leaf[1-2]' >"$work/topology.conf"
        shape=(--topology "$work/topology.conf")
    fi
    for line in "${simulated[@]}"; do arguments+=(--fault "$line"); done
    # the fault is at 1 s; the others all wait, as in MPI_Alltoall
    "$program" simulate "${shape[@]}" --fanout $fanout --partners "$1" --runs "$sim_runs" \
        "${arguments[@]}" --limit 30s --quiet --json "$work/sim.json" >"$work/sim.txt" || [ $? = 1 ]
    jq -c '.runs[] | {verdicts: [.verdicts[] | select(.withdrawn_after_s == null) |
            {class, component: (.component | gsub("(?<k>^[a-z]+ )n(?<n>[0-9]+)$";
                "\(.k)h\(.n | tonumber + 1)"))}] | sort | unique,
        latency_s: ([.verdicts[] | select(.withdrawn_after_s == null).told_s - 1] | max)}' \
        "$work/sim.json"
}

# real FAULT SIZE: the same of the runs in the cluster.
really() {
    local i code=0 folder=$keep/$1-$2
    mkdir -p "$folder"
    "$cluster" campaign --name simcompare --hosts "$2" --switches "$switches" --runs "$runs" \
        --faultloc --env MPIR_CVAR_FAULTLOC_FANOUT=$fanout "${real[@]}" --any-victims \
        --deadline 30 --keep "$folder" --json "$folder/results.json" \
        -- alltoall --seconds 3600 --rest-us 1000 >"$folder/table" 2>"$folder/log" || code=$?
    [ $code -le 1 ] || { cat "$folder/log" >&2; exit $code; }
    for ((i = 1; i <= runs; i++)); do
        jq -c --argjson latency "$(latency "$folder/run-$i")" '
            {verdicts: [.verdicts[] | select(.withdrawn == null) |
                {class, component: "\(.component.kind) \(.component.name)"}] | sort | unique,
             latency_s: $latency}' "$folder/run-$i/report.json" 2>/dev/null ||
            echo '{"verdicts": [], "latency_s": null}'
    done
}

# latency FOLDER: seconds from the (first) injection to the last verdict's first line; null: none.
latency() {
    local from
    from=$(sort -n "$1"/injected.* | head -n 1)
    awk -v from="$from" '/^[0-9]+ \[faultloc\] [a-z-]+: / && !/ (conclusion|evidence|victims):/ &&
        !/withdrawn/ { t = $1 } END { if (t) print (t - from) / 1e6; else print "null" }' \
        "$1/err"
}

# row FAULT SIZE: one object of what was found.
row() {
    jq -nc --arg fault "$1" --argjson nodes "$2" --argjson factor "$factor" \
        --slurpfile real "$work/real" --slurpfile simulated "$work/simulated" '
        def median: map(values) | sort |
            if length > 0 then .[(length - 1) / 2 | floor] else null end;
        def side: {runs: length, verdicts: map(.verdicts) | unique,
            latency_s: map(.latency_s), median_s: (map(.latency_s) | median)};
        ($real | side) as $r | ($simulated | side) as $s |
        {fault: $fault, nodes: $nodes, real: $r, simulated: $s,
         equal: ($r.verdicts == $s.verdicts and $r.verdicts != [[]]),
         factor: (if $r.median_s and $s.median_s then $r.median_s / $s.median_s else null end)}
        | .ok = (.equal and .factor != null and .factor <= $factor and .factor >= 1 / $factor)'
}

show() {
    jq -r 'def told: .verdicts | map(map("\(.class) \(.component)") | join(" + ") |
            if . == "" then "nothing" else . end) | join(" | ");
        def number: if . == null then "-" else . * 100 | round / 100 | tostring end;
        [.fault, (.nodes | tostring), (if .equal then "yes" else "NO" end),
         (.real.median_s | number), (.simulated.median_s | number), (.factor | number),
         (.real | told), (if .equal then "" else "simulated: " + (.simulated | told) end)] | @tsv' |
        awk -F'\t' '{ printf "%-10s %5s  %-5s %7s %11s %7s  %s\n", $1, $2, $3, $4, $5, $6, $7
            if ($8 != "") printf "%56s%s\n", "", $8; fflush() }'
}

good=1
printf '%-10s %5s  %-5s %7s %11s %7s  %s\n' fault hosts equal real/s simulated/s factor verdicts
for name in $faults; do
    for n in $sizes; do
        echo "sim_compare: $name, $n hosts, $runs times" >&2
        fault "$name"
        simulate "$n" >"$work/simulated"
        really "$name" "$n" >"$work/real"
        row "$name" "$n" | tee -a "$work/rows" | show
        [ "$(tail -n 1 "$work/rows" | jq .ok)" = true ] || good=
    done
done
[ -z "$json" ] || jq -s '{schema: "faultloc-compare/1", rows: .}' "$work/rows" >"$json"
[ -n "$good" ]
