#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
set -euo pipefail
export LC_ALL=C # what is sorted is joined

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

usage() {
    cat <<'END'
usage: test/bench/bench.sh [--mpi PREFIX] [--stock PREFIX] [--work FOLDER]

Measures what FaultLoc costs a healthy job: stock MPICH, and MPICH with FaultLoc off and on.
  - Instructions per operation, counted by valgrind's callgrind on the last of two ranks, whose
    messages go to itself. The figure is the difference of two loop lengths, so that one-time work
    cancels out. The counts are (nearly) the same in each run.
  - The time of a round trip of two ranks and of an MPI_Alltoall of four, as ratios to stock MPICH,
    measured alternately in one run.

Fails if an operation marked with * takes more than 1 % above stock with FaultLoc off, or 3 % with
it on. The other operations and the times are only printed; times depend on the machine as much as
on the program.
Without valgrind (Debian: valgrind) only the times are measured.

  --mpi PREFIX    the MPI with FaultLoc (default: $FAULTLOC_MPI)
  --stock PREFIX  a stock MPICH 4.0.2 built with the same compiler and options (default:
                  $FAULTLOC_STOCK_MPI; else maint/build-stock.sh builds one, lean, once, into
                  FOLDER/stock, which takes a few minutes)
  --work FOLDER   where to work (default: ./bench.work)
  --help          this text

It takes about two minutes once stock MPICH is there.

Exit code: 0 within the bounds, 1 not, or something did not run, 2 wrong usage, 77 no valgrind.
END
}

say() { echo "bench: $*" >&2; }
die() {
    local code=$1
    shift
    say "$*"
    exit "$code"
}

few=100 many=600 off_percent=1 on_percent=3
judged='irecv-send-wait isend-irecv-waitall any-source sendrecv iprobe allreduce-self'

# about PREFIX NAME: what that MPICH says of itself, wherever it was moved to; ccache, if any, makes
# no difference.
about() {
    LD_LIBRARY_PATH=$1/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$1/bin/mpichversion" |
        sed -n "s/^MPICH $2:[[:space:]]*//p" | sed 's/ccache //g; s/  */ /g'
}

# Refuses to compare what was built differently.
same_build() {
    local name
    for name in Version Device CC; do
        [ "$(about "$mpi" $name)" = "$(about "$stock" $name)" ] ||
            die 1 "$mpi and $stock differ in '$name':" \
                "'$(about "$mpi" $name)' and '$(about "$stock" $name)';" \
                "build stock MPICH with the same compiler and device, or name another --stock"
    done
}

compile() {
    local name
    mkdir -p "$work/$2"
    for name in ops times; do
        "$1/bin/mpicc" -std=c11 -O2 -o "$work/$2/$name" "$here/$name.c" 2>"$work/compile.log" ||
            die 1 "$name.c did not compile with $1/bin/mpicc, see $work/compile.log"
    done
}

# total FILE: the instructions in one of callgrind's files.
total() {
    awk '/^(summary|totals):/ { n = $2 } END { if (n == "") exit 1; print n }' "$1" ||
        die 1 "there are no counts in $1"
}

# count PREFIX FOLDER FAULTLOC LABEL: into LABEL.counts a line for each operation, its name and the
# instructions. callgrind writes a file at the end of each loop, a short and a long one for each.
count() {
    local out=$work/callgrind.$4 name i=0 short long
    say "counting instructions: $4"
    rm -f "$out"*
    MPIR_CVAR_FAULTLOC=$3 MPIR_CVAR_FAULTLOC_REPORT='' timeout -k 10 900 "$1/bin/mpiexec" \
        -n 1 "$work/$2/ops" $few $many \
        : -n 1 valgrind --tool=callgrind --toggle-collect=counted --dump-after=counted \
        --callgrind-out-file="$out" "$work/$2/ops" $few $many \
        </dev/null >"$out.names" 2>"$out.log" ||
        die 1 "callgrind did not run, see $out.log"
    while read -r name; do
        i=$((i + 2))
        short=$(total "$out.$((i - 1))")
        long=$(total "$out.$i")
        awk -v name="$name" -v n=$((long - short)) -v of=$((many - few)) \
            'BEGIN { printf "%s %.1f\n", name, n / of }'
    done <"$out.names" | sort >"$work/$4.counts"
}

# The table from the three lists, in the order of the program; fails where a bound is not kept.
table() {
    echo "  instructions per operation          stock        off         on   off/stock   on/stock"
    join "$work/stock.counts" "$work/off.counts" | join - "$work/on.counts" >"$work/counts"
    awk -v judged="$judged" -v off=$off_percent -v on=$on_percent '
        BEGIN { missing = split(judged, name); for (i in name) is_judged[name[i]] = 1 }
        FNR == NR { line[$1] = $0; next }
        {
            split(line[$1], n)
            printf "%s %-25s %14.1f %10.1f %10.1f %11.4f %10.4f%s\n", n[1] in is_judged ? "*" : " ",
                n[1], n[2], n[3], n[4], n[3] / n[2], n[4] / n[2], is_over(n) ? "   over" : ""
            over += is_over(n)
            missing -= n[1] in is_judged
        }
        function is_over(n) {
            return n[1] in is_judged &&
                (n[3] > n[2] * (1 + off / 100) || n[4] > n[2] * (1 + on / 100))
        }
        END { exit over || missing }' "$work/counts" "$work/callgrind.on.names"
}

# trip PREFIX FOLDER FAULTLOC RANKS OPERATION N: ns
trip() {
    MPIR_CVAR_FAULTLOC=$3 MPIR_CVAR_FAULTLOC_REPORT='' timeout -k 10 600 "$1/bin/mpiexec" -n "$4" \
        "$work/$2/times" "$5" 21 "$6" </dev/null 2>"$work/times.log" ||
        die 1 "the program test/bench/times.c did not run, see $work/times.log"
}

# ratios RANKS OPERATION N: the median of the ratios of five turns.
ratios() {
    local i base off on
    say "timing: $2 of $1 ranks, in turns"
    for i in 1 2 3 4 5; do
        base=$(trip "$stock" stock 0 "$@")
        off=$(trip "$mpi" patched 0 "$@")
        on=$(trip "$mpi" patched 1 "$@")
        echo "$base $off $on"
    done | awk -v name="$2 of $1 ranks" '{ s[NR] = $1; off[NR] = $2 / $1; on[NR] = $3 / $1 }
        function median(a,    i, j, t) {
            for (i = 1; i <= NR; i++)
                for (j = i + 1; j <= NR; j++)
                    if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t }
            return a[int((NR + 1) / 2)]
        }
        END {
            if (NR != 5)
                exit 1
            printf "  time of %-21s stock %.0f ns   off %.3f of it   on %.3f of it\n", name,
                median(s), median(off), median(on)
        }'
}

mpi=${FAULTLOC_MPI:-} stock=${FAULTLOC_STOCK_MPI:-} work=$PWD/bench.work
while [ $# -gt 0 ]; do
    case $1 in
        --mpi) mpi=${2:?--mpi needs a prefix}; shift 2 ;;
        --stock) stock=${2:?--stock needs a prefix}; shift 2 ;;
        --work) work=${2:?--work needs a folder}; shift 2 ;;
        --help | -h) usage; exit 0 ;;
        *) die 2 "unknown argument $1; see --help" ;;
    esac
done
[ -n "$mpi" ] || die 2 "no --mpi and no FAULTLOC_MPI: name the MPI with FaultLoc"
[ -x "$mpi/bin/mpicc" ] || die 1 "no $mpi/bin/mpicc: build and install the MPI with FaultLoc first"
mkdir -p "$work"
work=$(cd "$work" && pwd)

if [ -z "$stock" ]; then
    stock=$work/stock
    "$top/maint/build-stock.sh" --prefix "$stock" --device "$(about "$mpi" Device)" || exit 1
fi
[ -x "$stock/bin/mpicc" ] ||
    die 1 "no $stock/bin/mpicc: name a stock MPICH; without --stock one is built"
same_build
say "compiling"
compile "$stock" stock
compile "$mpi" patched
result=0
if command -v valgrind >/dev/null; then
    count "$stock" stock 0 stock
    count "$mpi" patched 0 off
    count "$mpi" patched 1 on
    table || result=1
else
    say "valgrind is not installed (Debian: valgrind): instructions are not counted"
    result=77
fi
ratios 2 round-trip 2000
ratios 4 alltoall 20
[ $result != 1 ] ||
    say "more instructions than allowed: off $off_percent %, on $on_percent %"
exit $result
