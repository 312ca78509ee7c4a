#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# infiniband-diags 44.0 (Debian 44.0-2): ibping has exit code 0 for "100% packet loss".
#
# ibping(8) is to see whether a node can be reached over InfiniBand.  A guess: it is 1 where nothing comes back, as ping's,
# for a node without a server ("ibping -S"), one whose cable is out and a LID that nobody has.
# Seen, with ibsim 0.10, which has no way from a ping to a server: 0 for all of them, with -f as well; on standard error is
# a warning for each packet.  A GUID that cannot be resolved, for want of a subnet manager, is an error.  Other tools ask
# the agents of a node, for which no server is needed, and fail (255) for one that is unplugged: smpquery, perfquery, ibtracert.
# So: a script tests ibping's line of statistics, or calls "smpquery nodeinfo LID".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ibsim.sh"
run_fabric opensm=3.3.23-2+b1 libopensm9=3.3.23-2+b1 libosmcomp5=3.3.23-2+b1 libosmvendor5=3.3.23-2+b1 libwrap0=7.6.q-32
on H1 opensm -o -f opensm.log
grep -q 'SUBNET UP' opensm.log || { echo "SKIP: opensm does not run here"; cat out err; exit 77; }
on H2 ibaddr -l
lid=$(($(sed -n 's/.*start \(0x[0-9a-f]*\).*/\1/p' out)))

show() {
    on H1 "${@:2}"
    echo "$1, ${*:2}: exit code $code$(grep -oE ', [0-9]* received, [0-9]*% packet loss' out || :)" | sed "s/ $lid:/ LID:/"
}
{
    show "no server" smpquery nodeinfo "$lid"
    show "no server" ibping -c 2 "$lid"
    show "no server" ibping -c 2 -f "$lid"
    fabric 'Unlink "H2"'
    show "unplugged" ibping -c 2 "$lid"
    show "unplugged" smpquery nodeinfo "$lid"
    show "unplugged" perfquery "$lid"
    show "unplugged" ibtracert 1 "$lid"
    show "no such LID" ibping -c 2 77
    show "no subnet manager" ibping -c 2 -G 0x100002
} >seen
cat seen
diff - seen <<'END' || { cat out err; echo "it is otherwise now"; exit 1; }
no server, smpquery nodeinfo LID: exit code 0
no server, ibping -c 2 LID: exit code 0, 0 received, 100% packet loss
no server, ibping -c 2 -f LID: exit code 0, 0 received, 100% packet loss
unplugged, ibping -c 2 LID: exit code 0, 0 received, 100% packet loss
unplugged, smpquery nodeinfo LID: exit code 255
unplugged, perfquery LID: exit code 255
unplugged, ibtracert 1 LID: exit code 255
no such LID, ibping -c 2 77: exit code 0, 0 received, 100% packet loss
no subnet manager, ibping -c 2 -G 0x100002: exit code 255
END
echo "as seen with infiniband-diags 44.0"
