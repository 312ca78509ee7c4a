#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/check-bases.sh [--from FILE-OR-DIR]... [--base RELEASE]... [--scripts 'SCRIPT...']
                            [--dir DIR] [--jobs N]

Builds each release of maint/bases whose source is at hand with FaultLoc (lean profile), each in a
folder of its own, runs the scripts of test/mpi and test/cluster with it, and prints a table, with
the names of those that failed below. A build takes ten minutes on two cores, all scripts of one
release an hour.

  --from FILE-OR-DIR  a tarball or source tree of one of the releases (see maint/get-mpich.sh); the
                      others are looked for in the cache alone
  --base RELEASE      only this one
  --scripts LIST      these alone, as 'test/mpi/test_waits.sh test/cluster/stop.scenario'; from them
                      no release is to be called supported
  --dir DIR           where to build (default: a temporary folder, removed if all went well); a build
                      that is there is brought up to date
  --jobs N            parallel jobs (default: the number of cores)
  --help              this text

A release that is not at hand is named as that, and is no success.
Exit code: 0 each was built, and no test failed; 1 some failed, or is not at hand; 2 wrong arguments.
EOF
}

# of_release RELEASE: what --from has of it; nothing: the cache has it, perhaps.
of_release() {
    local file
    for file in "${from[@]}"; do
        if [ "$(release_of "$file")" = "$1" ]; then
            realpath "$file"
            return
        fi
    done
    "$top_srcdir/maint/get-mpich.sh" --release "$1" --only cache --tarball-only 2>/dev/null
}

# release_of FILE-OR-DIR
release_of() {
    local sum
    if [ -d "$1" ]; then
        mpich_version_of "$1"
    else
        sum=$(sha256_of "$1")
        awk -v sum="$sum" '$4 == sum { print $1 }' "$top_srcdir/maint/bases"
    fi
}

# build RELEASE SOURCE FOLDER
build() {
    mkdir -p "$3"
    [ -f "$3/Makefile" ] || "$top_srcdir/maint/progress.sh" --title "$1: configuring" \
        --log "$3/configure.log" -- bash -c 'cd "$1" && "$2" "${@:3}"' - "$3" \
        "$top_srcdir/configure" --enable-lean --with-mpich="$2" --prefix="$3/inst" || return 1
    "$top_srcdir/maint/progress.sh" --title "$1: building" --log "$3/make.log" -- \
        make -C "$3" -j"$jobs"
}

# results FOLDER RESULT...: the scripts that ended so.
results() {
    local dir=$1 pattern
    pattern=$(IFS='|'; shift; echo "$*")
    (cd "$dir" && grep -lE "^:global-test-result: ($pattern)\$" "${scripts[@]/%.*/.trs}" 2>/dev/null) ||
        true
}
count() { results "$@" | wc -l; }

# check_base RELEASE: one row of the table.
check_base() {
    local source folder=$dir/$1 failed
    source=$(of_release "$1") || source=
    if [ -z "$source" ]; then
        row "$1" "not at hand" - - -
        return 1
    fi
    if ! build "$1" "$source" "$folder"; then
        row "$1" no - - -
        return 1
    fi
    (cd "$folder" && rm -f "${scripts[@]/%.*/.trs}")
    "$top_srcdir/maint/progress.sh" --title "$1: scripts" --log "$folder/check.log" \
        --count '^(PASS|FAIL|SKIP|ERROR): ' --total ${#scripts[@]} -- \
        make -C "$folder" -k -j"$jobs" check-scripts scripts="${scripts[*]}" || true
    failed=$(count "$folder" FAIL ERROR XPASS)
    row "$1" yes "$(count "$folder" PASS)" "$failed" "$(count "$folder" SKIP)"
    results "$folder" FAIL ERROR XPASS | sed 's/\.trs$//; s/^/    failed: /'
    [ "$failed" -eq 0 ] && [ "$(count "$folder" PASS)" -gt 0 ]
}

rows=()
row() {
    rows+=("$(printf '%-18s %-12s %6s %6s %7s' "$@")")
    echo "${rows[-1]}"
}

from=() bases=() dir= jobs=$(nproc) scripts=()
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --from | --base | --scripts | --dir | --jobs)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            case $1 in
                --from) from+=("$2") ;;
                --base) bases+=("$2") ;;
                --scripts) read -ra scripts <<<"$2" ;;
                --dir) dir=$(realpath -m "$2") ;;
                --jobs) jobs=$2 ;;
            esac
            shift ;;
        *) usage_error "unknown argument $1" ;;
    esac
    shift
done
for base in "${bases[@]}"; do
    is_base "$base" || usage_error "maint/bases has no $base: ${mpich_versions[*]}"
done
for file in "${from[@]}"; do
    [ -e "$file" ] || die "--from: there is no $file"
    is_base "$(release_of "$file")" || die "--from: $file is none of ${mpich_versions[*]}"
done
need_programs make awk
[ -x "$top_srcdir/configure" ] || die "there is no configure yet; run ./autogen.sh"
[ ${#scripts[@]} -gt 0 ] || mapfile -t scripts < <(
    sed -n '/^\(mpi\|cluster\|scenario\)_tests =/,/^$/p' "$top_srcdir/sources.mk" | grep -o 'test/[^ ]*')
for script in "${scripts[@]}"; do
    grep -qF " $script " <(tr '\n' ' ' <"$top_srcdir/sources.mk") || usage_error "--scripts: no $script"
done
scratch=
[ -n "$dir" ] || scratch=$(mktemp -d "${TMPDIR:-/tmp}/faultloc-bases.XXXXXX")
dir=${dir:-$scratch}

[ ${#bases[@]} -gt 0 ] || bases=("${mpich_versions[@]}")
code=0
row base built passed failed skipped
for base in "${bases[@]}"; do
    check_base "$base" || code=1
done
printf '\n'
printf '%s\n' "${rows[@]}"
[ -z "$scratch" ] || [ $code -ne 0 ] || rm -rf "$scratch"
if ! rmdir "$dir" 2>/dev/null && [ -d "$dir" ]; then
    say "logs: $dir/RELEASE/check.log, and beside it"
fi
exit $code
