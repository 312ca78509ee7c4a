#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/check-glue.sh [--base RELEASE] [--from FILE-OR-DIR]... [--keep DIR]

Compiles the files that see headers of MPICH or hydra (src/mpid/ch4/faultloc/mpi, src/hydra) with
each release of maint/bases, for errors alone (-fsyntax-only). MPICH is patched and configured, not
built: some three minutes for each release. A line for each release and side says:
  ok            all of its files compile
  FAILED        some do not; the errors follow
  not at hand   there is no source of the release, so nothing was compiled

  --base RELEASE      this release only (default: all: ${mpich_versions[*]})
  --from FILE-OR-DIR  where the source of one release is (see maint/get-mpich.sh); once for each
  --keep DIR          configure in DIR/RELEASE, and leave that for the next time
  --help              this text

The last line is "N passed, N failed, N not at hand".
Exit code: 0 all passed, 1 some failed, 2 wrong arguments, 77 none failed, some are not at hand.
EOF
}

tmp=
clean_up() {
    [ -z "$tmp" ] || rm -rf "$tmp"
}

# These are errors in a call of a function that another release declares otherwise.
flags='-fsyntax-only -Wall -Werror=implicit-function-declaration -Werror=int-conversion'
flags+=' -Werror=incompatible-pointer-types'

passed=0 failed=0 absent=0
# compile TEXT FOLDER EXPRESSION: what FOLDER's Makefile makes of the files that EXPRESSION finds in it.
compile() {
    local objects
    mapfile -t objects < <(grep -o "$3" "$2/Makefile" | sed 's/\$(OBJEXT)/o/' | sort -u)
    # a compiler that only looks makes no object, but libtool a note of one
    (cd "$2" && rm -f "${objects[@]}")
    if [ ${#objects[@]} -gt 0 ] && "${MAKE:-make}" -C "$2" -k -j"$(nproc)" CFLAGS="$flags" \
        "${objects[@]}" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $1: ${#objects[@]} files compile"
    else
        failed=$((failed + 1))
        echo "FAILED  $1: not all of ${#objects[@]} files compile"
        grep -E ': (fatal )?error: |\*\*\*' "$tmp/log" | sed 's/^/        /' | head -n 40
    fi
}

# check_base RELEASE FROM: FROM may be empty.
check_base() {
    local dir=${keep:-$tmp}/$1 options=()
    "$top_srcdir/maint/get-mpich.sh" --release "$1" ${2:+--from "$2"} "$tmp/source" >&2 || {
        echo "not at hand  $1: nothing was compiled with it"
        absent=$((absent + 1))
        return 0
    }
    mapfile -t options < <("$top_srcdir/maint/build-mpich.sh" --print-lean-flags)
    if "$top_srcdir/maint/build-mpich.sh" --builddir "$dir" --from "$tmp/source" --until 4 \
        -- "${options[@]}" >&2; then
        compile "$1: libmpi" "$dir/mpich-build" \
            'src/mpid/ch4/faultloc/mpi/[a-z]*/lib_libmpi_la-[a-z0-9_]*\.lo\>'
        compile "$1: hydra" "$dir/mpich-build/src/pm/hydra" '\<faultloc/[a-z_-]*\.\$(OBJEXT)'
    else
        failed=$((failed + 1))
        echo "FAILED  $1: cannot be patched and configured"
    fi
    rm -rf "$tmp/source"
}

# release_of FILE-OR-DIR
release_of() {
    if [ -d "$1" ] && [ -n "$(mpich_version_of "$1")" ]; then
        mpich_version_of "$1"
    else
        "$top_srcdir/maint/get-mpich.sh" --from "$1" "$tmp/look" >&2 && mpich_version_of "$tmp/look"
        rm -rf "$tmp/look"
    fi
}

base=all keep= sources=()
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --base | --from | --keep)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            case $1 in --from) sources+=("$2") ;; --base) base=$2 ;; --keep) keep=$2 ;; esac
            shift ;;
        *) usage_error "unknown argument $1" ;;
    esac
    shift
done
[ "$base" = all ] || is_base "$base" || usage_error "--base $base: one of ${mpich_versions[*]}"
need_programs make grep sed
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
tmp=$(mktemp -d "${TMPDIR:-/tmp}/faultloc-glue.XXXXXX")
[ -z "$keep" ] || { mkdir -p "$keep" && keep=$(cd "$keep" && pwd); }

declare -A from
for source in "${sources[@]}"; do
    release=$(release_of "$source") || die "--from $source: no source of MPICH"
    from[$release]=$source
done
for release in "${mpich_versions[@]}"; do
    [ "$base" != all ] && [ "$base" != "$release" ] || check_base "$release" "${from[$release]:-}"
done
echo "$passed passed, $failed failed, $absent not at hand"
[ $failed -eq 0 ] || exit 1
[ $absent -eq 0 ] || exit 77
