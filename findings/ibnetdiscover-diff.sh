#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# infiniband-diags 44.0 (Debian 44.0-2): ibnetdiscover --diff has exit code 0 whether the fabric has changed or not, and it
# shows a switch that does not answer, and all hosts behind it, as taken away.
#
# ibnetdiscover(8) says of --diff: "Load cached ibnetdiscover data and do a diff comparison to the current network".  A guess:
# its exit code is 1 where there are differences, as diff's; and where a switch is linked and does not answer the scan
# has failed, with an exit code that is not 0.
# Seen, with ibsim 0.10: exit code 0 for no difference, for a host whose cable is out, and for a switch that answers no
# more: this one, its links and the host behind it are lines with "<", as if they had been unplugged.  That the scan was not
# whole is said on standard error alone ("Connection timed out"), and ibnetdiscover, ibhosts and iblinkinfo list what is left
# of the fabric with exit code 0.  So: the output of --diff is what has to be tested, and standard error before it;
# iblinkinfo has "Port not available" for a link whose other end is silent.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ibsim.sh"
run_fabric
on H1 ibnetdiscover --cache cache
[ "$(grep -c '^Ca' out)" = 3 ] || { echo "SKIP: ibsim does not run here"; cat err; exit 77; }

show() {
    on H1 "${@:2}"
    echo "$1, ${*:2}: exit code $code, $(grep -cE '^(< )?(Ca|Switch)' out || :) nodes, $(grep -c '^<' out || :) with '<'," \
        "$(grep -c 'timed out' err || :) lines of errors"
}
{
    show "as it was" ibnetdiscover --diff cache
    fabric 'Unlink "H2"'
    show "H2 unplugged" ibnetdiscover --diff cache
    fabric 'ReLink "H2"'
    show "H2 back" ibnetdiscover --diff cache
    fabric 'Error "S2" 100'
    show "S2 is silent" ibnetdiscover --diff cache
    show "S2 is silent" ibnetdiscover
    show "S2 is silent" ibhosts
    on H1 iblinkinfo
    echo "S2 is silent, iblinkinfo: exit code $code, $(grep -c 'Port not available' out || :) links to a port that is not available"
} >seen
cat seen
diff - seen <<'END' || { cat out err; echo "it is otherwise now"; exit 1; }
as it was, ibnetdiscover --diff cache: exit code 0, 0 nodes, 0 with '<', 0 lines of errors
H2 unplugged, ibnetdiscover --diff cache: exit code 0, 2 nodes, 7 with '<', 0 lines of errors
H2 back, ibnetdiscover --diff cache: exit code 0, 0 nodes, 0 with '<', 0 lines of errors
S2 is silent, ibnetdiscover --diff cache: exit code 0, 3 nodes, 16 with '<', 2 lines of errors
S2 is silent, ibnetdiscover: exit code 0, 3 nodes, 0 with '<', 2 lines of errors
S2 is silent, ibhosts: exit code 0, 2 nodes, 0 with '<', 2 lines of errors
S2 is silent, iblinkinfo: exit code 0, 2 links to a port that is not available
END
echo "as seen with infiniband-diags 44.0"
