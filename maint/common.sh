# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What the maintenance scripts share. To be sourced, not run.
# The sourcing script sets nothing first; it gets top_srcdir and the functions below.

top_srcdir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The MPICH releases that the patches are made for (maint/bases says more of each), the first of which
# has patches without an offset, and those that are supported, the newest first.
# shellcheck disable=SC2034  # used by the scripts that source this file
mapfile -t mpich_versions < <(sed '/^#/d; s/ .*//' "$top_srcdir/maint/bases" | uniq)
# shellcheck disable=SC2034
mpich_version=${mpich_versions[0]}
# shellcheck disable=SC2034
supported=$(awk '$2 == "supported" { print $1 }' "$top_srcdir/maint/bases" | sort -ruV | tr '\n' ' ')
supported=${supported% }

# What a source tree gets from us: these folders, and in them files with these names.
# shellcheck disable=SC2034
overlay_dirs=(src/util/ftree src/mpid/ch4/faultloc src/hydra)
# shellcheck disable=SC2034
overlay_names='.*\.\(c\|h\|mk\|m4\|txt\|in\|def\|inc\|py\|rules\)$'

# place FILE: where a file or folder of the overlay is in a source tree: hydra's makefiles know only
# its own, and MPICH's generator of bindings what is beside it.
place() {
    case $1 in
        src/hydra | src/hydra/*) echo "src/pm/hydra/faultloc${1#src/hydra}" ;;
        src/mpid/ch4/faultloc/*.py) echo "maint/local_python/${1##*/}" ;;
        *) echo "$1" ;;
    esac
}

prog=${0##*/}

# say TEXT...: one line on stderr about what is going on.
say() {
    printf '[faultloc] %s\n' "$*" >&2
}

warn() {
    printf '%s: warning: %s\n' "$prog" "$*" >&2
}

# die TEXT...: the thing, the place, the remedy; then exit 1.
die() {
    printf '%s: error: %s\n' "$prog" "$*" >&2
    exit 1
}

# usage_error TEXT...: wrong arguments; exit 2.
usage_error() {
    printf '%s: %s\nTry %s --help.\n' "$prog" "$*" "$0" >&2
    exit 2
}

# need_programs NAME...: all that are missing, in one message.
need_programs() {
    local name missing=()
    for name in "$@"; do
        command -v "$name" >/dev/null 2>&1 || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] || die "missing program(s): ${missing[*]}; on Debian or Ubuntu" \
        "maint/packages.sh --install gets all that is needed"
}

sha256_of() {
    sha256sum <"$1" | cut -d' ' -f1
}

# mpich_version_of DIR: prints the version of the MPICH tree in DIR, nothing if it is none. MVAPICH's is
# that of its MPICH with its own behind it, 4.3.0-mvapich4.0: the ranges of patches are MPICH's.
mpich_version_of() {
    [ -f "$1/maint/version.m4" ] || return 0
    sed -n -e 's/^m4_define(\[MPICH_VERSION_m4\],\[\(.*\)\]).*/\1/p' \
        -e 's/^m4_define(\[MVAPICH_VERSION_m4\],\[\(.*\)\]).*/-mvapich\1/p' \
        "$1/maint/version.m4" | tr -d '\n'
}

# The folders of patches/: what a patch is for.
# shellcheck disable=SC2034
patch_rooms='observe fail api hydra build upstream-fixes'

# is_base RELEASE: whether the patches are made for it.
is_base() {
    [[ " ${mpich_versions[*]} " = *" $1 "* ]]
}

# series_of FILE [RELEASE]: the names in a series file; with a RELEASE those of its range alone.
# A range FIRST:LAST follows a name, both ends may be missing; 4.0:4.1 has all of 4.0.x and 4.1.x.
series_of() {
    sed 's/#.*//' "$1" | awk -v release="${2:-}" '
        # compare(A, B): <0, 0 or >0, by as many numbers as B has
        function compare(a, b,   x, y, n, i) {
            split(a, x, "."); n = split(b, y, ".")
            for (i = 1; i <= n; i++)
                if (x[i] + 0 != y[i] + 0)
                    return x[i] - y[i]
            return 0
        }
        NF == 0 { next }
        NF == 2 && release != "" {
            split($2, end, ":")
            if (end[1] != "" && compare(release, end[1]) < 0) next
            if (end[2] != "" && compare(release, end[2]) > 0) next
        }
        { print $1 }'
}

# patch_files FILE: the files that a patch changes, in its order.
# A new file has /dev/null on the --- side, a removed one on the +++ side.
patch_files() {
    awk '
        $1 == "---" && !hunk { old = $2; next }
        $1 == "+++" && old != "" {
            name = ($2 == "/dev/null") ? old : $2
            sub(/^[ab]\//, "", name)
            print name
            old = ""
            next
        }
        /^@@ / {
            split($2, o, ","); split($3, n, ",")
            left = (o[2] == "" ? 1 : o[2]); right = (n[2] == "" ? 1 : n[2]); hunk = 1
            next
        }
        hunk {
            c = substr($0, 1, 1)
            if (c == "-") left--
            else if (c == "+") right--
            else if (c == " " || c == "") { left--; right-- }
            if (left <= 0 && right <= 0) hunk = 0
        }' "$1"
}

# count_lines FILE: how many lines a patch adds and removes.
count_lines() {
    # "+++" and "---" lines come in pairs, one per file
    echo $(($(grep -c '^[-+]' "$1") - 2 * $(patch_files "$1" | wc -l)))
}

# patch_header FILE: everything before the first changed file.
patch_header() {
    awk '/^(--- |diff |Index: )/ { exit } { print }' "$1"
}

# calls SOURCES OBJECTS: two folders; "FILE SYMBOL FILE", what one object wants of another, files without
# their endings. Objects without a source are passed over: a build folder keeps what was made of others.
# Those of libtool are in .libs, and have names like lib_libmpi_la-rank.o.
calls() {
    local object source libtool='s|\.libs/||; s|lib_[a-z]*_la-||'
    [ -d "$2" ] || return 0
    (cd "$2" && find . -name '*.o' -printf '%P\n') | sort | while read -r object; do
        source=$(sed "$libtool" <<<"${object%.o}.c")
        [ ! -f "$1/$source" ] || echo "$object"
    done | (cd "$2" && xargs -r nm -A -g) | sed "$libtool" | awk '
        {
            split($0, part, ":")
            file = part[1]
            sub(/\.o$/, "", file)
            if ($(NF - 1) == "U") wants[++n] = file " " $NF
            else owner[$NF] = file
        }
        END {
            for (i = 1; i <= n; i++) {
                split(wants[i], w, " ")
                if (w[2] in owner && owner[w[2]] != w[1]) print w[1], w[2], owner[w[2]]
            }
        }'
}
