#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail

usage() {
    cat <<EOF
Usage: maint/progress.sh [OPTION]... -- COMMAND [ARGUMENT]...

Runs COMMAND with its output in a log file, and shows the progress: on a terminal in one line that
is updated, elsewhere in a line from time to time. If COMMAND fails, the end of the log is printed.

  --step N/M       which step of how many
  --title TEXT     what is being done
  --log FILE       where the output goes
  --count REGEX    count the lines of the log that match, as a measure of the progress
  --total N        about how many such lines there will be
  --help           this text

Under "make -s" only failures are reported.
Exit code: that of COMMAND; 2 wrong arguments.
EOF
}

usage_error() {
    printf 'progress.sh: %s\n' "$*" >&2
    exit 2
}

percent() {
    local n
    [ -n "$count" ] && [ "$total" -gt 0 ] || return 0
    n=$(grep -cE "$count" "$log" 2>/dev/null || true)
    n=$((n * 100 / total))
    [ $n -lt 99 ] || n=99
    printf ', about %d%%' $n
}

# ticker: tells how far it is, until killed. Waits by a read that times out: no child to leave over.
ticker() {
    local fd every=30 format='[faultloc] %s ... %d s%s\n'
    [ -t 2 ] && { every=1; format='\r\033[K[faultloc] %s ... %d s%s'; }
    exec {fd}<> <(:)
    while ! read -r -t $every -u $fd _; do
        # shellcheck disable=SC2059  # the format is one of the two above
        printf "$format" "$title" $((SECONDS - start)) "$(percent)" >&2
    done
}

step= title= log= count= total=0
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --) shift; break ;;
        --step | --title | --log | --count | --total)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            printf -v "${1#--}" '%s' "$2"
            shift ;;
        *) usage_error "unknown option $1" ;;
    esac
    shift
done
[ $# -gt 0 ] || usage_error "no command"
[ -n "$log" ] || usage_error "--log is missing"
title="${step:+$step }${title:-$1} (log: $log)"
quiet=no
case ${MAKEFLAGS:-} in
    -* | ' '*) ;;
    *s*) case ${MAKEFLAGS%% *} in *=*) ;; *s*) quiet=yes ;; esac ;;
esac

start=$SECONDS
mkdir -p "$(dirname "$log")"
: >"$log"
pid=
if [ $quiet = no ]; then
    [ -t 2 ] || printf '[faultloc] %s ...\n' "$title" >&2
    ticker &
    pid=$!
    # shellcheck disable=SC2064  # the pid as it is now
    trap "kill $pid 2>/dev/null || true" EXIT
fi
code=0
"$@" </dev/null >"$log" 2>&1 || code=$?
if [ -n "$pid" ]; then
    kill $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
fi
[ $quiet = yes ] || [ ! -t 2 ] || printf '\r\033[K' >&2
if [ $code -ne 0 ]; then
    printf '[faultloc] %s: FAILED with exit code %d after %d s; the last lines of the log:\n' \
        "$title" $code $((SECONDS - start)) >&2
    tail -n 40 "$log" | sed 's/^/    /' >&2
elif [ $quiet = no ]; then
    printf '[faultloc] %s ... done in %d s\n' "$title" $((SECONDS - start)) >&2
fi
exit $code
