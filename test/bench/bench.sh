#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2154
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
for file in "$top"/test/cluster/lib/{common,campaign}.sh \
    "$here"/{instructions,pairs,overhead,show}.sh; do
    # shellcheck source=/dev/null
    . "$file"
done

readonly all_parts='instructions messages collectives kernels overhead'

usage() {
    cat <<'END'
Usage: test/bench/bench.sh [OPTION]...
       test/bench/bench.sh --show FILE [--plots FOLDER]

Measures what FaultLoc costs a healthy job: stock MPICH, and MPICH with FaultLoc off and on.

Parts
  instructions   instructions per operation of a rank with itself, counted by valgrind
  messages       latency and rate of messages of 0 and 8 bytes between two ranks
  collectives    MPI_Allreduce and MPI_Alltoall of 8 bytes
  kernels        two kernels after the idea of NPB's FT (with FFTW) and IS, in its sizes, each with
                 a verification of its own
  overhead       CPU time, wake-ups, packets and memory of the agents of a healthy job, on hosts
                 that are network namespaces (root)

Messages, collectives and kernels are timed in rounds. In each round all three builds run each
measurement, in an order that is drawn; the ratio of two times of the same round counts.

Options
  --parts LIST        of the parts above, with commas between them (default: all)
  --rounds N          rounds; with fewer than 6 no bound on a time is judged (default: 9)
  --classes LIST      of S, W, A: the sizes of the kernels (default: S)
  --ranks LIST        of 2, 4, 8, 16, 32, 64: ranks of collectives and kernels (default: 4)
  --transports LIST   of shm, tcp: shared memory, or TCP over the loopback interface, where each
                      rank is a node of its own (default: shm,tcp)
  --seconds N         how long the agents of the healthy job are observed (default: 60)
  --hosts N           hosts of that job (default: 2)
  --ppn N             its ranks on each host (default: 8)
  --seed N            of the drawn order (default: 1)
  --json FILE         the results, schema faultloc-bench/1 (default: FOLDER/bench.json)
  --plots FOLDER      where the plots go, bench-messages.svg and bench-kernels.svg (default: FOLDER
                      of --work; with --show: none)
  --show FILE         measure nothing; print the results that --json has written
  --mpi PREFIX        the MPI with FaultLoc (default: $FAULTLOC_MPI)
  --stock PREFIX      a stock MPICH 4.0.2 built with the same compiler and options (default:
                      $FAULTLOC_STOCK_MPI; else maint/build-stock.sh builds one, configured
                      as the other is, once, into FOLDER/stock, which takes a few minutes)
  --work FOLDER       where to work (default: ./bench.work)
  --help              this text

Bounds
  - the instructions of those operations that are judged: 1 % above stock with FaultLoc off, 3 % on
  - the median time of each kernel: 1 % above stock, judged by a 95 % interval of the median ("met"
    and "not met" are true of the whole interval; else "undecided": more rounds or a quieter machine
    decide)
  - of agent and deputy of a node together: 0.1 % of a core, 3 wake-ups a second
  - no packet of theirs; 256 KiB of memory per rank, with them and all that the ranks have more

By default it takes about ten minutes on an idle machine with a core for each rank, once stock MPICH
is there; with --classes S,W,A --ranks 4,16,64 hours. A run's time is that of its fastest
repetition; where ranks share cores, with each other or with other programs, times are of little
worth. What a part needs and is not there (valgrind, FFTW, root) is named, and the rest is measured;
so is gnuplot, without which there are no plots.

Exit code: 0 no bound is broken, 1 one is, or something did not run, 2 wrong usage, 77 no bound is
broken, but a part was left out because the machine does not have what it needs.
END
}

say() { echo "bench: $*" >&2; }

has_part() { [[ ,$parts, == *,$1,* ]]; }

# leave_out PART WHY: is in the JSON, too.
leave_out() {
    say "left out: $1: $2"
    jq -n -c --arg part "$1" --arg why "$2" '{part: $part, why: $why}' >>"$work/left_out"
}

# build stock|off|on: sets the prefix, the folder of the programs and the environment of a run.
build() {
    local on=0
    prefix=$mpi programs=$work/bin-faultloc
    [ "$1" != stock ] || prefix=$stock programs=$work/bin-stock
    [ "$1" != on ] || on=1
    environment=("MPIR_CVAR_FAULTLOC=$on" MPIR_CVAR_FAULTLOC_REPORT=
        UCX_LOG_LEVEL="${UCX_LOG_LEVEL:-error}")
}

# about PREFIX NAME: what that MPICH says of itself, wherever it was moved to.
about() {
    LD_LIBRARY_PATH=$1/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$1/bin/mpichversion" |
        sed -n "s/^MPICH $2:[[:space:]]*//p" | sed 's/  */ /g'
}

# Refuses to compare what was built differently.
same_build() {
    local name ours theirs
    for name in Version Device CC; do
        ours=$(about "$mpi" $name) theirs=$(about "$stock" $name)
        [ "$ours" = "$theirs" ] ||
            die 1 "$mpi and $stock differ in '$name': '$ours' and '$theirs'; build stock MPICH \
with the same compiler and device, or name another --stock"
    done
}

find_builds() {
    [ -n "$mpi" ] || die 2 "no --mpi and no FAULTLOC_MPI: name the MPI with FaultLoc"
    [ -x "$mpi/bin/mpicc" ] ||
        die 1 "no $mpi/bin/mpicc: build and install the MPI with FaultLoc first"
    if [ -z "$stock" ]; then
        stock=$work/stock
        "$top/maint/build-stock.sh" --prefix "$stock" --like "$mpi" || exit 1
    fi
    [ -x "$stock/bin/mpicc" ] ||
        die 1 "no $stock/bin/mpicc: name a stock MPICH; without --stock one is built"
    same_build
}

# What configure has found counts; by hand the script looks itself.
find_kernels() {
    kernels=
    has_part kernels || return 0
    kernels='ft is'
    fftw=${FAULTLOC_FFTW-$(pkg-config --cflags --libs fftw3 2>/dev/null || :)}
    [[ $fftw != *-l* ]] || return 0
    kernels=is
    leave_out kernels "FT: no FFTW (Debian package libfftw3-dev, Fedora fftw-devel, Spack fftw)"
}

# compile PREFIX FOLDER
compile() {
    local name
    mkdir -p "$2"
    for name in ops times $kernels; do
        # shellcheck disable=SC2046,SC2086
        "$1/bin/mpicc" -std=c11 -D_GNU_SOURCE -O2 -I"$top/test/mpi" -o "$2/$name" "$here/$name.c" \
            "$here/bench.c" "$top/test/mpi/testutil.c" \
            $([ $name != ft ] || echo $fftw) -lm 2>"$work/compile.log" ||
            die 1 "$name.c did not compile with $1/bin/mpicc, see $work/compile.log"
    done
}

load() { cut -d' ' -f1 /proc/loadavg; }

# write_json LOAD-BEFORE: what was measured.
write_json() {
    local name args=()
    for name in instructions pairs overhead; do
        [ ! -s "$work/$name.json" ] || args+=(--slurpfile "$name" "$work/$name.json")
    done
    jq -n "${args[@]}" --slurpfile left_out "$work/left_out" \
        --arg version "$(about "$mpi" Version)" --arg device "$(about "$mpi" Device)" \
        --arg compiler "$(about "$mpi" CC)" \
        --arg kernel "$(uname -r)" --argjson cpus "$(nproc)" --argjson before "$1" \
        --argjson after "$(load)" --argjson rounds "$rounds" --argjson seed "$seed" '
        {schema: "faultloc-bench/1", unix_s: (now | floor),
         mpich: {version: $version, device: $device, compiler: $compiler},
         machine: {cpus: $cpus, kernel: $kernel, load_before: $before, load_after: $after},
         rounds: $rounds, seed: $seed, left_out: $left_out} +
        ($ARGS.named | with_entries(select(.key | IN("instructions", "pairs", "overhead"))
            | .value |= .[0]))' >"$json.tmp"
    mv "$json.tmp" "$json"
}

measure() {
    local before
    before=$(load)
    say "compiling"
    compile "$stock" "$work/bin-stock"
    compile "$mpi" "$work/bin-faultloc"
    ! has_part instructions || measure_instructions
    measure_pairs
    ! has_part overhead || measure_overhead
    write_json "$before"
}

mpi=${FAULTLOC_MPI:-} stock=${FAULTLOC_STOCK_MPI:-} work=$PWD/bench.work parts=${all_parts// /,}
rounds=9 classes=S ranks_list=4 transports=shm,tcp seconds=60 hosts=2 ppn=8 seed=1 json='' plots=''
show='' run_limit=3600
read_options '--mpi=mpi --stock=stock --work=work --parts=parts --rounds=rounds --classes=classes
    --ranks=ranks_list --transports=transports --seconds=seconds --hosts=hosts --ppn=ppn --seed=seed
    --json=json --plots=plots --show=show' "$@"
check_words part "$parts" "$all_parts"
check_words class "$classes" 'S W A'
check_words 'number of ranks' "$ranks_list" '2 4 8 16 32 64'
check_words transport "$transports" 'shm tcp'
check_values '--rounds, --seconds, --hosts, --ppn and --seed' '[1-9][0-9]{0,5}' \
    "$rounds" "$seconds" "$hosts" "$ppn" "$seed"
need jq jq
if [ -n "$show" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    jq -e '.schema == "faultloc-bench/1"' "$show" >/dev/null 2>&1 ||
        die 2 "$show is not a file that bench.sh --json has written"
    json=$show
else
    mkdir -p "$work"
    work=$(cd "$work" && pwd)
    json=${json:-$work/bench.json} plots=${plots:-$work}
    rm -f "$work"/{instructions,pairs,overhead}.json
    : >"$work/left_out"
    find_builds
    find_kernels
    measure
fi
show_text "$json"
[ -z "$plots" ] || show_plots "$json" "$plots"
judge_all "$json" || exit 1
[ "$(jq '.left_out | length' "$json")" = 0 ] || exit 77
