#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail

usage() {
    cat <<EOF
Usage: ./autogen.sh [--list]

Generates ./configure and Makefile.in. Needs autoconf >= 2.69, automake >= 1.15 and pkg-config's m4
file. Warns if sources.mk does not list the existing source files and tests.

  --list   rewrite sources.mk with the existing source files and tests, and stop
  --help   this text

Exit code: 0 done, 1 failed, 2 wrong arguments.
EOF
}

cd "$(dirname "${BASH_SOURCE[0]}")"
case ${1:-} in
    '') ;;
    --help | -h) usage; exit 0 ;;
    --list) exec maint/list-sources.sh --update ;;
    *) echo "autogen.sh: unknown argument $1; try --help" >&2; exit 2 ;;
esac
for name in autoconf automake aclocal autoreconf m4; do
    if ! command -v $name >/dev/null 2>&1; then
        echo "autogen.sh: $name is missing; on Debian: apt-get install autoconf automake" >&2
        exit 1
    fi
done
if ! [ -f "$(aclocal --print-ac-dir)/pkg.m4" ] && ! pkg-config --version >/dev/null 2>&1; then
    echo "autogen.sh: pkg-config is missing; on Debian: apt-get install pkg-config" >&2
    exit 1
fi
maint/list-sources.sh --check || true
exec autoreconf -i
