#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1): a session of SNMPv3 opens although nobody answers, and a folder that
# "is not there" is made.
#
# In SNMPv3 a wrong key is silence.  A guess: snmp_sess_open() probes the engine (SNMP_FLAGS_DONT_PROBE is there to
# prevent that), so that a session that is open has heard the switch, and silence after that is a wrong password; and
# with SNMP_PERSISTENT_DIR=/nonexistent nothing is written.
# Seen: to a port at which nobody listens the session opens as well.  Whether the engine was heard is said by the
# length of its name, securityEngineIDLen.  And init_snmp() makes the folder: it must be one that cannot be made.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no compiler.
set -euo pipefail
version=5.9.3+dfsg-2+deb12u1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v cc >/dev/null || { echo "SKIP: no compiler"; exit 77; }
apt-get download -qq "libsnmp-dev=$version" "libsnmp40=$version" "libsnmp-base=$version" 2>/dev/null ||
    { echo "SKIP: no packages of Net-SNMP $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
lib=$(echo "$PWD"/usr/lib/*-linux-gnu)
cat >open.c <<'END'
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
int main(void)
{
    struct snmp_session s;
    void *session;

    netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
    snmp_disable_log();
    init_snmp("open");
    snmp_sess_init(&s);
    s.version = SNMP_VERSION_3;
    s.peername = "udp:127.0.0.1:1"; /* tcpmux: nobody's */
    s.timeout = 100000;
    s.retries = 0;
    s.securityName = "user";
    s.securityNameLen = 4;
    s.securityLevel = SNMP_SEC_LEVEL_NOAUTH;
    session = snmp_sess_open(&s);
    printf("session: %s\n", session ? "open" : "none");
    if (session)
        printf("length of the engine's name: %zu\n", snmp_sess_session(session)->securityEngineIDLen);
    return 0;
}
END
cc -I usr/include open.c -o open "$lib"/libnetsnmp.so.40 -Wl,--allow-shlib-undefined
MIBS='' SNMP_PERSISTENT_DIR=$work/not/there LD_LIBRARY_PATH=$lib ./open >seen 2>messages
[ ! -d not/there ] || echo "folder: made" >>seen
cat seen
cmp -s seen - <<'END' || { echo "it is otherwise now"; exit 1; }
session: open
length of the engine's name: 0
folder: made
END
