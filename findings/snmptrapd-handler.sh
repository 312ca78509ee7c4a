#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1): a handler of snmptrapd that takes its time holds up all that comes after,
# and the senders of informs believe that they are lost; snmpd does so with a command of "extend".
#
# snmptrapd.conf(5) has traphandle run a program for each notification; snmpd.conf(5) has extend run one for a row.  A guess:
# while one runs, the daemon goes on: other notifications are handled, an inform is confirmed, sysUpTime is answered.
# Seen, with programs that take 4 s: three traps are handled one after the other, 4 s apart; an inform that comes meanwhile
# is not confirmed in time ("Timeout", exit code 1), though it is handled later.  snmpd answers nobody: a host whose
# extend asks a slow device looks dead to who asks for its uptime.  So: a handler puts what it has read into a file and
# ends; an extend prints what another process has left.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
pids=()
version=5.9.3+dfsg-2+deb12u1
unpack "Net-SNMP $version" "snmpd=$version" "snmp=$version" "snmptrapd=$version" "libsnmp40=$version" \
    libsensors5=1:3.6.0-7.1 libpci3=1:3.9.0-4 libwrap0=7.6.q-32 libmariadb3
export LD_LIBRARY_PATH=$libraries
trap '[ -z "${pids[*]}" ] || kill "${pids[@]}"; wait; rm -rf "$work"' EXIT
usr/sbin/snmptrapd --version >out 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

ip link set lo up
cat >handler <<END
#!/bin/sh
date +%s >>$PWD/handled
cat >/dev/null
sleep 4
END
printf '#!/bin/sh\nsleep 4\necho well\n' >slow
chmod +x handler slow
printf 'disableAuthorization yes\ntraphandle default %s/handler\n' "$PWD" >snmptrapd.conf
printf 'rocommunity public 127.0.0.1\nagentaddress udp:127.0.0.1:1161\nextend slow %s/slow\n' "$PWD" >snmpd.conf
export MIBS=''
usr/sbin/snmptrapd -f -Lf snmptrapd.log -C -c snmptrapd.conf -p snmptrapd.pid udp:127.0.0.1:1162 &
pids+=($!)
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
pids+=($!)
link_down=.1.3.6.1.6.3.1.1.5.3
uptime() { usr/bin/snmpget -v2c -c public -t 2 -r 0 127.0.0.1:1161 .1.3.6.1.2.1.1.3.0 >out 2>err; }
until uptime && grep -q NET-SNMP snmptrapd.log; do kill -0 "${pids[@]}"; sleep 0.2; done
handled() { grep -c . handled 2>/dev/null || :; }
{
    for _ in 1 2 3; do usr/bin/snmptrap -v2c -c public 127.0.0.1:1162 '' $link_down; done
    code=0
    usr/bin/snmpinform -v2c -c public -t 2 -r 0 127.0.0.1:1162 '' $link_down >out 2>err || code=$?
    echo "an inform: exit code $code, $(grep -o Timeout err || :)"
    for _ in $(seq 300); do [ "$(handled)" = 4 ] && break; sleep 0.1; done
    echo "handled: $(handled), $(awk 'NR > 1 && $1 - last < 3 { n++ } { last = $1 } END { print n + 0 }' handled)" \
        "less than 3 s after another"
    usr/bin/snmpget -v2c -c public -t 20 -Oqv 127.0.0.1:1161 .1.3.6.1.4.1.8072.1.3.2.3.1.1.4.115.108.111.119 >row 2>&1 &
    row=$!
    sleep 1
    uptime && echo "uptime meanwhile: answered" || echo "uptime meanwhile: $(grep -o Timeout err)"
    wait $row || :
    echo "the row: $(cat row)"
    uptime && echo "uptime after: answered"
} | tee seen
diff - seen <<'END' || { cat snmptrapd.log snmpd.log; echo "it is otherwise now"; exit 1; }
an inform: exit code 1, Timeout
handled: 4, 0 less than 3 s after another
uptime meanwhile: Timeout
the row: "well"
uptime after: answered
END
echo "as seen with Net-SNMP $version"
