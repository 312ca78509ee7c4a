#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1): a check of snmpd's "extend" that a signal ends has the result 0,
# success.
#
# snmpd.conf(5) says of extend that its table has "the exit status"; a site's check of a switch or a node is read so.  A
# guess: a check that is killed, for want of memory, or by timeout(1) with -s KILL, has 128 + N as in a shell, or the
# number of the signal, or -1, but not what a check that has passed has.
# Seen: nsExtendResult is 0, with the output up to there.  Exit codes are told as they are, and a program that cannot be
# run is 1.  So: the result alone says nothing; a check prints a word at its end, which is looked for, or runs under a
# shell that makes an exit code of the signal.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
snmpd=
unpack_snmpd
trap '[ -z "$snmpd" ] || kill "$snmpd"; wait; rm -rf "$work"' EXIT

printf '#!/bin/sh\necho begun\nkill -KILL $$\n' >killed
printf '#!/bin/sh\necho begun\nexit 3\n' >failed
printf '#!/bin/sh\n%s/killed\nexit $?\n' "$PWD" >wrapped
chmod +x killed failed wrapped
ip link set lo up
cat >snmpd.conf <<END
rocommunity public 127.0.0.1
agentaddress udp:127.0.0.1:1161
extend killed $PWD/killed
extend failed $PWD/failed
extend wrapped $PWD/wrapped
extend absent $PWD/absent
END
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
snmpd=$!
# A column of nsExtendOutput1Table; its index is the name, by the number of its characters and each of them.
column() {
    usr/bin/snmpget -v2c -c public -t 5 -Oqv 127.0.0.1:1161 \
        ".1.3.6.1.4.1.8072.1.3.2.3.1.$1.${#2}$(printf %s "$2" | od -An -v -tu1 | tr -s ' \n' . | sed 's/\.$//')" 2>/dev/null
}
for ((i = 0; i < 60; i++)); do [[ $(column 4 failed || :) == [0-9]* ]] && break; sleep 0.5; done
for name in killed failed wrapped absent; do
    echo "$name: result $(column 4 "$name"), output $(column 1 "$name")"
done | tee seen
diff - seen <<'END' || { cat snmpd.log; echo "it is otherwise now"; exit 1; }
killed: result 0, output "begun"
failed: result 3, output "begun"
wrapped: result 137, output "begun"
absent: result 1, output ""
END
echo "as seen with Net-SNMP $version"
