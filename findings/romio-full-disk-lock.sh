#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1), ROMIO: after one rank's write has found the disk full, another's write to the same
# file does not come back.
#
# MPI_File_write() of a view with gaps reads a stretch, puts the pieces in, and writes it back ("data sieving"), under
# a lock of the stretch (fcntl).  A guess: where that fails, the caller has an error, the lock is given back, and the
# next rank has its own error.
# Seen: the first one has its error and keeps the lock; a rank whose stretch overlaps waits in fcntl(F_SETLKW) while
# the first one lives, also where that is in a barrier.  MPI_File_close() of the first one, which gives back all locks
# of the process, is collective, so it does not come to that.  So: such a job looks like one in which a rank has not
# come to a barrier, and the cause is the disk of minutes before.  With romio_ds_write=disable each rank has its error.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/disk.sh"
disk 256k

compile sieve <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char data[1 << 20];
    MPI_Datatype blocks;
    MPI_File file;
    MPI_Info info;
    int rank, rc;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", argv[1]);
    MPI_File_open(MPI_COMM_WORLD, "full/file", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_File_set_size(file, 0);
    MPI_Type_vector(256, 4096, 8192, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    MPI_File_set_view(file, rank * 4096, MPI_BYTE, blocks, "native", MPI_INFO_NULL);
    if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        alarm(5);
    }
    rc = MPI_File_write(file, data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE);
    printf(" rank %d: %s\n", rank, rc ? "error" : "success");
    fflush(stdout);
    alarm(0);
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
END
run() {
    echo "romio_ds_write=$1"
    mpiexec "${local[@]}" -n 2 ./sieve "$1" >out 2>err || :
    sed -n -e '/^ rank/p' -e 's/.*\(Alarm clock\).*/ rank 1: in its write after 5 s/p' out err
}
{
    run automatic
    run disable
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
romio_ds_write=automatic
 rank 0: error
 rank 1: in its write after 5 s
romio_ds_write=disable
 rank 0: error
 rank 1: error
END
echo "as seen with MPICH 4.0.2"
