##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about MPI of MPICH 4.0.2: Hydra, and the library with it.  compile NAME makes a program from the C text
# on its standard input.
. "$(dirname "${BASH_SOURCE[0]}")/hydra.sh" libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1 libucx0=1.13.1-1 \
    libnuma1=2.0.16-1
include=$(dirname "$(find "$PWD/usr" -name mpi.h)")
compile() { gcc -w -x c -I"$include" -o "$1" - -L"$LD_LIBRARY_PATH" -l:libmpich.so.12; }
