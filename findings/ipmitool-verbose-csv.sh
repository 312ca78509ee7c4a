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
set -euo pipefail
work=$(mktemp -d)
sim=
trap '[ -z "$sim" ] || kill "$sim"; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq ipmitool=1.8.19-4+deb12u2 libfreeipmi17=1.6.10-1+b1 libreadline8=8.2-1.3 \
    openipmi=2.0.33-1+b1 libopenipmi0=2.0.33-1+b1 2>/dev/null ||
    { echo "SKIP: no packages of ipmitool 1.8.19-4+deb12u2"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(find "$PWD" -type d -name '*-linux-gnu' | paste -sd:)
[[ $(usr/bin/ipmitool -V) == *'version 1.8.19'* ]] || { echo "SKIP: it does not run here"; exit 77; }

port=$((20000 + $$ % 20000))
cat >lan.conf <<END
name "n1"
set_working_mc 0x20
startlan 1
  addr 127.0.0.1 $port
  priv_limit admin
  allowed_auths_callback none md2 md5 straight
  allowed_auths_user none md2 md5 straight
  allowed_auths_operator none md2 md5 straight
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
user 2 true "admin" "test" admin 10 none md2 md5 straight
END
cat >n1.emu <<END
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
END
usr/bin/ipmi_sim -c lan.conf -f n1.emu -s state -n >sim.log 2>&1 </dev/null &
sim=$!
tool() {
    timeout 60 usr/bin/ipmitool -I lanplus -C 3 -H 127.0.0.1 -p $port -U admin -P test "$@" 2>tool.err </dev/null || :
}
for _ in 1 2 3 4 5 6 7 8 9 10; do tool chassis power status | grep -q 'Chassis Power' && break; sleep 0.2; done
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
