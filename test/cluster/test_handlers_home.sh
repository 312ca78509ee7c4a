#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A part of a node that is reported to fail is a warning, and the job goes on; when the node loses its
# power later, that is the first cause. A node whose data interface goes down is examined, and has its own handler `os` asked, with a tree like
# that of /sys that has a fan with an alarm: the node that judges it hears of the fan. A healthy job asks
# nobody.
# Exit code: 0 passed, 1 failed, 77 no jq, no root or no namespaces here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/test.sh"

command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
"$cluster" check || exit
find_program
mkdir -p "$work/sys/class/hwmon/hwmon0"
echo nct6775 >"$work/sys/class/hwmon/hwmon0/name"
echo 1 >"$work/sys/class/hwmon/hwmon0/fan1_alarm"
cat >"$work/handlers.json" <<END
{ "handlers": [ { "name": "os", "ask": "os", "settings": { "sys_root": "$work/sys" } } ] }
END
chmod 600 "$work/handlers.json"

"$cluster" up --name "$name" --hosts 4 --quiet || exit
"$cluster" run --quiet --name "$name" --faultloc \
    --env "MPIR_CVAR_FAULTLOC_HANDLERS=$work/handlers.json" \
    --env "MPIR_CVAR_FAULTLOC_REPORT=$work/report.json" -- alltoall --seconds 3600 \
    >"$work/out" 2>"$work/err" &
run=$!
await_loop
! grep -q fan-failed "$job/trace" || bad "a healthy job asks handlers"
"$cluster" fault --name "$name" --quiet data-down h3
hears() { grep -q 'group h3: fan-failed' "$job/trace"; }
is_reported() { [ -e "$work/report.json" ] && jq -e '.verdicts[0]' "$work/report.json" >/dev/null; }
await 60 "a verdict" is_reported
await 60 "what the node's own handler has found" hears
rule=$(jq -r '.verdicts[0] | .rule + " " + .component.name' "$work/report.json")
[ "$rule" = "nic-fault/interface-down h3" ] || bad "the verdict is $rule"
ok "$rule, and its fan-failed is known"
run=
"$cluster" down --name "$name" --quiet
wait

rm -f "$work/report.json"
"$cluster" up --name "$name" --hosts 4 --quiet || exit
"$cluster" run --quiet --name "$name" --faultloc --env MPIR_CVAR_FAULTLOC_ACTION=abort \
    --env "MPIR_CVAR_FAULTLOC_REPORT=$work/report.json" -- alltoall --seconds 3600 \
    >"$work/out" 2>"$work/err" &
run=$!
await_loop
"$cluster" exec --name "$name" h1 "$program" symptom --job "$(cat "$job/mpiexec.pid")" --node h1 \
    --kind fan-failed --component "node h3" --detail "fan 2 stands still" >"$work/said" 2>"$work/wrong" ||
    bad "the symptom is refused"
await 60 "a warning" is_reported
rule=$(jq -r '.verdicts[0] | .rule + " " + .component.name' "$work/report.json")
[ "$rule" = "node-at-risk/reported h3" ] || bad "the verdict is $rule"
ok "$rule: $(grep conclusion "$work/err")"
fan_is_old() { [ $SECONDS -ge "$then" ]; }
then=$((SECONDS + 7))
await 60 "time passes, and the job runs on" fan_is_old
run=
"$cluster" fault --name "$name" --quiet power-off h3
says_why() { grep -q 'conclusion: hardware fault in node h3, first cause: fan-failed .*; ticket: node' "$work/err"; }
await 60 "the cause of the outage" says_why
"$program" check "$work/report.json" >"$work/said" 2>&1 || bad "the report is not valid"
ok "$(grep 'first cause' "$work/err")"
