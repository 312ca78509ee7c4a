#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The commands `faultloc rules ...`: what is built in is what is in the repository; a bad rule base
# is refused with file, line, column and reason; every fault, rule and sign is explained; and what
# is learned from confirmed reports is a valid base. Schema and manual page have every name.
# Environment: top_builddir, where tools/faultloc is; top_srcdir.
# Exit code: 0 passed, 1 failed, 77 no program jq.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The commands/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
faultloc=${top_builddir:?}/tools/faultloc
builtin=${top_srcdir:?}/src/util/ftree/rules/rules_builtin.json
schema=$top_srcdir/doc/faultloc-rules.schema.json
manual=$top_srcdir/doc/faultloc-rules.5
command -v jq >/dev/null || { echo "SKIP: no program jq"; exit 77; }
command=("$faultloc" rules)
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"

# refused SED TEXT: the built-in base, changed by SED, is refused with TEXT.
refused() {
    sed "$1" "$builtin" >"$work/changed.json"
    if cmp -s "$builtin" "$work/changed.json"; then bad "'$1' changes nothing"; fi
    expect 1 "$2" check "$work/changed.json"
}

# --- the built-in base --------------------------------------------------------------------------

run print
cmp -s "$work/out" "$builtin" ||
    bad "what is built in is not $builtin; maint/embed-rules.sh makes it"
ok "what is built in is what is in the repository"
expect 0 'a valid rule base, "built-in":' check "$builtin"
! grep -q note: "$work/out" || bad "a part of it is of no use: $(cat "$work/out")"
run print "$builtin"
jq -e '.name == "built-in" and (.rules | length > 20)' "$work/out" >/dev/null ||
    bad "print FILE is not JSON"
cp "$work/out" "$work/plain.json"
expect 0 'a valid rule base' check "$work/plain.json"
expect 0 'a valid rule base' check - <"$builtin"

# --- the command line ---------------------------------------------------------------------------

expect 0 "Usage: faultloc rules check FILE" --help
expect 2 "missing command"
expect 2 "no such command: chekc" chekc
expect 2 "missing file after check" check
expect 2 "more than one file after print" print a b
expect 2 "missing class, rule or sign after explain" explain
expect 2 "more than one file after explain" explain a b c
expect 2 "missing report after learn" learn
expect 2 "missing file after --rules" learn --rules
expect 2 "missing report after learn" learn --rules "$builtin"
expect 2 "no such option: --all" check --all
expect 2 "No such file or directory" check "$work/none.json"
expect 2 "Is a directory" check "$work"
expect 2 "No such file or directory" check "$builtin" "$work/none.json"

# --- what is refused ----------------------------------------------------------------------------

line=$(grep -n '"model": "node-outage", "prior": 0.35' "$builtin" | cut -d: -f1)
refused "${line}s/node-outage/node-outge/" \
    "changed.json: line $line, column 22: rules[3].then.candidates[0].model: there is no model"
expect 1 'there is no model "node-outge"; did you mean "node-outage"?' check "$work/changed.json"
refused 's/"agent": "refused", "deputy": "connected"/&, "ranks": "one"/' \
    'there is no fact "ranks": agent and deputy are no ranks'
refused 's/"probes": "examine"/"probe": "examine"/' \
    'there is no key "probe"; did you mean "probes"?'
refused '0,/"prior": 0.25/s//"prior": 0.95/' 'the priors add up to 1.700, more than 1'
refused '0,/"name": "switch-fault",/s//"name": "switch-fault", "listed_only": true,/' 'is "listed_only" and has signs'
refused '$d' 'unexpected end of file'
refused '$a}' 'nothing may follow the end'
printf '{ "schema": "\e[2J" }' >"$work/raw.json"
expect 1 'a character in a string that is not printable ASCII' check "$work/raw.json"
head -c 2000000 /dev/zero | tr '\0' ' ' >"$work/raw.json"
expect 1 'larger than 1 MiB' check "$work/raw.json"

# --- what is of no use is noted -----------------------------------------------------------------

jq '.strategies += [{name: "idle", steps: [{ask: "log", at_rto: 0}]}] |
    .models += [{name: "mystery", class: "unknown", listed_only: true}]' "$work/plain.json" \
    >"$work/idle.json"
expect 0 'note: no rule leads to model "mystery"' check "$work/idle.json"
expect 0 'note: no rule uses strategy "idle"' check "$work/idle.json"
expect 0 'candidate of no rule' explain mystery "$work/idle.json"
jq '(.models[] | select(.name == "deadlock").signs[].when) |= . + {agent: "answered"}' \
    "$work/plain.json" >"$work/asked.json"
expect 0 'note: no rule leads to model "deadlock"' check "$work/asked.json"
jq '.rules[0].then.candidates += [{model: "deadlock", prior: 0.001}] |
    .rules[0].then.candidates[0].prior = 0.2' "$work/plain.json" >"$work/raised.json"
expect 1 'no sign of "deadlock" can ever hold' check "$work/raised.json"

# --- explain ------------------------------------------------------------------------------------

n=0
for name in $(jq -r '.models[].name, .rules[].name,
    (.models[] | .name + "/" + (.signs // [])[].name)' "$work/plain.json") well; do
    run explain "$name"
    if [ $code -ne 0 ] || [ ! -s "$work/out" ]; then bad "explain $name: $(cat "$work/err")"; fi
    if grep -q '.\{101\}' "$work/out"; then bad "explain $name: a line is too long"; fi
    if grep -qF '(null)' "$work/out"; then bad "explain $name: words are missing"; fi
    n=$((n + 1))
done
ok "$n faults, rules and signs are explained"
expect 0 'stalled-peer (prior 20%): peer-stall or chained-stall' explain node-outage
expect 0 'both-paths-silent, confidence 0.99: silent on every path' explain node-outage
expect 0 'if agent is silent, local-down or unreachable' explain node-outage/both-paths-silent
expect 0 'rules out: nic-fault 0.5%, process-crash 0.5%' explain node-outage/both-paths-silent
expect 0 'at 1, 3, 4.5 rto    response probe to its agent on every path' explain stalled-peer
expect 0 'response probe to its agent on every path, sent by other nodes' explain stalled-peer
expect 0 'response probe to other nodes behind its switches on every path, if some' explain \
    stalled-peer
expect 0 'killed-for-memory (derives process-gone): out-of-memory' explain process-crash
expect 0 'decided, even if the node otherwise seems well' explain straggler
expect 0 'memory-available-percent is below 2' explain straggler
expect 0 'the fault is attributed to the node that asks' explain unknown/no-node-answers
expect 0 'no node behind it answers on any path' explain switch-fault
expect 0 'then there is also carrier-lost' explain port-down
expect 0 'agent-answers: its agent answers' explain well
expect 0 'found without a rule: ranks that have stalled are asked what they wait for' \
    explain deadlock
expect 0 'if waits is missing-partner' explain deadlock
expect 0 'evaluated when the ranks have said twice what they wait for' explain \
    collective-mismatch/behind
expect 0 'network-degraded: a fault of a link, hardware' explain network-degraded
expect 0 'mystery: of class unknown' explain mystery "$work/idle.json"
expect 2 'there is no class, model, rule or sign "nodes"' explain nodes
expect 1 'unexpected end of file' explain well /dev/null

# --- learn --------------------------------------------------------------------------------------

# report NAME JOB RULE SIGN CONFIRMED COUNT: so many verdicts of one kind, raised by RULE.
report() {
    jq -n --argjson job "$2" --arg raised "$3" --arg rule "$4" --argjson confirmed "$5" \
        --argjson n "$6" '
        "2026-01-31T12:00:00.000Z" as $now | {
            schema: "faultloc-report/1",
            job: {id: "\($job)", size: 4, nodes: 4, started: $now},
            verdicts: [range($n) | {
                class: ($rule | split("/")[0]), origin: "hardware", confidence: 0.9,
                component: {kind: "node", name: "h2", node: "h2", ranks: [2]},
                first_symptom: $now, located: $now, latency_s: 0, rule: $rule, fln: "h1",
                raised_by: $raised, confirmed: $confirmed, evidence: [],
                victims: {count: 0, ranks: []}, candidates: []} |
                if .confirmed == null then del(.confirmed) else . end |
                if .raised_by == "" then del(.raised_by) else . end]}' >"$work/$1.json"
    "$faultloc" check "$work/$1.json" >/dev/null || bad "$1.json is no valid report"
}

# learned RULE MODEL PRIOR: in the base that is in $work/out.
learned() {
    local now
    cp "$work/out" "$work/rules.json"
    "$faultloc" rules check "$work/rules.json" >/dev/null || bad "what is learned is not valid"
    now=$("$faultloc" rules print "$work/rules.json" | jq --arg rule "$1" --arg model "$2" \
        '.rules[] | select(.name == $rule).then.candidates[] | select(.model == $model).prior')
    if [ "$now" = "$3" ]; then ok "$1: $2 $3"; else bad "$1: $2 has prior $now, not $3"; fi
}

# told LINE: the table of what went wrong has it.
told() {
    if grep -qF -- "$1" "$work/err"; then ok "told: $1"; else bad "not told: $1: $(cat "$work/err")"; fi
}

# changes N: so many lines of the built-in base are others.
changes() {
    local n
    n=$(diff "$builtin" "$work/out" | grep -c '^>' || :)
    if [ "$n" -eq "$1" ]; then ok "$1 lines change"; else bad "$n lines change, not $1"; fi
}

outage=node-outage/both-paths-silent
report none 1 stalled-peer $outage null 2
run learn "$work/none.json"
told '0 confirmed verdict(s), of which 0 change priors'
changes 0
report right 2 stalled-peer $outage true 20
run learn "$work/right.json"
told '   20 node-outage            node h2            stalled-peer, node-outage/both-paths-silent'
told '20 confirmed verdict(s), of which 20 change priors'
learned stalled-peer node-outage 0.6 # (0.2 * 20 + 20) / 40
learned stalled-peer process-stopped 0.125
learned silent-agent node-outage 0.3
changes 8
report wrong 3 stalled-peer $outage false 20
run learn "$work/wrong.json"
told '   20 not node-outage        node h2'
learned stalled-peer node-outage 0.1 # the others are not known of
learned stalled-peer process-stopped 0.25
report other 4 stalled-peer $outage '"link-fault"' 20
run learn "$work/other.json" "$work/wrong.json"
told '   20 link-fault             node h2            stalled-peer, node-outage/both-paths-silent'
learned stalled-peer node-outage 0.067
learned stalled-peer link-fault 0.55 # and so it is named before the NIC, which probes cannot tell apart
learned stalled-peer nic-fault 0.05
report power 5 power-is-off $outage true 5
run learn "$work/right.json" "$work/power.json" "$work/none.json"
learned power-is-off node-outage 0.96
learned stalled-peer node-outage 0.6
cp "$work/right.json" "$work/again.json"
expect 0 'again.json: of the same job as' learn "$work/right.json" "$work/again.json"
learned stalled-peer node-outage 0.6

sed -z 's/\n$//' "$builtin" >"$work/odd.json"
run learn --rules "$work/odd.json" "$work/right.json"
learned stalled-peer node-outage 0.6
"$faultloc" rules print "$builtin" | jq -c . >"$work/odd.json"
run learn --rules "$work/odd.json" "$work/right.json"
learned stalled-peer node-outage 0.6

report known 8 no-such-rule $outage true 20
jq '.verdicts[].symptom_kinds = ["peer-stall", "power-off", "of-a-later-version"]' "$work/known.json" \
    >"$work/told.json"
report known 9 stalled-peer $outage '"link-fault"' 5
jq '.verdicts[].symptom_kinds = ["peer-stall"]' "$work/known.json" >"$work/link.json"
run learn "$work/told.json" "$work/link.json"
told '   20 of 20   node-outage            peer-stall          80 %  1.1'
told '   20 of 20   node-outage            power-off          100 %  12.0' # and half a case of five others
told '    5 of 5    link-fault             peer-stall          20 %  1.0'
told '25 confirmed verdict(s), of which 25 change priors'
learned power-is-off node-outage 0.975
learned stalled-peer node-outage 0.533 # (4 + 20) / 45
learned stalled-peer link-fault 0.156
learned stalls-behind-one-switch switch-fault 0.3 # it looks at others, too

report unraised 6 "" $outage true 1
report strange 7 no-such-rule $outage true 1
run learn "$work/unraised.json" "$work/strange.json"
told '2 confirmed verdict(s), of which 0 change priors'
changes 0
jq '.verdicts[0].confirmed = "node-outrage"' "$work/right.json" >"$work/broken.json"
expect 1 'verdicts[0].confirmed: is "node-outrage"' learn "$work/right.json" "$work/broken.json"
[ ! -s "$work/out" ] || bad "a base although a report is broken"
expect 2 'No such file or directory' learn "$work/none-such.json"
expect 1 'unexpected end of file' learn --rules /dev/null "$work/right.json"

# --- schema and manual page ---------------------------------------------------------------------

# names FILE MACRO: the names in a table of a header, one for each row.
names() {
    sed -n "/^#define $2(X)/,/[^\\\\]\$/s/^ *X([A-Z_]*, \"\\([a-z-]*\\)\".*/\\1/p" \
        "$top_srcdir/src/util/ftree/$1" | sort | paste -sd' '
}

# values: the words of all facts, of steps and of relations, from rules.c.
values() {
    sed -n '/^static const char \*const [a-z_]*_values\[\]/,/;/p
        /^static const char \*const \(asks\|whoms\|overs\)\[\]/p
        /^static const char \*const ifs\[\]/,/;/p' \
        "$top_srcdir/src/util/ftree/rules/rules.c" | grep -o '"[a-z-]*"' | tr -d '"' | sort -u |
        paste -sd' '
}

# same WHAT NAMES FILTER: the schema lists these names.
same() {
    local listed
    listed=$(jq -r "$3" "$schema" | sort -u | paste -sd' ')
    if [ -n "$2" ] && [ "$2" = "$listed" ]; then ok "the schema has all: $1"; else
        bad "$1: '$2', of the schema '$listed'"
    fi
}

jq -e . "$schema" >/dev/null || bad "the schema is not JSON"
same symptoms "$(names base/symptom.h FTREE_SYMPTOMS)" '."$defs".symptom.enum[]'
same severities "$(names base/symptom.h FTREE_SEVERITIES)" '."$defs".severity.enum[]'
same relations "$(names rules/rules.h RULES_RELATIONS)" '."$defs".relation.enum[]'
facts="$(names rules/rules.h RULES_FACTS) $(names rules/rules.h RULES_NUMBERS)"
same facts "$(tr ' ' '\n' <<<"$facts" | sort | paste -sd' ')" \
    '."$defs".conditions.properties | keys[]'
same values "$(values)" '."$defs" |
    (.reach, .witnessed, .no_yes, .side, .transport, .process, .seen_by, .link, .behind, .launcher,
        .power, .port, .connection, .fabric, .waits, .outside, .slowed, .way, .ways).anyOf[0].enum[],
    (.step.properties | (.ask, .of, .over, .if).enum[])'
sed 's,\\-,-,g; s,\\f[BIRP],,g' "$manual" >"$work/manual"
for name in $(names base/symptom.h FTREE_SYMPTOMS) $(names fault_classes.h FTREE_CLASSES) $facts $(values) \
    $(names base/symptom.h FTREE_SEVERITIES) $(names rules/rules.h RULES_RELATIONS) \
    $(jq -r '.. | .properties? | select(. != null) | keys[]' "$schema"); do
    grep -qwF -- "$name" "$work/manual" || bad "faultloc-rules(5) does not have $name"
done
ok "the manual page has every name"

[ $failed -eq 0 ] || exit 1
echo "all passed"
