#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# gdb 13.1 (Debian's gdb-minimal 13.1-3): "gdb -batch -p PID -ex 'thread apply all bt'" succeeds where it could not attach.
#
# That line is how a script takes the stacks of a rank that hangs.  gdb's manual says of -batch: "Exit with status 0 after
# processing all the command files ... or nonzero status if an error occurs".  A guess: where the process is not there,
# is another user's, or has another tracer the exit code is not 0.
# Seen: exit code 0 and nothing on standard output, for all three: the code is that of the last command, and "thread apply
# all" of no threads is no error.  With "bt" as the last command, which says "No stack.", it is 1.  So: a script
# that keeps the output of exit code 0 as a stack has an empty one; test for a line that begins with "Thread".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no root.
. "$(dirname "$0")/lib/packages.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: no root"; exit 77; }
version=13.1-3
unpack "gdb-minimal $version" "gdb-minimal=$version" libdebuginfod1=0.188-2.1 libelf1=0.188-2.1 \
    libipt2=2.0.5-1 libcurl3-gnutls libreadline8=8.2-1.3
unset DEBUGINFOD_URLS
export LD_LIBRARY_PATH=$libraries
usr/bin/gdb --version >out 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

sleep 100 &
process=$!
tracer=
trap 'kill "$process" $tracer; rm -rf "$work"' EXIT
run() {
    local code=0 what=$1
    shift
    timeout 60 "$@" >out 2>err </dev/null || code=$?
    echo "$what: exit code $code, $(grep -c '^Thread' out || :) threads"
}
stacks=(usr/bin/gdb -nx -batch -p "$process" -ex 'thread apply all bt')
{
    run 'may attach' "${stacks[@]}"
    run 'not there' usr/bin/gdb -nx -batch -p 99999999 -ex 'thread apply all bt'
    run 'not there, bt' usr/bin/gdb -nx -batch -p 99999999 -ex bt
    chmod 755 .
    run "another user's" setpriv --reuid 65534 --regid 65534 --clear-groups "${stacks[@]}"
} | tee seen
# strace may be missing: gdb itself is the other tracer
mkfifo hold
exec 3<>hold
usr/bin/gdb -nx -batch -p "$process" -ex 'shell read line <hold' >tracer.out 2>&1 3>&- &
tracer=$!
until grep -q "^TracerPid:.*$tracer" "/proc/$process/status"; do kill -0 "$tracer"; sleep 0.1; done
run 'has another tracer' "${stacks[@]}" 3>&- | tee -a seen
echo >&3
wait "$tracer" || :
tracer=
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
may attach: exit code 0, 1 threads
not there: exit code 0, 0 threads
not there, bt: exit code 1, 0 threads
another user's: exit code 0, 0 threads
has another tracer: exit code 0, 0 threads
END
echo "as seen with gdb-minimal $version"
