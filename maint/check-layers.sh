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
Usage: maint/check-layers.sh [OPTION]... [FOLDER]...

A folder of sources that has a file "floors" is divided into rooms: folders, each on a floor. A file
may include and call what is in its own room and on lower floors; rooms on one floor do not know
each other. No files may call each other in a circle. This script checks both against the includes
of the sources and the symbols of the objects that were built from them.

  FOLDER        such a folder (default: every one below src and tools)
  --source DIR  the repository (default: this one)
  --build DIR   where the objects are (default: \$top_builddir; without it only the includes are
                checked)
  --help        this text

Lines of "floors": a number and the rooms on that floor, '.' for the folder itself; "public" and the
headers that all may include; '#' and a comment.

Exit code: 0 the rules hold, 1 an include or a call runs upwards, or there is a circle, 2 wrong
arguments.
EOF
}

source_dir=$top_srcdir build_dir=${top_builddir:-}
folders=()
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --source | --build)
            if [ $# -lt 2 ] || [ ! -d "$2" ]; then usage_error "$1 needs a folder"; fi
            printf -v "${1#--}_dir" '%s' "$(cd "$2" && pwd)"
            shift
            ;;
        -*) usage_error "unknown option $1" ;;
        *) folders+=("${1%/}") ;;
    esac
    shift
done
need_programs awk nm tsort
[ -z "$build_dir" ] || build_dir=$(cd "$build_dir" && pwd)
cd "$source_dir"
[ ${#folders[@]} -gt 0 ] || mapfile -t folders < <(find src tools -name floors -printf '%h\n' | sort)
[ ${#folders[@]} -gt 0 ] || usage_error "no folder below src or tools in $source_dir has a file floors"

# What the awk programs share: the table.
# shellcheck disable=SC2016  # awk's own variables
table='
    function read_table(file,    line, word, i, n) {
        while ((getline line < file) > 0) {
            sub(/#.*/, "", line)
            n = split(line, word)
            for (i = 2; i <= n; i++)
                if (word[1] == "public") public[word[i]] = 1
                else floor[word[i]] = word[1] + 0
        }
    }
    function room_of(path) { return sub(/\/.*/, "", path) ? path : "." }
    function may(from, to) { return from == to || floor[to] < floor[from] }
    function place(room) { return (room == "." ? "the top" : room "/") " (floor " floor[room] ")" }
    function complain(where, text, remedy) {
        print where ": " text
        print "    " remedy
        bad = 1
    }'

# includes ROOT: each file is in a room of the table, and includes nothing above it.
includes() {
    local root=$1
    (cd "$root" && find . -name '*.[ch]' -printf '%P\n' | sort |
        xargs grep -HnE '^# *include *"' || :) |
        awk -v root="$root" "$table"'
        BEGIN { read_table(root "/floors") }
        {
            split($0, part, ":")
            file = part[1]
            target = $0
            sub(/^[^"]*"/, "", target)
            sub(/".*/, "", target)
            own = room_of(file)
            if (!(own in floor)) {
                complain(root "/" file, "the room " own " is not in " root "/floors",
                         "Give it a floor there.")
                next
            }
            for (path = root; index(target, path "/") != 1 && sub(/^[^\/]*\//, "", path);) ;
            if (index(target, path "/") == 1) target = substr(target, length(path) + 2)
            else if (system("test -f " root "/" target)) next # of somebody else
            other = room_of(target)
            if (target in public || !(other in floor) || may(own, other)) next
            complain(root "/" file ":" part[2],
                     "includes " target " of " place(other) ", and is itself in " place(own),
                     "Emit an event, or ask a room below; what both need belongs on a lower floor.")
        }
        END { exit bad }'
}

# upward ROOT <CALLS
upward() {
    awk -v root="$1" "$table"'
        BEGIN { read_table(root "/floors") }
        function line_of(file, symbol,    text, number) {
            while ((getline text < file) > 0) {
                number++
                if (text ~ ("(^|[^A-Za-z0-9_])" symbol "([^A-Za-z0-9_]|$)")) break
            }
            close(file)
            return number ? ":" number : ""
        }
        {
            own = room_of($1)
            other = room_of($3)
            if (!(own in floor) || !(other in floor) || may(own, other)) next
            file = root "/" $1 ".c"
            complain(file line_of(file, $2),
                     "calls " $2 " of " $3 ".c in " place(other) ", and is itself in " place(own),
                     "Emit an event in its place, or move what only reads to a lower floor.")
        }
        END { exit bad }'
}

# circles ROOT <CALLS: tsort names the members of a circle.
circles() {
    local loops
    loops=$(awk '{ print $1, $3 }' | sort -u | tsort 2>&1 >/dev/null | grep -v 'contains a loop' |
        sed 's/^tsort: //' | sort -u | paste -sd' ') || :
    [ -n "$loops" ] || return 0
    echo "$1: these files call each other in a circle: $loops"
    echo "    Let the one that is called last emit an event, or move what both need to a file below."
    return 1
}

failed=0
for root in "${folders[@]}"; do
    [ -f "$root/floors" ] || usage_error "$root has no file floors"
    includes "$root" || failed=1
    objects=$build_dir/$root
    [ -d "$objects" ] || objects=$build_dir/mpich-build/$root # what needs MPICH's headers
    if [ -n "$build_dir" ] && [ -d "$objects" ]; then
        wants=$(calls "$source_dir/$root" "$objects")
        upward "$root" <<<"$wants" || failed=1
        circles "$root" <<<"$wants" || failed=1
        say "$root: $(grep -c . <<<"$wants") calls between files"
    fi
done
[ $failed = 0 ] || exit 1
