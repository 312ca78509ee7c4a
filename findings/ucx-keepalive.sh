#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1), tcp: UCX_KEEPALIVE_INTERVAL, which is to find a lost host, keeps it from being found.
#
# It is the "time interval between keepalive rounds", 20 s, and TCP's own keepalive is on as well (UCX_TCP_KEEPIDLE 10 s,
# UCX_TCP_KEEPINTVL 2 s), for endpoints with UCP_ERR_HANDLING_MODE_PEER.  A guess by that: after a cable is cut, the error
# callback comes within half a minute, the sooner the smaller these are.
# Seen: an endpoint that is idle is told nothing within 60 s, unless the host went in the seconds just after a round; with
# UCX_KEEPALIVE_INTERVAL=inf it is, after 24 s.  A round of UCX sends 5 bytes.  They are not acknowledged, and Linux sends no
# keepalive probes while something is not: from then on it is left to net.ipv4.tcp_retries2, a quarter of an hour by
# default (5: within that minute), for UCX has no setting for TCP_USER_TIMEOUT.  An endpoint that is in use is told
# nothing either way.  So: a smaller interval makes it worse; tcp_retries2 helps.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
set -euo pipefail
if [ "${1:-}" != inside ]; then
    unshare -n true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -n "$0" inside
fi
version=1.13.1-1
work=$(mktemp -d)
pids=()
trap 'kill -KILL "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
# the network is another one here
nsenter -t "$PPID" -n apt-get download -qq "libucx0=$version" "libucx-dev=$version" libnuma1=2.0.16-1 2>/dev/null ||
    { echo "SKIP: no packages of UCX $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$PWD"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH

cat >cut.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static ucp_worker_h worker;
static ucs_status_t lost;

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    lost = status;
}

/* For so many seconds, or until an error is told. */
static void go_on(int seconds)
{
    for (time_t end = time(NULL) + seconds; !lost && time(NULL) < end; usleep(1000))
        ucp_worker_progress(worker);
}

static void serve(void)
{
    ucp_address_t *address;
    size_t n;
    FILE *f = fopen("address.new", "w");

    if (ucp_worker_get_address(worker, &address, &n) || fwrite(address, 1, n, f) != n || fclose(f))
        exit(1);
    rename("address.new", "address");
    go_on(600);
}

/* Sends a message, has the network cut after 14 s, sends another one if it is to be in use. */
int main(int argc, char **argv)
{
    static char address[4096], word[8];
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_ep_params_t e = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                       UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                         .address = (ucp_address_t *) address,
                         .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                         .err_handler.cb = on_error};
    const ucp_request_param_t none = {0};
    ucp_worker_params_t w = {0};
    ucp_context_h context;
    ucp_ep_h ep;
    FILE *f;

    if (ucp_init(&p, NULL, &context) || ucp_worker_create(context, &w, &worker))
        return 1;
    if (argc < 2)
        serve();
    if (!(f = fopen("address", "r")) || !fread(address, 1, sizeof(address), f) || ucp_ep_create(worker, &e, &ep))
        return 1;
    ucp_tag_send_nbx(ep, word, sizeof(word), 1, &none);
    go_on(14);
    if (system(argv[2]))
        return 1;
    if (strstr(argv[1], "in use"))
        ucp_tag_send_nbx(ep, word, sizeof(word), 1, &none);
    go_on(60);
    printf("%s: %s\n", argv[1], lost ? ucs_status_string(lost) : "nothing after 60 s");
    return 0;
}
END
gcc -w -I"$PWD/usr/include" -o cut cut.c -L"$LD_LIBRARY_PATH" -lucp -lucs

# Pairs of hosts at a switch, from which the second one is taken.
export UCX_TLS=tcp UCX_NET_DEVICES=eth0 UCX_LOG_LEVEL=fatal
host() {
    unshare -n sleep 600 &
    pids+=($!)
    until [ "$(readlink "/proc/$!/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
    ip link add "$1" type veth peer name eth0 netns $!
    ip link set "$1" master "$2" up
    nsenter -t $! -n sh -c "ip addr add 10.0.0.$3/24 dev eth0; ip link set eth0 up; ip link set lo up"
    until [[ $(nsenter -t $! -n ip -o link show eth0) == *'state UP'* ]]; do sleep 0.1; done
}
pair() {
    mkdir "$1"
    cd "$1"
    ip link add "switch$1" type bridge
    ip link set "switch$1" up
    host "a$1" "switch$1" 1
    local client=$!
    nsenter -t $client -n sysctl -qw net.ipv4.tcp_retries2="${4:-15}"
    host "b$1" "switch$1" 2
    nsenter -t $! -n ../cut &
    pids+=($!)
    until [ -e address ]; do kill -0 $!; sleep 0.1; done
    UCX_KEEPALIVE_INTERVAL=$3 nsenter -t $client -n \
        ../cut "$2, interval $3${4:+, tcp_retries2 $4}" "nsenter -t $$ -n ip link set b$1 nomaster" >"../seen.$1" &
    clients+=($!)
    cd ..
}
clients=()
pair 1 idle 20s
pair 2 idle inf
pair 3 'in use' inf
pair 4 'in use' 20s 5
wait "${clients[@]}"
cat seen.* | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
idle, interval 20s: nothing after 60 s
idle, interval inf: Endpoint timeout
in use, interval inf: nothing after 60 s
in use, interval 20s, tcp_retries2 5: Endpoint timeout
END
echo "as seen with UCX $version"
