#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A job with one network, whose switch is asked by SNMP and whose host h3 has a BMC on a network that
# the job does not use: a host without power, one whose interface is down, one whose port is switched
# off, and one that is silent although all is up have four verdicts; without an answer of BMC and
# switch, or with a file that others may read, the verdict comes all the same and says so. What the
# BMC's log has of a part that failed before is the first cause of an outage, and who is to be called.
# Exit code: 0 passed, 1 failed, 77 no snmpd, ipmi_sim, ipmitool, no root or no namespaces here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/test.sh"

PATH=$PATH:/usr/sbin:/sbin
for tool in snmpd:snmpd ipmi_sim:openipmi ipmitool:ipmitool jq:jq; do
    command -v "${tool%:*}" >/dev/null ||
        { echo "skipped: no ${tool%:*} (Debian package ${tool#*:})"; exit 77; }
done
"$cluster" check || exit
find_program
secret=pass-$$-word
handlers=$work/handlers.json

# --- a BMC on the login host, a switch that answers ---------------------------------------------

cat >"$work/chassis" <<END
#!/bin/sh
[ "\$2" != get ] || echo "power:\$(cat $work/power)"
END
chmod +x "$work/chassis"
cat >"$work/lan.conf" <<END
name "h3"
set_working_mc 0x20
startlan 1
  addr 10.1.0.254 9003
  priv_limit admin
  allowed_auths_callback none md2 md5 straight
  allowed_auths_user none md2 md5 straight
  allowed_auths_operator none md2 md5 straight
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
chassis_control "$work/chassis 0x20"
user 1 true "" "" user 10 none md2 md5 straight
user 2 true "faultloc" "$secret" admin 10 none md2 md5 straight
END
cat >"$work/bmc.emu" <<END
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
END
cat >"$work/snmpd.conf" <<END
agentaddress udp:10.0.0.250:161
createUser faultloc SHA-256 "$secret" AES "$secret"
rouser faultloc authPriv
END
cat >"$handlers" <<END
{ "handlers": [
    { "name": "bmc", "ask": "ipmi", "nodes": "h[1-9]", "deadline_ms": 3500,
      "settings": { "address": "10.1.0.254", "user": "faultloc", "password": "$secret" },
      "of_node": { "port": "h[1-9] -> [9001-9009]" } },
    { "name": "switch", "ask": "snmp",
      "settings": { "address": "udp:10.0.0.250:161", "user": "faultloc", "cache_ms": 4000,
                    "auth_password": "$secret", "privacy_password": "$secret" },
      "deadline_ms": 4500,
      "of_node": { "port": "h[1-9] -> h[1-9]" } } ] }
END
chmod 600 "$handlers"

serve() {
    echo 1 >"$work/power"
    rm -rf "$work/state" # and the log of events
    mkdir -p "$work/state" "$work/snmp"
    ip -n "$name-dsw" addr add 10.0.0.250/24 dev br0
    MIBS='' SNMP_PERSISTENT_DIR=$work/snmp SNMPCONFPATH=$work/snmp ip netns exec "$name-dsw" \
        snmpd -f -Lf "$work/snmpd.log" -C -c "$work/snmpd.conf" &
    snmpd=$!
    ip netns exec "$name-login" ipmi_sim -c "$work/lan.conf" -f "$work/bmc.emu" -s "$work/state" \
        -n >"$work/sim.log" 2>&1 </dev/null &
    ipmi_sim=$!
    await 30 "BMC and switch answer" both_answer
}
both_answer() {
    "$cluster" exec --name "$name" h1 "$program" handlers check --file "$handlers" --from h1 h3 \
        >"$work/said" 2>"$work/wrong" || : # on a loaded machine not all of the BMC comes in time
    grep -q power-on "$work/said" && grep -q port-up "$work/said"
}

# --- a job, a fault, a verdict ------------------------------------------------------------------

# begin: a cluster, BMC and switch, a job that runs.
begin() {
    "$cluster" up --name "$name" --hosts 4 --quiet || exit
    serve
    rm -f "$work/report.json"
    "$cluster" run --quiet --name "$name" --faultloc --env MPIR_CVAR_FAULTLOC_MGMT_IFACE=none \
        --env "MPIR_CVAR_FAULTLOC_HANDLERS=$handlers" \
        --env "MPIR_CVAR_FAULTLOC_REPORT=$work/report.json" -- alltoall --seconds 3600 \
        >"$work/out" 2>"$work/err" &
    run=$!
    await_loop
}
fault() { "$cluster" fault --name "$name" --quiet "$@"; }
is_reported() { [ -e "$work/report.json" ] && jq -e '.verdicts[0]' "$work/report.json" >/dev/null; }

# verdict WHAT SIGN EVIDENCE...: the verdict on h3 has this sign, and all of this evidence.
verdict() {
    local what=$1 sign=$2 evidence rule
    shift 2
    await 60 "a verdict: $what" is_reported
    rule=$(jq -r '.verdicts[0] | .rule + " " + .component.name' "$work/report.json")
    case $rule in "$sign h3"*) ;; *) bad "$what: the verdict is $rule" ;; esac
    for evidence; do
        jq -r '.verdicts[0].evidence[] | select(.source == "handler").detail' \
            "$work/report.json" | grep -q "$evidence" || bad "$what: no evidence: $evidence"
        grep -q "$evidence" "$work/err" || bad "$what: the text has not: $evidence"
    done
    "$program" check "$work/report.json" >"$work/said" 2>&1 || bad "the report is not valid"
    ! grep -rqF "$secret" "$work/err" "$work/report.json" "$job/trace" ||
        bad "the password is in a report or the trace"
    ok "$what: $sign, after $(jq .verdicts[0].latency_s "$work/report.json") s"
    run=
    "$cluster" down --name "$name" --quiet
    wait
}

begin
ok "handlers check: $(paste -sd';' "$work/said")"
! grep -q handlers "$job/trace" || bad "a healthy job asks handlers"
echo 0 >"$work/power"
fault power-off h3
verdict "no power" node-outage/power-off "bmc: power-off: chassis power is off" "switch: port-d"

begin
fault data-down h3
verdict "its interface is down" link-fault/powered-port-down "bmc: power-on" "switch: port-down"

begin
fault cable h3
verdict "its port is switched off" link-fault/port-disabled "switch: port-disabled"

begin
fault silence h3 45000 &
verdict "silent, with power and carrier" node-frozen/powered-and-connected "bmc: power-on" \
    "switch: port-up"

# event HEX: the BMC logs it; older than a fan's that stands still without power when it returns.
event() {
    local line since=$SECONDS
    echo "$1" >"$work/event"
    line=$(ip netns exec "$name-login" ipmitool -I lanplus -C 3 -H 10.1.0.254 -p 9003 -U faultloc \
        -P "$secret" sel add "$work/event" 2>&1) || bad "the BMC takes no event: $line"
    await 60 "time passes" is_past $((since + 8))
}
is_past() { [ $SECONDS -ge "$1" ]; }
cause() { jq -r '[.verdicts[0].evidence[] | select(.source == "cause").detail] | join("; ")' "$work/report.json"; }

# SYMPTOM, the event of it: generator, kind of sensor, its number, kind and direction, data.
while read -r symptom hex <&4; do
    begin
    event "$hex"
    echo 0 >"$work/power"
    fault power-off h3
    verdict "no power, after $symptom" node-outage/power-off "bmc: power-off: chassis power is off"
    case $symptom in
        disk-failed) [ -z "$(cause)" ] || bad "a disk is said to be the cause: $(cause)" ;;
        *)
            [[ $(cause) == "$symptom: "* ]] || bad "the cause is: $(cause)"
            grep -q "conclusion: hardware fault in node h3, first cause: $symptom .* before; ticket: node" \
                "$work/err" || bad "the conclusion has not the cause" ;;
    esac
done 4<<'END'
fan-failed 0x04 0x04 0x30 0x01 0x52 0x00 0x64
temperature-high 0x04 0x01 0x31 0x01 0x59 0x60 0x5f
power-supply-failed 0x04 0x08 0x32 0x6f 0x01 0xff 0xff
memory-uncorrected 0x04 0x0c 0x33 0x6f 0x01 0xff 0xff
disk-failed 0x04 0x0d 0x34 0x6f 0x01 0xff 0xff
END

begin
kill -STOP "$snmpd"
kill -KILL "$ipmi_sim"
fault power-off h3
verdict "nobody answers" node-outage/only-path-silent "bmc: the BMC does not answer" "switch: "

chmod 644 "$handlers"
both_answer() { chmod 600 "$handlers"; }
begin
chmod 644 "$handlers"
fault power-off h3
verdict "the file is refused" node-outage/only-path-silent "others than its owner"
