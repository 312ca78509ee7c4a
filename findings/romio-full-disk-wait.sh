#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1), ROMIO: a nonblocking write that fails never ends.
#
# MPI_File_iwrite_at() is completed by MPI_Wait() or MPI_Test(), which say whether it went well.  A guess: on a disk
# that is full to the last byte they return at once, with an error of class MPI_ERR_NO_SPACE or MPI_ERR_IO, as
# MPI_File_write_at() does.
# Seen: MPI_Test() says "not yet" for as long as it is asked, and MPI_Wait() does not return: ROMIO asks the C library
# (aio_error(3)), which answers ENOSPC, and looks for nothing but success.  The rank computes at full speed, in
# progress of MPI, and says nothing.  (Where a part of the data fits, it succeeds with a smaller count.)  So: a rank
# that waits, and for no other, may wait for a disk; "df" of the disk it writes to shows it, and no peer is at fault.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/disk.sh"
disk 64k

compile wait <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static const char *text(int rc)
{
    int class = MPI_SUCCESS;

    if (rc)
        MPI_Error_class(rc, &class);
    return class == MPI_SUCCESS ? "success" : class == MPI_ERR_IO ? "I/O error" : "another error";
}

int main(void)
{
    static char data[64 << 10];
    MPI_File file;
    MPI_Request request;
    double begin;
    int rc, done;

    MPI_Init(NULL, NULL);
    MPI_File_open(MPI_COMM_WORLD, "full/file", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE);
    printf("write_at: %s\n", text(MPI_File_write_at(file, sizeof(data), data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE)));
    printf("iwrite_at: %s\n", text(MPI_File_iwrite_at(file, sizeof(data), data, sizeof(data), MPI_BYTE, &request)));
    begin = MPI_Wtime();
    do {
        rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    } while (!rc && !done && MPI_Wtime() < begin + 5);
    printf("test for 5 s: %s, %s\n", text(rc), done ? "done" : "not yet");
    fflush(stdout);
    alarm(5);
    printf("wait: %s\n", text(MPI_Wait(&request, MPI_STATUS_IGNORE)));
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
END
mpiexec "${local[@]}" -n 1 ./wait >out 2>err || :
sed -n -e '/^[a-z_ 5]*: /p' -e 's/.*Alarm clock.*/wait: no end in 5 s/p' out err | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
write_at: I/O error
iwrite_at: success
test for 5 s: success, not yet
wait: no end in 5 s
END
echo "as seen with MPICH 4.0.2"
