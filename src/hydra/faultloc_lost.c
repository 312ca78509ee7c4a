/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "hydra_server.h"
#include "pmiserv.h"
#include "faultloc_base.h"
#include "faultloc_children.h"
#include "faultloc_keepalive.h"
#include "faultloc_lost.h"
#include "bscu.h"
#include "demux.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>

/* ---- connections ----------------------------------------------------------------------------- */

bool HYD_faultloc_is_connected(const struct HYD_proxy *proxy)
{
    return proxy->control_fd != HYD_FD_UNSET && proxy->control_fd != HYD_FD_CLOSED;
}

bool HYD_faultloc_is_closed(int fd, int *error)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    *error = n < 0 && errno != ECONNRESET ? errno : 0;
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool HYD_faultloc_send(struct HYD_proxy *proxy, const struct HYD_faultloc_msg *msg)
{
    struct HYD_pmcd_hdr hdr = HYD_faultloc_header(proxy, sizeof(*msg));
    int sent, closed, error;

    if (HYD_faultloc_is_closed(proxy->control_fd, &error))
        return false;
    return !HYDU_sock_write(proxy->control_fd, &hdr, sizeof(hdr), &sent, &closed,
                            HYDU_SOCK_COMM_MSGWAIT) &&
           !closed &&
           !HYDU_sock_write(proxy->control_fd, msg, sizeof(*msg), &sent, &closed,
                            HYDU_SOCK_COMM_MSGWAIT) &&
           !closed;
}

bool HYD_faultloc_is_leaving(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0 && p.revents;
}

bool HYD_faultloc_is_silent(int fd)
{
    int bytes = 0;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

void HYD_faultloc_watch(const struct HYD_proxy *proxy, bool on)
{
    static struct watched {
        const void *connection;
        struct HYD_faultloc_keepalive keepalive;
    } *watched = NULL, *more;
    static int count = 0;
    int i = 0;

    while (i < count && watched[i].connection != HYD_faultloc_connection(proxy))
        i++;
    if (i == count) {
        more = on ? MPL_realloc(watched, (size_t) (count + 1) * sizeof(*more), MPL_MEM_PM) : NULL;
        if (!more)
            return; /* without it the proxy is ended with the others, if only later */
        watched = more;
        watched[count++] = (struct watched){.connection = HYD_faultloc_connection(proxy)};
    }
    HYD_faultloc_keepalive_set(&watched[i].keepalive, proxy->control_fd, on);
}

/* ---- launchers ------------------------------------------------------------------------------- */

/* The first proxy that has not called, from the `nth` of all on. */
static const struct HYD_proxy *not_called(int nth, bool others)
{
    int n = 0;

    HYD_FAULTLOC_EACH_PG(pg)
    HYD_FAULTLOC_EACH_OF(pg, p)
    if ((n++ == nth || others) && p->control_fd == HYD_FD_UNSET)
        return p;
    return NULL;
}

static int count_proxies(void)
{
    int n = 0;

    HYD_FAULTLOC_EACH_PG(pg)
    n += pg->proxy_count;
    return n;
}

/* Most launchers are started once for each proxy, and in their order; srun once for all. */
const struct HYD_proxy *HYD_faultloc_failed_launcher(int *status)
{
    bool one_for_all = HYD_bscu_pid_count != count_proxies();

    for (int i = 0; i < HYD_bscu_pid_count; i++) {
        const struct HYD_proxy *proxy = not_called(i, one_for_all);
        pid_t pid = HYD_FAULTLOC_LAUNCHER(i);
        if (!proxy || pid <= 0 || waitpid(pid, status, WNOHANG) != pid)
            continue;
        HYD_FAULTLOC_LAUNCHER(i) = -1;
        if (*status)
            return proxy;
    }
    return NULL;
}

static int count_launchers(void)
{
    int n = 0, ret;

    for (int i = 0; i < HYD_bscu_pid_count; i++) {
        pid_t pid = HYD_FAULTLOC_LAUNCHER(i);
        if (pid > 0 && waitpid(pid, &ret, WNOHANG) != 0)
            HYD_FAULTLOC_LAUNCHER(i) = -1;
        n += HYD_FAULTLOC_LAUNCHER(i) > 0;
    }
    return n;
}

/* What they have still to say is handed on, for a moment. */
static void hand_on(void)
{
    struct timespec moment = {.tv_nsec = 5000000};

    if (HYDT_dmx_wait_for_event(0) == HYD_TIMED_OUT)
        nanosleep(&moment, NULL);
}

void HYD_faultloc_end_launchers(int ms)
{
    int64_t end = HYD_faultloc_now_ms() + ms;

    while (count_launchers() && HYD_faultloc_now_ms() < end)
        hand_on();
    for (int i = 0; i < HYD_bscu_pid_count; i++)
        if (HYD_FAULTLOC_LAUNCHER(i) > 0) {
            killpg(HYD_FAULTLOC_LAUNCHER(i), SIGKILL); /* each has a session of its own */
            kill(HYD_FAULTLOC_LAUNCHER(i), SIGKILL);
        }
    end = HYD_faultloc_now_ms() + ms;
    while (count_launchers() && HYD_faultloc_now_ms() < end)
        hand_on();
    while (HYDT_dmx_wait_for_event(0) == HYD_SUCCESS && HYD_faultloc_now_ms() < end)
        ;
}
