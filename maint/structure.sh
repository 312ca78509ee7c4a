#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
export LC_ALL=C
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/structure.sh [--source DIR] [--build DIR] [FOLDER]

Prints the structure of the sources below FOLDER, so that two states of them can be compared: files,
lines and functions of each folder, lengths of functions, calls between folders, and the circles of
files that call each other. A call is a function (or object) of one file that another file uses.

  FOLDER        default: src/util/ftree
  --source DIR  the repository (default: this one)
  --build DIR   the folder where it was built (default: "build" in the repository); without a build
                no calls are printed

Exit code: 0 done, 2 wrong arguments.
EOF
}

source_dir=$top_srcdir build_dir='' root=src/util/ftree
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --source | --build)
            if [ $# -lt 2 ] || [ ! -d "$2" ]; then usage_error "$1 needs a folder"; fi
            printf -v "${1#--}_dir" '%s' "$(cd "$2" && pwd)"
            shift
            ;;
        -*) usage_error "unknown option $1" ;;
        *) root=${1%/} ;;
    esac
    shift
done
need_programs awk nm
[ -d "$source_dir/$root" ] || usage_error "no folder $source_dir/$root"
build_dir=${build_dir:-$source_dir/build}

files() {
    (cd "$source_dir/$root" && find . -name '*.[ch]' -printf '%P\n' | sort)
}

# functions: "FILE LINES" for each, from its brace in the first column to the closing one.
functions() {
    files | grep '\.c$' | while read -r file; do
        awk -v file="$file" '/^{/ { first = FNR } /^}/ && first { print file, FNR - first - 1; first = 0 }' \
            "$source_dir/$root/$file"
    done
}

# spread <NUMBERS: median, 90th percentile, greatest.
spread() {
    sort -n | awk '{ v[NR] = $1 }
        function at(share,    i) { i = int(share * NR + 0.999999); return v[i > 0 ? i : 1] }
        END { if (NR) printf "median %d, p90 %d, most %d", at(0.5), at(0.9), v[NR] }'
}

folder='function folder(f) { return sub(/\/[^\/]*$/, "", f) ? f : "." }'

echo "$root: $(files | wc -l) files, $(files | sed "s|^|$source_dir/$root/|" | xargs cat | wc -l) lines"
echo
echo "folder           files    lines  functions"
{
    files | while read -r file; do echo "f $file $(wc -l <"$source_dir/$root/$file")"; done
    functions | sed 's/^/l /'
} | awk "$folder"'
    $1 == "f" { n[folder($2)]++; lines[folder($2)] += $3 }
    $1 == "l" { functions[folder($2)]++ }
    END { for (f in n) printf "%-16s %5d %8d %10d\n", f, n[f], lines[f], functions[f] }' | sort
echo
echo "lines of a function: $(functions | awk '{ print $2 }' | spread)"
functions | sort -k2,2nr | awk 'NR <= 3 { print "    " $0 }'
wants=$(calls "$source_dir/$root" "$build_dir/$root")
[ -n "$wants" ] || { say "no objects below $build_dir/$root: no calls are counted"; exit 0; }
echo
echo "calls between files: $(grep -c . <<<"$wants")"
awk "$folder"'{ a = folder($1); b = folder($3); if (a != b) n[a " -> " b]++ }
    END { for (k in n) printf "    %-28s %4d\n", k, n[k] }' <<<"$wants" | sort
echo
# Two files are in one circle if each reaches the other.
awk '
    { if (!(($1, $3) in reach)) reach[$1, $3] = 1; file[$1]; file[$3]; from[NR] = $1; to[NR] = $3 }
    END {
        for (k in file) for (i in file) if ((i, k) in reach)
            for (j in file) if ((k, j) in reach) reach[i, j] = 1
        for (i in file) if ((i, i) in reach) circle[i]
        for (i in circle) {
            least = i
            for (j in circle) if ((i, j) in reach && (j, i) in reach && j < least) least = j
            member[least] = member[least] " " i; of[i] = least; size[least]++
        }
        for (i = 1; i <= NR; i++) if (from[i] in of && of[from[i]] == of[to[i]]) inside[of[from[i]]]++
        for (c in size) { printf "circle of %d files, %d calls in it:%s\n", size[c], inside[c], member[c]; any++ }
        if (!any) print "no circle of files"
    }' <<<"$wants"
