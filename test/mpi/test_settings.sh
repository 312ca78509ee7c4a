#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A setting that is no number ends no job: a message names it and what is used instead, once a job.
# The words by which people switch something on or off are understood, by ranks and mpiexec.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=60

"$here/build.sh" --mpi "$mpi" --out "$bin" settings crash
unset MPIR_CVAR_FAULTLOC

# job EXPECTED MESSAGE SETTING... [-- VARIABLE]: what rank 0 prints, and what all print on stderr
job() {
    local expected=$1 message=$2 settings=() code=0
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do settings+=("$1"); shift; done
    [ $# -eq 0 ] || shift
    env MPIR_CVAR_FAULTLOC_REPORT= "${settings[@]}" timeout -s INT -k 5 "$limit" "$mpi/bin/mpiexec" \
        -n 3 "$bin/settings" "$@" </dev/null >"$work/out" 2>"$work/err" || code=$?
    [ $code = 0 ] && [ "$(cat "$work/out")" = "$expected" ] &&
        [ "$(cat "$work/err")" = "${message:+[faultloc] $message}" ] ||
        bad "${settings[*]}: exit code $code: $(cat "$work/out" "$work/err")"
}

job off ''
for word in 1 on ON yes True enable enabled ' 1 ' 2; do job on '' MPIR_CVAR_FAULTLOC="$word"; done
for word in 0 off no FALSE disable Disabled none ''; do job off '' MPIR_CVAR_FAULTLOC="$word"; done
for name in MPICH_FAULTLOC MPIR_PARAM_FAULTLOC; do
    job on '' $name=on
    job off "$name=perhaps is neither 1 (on) nor 0 (off); using 0" $name=perhaps
done
for value in perhaps 1x onn 99999999999 $'\033[1m' -; do
    job off "MPIR_CVAR_FAULTLOC=${value/$'\033'/?} is neither 1 (on) nor 0 (off); using 0" \
        MPIR_CVAR_FAULTLOC="$value"
done
job on 'MPIR_CVAR_FAULTLOC=perhaps is neither 1 (on) nor 0 (off); using 1' MPICH_FAULTLOC=1 \
    MPIR_CVAR_FAULTLOC=perhaps
echo "ok: on and off"

# wrong NAME DEFAULT: each setting that is a number
wrong() {
    local variable=MPIR_CVAR_FAULTLOC_$1 value
    for value in soon 10ms 99999999999999999999; do
        job "on $2" "$variable=$value is not a whole number that fits; using $2" \
            MPIR_CVAR_FAULTLOC=1 "$variable=$value" -- "$variable"
    done
    job "off $2" '' "$variable=soon" -- "$variable" # what is off has no settings
    job "on $2" '' MPIR_CVAR_FAULTLOC=1 "$variable=" -- "$variable"
}
wrong FANOUT 32
wrong STALL_MS 1000
wrong SAMPLE_MS 400
wrong SILENCE_MS 900
wrong PATIENCE_MS 4000
wrong GRACE_MS 3000
for name in SYMPTOMS VERBOSE; do
    variable=MPIR_CVAR_FAULTLOC_$name
    job 'on 1' '' MPIR_CVAR_FAULTLOC=1 "$variable=yes" -- "$variable"
    job 'on 0' '' MPIR_CVAR_FAULTLOC=1 "$variable=off" -- "$variable"
    value=1 # their defaults
    [ $name != VERBOSE ] || value=0
    job "on $value" "$variable=maybe is neither 1 (on) nor 0 (off); using $value" \
        MPIR_CVAR_FAULTLOC=1 "$variable=maybe" -- "$variable"
done
job 'on -1' 'MPIR_CVAR_FAULTLOC_STALL_MS=-1 is out of range 100..3600000; using 1000' \
    MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_STALL_MS=-1 -- MPIR_CVAR_FAULTLOC_STALL_MS
job 'on 60001' 'MPIR_CVAR_FAULTLOC_GRACE_MS=60001 is out of range 0..60000; using 3000' \
    MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_GRACE_MS=60001 -- MPIR_CVAR_FAULTLOC_GRACE_MS
echo "ok: numbers"

# A single process, which has no mpiexec.
env MPIR_CVAR_FAULTLOC=perhaps "$bin/settings" >"$work/out" 2>"$work/err" || bad "a single process"
grep -qxF '[faultloc] MPIR_CVAR_FAULTLOC=perhaps is neither 1 (on) nor 0 (off); using 0' \
    "$work/err" || bad "a single process: $(cat "$work/err")"

# mpiexec says who was the first to end where FaultLoc is on, and only there.
for row in yes:MPIR_CVAR_FAULTLOC=yes no:MPIR_CVAR_FAULTLOC=no \
    'yes:MPICH_FAULTLOC=1 MPIR_CVAR_FAULTLOC=perhaps'; do
    word=${row%%:*}
    # shellcheck disable=SC2086
    env ${row#*:} MPIR_CVAR_FAULTLOC_REPORT='' timeout -s INT -k 5 "$limit" \
        "$mpi/bin/mpiexec" -n 2 "$bin/crash" --rank 1 --how 9 </dev/null >/dev/null \
        2>"$work/err" || :
    found=no
    ! grep -q '^\[faultloc\] rank 1 on .* was the first to end: signal 9' "$work/err" || found=yes
    [ $found = $word ] || bad "mpiexec, ${row#*:}: $(cat "$work/err")"
done
echo "ok: mpiexec"
