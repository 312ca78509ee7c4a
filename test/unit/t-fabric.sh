#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The program faultloc-fabric, two of them over TCP on this host: a message passes; a stranger at the
# address, one that is stopped, has not enough of the CPU, or is gone, no device.
# Environment: top_builddir, where the programs are.
# Exit code: 0 passed, 1 failed, 77 it was not built.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The program/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
fabric=${top_builddir:?}/faultloc-fabric
[ -x "$fabric" ] || { echo "skipped: no faultloc-fabric (no UCX, no libfabric)"; exit 77; }
command=("$fabric")
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
export UCX_TLS=tcp FI_PROVIDER='tcp;ofi_rxm' # of UCX and of libfabric, whichever it is
listeners=()
trap 'kill -9 "${listeners[@]}" 2>/dev/null || :; rm -rf "$work"' EXIT

# The same where silence is to be said, which who has not enough of the CPU does not: again, then.
expect_silent() {
    local tries
    for tries in {1..30}; do
        "$fabric" "${@:2}" >"$work/silent"
        grep -q '"was held up itself"' "$work/silent" || break
    done
    if grep -qF -- "$1" "$work/silent"; then ok "$1, at try $tries"; else bad "$*: $(cat "$work/silent")"; fi
}

# listen N: one more that listens, for a minute; its address is in $address.
listen() {
    mkfifo "$work/fifo$1"
    "$fabric" listen --deadline 600000 >"$work/fifo$1" &
    listeners+=($!)
    exec {from}<"$work/fifo$1"
    IFS= read -r line <&"$from"
    address=$(sed -n 's/^{"address": "\([0-9a-f]*\)"}$/\1/p' <<<"$line")
    [ -n "$address" ] || bad "no address: $line"
}

listen 1
first=$address
for _ in 1 2 3; do expect 0 '{"fabric": "passes", "us": ' ping --deadline 20000 "$first"; done
expect 0 '{"fabric": "passes", "us": ' ping --deadline 20000 - <<<"$first"
kill -0 "${listeners[0]}" || bad "who was asked has ended"
listen 2
# libfabric has no way back to who has no key.
"$fabric" ping "${first:0:64}${address:64}" >"$work/stranger"
if grep -qE '"another process is at that address"|"fabric": "silent"' "$work/stranger"; then
    ok "a stranger at the address"
else
    bad "a stranger at the address: $(cat "$work/stranger")"
fi
kill -STOP "${listeners[0]}"
expect_silent '{"fabric": "silent"' ping "$first"
kill -CONT "${listeners[0]}"
"$fabric" listen --deadline 600000 >"$work/held" &
held=$!
listeners+=($held)
until grep -q '"fabric"' "$work/held"; do read -rt 0.05 <> <(:) || :; done
kill -STOP $held
until grep -q '^State:.T' "/proc/$held/status"; do :; done
lines=$(wc -l <"$work/held")
read -rt 1 <> <(:) || :
# The first thing that it says when it goes on is that it was not there.
kill -CONT $held
until [ "$(wc -l <"$work/held")" -gt "$lines" ]; do read -rt 0.05 <> <(:) || :; done
if sed -n "$((lines + 1))p" "$work/held" | grep -q '"held"'; then
    ok "held up"
else
    bad "one that was held up: $(sed -n "$((lines + 1))p" "$work/held")"
fi
# starve PAUSE PID [PID]: it runs for some ms in every PAUSE s, as long as the other one (or it) runs.
starve() {
    local pause=$1
    shift
    while kill -STOP "$1" 2>/dev/null && kill -0 "${2:-$1}" 2>/dev/null; do
        read -rt "$pause" <> <(:) || :
        kill -CONT "$1" 2>/dev/null || :
        read -rt 0.005 <> <(:) || :
    done
    kill -CONT "$1" 2>/dev/null || :
}

# Who gets little of the CPU, but again and again, is heard, or says that it has too little.
: >"$work/slow"
"$fabric" listen --deadline 600000 >"$work/slow" &
listeners+=($!)
until grep -q '"address"' "$work/slow"; do read -rt 0.05 <> <(:) || :; done
slow=$(sed -n 's/^{"address": "\([0-9a-f]*\)"}$/\1/p' "$work/slow")
"$fabric" ping "$slow" >"$work/pinged" &
starve 0.08 "${listeners[-1]}" $!
if ! grep -q '"silent"' "$work/pinged" && [ -s "$work/pinged" ]; then
    ok "a slow listener: $(cat "$work/pinged")"
else
    bad "a slow listener: $(cat "$work/pinged")"
fi

# Silence says nothing where either end had not enough of the CPU.
kill -STOP "${listeners[0]}"
"$fabric" ping "$first" >"$work/starved" &
starve 0.12 $!
kill -CONT "${listeners[0]}"
if grep -q '"none", "why": "was held up itself"' "$work/starved"; then
    ok "an asker without CPU"
else
    bad "an asker without CPU: $(cat "$work/starved")"
fi
"$fabric" listen --deadline 600000 >"$work/starved" &
listeners+=($!)
until grep -q '"fabric"' "$work/starved"; do read -rt 0.05 <> <(:) || :; done
sleep 2 &
starve 0.12 "${listeners[-1]}" $!
until [ "$(tail -n 1 "$work/starved" | grep -c fabric)" -eq 1 ]; do read -rt 0.05 <> <(:) || :; done
if grep -q '"held"' "$work/starved"; then
    ok "a listener without CPU"
else
    bad "a listener without CPU: $(tail -n 3 "$work/starved")"
fi

kill -9 "${listeners[1]}"
wait "${listeners[1]}" 2>/dev/null || :
expect_silent '{"fabric": "silent", "why": ' ping "$address"
UCX_NET_DEVICES=nothing FI_PROVIDER=nothing expect 0 '{"fabric": "none", "why": ' ping "$first"
UCX_NET_DEVICES=nothing FI_PROVIDER=nothing expect 0 '{"fabric": "none", "why": ' listen
UCX_NET_DEVICES=nothing FI_PROVIDER=nothing sleep 60 &
listeners+=($!)
until tr '\0' '\n' <"/proc/$!/environ" | grep -q UCX_NET; do :; done
expect 0 '{"fabric": "none", "why": ' ping --like $! "$first"
# Of a process that has ended, and none has waited for, nothing is known; then the next one is asked.
unknown='"why": "the variables of the ranks are not known"'
# It ends once its parent is a program that does not wait for it.
# shellcheck disable=SC2016
bash -c 'until [ "$(cat /proc/$$/comm)" = sleep ]; do :; done & echo $!; exec sleep 60' >"$work/zombie" &
listeners+=($!)
until [ -s "$work/zombie" ] && grep -q '^State:.Z' "/proc/$(cat "$work/zombie")/status"; do :; done
expect 0 "$unknown" ping --like "$(cat "$work/zombie")" "$first"
expect 0 '"passes"' ping --deadline 20000 --like "$(cat "$work/zombie"),$$" "$first"
expect 0 "$unknown" ping --like '' "$first"
expect 0 "$unknown" ping --like x "$first"
for wrong in '' 'ping' 'ping xx' 'ping 00' 'listen 00' 'listen --deadline' 'listen --deadline x' 'listen -' 'ping -x' 'ask'; do
    # shellcheck disable=SC2086
    expect 2 'wrong usage' $wrong
done
expect 0 'Usage: faultloc-fabric' --help
exit $failed
