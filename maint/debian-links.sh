#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/debian-links.sh [--remove] DIR [TO]

Makes links in the folder DIR to the MPICH libraries in TO (DIR itself) under the names by which
programs that were linked with Debian's packages look for them: libmpich.so.12 for libmpi.so.12, and
likewise those of Fortran and C++ where they are there. 'make install' calls it with
configure --enable-debian-links.

  --remove   removes them
  --help     this text

Exit code: 0 done, 1 no libmpi.so.12 in TO, 2 wrong arguments.
EOF
}

# is_ours LINK LIBRARY: nothing is there, or a link of this script; another's stays.
is_ours() {
    if [ ! -L "$1" ] && [ ! -e "$1" ]; then return 0; fi
    [ -L "$1" ] && [ "$(basename "$(readlink "$1")")" = "$2" ] && return 0
    warn "$1 is not of FaultLoc, and stays"
    return 1
}

remove=
case ${1:-} in
    --help | -h) usage; exit 0 ;;
    --remove) remove=yes; shift ;;
esac
[ $# -ge 1 ] && [ $# -le 2 ] || usage_error "a folder is needed"
to=${2:-$1}
[ -n "$remove" ] || [ -e "$to/libmpi.so.12" ] ||
    die "no libmpi.so.12 in $to: this MPICH has another ABI version than Debian's programs need"
for pair in mpi:mpich mpifort:mpichfort mpicxx:mpichcxx; do
    ours=lib${pair%:*}.so.12 debian=$1/lib${pair#*:}.so.12
    is_ours "$debian" "$ours" || continue
    if [ -n "$remove" ]; then
        rm -f "$debian"
    elif [ -e "$to/$ours" ]; then
        if [ $# = 1 ]; then ln -sf "$ours" "$debian"; else ln -sf "$to/$ours" "$debian"; fi
    fi
done
