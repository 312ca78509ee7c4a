#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# pdsh 2.34 (Debian 2.34-0.2): where the output of one host does not end with a line feed, the next host's first line is
# taken for a part of it, by dshbak as well.
#
# pdsh puts "HOST: " before each line, and "dshbak -c" collects the lines of each host, and hosts of equal output.  A
# guess: output without a line feed at its end (printf, /proc/PID/cmdline, some files of /sys, a device's answer) is a
# line of its own, as with clush -b.
# Seen: the pieces stand behind each other, "n1: okn2: okn3: ok", one line.  dshbak gives it to n1 where its end is a
# line feed, and n2 and n3 are not named at all, as hosts that have not answered; where it is not, dshbak names nobody,
# with exit code 0.  Which hosts are lost depends on the order in which they end.  So: each command ends with echo.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/pdsh.sh"

# One host after the other (-f 1), so that the order is known.
run() {
    echo "$1: $(pdsh -f 1 -w 'n[1-3]' sh -c "$1" | tee out | paste -sd'|')"
    usr/bin/dshbak -c <out >back 2>/dev/null
    echo "dshbak: exit code $?, $(grep -v '^---*$' back | paste -sd'|')"
}
{
    run 'echo ok'
    run 'printf ok'
    run 'case %h in n3) echo ok;; *) printf ok;; esac'
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
echo ok: n1: ok|n2: ok|n3: ok
dshbak: exit code 0, n[1-3]|ok
printf ok: n1: okn2: okn3: ok
dshbak: exit code 0, 
case %h in n3) echo ok;; *) printf ok;; esac: n1: okn2: okn3: ok
dshbak: exit code 0, n1|okn2: okn3: ok
END
echo "as seen with pdsh 2.34"
