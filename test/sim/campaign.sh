#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../maint/common.sh"

usage() {
    cat <<EOF
Usage: test/sim/campaign.sh [OPTION]...

Runs the simulator (test/sim/ftree-sim) through every scenario at every number of nodes: in each run
the verdicts must be what the scenario's faults should be called, each once. 'make sim-campaign
SIMFLAGS=...' calls this.

  --most N        numbers of nodes: 10, 100, ... N (1000000)
  --runs R        runs of each scenario at each number of nodes, with seeds 1, 2, ... (100)
  --only NAMES    these scenarios, separated by commas
  --limit S       a run may take this many seconds of one core; the scenario is then given up at
                  that number of nodes and above it (60)
  --out FOLDER    where the JSON of each goes, and the table (sim-campaign)
  --program FILE  the simulator (test/sim/ftree-sim below \$top_builddir, or here)
  --list          name the scenarios
  --help          this text

Memory: some 8 KiB for a node, and more for each fault more; what does not fit is left out and told.

Exit code: 0 every run is ok, 1 one is not or took too long, 2 wrong arguments, 77 nothing was run.
EOF
}

# NAME|OPTIONS|LINE;LINE...
scenarios=(
    "node||lose random node"
    "switch-aware|topology|lose random node"
    "killed||kill random node"
    "frozen||freeze random node"
    "fln-and-child||lose random fln and child"
    "root||lose root"
    "root-and-substitute||lose root and 1 substitute"
    "root-and-3-substitutes||lose root and 3 substitutes"
    "hundred||lose 100 random nodes"
    "storm||lose random node;storm: all wait for it"
    "storm-healthy||storm: all wait for node 0"
    "lossy|--loss 5% --duplicate 5% --delay 5%:1s|lose random node"
    "returns||lose random node;t=20s return it"
    "data-cut||cut random node on data"
    "switch|topology|lose random switch"
    "partition|topology|partition random switch;t=20s heal"
    "healthy||random waits every 1s of up to 5s for 10h"
    "healthy-lossy|--loss 5% --duplicate 5% --delay 5%:1s|random waits every 1s of up to 5s for 1h"
)

most=1000000 runs=100 only='' limit=60 out=sim-campaign
program=${top_builddir:-.}/test/sim/ftree-sim

while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --list) printf '%s\n' "${scenarios[@]%%|*}"; exit 0 ;;
        --most | --runs | --only | --limit | --out | --program)
            [ $# -gt 1 ] || usage_error "a value is needed after $1"
            printf -v "${1#--}" '%s' "$2"
            shift 2
            ;;
        *) usage_error "no such option: $1" ;;
    esac
done
for value in "$most" "$runs" "$limit"; do
    [[ $value =~ ^[1-9][0-9]{0,8}$ ]] || usage_error "'$value' is no number from 1"
done
[ -x "$program" ] || usage_error "no program $program; 'make $program' makes it"
command -v jq >/dev/null || { say "SKIP: no program jq (Debian package jq)"; exit 77; }
for name in ${only//,/ }; do
    printf '%s\n' "${scenarios[@]%%|*}" | grep -qxF -- "$name" ||
        usage_error "no such scenario: $name; --list names them"
done
mkdir -p "$out"

# topology N: switches of up to 64 nodes each.
topology() {
    local per=$(($1 < 64 ? 5 : 64))
    echo "switch:$((($1 + per - 1) / per)) node:$per"
}

# fits N FAULTS: there is memory for so many nodes.
fits() {
    local free
    free=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    [ $(($1 * (6 + 3 * $2))) -lt "$free" ]
}

# one NAME OPTIONS LINES N: all runs; 0 ok, 1 not, 2 left out.
one() {
    local name=$1 options=$2 lines=$3 n=$4 file=$out/$1-$4.json faults=1 code=0 arguments=() line
    [ "$name" = hundred ] && faults=100
    if [ "$name" = hundred ] && [ "$n" -lt 1000 ]; then return 2; fi
    if ! fits "$n" $faults; then
        warn "$name, $n nodes: not enough memory here"
        return 2
    fi
    if [ "$options" = topology ]; then
        arguments+=(--topology "$(topology "$n")")
    else
        # shellcheck disable=SC2206
        arguments+=(--nodes "$n" $options)
    fi
    while IFS= read -r line; do arguments+=(--fault "$line"); done < <(tr ';' '\n' <<<"$lines")
    (
        ulimit -t $((limit * runs))
        exec "$program" "${arguments[@]}" --check no --runs "$runs" --quiet --json "$file"
    ) >"$out/$name-$n.txt" 2>&1 || code=$?
    if [ $code -gt 1 ]; then
        warn "$name, $n nodes: exit code $code (137: too long): $out/$name-$n.txt"
        return 1
    fi
    jq -r --arg name "$name" --argjson limit "$limit" '
        def mean: if length > 0 then add / length else 0 end;
        .runs | [$name, .[0].nodes, length, (map(select(.ok)) | length),
            (map(.verdicts[].latency_s // empty) | mean),
            (map(.verdicts[].latency_s // empty) | max // 0),
            (map(.messages_mean) | mean), (map(.messages_busiest_node) | max),
            (map(.bytes_per_handle) | max), (map(.bytes_per_handle_peak) | max),
            (map(.wall_s) | max)]
        | map(if type == "number" then . * 1000 | round / 1000 else . end) | @tsv' "$file" |
        tee -a "$out/table.tsv" | column_line
    return $code
}

column_line() {
    awk -F'\t' '{ printf "%-22s %8d %5d %5d %8.3f %8.3f %10.2f %9d %8d %9d %8.2f\n",
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11; fflush() }'
}

: >"$out/table.tsv"
printf '%-22s %8s %5s %5s %8s %8s %10s %9s %8s %9s %8s\n' scenario nodes runs ok mean_s most_s \
    mean_msgs busiest idle_B peak_B wall_s
ran=0 failed=0
for scenario in "${scenarios[@]}"; do
    IFS='|' read -r name options lines <<<"$scenario"
    [ -z "$only" ] || [[ ",$only," == *",$name,"* ]] || continue
    for ((n = 10; n <= most; n *= 10)); do
        code=0
        one "$name" "$options" "$lines" "$n" || code=$?
        [ $code -eq 2 ] || ran=$((ran + 1))
        [ $code -ne 1 ] || failed=$((failed + 1))
        # what takes too long here takes longer with more nodes
        [ -s "$out/$name-$n.json" ] || [ $code -eq 2 ] || break
    done
done
say "$ran scenarios were run, $failed are not as they should be; see $out"
[ $ran -gt 0 ] || exit 77
[ $failed -eq 0 ]
