#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1), ROMIO: on a full disk MPI_File_iwrite_at_all() succeeds, with the count of what was
# not written.
#
# The default handler of files is MPI_ERRORS_RETURN, and MPI has the class MPI_ERR_NO_SPACE.  A guess by that: a write
# that finds the disk full has an error of this class, the nonblocking one when it is waited for; and of a collective
# one all ranks learn, at the latest when the file is closed.
# Seen: the blocking calls have an error of class MPI_ERR_IO, whose text alone says "No space left on device"; of
# MPI_File_write_at_all() all ranks learn where their pieces are interleaved, and only the one whose write failed where
# each has a stretch of its own.  The nonblocking ones have MPI_SUCCESS: MPI_File_iwrite_at() with a count that is too
# small, and MPI_File_iwrite_at_all() with the whole count on all ranks.  MPI_File_sync() and MPI_File_close() succeed,
# too.  So: after a nonblocking write compare the count, and after a collective one the size of the file.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/disk.sh"
disk 512k

compile full.write <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static MPI_File file;

static void show(const char *what, int rc, MPI_Status *status, int asked)
{
    char mine[64], other[64];
    int class = MPI_SUCCESS, count = 0;

    if (rc)
        MPI_Error_class(rc, &class);
    if (!rc && status)
        MPI_Get_count(status, MPI_BYTE, &count);
    sprintf(mine, "%s%s", class == MPI_SUCCESS ? "success" : class == MPI_ERR_NO_SPACE ? "no space" :
            class == MPI_ERR_IO ? "I/O error" : "another error",
            rc || !status ? "" : count == asked ? ", all" : ", less");
    MPI_Sendrecv(mine, 64, MPI_CHAR, 1 - rank, 0, other, 64, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%s: rank 0 %s; rank 1 %s\n", what, mine, other);
    MPI_File_set_size(file, 4096);
}

/* A rank writes count bytes from offset, together with the other. */
static void writes(const char *layout, MPI_Offset offset, const void *data, int count)
{
    char what[80];
    MPI_Status status;
    MPI_Request request;
    int rc;

    sprintf(what, "%s, write_at_all", layout);
    rc = MPI_File_write_at_all(file, offset, data, count, MPI_BYTE, &status);
    show(what, rc, &status, count);
    sprintf(what, "%s, iwrite_at_all and wait", layout);
    rc = MPI_File_iwrite_at_all(file, offset, data, count, MPI_BYTE, &request);
    if (!rc)
        rc = MPI_Wait(&request, &status);
    show(what, rc, &status, count);
}

int main(void)
{
    static char data[1 << 20];
    MPI_Datatype blocks;
    MPI_Status status;
    MPI_Request request;
    int rc, count;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "full/file", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    /* Rank 0's stretch is there before; rank 1's does not fit. */
    count = rank == 0 ? 4096 : sizeof(data);
    if (rank == 0)
        MPI_File_write_at(file, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    rc = MPI_File_write_at(file, rank * 4096, data, count, MPI_BYTE, &status);
    show("a stretch each, write_at", rc, &status, count);
    rc = MPI_File_iwrite_at(file, rank * 4096, data, count, MPI_BYTE, &request);
    if (!rc)
        rc = MPI_Wait(&request, &status);
    show("a stretch each, iwrite_at and wait", rc, &status, count);
    writes("a stretch each", rank * 4096, data, count);
    MPI_Type_vector(256, 4096, 8192, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    MPI_File_set_view(file, rank * 4096, MPI_BYTE, blocks, "native", MPI_INFO_NULL);
    writes("interleaved", 0, data, sizeof(data));
    show("sync", MPI_File_sync(file), NULL, 0);
    rc = MPI_File_close(&file);
    if (rank == 0)
        puts(rc ? "close: error" : "close: success");
    MPI_Finalize();
    return 0;
}
END
mpiexec "${local[@]}" -n 2 ./full.write 2>err | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
a stretch each, write_at: rank 0 success, all; rank 1 I/O error
a stretch each, iwrite_at and wait: rank 0 success, all; rank 1 success, less
a stretch each, write_at_all: rank 0 success, all; rank 1 I/O error
a stretch each, iwrite_at_all and wait: rank 0 success, all; rank 1 success, all
interleaved, write_at_all: rank 0 I/O error; rank 1 I/O error
interleaved, iwrite_at_all and wait: rank 0 success, all; rank 1 success, all
sync: rank 0 success; rank 1 success
close: success
END
echo "as seen with MPICH 4.0.2"
