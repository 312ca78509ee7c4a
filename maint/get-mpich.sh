#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/get-mpich.sh [OPTION]... DEST
       maint/get-mpich.sh [OPTION]... --tarball-only

Puts an unpacked, unchanged MPICH source tree of one of the releases ${mpich_versions[*]} at DEST,
which must not exist yet (or be an empty folder). With --tarball-only it prints the path of the
verified tarball instead.

These are tried in order; the first that has the source is used:
  1. the file or source folder given with --from;
  2. the cache folder;
  3. Debian's source package, by apt-get with a source list of its own that is removed afterwards
     (nothing under /etc/apt is changed, no root is needed);
  4. the project's release site, by curl.
A tarball must have one of the SHA-256 sums in maint/bases. A downloaded one is kept in the cache.

  --release R         which release (default: the newest supported one that can be had, of
                      $supported; with --from, the one that is there)
  --from FILE-OR-DIR  a tarball, a folder that has one, or an unpacked MPICH source tree. Nothing
                      else is tried then. Of an unpacked tree only the version is checked.
  --cache DIR         the cache folder (default: \$XDG_CACHE_HOME/faultloc, or ~/.cache/faultloc)
  --only NAME         try only this source: cache, debian or site
  --tarball-only      print the tarball's path, unpack nothing
  --help              this text

Environment: FAULTLOC_MPICH_URL, another address of the release's tarball, for example of a mirror.
Exit code: 0 done, 1 failed (the reason is on standard error), 2 wrong arguments.
EOF
}

tmp=
# Called by the trap on exit: whatever happens, nothing of ours stays behind.
clean_up() {
    [ -z "$tmp" ] || rm -rf "$tmp"
    [ -z "${partial:-}" ] || rm -rf "$partial"
}

# files [RELEASE]: what maint/bases has of it, of all without one: release, file, sum.
files() {
    awk -v release="${1:-}" '!/^#/ && NF == 4 && (release == "" || $1 == release) {
        print $1, $3, $4 }' "$top_srcdir/maint/bases"
}

# check_tarball FILE: succeeds if it is a release that is wanted, and sets `release`; else says what
# was expected and got.
check_tarball() {
    local got name sum of
    got=$(sha256_of "$1") || return 1
    while read -r of name sum; do
        if [ "$got" = "$sum" ]; then
            release=$of
            return 0
        fi
    done < <(files "$release")
    printf '%s: %s is no MPICH release that is known: refused\n  got SHA-256      %s\n' \
        "$prog" "$1" "$got" >&2
    files "$release" | while read -r of name sum; do
        printf '  %-16s %s (%s)\n' "expected" "$sum" "$name" >&2
    done
    return 1
}

# into_cache FILE NAME: keeps FILE in the cache; sets tarball. Atomic: two may run at once.
into_cache() {
    tarball=$1
    if mkdir -p "$cache" 2>/dev/null && cp "$1" "$cache/.$2.$$" 2>/dev/null; then
        mv -f "$cache/.$2.$$" "$cache/$2"
        tarball=$cache/$2
    else
        rm -f "$cache/.$2.$$" 2>/dev/null || true
        warn "cannot write to the cache folder $cache; the tarball is not kept for the next time"
    fi
}

from_user() {
    local path=$1 version name
    if [ -f "$path" ]; then
        check_tarball "$path" || die "give --from one of these:" \
            "$(files "$release" | awk '{ printf " %s", $2 }')"
        tarball=$(realpath "$path")
        return
    fi
    [ -d "$path" ] || die "--from $path: no such file or folder"
    while read -r _ name _; do
        [ -f "$path/$name" ] || continue
        check_tarball "$path/$name" || die "give --from an undamaged copy"
        tarball=$(realpath "$path/$name")
        return
    done < <(files "$release")
    version=$(mpich_version_of "$path")
    [ -n "$version" ] || die "--from $path: neither an MPICH source tree (no maint/version.m4)" \
        "nor a folder with$(files "$release" | awk '{ printf " %s", $2 }')"
    is_base "$version" || die "--from $path: this is MPICH $version; the patches are made for" \
        "${mpich_versions[*]}; maint/apply.sh --as RELEASE tries those of a release that is near"
    release=$version
    [ ! -e "$path/.faultloc" ] || die "--from $path: this tree is patched already; a pristine one" \
        "is needed (maint/apply.sh --revert $path makes it one)"
    tree=$(realpath "$path")
}

from_cache() {
    local name
    while read -r _ name _; do
        [ -f "$cache/$name" ] || continue
        if check_tarball "$cache/$name"; then
            tarball=$cache/$name
            return 0
        fi
        warn "$cache/$name is ignored; it is replaced once a good one is found"
    done < <(files "$release")
    return 1
}

# debian_sources: deb-src lines to try, best first: this machine's own mirrors, then Debian's.
debian_sources() {
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg uri suite signed options
    apt-get indextargets \
        --format '$(CREATED_BY)|$(COMPONENT)|$(REPO_URI)|$(RELEASE)|$(SIGNED_BY)' 2>/dev/null \
        | grep -E '^Packages\|main\|' | sort -u | cut -d'|' -f3- \
        | while IFS='|' read -r uri suite signed; do
            case $suite in
                *-security | *-updates | *-backports | *-debug) continue ;;
            esac
            case $uri in
                *debian* | *ubuntu*) ;;
                *) continue ;;
            esac
            options=
            [ -f "$signed" ] || signed=$keyring
            case $uri$signed in
                *ubuntu*$keyring) signed=/usr/share/keyrings/ubuntu-archive-keyring.gpg ;;
            esac
            [ ! -f "$signed" ] || options="[signed-by=$signed] "
            echo "deb-src ${options}${uri} ${suite} main"
        done || true
    if [ -f $keyring ]; then
        echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian bookworm main"
    fi
}

# private_apt PROGRAM ARGUMENT...: apt with lists, cache and sources of our own.
private_apt() {
    local program=$1
    shift
    "$program" -q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$tmp/apt/cache" \
        -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false \
        -o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

# debian_fetch LINE: the orig tarball by one deb-src line, into $apt; a line's lists are fetched once.
debian_fetch() {
    local version
    apt=$tmp/apt.$(printf %s "$1" | cksum | cut -d' ' -f1)
    if [ ! -f "$apt/sources.list" ]; then
        mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
        echo "$1" >"$apt/sources.list"
        private_apt apt-get update >"$tmp/apt.log" 2>&1 || return 1
    fi
    version=$(private_apt apt-cache showsrc --only-source mpich 2>>"$tmp/apt.log" \
        | sed -n "s/^Version: \(\([0-9]*:\)\?$release-.*\)/\1/p" | head -n 1)
    if [ -z "$version" ]; then
        echo "no source package mpich $release there" >>"$tmp/apt.log"
        return 1
    fi
    (cd "$apt" && private_apt apt-get source --download-only --tar-only "mpich=$version") \
        >>"$tmp/apt.log" 2>&1 || return 1
    [ -f "$apt/mpich_$release.orig.tar.xz" ]
}

from_debian() {
    local line
    if ! command -v apt-get >/dev/null 2>&1; then
        tried+=("Debian's source package: no apt-get on this machine")
        return 1
    fi
    while read -r line; do
        say "asking Debian for the mpich $release source package: ${line#deb-src }"
        if debian_fetch "$line"; then
            if check_tarball "$apt/mpich_$release.orig.tar.xz"; then
                into_cache "$apt/mpich_$release.orig.tar.xz" "mpich_$release.orig.tar.xz"
                return 0
            fi
            tried+=("Debian's source package ($line): wrong SHA-256")
        else
            tried+=("Debian's source package ($line): $(tail -n 1 "$tmp/apt.log")")
        fi
    done < <(debian_sources | awk '!seen[$0]++')
    return 1
}

fetch() {
    curl -fL "$@" --retry 2 --connect-timeout 20 -o "$tmp/$release_name" "$release_url"
}

from_site() {
    local code=0
    if ! command -v curl >/dev/null 2>&1; then
        tried+=("$release_url: no curl on this machine")
        return 1
    fi
    say "fetching $release_url"
    if [ -t 2 ]; then
        fetch --progress-bar || code=$?
    else
        fetch -sS 2>"$tmp/curl.log" || code=$?
    fi
    if [ $code -ne 0 ]; then
        tried+=("$release_url: curl's exit code $code $(tail -n 1 "$tmp/curl.log" 2>/dev/null)")
        return 1
    fi
    if ! check_tarball "$tmp/$release_name"; then
        tried+=("$release_url: wrong SHA-256")
        return 1
    fi
    into_cache "$tmp/$release_name" "$release_name"
}

# find_release: whether one of the sources has its tarball.
find_release() {
    local source
    release_name=mpich-$release.tar.gz
    release_url=${FAULTLOC_MPICH_URL:-https://www.mpich.org/static/downloads/$release/$release_name}
    for source in ${only:-cache debian site}; do
        if "from_$source"; then
            return 0
        fi
        [ "$source" != cache ] || tried+=("the cache folder $cache: no good tarball of $release")
    done
    return 1
}

find_tarball() {
    local wanted=${release:-$supported} name
    [ -n "$(files "$release")" ] || die "no file of $release has a sum in maint/bases; give its" \
        "source tree with --from (./configure --with-mpich=FOLDER)"
    for release in $wanted; do
        if find_release; then
            [ "$wanted" = "$release" ] || say "MPICH $release, the newest supported one to be had here"
            return 0
        fi
    done
    printf '  %s\n' "${tried[@]}" >&2
    name=mpich-${wanted%% *}.tar.gz
    die "no tarball of MPICH ${wanted// /, } found; tried the above. Fetch" \
        "$name by hand and give it with --from (./configure --with-mpich=FILE)"
}

# Beside DEST first, then renamed: a DEST that exists is always complete.
unpack() {
    partial=$(dirname "$dest")/.${dest##*/}.$$
    mkdir -p "$partial"
    if [ -n "$tree" ]; then
        say "copying $tree to $dest"
        cp -a "$tree/." "$partial/"
    else
        say "unpacking $tarball to $dest"
        tar -xf "$tarball" -C "$partial" --strip-components=1 --no-same-owner \
            || die "cannot unpack $tarball below $(dirname "$dest"); is the disk full?"
    fi
    [ ! -d "$dest" ] || rmdir "$dest"
    mv "$partial" "$dest"
    partial=
}

from= only= tarball= tree= dest= release= tarball_only=no
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/faultloc
tried=()

while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --from | --cache | --only | --release)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            printf -v "${1#--}" '%s' "$2"
            shift ;;
        --from=*) from=${1#*=} ;;
        --cache=*) cache=${1#*=} ;;
        --only=*) only=${1#*=} ;;
        --tarball-only) tarball_only=yes ;;
        -*) usage_error "unknown option $1" ;;
        *) [ -z "$dest" ] || usage_error "more than one DEST: $dest and $1"; dest=$1 ;;
    esac
    shift
done
case $only in '' | cache | debian | site) ;; *) usage_error "--only $only: cache, debian or site" ;; esac
[ $tarball_only = yes ] || [ -n "$dest" ] || usage_error "DEST is missing"
[ $tarball_only = no ] || [ -z "$dest" ] || usage_error "--tarball-only takes no DEST"
[ -z "$release" ] || is_base "$release" || usage_error "--release $release: one of ${mpich_versions[*]}"
need_programs sha256sum tar xz realpath
if [ -n "$dest" ] && [ -e "$dest" ] && { [ ! -d "$dest" ] || [ -n "$(ls -A "$dest")" ]; }; then
    die "$dest exists and is not an empty folder; remove it or give another DEST"
fi

trap clean_up EXIT
trap 'exit 1' HUP INT TERM
tmp=$(mktemp -d "${TMPDIR:-/tmp}/faultloc-get.XXXXXX")
if [ -n "$from" ]; then from_user "$from"; else find_tarball; fi

if [ $tarball_only = yes ]; then
    [ -n "$tarball" ] || die "--from $from is an unpacked tree; there is no tarball to name"
    [ "${tarball#"$tmp"/}" = "$tarball" ] || die \
        "the cache folder $cache must be writable for --tarball-only"
    realpath "$tarball"
else
    mkdir -p "$(dirname "$dest")"
    unpack
fi
