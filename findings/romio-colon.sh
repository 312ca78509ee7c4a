#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1), ROMIO: a file whose path has a colon cannot be opened, "Other I/O error", or is
# another file.
#
# A checkpoint is named by the time, "run-12:30.dat", or is in a folder that is.  A guess: MPI_File_open() opens what
# open(2) would; only "nfs:" or "ufs:" at the beginning choose a file system.
# Seen: what is before the first colon, wherever it stands, is taken for the name of a file system: each path
# with another colon is refused, by MPI_File_delete() as well, and the error's text does not say why.  With "ufs:" before it
# a path is opened, and may have colons itself; a file that is named "nfs:x" is x.  So: programs that take names of files
# from users put "ufs:" before those with a colon.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no compiler.
. "$(dirname "$0")/lib/mpich.sh"
command -v gcc >/dev/null || { echo "SKIP: no compiler"; exit 77; }
compile name <<'END'
#include <mpi.h>
#include <stdio.h>

static const char *text(int rc)
{
    static char s[MPI_MAX_ERROR_STRING];
    int class, n;

    MPI_Error_class(rc, &class);
    MPI_Error_string(class, s, &n);
    return s;
}

int main(int argc, char **argv)
{
    MPI_File f;
    int i, rc;

    MPI_Init(&argc, &argv);
    for (i = 1; i < argc; i++) {
        rc = MPI_File_open(MPI_COMM_SELF, argv[i], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
        printf("%s: %s", argv[i], rc ? text(rc) : "opened");
        if (rc) {
            rc = MPI_File_delete(argv[i], MPI_INFO_NULL);
            printf("; to delete it: %s", rc ? text(rc) : "deleted");
        } else {
            MPI_File_close(&f);
        }
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
END
mkdir files files/12:30
cd files
touch run-12:30.dat
mpiexec -n 1 ../name plain run-12:30.dat ./run-12:30.dat 12:30/run ufs:run-12:40.dat nfs:x >../seen 2>../errors || :
find . -type f | LC_ALL=C sort | paste -sd' ' >>../seen
cat ../seen
diff - ../seen <<'END' || { cat ../errors; echo "it is otherwise now"; exit 1; }
plain: opened
run-12:30.dat: Other I/O error ; to delete it: Other I/O error 
./run-12:30.dat: Other I/O error ; to delete it: Other I/O error 
12:30/run: Other I/O error ; to delete it: Other I/O error 
ufs:run-12:40.dat: opened
nfs:x: opened
./plain ./run-12:30.dat ./run-12:40.dat ./x
END
echo "as seen with MPICH 4.0.2"
