#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# elfutils 0.188 (Debian 0.188-2.1), eu-stack -p: with DEBUGINFOD_URLS it asks the server for one library after the other,
# though the names are in the files.
#
# Debian's libdebuginfod-common can set DEBUGINFOD_URLS for all shells; nodes of a cluster reach no server outside.  A
# guess: for a stack with the names that the symbols in the files give no server is asked; or all are asked at once, so
# that there is one timeout (DEBUGINFOD_TIMEOUT, 90 s).
# Seen, with a server that takes 2 s to say that it has nothing: three requests, for the program and the two of its own
# libraries (and one for libc, where libc6-dbg is not installed), each after the one before has ended.  Nothing is printed before, and the names are as
# without.  So: where packets to the server are lost, the first stack of a job with many libraries takes minutes, and
# a caller with a time limit gets none; a tool unsets the variable first, as faultloc-handler does.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
own_network "$0" "$@"
version=0.188-2.1
unpack "elfutils $version" "elfutils=$version" "libdw1=$version" "libelf1=$version" "libasm1=$version" \
    "libdebuginfod1=$version" libcurl3-gnutls
pids=()
trap 'kill "${pids[@]}"; wait; rm -rf "$work"' EXIT
ip link set lo up

echo 'int one(int (*f)(void)) { return f() + 1; }' >one.c
echo 'int two(int (*f)(void)) { return f() + 1; }' >two.c
cat >job.c <<'END'
#include <unistd.h>
int one(int (*)(void)), two(int (*)(void));
static int wait_here(void) { return pause(); }
static int call(void) { return two(wait_here) + 1; }
int main(void) { return one(call) + 1; }
END
for name in one two; do gcc -w -O0 -s -shared -fPIC -o lib$name.so $name.c; done
gcc -w -O0 -s -o job job.c -L. -lone -ltwo "-Wl,-rpath,$PWD"
./job &
pids+=($!)
cat >server.py <<'END'
import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        begin = time.monotonic()
        if not any(id in self.path for id in sys.argv[1:]):  # of libc
            self.send_error(404)
            return
        time.sleep(2)
        self.send_response(404)
        self.end_headers()
        with open("asked", "a") as f:
            f.write("%f %f\n" % (begin, time.monotonic()))
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8002), Handler)
open("ready", "w").close()
server.serve_forever()
END
mapfile -t ids < <(readelf -n job libone.so libtwo.so | sed -n 's/.*Build ID: //p')
[ ${#ids[@]} = 3 ] || { echo "SKIP: programs have no build ID here"; exit 77; }
python3 server.py "${ids[@]}" &
pids+=($!)
until [ -e ready ]; do kill -0 $!; sleep 0.1; done
stack() { LD_LIBRARY_PATH=$libraries timeout 60 usr/bin/eu-stack -p "${pids[0]}" >"$1" 2>err || { cat err; exit 1; }; }
names() { awk '/^#/ && NF > 2 { print $3 }' "$1" | grep -xE 'one|two' | sort | paste -sd' '; }
{
    unset DEBUGINFOD_URLS
    stack without
    echo "without: $(names without)"
    DEBUGINFOD_URLS=http://127.0.0.1:8002/ DEBUGINFOD_CACHE_PATH=$PWD/cache stack with
    echo "with: $(names with), $(grep -c . asked) requests," \
        "$(awk '$1 < end { n++ } { end = $2 } END { print n + 0 }' asked) of them while another was under way"
} | tee seen
diff - seen <<'END' || { cat asked; echo "it is otherwise now"; exit 1; }
without: one two
with: one two, 3 requests, 0 of them while another was under way
END
echo "as seen with elfutils $version"
