# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2154

# What campaigns share that run one job at a time and check what FaultLoc says of it: the job is
# started, with each line of its standard error stamped, its verdicts are read, complaints are noted
# in WHY. A campaign has set work (a folder), name, hosts and ppn, and sources common.sh and
# campaign.sh before.

blame() { WHY+="${WHY:+; }$*"; }

stamp() {
    local line
    trap '' INT TERM
    while IFS= read -r line || [ -n "$line" ]; do echo "$(now_us) $line"; done
}

# run_cluster OPTION... -- PROGRAM ARGUMENT...: in the background, as process $pid; its output is
# $work/out, its errors, each line behind a microsecond, $work/err.
run_cluster() {
    : >"$work/out"
    mkfifo "$work/pipe"
    (trap - EXIT; stamp <"$work/pipe" >"$work/err") &
    stamper=$!
    (
        trap - EXIT
        MPIR_CVAR_FAULTLOC_TRACE=$work/trace exec "$cluster" run --name "$name" --hosts "$hosts" \
            --ppn "$ppn" --quiet --env FI_PROVIDER=tcp --env FI_TCP_IFACE=eth0 \
            --env MPIR_CVAR_FAULTLOC_REPORT="$work/report.json" "$@"
    ) </dev/null >"$work/out" 2>"$work/pipe" &
    pid=$!
}

ended() { [ ! -d "/proc/$pid" ]; }

# Sets CODE; of one that runs still, after it was ended.
end_cluster() {
    CODE=0
    ended || kill "$pid" 2>/dev/null || :
    wait "$pid" 2>/dev/null || CODE=$?
    pid=
    wait $stamper || :
}

# EXPECT is "deadlock 3,5" or "none", once the program has said it.
has_said() {
    EXPECT=$(sed -n 's/^EXPECT //p' "$work/out")
    [ -n "$EXPECT" ]
}

# "CLASS RANK,..." of all that were announced, one a line, also of those withdrawn.
verdicts() {
    jq -r '.verdicts[] | .class + " " +
        (.component.ranks // [] | sort | map(tostring) | join(",")) +
        if .withdrawn == null then "" else " withdrawn" end' "$work/report.json" 2>/dev/null || :
}
verdict_lines() {
    grep -E '^[0-9]+ \[faultloc\] [a-z-]+: ' "$work/err" | grep -vE '\] (waiting|withdrawn): ' || :
}
has_verdict() { [ -n "$(verdicts)" ] && [ -n "$(verdict_lines)" ]; }
has_verdict_or_ended() { has_verdict || ended; }

count_notes() { grep -cE '^[0-9]+ \[faultloc\] waiting: ' "$work/err" || :; }

# judge_end PROGRAM TALKS: of one that is to end well, which says so TALKS times.
judge_end() {
    [ ! -s "$job/left-over" ] || blame "processes left behind: $(head -n 1 "$job/left-over")"
    [ -n "$1" ] || return 0
    [ "$CODE" = 0 ] || blame "exit code $CODE"
    [ "$(grep -cE "^$1: .* all right$" "$work/out")" = "$2" ] || blame "no right results"
}

# Lines of FaultLoc that belong to no report.
judge_complaints() {
    local said
    said=$(cut -d' ' -f2- "$work/err" | grep -F '[faultloc] ' |
        grep -vE "^\[faultloc\] (  |[a-z]+(-[a-z]+)*[:,] |$late_report)" | head -n 1 || :)
    [ -z "$said" ] || blame "FaultLoc printed: $said"
}

# keep_run FOLDER: the files of the run.
keep_run() {
    rm -f "$work/pipe"
    mkdir -p "$1"
    cp -r "$work"/* "$job"/pids "$1/" 2>/dev/null || :
}
