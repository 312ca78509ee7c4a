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
    timeout 60 usr/bin/ipmitool -I lanplus -C 3 -H 127.0.0.1 -p $port -U admin -P test "$@" 2>&1 </dev/null || :
}
for _ in 1 2 3 4 5 6 7 8 9 10; do tool chassis power status | grep -q 'Chassis Power' && break; sleep 0.2; done
tool sdr info | grep 'Record Count'
user=$(tool -L USER sdr list | grep -m 1 'clear SDRR' || :)
admin=$(tool sdr list | grep -m 1 'erased' || :)
echo "sdr list with -L USER: $user"
echo "sdr list without: $admin"
[ -n "$admin" ] || { echo "CHANGED: nothing is erased"; exit 1; }
echo "STILL SO: sdr list clears a repository that is empty"
