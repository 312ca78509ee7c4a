#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/build-mpich.sh [OPTION]... [-- MPICH-CONFIGURE-OPTION...]
       maint/build-mpich.sh --print-lean-flags

Builds MPICH with FaultLoc in six steps. A step runs only if it has something to do:
  1. get the MPICH source                DIR/mpich        (maint/get-mpich.sh)
  2. copy the overlay, apply the patches                  (maint/apply.sh)
  3. MPICH's autogen.sh, if a file that it reads changed (about 40 s); if only control variables
     or error messages changed, only their extraction
  4. configure                           DIR/mpich-build
  5. make
  6. make install, for the tests         DIR/stage   (usable where it is)
"make" runs this script. Run it directly to build a second variant. CC, CXX, FC and F77 are taken
from the environment, and CONFIG_SHELL, which is dash where there is one.

  --builddir DIR           the folder for all of the above (default: .)
  --prefix P               where "make install" is to put MPICH (default: /usr/local)
  --from FILE-OR-DIR       where the MPICH source comes from (default: see maint/get-mpich.sh)
  --jobs N                 parallel jobs, unless a calling make decides
  --apply-options OPTIONS  options for maint/apply.sh
  --until STEP             stop after step 1 to 6
  --print-lean-flags       print MPICH's configure options of the lean profile, one per line
  --help                   this text

Exit code: 0 done, 1 failed (the end of the log is shown), 2 wrong arguments.
EOF
}

# Where a library was installed, as MPICH's configure wants to have it.
prefix_of() {
    pkg-config --variable=prefix "$1" 2>/dev/null || echo /usr
}

lean_flags() {
    echo "--with-device=ch4:ucx"
    echo "--with-ucx=$(prefix_of ucx)"
    echo "--with-hwloc-prefix=$(prefix_of hwloc)"
    printf -- '--%s\n' disable-fortran disable-cxx disable-romio disable-static \
        with-datatype-engine=dataloop
}

# key NAME: the stored key of a step; set_key NAME VALUE stores it, once the step is done.
key() {
    cat "$stamps/$1" 2>/dev/null || true
}

set_key() {
    mkdir -p "$stamps"
    echo "$2" >"$stamps/$1.new"
    mv "$stamps/$1.new" "$stamps/$1"
}

progress() {
    local step=$1 title=$2 log=$3 count=$4 total=$5
    shift 5
    "$top_srcdir/maint/progress.sh" --step "$step/6" --title "$title" --log "$log" \
        ${count:+--count "$count" --total "$total"} -- "$@"
}

get_source() {
    local version
    if [ -d "$tree" ]; then
        version=$(mpich_version_of "$tree")
        is_base "${version:-none}" || die "$tree is MPICH ${version:-of no known version}; expected" \
            "one of ${mpich_versions[*]}; remove it and make gets the right one"
        return 0
    fi
    rm -rf "$stamps"
    "$top_srcdir/maint/get-mpich.sh" ${from:+--from "$from"} "$tree"
}

apply() {
    # shellcheck disable=SC2086  # options, to be split
    "$top_srcdir/maint/apply.sh" $apply_options "$tree" 2>"$builddir/mpich-apply.log" || {
        cat "$builddir/mpich-apply.log" >&2
        exit 1
    }
    grep -v ' 0 files changed$' "$builddir/mpich-apply.log" >&2 || true
}

# Everything that we put into the tree: overlay and patched files.
our_files() {
    {
        while read -r name; do place "$name"; done <"$tree/.faultloc/overlay"
        for name in $(series_of "$tree/.faultloc/patches/series"); do
            patch_files "$tree/.faultloc/patches/$name"
        done
    } | sort -u
}

# The key of what autogen.sh reads to make configure, Makefile.in and the bindings.
autogen_key() {
    {
        autoconf --version | head -n 1
        automake --version | head -n 1
        while read -r name; do
            case $name in
                *Makefile.mk | *Makefile.am | *configure.ac | *.m4 | *.py | *_api.txt | maint/*)
                    echo "$name $(sha256_of "$tree/$name")" ;;
            esac
        done <"$builddir/mpich-files"
    } | sha256sum | cut -d' ' -f1
}

# The key of what is extracted from sources: control variables and error messages.
scan_key() {
    while read -r name; do
        case $name in
            *errnames.txt) cat "$tree/$name" ;;
            *.c | *.h)
                sed -n '/BEGIN_MPI_T_CVAR_INFO_BLOCK/,/END_MPI_T_CVAR_INFO_BLOCK/p' "$tree/$name"
                grep -o '"\*\*[^"]*"' "$tree/$name" || true ;;
        esac
    done <"$builddir/mpich-files" | sha256sum | cut -d' ' -f1
}

# keep_old SAVED-COPY FILE: the old file again, with its time, if the new one says the same.
keep_old() {
    cmp -s "$1" "$2" && cp -p "$1" "$2"
    rm -f "$1"
}

# The part of autogen.sh that extracts, in a second rather than 40; see there.
rescan() {
    local file old_cvardirs
    cd "$tree"
    old_cvardirs=$(cat maint/cvardirs 2>/dev/null || true)
    for file in $scanned; do cp -p "$file" "$file.old"; done
    # shellcheck disable=SC2046  # folders, to be split
    maint/extracterrmsgs -careful=unusederr.txt -skip=src/util/multichannel/mpi.c \
        $(cat maint/errmsgdirs) >defmsg.new
    [ -s defmsg.new ] && mv defmsg.new src/mpi/errhan/defmsg.h
    # newer releases know the folders
    maint/extractcvars ${old_cvardirs:+--dirs="$old_cvardirs"}
    for file in $scanned; do keep_old "$file.old" "$file" || true; done
}
scanned="src/mpi/errhan/defmsg.h src/util/mpir_cvars.c src/include/mpir_cvars.h"

# Quickly; what a release tarball has ready is made where the source is a git tree, if it is there:
# the lean profile needs no yaksa, a submodule up to 4.3.
autogen_options() {
    local part dir
    echo -quick -without-hwloc -without-json -without-romio -without-yaksa
    [ -f "$tree/modules/json-c/configure" ] || echo -with-json
    for part in romio:src/mpi/romio yaksa:modules/yaksa yaksa:src/mpi/datatype/typerep/yaksa; do
        dir=$tree/${part#*:}
        [ -f "$dir/configure" ] || [ ! -f "$dir/configure.ac" ] || echo "-with-${part%:*}"
    done
    [ ! -d "$tree/test/mpi/confdb" ] || echo -without-test
}

autogen() {
    local want scan
    our_files >"$builddir/mpich-files"
    want=$(autogen_key)
    scan=$(scan_key)
    if [ "$(key autogen)" != "$want" ]; then
        rm -f "$stamps/autogen"
        # shellcheck disable=SC2046  # options, to be split
        progress 3 "running MPICH's autogen.sh" "$builddir/mpich-autogen.log" '' 0 \
            bash -c 'cd "$1" && shift && AUTORECONF=${AUTORECONF:-autoreconf} ./autogen.sh "$@"' - \
            "$tree" $(autogen_options)
        [ -f "$tree/src/mpid/ch4/faultloc/node/callnames.h" ] || apply
        set_key autogen "$want"
        set_key scan "$scan"
    elif [ "$(key scan)" != "$scan" ]; then
        progress 3 "extracting control variables and error messages" \
            "$builddir/mpich-autogen.log" '' 0 "$0" --rescan "$tree"
        set_key scan "$scan"
    fi
}

configure() {
    local want name
    want=$({
        key autogen
        printf '%s\n' "--prefix=$prefix" "${flags[@]}"
        for name in CC CXX FC F77 CFLAGS CPPFLAGS LDFLAGS FFLAGS FCFLAGS CXXFLAGS LIBS; do
            echo "$name=${!name:-}"
        done
    } | sha256sum | cut -d' ' -f1)
    [ "$(key configure)" != "$want" ] || [ ! -f "$build/Makefile" ] || return 0
    rm -rf "$build" "${stamps:?}"/{configure,built,staged}
    mkdir -p "$build"
    # configure and libtool are shell scripts, which dash runs in two thirds of bash's time
    [ -n "${CONFIG_SHELL:-}" ] || [ ! -x /bin/dash ] || export CONFIG_SHELL=/bin/dash
    progress 4 "configuring MPICH" "$builddir/mpich-configure.log" '^checking ' $configure_total \
        bash -c 'cd "$1" && shift && exec "$@"' - "$build" ../mpich/configure \
        --prefix="$prefix" "${flags[@]}"
    set_key configure "$want"
}

# run_make ARGUMENT...: under make its job server is used; else --jobs.
run_make() {
    if [ -n "${MAKEFLAGS:-}" ] || [ -z "$jobs" ]; then
        "${MAKE:-make}" -C "$build" "$@"
    else
        "${MAKE:-make}" -C "$build" -j"$jobs" "$@"
    fi
}

# Makes the compiler quicker; where it cannot be, the build is only slower.
precompile() {
    run_make -f Makefile -f "$top_srcdir/maint/precompile.mk" precompiled || rm -rf "$precompiled"
}

compile() {
    if [ -f "$stamps/built" ] && [ -z "$(find -H "$tree" -path "$tree/.faultloc" -prune -o -type f \
        -newer "$stamps/built" -print -quit)" ]; then
        return 0
    fi
    rm -f "$stamps/built"
    : >"$builddir/mpich-built.time"
    progress 5 "building MPICH" "$builddir/mpich-make.log" '^  (CC|FC|F77|CXX|PPFC) ' $make_total \
        "$0" --make "$builddir" "$jobs"
    set_key built yes
    # The time at which make began: what is edited while it runs counts as newer.
    touch -r "$builddir/mpich-built.time" "$stamps/built"
}

# Installs for the tests below DIR/mpich-stage, and makes the compiler scripts find what is there.
stage() {
    local dest=$builddir/mpich-stage$prefix name
    if [ -f "$stamps/staged" ] && [ "$stamps/staged" -nt "$stamps/built" ] && [ -d "$dest" ]; then
        return 0
    fi
    rm -rf "$builddir/mpich-stage"
    progress 6 "installing MPICH for the tests" "$builddir/mpich-install.log" '' 0 \
        "$0" --make "$builddir" "$jobs" install DESTDIR="$builddir/mpich-stage"
    for name in "$dest"/bin/mpi{cc,cxx,fort}; do
        [ -f "$name" ] || continue
        sed -i -E "/^(prefix|exec_prefix|[a-z]*dir)=/s|=([\"']?)$prefix|=\\1$dest|" "$name"
    done
    ln -sfn "mpich-stage$prefix" "$builddir/stage"
    set_key staged yes
}

builddir=. prefix=/usr/local from= jobs= apply_options= until=6 print=no flags=()
# About how many lines the logs have that say how far it is (the lean profile; measured).
configure_total=1240 make_total=895
case ${1:-} in
    --rescan)
        tree=$2
        rescan
        exit 0 ;;
    --make)
        build=$2/mpich-build jobs=$3 precompiled=$2/mpich-build/src/include/mpiimpl.h.gch
        shift 3
        [ $# -gt 0 ] || precompile
        run_make "$@"
        rm -rf "$precompiled"
        exit 0 ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --print-lean-flags) print=yes ;;
        --builddir | --prefix | --from | --jobs | --until)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            printf -v "${1#--}" '%s' "$2"
            shift ;;
        --apply-options) [ $# -ge 2 ] || usage_error "$1 needs a value"; apply_options=$2; shift ;;
        --) shift; flags=("$@"); break ;;
        *) usage_error "unknown argument $1" ;;
    esac
    shift
done
if [ $print = yes ]; then
    lean_flags
    exit 0
fi
need_programs autoconf automake libtoolize m4 perl python3 patch make
mkdir -p "$builddir"
builddir=$(cd "$builddir" && pwd)
tree=$builddir/mpich build=$builddir/mpich-build stamps=$builddir/mpich-stamps
case " ${flags[*]} " in
    *' --disable-romio '*) ;;
    *) configure_total=2600 make_total=1900 ;;
esac

for step in get_source apply autogen configure compile stage; do
    $step
    until=$((until - 1))
    [ $until -gt 0 ] || break
done
