# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2154

# Instructions per operation, counted by valgrind's callgrind on the last of two ranks, whose
# messages go to itself. Sourced by bench.sh.

few=100 many=600 off_bound=1.01 on_bound=1.03
judged='irecv-send-wait isend-irecv-waitall any-source sendrecv iprobe allreduce-self'

# total FILE: the instructions in one of callgrind's files.
total() {
    awk '/^(summary|totals):/ { n = $2 } END { if (n == "") exit 1; print n }' "$1" ||
        die 1 "there are no counts in $1"
}

# count BUILD: into BUILD.counts a line for each operation, its name and the instructions. callgrind
# writes a file at the end of each loop, a short and a long one for each. The first rank waits all the
# while; nobody is to ask the other one about that meanwhile.
count() {
    local out=$work/callgrind.$1 name i=0 short long
    say "counting instructions: $1"
    rm -f "$out"*
    build "$1"
    env "${environment[@]}" MPIR_CVAR_FAULTLOC_STALL_MS=3600000 timeout -k 10 900 "$prefix/bin/mpiexec" \
        -n 1 "$programs/ops" $few $many \
        : -n 1 valgrind --tool=callgrind --toggle-collect=counted --dump-after=counted \
        --callgrind-out-file="$out" "$programs/ops" $few $many \
        </dev/null >"$out.names" 2>"$out.log" ||
        die 1 "callgrind did not run, see $out.log"
    while read -r name; do
        i=$((i + 2))
        short=$(total "$out.$((i - 1))")
        long=$(total "$out.$i")
        awk -v name="$name" -v n=$((long - short)) -v of=$((many - few)) \
            'BEGIN { printf "%s %.1f\n", name, n / of }'
    done <"$out.names" >"$work/$1.counts"
}

# Writes the array of the JSON, in the order of the program.
measure_instructions() {
    local b
    if ! command -v valgrind >/dev/null; then
        leave_out instructions "no program valgrind (Debian package valgrind)"
        return 0
    fi
    for b in stock off on; do count $b; done
    paste -d' ' "$work"/{stock,off,on}.counts | jq -R -n --arg judged "$judged" \
        --argjson off $off_bound --argjson on $on_bound '
        def state($n; $bound): {instructions: $n, ratio: ($n / .stock.instructions)} |
            if $bound then . + {bound: $bound,
                state: (if .ratio <= $bound then "met" else "not met" end)} else . end;
        [inputs | split(" ") | .[0] as $name | (.[1, 3, 5] |= tonumber) |
            ($judged | split(" ") | index($name)) as $is | . as $row |
            {operation: $name, stock: {instructions: $row[1]}} |
            .off = state($row[3]; if $is then $off else null end) |
            .on = state($row[5]; if $is then $on else null end)]' >"$work/instructions.json"
}
