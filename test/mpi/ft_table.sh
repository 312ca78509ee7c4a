#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
set -euo pipefail

usage() {
    cat <<'END'
Usage: test/mpi/ft_table.sh --source DIR --mpi PREFIX [--stock PREFIX] [--limit S] [PROGRAM...]

Runs the programs of MPICH's own test/mpi/ft (all of its testlist, or those named), each as the
testlist says, and prints a table of which pass: with stock MPICH, and with FaultLoc. A program passes if it ends in time and prints " No Errors" (abort: if mpiexec's
exit code is not 0). "hangs": it did not end in time; "crashes": a
signal ended a rank that was not to be lost.

  --source DIR    the source tree of MPICH 4.0.2
  --mpi PREFIX    the patched MPI
  --stock PREFIX  a stock MPICH 4.0.2 (left out: no such column)
  --limit S       seconds that a program may take (10, as its testlist says)
  --help          this text

Exit code: 0 the table is complete, 1 a program did not compile, 2 wrong usage.
END
}

die() { echo "ft_table.sh: $2" >&2; exit "$1"; }

source= mpi= stock= limit=10 only=()
while [ $# -gt 0 ]; do
    case $1 in
        --source) source=${2:?--source wants a folder}; shift 2 ;;
        --mpi) mpi=${2:?--mpi wants a prefix}; shift 2 ;;
        --stock) stock=${2:?--stock wants a prefix}; shift 2 ;;
        --limit) limit=${2:?--limit wants seconds}; shift 2 ;;
        --help | -h) usage; exit 0 ;;
        -*) die 2 "unknown option $1; see --help" ;;
        *) only+=("$1"); shift ;;
    esac
done
if [ -z "$source" ] || [ -z "$mpi" ]; then die 2 "--source and --mpi are needed; see --help"; fi
[ -f "$source/test/mpi/ft/testlist" ] || die 2 "no $source/test/mpi/ft/testlist: name MPICH's source"
for prefix in "$mpi" ${stock:+"$stock"}; do
    [ -x "$prefix/bin/mpicc" ] || die 2 "no $prefix/bin/mpicc: name the folder of an installed MPI"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# All that the programs use of MPICH's test library.
cat >"$work/mpitest.h" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MTestReturnValue(errors) ((errors) != 0)
#define MTest_Init(argc, argv) MPI_Init(argc, argv)
#define MTest_Finalize(errors) (printf("%s", (errors) ? "" : " No Errors\n"), MPI_Finalize())
END

# outcome PREFIX FAULTLOC NAME RANKS ARG...
outcome() {
    local prefix=$1 value=$2 name=$3 ranks=$4 code=0
    shift 4
    MPIR_CVAR_ENABLE_FT=1 MPIR_CVAR_FAULTLOC=$value \
        MPIR_CVAR_FAULTLOC_REPORT='' timeout -s INT -k 5 "$limit" "$prefix/bin/mpiexec" "$@" \
        -n "$ranks" "$work/bin/$name" </dev/null >"$work/out" 2>&1 || code=$?
    if [ $code -eq 124 ] || [ $code -eq 137 ]; then
        echo hangs
    elif [ "$name" = abort ]; then
        if [ $code -ne 0 ]; then echo passes; else echo fails; fi
    elif grep -q 'Assertion failed\|Segmentation fault\|signal 11\|signal 6' "$work/out"; then
        echo crashes
    elif grep -q ' No [Ee]rrors' "$work/out"; then
        echo passes
    else
        echo fails
    fi
}

columns="with FaultLoc"
[ -z "$stock" ] || columns="stock | $columns"
echo "| program | ranks | $columns |"
echo "|---|---|---|${stock:+---|}"
mkdir "$work/bin"
while read -r name ranks rest; do
    case $name in '' | '#'*) continue ;; esac
    [ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " = *" $name "* ]] || continue
    args=()
    for word in $rest; do
        case $word in mpiexecarg=*) args+=("${word#mpiexecarg=}") ;; esac
    done
    row=
    for prefix in ${stock:+"$stock"} "$mpi"; do
        "$prefix/bin/mpicc" -w -I"$work" -o "$work/bin/$name" "$source/test/mpi/ft/$name.c" \
            >"$work/cc" 2>&1 || { cat "$work/cc" >&2; die 1 "$name does not compile"; }
        value=0
        [ "$prefix" != "$mpi" ] || value=1
        row="$row $(outcome "$prefix" "$value" "$name" "$ranks" "${args[@]}") |"
    done
    echo "| $name | $ranks |$row"
done <"$source/test/mpi/ft/testlist"
