#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# HDF5 1.10.8 (Debian 1.10.8+repack1-1): h5diff has exit code 0, no differences, for a dataset that has lost its end.
#
# Where a node is suspected of silent data corruption, one compares its checkpoint with that of another run.  h5diff
# promises the exit code 1 for differences, 2 for an error.  A guess: 1 for a dataset that has other dimensions, or numbers
# of another class (integers for floating point), or that is in one of the files only.
# Seen: 0 for other dimensions and for another class, with "Some objects are not comparable" on standard output, and with
# -q, which scripts use, without a word.  A dataset that one file has not is exit code 1, and no line says which.
# So: a script looks for "not comparable", and -c has the names of those, -v that of a missing one.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack 'HDF5 1.10.8+repack1-1' hdf5-tools=1.10.8+repack1-1 libhdf5-103-1=1.10.8+repack1-1 libhdf5-hl-100=1.10.8+repack1-1 \
    libsz2=1.0.6-1+b1 libaec0=1.0.6-1+b1
export LD_LIBRARY_PATH=$libraries
[[ $(usr/bin/h5diff --version 2>&1) == *1.10.8* ]] || { echo "SKIP: it does not run here"; exit 77; }

# checkpoint NAME DATASET CLASS NUMBER...: a file with that dataset.
checkpoint() {
    local in=TEXTFP
    [ "$3" = FP ] || in=TEXTIN
    echo "${@:4}" >numbers
    printf '%s\n' "PATH $2" "INPUT-CLASS $in" 'INPUT-SIZE 32' 'RANK 1' "DIMENSION-SIZES $(($# - 3))" \
        "OUTPUT-CLASS $3" 'OUTPUT-SIZE 32' >layout
    usr/bin/h5import numbers -c layout -o "$1" >import.out
}
checkpoint right.h5 x FP 1.0 2.0 3.0 4.0
checkpoint value.h5 x FP 1.0 2.0 3.0 5.0
checkpoint short.h5 x FP 1.0 2.0 3.0
checkpoint class.h5 x IN 1 2 3 4
checkpoint name.h5 y FP 1.0 2.0 3.0 4.0

compare() {
    local code=0
    usr/bin/h5diff "$@" >out 2>&1 </dev/null || code=$?
    echo "h5diff $*: exit code $code, '$(grep -v '^-*$' out | paste -sd' ')'"
}
{
    compare right.h5 right.h5
    compare right.h5 value.h5
    compare right.h5 short.h5
    compare -q right.h5 short.h5
    compare -c right.h5 short.h5
    compare right.h5 class.h5
    compare -q right.h5 class.h5
    compare right.h5 name.h5
    compare right.h5 absent.h5
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
h5diff right.h5 right.h5: exit code 0, ''
h5diff right.h5 value.h5: exit code 1, 'dataset: </x> and </x> 1 differences found'
h5diff right.h5 short.h5: exit code 0, 'Some objects are not comparable Use -c for a list of objects.'
h5diff -q right.h5 short.h5: exit code 0, ''
h5diff -c right.h5 short.h5: exit code 0, 'Not comparable: </x> has rank 1, dimensions [4], max dimensions [4] and </x> has rank 1, dimensions [3], max dimensions [3]'
h5diff right.h5 class.h5: exit code 0, 'Some objects are not comparable Use -c for a list of objects.'
h5diff -q right.h5 class.h5: exit code 0, ''
h5diff right.h5 name.h5: exit code 1, ''
h5diff right.h5 absent.h5: exit code 2, 'h5diff: <absent.h5>: unable to open file'
END
echo "as seen with HDF5 1.10.8"
