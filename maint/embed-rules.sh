#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

source=src/util/ftree/rules/rules_builtin.json
target=src/util/ftree/rules/rules_builtin.c

usage() {
    cat <<EOF
Usage: maint/embed-rules.sh --check | --update | --print

The built-in rule base is $source. The compiled-in form is $target, the same
bytes as a C array. This script keeps the two equal.

  --check    report whether $target is up to date
  --update   rewrite it
  --print    print what --update would write
  --help     this text

Exit code: 0 up to date, 1 they differ, 2 wrong arguments.
EOF
}

# Numbers and no string: a compiler need not take string literals of more than 4095 characters.
print_source() {
    cat <<EOF
/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Made from rules_builtin.json by maint/embed-rules.sh --update; do not edit. */

#include "ftree/rules/rules.h"

/* clang-format off */
static const char text[] = {
EOF
    od -An -v -tu1 -w20 "$source" | sed 's/^ */    /; s/\([0-9]\)  */\1,/g; s/$/,/'
    cat <<EOF
    0
};
/* clang-format on */

const char *ftree_rules_builtin(size_t *len)
{
    if (len)
        *len = sizeof(text) - 1;
    return text;
}
EOF
}

cd "$top_srcdir"
[ -f "$source" ] || die "$source is missing; restore it from the repository"
case ${1:-} in
    --help | -h) usage ;;
    --print) print_source ;;
    --update)
        print_source >"$target.new"
        if cmp -s "$target.new" "$target"; then
            rm "$target.new"
        else
            mv "$target.new" "$target"
            say "$target rewritten"
        fi ;;
    --check)
        if ! print_source | cmp -s - "$target"; then
            warn "$target does not match $source; maint/embed-rules.sh --update rewrites it"
            exit 1
        fi ;;
    *) usage_error "one of --check, --update, --print" ;;
esac
