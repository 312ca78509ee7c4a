#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# infiniband-diags 44.0 (Debian 44.0-2): what is no number of a port is port 0: "ibportstate LID disable" disables nothing, with
# exit code 0, and "perfquery LID x" has counters without errors.
#
# A script takes a bad link out by "ibportstate LID PORT disable".  A guess: where the port is empty, or a name,
# that is refused, by perfquery and smpquery too, as a LID that is no number is, and an operation that there is not.
# Seen, with ibsim 0.10: ibportstate takes "disable" for the port, and queries port 0, which is the switch itself: "Active", exit
# code 0.  perfquery and smpquery portinfo have port 0 for a word, and port 2 for "2x"; a port that the switch does
# not have fails.  So: a script tests that the port is a number above 0, and reads the state of the port after "disable".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ibsim.sh"
run_fabric opensm=3.3.23-2+b1 libopensm9=3.3.23-2+b1 libosmcomp5=3.3.23-2+b1 libosmvendor5=3.3.23-2+b1 libwrap0=7.6.q-32
on H1 opensm -o -f opensm.log
grep -q 'SUBNET UP' opensm.log || { echo "SKIP: opensm does not run here"; cat out err; exit 77; }
on H1 ibswitches
lid=$(sed -n 's/.*"S1".* lid \([0-9]*\) .*/\1/p' out)
fabric 'PerformanceSet "S1"[2] PortCounters.SymbolErrorCounter=20'

# show COMMAND...: LID stands for the switch's.
show() {
    on H1 "${@/#LID/$lid}"
    echo "$*: exit code $code$(sed -nE 's/^# .*( port [0-9]*).*/,\1/p; s/^(SymbolErrorCounter|LinkState):\.*/, \1 /p' out | tr -d '\n')"
}
{
    show ibportstate LID disable
    show ibportstate LID 2 dsable
    show perfquery LID 2
    show perfquery LID x
    show perfquery LID 2x
    show perfquery LID 9
    show perfquery x 2
    show smpquery portinfo LID x
    show smpquery portinfo LID 2x
    show smpquery portinfo LID 9
} >seen
cat seen
diff - seen <<'END' || { cat out err; echo "it is otherwise now"; exit 1; }
ibportstate LID disable: exit code 0, port 0, LinkState Active
ibportstate LID 2 dsable: exit code 255
perfquery LID 2: exit code 0, port 2, SymbolErrorCounter 20
perfquery LID x: exit code 0, port 0, SymbolErrorCounter 0
perfquery LID 2x: exit code 0, port 2, SymbolErrorCounter 20
perfquery LID 9: exit code 255
perfquery x 2: exit code 255
smpquery portinfo LID x: exit code 0, port 0, LinkState Active
smpquery portinfo LID 2x: exit code 0, port 2, LinkState Active
smpquery portinfo LID 9: exit code 255
END
echo "as seen with infiniband-diags 44.0"
