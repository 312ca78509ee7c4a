#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# hwloc 2.9.0 (Debian 2.9.0-1): hwloc-calc has the empty set for an object that is not there, with exit code 0, and
# hwloc-bind leaves it out and runs the command.
#
# hwloc-bind and hwloc-calc take locations, "core:2" or "pack:1.core:0"; job scripts compute them from a rank's number.
# A guess: a core that this host does not have, for it is of another kind or some are offline, is an error with an exit
# code that is not 0, in each of the programs.
# Seen: hwloc-bind alone is as guessed, where nothing is left ("cannot cpubind to empty set", 1).  With one good
# location beside it the command runs, on fewer CPUs than were asked for.  hwloc-calc prints 0x0, or 0 for a count, and
# hwloc-info nothing, with exit code 0; "lstopo --restrict" to CPUs that are not there shows the whole machine.  There
# are lines on standard error each time.  So: a script compares the count of "hwloc-calc -N pu" with what it asked for.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack 'hwloc 2.9.0-1' hwloc-nox=2.9.0-1 libhwloc15=2.9.0-1
export LD_LIBRARY_PATH=$libraries
run() {
    local code=0
    timeout 60 "usr/bin/$1" "${@:2}" >out 2>err </dev/null || code=$?
    echo "$*: '$(paste -sd' ' out)', exit code $code"
}
run hwloc-calc -i 'node:1 pu:1' pu:0 >first
[[ $(cat first) == *"'0x00000001', exit code 0" ]] || { echo "SKIP: it does not run here"; exit 77; }
machine=(-i 'node:2 core:2 pu:1')
{
    run hwloc-bind pu:9999 -- echo it runs
    run hwloc-bind pu:0 pu:9999 -- echo it runs
    run hwloc-calc "${machine[@]}" core:3
    run hwloc-calc "${machine[@]}" core:4
    run hwloc-calc "${machine[@]}" -N pu core:4
    run hwloc-calc "${machine[@]}" -N pu core:2-5
    run hwloc-info "${machine[@]}" core:4
    run lstopo-no-graphics "${machine[@]}" --restrict 0xf0 --only core
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
hwloc-bind pu:9999 -- echo it runs: '', exit code 1
hwloc-bind pu:0 pu:9999 -- echo it runs: 'it runs', exit code 0
hwloc-calc -i node:2 core:2 pu:1 core:3: '0x00000008', exit code 0
hwloc-calc -i node:2 core:2 pu:1 core:4: '0x0', exit code 0
hwloc-calc -i node:2 core:2 pu:1 -N pu core:4: '0', exit code 0
hwloc-calc -i node:2 core:2 pu:1 -N pu core:2-5: '2', exit code 0
hwloc-info -i node:2 core:2 pu:1 core:4: '', exit code 0
lstopo-no-graphics -i node:2 core:2 pu:1 --restrict 0xf0 --only core: 'Core L#0 Core L#1 Core L#2 Core L#3', exit code 0
END
echo "as seen with hwloc 2.9.0"
