#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The rule base of a running job. A rule that is added to its file is used from then on; a file with
# a mistake is refused, with its name, the line and the reason, and the rules before it stay.
set -euo pipefail

usage() {
    cat <<'END'
Usage: test_rules_reload.sh [--within SECONDS]

  --within SECONDS   fail if the agents take longer than this to use a changed rule base; the time
                     that they take is always printed
  --help             this text

Exit code: 0 passed, 1 failed, 2 wrong usage, 77 no root or no namespaces here.
END
}

within=
case ${1:-} in
    '') ;;
    --help) usage; exit 0 ;;
    --within) within=${2:?--within needs a number of seconds} ;;
    *) echo "test_rules_reload.sh: unknown option $1; see --help" >&2; exit 2 ;;
esac

set --
. "$(dirname "$0")/lib/test.sh"
find_program
rules=$work/rules.json
rule=test-corrected-memory

now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo "${t%???}"; }

# All agents but that of h3.
users_of() { sed -n "s/^[0-9.]* \(h[124]\): uses the rules $1\$/\1/p" "$job/trace" | sort -u; }
all_use() { [ "$(users_of "$1" | wc -l)" = 3 ]; }

# put_rules NAME RULE: a copy of the built-in base with one more rule; replaced in one step.
put_rules() {
    NAME=$1 RULE=$2 awk '
        { sub(/"name": "built-in"/, "\"name\": \"" ENVIRON["NAME"] "\""); print }
        /^  "rules": \[/ { print ENVIRON["RULE"] }' "$work/builtin.json" >"$work/new.json"
    ! cmp -s "$work/new.json" "$work/builtin.json" || bad "cannot add a rule to the built-in base"
    changed=$(now_ms)
    mv "$work/new.json" "$rules"
}

take_effect() {
    local last
    await 30 "the agents use the rules $1" all_use "$1"
    last=$(sed -n "s/^\([0-9.]*\) h[124]: uses the rules $1\$/\1/p" "$job/trace" | sort -n |
        tail -n 1 | tr -d .)
    ok "after $((last - changed)) ms all agents use the rules $1"
    [ -z "$within" ] || [ $((last - changed)) -le "$(awk "BEGIN { print $within * 1000 }")" ] ||
        bad "that is later than $within s"
}

"$cluster" up --name "$name" --hosts 4 --quiet || exit
"$program" rules print >"$work/builtin.json" || bad "cannot print the built-in rules"
cp "$work/builtin.json" "$rules"

# Rank 2 (h3) is nobody's peer: its host is off, and nobody misses it. The job goes on after the
# verdict on it.
"$cluster" run --quiet --name "$name" --faultloc --env "MPIR_CVAR_FAULTLOC_RULES=$rules" \
    --env MPIR_CVAR_FAULTLOC_PATIENCE_MS=300000 \
    --env "MPIR_CVAR_FAULTLOC_REPORT=$work/report.json" -- aside --rank 2 --seconds 3600 \
    >"$work/out" 2>"$work/err" &
run=$!
await_loop
fault power-off h3

fault symptoms h1 memory-corrected h3 1 1
await 30 "a symptom without a rule" in_trace ' memory-corrected of h3: no rule, only counted'
ok "without a rule a symptom is only counted"

put_rules with-a-rule '    { "name": "'$rule'", "if": [ { "kind": "memory-corrected" } ],
      "then": { "candidates": [ { "model": "process-stopped", "prior": 0.5 },
                                { "model": "node-outage", "prior": 0.1 } ],
                "probes": "reach" } },'
take_effect with-a-rule
fault symptoms h1 memory-corrected h3 1 1
await 60 "a verdict by the new rule" in_err '^\[faultloc\] node-outage: node h3 '
await 10 "the report" test -e "$work/report.json"
raised=$(jq -r '.verdicts[0] | .class + " " + .raised_by' "$work/report.json")
[ "$raised" = "node-outage $rule" ] || bad "the verdict is '$raised'"
ok "the new rule $rule led to a verdict, which names it"

put_rules with-a-mistake '    { "name": "'$rule'", "if": [ { "kind": "memory-corected" } ],
      "then": { "derive": "kernel-error" } },'
line=$(grep -n memory-corected "$rules" | cut -d: -f1)
await 30 "the bad file is refused" in_err "rules\.json.*[^0-9]${line}[^0-9].*memory-corected"
ok "refused: $(grep -m 1 -F memory-corected "$work/err")"

fault power-off h4
await 60 "a verdict by the rules before" in_err '^\[faultloc\] node-outage: node h4 '
! in_trace 'uses the rules with-a-mistake' || bad "somebody uses the bad rules"
ok "with the rules before it a lost host is located"
