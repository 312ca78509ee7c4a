#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Prometheus' Pushgateway 1.5.1 (Debian 1.5.1-2+b5): a push that it cannot read does not count in push_failure_time_seconds.
#
# Checks of nodes push what they find; --help and the text of the metric say that push_failure_time_seconds is the time at
# which a change of the group failed last.  A guess: any push that is refused, with HTTP status 400, sets it, so that
# push_failure_time_seconds > push_time_seconds finds the node whose check writes nonsense.
# Seen: it is set for a push that can be read and does not fit (a metric twice, of another type, with a time stamp).  One that
# cannot be read (a value that is no number, the last line without its line feed, CR LF as the end of a line) is refused with
# status 400 too, and leaves it 0; a group that has had no other push is not there at all.  So: the check looks at
# the status itself (curl --fail), and an alert asks for the age of push_time_seconds.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
version=1.5.1-2+b5
unpack "Pushgateway $version" "prometheus-pushgateway=$version"
usr/bin/prometheus-pushgateway --version 2>&1 | grep -q 'version 1.5.1' || { echo "SKIP: it does not run here"; exit 77; }
address=127.0.0.1:$((20000 + $$ % 20000))
usr/bin/prometheus-pushgateway --web.listen-address="$address" >log 2>&1 &
daemon=$!
trap 'kill "$daemon"; rm -rf "$work"' EXIT
get() { curl --noproxy '*' -s "$@"; }
for _ in $(seq 100); do get -f "http://$address/-/ready" >/dev/null && break; kill -0 "$daemon"; sleep 0.2; done

# push NODE WHAT TEXT: for each of a list of nodes.
push() {
    local status
    status=$(printf "$3" | get -o answer -w '%{http_code}' --data-binary @- "http://$address/metrics/job/check/instance/$1")
    echo "$2: status $status, $(get "http://$address/metrics" | sed -n "s/^push_failure_time_seconds{instance=\"$1\".*} //p" |
        sed '/^0$/!s/.*/the time/' | grep . || echo none)"
}
{
    push n1 "as it ought to be" 'errors 1\n'
    push n1 "no number" 'errors x\n'
    push n1 "no line feed" 'errors 1'
    push n1 "CR LF" 'errors 1\r\n'
    push n2 "no number, the first push" 'errors x\n'
    push n3 "twice" 'errors 1\nerrors 2\n'
    push n4 "another type" '# TYPE errors counter\nerrors 1\n'
    push n5 "with a time" 'errors 1 1700000000000\n'
} | tee seen
diff - seen <<'END' || { cat answer; tail -n 3 log; echo "it is otherwise now"; exit 1; }
as it ought to be: status 200, 0
no number: status 400, 0
no line feed: status 400, 0
CR LF: status 400, 0
no number, the first push: status 400, none
twice: status 400, the time
another type: status 400, the time
with a time: status 400, the time
END
echo "as seen with Pushgateway $version"
