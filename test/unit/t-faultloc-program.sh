#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The program `faultloc`: it prints a report as the job did, for every rule; it says what is wrong
# with an invalid report, and where; and no malformed file does it any harm.
# Environment: top_builddir, where tools/faultloc and test/lib/sample_reports are; top_srcdir.
# Exit code: 0 passed, 1 failed, 77 no program jq.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The program/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
faultloc=${top_builddir:?}/tools/faultloc
samples=$top_builddir/test/lib/sample_reports
schema=${top_srcdir:?}/doc/faultloc-report.schema.json
command -v jq >/dev/null || { echo "SKIP: no program jq"; exit 77; }
command=("$faultloc")
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"

# broken TEXT FILTER: the sample, changed by jq's FILTER, is refused with TEXT.
broken() {
    jq "$2" "$work/0.json" >"$work/broken.json"
    expect 1 "$1" check "$work/broken.json"
    run report "$work/broken.json"
    if [ $code -ne 1 ] || [ -s "$work/out" ]; then bad "report prints what check refuses ($2)"; fi
}

# raw TEXT: standard input, as it is, is refused with TEXT.
raw() {
    cat >"$work/raw.json"
    expect 1 "$1" check "$work/raw.json"
}

# --- what is written can be read ----------------------------------------------------------------

"$samples" "$work"
for file in "$work"/*.json; do
    run check "$file"
    [ $code -eq 0 ] || bad "$file is not valid: $(cat "$work/err")"
    run report "$file"
    [ $code -eq 0 ] || bad "$file is not printed: $(cat "$work/err")"
    [ -f "${file%.json}.txt" ] || continue
    sed 1d "$work/out" | diff "${file%.json}.txt" - >"$work/diff" ||
        bad "report of rule ${file##*/} (<: the job, >: the program): $(cat "$work/diff")"
    run report --verbose "$file"
    sed 1d "$work/out" | diff "${file%.json}.verbose" - >"$work/diff" ||
        bad "verbose report of ${file##*/} (<: the job, >: the program): $(cat "$work/diff")"
done
n=$(jq -r '.verdicts | length' "$work/all.json")
rules=$(jq -r '[.verdicts[].rule] | unique | length' "$work/all.json")
[ "$rules" -ge 12 ] || bad "only $rules rules"
ok "$rules rules, $n verdicts: the text is the job's"
expect 0 "[faultloc] job 4711: 8 ranks on 4 nodes, started 2026-01-31T12:00:00.000Z; $n verdicts" \
    report "$work/all.json"
expect 0 "[faultloc]   conclusion: hardware fault in node h2" \
    report "$work/0.json"
jq '.verdicts[0] as $v | .verdicts = [$v + {withdrawn: "2026-01-31T23:59:59.000Z"}, $v, $v, $v, $v]' \
    "$work/0.json" >"$work/alike.json"
expect 0 '[faultloc] withdrawn: node-outage of node h2' report "$work/alike.json"
expect 0 '[faultloc] node-outage: 4 nodes' report "$work/alike.json"
expect 0 "[faultloc]     h2: data 10.0.0.3, mgmt 10.1.0.3: dead" report --verbose "$work/0.json"
expect 0 "[faultloc]     suspects h2: peer-stall" report --verbose "$work/0.json"
expect 0 "nodes: none in this file" report --verbose \
    - < <(jq 'del(.node_table, .trace)' "$work/0.json")
for confirmed in true false '"nic-fault"'; do
    expect 0 "valid report" check - < <(jq ".verdicts[0].confirmed = $confirmed" "$work/0.json")
done
expect 0 "valid report" check - <"$work/0.json"

# --- the command line ---------------------------------------------------------------------------

expect 0 "Usage: faultloc report [--verbose] FILE" --help
expect 0 "faultloc " --version
expect 2 "missing command"
expect 2 "no such command: rerun" rerun "$work/0.json"
expect 2 "missing file after check" check
expect 2 "no such option: --all" check --all "$work/0.json"
expect 2 "No such file or directory" check "$work/none.json"
expect 2 "Is a directory" report "$work"
expect 2 "No such file or directory" check "$work/0.json" "$work/none.json"

# Names, too, reach a terminal as printable ASCII: run has a look at it.
odd=$work/$'\e[31m\n\xff\xc2\x9b.json'
expect 2 "?[31m????.json: No such file or directory" check "$odd"
expect 2 "?[31m????.json: No such file or directory" rules check "$odd"
cp "$work/0.json" "$odd"
expect 0 "?[31m????.json: a valid report" check "$odd"
expect 0 "full report: $work/?[31m????.json" report "$odd"
expect 2 "no such command: ?[31m" $'\e[31m'
expect 2 "no such option: -?" check $'-\e'
rm "$odd"

# --- symptoms -----------------------------------------------------------------------------------

run symptom --list
kinds=$(sed -n 's/^ *X(FTREE_SYMPTOM_[A-Z_]*, "\([a-z-]*\)".*/\1/p' \
    "$top_srcdir/src/util/ftree/base/symptom.h" | paste -sd' ')
[ "$(sed 1d "$work/out" | cut -d' ' -f1 | paste -sd' ')" = "$kinds" ] ||
    bad "symptom --list has not the kinds of symptom.h: $kinds"
expect 0 "power-off          hardware-monitor node      fatal    the node's BMC says" symptom --list
expect 0 "Usage: faultloc symptom --kind KIND" symptom --help
expect 2 "missing --kind" symptom
expect 2 "no such option: --kinds" symptom --kinds power-off
expect 2 "missing value after --kind" symptom --kind
expect 2 "unknown kind (see --list): power-of" symptom --kind power-of
expect 2 "not a component such as \"node h2\" or \"rank 5\": h2" \
    symptom --kind power-off --component h2
expect 2 "no such severity: bad" symptom --kind power-off --severity bad
expect 2 "no such error: EBAD" symptom --kind power-off --errno EBAD
expect 2 "--count must be a whole number from 1 to 1000000000, not 0" \
    symptom --kind power-off --count 0
expect 2 "--count must be a whole number from 1 to 1000000000, not 5x" \
    symptom --kind power-off --count 5x
expect 2 "--detail is longer than 127 characters" \
    symptom --kind power-off --detail "$(printf '%128s' x)"
expect 2 "no such job on this host" symptom --kind power-off --job "none-of-$$"

# --- what is no report --------------------------------------------------------------------------

broken 'the document: has no "job"' 'del(.job)'
broken 'schema: must be "faultloc-report/1", is "faultloc-report/2"' '.schema = "faultloc-report/2"'
broken 'job.size: must be of type integer, is of type string' '.job.size = "8"'
broken 'job.size: is 0, less than 1' '.job.size = 0'
broken 'job: more nodes than ranks' '.job.nodes = 9'
broken 'job.started: is "yesterday"' '.job.started = "yesterday"'
broken 'verdicts: must be of type array, is of type null' '.verdicts = null'
broken 'verdicts[0]: must be of type object, is of type integer' '.verdicts = [1]'
broken 'verdicts[0].class: is "node-outrage", must be one of' '.verdicts[0].class = "node-outrage"'
broken 'verdicts[0].confidence: is 2, more than 1' '.verdicts[0].confidence = 2'
broken 'verdicts[0].latency_s: is -1, less than 0' '.verdicts[0].latency_s = -1'
broken 'verdicts[0].rule: is "process crash", which does not match' \
    '.verdicts[0].rule = "process crash"'
broken 'verdicts[0].confirmed: is "perhaps", must be one of' '.verdicts[0].confirmed = "perhaps"'
broken 'verdicts[0]: withdrawn before it was located' \
    '.verdicts[0].withdrawn = "2026-01-31T12:00:00.000Z"'
broken 'node_table: has 1 nodes, the job has 4' '.node_table = .node_table[:1]'
broken 'node_table[0].state: is "asleep"' '.node_table[0].state = "asleep"'
broken 'trace[0]: must be of type string' '.trace = [1]'
broken 'verdicts[0]: located before the first symptom' \
    '.verdicts[0].located = "2025-01-31T12:00:00.000Z"'
broken 'verdicts[0].component: has no "ranks"' 'del(.verdicts[0].component.ranks)'
broken 'verdicts[0].component.ranks[0]: rank 8 of a job of 8 ranks' \
    '.verdicts[0].component.ranks = [8]'
broken 'verdicts[0].component: count is 1, with 2 ranks listed' '.verdicts[0].component.count = 1'
broken 'verdicts[0].component: count is 9, with 2 ranks listed' '.verdicts[0].component.count = 9'
broken 'verdicts[0].component.nodes: is 1, less than 2' '.verdicts[0].component.nodes = 1'
broken 'verdicts[0].victims.ranks[1]: rank 1 after rank 1' \
    '.verdicts[0].victims = {count: 2, ranks: [1, 1]}'
broken 'verdicts[0].victims: count is 1, with 2 ranks listed' \
    '.verdicts[0].victims = {count: 1, ranks: [1, 2]}'
broken 'verdicts[0].victims.ranks[0]: must be of type integer, is of type number' \
    '.verdicts[0].victims.ranks = [0.5]'
broken 'verdicts[0].evidence[1].result: is "perhaps"' '.verdicts[0].evidence[1].result = "perhaps"'
broken 'verdicts[0].candidates[0].component: has no "name"' \
    'del(.verdicts[0].candidates[0].component.name)'
broken 'component.node: is "h2\u001b[2J", which does not match' \
    '.verdicts[0].component.node = "h2\u001b[2J"'
broken 'component.node: is "h2\u0000x", which does not match' \
    '.verdicts[0].component.node = "h2\u0000x"'
broken 'component.node: is "h?' '.verdicts[0].component.node = "hä"'
broken 'component.node: is longer than 255 bytes' '.verdicts[0].component.node = "h" * 256'
broken 'and more' '.verdicts[0].evidence = [range(22)]'

cp "$work/note.json" "$work/0.json"
broken 'waiting: has no "ends"' 'del(.waiting.ends)'
broken 'waiting.count: is 9, in a job of 8 ranks' '.waiting.count = 9'
broken 'waiting.ends[1].rank: is 8, in a job of 8 ranks' '.waiting.ends[1].rank = 8'
broken 'waiting.ends: has 5 elements, more than 4' '.waiting.ends = [range(5)]'
broken 'waiting.classes[0].count: is 9, in a job of 8 ranks' '.waiting.classes[0].count = 9'
broken 'waiting.classes[0].call: is "", which does not match' '.waiting.classes[0].call = ""'
"$samples" "$work"

# --- what is no JSON, or too much of it ---------------------------------------------------------

raw 'line 1, column 1: not JSON' <<<'garbage'
raw 'unexpected end of file' </dev/null
raw 'unexpected end of file' < <(head -c 700 "$work/0.json")
raw 'not JSON' < <(cat "$work/0.json" "$work/0.json")
raw 'not JSON' <<<'{"schema": "faultloc-report/1", // a comment
  "job": 1}'
raw 'line 2: the key "job" is there twice' <<<'{"schema": "faultloc-report/1",
  "job": 1, "job": 2}'
raw 'a key with an escape sequence' <<<'{"jo\u0062": 1}'
raw 'a control character (0x1b) in a string' < <(printf '{"schema": "\e[31m"}')
raw 'zero bytes' < <(printf '{"schema": "x\0y"}')
raw 'not JSON' < <(printf '{"schema": "\xff\xfe"}')
raw 'nested more than 32 levels' < <(printf '%100000s' '' | tr ' ' '[')
raw 'more than 64 keys' < <(printf '{'; for ((i = 0; i < 70; i++)); do printf '"k%d":0,' $i; done)
raw 'more than 1000000 arrays' < <(printf '['; yes '[],' | head -n 1000001 | tr -d '\n')
raw 'larger than 64 MiB' < <(head -c 70000000 /dev/zero | tr '\0' ' ')
raw 'must be of type object, is of type integer' <<<'99999999999999999999999999'
raw 'is NaN' < <(sed 's/"confidence": [0-9.]*/"confidence": NaN/' "$work/0.json")
raw 'more than 1' < <(sed 's/"confidence": [0-9.]*/"confidence": 1e999/' "$work/0.json")

# A million victims are no attack, and are told in one line.
jq -c '.job.size = 2000000 | .verdicts[0].victims = {count: 1000000, ranks: [range(0; 2000000; 2)]}' \
    "$work/0.json" >"$work/many.json"
expect 0 'victims: 1000000 ranks are blocked' report "$work/many.json"
[ "$(wc -c <"$work/out")" -lt 10000 ] || bad "a line for a million victims is too long"

[ $failed -eq 0 ] || exit 1
echo "all passed"
