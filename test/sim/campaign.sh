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

Runs the simulator (faultloc simulate) through every scenario at every number of nodes. In each run
the verdicts must be those that the scenario's faults call for, each once ('ok'). Further checks:

  bound  a fault is located within the stall limit, twice the time of a probe, and the depth of the
         tree times the latency of a link; not checked if nodes are lost or messages delayed on
         purpose; of ranks that wait for each other: 2.5 s after the last of them has blocked
  linear:N  messages about who waits for whom are at most 30 for each of the N ranks involved
  load:N  no node has more than 4 x fan-out + N messages for each fault (load: N is 0), besides the
         questions about its own suspects and their consequences, and those about who waits for whom.
         4 x fan-out: an inner node is lost, and its parent announces that to its own children and
         to those of the lost one, two messages each. Where all wait for one node, each child and
         the parent have a symptom and an announcement, two messages each (4 more); a node above
         the suspect passes on the verdict on its way up (4), and two symptoms of the root, to which
         the lost node, for which all wait, did not say what it waits for (8): 16 more. A lost switch
         has 64 nodes, of which each is a suspect first: 25 for each. Where the tree follows switches
         a node has up to 63 children and not 32: 4 x 32 more
  clean  in a healthy job there is no verdict at all, not even one that is over before it is
         reported
  idle   an idle handle has at most 1040 bytes
  wall   a run takes at most --limit seconds

'make sim-campaign SIMFLAGS=...' calls this. Results of finished runs by the same program with the
same options are kept, so the campaign may be interrupted at any time.

  --most N        numbers of nodes: 10, 100, ... N (1000000)
  --least N       leave out those below N (10)
  --runs R        runs of each scenario at each number of nodes, with seeds 1, 2, ... (100)
  --jobs J        parallel jobs, as far as memory allows (1)
  --only NAMES    only these scenarios, separated by commas
  --limit S       a run may take this many seconds of one core; a scenario that takes longer is
                  skipped at that number of nodes and above (60)
  --out FOLDER    where the JSON files (NAME-NODES.json) and the table go (sim-campaign)
  --again         repeat runs whose results are there already
  --program FILE  the program faultloc (tools/faultloc below \$top_builddir, or here)
  --list          list the scenarios
  --help          this text

Memory: about 3 KiB for each node, and 0.13 KiB more for each fault. Runs that do not fit are
skipped, with a message.

To plot the results: test/sim/plot.sh cost.svg FOLDER/node-*.json FOLDER/root-1*.json ...

Exit code: 0 every run is ok, 1 one is not or took too long, 2 wrong arguments, 77 nothing was run.
EOF
}

# NAME|FAULTS|CHECKS|SIZES|OPTIONS|LINE;LINE...: CHECKS: those that hold; SIZES:
# those of which it is, all if empty; OPTIONS may begin with "topology": switches of 64 nodes. Ranks
# that wait for each other are no faults here: they cost every node nothing.
lossy='--loss 5% --duplicate 5% --delay 5%:1s'
scenarios=(
    "node|1|bound,load|||lose random node"
    "switch|1|bound,load:1600||topology|lose random switch"
    "fln-and-child|2|load|||lose random fln and child"
    "root|1|bound,load|||lose root"
    "root-and-substitute|2|load|||lose root and 1 substitute"
    "root-and-3-substitutes|4|load|||lose root and 3 substitutes"
    "hundred|100|load|1000 10000 100000 1000000||lose 100 random nodes"
    "storm|1|bound,load:16|||lose random node;storm: all wait for it"
    "storm-healthy|0|clean|||storm: all wait for node 0"
    "switch-aware|1|bound,load:128||topology|lose random node"
    "killed|1|bound,load|||kill random node"
    "frozen|1|bound,load|||freeze random node"
    "returns|1||||lose random node;t=20s return it"
    "data-cut|1||||cut random node on data"
    "data-down|1||||down random node"
    "partition|1|||topology|partition random switch;t=20s heal"
    "lossy-node|1|||$lossy|lose random node"
    "lossy-switch|1|||topology $lossy|lose random switch"
    "lossy-fln-and-child|2|||$lossy|lose random fln and child"
    "lossy-root|1|||$lossy|lose root"
    "lossy-root-and-substitute|2|||$lossy|lose root and 1 substitute"
    "lossy-hundred|100||1000 10000 100000|$lossy|lose 100 random nodes"
    "lossy-storm|1|||$lossy|lose random node;storm: all wait for it"
    "lossy-returns|1|||$lossy|lose random node;t=30s return it"
    "lossy-partition|1|||topology $lossy|partition random switch;t=30s heal"
    "ring-2|0|bound,linear:2|||ring of 2 scattered ranks"
    "ring-1000|0|bound,linear:1000|10000 100000 1000000||ring of 1000 ranks"
    "ring-1000-scattered|0|bound,linear:1000|10000 100000 1000000||ring of 1000 scattered ranks"
    "knot-1000|0|bound,linear:1000|10000 100000 1000000||knot of 1000 scattered ranks"
    "any-source-16|0|bound,linear:16|100 1000 10000 100000 1000000||any source of 16 scattered ranks"
    "two-rings|0|bound,linear:200|1000 10000 100000 1000000||ring of 100 scattered ranks;knot of 100 scattered ranks"
    "ring-ends|0|linear:1000|10000 100000||ring of 100 scattered ranks for 20s"
    "chain-10000|0|bound,linear:10000|100000 1000000||chain of 10000 ranks to random node"
    "chain-10000-scattered|0|bound,linear:10000|100000 1000000||chain of 10000 scattered ranks to random node"
    "chains-100|0|bound,linear:10000|100000 1000000||100 chains of 100 scattered ranks to random node"
    "chain-to-ring|0|bound|100000 1000000||ring of 10 scattered ranks;chain of 10000 scattered ranks to it"
    "chain-to-finalized|0|bound|1000 10000 100000 1000000||finalize random node;chain of 100 scattered ranks to it"
    "chain-and-lost|1||1000 10000 100000 1000000||chain of 500 scattered ranks to random node;lose one of it"
    "collective-missing|0|bound|||collective: all but random node"
    "collective-receives|0|bound|||collective: random node receives"
    "collective-root|0|bound|||collective: random node has another root"
    "collective-finalized|0|bound|||finalize random node;collective: all but it"
    "lossy-ring-1000|0||10000 100000 1000000|$lossy|ring of 1000 scattered ranks"
    "lossy-two-rings|0||1000 10000 100000 1000000|$lossy|ring of 100 scattered ranks;knot of 100 scattered ranks"
    "lossy-chain-and-lost|1||1000 10000 100000 1000000|$lossy|chain of 500 scattered ranks to random node;lose one of it"
    "healthy|0|clean|10 100 1000 10000||random waits every 1s of up to 5s for 10h"
    "healthy-lossy|0|clean|10000|$lossy|random waits every 1s of up to 5s for 10h"
)

most=1000000 least=10 runs=100 jobs=1 only='' limit=60 out=sim-campaign again=''
program=${top_builddir:-.}/tools/faultloc
fanout=32

while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --list) printf '%s\n' "${scenarios[@]%%|*}"; exit 0 ;;
        --again) again=1; shift ;;
        --most | --least | --runs | --jobs | --only | --limit | --out | --program)
            [ $# -gt 1 ] || usage_error "$1 needs a value"
            printf -v "${1#--}" '%s' "$2"
            shift 2
            ;;
        *) usage_error "no such option: $1" ;;
    esac
done
for value in "$most" "$least" "$runs" "$jobs" "$limit"; do
    [[ $value =~ ^[1-9][0-9]{0,8}$ ]] || usage_error "'$value' must be a number from 1"
done
[ -x "$program" ] || usage_error "no program $program; 'make $program' builds it"
command -v jq >/dev/null || { say "SKIP: no program jq (Debian package jq)"; exit 77; }
for name in ${only//,/ }; do
    [[ " ${scenarios[*]%%|*} " == *" $name "* ]] ||
        usage_error "unknown scenario $name; --list lists them"
done
mkdir -p "$out"
program_sum=$(cksum <"$program")

# topology N: switches of up to 64 nodes each.
topology() {
    local per=$(($1 < 64 ? 5 : 64))
    echo "switch:$((($1 + per - 1) / per)) node:$per"
}

# arguments OPTIONS LINES N: of the simulator, one a line.
arguments() {
    local options=$1 line
    if [[ $options == topology* ]]; then
        printf '%s\n' --topology "$(topology "$3")"
        options=${options#topology}
    else
        printf '%s\n' --nodes "$3"
    fi
    # shellcheck disable=SC2086
    printf '%s\n' --fanout $fanout $options
    tr ';' '\n' <<<"$2" | while IFS= read -r line; do printf '%s\n' --fault "$line"; done
    printf '%s\n' --check no --runs "$runs"
}

# recipe ARGUMENT...: what a JSON comes from.
recipe() { printf '%s\n' "$program_sum" "$@"; }

# is_there NAME N: the JSON of all runs, of the recipe on standard input.
is_there() {
    [ -z "$again" ] && cmp -s - "$out/$1-$2.arguments" &&
        jq -e --argjson runs "$runs" '(.runs | length) == $runs' "$out/$1-$2.json" >/dev/null 2>&1
}

# simulate NAME N ARGUMENT...: all runs. Not 0: they were not run to the end.
simulate() {
    local file=$out/$1-$2 code=0 progress=/dev/stderr
    shift 2
    [ "$jobs" = 1 ] || progress=$file.progress
    rm -f "$file.json" "$file.arguments" "$file.row"
    (
        ulimit -t $((limit * runs))
        exec "$program" simulate "$@" --json "$file.json.part"
    ) >"$file.txt" 2>>"$progress" || code=$?
    if [ $code -gt 1 ]; then
        warn "${file##*/}: exit code $code (137: too long), see $file.txt"
        rm -f "$file.json.part"
        return $code
    fi
    recipe "$@" >"$file.arguments"
    mv "$file.json.part" "$file.json"
}

# judge NAME FAULTS CHECKS N: a row of the table; 0 ok, 1 not.
judge() {
    local row
    row=$(jq -r --arg name "$1" --argjson faults "$2" --arg checks "$3" --argjson limit "$limit" \
        --argjson fanout $fanout '
        def mean: if length > 0 then add / length else 0 end;
        def is(check): $checks | split(",") | index(check) != null;
        .runs | ([if all(.[]; .ok) then empty else "verdicts" end,
            if is("bound") and any(.[]; .located_within_bound | not) then "bound"
                else empty end,
            if any(.[]; .messages_busiest_node_beside_suspects > ($checks | [capture(
                "load(:(?<n>[0-9]+))?") | .n // "0" | tonumber] | first // infinite) +
                4 * $fanout * ([$faults, 1] | max)) then "load" else empty end,
            if any(.[]; .messages_of_waits > 30 * ($checks | capture("linear:(?<n>[0-9]+)").n
                // "1e9" | tonumber)) then "linear" else empty end,
            if is("clean") and any(.[]; .mistakes_total > 0) then "mistakes" else empty end,
            if any(.[]; .bytes_per_handle > 1040) then "idle" else empty end,
            if any(.[]; .wall_s > $limit) then "wall" else empty end] | join(",")) as $bad |
        [$name, .[0].nodes, length, (map(select(.ok)) | length),
            (map(.verdicts[].latency_s // empty) | mean),
            (map(.verdicts[].latency_s // empty) | max // 0),
            (map(.messages_mean) | mean), (map(.messages_busiest_node) | max),
            (map(.messages_busiest_node_beside_suspects) | max),
            (map(.bytes_per_handle) | max), (map(.bytes_per_handle_peak) | max),
            (map(.wall_s) | max), if $bad == "" then "-" else $bad end]
        | map(if type == "number" then . * 1000 | round / 1000 else . end) | @tsv' \
        "$out/$1-$4.json")
    printf '%s\n' "$row" >"$out/$1-$4.row"
    awk -F'\t' '{ printf "%-25s %8d %5d %5d %8.3f %8.3f %10.2f %8d %8d %7d %9d %7.2f  %s\n",
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 }' <<<"$row"
    [ "${row##*$'\t'}" = - ]
}

# one NUMBER NAME FAULTS CHECKS OPTIONS LINES N: 0 ok, 1 not, above it could not be run.
one() {
    local all
    mapfile -t all < <(arguments "$5" "$6" "$7")
    if recipe "${all[@]}" | is_there "$2" "$7"; then
        echo "sim-campaign: $1: $2, $7 nodes: kept from an earlier run" >&2
    else
        echo "sim-campaign: $1: $2, $7 nodes, $runs runs" >&2
        simulate "$2" "$7" "${all[@]}" || return 3
    fi
    judge "$2" "$3" "$4" "$7" || return 1
}

# needs N FAULTS: KiB of memory.
needs() { echo $(($1 * (2500 + 130 * ($2 > 0 ? $2 : 1)) / 1000)); }

# --- all of them, --jobs at a time --------------------------------------------------------------

declare -A job_need=() job_name=() too_long=()
room=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
used=0 ran=0 failed=0 left_out=0

# Waits for one that is under way.
reap() {
    local pid='' code=0
    wait -n -p pid "${!job_need[@]}" || code=$?
    used=$((used - job_need[$pid]))
    ran=$((ran + 1))
    [ $code = 0 ] || failed=$((failed + 1))
    # what takes too long takes longer with more nodes
    [ $code -le 1 ] || too_long[${job_name[$pid]}]=1
    unset "job_need[$pid]" "job_name[$pid]"
}

stop_all() {
    trap - EXIT
    local pid
    for pid in "${!job_need[@]}"; do
        pkill -P "$pid" 2>/dev/null || :
        kill "$pid" 2>/dev/null || :
    done
    wait
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

work=()
for scenario in "${scenarios[@]}"; do
    IFS='|' read -r name _ _ sizes _ <<<"$scenario"
    [ -z "$only" ] || [[ ",$only," == *",$name,"* ]] || continue
    for ((n = 10; n <= most; n *= 10)); do
        [ "$n" -ge "$least" ] || continue
        [ -z "$sizes" ] || [[ " $sizes " == *" $n "* ]] || continue
        work+=("$n|$scenario")
    done
done

printf '%-25s %8s %5s %5s %8s %8s %10s %8s %8s %7s %9s %7s  %s\n' scenario nodes runs ok mean_s \
    most_s mean_msgs busiest beside idle_B peak_B wall_s failed
number=0
for item in ${work[@]+"${work[@]}"}; do
    IFS='|' read -r n name faults checks _ options lines <<<"$item"
    number=$((number + 1))
    need=$(needs "$n" "$faults")
    if [ "$need" -gt "$room" ]; then
        warn "$name, $n nodes: skipped: needs $((need >> 20)) GiB of memory, $((room >> 20)) are free"
        left_out=$((left_out + 1))
        continue
    fi
    while [ ${#job_need[@]} -ge "$jobs" ] || [ $((used + need)) -gt "$room" ]; do reap; done
    [ -z "${too_long[$name]:-}" ] || { left_out=$((left_out + 1)); continue; }
    (
        trap - EXIT INT TERM HUP
        one "$number of ${#work[@]}" "$name" "$faults" "$checks" "$options" "$lines" "$n"
    ) &
    used=$((used + need))
    job_need[$!]=$need job_name[$!]=$name
done
while [ ${#job_need[@]} -gt 0 ]; do reap; done
for item in ${work[@]+"${work[@]}"}; do
    IFS='|' read -r n name _ <<<"$item"
    cat "$out/$name-$n.row" 2>/dev/null || :
done >"$out/table.tsv"
say "$ran scenarios ran, $failed failed, $left_out were skipped; see $out"
[ $ran -gt 0 ] || exit 77
[ $failed -eq 0 ]
