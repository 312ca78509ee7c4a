# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2154

# What campaigns share: reading and checking of options, and what is drawn. A campaign defines
# usage().

# What FaultLoc says where the disk is slow: a report comes later.
late_report='the report is still being written|full report: '

die() { echo "${0##*/}: $2" >&2; exit "$1"; }

# read_options TABLE ARGUMENT...: sets the variable of each option that is given. TABLE has words
# OPTION=VARIABLE of options that have a value, and OPTION:VARIABLE of those that have none, which
# set it to 1.
read_options() {
    local table=" ${1//$'\n'/ } " variable
    shift
    while [ $# -gt 0 ]; do
        case $1 in --help | -h) usage; exit 0 ;; esac
        case $table in
            *" $1:"*)
                variable=${table#*" $1:"}
                printf -v "${variable%% *}" 1
                shift
                ;;
            *" $1="*)
                [ $# -ge 2 ] || die 2 "$1 needs a value; see --help"
                variable=${table#*" $1="}
                printf -v "${variable%% *}" %s "$2"
                shift 2
                ;;
            *) die 2 "unknown argument $1; see --help" ;;
        esac
    done
    [ -z "${FAULTLOC_MPI:-}" ] || export FAULTLOC_MPI
}

# check_words WHAT WORDS ALL: each of the words, with commas between them, is one of all.
check_words() {
    local word
    for word in ${2//,/ }; do
        [[ " $3 " == *" $word "* ]] || die 2 "unknown $1 '$word'; known are: $3"
    done
}

# check_values OPTIONS REGEX VALUE...
check_values() {
    local value
    for value in "${@:3}"; do
        [[ $value =~ ^$2$ ]] || die 2 "not a value for $1: '$value'; see --help"
    done
}
readonly NUMBERS='[1-9][0-9]*(,[1-9][0-9]*)*' DECIMAL='[0-9]+([.][0-9]+)?'

# need PROGRAM PACKAGE: of Debian.
need() { command -v "$1" >/dev/null || die 77 "no program '$1' (Debian package $2)"; }

# Kinds with the same seed draw different things, and so do neighbouring seeds.
seed_draws() { RANDOM=$(cksum <<<"$1" | cut -d' ' -f1); }

# Each sets DRAWN; a subshell would not move the sequence on.
draw() { DRAWN=$(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1))); } # FROM TO
draw_of() { # WORD...
    draw 1 $#
    DRAWN=${!DRAWN}
}

# function_of RANK REPORT: the last "stay_..." on its stack in the first verdict that stands, or
# "none".
function_of() {
    jq -r --argjson rank "$1" '[first(.verdicts[] | select(.withdrawn == null))
        | .stacks.calls // [] | .[]
        | select(.ranks.runs | any(.[0] <= $rank and $rank < .[0] + .[1] * (.[2] // 1)))
        | .function // empty | select(startswith("stay_"))] | last // "none"' "$2" || echo none
}

# A run that was told is counted: SKIP is set where it could not be made, WHY where it failed.
bad=0 all=0 skipped=0
count_run() {
    if [ -n "$SKIP" ]; then
        skipped=$((skipped + 1))
    else
        all=$((all + 1))
        [ -z "$WHY" ] || bad=$((bad + 1))
    fi
}

# every_run: each of $ppns and $kinds with each seed. A campaign defines one_run, tell_run, and
# after_run where there is something to do then.
every_run() {
    for ppn in ${ppns//,/ }; do
        for kind in ${kinds//,/ }; do
            for ((run_seed = seed; run_seed < seed + runs; run_seed++)); do
                one_run
                tell_run
                count_run
                after_run
            done
        done
    done
}
after_run() { :; }

# The last line, and the exit code: 0 all runs passed, 1 one failed, 77 all were skipped.
end_campaign() {
    echo "$((all - bad)) of $all runs passed$([ $skipped = 0 ] || echo ", $skipped skipped")"
    [ $bad = 0 ] || exit 1
    [ $all != 0 ] || exit 77
}
