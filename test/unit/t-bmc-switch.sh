#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The handlers `ipmi` and `snmp`, by `faultloc handlers check`: a BMC and a switch that are well, that refuse
# user or password, that are dead, that are silent, that say garbage, too little, too much; all within the
# deadline, in words of our own, and with no password where anybody could read it.
# Environment: top_builddir, where the programs are.
# Exit code: 0 passed, 1 failed, 77 no snmpd, ipmi_sim, ipmitool or python3 here.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The handlers/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
. "$(dirname "${BASH_SOURCE[0]}")/../lib/bmc_switch.sh"
need_bmc_and_switch python3:python3
command=("${top_builddir:?}/tools/faultloc" handlers check)
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
secret=pass-$$-word
printf %s "$secret" >"$work/secret"
servers=()
# shellcheck disable=SC2317
clean_up() {
    for server in "${servers[@]}"; do kill -KILL "$server" || :; done 2>/dev/null
    wait 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT

# A counterpart that answers each datagram as its mode says, at a port of the kernel's choice.
cat >"$work/liar.py" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
mode = sys.argv[1]
while True:
    data, who = s.recvfrom(65535)
    if mode == "garbage":
        s.sendto(os.urandom(200), who)
    elif mode == "truncated":
        s.sendto(data[:len(data) // 2], who)
    elif mode == "huge":
        for _ in range(100):
            s.sendto(data + b"\xff" * 60000, who)
    elif mode == "echo":
        s.sendto(data, who)
END
declare -A port
for mode in garbage truncated huge echo silent; do
    mkfifo "$work/$mode"
    python3 "$work/liar.py" $mode >"$work/$mode" &
    servers+=($!)
    read -r "port[$mode]" <"$work/$mode"
done
port[dead]=9 # discard, which nobody has

free_port() { python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port[bmc]=$(free_port)
port[switch]=$(free_port)
make_bmc "$work/bmc" 127.0.0.1 "${port[bmc]}" "$secret"
run_bmc "$work/bmc"
servers+=($!)
make_switch_agent "$work/agent" "udp:127.0.0.1:${port[switch]}" "$secret" "rocommunity $secret"
run_switch_agent "$work/agent"
servers+=($!)

# bmc COUNTERPART SETTINGS, switch COUNTERPART SETTINGS: the file of handlers.
bmc() {
    echo "{\"handlers\": [{\"name\": \"x\", \"ask\": \"ipmi\", \"deadline_ms\": 3500, \"settings\": {\"address\":" \
        "\"127.0.0.1\", \"port\": \"${port[$1]}\", $2}}]}" >"$work/file"
}
port_of() {
    echo "{\"handlers\": [{\"name\": \"x\", \"ask\": \"snmp\", \"deadline_ms\": 3500, \"settings\": {\"address\":" \
        "\"udp:127.0.0.1:${port[$1]}\", \"port\": \"lo\", \"cache_ms\": 0, $2}}]}" >"$work/file"
}
ask() { "${command[@]}" --file "$work/file" --from h1 h3 >"$work/said" 2>&1 || :; }
# says WHAT WORDS: one line, within the deadline; while it is asked nobody can read the password.
says() {
    local begin=$SECONDS asker
    chmod 600 "$work/file"
    ask &
    asker=$!
    while kill -0 $asker 2>/dev/null; do
        grep -lsaF -f "$work/secret" /proc/[0-9]*/cmdline /proc/[0-9]*/environ >"$work/shown" || :
        [ ! -s "$work/shown" ] || bad "$1: the password is in $(cat "$work/shown")"
    done
    wait $asker
    [ $((SECONDS - begin)) -le 30 ] || bad "$1: took $((SECONDS - begin)) s"
    if grep -qE -- "^x +$2" "$work/said"; then ok "$1: $2"; else bad "$1: $(cat "$work/said")"; fi
    [ "$(wc -l <"$work/said")" = 1 ] || bad "$1: $(cat "$work/said")"
    ! grep -qF "$secret" "$work/said" || bad "$1: the password is printed"
}
user() { echo "\"user\": \"$1\", \"password\": \"$2\""; }
v3() { echo "\"user\": \"$1\", \"auth_password\": \"$2\", \"privacy_password\": \"$3\""; }

# The two real ones are there when they answer.
for _ in {1..600}; do
    bmc bmc "$(user faultloc "$secret")"; chmod 600 "$work/file"; ask
    grep -q power-on "$work/said" && break
    sleep 0.1
done
says "a BMC" "power-on: chassis power is on"
bmc bmc "$(user faultloc wrong)"; says "a BMC, wrong password" "says nothing: the BMC refuses the user or password"
bmc bmc "$(user nobody "$secret")"; says "a BMC, wrong user" "says nothing: the BMC refuses the user or password"
for mode in dead silent garbage truncated huge echo; do
    bmc $mode "$(user faultloc "$secret")"
    says "a BMC, $mode" "says nothing: (the BMC |no answer in 3500 ms|there is no route|ipmitool does not say)"
done

for _ in {1..600}; do
    port_of switch "$(v3 faultloc "$secret" "$secret")"; chmod 600 "$work/file"; ask
    grep -q port-up "$work/said" && break
    sleep 0.1
done
says "a switch" "port-up: port lo is up"
port_of switch "\"community\": \"$secret\""; says "a switch, version 2c" "port-up: port lo is up"
port_of switch '"community": "public"'; says "a switch, wrong community" "says nothing: the switch does not answer"
port_of switch "$(v3 nobody "$secret" "$secret")"; says "a switch, wrong user" "says nothing: the switch refuses"
port_of switch "$(v3 faultloc "wrong-$secret" "$secret")"
says "a switch, wrong password" "says nothing: the switch (refuses|answers, but not)"
port_of switch "$(v3 faultloc "$secret" "wrong-$secret")"
says "a switch, wrong key" "says nothing: the switch answers, but not to these"
for mode in dead silent garbage truncated huge echo; do
    port_of $mode "$(v3 faultloc "$secret" "$secret")"
    says "a switch, $mode" "says nothing: (the switch |no answer in 3500 ms)"
done
! find . "$work" -maxdepth 1 \( -name 'core' -o -name 'core.*' \) | grep -q . || bad "a core file"
exit $failed
