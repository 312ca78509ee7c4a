#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# ipmitool 1.8.19 (Debian 1.8.19-4+deb12u2): -v makes the output of -c no CSV any more.
#
# ipmitool(1) says of -v "Increase verbose output level", and of -c "Present output in CSV (comma separated
# variable) format. This is not available with all commands"; `sel list` has it. A guess by that: `-v -c sel list`
# prints the same table, and more on standard error. (Who asks wants -v: without it a BMC that refuses the password
# reads like one that is dead.)
# Seen, with ipmi_sim (openipmi 2.0.33): -v -c prints each event as a record of lines "Name : value" on standard
# output, and no line of CSV, with exit code 0. So: ask for tables without -v.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ipmi_sim.sh"
run_bmc

echo "0x04 0x08 0x32 0x6f 0x01 0xff 0xff" >event # a power supply fails
tool sel add event >added
csv=$(tool -c sel list | grep -c ',Failure detected,Asserted' || :)
verbose=$(tool -v -c sel list)
echo "-c sel list: $csv line of CSV; -v -c sel list:"
grep -E 'Record ID|Description|,Asserted' <<<"$verbose" || :
[ "$csv" = 1 ] || { echo "CHANGED: -c sel list has no table"; exit 1; }
! grep -q ',Asserted' <<<"$verbose" || { echo "CHANGED: -v -c has a table"; exit 1; }
grep -q '^ Description  *: Failure detected' <<<"$verbose" || { echo "CHANGED: -v -c has no record"; exit 1; }
echo "STILL SO: with -v it is no CSV, whatever -c says"
