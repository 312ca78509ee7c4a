#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# munge 0.5.15 (Debian 0.5.15-2+deb12u1): a time to live beyond an hour is an hour, without a word.
#
# munge(1) says of -t that 0 is the default, -1 the maximum, and that "munged can impose a maximum allowable TTL"; no manual
# page says how much these are.  A guess: "munge -t 86400", for a job that waits in the queue for a day, is refused, or
# there is a warning.
# Seen: exit code 0 and nothing on standard error, and the credential, which only unmunge shows, has 3600, as with -1; with
# 0 it has 300.  Of a number beyond 32 bits, and of "1h", it says so.  So: what is to be decoded later than in an
# hour is not for munge; after the time "Expired credential" is said at the other end, hours after the mistake.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
version=0.5.15-2+deb12u1
unpack "munge $version" "munge=$version" "libmunge2=$version"
export LD_LIBRARY_PATH=$libraries
usr/bin/munge --version >out 2>&1 || { echo "SKIP: it does not run here"; exit 77; }
usr/sbin/mungekey --create --keyfile="$PWD/key"
usr/sbin/munged --foreground --force --key-file="$PWD/key" --socket="$PWD/socket" --pid-file="$PWD/pid" \
    --seed-file="$PWD/seed" --log-file="$PWD/log" >daemon.out 2>&1 &
daemon=$!
trap 'kill "$daemon"; wait; rm -rf "$work"' EXIT
until usr/bin/munge -n -S "$PWD/socket" >out 2>&1; do kill -0 "$daemon"; sleep 0.1; done

run() {
    local code=0
    usr/bin/munge -S "$PWD/socket" -n -t "$1" >credential 2>err || code=$?
    echo "munge -t $1: exit code $code, $(grep -c . err || :) lines of errors," \
        "lives for $(usr/bin/unmunge -S "$PWD/socket" -i credential 2>&1 | sed -n 's/^TTL: *//p') s"
}
{
    for seconds in 60 3600 3601 86400 0 -1 99999999999 1h; do run $seconds; done
} | tee seen
diff - seen <<'END' || { cat log; echo "it is otherwise now"; exit 1; }
munge -t 60: exit code 0, 0 lines of errors, lives for 60 s
munge -t 3600: exit code 0, 0 lines of errors, lives for 3600 s
munge -t 3601: exit code 0, 0 lines of errors, lives for 3600 s
munge -t 86400: exit code 0, 0 lines of errors, lives for 3600 s
munge -t 0: exit code 0, 0 lines of errors, lives for 300 s
munge -t -1: exit code 0, 0 lines of errors, lives for 3600 s
munge -t 99999999999: exit code 1, 1 lines of errors, lives for  s
munge -t 1h: exit code 1, 1 lines of errors, lives for  s
END
echo "as seen with munge $version"
