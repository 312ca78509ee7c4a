#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): with -disable-auto-cleanup a rank that a signal ends still takes the ranks of
# its host with it, as soon as one of them prints.
#
# mpiexec says of -disable-auto-cleanup "don't cleanup processes on error"; it is what programs that go on after the loss of
# a rank (MPIX_Comm_failure_ack) are started with.  A guess by that: after a kill -9 of one rank, by the kernel for want
# of memory, say, the others live on, wherever they are.
# Seen: it is so for ranks of other hosts, and for a rank that calls exit(3).  After a signal the proxy kills all ranks of
# its host when it sees the end, which it looks for only after something else has happened, such as a line of output:
# silent ranks may live, by chance.  Nothing is said of it.  So: that a program survives exit(3) in a test does not show
# that it survives a crash; test with kill -9, and with output.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

# Ranks, as clients of PMI-1.  Rank 1 ends as it is told; then rank 0 prints a line, and later each says that it lives.
cat >rank.sh <<'END'
trap '' USR1
eval "exec 3<&$PMI_FD 4>&$PMI_FD"
pmi() { echo "cmd=$1" >&4; read -r answer <&3; }
pmi 'init pmi_version=1 pmi_subversion=1'
pmi barrier_in
if [ "$PMI_RANK" = 1 ]; then sleep 1; eval "$1"; fi
sleep 3
if [ "$PMI_RANK" = 0 ]; then echo 'a line'; fi
sleep 2
echo "rank $PMI_RANK"
pmi finalize
END
run() {
    local how=$1
    shift
    mpiexec "$@" -disable-auto-cleanup -n 4 bash "$PWD/rank.sh" "$how" >out 2>&1 || :
    echo "$(grep '^rank' out | sort | paste -sd, | sed 's/^$/no rank/') of 0, 2, 3"
}
{
    echo "exit 3: $(run 'exit 3' "${local[@]}")"
    echo "kill -9: $(run 'kill -9 $$' "${local[@]}")"
    echo "kill -9, ranks 0 and 1 on another host than 2 and 3: $(run 'kill -9 $$' "${ssh[@]}" -hosts h1,h2 -ppn 2)"
} | sed 's/: /: lives on: /' | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
exit 3: lives on: rank 0,rank 2,rank 3 of 0, 2, 3
kill -9: lives on: no rank of 0, 2, 3
kill -9, ranks 0 and 1 on another host than 2 and 3: lives on: rank 2,rank 3 of 0, 2, 3
END
echo "as seen with Hydra 4.0.2"
