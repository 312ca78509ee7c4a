#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1): an object that is not there is a success of snmpget -v2c and of snmpwalk.
#
# A check of a switch asks for a port's row.  snmpget(1) says that "an error packet" makes it print a message.  A guess: a
# row that is not there makes exit code 2 and a message on standard error, whichever version of SNMP is spoken, and
# a walk that finds nothing is told from one that finds something.
# Seen: with -v1 it is so.  With -v2c the exit code is 0, and "No Such Object available on this agent at this OID" stands on
# standard output, where the value would be; snmpgetnext past the end of all says "No more variables" in the same way, and
# snmpwalk -v1 prints nothing, with 0.  So: a script that passes from -v1 to -v2c loses its check; look for
# " = No " in what is printed.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
unpack_snmpd

start_snmpd
export MIBS=''
run() {
    local code=0 program=$1 protocol=$2 object=$3
    "usr/bin/$program" "$protocol" -c public -t 5 -On 127.0.0.1:1161 "$object" >out 2>err || code=$?
    echo "$program $protocol $object: exit code $code, $(grep -c . err || :) lines of errors," \
        "$(sed 's/.* = //; s/ in this .*//' out)"
}
for ((i = 0; i < 60; i++)); do
    usr/bin/snmpget -v2c -c public -t 1 -r 0 127.0.0.1:1161 .1.3.6.1.2.1.1.3.0 >out 2>&1 && break
    sleep 0.5
done
{
    for protocol in -v1 -v2c; do
        run snmpget $protocol .1.3.6.1.2.1.2.2.1.8.999
        run snmpwalk $protocol .1.3.6.1.2.1.99
        run snmpgetnext $protocol .1.3.7
    done
} | tee seen
diff - seen <<'END' || { cat snmpd.log; echo "it is otherwise now"; exit 1; }
snmpget -v1 .1.3.6.1.2.1.2.2.1.8.999: exit code 2, 3 lines of errors, 
snmpwalk -v1 .1.3.6.1.2.1.99: exit code 0, 0 lines of errors, 
snmpgetnext -v1 .1.3.7: exit code 2, 3 lines of errors, 
snmpget -v2c .1.3.6.1.2.1.2.2.1.8.999: exit code 0, 0 lines of errors, No Such Instance currently exists at this OID
snmpwalk -v2c .1.3.6.1.2.1.99: exit code 0, 0 lines of errors, No Such Object available on this agent at this OID
snmpgetnext -v2c .1.3.7: exit code 0, 0 lines of errors, No more variables left
END
echo "as seen with Net-SNMP $version"
