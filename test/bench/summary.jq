##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# From the samples of pairs.sh, one a line, to the array "pairs" of the JSON: of each measurement
# the spread of the seconds of each build, and of their ratios to stock MPICH in the same round.
#     jq -R -n -f summary.jq <samples

# At the fraction q of sorted values, between two of them in proportion.
def at($q): ((length - 1) * $q) as $x | ($x | floor) as $i |
    .[$i] + ($x - $i) * ((.[$i + 1] // .[$i]) - .[$i]);

def spread: sort | {min: .[0], q1: at(0.25), median: at(0.5), q3: at(0.75), max: .[-1]};

# How likely it is that fewer than k of n fair coins show heads.
def below($n; $k): reduce range($k) as $i ({sum: 0, term: pow(0.5; $n)};
    .sum += .term | .term *= ($n - $i) / ($i + 1)) | .sum;

# In which the median is, with 95 % and whatever the distribution; null: too few values.
def interval: sort | length as $n |
    ([range(1; $n / 2 + 1) | select(below($n; .) <= 0.025)] | max) as $k |
    if $k then [.[$k - 1], .[$n - $k]] else null end;

# A bound is kept or not if that is so of the whole interval.
def judge($bound): if . == null then "undecided"
    elif .[1] <= $bound then "met" elif .[0] > $bound then "not met" else "undecided" end;

def side($stock; $bound): [., $stock] | transpose | map(.[0] / .[1]) |
    {ratio: spread} + (interval | if . then {interval: .} else {} end) |
    if $bound then .state = (.interval | judge($bound)) else . end;

[inputs | split("\t") | {round: (.[0] | tonumber), build: .[1], part: .[2], name: .[3], class: .[4],
    ranks: (.[5] | tonumber), transport: .[6], seconds: (.[7] | tonumber),
    order: input_line_number}]
| group_by([.part, .name, .class, .ranks, .transport]) | sort_by(map(.order) | min) | map(
    (.[0] | {part, name, ranks, transport} + if .class == "-" then {} else {class} end) as $head |
    (if $head.part == "kernels" then 1.01 else null end) as $bound |
    # rounds that were broken off are left out
    (group_by(.round) | map(select(length == 3))) as $rounds | select($rounds != []) |
    def of($build): $rounds | map(map(select(.build == $build))[0].seconds);
    $head + {pairs: ($rounds | length)} + (if $bound then {bound: $bound} else {} end) +
    {stock: {seconds: of("stock") | spread},
     off: ({seconds: of("off") | spread} + (of("off") | side(of("stock"); $bound))),
     on: ({seconds: of("on") | spread} + (of("on") | side(of("stock"); $bound)))})
