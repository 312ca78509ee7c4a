#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1), tcp: a peer that was killed is an "endpoint timeout", at once.
#
# ucs_status_t has UCS_ERR_CONNECTION_RESET (-25) and UCS_ERR_ENDPOINT_TIMEOUT (-80).  A guess: when the
# kernel of the peer resets the connection, because the process was killed, the error callback of an endpoint
# (UCP_ERR_HANDLING_MODE_PEER) gets the first; and the second after a time without an answer.
# Seen: the callback gets UCS_ERR_ENDPOINT_TIMEOUT within a fraction of a second, while the host is well and
# nothing has timed out.  It is the same status as after minutes of silence, so that a killed process, a lost
# host and a cut cable are one.  A small message that is sent after the end of the peer is UCS_OK first, for it
# was handed to the kernel.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
set -euo pipefail
version=1.13.1-1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "libucx0=$version" "libucx-dev=$version" libnuma1=2.0.16-1 2>/dev/null ||
    { echo "SKIP: no packages of UCX $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
export LD_LIBRARY_PATH=$PWD/usr/lib/x86_64-linux-gnu

cat >lost.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static ucp_context_h context;
static ucp_worker_h worker;
static ucs_status_t lost;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    lost = status;
}

static void start(void)
{
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t w = {0};

    if (ucp_init(&p, NULL, &context) || ucp_worker_create(context, &w, &worker))
        _exit(1);
}

static ucp_ep_h connect_to(ucp_address_t *address)
{
    ucp_ep_params_t p = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                       UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                         .address = address,
                         .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                         .err_handler.cb = on_error};
    ucp_ep_h ep;

    if (ucp_ep_create(worker, &p, &ep))
        _exit(1);
    return ep;
}

/* 0: sent; else a status */
static ucs_status_t send_one(ucp_ep_h ep)
{
    static char word[8];
    const ucp_request_param_t p = {0};
    ucs_status_ptr_t request = ucp_tag_send_nbx(ep, word, sizeof(word), 1, &p);
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (!UCS_PTR_IS_PTR(request))
        return status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    ucp_request_free(request);
    return status;
}

static void serve(int out)
{
    ucp_address_t *address;
    size_t n;

    start();
    if (ucp_worker_get_address(worker, &address, &n) || write(out, address, n) != (ssize_t) n)
        _exit(1);
    for (;;)
        ucp_worker_progress(worker);
}

int main(void)
{
    char address[4096];
    unsigned major, minor, release;
    ucs_status_t sent;
    double killed;
    int pipe_[2];
    pid_t peer;
    ucp_ep_h ep;

    if (pipe(pipe_) || (peer = fork()) < 0)
        return 1;
    if (peer == 0)
        serve(pipe_[1]);
    if (read(pipe_[0], address, sizeof(address)) <= 0)
        return 1;
    start();
    ep = connect_to((ucp_address_t *) address);
    for (double end = now() + 1; now() < end; ucp_worker_progress(worker))
        ;
    printf("sent: %s\n", ucs_status_string(send_one(ep)));
    for (double end = now() + 0.5; now() < end; ucp_worker_progress(worker))
        ;
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    killed = now();
    sent = send_one(ep);
    printf("sent after SIGKILL: %s\n", ucs_status_string(sent));
    while (!lost && now() < killed + 60)
        ucp_worker_progress(worker);
    ucp_get_version(&major, &minor, &release);
    printf("UCX %u.%u.%u: %d, %s, %s\n", major, minor, release, (int) lost, ucs_status_string(lost),
           now() < killed + 2 ? "at once" : "late");
    return 0;
}
END
gcc -O1 -w -I"$PWD/usr/include" -o lost lost.c -L"$LD_LIBRARY_PATH" -lucp -lucs
UCX_TLS=tcp UCX_NET_DEVICES=lo UCX_LOG_LEVEL=fatal ./lost | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
sent: Success
sent after SIGKILL: Success
UCX 1.13.1: -80, Endpoint timeout, at once
END
echo "as seen with UCX $version"
