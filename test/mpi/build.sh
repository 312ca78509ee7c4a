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

Compiles the test programs (all, or those named) with PREFIX/bin/mpicc into FOLDER. A program that
is newer than its source and the compiler wrapper is not compiled again.

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
    for source in "$here"/*.c; do
        name=$(basename "$source" .c)
        [ "$name" = testutil ] || programs+=("$name")
    done
fi

# is_new TARGET PROGRAM: newer than its source, and than what several programs have in common.
is_new() {
    local file
    for file in "$2.c" testutil.c $(cd "$here" && echo *.h) \
        $(sed -n 's/^#include "\(.*\.c\)"$/\1/p' "$here/$2.c"); do
        [ "$1" -nt "$here/$file" ] || return 1
    done
}

mkdir -p "$out"
for name in "${programs[@]}"; do
    [ -f "$here/$name.c" ] || die 1 "there is no test program '$name' ($here/$name.c)"
    target=$out/$name
    if is_new "$target" "$name" && [ "$target" -nt "$mpi/bin/mpicc" ]; then
        continue
    fi
    "$mpi/bin/mpicc" -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -rdynamic -o "$target.tmp$$" \
        "$here/$name.c" "$here/testutil.c" -lpthread ||
        die 1 "cannot compile $name with $mpi/bin/mpicc"
    mv "$target.tmp$$" "$target"
done
