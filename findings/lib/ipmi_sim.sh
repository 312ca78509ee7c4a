##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# ipmitool 1.8.19 and a BMC: ipmi_sim (openipmi 2.0.33), whose account is admin, its log of events and its sensors empty.

. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

# run_bmc [PACKAGE=VERSION...]: with these packages, too; it listens on $port.
run_bmc() {
    unpack "ipmitool 1.8.19-4+deb12u2" ipmitool=1.8.19-4+deb12u2 libfreeipmi17=1.6.10-1+b1 libreadline8=8.2-1.3 \
        openipmi=2.0.33-1+b1 libopenipmi0=2.0.33-1+b1 "$@"
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
    trap 'kill "$sim"; rm -rf "$work"' EXIT
    for _ in $(seq 20); do
        case $(tool chassis power status) in *'Chassis Power'*) break ;; esac
        sleep 0.5
    done
}

# tool ARGUMENT...: what it prints, but what it has to say of each BMC that is none of HPM.x.
tool() {
    timeout 60 usr/bin/ipmitool -I lanplus -C 3 -H 127.0.0.1 -p "$port" -U admin -P test "$@" 2>&1 </dev/null |
        grep -v 'HPM.x' || :
}
