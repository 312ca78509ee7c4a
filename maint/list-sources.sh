#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/list-sources.sh --check | --update | --print

sources.mk names the source files and the tests, one a line. This compares it with what is there.

  --check    say what is there and not named, and what is named and not there
  --update   rewrite sources.mk
  --print    print what --update would write
  --help     this text

The core is src/util/ftree/*.c; of the glue what does without MPICH's headers is built here, too;
the tests are test/unit/test_*.c, test/unit/t-*.sh (of the programs), test/mpi/test_*.sh and
test/cluster/test_*.sh; test/lib/*.c is what they share, but those with a main are programs that the
scripts use.

Exit code: 0 as it should be, 1 they differ, 2 wrong arguments.
EOF
}

# list VARIABLE FILE...: one automake variable, a file a line.
list() {
    local name=$1 file
    shift
    printf '\n%s =' "$name"
    for file in "$@"; do
        printf ' \\\n    %s' "$file"
    done
    printf '\n'
}

# mpi_free FILE...: those that do not include MPICH's headers, in no indirect way either.
mpi_free() {
    local dir=src/mpid/ch4/faultloc dirty='mpidimpl\.h|mpiimpl\.h|mpidpre\.h|mpir?_[a-z]*\.h' old= file
    while [ "$old" != "$dirty" ]; do
        old=$dirty
        for file in "$dir"/*.h; do
            [ -f "$file" ] || continue
            if grep -qE "#[ ]*include \"($dirty)\"" "$file"; then
                case "|$dirty|" in
                    *"|${file##*/}|"*) ;;
                    *) dirty="$dirty|${file##*/}" ;;
                esac
            fi
        done
    done
    for file in "$@"; do
        grep -qE "#[ ]*include \"($dirty)\"" "$file" || echo "$file"
    done
}

print_list() {
    shopt -s nullglob
    local glue units=() scripts=() library=() programs=() file
    mapfile -t glue < <(mpi_free src/mpid/ch4/faultloc/*.c)
    for file in test/unit/test_*.c; do units+=("${file%.c}"); done
    for file in test/lib/*.c; do
        if grep -qE '^(int )?main\(' "$file"; then programs+=("${file%.c}"); else library+=("$file"); fi
    done
    cat <<EOF
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The source files and the tests; a new one is a new line here (maint/list-sources.sh --update).
EOF
    list core_sources src/util/ftree/*.c
    list core_headers src/util/ftree/*.h
    list glue_sources "${glue[@]}"
    list glue_headers src/mpid/ch4/faultloc/*.h
    list testlib_sources "${library[@]}"
    list testlib_headers test/lib/*.h
    list unit_tests "${units[@]}"
    list test_programs "${programs[@]}"
    scripts=(test/unit/t-*.sh)
    list tool_tests "${scripts[@]}"
    scripts=(test/mpi/test_*.sh)
    list mpi_tests "${scripts[@]}"
    scripts=(test/cluster/test_*.sh)
    list cluster_tests "${scripts[@]}"
    list man_pages doc/*.[1-8]
    list tool_sources tools/*.c tools/*.h
    if [ -f tools/faultloc.c ]; then
        printf '\ntool_programs = tools/faultloc\n'
    else
        printf '\ntool_programs =\n'
    fi
}

cd "$top_srcdir"
case ${1:-} in
    --help | -h) usage ;;
    --print) print_list ;;
    --update)
        print_list >sources.mk.new
        if cmp -s sources.mk.new sources.mk; then
            rm sources.mk.new
        else
            mv sources.mk.new sources.mk
            say "sources.mk rewritten"
        fi ;;
    --check)
        if ! diff --label "sources.mk" --label "what is there" -u0 sources.mk <(print_list) >&2; then
            warn "sources.mk differs from what is there; maint/list-sources.sh --update rewrites it"
            exit 1
        fi ;;
    *) usage_error "one of --check, --update, --print" ;;
esac
