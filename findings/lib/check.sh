##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about Check 0.15.2: it is unpacked in a temporary folder, in which the script goes on.  compile NAME
# makes a test program from the C text on its standard input.
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
unpack 'check 0.15.2-2+b1' check=0.15.2-2+b1 libsubunit0=1.4.0-3 libsubunit-dev=1.4.0-3
export LD_LIBRARY_PATH=$libraries
compile() {
    gcc -w -x c -I"$PWD/usr/include" -o "$1" - -L"$LD_LIBRARY_PATH" -lcheck_pic -lsubunit -pthread -lrt -lm
}
