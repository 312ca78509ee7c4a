#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1): a tool that wraps MPI_Send() and MPI_Wait() sees of a Fortran program with "use
# mpi_f08" the sends, and not the waits.
#
# A tool puts functions of the same names before MPICH's and calls PMPI_Send() and the like.  In a Fortran program with
# "use mpi", MPICH's Fortran library calls the C functions, so it is seen whole.  A guess by that: with "use mpi_f08",
# the standard's newer module for the same calls, it is, too; or nothing is.
# Seen: what has a buffer (MPI_Send, MPI_Irecv, MPI_Allreduce) is seen, what has none is not: MPI_Init, MPI_Wait,
# MPI_Barrier, MPI_Comm_dup, MPI_Finalize call PMPI_ by themselves.  So a tool that begins in MPI_Init and writes its
# result in MPI_Finalize does neither, one that pairs each MPI_Irecv with its wait has requests that never end, and one
# that looks for the last call of each rank takes a barrier for a computation.  So: such a tool wraps the Fortran names
# as well.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages or gfortran are not to be had.
. "$(dirname "$0")/lib/mpich.sh"
module=$(dirname "$(find "$PWD/usr" -name mpi_f08.mod | head -n 1)")

cat >f08.f90 <<'END'
program f08
    use mpi_f08
    implicit none
    integer :: rank, buffer, total
    type(MPI_Comm) :: comm
    type(MPI_Request) :: request

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) then
        call MPI_Send(rank, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
    else
        call MPI_Irecv(buffer, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Finalize()
end program
END
# The same, in the older module: handles are integers, and the last argument is not left out.
sed -e 's/use mpi_f08/use mpi/; s/type(MPI_[A-Za-z]*)/integer/; s/rank, buffer/rank, buffer, ierr/' \
    -e 's/\(call .*\))$/\1, ierr)/; s/(, /(/' f08.f90 >f90.f90
for source in f08 f90; do
    gfortran -w -I"$module" -o "$source" $source.f90 -L"$LD_LIBRARY_PATH" -l:libmpichfort.so.12 -l:libmpich.so.12 \
        2>err || { echo "SKIP: no gfortran that reads MPICH's modules: $(tail -n 1 err)"; exit 77; }
done
gcc -w -shared -fPIC -I"$include" -o tool.so -x c - <<'END'
#include <mpi.h>
#include <stdio.h>
#define SEES(name, parameters, arguments) \
    int MPI_##name parameters \
    { \
        fprintf(stderr, " %s\n", #name); \
        return PMPI_##name arguments; \
    }
SEES(Init, (int *c, char ***v), (c, v))
SEES(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
SEES(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, from, tag, c, r))
SEES(Wait, (MPI_Request *r, MPI_Status *s), (r, s))
SEES(Barrier, (MPI_Comm c), (c))
SEES(Allreduce, (const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, r, n, t, o, c))
SEES(Comm_dup, (MPI_Comm c, MPI_Comm *d), (c, d))
SEES(Finalize, (void), ())
END
run() {
    echo "$1"
    mpiexec "${local[@]}" -n 2 -genv LD_PRELOAD "$PWD/tool.so" "./$2" 2>&1 | LC_ALL=C sort -u
}
{
    run 'use mpi' f90
    run 'use mpi_f08' f08
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
use mpi
 Allreduce
 Barrier
 Comm_dup
 Finalize
 Init
 Irecv
 Send
 Wait
use mpi_f08
 Allreduce
 Irecv
 Send
END
echo "as seen with MPICH 4.0.2"
