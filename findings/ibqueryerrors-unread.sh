#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# infiniband-diags 44.0 (Debian 44.0-2): ibqueryerrors has exit code 0, no errors, where it has read no counters.
#
# ibqueryerrors(8) on its exit status: -1 if the scan fails, 0 if it succeeds without errors beyond thresholds, 1 if there are
# some.  A guess by that: counters that could not be read make no 0.
# Seen, with ibsim 0.10, a port with 20 symbol errors and a fabric that is whole: without a subnet manager, the time
# at which one looks for errors, it prints nothing but "Query SA failed", and its exit code is 0, as of a fabric without
# errors; with --skip-sl it finds them.  Where a host does not answer for its port's counters the summary counts "1 PMA query
# failures", with exit code 0, and for a GUID that is not there it has checked 0 nodes, with exit code 0; iblinkinfo
# -S does so, too.  So: a script calls it with --skip-sl, and looks at the summary, which has how many nodes were checked.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ibsim.sh"
run_fabric opensm=3.3.23-2+b1 libopensm9=3.3.23-2+b1 libosmcomp5=3.3.23-2+b1 libosmvendor5=3.3.23-2+b1 libwrap0=7.6.q-32
on H1 opensm --version
grep -q '^OpenSM 3.3.23' out || { echo "SKIP: opensm does not run here"; exit 77; }

# A manager that sets up the fabric and stays, on H3.
as H3 usr/sbin/opensm -f opensm.log >opensm.out 2>&1 </dev/null &
manager=$!
trap 'kill "$sim" "$manager" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do grep -q 'SUBNET UP' opensm.log 2>/dev/null && break; sleep 0.2; done
show() {
    on H1 "${@:2}"
    echo "$1, ${*:2}: exit code $code$(sed -n 's/^## Summary: \(.* nodes checked\).*/, \1/p; s/^##  *\(.* PMA .*\)/, \1/p' out |
        tr -d '\n')$([ "$2" != ibqueryerrors ] || [ -s out ] || echo ", prints nothing")"
}
{
    show "as it was" ibqueryerrors -c
    fabric 'PerformanceSet "S1"[2] PortCounters.SymbolErrorCounter=20'
    show "errors" ibqueryerrors -c
    kill "$manager"
    wait "$manager" || :
    show "errors, no manager" ibqueryerrors -c
    show "errors, no manager" ibqueryerrors -c --skip-sl
    show "no such GUID" ibqueryerrors -c --skip-sl -G 0x999
    show "no such GUID" iblinkinfo -S 0x999
    on H1 ibqueryerrors --skip-sl -k
    fabric 'Error "H2" 100 18'
    show "H2 is silent" ibqueryerrors -c --skip-sl
} >seen
cat seen
diff - seen <<'END' || { cat out err; echo "it is otherwise now"; exit 1; }
as it was, ibqueryerrors -c: exit code 0, 5 nodes checked
errors, ibqueryerrors -c: exit code 1, 5 nodes checked
errors, no manager, ibqueryerrors -c: exit code 0, prints nothing
errors, no manager, ibqueryerrors -c --skip-sl: exit code 1, 5 nodes checked
no such GUID, ibqueryerrors -c --skip-sl -G 0x999: exit code 0, 0 nodes checked
no such GUID, iblinkinfo -S 0x999: exit code 0
H2 is silent, ibqueryerrors -c --skip-sl: exit code 0, 5 nodes checked, 1 PMA query failures
END
echo "as seen with infiniband-diags 44.0"
