#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): a hostfile without a host is this host, and what is between quotes in a
# -configfile is more than one argument.
#
# mpiexec says of -f "file containing the host names"; scripts write it by a command of the batch system.  A guess: a
# file that is empty, for that command has failed, is refused, as one that is not there is; and words in quotes, in the
# lines of -configfile that look like the rest of a command, are one argument.
# Seen: with an empty file, or one of comments, all ranks run on the host of mpiexec, a login node, with exit code 0.
# In a -configfile quotes are characters, and "a b" is two arguments, one with each.  So: test the file (grep -q
# '^[^#]'), and leave quotes to a script that the file names.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

run() {
    local code=0
    mpiexec "${ssh[@]}" "${@:2}" >out 2>err || code=$?
    echo "$1: $(sort out | uniq -c | sed 's/^ *//' | paste -sd, | sed 's/,/, /g'), exit code $code"
}
where=(sh -c 'echo on ${HOST:-this host}')
: >empty
printf '# h1\n\n' >comments
printf 'h1\nh2\n' >hosts
echo '-n 1 printf %s\n one "a b"' >config
{
    run 'two hosts' -f hosts -n 2 "${where[@]}"
    run 'absent' -f absent -n 2 "${where[@]}"
    run 'empty' -f empty -n 2 "${where[@]}"
    run 'comments' -f comments -n 2 "${where[@]}"
    run 'quotes' -configfile config
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
two hosts: 1 on h1, 1 on h2, exit code 0
absent: , exit code 255
empty: 2 on this host, exit code 0
comments: 2 on this host, exit code 0
quotes: 1 "a, 1 b", 1 one, exit code 0
END
echo "as seen with Hydra 4.0.2"
