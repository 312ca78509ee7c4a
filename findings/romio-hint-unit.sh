#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1), ROMIO: the hint cb_buffer_size=16M makes a buffer of 16 bytes.
#
# ROMIO's hints are given by MPI_Info, or in the file that ROMIO_HINTS names.  The standard has a hint that is not
# understood ignored, and MPI_File_get_info() tells the ones in use.  A guess by that: "16M", as dd and file systems'
# tools write it, is 16 MiB, or the default holds (16777216), and MPI_File_get_info() says which.
# Seen: the digits count alone, and the text stands: MPI_File_get_info() says "16M", and MPI_File_write_all() writes 16
# bytes at a time, with an exchange between all ranks for each (ind_wr_buffer_size=4M: MPI_File_write() with 4 bytes at
# a time). The file is right in the end.  So: a job that hangs in MPI_File_write_all may be at work; sizes in hints are
# in bytes.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile hint <<'END'
#include <mpi.h>
#include <stdio.h>

/* The calls of write(2) and its like that this process has made. */
static long calls(void)
{
    char line[80];
    long n = -1;
    FILE *io = fopen("/proc/self/io", "r");

    while (io && fgets(line, sizeof(line), io) && sscanf(line, "syscw: %ld", &n) != 1)
        ;
    if (io)
        fclose(io);
    return n;
}

int main(int argc, char **argv)
{
    static char data[4096];
    char value[80] = "";
    MPI_Datatype blocks;
    MPI_File file;
    MPI_Info info, used;
    int rank, found;
    long n;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", argv[1]);
    MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "cb_buffer_size", sizeof(value) - 1, value, &found);
    MPI_Type_vector(4, 1024, 2048, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    MPI_File_set_view(file, rank * 1024, MPI_BYTE, blocks, "native", MPI_INFO_NULL);
    n = calls();
    MPI_File_write_all(file, data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE);
    n = calls() - n;
    if (rank == 0)
        printf("cb_buffer_size=%s, in use %s: 8192 bytes in %s\n", argv[1], value,
               n >= 8192 / 16 ? "pieces of 16 bytes" : "some few writes");
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
END
{
    mpiexec "${local[@]}" -n 2 ./hint 16777216 2>err
    mpiexec "${local[@]}" -n 2 ./hint 16M 2>err
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
cb_buffer_size=16777216, in use 16777216: 8192 bytes in some few writes
cb_buffer_size=16M, in use 16M: 8192 bytes in pieces of 16 bytes
END
echo "as seen with MPICH 4.0.2"
