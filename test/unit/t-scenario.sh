#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The table of scenarios: make check has a test for each row, and nothing else runs. A wrong row is
# refused with its line, before anything runs; a scenario that fails names its line and the command
# that repeats it.
# Environment: top_srcdir.
# Exit code: 0 passed, 1 failed.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The table/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
cd "${top_srcdir:?}"
scenario=$PWD/test/cluster/scenario
command=("$scenario")
. test/unit/program.sh

# --- the table of this tree ---------------------------------------------------------------------

run --list
sed 's/ .*//' "$work/out" | sort >"$work/names"
sed -n 's|^ *test/cluster/\([^ ]*\)\.scenario.*|\1|p' sources.mk | sort >"$work/tests"
if [ $code -eq 0 ] && diff "$work/names" "$work/tests"; then ok "each row is a test"; else
    bad "sources.mk differs from the table: maint/list-sources.sh --update"
fi
expect 0 "--fault 'power-off h3' -- alltoall --seconds 3600" --print test/cluster/power_off.scenario
expect 0 "campaign --name" --print power_off --runs 2
expect 0 "--seconds 6" --print pause
[ "$(grep -o -- --seconds "$work/out" | wc -l)" = 1 ] || bad "pause: says twice how long"
expect 0 "--kinds two,busy --hosts 4 --ppn 1 --skew 100000" --print crash_clocks
expect 2 "there is no scenario 'none'" none
expect 2 "the name of a scenario is needed"
expect 2 "unknown option --none" --none
expect 0 "Exit code" --help

# --- other tables -------------------------------------------------------------------------------

# refuse TEXT LINE...: why a table of these lines is refused, with the last one.
refuse() {
    local text=$1
    shift
    printf '%s\n' '# a comment' "$@" >"$work/table"
    expect 2 "$work/table:$(($# + 1)): $text" --table "$work/table" --list
}
refuse "a row has 5 columns, not 4" 'a | 4 | 1 | alltoall'
refuse "an empty column" 'a | 4 | | alltoall | stop 2'
refuse "the name 'a.b' is not of letters" 'a.b | 4 | 1 | alltoall | stop 2'
refuse "a is in line 2 already" 'a | 4 | 1 | alltoall | stop 2' 'a | 4 | 1 | alltoall | stop 3'
refuse "hosts are a number" 'a | h4 | 1 | alltoall | stop 2'
refuse "ppn is a number" 'a | 4 | 1+2 | alltoall | stop 2'
refuse "there is no program test/mpi/none.c" 'a | 4 | 1 | none | stop 2'
refuse "there is no none_campaign.sh" 'a | 4 | 1 | none_campaign | stop 2'
refuse "there is no fault 'none'" 'a | 4 | 1 | alltoall | stop 2 + none h3'
refuse "an indented line before the first row" '    What it shows.'

cat >"$work/table" <<'END'
a | 8/2 | 3 | aside --rank 4 | power-off h1 + stop 2 @200
    One sentence,
    another one.
    --any-victims
    --expect-json '.a == "b" | not'
    --env A=b c
b | 4 | 1 | crash_campaign | no-such-kind
END
expect 0 "a                      One sentence, another one." --table "$work/table" --list
expect 0 "--faultloc --hosts 8 --ppn 3 --switches 2 --fault 'power-off h1' --fault 'stop 2 @200' \
--any-victims --expect-json '.a == \"b\" | not' --env 'A=b c' --keep k -- aside --rank 4 \
--seconds 3600" --table "$work/table" --print a --keep k
expect 2 "FAILED: $work/table:7: b, exit code 2" --table "$work/table" b
grep -qF "$scenario --table $work/table b --keep FOLDER" "$work/out" || bad "no command repeats it"

[ $failed -eq 0 ] || exit 1
echo "all passed"
