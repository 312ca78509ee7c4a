#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# opensm 3.3.23 (Debian 3.3.23-2+b1): with the name of no routing engine, or a configuration file that is not there, the fabric
# gets another routing than was meant, and all is well: exit code 0, "SUBNET UP".
#
# opensm(8) has -R for the routing engine and -F for the configuration file.  A guess: a name that no engine has, and a file
# that cannot be read, are refused, as an option that is not known is; the fallback to minhop that the manual has is
# for an engine that does not fit the fabric.
# Seen, with ibsim 0.10: "Activate 'sspp' routing engine(s)" and "Config file is `absent.conf'" on standard output,
# nothing on standard error, and the fabric is set up with minhop.  A misspelt name in the file is said to be an
# "Unrecognized token", and skipped.  The log alone has which engine it is ("minhop tables configured on all switches").
# So: look for that line after a start, before congestion is a job's problem.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ibsim.sh"
run_fabric opensm=3.3.23-2+b1 libopensm9=3.3.23-2+b1 libosmcomp5=3.3.23-2+b1 libosmvendor5=3.3.23-2+b1 libwrap0=7.6.q-32
on H1 opensm --version
grep -q '^OpenSM 3.3.23' out || { echo "SKIP: opensm does not run here"; cat err; exit 77; }

run() {
    rm -f opensm.log
    on H1 opensm -o -f opensm.log "$@"
    echo "$*: exit code $code, $(grep -c . err || :) lines of errors, says: $(grep -E 'Activate|Config file|Unrec' out |
        sed 's/^ *//' | sort -u | paste -sd'|'), log:$(grep -oE 'SUBNET UP|[a-z]* tables configured' opensm.log 2>/dev/null | sort -u |
        sed 's/^/ /' | paste -sd,)"
}
echo 'routing_engine sssp' >right.conf
echo 'routing_engin sssp' >misspelt.conf
{
    run -F right.conf
    run -F misspelt.conf
    run -F absent.conf
    run -R sssp
    run -R sspp
    run --nosuch
} >seen
cat seen
diff - seen <<'END' || { cat out err; echo "it is otherwise now"; exit 1; }
-F right.conf: exit code 0, 0 lines of errors, says: Config file is `right.conf`:, log: SUBNET UP, sssp tables configured
-F misspelt.conf: exit code 0, 0 lines of errors, says: Config file is `misspelt.conf`:|Unrecognized token: "routing_engin", log: SUBNET UP, minhop tables configured
-F absent.conf: exit code 0, 0 lines of errors, says: Config file is `absent.conf`:, log: SUBNET UP, minhop tables configured
-R sssp: exit code 0, 0 lines of errors, says: Activate 'sssp' routing engine(s), log: SUBNET UP, sssp tables configured
-R sspp: exit code 0, 0 lines of errors, says: Activate 'sspp' routing engine(s), log: SUBNET UP, minhop tables configured
--nosuch: exit code 2, 2 lines of errors, says: , log:
END
echo "as seen with opensm 3.3.23"
