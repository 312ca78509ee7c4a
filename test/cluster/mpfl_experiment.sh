#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# shellcheck disable=SC2154
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib/campaign.sh"
cluster=$here/cluster

usage() {
    cat <<'END'
Usage: test/cluster/mpfl_experiment.sh [OPTIONS]

MPFL's experiment on a cluster of namespaces: all ranks but one call MPI_Alltoall in a loop; one is
silent from the start, by configuration; and other middleware reports symptoms. The experiment
measures whether the silent rank is found, how soon, and with which confidence. MPFL's silent
process stands for a lost node; here

  stop      it stops itself (SIGSTOP) right before the loop. The verdict must be process-stopped,
            because its node answers;
  outage    it is alone on a host, which loses its power right before the loop. The verdict must be
            node-outage.

The symptoms are heartbeat-lost from the scheduler, about the silent rank's host, 5 times from 200
ms on; cpu-usage (within its normal range) from the operating system, about a healthy host, 50
times; memory-corrected from the hardware monitor, about another healthy host, 50 times. Each run
has a cluster of its own, and passes if this fault is found and no other. The victims are not
checked: with symptoms the fault is often found before a rank has waited for long. Ranks that wait
sleep for 1 ms at a time: on a real cluster each has a processor of its own and takes none from the
agents; here all share a few.

  --ranks 'R...'    numbers of ranks ('16 32 64')
  --hosts N         hosts (8); at least 5
  --runs N          runs of each kind (3)
  --how 'HOW...'    'stop outage'
  --symptoms 'S...' 'no yes': without the symptoms, and with them
  --json FILE       write all results as JSON, one object per kind (- for standard output, without
                    the table)
  --mpi PREFIX      the MPI (FAULTLOC_MPI)
  --keep FOLDER     keep the files of failed runs there
  --help            this text

Exit code: 0 all runs passed, 1 a run failed, 2 wrong usage, 77 no root or no namespaces here.
END
}

all_ranks='16 32 64' hosts=8 runs=3 all_hows='stop outage' all_symptoms='no yes' json='' keep=''
read_options '--ranks=all_ranks --hosts=hosts --runs=runs --how=all_hows --symptoms=all_symptoms
    --json=json --mpi=FAULTLOC_MPI --keep=keep' "$@"
# shellcheck disable=SC2086
check_values '--ranks and --runs' '[1-9][0-9]*' $all_ranks "$runs"
check_values --hosts '([5-9]|[1-9][0-9]+)' "$hosts"
check_words 'value of --how' "$all_hows" 'stop outage'
check_words 'value of --symptoms' "$all_symptoms" 'no yes'
for n in $all_ranks; do
    [ "$n" -ge $((2 * hosts)) ] || die 2 "--ranks must be at least two for each of $hosts hosts"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# set_up RANKS HOW SYMPTOMS: fills `options` and `program`. With 'stop' the silent one is the second
# rank of the host in the middle.
set_up() {
    local ranks=$1 host=h$hosts silent=$(($1 - 1)) middle=$((hosts / 2 + 1))
    options=(--name "t$$" --hosts "$hosts" --ranks "$ranks" --runs "$runs" --faultloc
        --any-victims --jitter-ms 0 --start-deadline 600 --deadline 120 --json "$work/one.json")
    [ -z "$keep" ] || options+=(--keep "$keep/$ranks-$2-$3")
    if [ "$2" = stop ]; then
        host=h$middle
        silent=$((ranks * (middle - 1) / hosts + 1))
        program=(alltoall --silent "$silent" --how stop --rest-us 1000 --seconds 3600)
        options+=(--fault "stops-itself $silent")
    else
        program=(alltoall --silent "$silent" --how sleep --rest-us 1000 --seconds 3600)
        options+=(--alone --fault "power-off $host")
    fi
    [ "$3" = no ] || options+=(--fault "symptoms h2 heartbeat-lost $host 5 5 @200"
        --fault "symptoms h3 cpu-usage h3 50 25" --fault "symptoms h4 memory-corrected h4 50 25")
}

# summary RANKS HOW SYMPTOMS: one JSON object of the runs in one.json.
summary() {
    jq -cs --argjson ranks "$1" --argjson hosts "$hosts" --arg how "$2" --arg symptoms "$3" '
        def med: sort | if length == 0 then null else .[(length - 1) / 2 | floor] end;
        { ranks: $ranks, hosts: $hosts, silent: $how, symptoms: ($symptoms == "yes"), runs: length,
          found: (map(select(.ok)) | length), class: ([.[].class] | unique | join(",")),
          median_s: ([.[].latency_s | values] | med), max_s: ([.[].latency_s | values] | max),
          confidence: ([.[].confidence | values] | med), why: ([.[].why] | unique - [""]) }' \
        "$work/one.json"
}

row() {
    jq -r '[.ranks, .hosts, .silent, (if .symptoms then "yes" else "no" end), .runs, .found, .class,
            .median_s, .max_s, .confidence, (.why | join("; "))] |
            map(if . == null then "-" else tostring end) | join("\t")' |
        awk -F'\t' '{ printf "%6s %6s %-7s %-9s %5s %6s  %-16s %9s %9s %11s  %s\n",
            $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 }'
}

show() { [ "$json" = - ] || "$@"; }

one_kind() { # RANKS HOW SYMPTOMS
    local code=0 result
    set_up "$@"
    echo "mpfl_experiment: $1 ranks, $2, symptoms of other middleware: $3" >&2
    : >"$work/one.json"
    "$cluster" campaign "${options[@]}" -- "${program[@]}" >"$work/table" || code=$?
    [ $code -le 1 ] || { cat "$work/table" >&2; exit $code; }
    result=$(summary "$@")
    echo "$result" >>"$work/all.json"
    show row <<<"$result"
    [ "$(jq .found <<<"$result")" = "$runs" ] || good=
}

good=1
show printf '%6s %6s %-7s %-9s %5s %6s  %-16s %9s %9s %11s  %s\n' ranks hosts silent symptoms runs \
    found class median/s max/s confidence "not good"
for how in $all_hows; do
    for ranks in $all_ranks; do
        for symptoms in $all_symptoms; do one_kind "$ranks" "$how" "$symptoms"; done
    done
done
case $json in
    '') ;;
    -) cat "$work/all.json" ;;
    *) cp "$work/all.json" "$json" ;;
esac
[ -n "$good" ]
