#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What make bench makes of its samples: medians, quartiles and intervals of ratios, judged; JSON that
# fits its schema, text, plots, exit codes. Nothing is measured.
# Environment: top_srcdir, top_builddir.
# Exit code: 0 passed, 1 failed, 77 no program jq.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# What make bench/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
command -v jq >/dev/null || { echo "SKIP: no program jq (Debian package jq)"; exit 77; }
fits=$(realpath "${top_builddir:?}")/test/lib/fits_schema
cd "${top_srcdir:?}"
command=("$PWD/test/bench/bench.sh")
. test/unit/program.sh
unset FAULTLOC_MPI

# --- options ------------------------------------------------------------------------------------

expect 0 "Exit code: 0 no bound is broken" --help
expect 2 "unknown argument --none" --none
expect 2 "--rounds needs a value" --rounds
expect 2 "unknown part 'all'; known are: instructions" --parts all
expect 2 "unknown class 'B'; known are: S W A" --classes S,B
expect 2 "unknown number of ranks '12'" --ranks 4,12
expect 2 "unknown transport 'ib'" --transports ib
expect 2 "not a value for --rounds" --rounds 0
expect 2 "no --mpi and no FAULTLOC_MPI" --work "$work/bench"
expect 1 "no $work/mpi/bin/mpicc" --work "$work/bench" --mpi "$work/mpi"
expect 2 "is not a file that bench.sh --json has written" --show "$work/none"

# --- from samples to the JSON -------------------------------------------------------------------

# samples NAME RATIO...: a round for each, stock takes a second more in each; off is as stock.
samples() {
    local name=$1 round=0 ratio
    shift
    for ratio in "$@"; do
        round=$((round + 1))
        printf "$round\t%s\tkernels\t$name\tS\t4\tshm\t%s\n" on "$(jq -n "$round * $ratio")" \
            stock $round off $round
    done
}
{
    samples ft 1.02 1.00 1.04 1.01 1.03
    samples is 1.004 1.001 1.006 1.002 1.005 1.003
    samples over 1.02 1.03 1.02 1.04 1.02 1.03
    printf '%s\t%s\tmessages\tlatency-8\t-\t2\ttcp\t%s\n' 1 off 2e-7 1 on 3e-7 1 stock 1e-7 2 on 1e-7
} >"$work/samples"
jq -R -n -f test/bench/summary.jq "$work/samples" >"$work/pairs"

# has EXPRESSION: true of the pairs; numbers to three digits.
has() {
    if jq -e "def r: . * 1000 | round / 1000; $1" "$work/pairs" >/dev/null; then ok "$1"; else
        bad "not so: $1: $(jq -c . "$work/pairs")"
    fi
}
has 'map(.name) == ["ft", "is", "over", "latency-8"]'
has '.[0].on.ratio | map_values(r) == {min: 1, q1: 1.01, median: 1.02, q3: 1.03, max: 1.04}'
has '.[0].stock.seconds.median == 3 and (.[0].off.ratio.max == 1)'
has '.[0].on | .state == "undecided" and (has("interval") | not)'
has '.[1].on | .state == "met" and (.interval | map(r)) == [1.001, 1.006]'
has '.[2].on.state == "not met" and .[2].off.state == "met"'
has '.[3] | .pairs == 1 and (.on.ratio.median | r) == 3 and (.on | has("state") | not)'
has '.[3] | has("class") or has("bound") | not'

# --- from the JSON to text, plots and exit codes ------------------------------------------------

# results FILTER: a whole document of these pairs, changed by the filter.
results() {
    jq -n --slurpfile pairs "$work/pairs" '{schema: "faultloc-bench/1", unix_s: 1800000000,
        mpich: {version: "4.0.2", device: "ch4:ucx", compiler: "gcc -O2"},
        machine: {cpus: 2, kernel: "6.1", load_before: 0.5, load_after: 4}, rounds: 6, seed: 1,
        left_out: [], pairs: $pairs[0],
        instructions: [{operation: "send-recv", stock: {instructions: 1127},
            off: {instructions: 1079, ratio: 0.957}, on: {instructions: 1108, ratio: 0.983}},
            {operation: "iprobe", stock: {instructions: 365},
            off: {instructions: 367, ratio: 1.005, bound: 1.01, state: "met"},
            on: {instructions: 373, ratio: 1.022, bound: 1.03, state: "met"}}],
        overhead: {seconds: 60.1, hosts: 2, ranks_per_host: 8, rows: [
            {name: "wake-ups", unit: "per second", values: [2.5, 2.75], bound: 3, state: "met"},
            {name: "memory", unit: "KiB", values: [1024.5]}]}} | '"$1" >"$work/results.json"
}
said() { tr -s ' ' <"$work/out" | grep -qxF -- "$1" || bad "not printed: '$1': $(cat "$work/out")"; }

results .
[ -x "$fits" ] || bad "no $fits: make check makes it"
"$fits" doc/faultloc-bench.schema.json "$work/results.json" || bad "the JSON does not fit its schema"
results '.pairs[0].on.state = "perhaps"'
! "$fits" doc/faultloc-bench.schema.json "$work/results.json" 2>/dev/null ||
    bad "the schema has nothing against an unknown state"

results .
expect 1 "over S, 4 ranks, shm, on: " --show "$work/results.json"
said " send-recv 1127.0 1079.0 1108.0 0.9570 0.9830 "
said " iprobe 365.0 367.0 373.0 1.0050 1.0220 met"
said " ft S 4 shm 3.000 s 1.000 1.000-1.000 1.00-1.00 1.020 1.010-1.030 1.00-1.04"
said " latency-8 2 tcp 100 ns 2.000 2.000-2.000 2.00-2.00 3.000 3.000-3.000 3.00-3.00"
said "bound: is S, 4 ranks, shm, on: median at most 1.01 of stock: met (95 % interval 1.001 to 1.006)"
said "bound: ft S, 4 ranks, shm, on: median at most 1.01 of stock: undecided (fewer than 6 rounds)"
said " wake-ups 2.750 per second bound 3: met"
said " memory 1024.500 KiB "

results '.pairs |= map(select(.name != "over"))'
expect 0 "a healthy job of 2 hosts with 8 ranks each, 60 s" --show "$work/results.json"
results '.pairs = [.pairs[1]] | .left_out = [{part: "kernels", why: "FT: no FFTW"}]'
expect 77 "left out: kernels: FT: no FFTW" --show "$work/results.json"
results 'del(.pairs) | .overhead.rows[0] += {state: "not met", bound: 2}'
expect 1 "wake-ups: 2.75 per second, at most 2" --show "$work/results.json"

results 'del(.pairs[2])'
if command -v gnuplot >/dev/null; then
    expect 0 "$work/plots/bench-kernels.svg" --show "$work/results.json" --plots "$work/plots"
    for text in '>Kernels<' '>is S<' '>off<'; do
        grep -qF "$text" "$work/plots/bench-kernels.svg" || bad "the plot of kernels has no $text"
    done
    grep -qF '>latency-8<' "$work/plots/bench-messages.svg" || bad "the plot has no messages"
fi
mkdir "$work/bin"
for program in bash cat cut dirname env grep jq mktemp rm sed tail tr awk mkdir; do
    ln -s "$(command -v $program)" "$work/bin/"
done
PATH=$work/bin expect 0 "no plots: no program gnuplot" --show "$work/results.json" --plots "$work/p"

[ $failed -eq 0 ] || exit 1
echo "all passed"
