#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# ipmitool 1.8.19 (Debian 1.8.19-4+deb12u2): who lists sensors may clear the BMC's repository of sensor records.
#
# ipmitool(1) says of `sdr list`: "This command will read the Sensor Data Records (SDR) and extract sensor
# information".  A guess by that: it writes nothing.
# Seen, with ipmi_sim (openipmi 2.0.33) and an account of privilege Administrator or Operator: where the
# repository says that it has no record, `sdr list` (and elist, sensor, sel elist) clears it and makes it anew
# from what the device answers: "SDRR successfully erased".  With -L USER the BMC refuses: "Unable to clear
# SDRR: Insufficient privilege level".  So: ask with -L USER, and look at the count of `sdr info` first; `sel list`
# reads no records of sensors.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ipmi_sim.sh"
run_bmc

tool sdr info | grep 'Record Count'
user=$(tool -L USER sdr list | grep -m 1 'clear SDRR' || :)
admin=$(tool sdr list | grep -m 1 'erased' || :)
echo "sdr list with -L USER: $user"
echo "sdr list without: $admin"
[ -n "$admin" ] || { echo "CHANGED: nothing is erased"; exit 1; }
echo "STILL SO: sdr list clears a repository that is empty"
