##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about Prometheus' Alertmanager 0.25.0: it is unpacked in a temporary folder, in which the script goes on,
# and listens on $port; what it notifies of is in the file notified.
. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
if [ "${1:-}" != inside ]; then
    unshare -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -m "$0" inside
fi
version=0.25.0-1+b4
unpack "Alertmanager $version" prometheus-alertmanager=$version
# It opens its template by the whole name.
mount -t overlay overlay -o "lowerdir=$PWD/usr/share:/usr/share" /usr/share 2>/dev/null ||
    { echo "SKIP: no overlay of file systems"; exit 77; }
usr/bin/prometheus-alertmanager --version 2>&1 | grep -q 'version 0.25.0' || { echo "SKIP: it does not run here"; exit 77; }
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$work"' EXIT

port=$((20000 + $$ % 20000))
cat >receiver.py <<'END'
import http.server, json, sys

class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        for alert in json.loads(self.rfile.read(int(self.headers["Content-Length"])))["alerts"]:
            print(alert["labels"]["node"], alert["status"], flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
END
cat >alertmanager.yml <<END
route: {receiver: page, group_by: [node], group_wait: 1s, group_interval: 1s}
receivers:
- name: page
  webhook_configs: [{url: "http://127.0.0.1:$((port + 1))/"}]
END
python3 receiver.py $((port + 1)) >notified 2>receiver.err &
pids+=($!)
usr/bin/prometheus-alertmanager --config.file=alertmanager.yml --storage.path="$PWD/data" --cluster.listen-address= \
    --web.listen-address="127.0.0.1:$port" >alertmanager.log 2>&1 &
pids+=($!)
for _ in $(seq 100); do curl --noproxy '*' -sf "http://127.0.0.1:$port/-/ready" >/dev/null && break; kill -0 "${pids[1]}"; sleep 0.2; done

# post ALERTS: the text of their JSON; prints the HTTP status.
post() {
    curl --noproxy '*' -s -o answer -w '%{http_code}\n' -H 'Content-Type: application/json' -d "$1" "http://127.0.0.1:$port/api/v2/alerts"
}
amtool() { usr/bin/amtool --alertmanager.url="http://127.0.0.1:$port" "$@"; }
await() { for _ in $(seq 100); do "$@" && return; sleep 0.2; done; echo "in vain: $*"; exit 1; }
