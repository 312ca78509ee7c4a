#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# numactl 2.0.16 (Debian 2.0.16-1): -N 0 gives a process CPUs that were taken from it by taskset(1); -C refuses the
# same.
#
# numactl(8) says of --all: "Unset default cpuset awareness, so user can use all possible CPUs/nodes".  A guess by that:
# without it, a process that a launcher has bound to some CPUs (a rank of many on a node) stays within them under
# "numactl -N 0", which binds it to those of them that are on node 0; and -C of a CPU outside is refused, or is allowed.
# Seen: -C of a CPU outside of the affinity that numactl was started with is refused, "out of range", with exit code 1.
# -N binds to all CPUs of the node, also those outside: the ranks of a node, each bound to a core of its own by mpiexec,
# share all cores after "mpiexec -bind-to core numactl -N 0 app".  -C +0-1 counts within the affinity.  So: use -m for
# the memory alone, and leave the CPUs to one of the two.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, one CPU alone or no NUMA in the
# kernel.
. "$(dirname "$0")/lib/packages.sh"
unpack 'numactl 2.0.16-1' numactl=2.0.16-1 libnuma1=2.0.16-1
export LD_LIBRARY_PATH=$libraries
usr/bin/numactl -N 0 true 2>err || { echo "SKIP: no NUMA here"; exit 77; }
# Two CPUs of node 0 that this process may use.
two=()
for cpu in $(usr/bin/numactl -N 0 usr/bin/numactl -s | sed -n 's/^physcpubind: //p'); do
    ! taskset -c "$cpu" true 2>/dev/null || two+=("$cpu")
done
[ ${#two[@]} -ge 2 ] || { echo "SKIP: needs two CPUs of node 0"; exit 77; }
# run WHAT OPTION: where a process is that numactl starts, and that has the second CPU alone.
run() {
    local code=0 where
    taskset -c "${two[1]}" usr/bin/numactl "$2" sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status >out 2>err || code=$?
    case $code:$(cat out) in
        0:"${two[1]}") where='on its own CPU' ;;
        0:*) where='on others, too' ;;
        *) where='not started' ;;
    esac
    echo "$1: $where, exit code $code"
}
{
    run '--localalloc' --localalloc
    run '-C of the other CPU' "--physcpubind=${two[0]}"
    run '-C +0' --physcpubind=+0
    run '-N 0' --cpunodebind=0
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
--localalloc: on its own CPU, exit code 0
-C of the other CPU: not started, exit code 1
-C +0: on its own CPU, exit code 0
-N 0: on others, too, exit code 0
END
echo "as seen with numactl 2.0.16"
