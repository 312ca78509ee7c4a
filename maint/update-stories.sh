#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
export LC_ALL=C
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOT
Usage: maint/update-stories.sh [OPTION]... [TEST]...

Compares the traces that unit tests expect, which are in test/unit/stories, with what the tests say now,
and prints the difference.

  TEST          as test/unit/story/test_story (default: every test that has stories)
  --update      also replace them by what the tests say now; read the difference first, line by line
  --build DIR   the build folder (default: what \$top_builddir says, else the folder it is called in)
  --help        this text

Stories that no test tells any more go. The tests are built first. Where a test fails for another reason
than its stories, these stay as they are.

Exit code: 0 they are the same, or were replaced; 1 they differ, or a test fails; 2 wrong arguments.
EOT
}

build=${top_builddir:-.} update=
tests=()
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --update) update=yes ;;
        --build)
            [ $# -ge 2 ] || usage_error "$1 needs a folder"
            build=$2
            shift
            ;;
        -*) usage_error "unknown option $1" ;;
        *)
            [ -f "$top_srcdir/$1.c" ] || usage_error "there is no $1.c; a test is test/unit/story/test_story"
            tests+=("$1")
            ;;
    esac
    shift
done
need_programs diff grep make
[ -f "$build/config.status" ] || usage_error "$build is no build folder; --build DIR names it"
build=$(cd "$build" && pwd)
if [ ${#tests[@]} = 0 ]; then
    mapfile -t tests < <(cd "$top_srcdir" && grep -l 'EXPECT_STORY' test/unit/*/test_*.c |
        sed 's/\.c$//')
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -C "$build" "${tests[@]}" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "make fails"; }

# compare TEST: 1 if its stories differ, or it fails.
compare() {
    local suite=${1##*/test_} file
    file=test/unit/stories/$suite.txt
    if ! (cd "$build" && UPDATE_STORIES=$work top_srcdir=$top_srcdir "./$1") >"$work/log" 2>&1; then
        cat "$work/log" >&2
        warn "$1 fails for another reason than its stories; $file stays as it is"
        return 1
    fi
    diff -uN --label "$file" --label "this build" "$top_srcdir/$file" "$work/$suite.txt" && return
    [ "$update" ] || return 1
    mkdir -p "$top_srcdir/test/unit/stories"
    cp "$work/$suite.txt" "$top_srcdir/$file"
    say "$file rewritten"
}

code=0
for test in "${tests[@]}"; do
    compare "$test" || code=1
done
if [ $code = 1 ] && [ ! "$update" ]; then
    warn "stories differ; maint/update-stories.sh --update --build $build takes over what is right now"
fi
exit $code
