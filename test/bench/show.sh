# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The JSON of bench.sh as text and as plots. Sourced by bench.sh.

# show_text FILE
show_text() {
    jq -r '
        def digits($n): . * pow(10; $n) | round / pow(10; $n) | tostring |
            if test("e") then . else (split(".") | .[0] + "." + ((.[1] // "") + "0000")[:$n]) end;
        def time: if . < 1e-6 then "\(. * 1e9 | digits(0) | rtrimstr(".")) ns"
            elif . < 1e-3 then "\(. * 1e6 | digits(2)) us"
            elif . < 1 then "\(. * 1e3 | digits(2)) ms" else "\(digits(3)) s" end;
        # messages under way at once: their rate
        def value($name): if $name | startswith("rate-")
            then (1 / .) as $r | if $r >= 1e6 then "\($r / 1e6 | digits(2)) M/s"
                else "\($r / 1e3 | digits(2)) k/s" end
            else time end;
        def row: map("row\t\(.)") | .[];
        def ratio: .ratio | "\(.median | digits(3))\t\(.q1 | digits(3))-\(.q3 | digits(3))" +
            "\t\(.min | digits(2))-\(.max | digits(2))";
        "head\tMPICH \(.mpich.version), \(.mpich.device), \(.machine.cpus) CPUs, load " +
            "\(.machine.load_before) to \(.machine.load_after)",
        (if .instructions then
            "head\t", "head\tinstructions per operation",
            "insn\toperation\tstock\toff\ton\toff/stock\ton/stock\t",
            (.instructions[] | ["insn", .operation, (.stock, .off, .on | .instructions | digits(1)),
                (.off, .on | .ratio | digits(4)),
                ([.off, .on | .state // empty] |
                    if index("not met") then "not met" else .[0] // "" end)] | join("\t"))
            else empty end),
        (if .pairs then
            "head\t", "head\ttimes: median of stock MPICH; ratios to it in the same round, of " +
                "\(.rounds) rounds: median, quartiles, least and most",
            "pair\t\tranks\tover\tstock\t\toff\tquartiles\trange\ton\tquartiles\trange",
            (.pairs[] | . as $p | ["pair", "\(.name)\(if .class then " " + .class else "" end)",
                (.ranks | tostring), .transport, (.stock.seconds.median | value($p.name)), "",
                (.off | ratio), (.on | ratio)] | join("\t")),
            (.pairs[] | select(.bound) | . as $p | ("off", "on") as $b | .[$b] |
                "head\tbound: \($p.name) \($p.class), \($p.ranks) ranks, \($p.transport), \($b): " +
                "median at most \($p.bound) of stock: \(.state)" +
                (if .interval then " (95 % interval \(.interval[0] | digits(3)) to " +
                    "\(.interval[1] | digits(3)))" else " (fewer than 6 rounds)" end))
            else empty end),
        (if .overhead then .overhead |
            "head\t", "head\ta healthy job of \(.hosts) hosts with \(.ranks_per_host) ranks " +
                "each, \(.seconds | round) s",
            (.rows[] | ["over", .name, (.values | max | digits(3)), .unit,
                (if .bound != null then "bound \(.bound): \(.state)" else "" end)] | join("\t"))
            else empty end),
        (.left_out[]? | "head\tleft out: \(.part): \(.why)")' "$1" |
        awk -F'\t' '
            $1 == "head" { print $2 }
            $1 == "insn" {
                printf "  %-22s %10s %10s %10s %10s %10s  %s\n", $2, $3, $4, $5, $6, $7, $8
            }
            $1 == "pair" {
                printf "  %-12s %5s %-4s %10s  %6s %12s %10s  %6s %12s %10s\n", $2, $3, $4, $5, $7,
                    $8, $9, $10, $11, $12
            }
            $1 == "over" { printf "  %-36s %12s %-12s %s\n", $2, $3, $4, $5 }'
}

# draw FILE PART,... SVG TITLE: the ratios, a box for off and one for on at each measurement.
draw_plot() {
    local data
    data=$(jq -r --arg parts "$2" '
        [.pairs[]? | select(.part as $p | $parts | split(",") | index($p))] | to_entries[] |
        .key as $x | .value | [$x, "\(.name)\(if .class then " " + .class else "" end)" +
            "\\n\(.ranks), \(.transport)", (.off, .on | .ratio | .q1, .min, .max, .q3, .median)] |
        map(tostring) | "\(.[0]) \"\(.[1])\" " + (.[2:] | join(" "))' "$1")
    [ -n "$data" ] || return 0
    gnuplot <<END || die 1 "gnuplot failed"
set terminal svg size 900,420 font 'sans,12' background rgb 'white'
set output '$3'
set title '$4'
set ylabel 'time, as a ratio to stock MPICH'
set logscale y 10
set ytics (0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10)
set xtics rotate by -35
set bmargin 7
set grid ytics lc rgb '#cccccc'
set border 3
set tics nomirror
set key outside right top
set boxwidth 0.25
set style fill solid 0.4
set xrange [-0.6:$(($(wc -l <<<"$data") - 1)).6]
\$data << EOD
$data
EOD
plot 1 with lines lc rgb '#444444' notitle, \\
    \$data using (\$1 - 0.17):3:4:5:6:xtic(2) with candlesticks lc rgb '#0072b2' \\
        title 'off' whiskerbars, \\
    '' using (\$1 - 0.17):7:7:7:7 with candlesticks lc rgb 'black' lw 2 notitle, \\
    '' using (\$1 + 0.17):8:9:10:11 with candlesticks lc rgb '#d55e00' \\
        title 'on' whiskerbars, \\
    '' using (\$1 + 0.17):12:12:12:12 with candlesticks lc rgb 'black' lw 2 notitle
END
    say "$3"
}

# show_plots FILE FOLDER
show_plots() {
    if ! command -v gnuplot >/dev/null; then
        say "no plots: no program gnuplot (Debian gnuplot-nox, Fedora gnuplot, Spack gnuplot)"
        return 0
    fi
    mkdir -p "$2"
    draw_plot "$1" messages,collectives "$2/bench-messages.svg" 'Small messages and collectives'
    draw_plot "$1" kernels "$2/bench-kernels.svg" 'Kernels'
}

# judge_all FILE: prints each bound that is not kept; fails if there is one.
judge_all() {
    local over
    over=$(jq -r '(.instructions[]? | .operation as $n | (.off, .on) | select(.state == "not met") |
            "\($n): \(.ratio) of the instructions of stock, at most \(.bound)"),
        (.pairs[]? | . as $p | ("off", "on") as $b | .[$b] | select(.state == "not met") |
            "\($p.name) \($p.class), \($p.ranks) ranks, \($p.transport), \($b): " +
            "\(.ratio.median) of the time of stock, at most \($p.bound)"),
        (.overhead.rows[]? | select(.state == "not met") |
            "\(.name): \(.values | max) \(.unit), at most \(.bound)")' "$1")
    [ -n "$over" ] || return 0
    say "bounds that are not met:"
    echo "$over" >&2
    return 1
}
