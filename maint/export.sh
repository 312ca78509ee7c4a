#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/export.sh [--patches DIR] SRC
       maint/export.sh --new FOLDER/NAME SRC FILE...
       maint/export.sh --add FOLDER/NAME SRC FILE...

Regenerates the patches from SRC, a tree that maint/apply.sh patched and that may have been edited
since. Each patch keeps its header lines. An edit goes to the last patch that changes the file.
Exporting an unedited tree, or exporting twice, changes nothing.

  --new FOLDER/NAME  also makes a patch FOLDER/NAME.patch, the last of the series, from the edits in
                     FILE... of SRC (which other patches may change, too), with header lines to
                     fill in; FOLDER is one of patches/: $patch_rooms
  --add FOLDER/NAME  adds FILE..., which no patch changed so far, to this patch
  --patches DIR      write series and patches to DIR (default: the repository's patches/)
  --help             this text

--new and --add take the released files from the tarball that maint/get-mpich.sh finds.

Exit code: 0 done, 1 refused or failed, 2 wrong arguments.
EOF
}

tmp=
clean_up() {
    [ -z "$tmp" ] || rm -rf "$tmp"
}

# last_patch_of FILE: the last patch of the series that changes FILE.
last_patch_of() {
    awk -v file="$1" '$2 == file { name = $1 } END { print name }' "$tmp/map"
}

# diff_file OLD NEW FILE: one file's part of a patch; headers without time stamps.
diff_file() {
    local old=a/$3 new=b/$3 from=$1/$3 to=$2/$3 code=0
    [ -f "$from" ] || { old=/dev/null; from=/dev/null; }
    [ -f "$to" ] || { new=/dev/null; to=/dev/null; }
    diff -u --label "$old" --label "$new" "$from" "$to" || code=$?
    [ $code -le 1 ] || die "diff failed on $3 (exit code $code)"
}

# step NAME FILE...: the state after patch NAME, in $tmp/now, from the state before it. Where no
# later patch changes a file, that is what the tree has.
step() {
    local name=$1 file
    shift
    if [ -f "$stored/$name" ]; then
        patch -d "$tmp/now" -p1 -F0 --no-backup-if-mismatch -s -f <"$stored/$name" >"$tmp/log" \
            || { cat "$tmp/log" >&2; die "stored patch $stored/$name does not apply to the stored" \
                "files in $src/.faultloc; make a fresh tree (maint/get-mpich.sh, maint/apply.sh)"; }
    fi
    for file in "$@"; do
        [ "$(last_patch_of "$file")" = "$name" ] || continue
        rm -f "$tmp/now/$file"
        [ -f "$src/$file" ] || continue
        mkdir -p "$tmp/now/$(dirname "$file")"
        cp "$src/$file" "$tmp/now/$file"
    done
}

export_patch() {
    local name=$1 file files=()
    mapfile -t files < <(awk -v name="$name" '$1 == name { print $2 }' "$tmp/map")
    rm -rf "$tmp/before"
    cp -a "$tmp/now" "$tmp/before"
    step "$name" "${files[@]}"
    mkdir -p "$(dirname "$tmp/out/$name")"
    patch_header "$patches/$name" >"$tmp/out/$name"
    for file in "${files[@]}"; do
        diff_file "$tmp/before" "$tmp/now" "$file" >>"$tmp/out/$name"
    done
    if ! grep -q '^@@' "$tmp/out/$name"; then
        warn "$name changes nothing any more; remove the file and its line in $patches/series"
    fi
}

# same NEW OLD: but for line numbers, which are those of the first release that a patch serves.
same() {
    cmp -s <(sed 's/^@@.*/@@/' "$1") <(sed 's/^@@.*/@@/' "$2")
}

write_out() {
    local name changed=0
    for name in "$@"; do
        if ! same "$tmp/out/$name" "$patches/$name"; then
            cp "$tmp/out/$name" "$patches/$name"
            say "wrote $patches/$name"
            changed=$((changed + 1))
        fi
    done
    say "$# patches, $changed of them changed"
}

# take_in NAME FILE...: the files join patch NAME.
take_in() {
    local name=$1 file tarball
    shift
    for file in "$@"; do
        [ -n "$new" ] || [ -z "$(last_patch_of "$file")" ] ||
            die "$file is in $(last_patch_of "$file") already;" \
                "an edit of it goes there. To move it, edit the patches by hand"
        if [ ! -e "$src/.faultloc/pristine/$file" ] && [ ! -e "$src/.faultloc/absent/$file" ]; then
            tarball=${tarball:-$("$top_srcdir/maint/get-mpich.sh" --release "$release" --tarball-only)}
            mkdir -p "$tmp/fresh"
            if tar -xf "$tarball" -C "$tmp/fresh" --strip-components=1 --no-same-owner \
                "mpich-$release/$file" 2>/dev/null; then
                mkdir -p "$src/.faultloc/pristine/$(dirname "$file")"
                cp -p "$tmp/fresh/$file" "$src/.faultloc/pristine/$file"
            else
                [ -f "$src/$file" ] || die "$file: neither in MPICH $release nor in $src"
                mkdir -p "$src/.faultloc/absent/$(dirname "$file")"
                : >"$src/.faultloc/absent/$file"
            fi
        fi
        echo "$name $file" >>"$tmp/map"
    done
}

start_patch() {
    local name=$1
    shift
    [ ! -e "$patches/$name" ] || die "$patches/$name exists; --add adds files to it"
    mkdir -p "$(dirname "$patches/$name")"
    cat >"$patches/$name" <<EOF
Subject: 
Why: 
Upstream-file: $*
Status: not sent upstream
Remove-when: 

EOF
    [ -z "$(tail -c 1 "$patches/series")" ] || echo >>"$patches/series"
    echo "$name" >>"$patches/series"
}

src= patches=$top_srcdir/patches new= add= files=()
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --patches | --new | --add)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            case $1 in --patches) patches=$2 ;; --new) new=${2%.patch}.patch ;; --add) add=${2%.patch}.patch ;; esac
            shift ;;
        -*) usage_error "unknown option $1" ;;
        *) if [ -z "$src" ]; then src=$1; else files+=("${1#./}"); fi ;;
    esac
    shift
done
[ -n "$src" ] || usage_error "SRC is missing"
[ -z "$new" ] || [ -z "$add" ] || usage_error "--new and --add do not go together"
if [ -n "$new" ] && [[ " $patch_rooms " != *" ${new%/*} "* ]]; then
    usage_error "--new $new: the folder must be one of $patch_rooms"
fi
if [ -n "$new$add" ]; then
    [ ${#files[@]} -gt 0 ] || usage_error "name the files that the patch changes"
elif [ ${#files[@]} -gt 0 ]; then
    usage_error "more than one SRC: $src and ${files[0]}"
fi
[ -f "$src/.faultloc/patches/series" ] || die "$src was not patched by maint/apply.sh (no" \
    ".faultloc/patches in it); run maint/apply.sh $src first"
need_programs patch diff awk cmp
src=$(cd "$src" && pwd)
release=$(mpich_version_of "$src")
patches=$(cd "$patches" && pwd)
stored=$src/.faultloc/patches
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
tmp=$(mktemp -d "${TMPDIR:-/tmp}/faultloc-export.XXXXXX")
mkdir -p "$tmp/out" "$tmp/now"

: >"$tmp/map"
mapfile -t names < <(series_of "$stored/series")
for name in "${names[@]}"; do
    [ -f "$patches/$name" ] || die "$src was patched with $name, which is not in $patches; bring" \
        "the tree up to date first: maint/apply.sh $src"
    patch_files "$stored/$name" | sed "s|^|$name |" >>"$tmp/map"
done
if [ -n "$add" ] && ! grep -qxF "$add" <<<"$(series_of "$stored/series")"; then
    die "no patch $add is applied in $src; --new makes one"
fi
[ -z "$new$add" ] || take_in "${new:-$add}" "${files[@]}"
[ -z "$new" ] || { start_patch "$new" "${files[@]}"; names+=("$new"); }
[ ! -d "$src/.faultloc/pristine" ] || cp -a "$src/.faultloc/pristine/." "$tmp/now/"
for name in "${names[@]}"; do
    export_patch "$name"
done
write_out "${names[@]}"
if [ "$(readlink -f "$patches")" = "$(readlink -f "$top_srcdir/patches")" ]; then
    "$top_srcdir/maint/apply.sh" --no-overlay "$src"
fi
