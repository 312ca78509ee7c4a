#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The handler `redfish`, by `faultloc handlers check`: a BMC that is well, hot, off, slow, dead, one that
# lies, one that refuses; its certificate; and that no password is where anybody could read it.
# Environment: top_builddir, where the programs are; top_srcdir.
# Exit code: 0 passed, 1 failed, 77 no libcurl, python3 or openssl here.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The handler/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
command=("${top_builddir:?}/tools/faultloc" handlers check)
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"

for tool in python3 openssl; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
secret=pass-$$-word
printf %s "$secret" >"$work/secret"
server=
# shellcheck disable=SC2317
clean_up() {
    exec 8>&- 9<&-
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    rm -rf "$work"
}
trap clean_up EXIT

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$work/key" -out "$work/ca" 2>/dev/null
cat "$work/key" "$work/ca" >"$work/pem"
mkfifo "$work/in" "$work/out"
python3 "${top_srcdir:?}/test/lib/redfish.py" "$work/pem" admin "$secret" <"$work/in" \
    >"$work/out" 2>"$work/noise" &
server=$!
exec 8>"$work/in" 9<"$work/out"
read -r port <&9

# file MEMBERS: the file of handlers, with these settings beside address, user and password.
file() {
    cat >"$work/file" <<END
{ "handlers": [ { "name": "bmc", "ask": "redfish", "deadline_ms": ${deadline:-4500},
  "settings": { "address": "127.0.0.1:$port", "user": "admin", "password": "$secret"${1:+, $1} } } ] }
END
    chmod 600 "$work/file"
}
ask() { "${command[@]}" --file "$work/file" --from h1 h2 >"$work/said" 2>&1 || :; }
# says STATE WORDS...: with the BMC in that state each of these lines is printed, and nothing else.
says() {
    local state=$1
    shift
    echo "$state" >&8
    while read -r word <&9; do [ "$word" != "$state" ] || break; done
    ask
    if diff <(printf 'bmc          %s\n' "$@") "$work/said"; then ok "$state: $1"; else bad "$state"; fi
    ! grep -qF "$secret" "$work/said" || bad "$state: the password is printed"
}

file
ask
if grep -q 'has no Redfish' "$work/said"; then echo "skipped: built without libcurl"; exit 77; fi
says on "says nothing: the BMC's certificate cannot be verified; name its issuer: ca_file"
file '"verify_certificate": false'
says on "power-on: system power is on"
file "\"ca_file\": \"$work/ca\""
says on "power-on: system power is on"
says off "power-off: system power is off"
says hot "power-on: system power is on" "temperature-high: sensor CPU1 Temp is at 101 : critical" \
    "fan-failed: sensor Fan 2 is at 0 RPM: critical"
says log "power-on: system power is on" \
    "memory-uncorrected: event log: Uncorrectable ECC error at DIMM B1 (2026-01-31T13:00:00+01:00)" \
    "fan-failed: event log: Fan 2 has failed (2026-01-31T11:59:20Z)" "event log: Other (2026-01-30T12:00:00Z)"
for state in garbage deep array; do says $state "says nothing: the BMC's answer is not Redfish"; done
says truncated "says nothing: the BMC ends the connection, or speaks no HTTPS"
says huge "says nothing: the BMC's answer is too large"
says redirect "says nothing: the BMC answers with an error"
says two "says nothing: the BMC has several systems; name one: system"
says error "says nothing: the BMC answers with an error"
says elsewhere "says nothing: the BMC's answer is not Redfish"

file "\"ca_file\": \"$work/ca\", \"login\": \"session\""
says on "power-on: system power is on"
read -r word <&9
if [ "$word" = ended ]; then ok "its session is ended"; else bad "sessions stay: $word"; fi
deadline=1500 file "\"ca_file\": \"$work/ca\", \"login\": \"session\""
says slow "says nothing: the BMC does not answer"
read -r word <&9
if [ "$word" = ended ]; then ok "slow: its session is ended"; else bad "slow: sessions stay: $word"; fi
file "\"ca_file\": \"$work/ca\", \"system\": \"/redfish/v1/Systems/1\""
says two "power-on: system power is on"
for login in basic session; do
    file "\"ca_file\": \"$work/ca\", \"login\": \"$login\", \"password\": \"wrong\""
    sed -i "s/\"password\": \"$secret\", //" "$work/file"
    says on "says nothing: the BMC refuses the user or password"
done

deadline=1500 file "\"ca_file\": \"$work/ca\""
echo slow >&8
while read -r word <&9; do [ "$word" != slow ] || break; done
ask &
asker=$!
seen=
for _ in {1..10}; do
    grep -lsF -f "$work/secret" /proc/[0-9]*/cmdline /proc/[0-9]*/environ >"$work/shown" || :
    grep -v "^/proc/$server/" "$work/shown" >"$work/others" && seen=1
    sleep 0.1
done
wait "$asker"
if [ -z "$seen" ]; then ok "no password in arguments or environments"; else bad "$(cat "$work/others")"; fi
grep -q 'the BMC does not answer' "$work/said" || bad "slow: $(cat "$work/said")"

kill "$server"
wait "$server" || :
server=
ask
if grep -q 'the BMC does not answer' "$work/said"; then ok "dead"; else bad "dead: $(cat "$work/said")"; fi
exit $failed
