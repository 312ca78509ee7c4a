#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The commands `faultloc set` and `faultloc ask`: what can be seen to be wrong without a job is refused,
# with the reason and the exit code.
# Environment: top_builddir, where tools/faultloc is.
# Exit code: 0 passed, 1 failed.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The commands/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
command=("${top_builddir:?}/tools/faultloc" set)
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"

XDG_RUNTIME_DIR=$work/run
export XDG_RUNTIME_DIR
mkdir "$XDG_RUNTIME_DIR"
nobody=(--job "none-of-$$")

expect 0 "Usage: faultloc set [OPTION]... SETTING=VALUE..." --help
expect 2 "missing SETTING=VALUE" "${nobody[@]}"
expect 2 "no such setting (action=, stall-ms=, rules=): patience-ms=1" patience-ms=1
expect 2 "no such setting (action=, stall-ms=, rules=): abort" abort
expect 2 "action must be abort or report, not kill" action=kill
expect 2 "action must be abort or report, not exec:/bin/true" action=exec:/bin/true
expect 2 "action must be abort or report, not " action=
for ms in 99 3600001 -1 0100 1e3 5x 99999999999999999999 ''; do
    expect 2 "stall-ms must be a whole number from 100 to 3600000, not $ms" "stall-ms=$ms"
done
expect 2 "given twice: stall-ms=200" stall-ms=100 stall-ms=200
expect 2 "no such option: --all" --all action=abort
expect 2 "missing value after --job" action=abort --job
expect 2 "no such user: nobody-at-all" action=abort --user nobody-at-all
expect 2 "no such job on this host" "${nobody[@]}" action=abort stall-ms=100

"${command[0]}" rules print >"$work/rules.json"
expect 2 "no such job on this host" "${nobody[@]}" "rules=$work/rules.json"
expect 2 "no such job on this host" "${nobody[@]}" rules=
expect 2 "$work/none.json: No such file or directory" "rules=$work/none.json"
expect 2 "$work: is not a regular file" "rules=$work"
: >"$work/empty.json"
expect 2 "$work/empty.json: is empty" "rules=$work/empty.json"
head -c 1000 "$work/rules.json" >"$work/broken.json"
expect 1 "$work/broken.json: rules: line " "rules=$work/broken.json"
sed '0,/"node-outage"/s//"node-outge\x1b"/' "$work/rules.json" >"$work/wrong.json"
expect 1 "$work/wrong.json: rules: " "rules=$work/wrong.json"
head -c 131072 /dev/zero | tr '\0' ' ' | cat "$work/rules.json" - >"$work/long.json"
expect 2 "$work/long.json: is larger than 128 KiB, the limit here" "rules=$work/long.json"

command=("${command[0]}" ask)
expect 0 "Usage: faultloc ask NODE [OPTION]..." --help
expect 2 "missing NODE or rank N" "${nobody[@]}"
expect 2 "missing NODE or rank N" rank
expect 2 'neither NODE nor "rank N": h2' h1 h2
expect 2 'neither NODE nor "rank N": 4' rank 3 4
expect 2 'neither NODE nor "rank N": h"1' 'h"1'
expect 2 "no such option: --all" h1 --all
expect 2 "missing value after --node" h1 --node
expect 2 "no such job on this host" "${nobody[@]}" h1
expect 2 "no such job on this host" "${nobody[@]}" rank 3
expect 2 "no such job on this host" "${nobody[@]}" "rank 3"

[ $failed = 0 ] || exit 1
echo "all passed"
