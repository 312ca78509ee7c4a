#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# linuxptp 3.1.1 (Debian 3.1.1-4+b2): a clock whose grandmaster is gone has still its offset, and "gmPresent true"; and pmc
# has exit code 0 where nobody answers.
#
# A health check asks ptp4l by pmc: "GET CURRENT_DATA_SET" for offsetFromMaster, "GET TIME_STATUS_NP" for gmPresent.  A guess:
# when a clock that is slave only has lost its master, gmPresent is false, or the offset and the steps to the master are 0; and
# pmc fails where ptp4l does not run, and for a command that there is not.
# Seen: after ptp4l has gone back to LISTENING, offsetFromMaster is the last one, of whatever age, stepsRemoved is 1
# and gmPresent true; only portState in "GET PORT_DATA_SET", which is LISTENING, shows it, and ingress_time, which is 0.
# Without ptp4l, and for a command that is not known, pmc prints its line "sending:" or "bad command", and its exit
# code is 0.  So: ask for portState first, and take an answer without "RESPONSE" for a failure.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "${1:-}"
unpack 'linuxptp 3.1.1-4+b2' linuxptp=3.1.1-4+b2
usr/sbin/ptp4l -v 2>/dev/null | grep -q '^3.1' || { echo "SKIP: it does not run here"; exit 77; }
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$work"' EXIT

# Two clocks at the ends of a cable, which are compared and not set.
ip link add master0 type veth peer name slave0 2>/dev/null || { echo "SKIP: no interfaces of type veth"; exit 77; }
for name in master slave; do
    ip link set ${name}0 up
    printf '%s\n' '[global]' 'free_running 1' 'time_stamping software' 'network_transport L2' 'logAnnounceInterval -2' \
        'announceReceiptTimeout 8' 'logSyncInterval -2' 'logMinDelayReqInterval -2' "uds_address $PWD/$name" \
        "slaveOnly $([ $name = master ] && echo 0 || echo 1)" >$name.conf
    usr/sbin/ptp4l -f $name.conf -i ${name}0 -m -q >$name.log 2>&1 &
    pids+=($!)
done
pmc() {
    code=0
    timeout 30 usr/sbin/pmc -u -b 0 -s "$PWD/slave" -i "$PWD/pmc" "$@" >out 2>&1 || code=$?
}
field() { awk -v name="$1" '$1 == name { print $2; exit }' out; }
follows() { ! listens && ! [[ $(field ingress_time)/$(field offsetFromMaster) =~ ^0?/|/(0\.0)?$ ]]; }
listens() { [ "$(field portState)" = LISTENING ]; }

# show WHAT STATE: what one call of pmc has when the port is in that state.
show() {
    for _ in $(seq 60); do
        pmc 'GET CURRENT_DATA_SET' 'GET TIME_STATUS_NP' 'GET PORT_DATA_SET'
        ! "$2" || break
        sleep 0.2
    done
    echo "$1: exit code $code, $(grep -c RESPONSE out || :) answers, $(listens || echo 'not ')LISTENING, stepsRemoved $(field stepsRemoved)," \
        "offset $([ "$(field offsetFromMaster)" = 0.0 ] && echo 0 || echo another), gmPresent $(field gmPresent)," \
        "ingress_time $([ "$(field ingress_time)" = 0 ] && echo 0 || echo another)"
}
{
    show "with a master" follows
    kill "${pids[0]}"
    show "without" listens
    pmc 'GET NO_SUCH_SET'
    echo "no such set: exit code $code, $(grep -c RESPONSE out || :) answers"
    kill "${pids[1]}"
    wait || :
    pmc 'GET CURRENT_DATA_SET'
    echo "without ptp4l: exit code $code, $(grep -c RESPONSE out || :) answers"
} >seen
cat seen
diff - seen <<'END' || { cat out slave.log; echo "it is otherwise now"; exit 1; }
with a master: exit code 0, 3 answers, not LISTENING, stepsRemoved 1, offset another, gmPresent true, ingress_time another
without: exit code 0, 3 answers, LISTENING, stepsRemoved 1, offset another, gmPresent true, ingress_time 0
no such set: exit code 0, 0 answers
without ptp4l: exit code 0, 0 answers
END
echo "as seen with linuxptp 3.1.1"
