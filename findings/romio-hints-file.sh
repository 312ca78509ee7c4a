#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1), ROMIO: a file of ROMIO_HINTS that is not there, or that has "=" in its lines, is as none.
#
# ROMIO_HINTS names a file with hints for each MPI_File_open(), for programs that cannot be changed.  A guess: a file that
# cannot be read, or a line that is not understood, is an error or a warning of MPI_File_open().
# Seen: "romio_cb_write disable" is taken; "romio_cb_write=disable", a file that is not there, and a hint with a misspelt name
# change nothing, and nothing is said.  So: a measurement with and without a hint may be of the same thing twice; ask by
# MPI_File_get_info(), or set ROMIO_PRINT_HINTS=1.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile open <<'END'
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    MPI_File file;
    MPI_Info info;
    char value[100];
    int rc, there;

    MPI_Init(NULL, NULL);
    rc = MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "romio_cb_write", sizeof(value) - 1, value, &there);
    printf("%s, romio_cb_write is %s\n", rc ? "error" : "success", there ? value : "not there");
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
END
echo 'romio_cb_write disable' >good
echo 'romio_cb_write=disable' >equals
echo 'romio_cb_wirte disable' >misspelt
{
    for file in good equals misspelt nosuch; do
        # shellcheck disable=SC2154 # of lib/hydra.sh
        echo "$file: $(ROMIO_HINTS=$PWD/$file mpiexec "${local[@]}" -n 1 ./open 2>err)," \
            "$(grep -c . err || :) lines of errors"
    done
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
good: success, romio_cb_write is disable, 0 lines of errors
equals: success, romio_cb_write is automatic, 0 lines of errors
misspelt: success, romio_cb_write is automatic, 0 lines of errors
nosuch: success, romio_cb_write is automatic, 0 lines of errors
END
echo "as seen with MPICH 4.0.2"
