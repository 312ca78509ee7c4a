#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/apply.sh [--force] SRC
       maint/apply.sh --revert SRC

Turns SRC, an MPICH source tree of one of the releases ${mpich_versions[*]}, into one with FaultLoc:
  - copies the overlay (${overlay_dirs[*]}, the last as $(place src/hydra)) into it,
  - generates src/mpid/ch4/faultloc/node/callnames.h from its list of MPI functions, and
    src/util/ftree/rules/rules_builtin.bytes from the built-in rule base,
  - applies the patches of patches/series, with no fuzz.

A second run is harmless, and files that stay the same keep their time stamps, so that make
rebuilds only what changed. A patch that changed since the last run is brought up to date in SRC.
Patches are tried on copies first: SRC is changed only if every patch applies.
A tree of another MPICH release is refused before anything is changed.

Two records stay in SRC for maint/export.sh and --revert: .faultloc-applied (the applied patches
and their checksums) and .faultloc/ (the patches as applied, and the original files).

  --patches DIR  take series and patches from DIR (default: the repository's patches/)
  --as RELEASE   take SRC for that release, whatever it says that it is
  --no-overlay   apply the patches only
  --force        overwrite edits of patched files in SRC that were not exported
  --revert       undo everything
  --help         this text

Exit code: 0 done, 1 refused or failed (SRC is unchanged), 2 wrong arguments.
EOF
}

tmp=
clean_up() {
    [ -z "$tmp" ] || rm -rf "$tmp"
}

# put FILE TO: copies when the content differs, and in one step, so that no half file is ever seen.
put() {
    if cmp -s "$1" "$2"; then
        return 0
    fi
    mkdir -p "$(dirname "$2")"
    cp "$1" "$2.faultloc-new"
    if [ -f "$2" ]; then
        chmod --reference="$2" "$2.faultloc-new"
    fi
    mv -f "$2.faultloc-new" "$2"
    changed=$((changed + 1))
}

check_version() {
    [ -n "$release" ] || release=$(mpich_version_of "$src")
    [ -n "$release" ] || die "$src is not an MPICH source tree (no version in maint/version.m4);" \
        "maint/get-mpich.sh DEST gets one"
    is_base "$release" || die "$src is MPICH $release; the patches are for" \
        "${mpich_versions[*]} only; nothing was changed (maint/get-mpich.sh DEST gets the right one)"
}

# original FILE: where the unpatched content of FILE is.
original() {
    if [ -e "$state/pristine/$1" ] || [ -e "$state/absent/$1" ]; then
        echo "$state/pristine/$1"
    else
        echo "$src/$1"
    fi
}

# Builds in $tmp/old and $tmp/new the patched files by the stored and by the present patches.
# apply_series PATCHES-DIR TO
apply_series() {
    local dir=$1 to=$2 name file from
    mkdir -p "$to"
    for name in $(series_of "$dir/series" "$release"); do
        [ -f "$dir/$name" ] || die "$dir/series names $name, but there is no such file in $dir"
        patch_files "$dir/$name" >"$tmp/files"
        [ -s "$tmp/files" ] || die "$dir/$name changes no file"
        while read -r file; do
            echo "$file" >>"$tmp/touched"
            from=$(original "$file")
            if [ ! -e "$to/$file" ] && [ -f "$from" ]; then
                mkdir -p "$to/$(dirname "$file")"
                cp -p "$from" "$to/$file"
            fi
        done <"$tmp/files"
        if ! patch -d "$to" -p1 -F0 --no-backup-if-mismatch -s -f -r - <"$dir/$name" \
            >"$tmp/patch.log"; then
            cat "$tmp/patch.log" >&2
            die "patch $name does not apply to $src; the tree was left as it was"
        fi
        ! grep -q . "$tmp/patch.log" || sed "s/^/$prog: $name: /" "$tmp/patch.log" >&2
    done
}

# Edits that no patch has yet must not be lost.
check_edits() {
    local file lost=()
    [ "$force" = no ] || return 0
    while read -r file; do
        [ -f "$src/$file" ] || continue
        if ! cmp -s "$src/$file" "$(original "$file")" && ! cmp -s "$src/$file" "$tmp/old/$file" \
            && ! cmp -s "$src/$file" "$tmp/new/$file"; then
            lost+=("$file")
        fi
    done < <(sort -u "$tmp/touched")
    [ ${#lost[@]} -eq 0 ] || die "edited in $src since the patches were applied: ${lost[*]}." \
        "maint/export.sh $src takes the edits into the patches; --force discards them." \
        "Nothing was changed"
}

# Whether the stored patches are the present ones; then a developer's edits stay as they are.
same_patches() {
    [ -f "$src/.faultloc-applied" ] && cmp -s "$tmp/applied" "$src/.faultloc-applied"
}

# A patched file that is as released again (put back by hand, or by another tool).
repatch_originals() {
    local file
    while read -r file; do
        if [ -f "$tmp/new/$file" ] && cmp -s "$src/$file" "$(original "$file")"; then
            put "$tmp/new/$file" "$src/$file"
        fi
    done < <(sort -u "$tmp/touched")
}

save_originals() {
    local file
    mkdir -p "$state"
    while read -r file; do
        if [ -e "$state/pristine/$file" ] || [ -e "$state/absent/$file" ]; then
            continue
        fi
        if [ -f "$src/$file" ]; then
            mkdir -p "$state/pristine/$(dirname "$file")"
            cp -p "$src/$file" "$state/pristine/$file.part"
            mv "$state/pristine/$file.part" "$state/pristine/$file"
        else
            mkdir -p "$state/absent/$(dirname "$file")"
            : >"$state/absent/$file"
        fi
    done < <(sort -u "$tmp/touched")
}

install_patched() {
    local file from
    while read -r file; do
        from=$tmp/new/$file
        [ -f "$from" ] || from=$(original "$file")
        if [ -f "$from" ]; then
            put "$from" "$src/$file"
        elif [ -f "$src/$file" ]; then
            rm -f "$src/$file"
            changed=$((changed + 1))
        fi
    done < <(sort -u "$tmp/touched")
}

# The list of applied patches, with checksums: what .faultloc-applied holds.
list_applied() {
    local name
    for name in $(series_of "$1/series" "$release"); do
        echo "$(sha256_of "$1/$name")  $name"
    done
}

apply_patches() {
    : >"$tmp/touched"
    mkdir -p "$tmp/old" "$tmp/new"
    apply_series "$patches" "$tmp/new"
    list_applied "$patches" >"$tmp/applied"
    if same_patches && [ "$force" = no ]; then
        repatch_originals
        return 0
    fi
    [ ! -f "$state/patches/series" ] || apply_series "$state/patches" "$tmp/old"
    check_edits
    save_originals
    rm -f "$src/.faultloc-applied"
    install_patched
    rm -rf "$state/patches"
    mkdir -p "$state/patches"
    series_of "$patches/series" "$release" >"$state/patches/series"
    for name in $(series_of "$state/patches/series"); do
        mkdir -p "$(dirname "$state/patches/$name")"
        cp "$patches/$name" "$state/patches/$name"
    done
    cp "$tmp/applied" "$src/.faultloc-applied"
}

overlay_files() {
    local dir
    for dir in "${overlay_dirs[@]}"; do
        [ -d "$top_srcdir/$dir" ] || continue
        (cd "$top_srcdir" && find "$dir" -type f -not -name '.*' -regex "$overlay_names")
    done | sort
}

# lay_overlay LIST: copies the files of LIST; those that an earlier run laid and that are gone go.
lay_overlay() {
    local file
    while read -r file; do
        put "$top_srcdir/$file" "$src/$(place "$file")"
    done <"$1"
    mkdir -p "$state"
    if [ -f "$state/overlay" ]; then
        while read -r file; do
            if ! grep -qxF "$file" "$1" && [ -f "$src/$(place "$file")" ]; then
                rm -f "$src/$(place "$file")"
                changed=$((changed + 1))
            fi
        done <"$state/overlay"
    fi
    cp "$1" "$state/overlay"
}

# Every MPI function of the tree, with the __func__ that its binding has: MPIDI_FAULTLOC_CALL_ENTER
# is in static functions named internal_X for MPI_X and internalX_X for MPIX_X.
call_names() {
    cat <<EOF
/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Generated by maint/apply.sh from src/include/mpi_proto.h. Do not edit.
 *
 * One line per MPI function: its name, and __func__ where its call is noted. No include
 * guard: to be included again with another FAULTLOC_CALL.
 */
EOF
    {
        sed -n 's/^[A-Za-z].*[ *]\(MPIX\{0,1\}_[A-Za-z0-9_]*\)(.*/\1/p' "$src/src/include/mpi_proto.h"
        # what a patch adds is in mpi_proto.h only after autogen.sh
        sed -n 's/^\(MPIX_Faultloc_[A-Za-z0-9_]*\):$/\1/p' "$src"/src/binding/c/*_api.txt
    } | LC_ALL=C sort -u | awk '
            /^MPI_(DUP_FN|Status_.*2.*)$/ { next }
            /^MPIX_/ { printf "FAULTLOC_CALL(\"%s\", \"internalX_%s\")\n", $0, substr($0, 6); next }
            { printf "FAULTLOC_CALL(\"%s\", \"internal_%s\")\n", $0, substr($0, 5) }'
}

revert() {
    local file
    : >"$tmp/touched"
    mkdir -p "$tmp/old" "$tmp/new"
    if [ -f "$state/patches/series" ]; then
        apply_series "$state/patches" "$tmp/old"
    fi
    check_edits
    rm -f "$src/.faultloc-applied"
    install_patched
    if [ -f "$state/overlay" ]; then
        while read -r file; do
            rm -f "$src/$(place "$file")"
        done <"$state/overlay"
    fi
    rm -f "$src/$names" "$src/$rules"
    for file in "${overlay_dirs[@]}"; do
        file=$(place "$file")
        [ ! -d "$src/$file" ] || find "$src/$file" -depth -type d -empty -delete
    done
    rm -rf "$state"
    say "$src: FaultLoc removed"
}

names=src/mpid/ch4/faultloc/node/callnames.h
rules=src/util/ftree/rules/rules_builtin.bytes
src= release= force=no action=apply overlay=yes patches=$top_srcdir/patches changed=0
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --force) force=yes ;;
        --revert) action=revert ;;
        --no-overlay) overlay=no ;;
        --as) [ $# -ge 2 ] || usage_error "$1 needs a value"; release=$2; shift ;;
        --patches) [ $# -ge 2 ] || usage_error "$1 needs a value"; patches=$2; shift ;;
        -*) usage_error "unknown option $1" ;;
        *) [ -z "$src" ] || usage_error "more than one SRC: $src and $1"; src=$1 ;;
    esac
    shift
done
[ -n "$src" ] || usage_error "SRC is missing"
[ -d "$src" ] || die "$src: no such folder"
need_programs patch sha256sum awk sed find cmp
src=$(cd "$src" && pwd)
patches=$(cd "$patches" && pwd)
state=$src/.faultloc
check_version
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
tmp=$(mktemp -d "${TMPDIR:-/tmp}/faultloc-apply.XXXXXX")

if [ $action = revert ]; then
    revert
    exit 0
fi
overlay_files >"$tmp/overlay"
apply_patches
if [ $overlay = yes ]; then
    lay_overlay "$tmp/overlay"
    # a git tree has it once autogen.sh has run; maint/build-mpich.sh comes again then
    if [ -f "$src/src/include/mpi_proto.h" ]; then
        call_names >"$tmp/names"
        put "$tmp/names" "$src/$names"
    fi
    "$top_srcdir/maint/embed-rules.sh" >"$tmp/rules"
    put "$tmp/rules" "$src/$rules"
fi
say "$src: $(series_of "$patches/series" "$release" | wc -l) patches applied," \
    "$(wc -l <"$tmp/overlay") overlay files; $changed files changed"
