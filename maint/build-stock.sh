#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/build-stock.sh --prefix PREFIX --like MPI [--from TREE]

Builds stock MPICH $mpich_version with the configure options of another MPI (what its mpichversion
says), for comparison, and installs it into PREFIX. This takes a few minutes; nothing is done if
PREFIX has one already. The log is PREFIX.log.

  --prefix PREFIX  where to install; PREFIX-src and PREFIX-build are used, and removed at the end
  --like MPI       the prefix of the MPI with which it will be compared
  --from TREE      where the MPICH source comes from (default: see maint/get-mpich.sh)
  --help           this text

Environment: CC (default gcc).
Exit code: 0 installed, 1 failed (the reason is in the log), 2 wrong arguments.
EOF
}

prefix= from=() like=
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --prefix | --from | --like) [ $# -ge 2 ] || usage_error "$1 needs a value" ;;
        *) usage_error "unknown argument $1" ;;
    esac
    case $1 in
        --prefix) prefix=$2 ;;
        --from) from=(--from "$2") ;;
        --like) like=$2 ;;
    esac
    shift 2
done
[ -n "$prefix" ] || usage_error "--prefix is missing"
[ -n "$like" ] || usage_error "--like is missing"
[ ! -x "$prefix/bin/mpicc" ] || exit 0
[ -x "$like/bin/mpichversion" ] || die "no $like/bin/mpichversion: --like names no MPICH"
configured=$(LD_LIBRARY_PATH=$like/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    "$like/bin/mpichversion" -c | sed -n 's/^MPICH configure:[[:space:]]*//p')
[ -n "$configured" ] || die "$like/bin/mpichversion does not say how its MPI was configured"
mapfile -t flags < <(xargs -n1 printf '%s\n' <<<"$configured" | grep -v -e '^--prefix=' -e '^CC=')

mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
log=$prefix.log cc=${CC:-gcc}
say "building stock MPICH for comparison (a few minutes; log: $log)"
rm -rf "$prefix-src" "$prefix-build"
"$top_srcdir/maint/get-mpich.sh" ${from[@]+"${from[@]}"} "$prefix-src" >"$log" 2>&1 ||
    die "no MPICH source, see $log"
mkdir "$prefix-build"
# 'make bench' calls this with variables of its own, which MPICH's configure would take for its own
(unset top_srcdir top_builddir MAKEFLAGS MAKELEVEL MFLAGS
    cd "$prefix-build" && "$prefix-src/configure" --prefix="$prefix" CC="$cc" "${flags[@]}" &&
    make -j"$(nproc)" && make install) >>"$log" 2>&1 || die "stock MPICH did not build, see $log"
rm -rf "$prefix-src" "$prefix-build"
