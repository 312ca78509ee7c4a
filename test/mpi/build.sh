#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<'END'
Usage: test/mpi/build.sh --mpi PREFIX --out FOLDER [PROGRAM...]

Compiles the test programs (all, or those named) with PREFIX/bin/mpicc into FOLDER, those in Fortran
with PREFIX/bin/mpifort, or not at all where there is none. A program that is newer than its source
and the compiler wrapper is not compiled again.

  --mpi PREFIX   where the MPI is installed
  --out FOLDER   where the programs go; it is made if necessary
  --help         this text

Exit code: 0 all compiled, 1 a program did not compile, 2 wrong usage.
END
}

die() { echo "build.sh: $2" >&2; exit "$1"; }

mpi=
out=
programs=()
while [ $# -gt 0 ]; do
    case $1 in
        --mpi) mpi=${2:?--mpi needs a prefix}; shift 2 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        --help | -h) usage; exit 0 ;;
        -*) die 2 "unknown option $1; see --help" ;;
        *) programs+=("$1"); shift ;;
    esac
done
[ -n "$mpi" ] && [ -n "$out" ] || die 2 "--mpi and --out are needed; see --help"
[ -x "$mpi/bin/mpicc" ] || die 1 "no $mpi/bin/mpicc: install the MPI there or name another --mpi"

if [ ${#programs[@]} -eq 0 ]; then
    for source in "$here"/*.c "$here"/*.F90; do
        name=$(basename "${source%.*}")
        [ "$name" = testutil ] || { [[ $source == *.F90 ]] && [ ! -x "$mpi/bin/mpifort" ]; } ||
            programs+=("$name")
    done
fi

source_of() { if [ -f "$here/$1.F90" ]; then echo "$1.F90"; else echo "$1.c"; fi; }

# is_new TARGET PROGRAM: newer than its source, and than what several programs have in common.
is_new() {
    local file
    for file in "$(source_of "$2")" testutil.c $(cd "$here" && echo *.h) \
        $(sed -n 's/^#include "\(.*\.\(c\|F90\)\)"$/\1/p' "$here/$(source_of "$2")"); do
        [ "$1" -nt "$here/$file" ] || return 1
    done
}

# compile TARGET PROGRAM
compile() {
    local flags=(-O2 -g -Wall -Wextra -rdynamic)
    if [ -f "$here/$2.c" ]; then
        "$mpi/bin/mpicc" -std=c11 -D_GNU_SOURCE "${flags[@]}" -I"$here/../../src/mpid/ch4" \
            -I"$here/../../src/util/ftree" -I"$here/../../src/util" -o "$1" "$here/$2.c" \
            "$here/testutil.c" -lpthread -lm
        return
    fi
    # mpif.h has a parameter for each constant
    [ -x "$mpi/bin/mpifort" ] || die 1 "no $mpi/bin/mpifort: this MPI was built without Fortran"
    "$mpi/bin/mpicc" -std=c11 -D_GNU_SOURCE -O2 -g -c -o "$1.o" "$here/testutil.c" &&
        "$mpi/bin/mpifort" "${flags[@]}" -Wno-unused-parameter -J "$out" -o "$1" "$here/$2.F90" \
            "$1.o" && rm "$1.o"
}

mkdir -p "$out"
for name in "${programs[@]}"; do
    [ -f "$here/$(source_of "$name")" ] ||
        die 1 "there is no test program '$name' ($here/$name.c)"
    target=$out/$name
    if is_new "$target" "$name" && [ "$target" -nt "$mpi/bin/mpicc" ]; then
        continue
    fi
    compile "$target.tmp$$" "$name" || die 1 "cannot compile $name with the compilers of $mpi/bin"
    mv "$target.tmp$$" "$target"
done
