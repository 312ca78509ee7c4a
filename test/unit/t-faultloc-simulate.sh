#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The simulator's command line, `faultloc simulate`: what it prints, its JSON, its exit codes; the
# same seed is the same run; plots; and a small part of test/sim/campaign.sh. And `faultloc replay`.
# Environment: top_builddir, where tools/faultloc is; top_srcdir.
# Exit code: 0 passed, 1 failed, 77 no program jq.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The simulator/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
faultloc=${top_builddir:?}/tools/faultloc
command -v jq >/dev/null || { echo "SKIP: no program jq"; exit 77; }
command=("$faultloc" simulate)
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"

# same TEXT FILTER WANT: the JSON of the last run, by jq's FILTER.
same() {
    local got
    got=$(jq -c "$2" "$work/run.json")
    if [ "$got" = "$3" ]; then ok "$1"; else bad "$1: $got, not $3"; fi
}

# --- one run ------------------------------------------------------------------------------------

expect 0 "1 of 1" --nodes 100 --fault 't=5s lose node 17' --json "$work/run.json"
same "the run is ok" '.runs[0].ok' true
same "the verdict" '.runs[0].verdicts | map([.class, .component, .right])' \
    '[["node-outage","node n17",true]]'
same "its time" '.runs[0].verdicts[0].latency_s | . > 1 and . < 3' true
same "the numbers are there" '.runs[0] | [.messages_total, .messages_busiest_node,
    .bytes_per_handle, .wall_s] | map(. > 0) | all' true
same "an idle handle is small" '.runs[0].bytes_per_handle <= 1040' true

run --nodes 100 --fault 'lose node 17' --json - --quiet
jq -e '.runs[0].ok' "$work/out" >"$work/null" || bad "--json -: no JSON on standard output"
ok "--json -"

"$faultloc" simulate --nodes 100 --fault 'lose 3 random nodes' --loss 5% --seed 7 --json "$work/a.json" --quiet
run --nodes 100 --fault 'lose 3 random nodes' --loss 5% --seed 7 --json "$work/b.json" --quiet
[ "$(jq .runs[0].hash "$work/a.json")" = "$(jq .runs[0].hash "$work/b.json")" ] ||
    bad "one seed, two runs: $(jq .runs[0].hash "$work/a.json" "$work/b.json")"
ok "the same seed is the same run"

run --nodes 50 --fault 'lose node 3' --trace "$work/trace" --quiet
jq -es '.[0].schema == "faultloc-trace/1" and (map(select(.in == "receive")) | length > 100)
    and (map(select(.says)) | length > 10)' "$work/trace" >"$work/null" || bad "--trace"
ok "--trace"

printf '# a story\nt=1s lose node 3\nt=2s freeze node 5 # too\n' >"$work/script"
expect 0 "2 of 2" --nodes 50 --script "$work/script"
printf 'SwitchName=a Nodes=c[1-9]\nSwitchName=b Nodes=d[1-9]\n' >"$work/topology.conf"
expect 0 "1 of 1" --topology "$work/topology.conf" --fault 'lose node d7'
run --topology 'switch:16 node:64' --fault 'partition random switch' --seed 6 --json "$work/run.json"
jq -e '.runs[0] | .ok and (.verdicts | length) == 2 and .located_most_s < 4' "$work/run.json" >"$work/null" ||
    bad "a partition: each side reports soon: $(cat "$work/out")"
ok "a partition: each side reports soon"

# --- ranks outside MPI --------------------------------------------------------------------------

expect 0 "1 of 1" --nodes 20 --ranks 4 --program bt --fault 'collective: node 7 sleeps' --json "$work/run.json"
same "who never comes is named" '.runs[0].verdicts | map([.class, .component, .rule])' \
    '[["user-code-hang","rank 28","user-code-hang/blocked"]]'
same "histories were tested" '.runs[0].samples | [.program, .tests >= 1, .slow]' '["bt",true,0]'
expect 0 "0 of 0" --nodes 20 --ranks 4 --program hpl:20m --fault 'collective: all but node 7 for 8s'
expect 0 "not random" --alarms 8 --json "$work/run.json"
same "alarms of each program" '.programs | map([.hours, (.levels | length)]) | unique' '[[1,3]]'
same "no more than alpha allows" \
    '[.programs[].levels[] | select(.per_test_low > .alpha)]' '[]'
expect 2 "--program: invalid value 'bts'" --nodes 5 --program bts
expect 2 "--alarms simulates no job" --nodes 5 --alarms 8
expect 2 "--trace has no samples in it" --nodes 5 --program bt --trace "$work/trace"

# --- a run that is not ok -----------------------------------------------------------------------

expect 1 "missing: node-outage of node n17" --nodes 50 --fault 'lose node 17' --limit 1s
# --- traces run again, plots of runs that were --------------------------------------------------

simulate=("${command[@]}")
command=("$faultloc" replay)
expect 0 "the same: " "$work/trace"
expect 0 "says: learns node-outage of n3" "$work/trace"
expect 0 "receives verdict-down from n0" --node 17 "$work/trace"
sed 's/learns node-outage of n3/learns node-outage of n4/' "$work/trace" >"$work/changed"
line=$(grep -n -m 1 'node-outage of n4' "$work/changed" | cut -d: -f1)
expect 1 "$work/changed:$line: differs: node " --quiet "$work/changed"
sed '1s/"topology": null/"topology": "a\\u001b[31m:2"/' "$work/trace" >"$work/escaped"
expect 2 "--topology 'a?[31m:2', column 1: " "$work/escaped"
head -c 30000 "$work/trace" >"$work/cut"
expect 2 "the trace is cut off here; make it again" "$work/cut"
expect 2 "run.json:1: the JSON object does not end on its line" "$work/run.json"
expect 2 "no-such: No such file" "$work/no-such"
expect 2 "missing trace"
expect 2 "--node: the job has fewer nodes" --node 50 "$work/trace"
expect 0 "Exit code: 0 the same" --help

command=("${simulate[@]}")
if command -v gnuplot >"$work/null"; then
    run --nodes 100 --fault 'lose node 17' --runs 2 --json "$work/node-100.json" --quiet
    run --nodes 10 --fault 'lose node 7' --json "$work/node-10.json" --quiet
    "$top_srcdir/test/sim/plot.sh" "$work/cost.svg" "$work"/node-*.json >"$work/out" 2>"$work/err" ||
        bad "plot.sh: $(cat "$work/err")"
    grep -q '>nodes of the job<' "$work/cost.svg" || bad "plot.sh: the axis has no name"
fi

# --- a run that is not ok, in short --------------------------------------------------------------

expect 1 "NO" --nodes 50 --fault 'lose node 17' --limit 1s --quiet

# --- wrong arguments ----------------------------------------------------------------------------

expect 0 "Exit code: 0 every run is ok" --help
expect 2 "missing --nodes or --topology"
expect 2 "--nodes: invalid value 'x'" --nodes x
expect 2 "--nodes: invalid value '0'" --nodes 0
expect 2 "no such option: --nods" --nods 5
expect 2 "missing value after --nodes" --nodes
expect 2 "unknown argument: 5" --nodes 5 5
expect 2 "column 1: 'loose' where lose" --nodes 5 --fault 'loose node 1'
printf 'lose node 1\n\n  lose node 9\n' >"$work/script"
expect 2 "script:3:13: no such node: '9'; there are 5" --nodes 5 --script "$work/script"
expect 2 "no-such: No such file" --nodes 5 --script "$work/no-such"
expect 2 "column 1: 'swich:2'" --topology 'swich:2 node:4'
expect 2 "--nodes 9, but --topology switch:2 node:4 has 8" --nodes 9 --topology 'switch:2 node:4'
expect 2 "--trace is of one run" --nodes 50 --runs 2 --trace "$work/trace"
expect 2 "--json $work/no/such" --nodes 5 --json "$work/no/such" --quiet

# --- a small part of the campaign ---------------------------------------------------------------

for lines in 'lose random node' 'lose root' 'lose root and 1 substitute' 'kill random node' \
    'lose random fln and child' 'freeze random node' 'lose 5 random nodes' \
    'cut random node on data' 'lose random node for 20s'; do
    expect 0 "yes" --nodes 1000 --fault "$lines" --runs 5
done
lossy=(--loss 5% --duplicate 5% --delay 5%:1s)
expect 0 "yes" --nodes 1000 "${lossy[@]}" --fault 'lose random node' --runs 10
expect 0 "yes" --nodes 300 "${lossy[@]}" --fault 'random waits every 1s of up to 5s for 1h'
expect 0 "yes" --topology 'switch:8 node:16 rank:3' --fault 'lose random node' --runs 10
expect 0 "yes" --nodes 5000 --fault 'lose random node' --fault 'storm: all wait for it'
expect 0 "yes" --nodes 20000 --fault 'lose random node'

command=("$top_srcdir/test/sim/campaign.sh")
expect 0 "root-and-substitute" --list
expect 2 "unknown scenario nod" --only nod --program "$faultloc" --out "$work/campaign"
expect 2 "'x' must be a number" --most x --program "$faultloc"
campaign=(--only "healthy,returns" --most 100 --runs 2 --program "$faultloc" --out "$work/campaign")
expect 0 "returns " "${campaign[@]}" --jobs 2
expect 0 "returns, 100 nodes: kept from an earlier run" "${campaign[@]}"
[ "$(wc -l <"$work/campaign/table.tsv")" = 4 ] || bad "the campaign's table"
expect 0 "returns, 100 nodes, 1 runs" "${campaign[@]}" --runs 1

exit $failed
