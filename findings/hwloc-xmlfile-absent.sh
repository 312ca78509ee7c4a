#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# hwloc 2.9.0 (Debian 2.9.0-1): with HWLOC_XMLFILE that names no file hwloc looks at the machine itself, without a word.
#
# hwloc(7) has HWLOC_XMLFILE for the topology from a file, which a job is given to see what it would do on another
# machine, or to spare each process the look at the hardware.  A guess: a file that cannot be read is an error, as
# "lstopo -i FILE" has it (exit code 1), so that no result is that of another machine than was meant.
# Seen: the topology is that of this host, with exit code 0 and nothing on standard error; HWLOC_XML_VERBOSE=1 does not
# change that.  Of a HWLOC_SYNTHETIC that it does not understand it says so, and takes this host as well.  So: a script
# tests for the file first.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack 'hwloc 2.9.0-1' hwloc-nox=2.9.0-1 libhwloc15=2.9.0-1
export LD_LIBRARY_PATH=$libraries
cores() { timeout 60 usr/bin/lstopo-no-graphics --only pu 2>err </dev/null | grep -c '^PU' || :; }
here=$(cores)
[ "$here" -ge 1 ] || { echo "SKIP: it does not run here"; exit 77; }
usr/bin/lstopo-no-graphics -i 'node:2 core:7 pu:31' machine.xml
show() {
    local code=0 seen
    env "$1" timeout 60 usr/bin/lstopo-no-graphics --only pu >out 2>err </dev/null || code=$?
    seen=$(grep -c '^PU' out || :)
    [ "$seen" != "$here" ] || seen="those of this host"
    echo "${1/$work/.}: CPUs $seen, $(grep -c . err || :) lines of errors, exit code $code"
}
{
    show "HWLOC_XMLFILE=$work/machine.xml"
    show "HWLOC_XMLFILE=$work/absent.xml"
    HWLOC_XML_VERBOSE=1 show "HWLOC_XMLFILE=$work/absent.xml"
    show "HWLOC_SYNTHETIC=nude:2 pu:4"
    timeout 60 usr/bin/lstopo-no-graphics -i absent.xml >out 2>&1 || echo "-i absent.xml: exit code $?"
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
HWLOC_XMLFILE=./machine.xml: CPUs 434, 0 lines of errors, exit code 0
HWLOC_XMLFILE=./absent.xml: CPUs those of this host, 0 lines of errors, exit code 0
HWLOC_XMLFILE=./absent.xml: CPUs those of this host, 0 lines of errors, exit code 0
HWLOC_SYNTHETIC=nude:2 pu:4: CPUs those of this host, 1 lines of errors, exit code 0
-i absent.xml: exit code 1
END
echo "as seen with hwloc 2.9.0"
