# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Real counterparts of handlers for tests: a BMC, by ipmi_sim, whose power is what a file says, and a
# switch, by snmpd. The user is faultloc, for both; the passwords are the same.

# need_bmc_and_switch TOOL:PACKAGE...: these, too; exit code 77 without.
need_bmc_and_switch() {
    local tool
    PATH=$PATH:/usr/sbin:/sbin
    for tool in snmpd:snmpd ipmi_sim:openipmi ipmitool:ipmitool "$@"; do
        command -v "${tool%:*}" >/dev/null ||
            { echo "skipped: no ${tool%:*} (Debian package ${tool#*:})"; exit 77; }
    done
}

# make_bmc FOLDER ADDRESS PORT PASSWORD: FOLDER/power says 1 or 0; its log of events is empty.
make_bmc() {
    rm -rf "$1/state"
    mkdir -p "$1/state"
    echo 1 >"$1/power"
    printf '#!/bin/sh\n[ "$2" != get ] || echo "power:$(cat %s)"\n' "$1/power" >"$1/chassis"
    chmod +x "$1/chassis"
    cat >"$1/lan.conf" <<END
name "bmc"
set_working_mc 0x20
startlan 1
  addr $2 $3
  priv_limit admin
  allowed_auths_callback none md2 md5 straight
  allowed_auths_user none md2 md5 straight
  allowed_auths_operator none md2 md5 straight
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
chassis_control "$1/chassis 0x20"
user 1 true "" "" user 10 none md2 md5 straight
user 2 true "faultloc" "$4" admin 10 none md2 md5 straight
END
    cat >"$1/bmc.emu" <<END
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
END
}

# run_bmc FOLDER [COMMAND...]: by the command that comes before, as `ip netns exec`; its process is $!.
run_bmc() {
    local folder=$1
    shift
    "$@" ipmi_sim -c "$folder/lan.conf" -f "$folder/bmc.emu" -s "$folder/state" -n \
        >"$folder/log" 2>&1 </dev/null &
    disown $! # the shell is not to say how it ended
}

# make_switch_agent FOLDER ADDRESS PASSWORD [LINE...]: as snmpd has addresses; more lines of its file.
make_switch_agent() {
    mkdir -p "$1/kept"
    cat >"$1/snmpd.conf" <<END
agentaddress $2
createUser faultloc SHA-256 "$3" AES "$3"
rouser faultloc authPriv
END
    [ $# -le 3 ] || printf '%s\n' "${@:4}" >>"$1/snmpd.conf"
}

# run_switch_agent FOLDER [COMMAND...]: likewise.
run_switch_agent() {
    local folder=$1
    shift
    MIBS='' SNMP_PERSISTENT_DIR=$folder/kept SNMPCONFPATH=$folder/kept "$@" \
        snmpd -f -Lf "$folder/log" -C -c "$folder/snmpd.conf" &
    disown $!
}
