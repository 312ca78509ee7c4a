# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2154

# What campaigns share that compare verdicts with what was done: each run is one of a fault, with GOT
# (the classes that it got) and WHY (why that is wrong, else ""), and the table of all is a confusion
# matrix. A campaign has set results (a folder), out (one of the user's, or "") and run_seed.

# draw_order SEED: lines of standard input in an order that the seed draws.
draw_order() {
    local line
    seed_draws "$1"
    while IFS= read -r line; do echo "$RANDOM $line"; done | sort -n | cut -d' ' -f2-
}

# "CLASS NAME" of each verdict that stands in a report.
given() {
    jq -r '.verdicts[] | select(.withdrawn == null)
        | "\(.class) \(.component.name | sub("^(rank|switch) "; ""))"' "$1" 2>/dev/null | sort || :
}

# compare_verdicts WANTED GIVEN: sets GOT: the class, "CLASS elsewhere" where another component is
# named, "none", or the classes of several; and WHY where it is not what was wanted.
compare_verdicts() {
    local extra
    extra=$(comm -13 <(echo "$1") <(echo "$2") | grep . || :)
    if [ -z "$2" ]; then
        GOT=none
    elif [ -n "$extra" ]; then
        GOT=$(cut -d' ' -f1 <<<"$extra" | sort -u | paste -sd+)
        ! cut -d' ' -f1 <<<"$1" | grep -qxF "$GOT" || GOT+=' elsewhere'
    else
        GOT=$(cut -d' ' -f1 <<<"$2" | sort -u | paste -sd+)
    fi
    [ "$1" = "$2" ] || WHY="verdicts are '${2//$'\n'/, }', not '${1//$'\n'/, }'"
}

# note_run FAULT PROGRAM DID
note_run() {
    jq -nc --arg fault "$1" --arg program "$2" --arg did "$3" \
        --arg got "$GOT" --arg why "$WHY" --argjson latency "$LATENCY" --argjson seed "$run_seed" \
        '{fault: $fault, program: $program, did: $did, seed: $seed, got: $got,
          latency_s: $latency, ok: ($why == ""), why: $why}' >>"$results/runs.json"
}

# make_matrix FAULTS: in this order; rows are faults, columns what they got.
make_matrix() {
    jq -s --arg order "$1" '
        def med: sort | if length == 0 then null else .[(length - 1) / 2 | floor] end;
        . as $runs | ([.[].got] | unique) as $columns
        | { columns: $columns, rows: [ $order | split(" ")[] as $f
            | [$runs[] | select(.fault == $f)] | select(length > 0) | . as $r
            | { fault: $f, runs: length, right: ([.[] | select(.ok)] | length),
                latency_median_s: ([.[].latency_s | values] | med),
                latency_max_s: ([.[].latency_s | values] | max),
                cells: [ $columns[] as $c | [$r[] | select(.got == $c)]
                    | { runs: length, right: ([.[] | select(.ok)] | length) } ] } ] }' "$results/runs.json"
}

# A table of words, each column as wide as its widest.
matrix_text() {
    jq -r '
        def show: if . == null then "-" else (. * 10 | round / 10 | tostring) end;
        [["fault", "right", "median/s", "max/s"] + .columns]
        + [.rows[] | [.fault, "\(.right)/\(.runs)", (.latency_median_s | show), (.latency_max_s | show)]
            + [.cells[] | if .runs == 0 then "." elif .right == .runs then "\(.runs)"
                          else "\(.runs)!" end]]
        | . as $t | [range($t[0] | length) as $i | [$t[] | .[$i] | length] | max + 2] as $w
        | $t[] | . as $r | [range(length) | $r[.] + " " * ($w[.] - ($r[.] | length))] | add
        | sub(" +$"; "")' "$1"
    echo 'A number with ! has runs that were not right.'
}

# Green: right; red: not.
matrix_svg() {
    jq -r '
        def text($x; $y; $more): "<text x=\"\($x)\" y=\"\($y)\" \($more)>\(.)</text>";
        def seconds: if . == null then "-" else "\(. * 10 | round / 10) s" end;
        110 as $w | 26 as $h | 150 as $left | 160 as $top
        | (.columns | length) as $n | ($left + $n * $w) as $edge
        | "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\($edge + 250)\""
          + " height=\"\($top + (.rows | length) * $h + 40)\" font-family=\"sans-serif\" font-size=\"13\">",
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        ("Faults (rows) and the verdicts that they got (columns)"
            | text(10; 24; "font-size=\"16\" font-weight=\"bold\"")),
        (.columns | to_entries[] | .key as $i | .value
            | text($left + ($i + 0.5) * $w; $top - 10;
                   "transform=\"rotate(-25 \($left + ($i + 0.5) * $w) \($top - 10))\"")),
        ("right" | text($edge + 12; $top - 10; "")),
        ("median, longest" | text($edge + 80; $top - 10; "")),
        (.rows | to_entries[] | ($top + .key * $h) as $y | .value
            | (.fault | text($left - 10; $y + 17; "text-anchor=\"end\"")),
              (.cells | to_entries[] | ($left + .key * $w) as $x | .value
                | "<rect x=\"\($x)\" y=\"\($y)\" width=\"\($w - 2)\" height=\"\($h - 2)\" fill=\"\(
                      if .runs == 0 then "#f2f2f2" elif .right == .runs then "#b7e1b0"
                      else "#f2a6a0" end)\"/>",
                  (select(.runs > 0) | .runs | tostring
                    | text($x + $w / 2 - 1; $y + 17; "text-anchor=\"middle\""))),
              ("\(.right) of \(.runs)" | text($edge + 12; $y + 17; "")),
              ("\(.latency_median_s | seconds), \(.latency_max_s | seconds)"
                | text($edge + 80; $y + 17; ""))),
        "</svg>"' "$1"
}

# write_matrix FAULTS
write_matrix() {
    make_matrix "$1" >"$results/matrix.json"
    matrix_text "$results/matrix.json" | tee "$results/matrix.txt"
    [ -n "$out" ] || return 0
    matrix_svg "$results/matrix.json" >"$results/matrix.svg"
    mkdir -p "$out"
    cp "$results"/matrix.* "$results/runs.json" "$out/"
}
