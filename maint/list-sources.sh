#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
export LC_ALL=C # the order of a glob is the same everywhere
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/list-sources.sh --check | --update | --print

sources.mk lists the source files and the tests, one per line; the Makefile.mk of src/util/ftree and
of src/mpid/ch4/faultloc list those that MPICH builds. This script compares these lists with the
files that exist.

  --check    report files that are not listed, and listed files that do not exist
  --update   rewrite the lists
  --print    print what --update would write to sources.mk
  --help     this text

What is listed:
  core    src/util/ftree/*.c and src/util/ftree/*/*.c; the check of all invariants (ftree_check.c)
          is for tests and the simulator only, not in MPICH
  glue    src/mpid/ch4/faultloc/*/*.c and */*/*.c; this build leaves out mpi, which needs MPICH's headers;
          its folder handler is the program faultloc-handler, site is faultloc-handlers, fabric
          faultloc-fabric
  hydra   the files of src/hydra that do not need hydra's headers
  tests   test/unit/ROOM/test_*.c, test/unit/t-*.sh (of the programs), test/mpi/test_*.sh and
          test/cluster/test_*.sh, but for those that say "Not listed"; test/lib/*.c is shared by
          them, and a file there with a main is a program that scripts use
  tools   tools/*.c is the program faultloc, tools/sim/*.c its simulator

Each row of the table test/cluster/scenarios is a test, too: test/cluster/NAME.scenario.

Exit code: 0 the lists are right, 1 they differ, 2 wrong arguments.
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

# The folders of the glue, by where they are linked: src/mpid/ch4/faultloc/Makefile.mk says why.
cd "$top_srcdir"
glue=src/mpid/ch4/faultloc
mapfile -t glue_headers < <(printf '%s\n' "$glue"/*/*.h "$glue"/{agent,mpi}/*/*.h | sort)
in_both=("$glue"/{base,board}/*.c)
in_agent=("$glue"/{io,net,node,agent/*}/*.c "$glue"/fabric/ping.c)

# Of the process manager's part: those that need nothing of hydra.
hydra_free() {
    local theirs='hydra|hydra_server|pmip|pmiserv|demux|bscu|faultloc_(base|lost|proxy|server)'
    grep -LE "#include \"($theirs)\\.h\"" "$@" || :
}

print_list() {
    shopt -s nullglob
    local hydra units=() scripts=() library=() programs=() file rows
    mapfile -t hydra < <(hydra_free src/hydra/faultloc_*.c)
    for file in test/unit/*/test_*.c; do units+=("${file%.c}"); done
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
    list core_sources src/util/ftree/*.c src/util/ftree/*/*.c
    list core_headers src/util/ftree/*.h src/util/ftree/*/*.h
    list glue_sources $(printf '%s\n' "${in_both[@]}" "${in_agent[@]}" | grep -v '/main\.c$')
    list glue_headers "${glue_headers[@]}"
    list handler_sources $(printf '%s\n' $glue/handler/*.c | grep -v '/main\.c$')
    list site_sources $(printf '%s\n' $glue/site/*.c | grep -v '/main\.c$')
    list hydra_sources "${hydra[@]}"
    list hydra_headers src/hydra/faultloc_*.h
    list testlib_sources "${library[@]}"
    list testlib_headers test/lib/*.h
    list sim_sources tools/sim/*.c
    list sim_headers tools/sim/*.h
    list unit_tests "${units[@]}"
    list test_programs "${programs[@]}"
    scripts=(test/unit/t-*.sh)
    list tool_tests "${scripts[@]}"
    scripts=(test/mpi/test_*.sh)
    list mpi_tests "${scripts[@]}"
    mapfile -t scripts < <(grep -L '^# Not listed' test/cluster/test_*.sh)
    list cluster_tests "${scripts[@]}"
    rows=$(test/cluster/scenario --list) || exit 1
    list scenario_tests $(sed 's|^\([^ ]*\) .*|test/cluster/\1.scenario|' <<<"$rows")
    list man_pages doc/*.[1-8]
    list example_scripts doc/examples/*.sh
    list example_programs doc/examples/*[!h]
    list tool_sources tools/*.c tools/*.h
    if [ -f tools/faultloc.c ]; then
        printf '\ntool_programs = tools/faultloc\n'
    else
        printf '\ntool_programs =\n'
    fi
}

core_mk=src/util/ftree/Makefile.mk
glue_mk=$glue/Makefile.mk

# rewrite FILE VARIABLE NAME...: FILE with the list of that variable made anew.
rewrite() {
    awk -v variable="$2" -v names="$(printf '%s\n' "${@:3}")" '
        skip { skip = /\\$/; next }
        $1 == variable && ($2 == "+=" || $2 == "=") {
            n = split(names, name, "\n")
            printf "%s %s", $1, $2
            for (i = 1; i <= n; i++)
                printf " \\\n    %s", name[i]
            printf "\n"
            skip = /\\$/
            next
        }
        { print }' "$1"
}

library=src_mpid_ch4_faultloc_libfaultloc_la_SOURCES

print_core_mk() {
    rewrite <(rewrite $core_mk noinst_HEADERS src/util/ftree/*.h src/util/ftree/*/*.h) $library \
        $(printf '%s\n' src/util/ftree/*.c src/util/ftree/*/*.c |
            grep -vE '/ftree/ftree_check\.c$')
}

print_glue_mk() {
    rewrite <(rewrite <(rewrite <(rewrite $glue_mk noinst_HEADERS "${glue_headers[@]}") \
        mpi_core_sources $glue/mpi/*/*.c) $library "${in_both[@]}") \
        faultloc_agent_SOURCES "${in_agent[@]}"
}

# update_list FILE COMMAND...: rewrites FILE with what the command prints, if it differs.
update_list() {
    local file=$1
    shift
    "$@" >"$file.new"
    if cmp -s "$file.new" "$file"; then
        rm "$file.new"
    else
        mv "$file.new" "$file"
        say "$file rewritten"
    fi
}

# check_list FILE COMMAND...
check_list() {
    local file=$1
    shift
    diff --label "$file" --label "existing files" -u0 "$file" <("$@") >&2 && return
    warn "$file does not list the existing files; maint/list-sources.sh --update rewrites it"
    return 1
}

# each ACTION: for every list.
each() {
    local code=0
    "$1" sources.mk print_list || code=1
    "$1" $core_mk print_core_mk || code=1
    "$1" $glue_mk print_glue_mk || code=1
    return $code
}

case ${1:-} in
    --help | -h) usage ;;
    --print) print_list ;;
    --update) each update_list ;;
    --check) each check_list ;;
    *) usage_error "one of --check, --update, --print" ;;
esac
