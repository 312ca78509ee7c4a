#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# sysstat 12.6.1 (Debian 12.6.1-1): "iostat -o JSON" and "mpstat -o JSON" that SIGTERM ends leave half a document.
#
# Their load on a node is recorded for as long as a job runs, and the recorder is ended with it.  iostat(1) and mpstat(1) say
# that a summary is printed when they are interrupted by SIGINT.  A guess: as for SIGINT, the JSON is closed when SIGTERM comes,
# which is what kill(1), timeout(1), systemd and a batch system send.
# Seen: SIGINT closes it; SIGTERM ends them at once, and no parser takes the file.  In the background of a script, where a shell
# has SIGINT ignored, kill -INT closes it all the same, for they have a handler of their own.  So: end them by
# SIGINT (timeout -s INT, KillSignal=SIGINT), or give them a count; and take of a file that was cut what ends in "}".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack 'sysstat 12.6.1-1' sysstat=12.6.1-1
usr/bin/mpstat -V 2>&1 | grep -q 'version 12.6.1' || { echo "SKIP: it does not run here"; exit 77; }

# run TOOL SIGNAL: it comes when the second report is written, of a process in the background.
run() {
    local tool
    "usr/bin/$1" -o JSON 1 1000 >out 2>err </dev/null &
    tool=$!
    for _ in $(seq 200); do [ "$(grep -c "$3" out)" -ge 2 ] && break; sleep 0.1; done
    kill -"$2" "$tool"
    wait "$tool" || :
    echo "$1, SIG$2: $(python3 -c 'import json, sys; json.load(sys.stdin)' <out 2>err && echo "JSON" || echo "no JSON")"
}
{
    for tool in "iostat avg-cpu" "mpstat timestamp"; do
        for signal in INT TERM; do run "${tool% *}" $signal "${tool#* }"; done
    done
} >seen
cat seen
diff - seen <<'END' || { tail -n 5 out; cat err; echo "it is otherwise now"; exit 1; }
iostat, SIGINT: JSON
iostat, SIGTERM: no JSON
mpstat, SIGINT: JSON
mpstat, SIGTERM: no JSON
END
echo "as seen with sysstat 12.6.1"
