#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

max_lines=30

usage() {
    cat <<EOF
Usage: maint/check-patches.sh [--configure] [--base RELEASE] [--from FILE-OR-DIR] [--patches DIR]
       maint/check-patches.sh --measure [--patches DIR]

Checks the patches, and prints one line for each check:
  - patches/series and the files in patches/ agree; each is in one of the folders
    $patch_rooms, or in one of these in the folder of the first
    release that it is for; names carry no numbers;
  - each patch has the header lines Subject, Why, Upstream-file, Status and Remove-when, filled in;
    a patch of upstream-fixes also has Checked and Test;
  - each changes at most $max_lines lines (added and removed), in the files that Upstream-file names;
  - each whose range has the release applies to it with no fuzz, one after the other;
  - applying twice changes nothing; exporting the patched tree gives the same patches again;
    reverting restores the released files.

  --measure           only count the patches, the lines that they change, and the files
  --configure         also configure and build the patched tree with --disable-faultloc (minutes)
  --base RELEASE      the release to apply them to (default: $mpich_version, or the one of --from), or
                      all: what is not at hand is named
  --from FILE-OR-DIR  where MPICH comes from (see maint/get-mpich.sh)
  --patches DIR       check the patches in DIR (default: the repository's patches/)
  --help              this text

The last lines are the size of the changes to MPICH, and "N passed, N failed".
Exit code: 0 all checks passed, 1 some failed, 2 wrong arguments.
EOF
}

tmp=
clean_up() {
    [ -z "$tmp" ] || rm -rf "$tmp"
}

passed=0 failed=0
# check TEXT CONDITION...: runs the condition, prints and counts the outcome.
check() {
    local text=$1
    shift
    if "$@" >"$tmp/why" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $text"
    else
        failed=$((failed + 1))
        echo "FAILED  $text"
        sed 's/^/        /' "$tmp/why" | tail -n 40
    fi
}

series_agrees() {
    series_of "$patches/series" >"$tmp/in-series"
    sort -u "$tmp/in-series" | cmp -s - <(sort "$tmp/in-series") \
        || { echo "a patch is named twice:"; sort "$tmp/in-series" | uniq -d; return 1; }
    (cd "$patches" && find . -type f -not -name series -not -name '.*' | sed 's|^\./||' | sort) \
        >"$tmp/present"
    diff --label "named in series" --label "present" -u0 <(sort "$tmp/in-series") "$tmp/present"
}

good_name() {
    local path=$1
    [[ ! $path =~ ^[0-9.]+/ ]] || path=${path#*/}
    local room=${path%%/*} name=${path#*/}
    [[ " $patch_rooms " = *" $room "* ]] || { echo "not in one of $patch_rooms"; return 1; }
    case $name in
        *[0-9]*) echo "the name carries a number"; return 1 ;;
        *[!a-z-]*.patch | *.patch?*) echo "use lower-case letters and dashes"; return 1 ;;
        *.patch) return 0 ;;
    esac
    echo "the name does not end in .patch"
    return 1
}

good_header() {
    local key more=() bad=0
    patch_header "$patches/$1" >"$tmp/header"
    [[ $1 != *upstream-fixes/* ]] || more=(Checked Test)
    for key in Subject Why Upstream-file Status Remove-when "${more[@]}"; do
        if ! grep -q "^$key: *[^ ]" "$tmp/header"; then
            echo "header line '$key:' is missing or empty"
            bad=1
        fi
    done
    key=$(sed -n 's/^Test: *//p' "$tmp/header")
    [ -z "$key" ] || [ -f "$top_srcdir/$key" ] || { echo "there is no $key"; bad=1; }
    return $bad
}

good_size() {
    local lines
    lines=$(count_lines "$patches/$1")
    [ "$lines" -le $max_lines ] || { echo "$lines changed lines; at most $max_lines: move code" \
        "into the overlay and leave a call"; return 1; }
    [ "$lines" -gt 0 ] || { echo "no changed lines"; return 1; }
}

# measure NAME...: patches, changed lines and touched files, of all and of what is MPICH's own.
measure() {
    local name lines=0
    for name in "$@"; do
        lines=$((lines + $(count_lines "$patches/$name")))
    done
    echo "$# patches, $lines changed lines, $(for name in "$@"; do patch_files "$patches/$name"; done |
        sort -u | wc -l) files"
}

measure_all() {
    local name fixes=() hooks=()
    for name in "${names[@]}"; do
        [ -f "$patches/$name" ] || continue
        case $name in *upstream-fixes/*) fixes+=("$name") ;; *) hooks+=("$name") ;; esac
    done
    echo "all: $(measure "${hooks[@]}" "${fixes[@]}")"
    echo "  hooks of FaultLoc: $(measure "${hooks[@]}")"
    echo "  upstream-fixes: $(measure "${fixes[@]}")"
}

names_its_files() {
    sed -n 's/^Upstream-file: *//p' "$patches/$1" | tr ', ' '\n\n' | grep . | sort -u >"$tmp/said"
    diff --label "Upstream-file:" --label "changed" -u0 "$tmp/said" \
        <(patch_files "$patches/$1" | sort -u)
}

applies() {
    patch -d "$tmp/one" -p1 -F0 --no-backup-if-mismatch -f <"$patches/$1" >"$tmp/log" 2>&1 \
        || { cat "$tmp/log"; return 1; }
    ! grep -q fuzz "$tmp/log" || { cat "$tmp/log"; return 1; }
    # one that several releases share has the line numbers of the first
    [ "$release" != "$mpich_version" ] || ! grep -q offset "$tmp/log" || { cat "$tmp/log"; return 1; }
}

applies_to_tree() {
    "$top_srcdir/maint/apply.sh" --patches "$patches" "$tmp/tree"
}

stamp_tree() {
    (cd "$tmp/tree" && find . -type f -not -path './.faultloc*' -printf '%p %s %T@\n' | sort)
}

twice_is_harmless() {
    stamp_tree >"$tmp/first"
    applies_to_tree
    stamp_tree | diff -u0 "$tmp/first" -
}

export_is_same() {
    cp -a "$patches" "$tmp/exported"
    "$top_srcdir/maint/export.sh" --patches "$tmp/exported" "$tmp/tree"
    diff -ru "$patches" "$tmp/exported"
}

reverts() {
    "$top_srcdir/maint/apply.sh" --patches "$patches" --revert "$tmp/tree"
    diff -rq --no-dereference "$tmp/pristine" "$tmp/tree"
}

# Configured out, MPICH must build: the seam compiles to nothing.
builds_without() {
    local flags=() jobs
    jobs=$(nproc)
    mapfile -t flags < <("$top_srcdir/maint/build-mpich.sh" --print-lean-flags)
    "$top_srcdir/maint/build-mpich.sh" --builddir "$tmp/build" --from "$tmp/pristine" \
        --prefix "$tmp/inst" --jobs "$jobs" --until 5 \
        --apply-options "--patches $patches" \
        -- "${flags[@]}" --disable-faultloc >&3 2>&3
}

from= base= patches=$top_srcdir/patches configure=no measure=no
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --configure) configure=yes ;;
        --measure) measure=yes ;;
        --base | --from | --patches)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            printf -v "${1#--}" '%s' "$2"
            shift ;;
        *) usage_error "unknown argument $1" ;;
    esac
    shift
done
[ -f "$patches/series" ] || die "$patches has no file series"
need_programs patch diff awk cmp tar
patches=$(cd "$patches" && pwd)
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
tmp=$(mktemp -d "${TMPDIR:-/tmp}/faultloc-check.XXXXXX")

mapfile -t names < <(series_of "$patches/series")
if [ $measure = yes ]; then
    measure_all
    exit 0
fi
say "checking the patches in $patches"
check "patches/series and the files in patches/ agree" series_agrees
for name in "${names[@]}"; do
    [ -f "$patches/$name" ] || continue
    check "$name: name" good_name "$name"
    check "$name: header lines" good_header "$name"
    check "$name: at most $max_lines lines" good_size "$name"
    check "$name: Upstream-file names what it changes" names_its_files "$name"
done

# check_base: all that is checked with the source of one release.
check_base() {
    local name file
    "$top_srcdir/maint/get-mpich.sh" ${release:+--release "$release"} ${from:+--from "$from"} \
        "$tmp/pristine" || return 1
    release=$(mpich_version_of "$tmp/pristine")
    cp -a "$tmp/pristine" "$tmp/tree"
    mkdir "$tmp/one"
    for name in $(series_of "$patches/series" "$release"); do
        [ -f "$patches/$name" ] || continue
        while read -r file; do
            if [ ! -f "$tmp/one/$file" ] && [ -f "$tmp/pristine/$file" ]; then
                mkdir -p "$tmp/one/$(dirname "$file")"
                cp -p "$tmp/pristine/$file" "$tmp/one/$file"
            fi
        done < <(patch_files "$patches/$name")
        check "$release: $name: applies with no fuzz" applies "$name"
    done
    check "$release: all apply to a tree with the overlay" applies_to_tree
    check "$release: applying twice changes nothing" twice_is_harmless
    check "$release: exporting the patched tree gives the same patches" export_is_same
    check "$release: reverting gives the released files back" reverts
    if [ $configure = yes ]; then
        exec 3>&2
        check "$release: the patched tree configures and builds with --disable-faultloc" builds_without
    fi
    mapfile -t names < <(series_of "$patches/series" "$release")
    measure_all
    rm -rf "$tmp"/{pristine,tree,one,exported}
}

if [ "$base" = all ]; then
    for release in "${mpich_versions[@]}"; do
        check_base || echo "$release: not at hand, nothing was checked with it"
    done
else
    release=$base
    check_base || exit 1
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
