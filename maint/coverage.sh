#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<EOF
Usage: maint/coverage.sh [--gcov PROGRAM] [BUILDDIR]

"make coverage" runs this after the tests. It prints, for each source file of the core and of the
MPI-free glue, the share of its lines and branches that the tests executed, and writes the same to
coverage.txt in BUILDDIR (default: .). The annotated sources are in BUILDDIR/coverage/.

Exit code: 0 done, 1 failed, 2 wrong arguments.
EOF
}

gcov=gcov builddir=.
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage; exit 0 ;;
        --gcov) [ $# -ge 2 ] || usage_error "$1 needs a value"; gcov=$2; shift ;;
        -*) usage_error "unknown option $1" ;;
        *) builddir=$1 ;;
    esac
    shift
done
need_programs "$gcov" awk
builddir=$(cd "$builddir" && pwd)
mapfile -t notes < <(cd "$builddir" && find src -name '*.gcda' 2>/dev/null | sort)
[ ${#notes[@]} -gt 0 ] || die "no .gcda file below $builddir/src; configure with" \
    "--enable-coverage and run make coverage"
rm -rf "$builddir/coverage"
mkdir -p "$builddir/coverage"
# gcov finds the sources only from where they were compiled.
cd "$builddir"
"$gcov" -b "${notes[@]}" 2>/dev/null | awk '
    function percent(s) { sub(/^[^:]*:/, "", s); sub(/%.*/, "", s); return s + 0 }
    function count(s) { sub(/.* of /, "", s); return s + 0 }
    /^File/ { name = $0; gsub(/^File .|.$/, "", name) }
    /^File/ && match(name, /src\/(util|mpid)\/.*/) { name = substr(name, RSTART) }
    /^$/ { name = "" }
    name == "" { next }
    /^Lines executed/ { lines[name] = count($0); done[name] = percent($0) * count($0) / 100; branch[name] = "-" }
    /^Taken at least once/ { branch[name] = percent($0) "%" }
    END {
        printf "%-50s %8s %8s %9s\n", "file", "lines", "run", "branches"
        for (name in lines) {
            if (name !~ /\.c$/ || name ~ /^test\//) continue
            printf "%-50s %8d %7.1f%% %9s\n", name, lines[name], 100 * done[name] / lines[name], branch[name] | "sort"
            all += lines[name]; ran += done[name]
        }
        close("sort")
        if (all) printf "%-50s %8d %7.1f%%\n", "all", all, 100 * ran / all
    }' | tee "$builddir/coverage.txt"
mv -- *.gcov coverage/
