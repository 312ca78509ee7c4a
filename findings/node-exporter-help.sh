#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# node_exporter 1.5.0 (Debian 1.5.0-1+b6): of two files for its textfile collector that explain one metric in different
# words, one is dropped, and node_textfile_scrape_error stays 0.
#
# Each job, or each version of a tool, writes a file of its own; node_textfile_scrape_error is there to be watched. A guess:
# HELP is a comment, so that all values are there with one of the texts; or a file that does not fit raises the error,
# as one that is not to be parsed does.
# Seen: only the values of the first text are there, a line of the log has the reason, HTTP says 200, and the
# error is 0.  It is so where two files have the same metric with the same labels, too.  So: the HELP text of a metric
# is a part of its interface, which no new version changes; labels have what tells one file from the others.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
command -v curl >/dev/null || { echo "SKIP: needs curl"; exit 77; }
version=1.5.0-1+b6
unpack "node_exporter $version" "prometheus-node-exporter=$version"
exporter=
trap '[ -z "$exporter" ] || kill $exporter; rm -rf "$work"' EXIT
mkdir files
port=$((20000 + $$ % 20000))
usr/bin/prometheus-node-exporter --web.listen-address=127.0.0.1:$port --collector.disable-defaults \
    --collector.textfile --collector.textfile.directory="$PWD/files" 2>log &
exporter=$!
for _ in $(seq 100); do curl -s -o all "http://127.0.0.1:$port/metrics" && break; sleep 0.1; done

# file NAME HELP VALUES
file() { printf '# HELP jobs_failed %s\n# TYPE jobs_failed gauge\n%b' "$2" "$3" >"files/$1.prom"; }
show() {
    local code
    code=$(curl -s -o all -w '%{http_code}' "http://127.0.0.1:$port/metrics")
    echo "$1: $code, $(grep -c '^jobs_failed{' all) values, error $(sed -n 's/^node_textfile_scrape_error //p' all)"
}
{
    file a 'Jobs that failed.' 'jobs_failed{host="h1"} 1\n'
    file b 'Jobs that failed.' 'jobs_failed{host="h2"} 1\n'
    show 'the same text'
    file b 'Failed jobs.' 'jobs_failed{host="h2"} 1\n'
    show 'another text'
    file b 'Jobs that failed.' 'jobs_failed{host="h1"} 2\n'
    show 'the same labels'
    file b 'Jobs that failed.' 'jobs_failed{host="h2"} many\n'
    show 'no number'
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
the same text: 200, 2 values, error 0
another text: 200, 1 values, error 0
the same labels: 200, 1 values, error 0
no number: 200, 1 values, error 1
END
echo "as seen with node_exporter $version"
