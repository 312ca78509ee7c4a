#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The same release in two wrappings. Nothing else is accepted.
debian_name=mpich_4.0.2.orig.tar.xz
debian_sha256=b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860
release_name=mpich-4.0.2.tar.gz
release_sha256=5a42f1a889d4a2d996c26e48cbf9c595cbf4316c6814f7c181e3320d21dedd42
release_url=${FAULTLOC_MPICH_URL:-https://www.mpich.org/static/downloads/4.0.2/mpich-4.0.2.tar.gz}

usage() {
    cat <<EOF
Usage: maint/get-mpich.sh [OPTION]... DEST
       maint/get-mpich.sh [OPTION]... --tarball-only

Puts an unpacked, unchanged MPICH $mpich_version source tree at DEST, which must not exist yet (or be
an empty folder). With --tarball-only it prints the path of the verified tarball instead.

These are tried in order; the first that has the source is used:
  1. the file or source folder given with --from;
  2. the cache folder;
  3. Debian's source package, by apt-get with a source list of its own that is removed afterwards
     (nothing under /etc/apt is changed, no root is needed);
  4. the project's release site, by curl.
A tarball must have one of the two pinned SHA-256 sums. A downloaded one is kept in the cache.

  --from FILE-OR-DIR  a tarball, a folder that has one, or an unpacked MPICH source tree. Nothing
                      else is tried then. Of an unpacked tree only the version is checked.
  --cache DIR         the cache folder (default: \$XDG_CACHE_HOME/faultloc, or ~/.cache/faultloc)
  --only NAME         try only this source: cache, debian or site
  --tarball-only      print the tarball's path, unpack nothing
  --help              this text

Environment: FAULTLOC_MPICH_URL, another address of mpich-4.0.2.tar.gz, for example of a mirror.
Exit code: 0 done, 1 failed (the reason is on standard error), 2 wrong arguments.
EOF
}

tmp=
# Called by the trap on exit: whatever happens, nothing of ours stays behind.
clean_up() {
    [ -z "$tmp" ] || rm -rf "$tmp"
    [ -z "${partial:-}" ] || rm -rf "$partial"
}

# expected_sum FILE: the pinned sum that fits the file's wrapping.
expected_sum() {
    case $1 in
        *.xz) echo $debian_sha256 ;;
        *.gz | *.tgz) echo $release_sha256 ;;
        *) echo "$debian_sha256 or $release_sha256" ;;
    esac
}

# check_tarball FILE: succeeds if it is the release; else says what was expected and got.
check_tarball() {
    local got
    got=$(sha256_of "$1") || return 1
    case $got in
        "$debian_sha256" | "$release_sha256") return 0 ;;
    esac
    printf '%s: %s is not the MPICH %s release: refused\n  expected SHA-256 %s\n  got SHA-256      %s\n' \
        "$prog" "$1" "$mpich_version" "$(expected_sum "$1")" "$got" >&2
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
        check_tarball "$path" || die "give --from the tarball $debian_name or $release_name"
        tarball=$(realpath "$path")
        return
    fi
    [ -d "$path" ] || die "--from $path: no such file or folder"
    for name in $debian_name $release_name; do
        [ -f "$path/$name" ] || continue
        check_tarball "$path/$name" || die "give --from an undamaged copy"
        tarball=$(realpath "$path/$name")
        return
    done
    version=$(mpich_version_of "$path")
    [ -n "$version" ] || die "--from $path: neither an MPICH source tree (no maint/version.m4)" \
        "nor a folder with $debian_name or $release_name"
    [ "$version" = "$mpich_version" ] || die "--from $path: this is MPICH $version; expected" \
        "$mpich_version, the release that the patches are made for"
    [ ! -e "$path/.faultloc" ] || die "--from $path: this tree is patched already; a pristine one" \
        "is needed (maint/apply.sh --revert $path makes it one)"
    tree=$(realpath "$path")
}

from_cache() {
    local name
    for name in $debian_name $release_name; do
        [ -f "$cache/$name" ] || continue
        if check_tarball "$cache/$name"; then
            tarball=$cache/$name
            return 0
        fi
        warn "$cache/$name is ignored; it is replaced once a good one is found"
    done
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
    "$program" -q -o Dir::Etc::sourcelist="$tmp/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$tmp/apt/lists" -o Dir::Cache="$tmp/apt/cache" \
        -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false \
        -o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

# debian_fetch LINE: the orig tarball by one deb-src line, into $tmp/apt.
debian_fetch() {
    local version
    rm -rf "$tmp/apt"
    mkdir -p "$tmp/apt/lists/partial" "$tmp/apt/cache/archives/partial"
    echo "$1" >"$tmp/apt/sources.list"
    private_apt apt-get update >"$tmp/apt.log" 2>&1 || return 1
    version=$(private_apt apt-cache showsrc --only-source mpich 2>>"$tmp/apt.log" \
        | sed -n "s/^Version: \(\([0-9]*:\)\?$mpich_version-.*\)/\1/p" | head -n 1)
    if [ -z "$version" ]; then
        echo "no source package mpich $mpich_version there" >>"$tmp/apt.log"
        return 1
    fi
    (cd "$tmp/apt" && private_apt apt-get source --download-only --tar-only "mpich=$version") \
        >>"$tmp/apt.log" 2>&1 || return 1
    [ -f "$tmp/apt/$debian_name" ]
}

from_debian() {
    local line
    if ! command -v apt-get >/dev/null 2>&1; then
        tried+=("Debian's source package: no apt-get on this machine")
        return 1
    fi
    while read -r line; do
        say "asking Debian for the mpich $mpich_version source package: ${line#deb-src }"
        if debian_fetch "$line"; then
            if check_tarball "$tmp/apt/$debian_name"; then
                into_cache "$tmp/apt/$debian_name" $debian_name
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
    into_cache "$tmp/$release_name" $release_name
}

find_tarball() {
    local source
    for source in ${only:-cache debian site}; do
        if "from_$source"; then
            return 0
        fi
        [ "$source" != cache ] || tried+=("the cache folder $cache: no good tarball in it")
    done
    printf '  %s\n' "${tried[@]}" >&2
    die "no MPICH $mpich_version tarball found; tried the above. Fetch $release_name or" \
        "$debian_name by hand and give it with --from (./configure --with-mpich=FILE)"
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

from= only= tarball= tree= dest= tarball_only=no
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/faultloc
tried=()

while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --from | --cache | --only)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            case $1 in --from) from=$2 ;; --cache) cache=$2 ;; --only) only=$2 ;; esac
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
