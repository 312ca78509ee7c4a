##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For findings about UCX 1.13.1, over tcp: it is unpacked in a temporary folder, in which the script goes on.
# compile NAME makes a program from the C text on its standard input; pair.h is for two processes that talk.
set -euo pipefail
version=1.13.1-1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "libucx0=$version" "libucx-dev=$version" libnuma1=2.0.16-1 2>/dev/null ||
    { echo "SKIP: no packages of UCX $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$PWD"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH UCX_TLS=tcp UCX_NET_DEVICES=lo UCX_LOG_LEVEL=fatal
compile() { gcc -O1 -w -x c -I"$PWD/usr/include" -I. -o "$1" - -L"$LD_LIBRARY_PATH" -lucp -lucs; }

cat >pair.h <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#ifndef FEATURES
#define FEATURES UCP_FEATURE_TAG
#endif

static const ucp_request_param_t none;
static ucp_context_h context;
static ucp_worker_h worker;
static ucs_status_t lost;
static char word[8];
static pid_t peer; /* 0: this is the peer */

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

/* The end of a process that begins two, each with an endpoint to the other. */
static ucp_ep_h pair(void)
{
    static char address[4096];
    ucp_params_t c = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = FEATURES};
    ucp_ep_params_t e = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                       UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                         .address = (ucp_address_t *) address,
                         .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                         .err_handler.cb = on_error};
    ucp_worker_params_t w = {0};
    ucp_address_t *mine;
    int to[2], from[2];
    ucp_ep_h ep;
    size_t n;

    if (pipe(to) || pipe(from) || (peer = fork()) < 0)
        _exit(1);
    if (ucp_init(&c, NULL, &context) || ucp_worker_create(context, &w, &worker) ||
        ucp_worker_get_address(worker, &mine, &n) || write(peer ? to[1] : from[1], mine, n) != (ssize_t) n ||
        read(peer ? from[0] : to[0], address, sizeof(address)) <= 0 || ucp_ep_create(worker, &e, &ep))
        _exit(1);
    return ep;
}

static void go_on(double seconds)
{
    for (double end = now() + seconds; now() < end; ucp_worker_progress(worker))
        ;
}

/* How a request stands after so many seconds, or as soon as it has ended. */
static const char *result(ucs_status_ptr_t request, double seconds)
{
    double end = now() + seconds;

    if (!UCS_PTR_IS_PTR(request))
        return ucs_status_string(UCS_PTR_STATUS(request));
    while (now() < end && ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    return ucs_status_string(ucp_request_check_status(request));
}
END
