#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

usage() {
    cat <<'END'
usage: test/bench/bench.sh [--mpi PREFIX] [--stock PREFIX] [--work FOLDER]

What FaultLoc costs a healthy job:
  - instructions per pair of MPI_Send and MPI_Recv of a rank to itself, counted by valgrind's
    callgrind, so that they repeat exactly: stock MPICH, patched with FaultLoc off, and on;
  - the time of a round trip between two ranks, as ratios to stock taken in one run, in turns.

Fails where the instructions are more than 4 above stock with FaultLoc off, or 40 with it on. Times
are printed and never judged: they are the machine's as much as the program's.

  --mpi PREFIX    the patched MPI (default: $FAULTLOC_MPI)
  --stock PREFIX  a stock MPICH 4.0.2 built with the same options (default: built once, lean, into
                  FOLDER/stock, which takes a few minutes)
  --work FOLDER   where to work (default: ./bench.work)
  --help          this text

Exit code: 0 within the bounds, 1 not, or something did not run, 2 wrong usage, 77 no valgrind.
END
}

say() { echo "bench: $*" >&2; }
die() {
    say "$2"
    exit "$1"
}

mpi=${FAULTLOC_MPI:-} stock=${FAULTLOC_STOCK_MPI:-} work=$PWD/bench.work
while [ $# -gt 0 ]; do
    case $1 in
        --mpi) mpi=${2:?--mpi wants a prefix}; shift 2 ;;
        --stock) stock=${2:?--stock wants a prefix}; shift 2 ;;
        --work) work=${2:?--work wants a folder}; shift 2 ;;
        --help | -h) usage; exit 0 ;;
        *) die 2 "unknown argument $1; see --help" ;;
    esac
done
[ -n "$mpi" ] || die 2 "no --mpi and no FAULTLOC_MPI: name the patched MPI"
[ -x "$mpi/bin/mpicc" ] || die 1 "no $mpi/bin/mpicc: build and install the patched MPI first"
command -v valgrind >/dev/null || die 77 "valgrind is not installed (Debian: valgrind)"
mkdir -p "$work"
work=$(cd "$work" && pwd)

# count PREFIX FAULTLOC PAIRS: instructions in the loop of sendrecv_self
count() {
    local out=$work/callgrind.out
    rm -f "$out"
    MPIR_CVAR_FAULTLOC=$2 "$1/bin/mpiexec" -n 1 valgrind --tool=callgrind \
        --toggle-collect=eager_pairs --callgrind-out-file="$out" \
        "$work/$(basename "$1")-$3/sendrecv_self" --pairs "$4" \
        : -n 1 "$work/$(basename "$1")-$3/sendrecv_self" >"$work/callgrind.log" 2>&1 ||
        die 1 "callgrind did not run, see $work/callgrind.log"
    awk '/^(summary|totals):/ { n = $2 } END { print n }' "$out"
}

# per_pair PREFIX FAULTLOC LABEL: the difference of two runs, so that what is not the loop cancels
per_pair() {
    local few many
    few=$(count "$1" "$2" "$3" 1000)
    many=$(count "$1" "$2" "$3" 5000)
    awk -v a="$few" -v b="$many" 'BEGIN { printf "%.3f", (b - a) / 4000 }'
}

compile() {
    local out
    out=$work/$(basename "$1")-$2
    "$top/test/mpi/build.sh" --mpi "$1" --out "$out" sendrecv_self >"$work/compile.log" 2>&1 ||
        die 1 "sendrecv_self did not compile, see $work/compile.log"
    "$1/bin/mpicc" -O2 -o "$out/pingpong" "$here/pingpong.c"
}

trip() { MPIR_CVAR_FAULTLOC=$2 "$1/bin/mpiexec" -n 2 "$work/$(basename "$1")-$3/pingpong" 31 2000; }

# the median of the ratios of five turns
ratios() {
    local i s off on
    for i in 1 2 3 4 5; do
        s=$(trip "$stock" 0 stock)
        off=$(trip "$mpi" 0 patched)
        on=$(trip "$mpi" 1 patched)
        echo "$s $off $on"
    done | awk '{ s[NR] = $1; off[NR] = $2 / $1; on[NR] = $3 / $1 }
        function median(a,    i, j, t, n) {
            n = NR
            for (i = 1; i <= n; i++)
                for (j = i + 1; j <= n; j++)
                    if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t }
            return a[int((n + 1) / 2)]
        }
        END {
            printf "round trip of two ranks   stock %.0f ns   off %.3f of it   on %.3f of it\n",
                median(s), median(off), median(on)
        }'
}

if [ -z "$stock" ]; then
    stock=$work/stock
    "$top/maint/build-stock.sh" --prefix "$stock" || exit 1
fi
[ -x "$stock/bin/mpicc" ] || die 1 "no $stock/bin/mpicc: name a stock MPICH, or none to have one built"
say "compiling"
compile "$stock" stock
compile "$mpi" patched
say "counting instructions"
base=$(per_pair "$stock" 0 stock)
off=$(per_pair "$mpi" 0 patched)
on=$(per_pair "$mpi" 1 patched)
awk -v b="$base" -v o="$off" -v n="$on" 'BEGIN {
    printf "instructions per MPI_Send + MPI_Recv to self\n"
    printf "  stock          %9.3f\n  faultloc off   %9.3f  (%+.3f, bound +4)\n", b, o, o - b
    printf "  faultloc on    %9.3f  (%+.3f, bound +40)\n", n, n - b
    exit o - b > 4 || n - b > 40
}' && within=0 || within=1
say "timing round trips, in turns"
ratios
[ $within = 0 ] || say "more instructions than the bounds allow"
exit $within
