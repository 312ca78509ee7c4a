#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The program faultloc-fabric, two of them over UCX on this host: a message passes; a stranger at the
# address, one that is stopped, one that is gone, no device.
# Environment: top_builddir, where the programs are.
# Exit code: 0 passed, 1 failed, 77 it was not built.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The program/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
fabric=${top_builddir:?}/faultloc-fabric
[ -x "$fabric" ] || { echo "skipped: no faultloc-fabric (not ch4:ucx, or no UCX)"; exit 77; }
command=("$fabric")
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
export UCX_TLS=tcp
listeners=()
trap 'kill -9 "${listeners[@]}" 2>/dev/null || :; rm -rf "$work"' EXIT

# listen N: one more that listens, for a minute; its address is in $address.
listen() {
    mkfifo "$work/fifo$1"
    "$fabric" listen --deadline 60000 >"$work/fifo$1" &
    listeners+=($!)
    exec {from}<"$work/fifo$1"
    IFS= read -r line <&"$from"
    address=$(sed -n 's/^{"address": "\([0-9a-f]*\)"}$/\1/p' <<<"$line")
    [ -n "$address" ] || bad "no address: $line"
}

listen 1
first=$address
expect 0 '{"fabric": "passes", "us": ' ping --deadline 20000 "$first"
listen 2
expect 0 '"another process is at that address"' ping --deadline 20000 "${first:0:64}${address:64}"
kill -STOP "${listeners[0]}"
expect 0 '{"fabric": "silent"' ping "$first"
kill -CONT "${listeners[0]}"
"$fabric" listen --deadline 60000 >"$work/held" &
held=$!
listeners+=($held)
until grep -q listens "$work/held"; do read -rt 0.05 <> <(:) || :; done
kill -STOP $held
until grep -q '^State:.T' "/proc/$held/status"; do :; done
lines=$(wc -l <"$work/held")
read -rt 1 <> <(:) || :
# The first thing that it says when it goes on is that it was not there.
kill -CONT $held
until [ "$(wc -l <"$work/held")" -gt "$lines" ]; do read -rt 0.05 <> <(:) || :; done
if sed -n "$((lines + 1))p" "$work/held" | grep -q '"none", "why": "was held up itself"'; then
    ok "held up"
else
    bad "one that was held up: $(sed -n "$((lines + 1))p" "$work/held")"
fi
kill -9 "${listeners[1]}"
wait "${listeners[1]}" 2>/dev/null || :
expect 0 '{"fabric": "silent", "why": ' ping "$address"
UCX_NET_DEVICES=nothing expect 0 '{"fabric": "none", "why": ' ping "$first"
UCX_NET_DEVICES=nothing expect 0 '{"fabric": "none", "why": ' listen
UCX_NET_DEVICES=nothing sleep 60 &
listeners+=($!)
until tr '\0' '\n' <"/proc/$!/environ" | grep -q UCX_NET; do :; done
expect 0 '{"fabric": "none", "why": ' ping --like $! "$first"
for wrong in '' 'ping' 'ping xx' 'ping 00' 'listen 00' 'listen --deadline' 'listen --deadline x' 'ask'; do
    # shellcheck disable=SC2086
    expect 2 'wrong usage' $wrong
done
expect 0 'Usage: faultloc-fabric' --help
exit $failed
