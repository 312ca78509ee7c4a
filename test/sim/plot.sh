#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../maint/common.sh"

usage() {
    cat <<EOF
Usage: test/sim/plot.sh SVG JSON...

Plots what a fault costs against the number of nodes: the time until the report, messages of all nodes
and of the busiest one. JSON: files that faultloc simulate --json has written, as test/sim/campaign.sh
has it do; one curve for each name without its number (node-10.json and node-100.json: node). Needs jq
and gnuplot.

Exit code: 0 done, 1 it could not be done, 2 wrong arguments.
EOF
}

case ${1:-} in --help | -h) usage; exit 0 ;; esac
[ $# -ge 2 ] || usage_error "needs SVG and JSON files"
need_programs jq gnuplot
svg=$1
shift
# of each curve its name, and rows: nodes, seconds, messages and those of the busiest node for a fault
data=$(jq -rn '
    [inputs | (input_filename | sub(".*/"; "") | sub("[.].*"; "") | sub("-*[0-9]*$"; "")) as $curve |
        .runs[] | ([.expected, 1] | max) as $faults |
        {$curve, nodes, seconds: ([.verdicts[].latency_s // 0] | max // 0),
            all: (.messages_total / $faults), busiest: (.messages_busiest_node / $faults)}] |
    def mean(f): map(f) | add / length;
    group_by(.curve)[] | "\"\(.[0].curve)\"",
        (group_by(.nodes)[] | "\(.[0].nodes) \(mean(.seconds)) \(mean(.all)) \(mean(.busiest))"),
        "\n"' "$@") || die 1 "no such files"
curves=$(grep -c '^"' <<<"$data")
gnuplot <<END || die 1 "gnuplot failed"
set terminal svg size 800,1000 font 'sans,13' background rgb 'white'
set output '$svg'
set logscale x
set format x '10^{%L}'
set grid lc rgb '#cccccc'
set key outside right top autotitle columnheader
set tics nomirror
set border 3
set lmargin 11
set xlabel 'nodes of the job'
\$data << EOD
$data
EOD
set multiplot layout 3,1
set yrange [0:*]
set title 'From the fault to the report'
set ylabel 'seconds'
plot for [i = 0:$((curves - 1))] \$data index i using 1:2 with linespoints lw 2 pt 7 ps 0.6
set yrange [*:*]
set logscale y
set format y '10^{%L}'
set title 'Messages of all nodes'
set ylabel 'messages per fault'
plot for [i = 0:$((curves - 1))] \$data index i using 1:3 with linespoints lw 2 pt 7 ps 0.6
unset logscale y
set format y '%g'
set yrange [0:*]
set title 'Messages of the busiest node'
plot for [i = 0:$((curves - 1))] \$data index i using 1:4 with linespoints lw 2 pt 7 ps 0.6
END
