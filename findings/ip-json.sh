#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# iproute2 6.1.0 (Debian 6.1.0-3): "ip -j" has an empty object for each interface that a filter leaves out, more than one
# document for -batch, and half of one for a table without routes.
#
# ip(8) says of -j: "Output results in JavaScript Object Notation (JSON)".  A guess: "ip -j link show type bond" of a host
# without bonds is [], as its text is empty; -batch makes one document; and where a routing table has no route, [] or
# nothing is printed.
# Seen: as many {} as there are interfaces, so that "has it a bond?" is answered by yes, and a program that takes
# ["ifname"] of each fails.  It is so with up and group, and with "ip -j addr", as well.  -batch prints a document for each
# line, which JSON's readers refuse; and of a table that is not there "[" alone is on standard output, with exit code 2.
# So: look for "ifname" in each object, and at the exit code first.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the package is not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
own_network "$0" "$@"
version=6.1.0-3
unpack "iproute2 $version" "iproute2=$version" libbpf1 libelf1 libmnl0=1.0.4-3 libcap2 libbsd0 libxtables12
export LD_LIBRARY_PATH=$libraries
ip=$(find "$PWD" -path '*bin/ip' -type f | head -n 1)
[[ $("$ip" -V 2>&1) == *iproute2-6.1.0* ]] || { echo "SKIP: it does not run here"; exit 77; }

# The loopback is up; a pair of ports is down.  There may be more, where the kernel has tunnels for each namespace.
"$ip" link set lo up
"$ip" link add port1 type veth peer name port2
run() {
    local code=0
    "$ip" -j "$@" >out 2>err || code=$?
    echo "ip -j $*: exit code $code, $(python3 -c '
import json
text = open("out").read()
try:
    links = json.loads(text)
    all = len(links) == len(open("all").readlines())
    print("an object for each" if all else "%d objects" % len(links), "%d not empty" % (len(links) - links.count({})), sep=", ")
except ValueError:
    print("no JSON, %d lines" % len(text.splitlines()) if len(text) > 1 else "no JSON: " + text)')"
}
{
    "$ip" -o link show >all
    [ -z "$("$ip" link show type bond)" ] && echo "no bonds"
    run link show type bond
    run link show up
    run addr show up
    printf 'link show dev lo\nlink show dev port1\n' >lines
    run -batch lines
    run route show table 77
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
no bonds
ip -j link show type bond: exit code 0, an object for each, 0 not empty
ip -j link show up: exit code 0, an object for each, 1 not empty
ip -j addr show up: exit code 0, an object for each, 1 not empty
ip -j -batch lines: exit code 0, no JSON, 2 lines
ip -j route show table 77: exit code 2, no JSON: [
END
echo "as seen with iproute2 $version"
