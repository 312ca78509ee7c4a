#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOT
Usage: maint/embed-rules.sh

Prints the built-in rule base, src/util/ftree/rules/rules_builtin.json, as the elements of a C array,
for rules_builtin.c beside it to include. "make" does it, and maint/apply.sh for MPICH's build.

Exit code: 0 printed, 1 failed, 2 wrong arguments.
EOT
}

case ${1:-} in
    --help | -h) usage; exit 0 ;;
    ?*) usage_error "unknown argument $1" ;;
esac
# Numbers and no string: a compiler need not take string literals of more than 4095 characters.
od -An -v -tu1 -w20 "$top_srcdir/src/util/ftree/rules/rules_builtin.json" |
    sed 's/^ */    /; s/\([0-9]\)  */\1,/g; s/$/,/'
