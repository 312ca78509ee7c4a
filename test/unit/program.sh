# shellcheck shell=bash
# shellcheck disable=SC2154
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the tests of the program `faultloc`, to be sourced. They set the array `command`, what run
# begins with.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
bad() { echo "FAILED: $*"; failed=1; }
ok() { echo "ok: $*"; }

# run ARGUMENT...: output in $work/out and $work/err, exit code in $code. What the terminal would
# get is printable ASCII, whatever was in the file.
run() {
    code=0
    "${command[@]}" "$@" >"$work/out" 2>"$work/err" || code=$?
    ! LC_ALL=C grep -q '[^ -~]' "$work/out" "$work/err" || bad "$*: prints what is not ASCII"
}

# expect CODE TEXT ARGUMENT...: the exit code, and TEXT in what it says.
expect() {
    local want=$1 text=$2
    shift 2
    run "$@"
    if [ $code -ne "$want" ]; then
        bad "$*: exit code $code, not $want: $(head -n 3 "$work/err")"
    elif ! grep -qF -- "$text" "$work/out" "$work/err"; then
        bad "$*: does not say '$text' but: $(head -n 3 "$work/out" "$work/err")"
    else
        ok "$text"
    fi
}
