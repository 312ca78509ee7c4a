#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# powerman 2.3.27 (Debian 2.3.27-2) with its ipmipower.dev: a node that could not be turned off or on is "Command completed
# successfully", with exit code 0.
#
# powerman is what a node is fenced with, before its storage is given to another.  A guess: where the BMC refuses, or
# does not answer at all, "powerman -0 NODE" says that it completed with errors, and its exit code is not 0.
# Seen, with FreeIPMI 1.6.10's ipmipower and ipmi_sim (openipmi 2.0.33), whose chassis cannot be turned on: powerman -T
# shows "BMC error", and "not discovered" for a BMC that is not there, as what the device said; the script for it waits for
# the next prompt alone, so both are successes, with ipmipower's --wait-until-on and --wait-until-off, too.  powerman -q has
# the one as off and the other as unknown, with exit code 0.  A node that is not configured is an error.  So: after
# powerman -0 comes powerman -q, and a node is off if it is in the line "off:"; not if it is unknown.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ipmi_sim.sh"
run_bmc freeipmi-tools=1.6.10-1+b1 libipmidetect0=1.6.10-1+b1 libipmiconsole2=1.6.10-1+b1 powerman=2.3.27-2 \
    libpowerman0=2.3.27-2 libwrap0=7.6.q-32 libgenders0=1.22-1+b5
[[ $(usr/bin/powerman -V 2>&1 || :) == 2.3.27 ]] || { echo "SKIP: powerman does not run here"; exit 77; }

own=$((port + 1))
: >freeipmi.conf
command="$PWD/usr/sbin/ipmipower -u admin -p test --config-file=$PWD/freeipmi.conf --wait-until-on --wait-until-off \
    --session-timeout=2000 --retransmission-timeout=500"
cat >powerman.conf <<END
include "$PWD/etc/powerman/ipmipower.dev"
listen "127.0.0.1:$own"
device "d1" "ipmipower" "$command -h 127.0.0.1:$port |&"
node "n1" "d1" "127.0.0.1"
device "d2" "ipmipower" "$command -h 127.0.0.1:1 |&"
node "n2" "d2" "127.0.0.1"
END
usr/sbin/powermand -c "$PWD/powerman.conf" -f >powermand.out 2>&1 </dev/null &
daemon=$!
trap 'kill "$daemon" "$sim"; rm -rf "$work"' EXIT
power() {
    local code=0
    timeout 60 usr/bin/powerman -h "127.0.0.1:$own" "$@" >out 2>&1 </dev/null || code=$?
    echo "powerman $*: exit code $code, $(grep -v '^send' out | tr -d "\\\\'" | sed 's/n*ipmipower> //; s/: *$/:/; s/  */ /g' |
        paste -sd'|')"
}
for _ in $(seq 50); do [[ $(power -q n1) == *'off: n1'* ]] && break; sleep 0.2; done
{
    power -q n1
    power -1 n1
    power -T -1 n1
    power -q n1
    power -T -0 n2
    power -q n2
    power -0 n3
} | tee seen
diff - seen <<'END' || { cat powermand.out; echo "it is otherwise now"; exit 1; }
powerman -q n1: exit code 0, on:|off: n1|unknown:
powerman -1 n1: exit code 0, Command completed successfully
powerman -T -1 n1: exit code 0, recv(d1): 127.0.0.1: BMC error|Command completed successfully
powerman -q n1: exit code 0, on:|off: n1|unknown:
powerman -T -0 n2: exit code 0, recv(d2): 127.0.0.1: not discovered|Command completed successfully
powerman -q n2: exit code 0, on:|off:|unknown: n2
powerman -0 n3: exit code 209, No such nodes: n3
END
echo "as seen with powerman 2.3.27"
