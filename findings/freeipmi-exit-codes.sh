#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# FreeIPMI 1.6.10 (Debian 1.6.10-1+b1): what the BMC refuses is a success: ipmipower --on and ipmi-raw exit with 0.
#
# ipmipower's manual has it turn power on and off, ipmi-raw's has it execute raw commands.  A guess: where the BMC
# answers with a completion code that is an error the exit code is 1, as it is for a wrong password or a BMC that does
# not answer, and as ipmitool's is.
# Seen, with ipmi_sim (openipmi 2.0.33), a chassis that cannot be turned on: ipmipower --on says "BMC error" on standard
# output and exits with 0, with --wait-until-on as well, and the power is off.  ipmi-raw prints the completion code (C1,
# invalid command) as the second byte, and exits with 0.  So: who fences a node reads ipmipower's words, or its --stat,
# before the node is taken for off; of ipmi-raw the second byte.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ipmi_sim.sh"
run_bmc freeipmi-tools=1.6.10-1+b1 libipmidetect0=1.6.10-1+b1 libipmiconsole2=1.6.10-1+b1

free() {
    local code=0
    HOME=$work timeout 60 "usr/sbin/$1" -h "127.0.0.1:$port" -u admin -p "${password:-test}" "${@:2}" >out 2>&1 </dev/null || code=$?
    echo "$*: $(sed "s/^127[.0-9:]*: //" out | paste -sd' ' | sed 's/ *$//'), exit code $code"
}
{
    free ipmipower --stat
    free ipmipower --on
    free ipmipower --on --wait-until-on
    free ipmipower --stat
    password=wrong free ipmipower --stat | sed 's/:.*,/, wrong password:/'
    free ipmi-raw 0 6 0x77
    code=0
    usr/bin/ipmitool -I lanplus -C 3 -H 127.0.0.1 -p "$port" -U admin -P test raw 6 0x77 >out 2>&1 </dev/null || code=$?
    echo "ipmitool raw 6 0x77: exit code $code"
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
ipmipower --stat: off, exit code 0
ipmipower --on: BMC error, exit code 0
ipmipower --on --wait-until-on: BMC error, exit code 0
ipmipower --stat: off, exit code 0
ipmipower --stat, wrong password: exit code 1
ipmi-raw 0 6 0x77: rcvd: 77 C1, exit code 0
ipmitool raw 6 0x77: exit code 1
END
echo "as seen with FreeIPMI 1.6.10"
