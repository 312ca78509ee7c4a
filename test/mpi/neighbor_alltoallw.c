/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* MPI_Neighbor_alltoallw where ranks have not as many sources as destinations: all send a word to
 * rank 0, which sends none.  Counts of neighbours that a rank has not are not to be looked at.
 * Stock MPICH
 * 4.0.2 sends so many words as such a count says, and fails or hangs.
 *
 * neighbor_alltoallw */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

#define RANKS 4 /* at most */

int main(int argc, char **argv)
{
    int rank, size, failures = 0, sources[RANKS], root = 0, out[2], in[2 * RANKS] = {0};
    int out_count = 1, in_counts[RANKS];
    MPI_Aint out_at = 0, in_at[RANKS];
    MPI_Datatype out_type = MPI_INT, in_types[RANKS];
    MPI_Comm graph;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS)
        tu_fail("neighbor_alltoallw", "no more than four ranks, please");
    for (int i = 0; i < RANKS; i++) {
        sources[i] = i + 1;
        in_counts[i] = rank == 0 ? 1 : 2;
        in_at[i] = (MPI_Aint) sizeof(int) * 2 * i;
        in_types[i] = MPI_INT;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? size - 1 : 0, sources,
                                   MPI_UNWEIGHTED, rank == 0 ? 0 : 1, &root, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    out[0] = out[1] = 10 * rank;
    MPI_Neighbor_alltoallw(out, &out_count, &out_at, &out_type, in, in_counts, in_at, in_types,
                           graph);
    for (int i = 1; i < size && rank == 0; i++)
        failures += in[2 * (i - 1)] != 10 * i || in[2 * (i - 1) + 1] != 0;
    if (rank == 0 && failures == 0)
        printf("neighbor_alltoallw: right\n");
    MPI_Comm_free(&graph);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    if (failures > 0)
        fprintf(stderr, "neighbor_alltoallw: %d words are wrong\n", failures);
    return failures != 0;
}
