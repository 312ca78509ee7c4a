#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib/campaign.sh"
tests='fln_and_suspect root root_and_substitute overloaded_fln two_subtrees symptom_storm
    symptom_storm_healthy'

usage() {
    cat <<'END'
Usage: test/cluster/analysis_campaign.sh [--runs N] [--only 'TEST...'] [--mpi PREFIX] [--json FILE]

Runs the scenarios of detection and analysis by the tree (8 hosts behind 2 switches) N times each,
and prints a table: how often the expected verdict was found, and after how many seconds.

  --runs N        runs of each test (10)
  --only 'TEST...'
                  only these tests, of
                  fln_and_suspect root root_and_substitute overloaded_fln two_subtrees
                  symptom_storm symptom_storm_healthy
  --mpi PREFIX    the MPI (FAULTLOC_MPI)
  --json FILE     write the results as JSON, one line per run
  --keep FOLDER   keep the files of all runs there
  --help          this text

Exit code: 0 all runs passed, 1 a run failed, 2 wrong usage, 77 no root or no namespaces here.
END
}

runs=10 json='' keep=''
read_options '--runs=runs --only=tests --mpi=FAULTLOC_MPI --json=json --keep=keep' "$@"
check_values --runs '[1-9][0-9]*' "$runs"
for test in $tests; do
    "$here/scenario" --print "$test" >/dev/null || exit
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# row TEST: one line of the table from its runs.
row() {
    jq -rs --arg test "$1" '
        def show: if . == null then "-" else . * 1000 | round / 1000 | tostring end;
        [.[].latency_s | values] as $l |
        [$test, length, (map(select(.ok)) | length),
         ($l | sort | .[(length - 1) / 2 | floor] | show), ($l | max | show),
         ([.[].why] | unique - [""] | join("; "))] | map(tostring) | join("\t")' "$work/one.json" |
        awk -F'\t' '{ printf "%-22s %5s %5s %9s %9s  %s\n", $1, $2, $3, $4, $5, $6 }'
}

good=1
printf '%-22s %5s %5s %9s %9s  %s\n' scenario runs good median/s max/s "not good"
for test in $tests; do
    code=0
    echo "analysis_campaign: $test, $runs times" >&2
    options=(--runs "$runs" --json "$work/one.json")
    [ -z "$keep" ] || options+=(--keep "$keep/$test")
    "$here/scenario" "$test" "${options[@]}" >"$work/table" || code=$?
    [ $code -le 1 ] || { cat "$work/table" >&2; exit $code; }
    [ $code = 0 ] || { good=; cat "$work/table" >&2; }
    row "$test"
    [ -z "$json" ] || cat "$work/one.json" >>"$work/all.json"
done
[ -z "$json" ] || cp "$work/all.json" "$json"
[ -n "$good" ]
