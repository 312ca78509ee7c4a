#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1) with hwloc 2.9.0: mpiexec -bind-to core binds nothing where HWLOC_XMLFILE is
# set, leaves the CPUs that it was given itself, and skips a rank whose CPU is not there, each time without a word.
#
# mpiexec says of -bind-to "process-to-core binding"; hwloc(7) has HWLOC_XMLFILE, with which the processes of a large
# node need not look at its hardware each.  A guess: with a file that lstopo has written on this same host the ranks
# are bound as without it; under "taskset -c 1" they are bound within CPU 1, as the jobs of two users on one host need
# it; and "user:0,9999" of a host with fewer CPUs is refused.
# Seen: hwloc takes a file for another machine's, for which its calls to bind succeed and do nothing, so all ranks run
# anywhere (HWLOC_THISSYSTEM=1 helps).  Under taskset the first rank is on CPU 0.  Of "user:0,9999" the second rank is
# free.  So: ranks that share a core, or wander, are slow without a fault; "taskset -cp" of the ranks shows it.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no CPUs 0 and 1.
. "$(dirname "$0")/lib/hydra.sh" hwloc-nox=2.9.0-1
command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null ||
    { echo "SKIP: no CPUs 0 and 1"; exit 77; }
all=$(taskset -cp $$ | sed 's/.*: //')
usr/bin/lstopo-no-graphics host.xml 2>/dev/null

# Where the ranks run: free is all CPUs of this process.
run() {
    echo "$1: $(shift; "$@" 2>err | sort | sed "s/:$all\$/ free/; s/:/ on /" | paste -sd ';'), $([ -s err ] && echo 'an' || echo 'no') error"
}
where='echo "$PMI_RANK:$(taskset -cp $$ | sed "s/.*: //")"'
{
    run 'user:0,1' mpiexec "${local[@]}" -bind-to user:0,1 -n 2 sh -c "$where"
    run 'user:0,9999' mpiexec "${local[@]}" -bind-to user:0,9999 -n 2 sh -c "$where"
    export HWLOC_XMLFILE=$PWD/host.xml
    run 'user:0,1 HWLOC_XMLFILE' mpiexec "${local[@]}" -bind-to user:0,1 -n 2 sh -c "$where"
    run 'core HWLOC_XMLFILE' mpiexec "${local[@]}" -bind-to core -n 2 sh -c "$where"
    export HWLOC_THISSYSTEM=1
    run 'user:0,1 HWLOC_XMLFILE HWLOC_THISSYSTEM' mpiexec "${local[@]}" -bind-to user:0,1 -n 2 sh -c "$where"
    unset HWLOC_XMLFILE HWLOC_THISSYSTEM
    run 'taskset -c 1, core' taskset -c 1 timeout 60 "$hydra" "${local[@]}" -bind-to core -n 1 sh -c "$where" </dev/null |
        sed 's/on 0[-,0-9]*,/on CPU 0,/'
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
user:0,1: 0 on 0;1 on 1, no error
user:0,9999: 0 on 0;1 free, no error
user:0,1 HWLOC_XMLFILE: 0 free;1 free, no error
core HWLOC_XMLFILE: 0 free;1 free, no error
user:0,1 HWLOC_XMLFILE HWLOC_THISSYSTEM: 0 on 0;1 on 1, no error
taskset -c 1, core: 0 on CPU 0, no error
END
echo "as seen with Hydra 4.0.2 and hwloc 2.9.0"
