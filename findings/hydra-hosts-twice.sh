#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): a host that is named twice, with another between, is two nodes to MPI.
#
# -hosts and -f take a list of hosts, in which the same name in sequence adds up ("h1,h1" is "h1:2").  A guess by that:
# "h1,h2,h1,h2", which is what a batch system that deals out slots in turn writes, places the ranks in turn, and ranks 0
# and 2 are on one node: they share memory (MPI_COMM_TYPE_SHARED).
# Seen: the ranks are placed so, and each is alone on a node of its own: a proxy is started for each mention, and no
# two of these nodes share memory or MPI_Win_allocate_shared.  "h1:1,h2:1" with four ranks places them the same way, and
# there are two nodes with two ranks each.  So: sort such a list, or name each host once; and a tool that
# counts nodes asks for the names of the hosts.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile node <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm node;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    printf(" rank %d on %s, %d on its node\n", rank, getenv("HOST"), size);
    MPI_Finalize();
    return 0;
}
END
run() {
    echo "$1"
    mpiexec "${ssh[@]}" -hosts "$1" -n 4 "$PWD/node" 2>err | sort
}
{
    run h1,h2,h1,h2
    run h1:1,h2:1
    run h1,h1,h2,h2
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
h1,h2,h1,h2
 rank 0 on h1, 1 on its node
 rank 1 on h2, 1 on its node
 rank 2 on h1, 1 on its node
 rank 3 on h2, 1 on its node
h1:1,h2:1
 rank 0 on h1, 2 on its node
 rank 1 on h2, 2 on its node
 rank 2 on h1, 2 on its node
 rank 3 on h2, 2 on its node
h1,h1,h2,h2
 rank 0 on h1, 2 on its node
 rank 1 on h1, 2 on its node
 rank 2 on h2, 2 on its node
 rank 3 on h2, 2 on its node
END
echo "as seen with Hydra 4.0.2"
