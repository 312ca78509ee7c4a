/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/link_watch.h"

#include "faultloc/base/iface.h"
#include "faultloc/base/port.h"
#include "ftree/base/base.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LASTS (400 * FTREE_MS) /* longer than a flap, or than a link takes to be trained again */
#define DOWN_LASTS (200 * FTREE_MS) /* an interface that is switched off does not flap */
#define WAITED (100 * FTREE_MS) /* who waits for less is not harmed yet */
#define AGAIN (5000 * FTREE_MS) /* a symptom that may have been lost is reported again */
#define FLAPS_WITHIN (60000 * FTREE_MS) /* two of them are no accident */
#define MESSAGES_MAX 32 /* in one turn */
#define PORT_EVERY (250 * FTREE_MS) /* drivers ask the device */
#define SPEED_EVERY (2500 * FTREE_MS) /* some do for this, too */

static uint64_t count_downs(const struct faultloc_link_watch *w)
{
    return faultloc_port_counter(w->sys_root, w->port, "link_downed");
}

static void open_port(struct faultloc_link_watch *w, const char *port)
{
    w->port_link = FTREE_LINK_UP;
    if (!port || faultloc_port_link(w->sys_root, port) != FTREE_LINK_UP)
        return;
    w->port = port;
    w->downs = count_downs(w);
}

int faultloc_link_watch_open(struct faultloc_link_watch *w, const char *sys_root, const char *iface,
                             const char *port, uint32_t due_mbps)
{
    struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};

    *w = (struct faultloc_link_watch){.iface = iface,
                                      .port = "",
                                      .fd = -1,
                                      .link = FTREE_LINK_UNKNOWN,
                                      .sys_root = sys_root,
                                      .due_mbps = due_mbps};
    open_port(w, port);
    if (!iface || !iface[0])
        return ENODEV;
    w->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (w->fd < 0 || bind(w->fd, (struct sockaddr *) &own, sizeof(own))) {
        int rc = errno;
        faultloc_link_watch_close(w);
        return rc;
    }
    w->link = w->iface_link = (uint8_t) faultloc_iface_link(iface);
    return 0;
}

void faultloc_link_watch_close(struct faultloc_link_watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

static void note_flap(struct faultloc_link_watch *w, ftree_time now)
{
    w->back[1] = w->back[0];
    w->back[0] = now;
    w->flaps++;
    w->flaps_told = false;
}

/* What was never up is no fault of now.  An interface that somebody switches off and on does not
 * flap. */
static void note(struct faultloc_link_watch *w, ftree_time now)
{
    uint8_t link = w->iface_link == FTREE_LINK_UP ? w->port_link : w->iface_link;
    bool was_up = w->link == FTREE_LINK_UP, is_up = link == FTREE_LINK_UP;

    w->link = link;
    w->by_carrier &= link == FTREE_LINK_NO_CARRIER || is_up;
    if (was_up && !is_up) {
        w->lost = now;
        w->reported = 0;
        w->by_carrier = link == FTREE_LINK_NO_CARRIER;
    } else if (is_up && w->lost) {
        w->lost = 0;
        if (w->by_carrier)
            note_flap(w, now);
    }
}

void faultloc_link_watch_note(struct faultloc_link_watch *w, ftree_time now, uint8_t link)
{
    w->changes += (w->iface_link == FTREE_LINK_UP) != (link == FTREE_LINK_UP);
    w->iface_link = link;
    note(w, now);
}

/* It may have come and gone between two looks. */
static void look_at_port(struct faultloc_link_watch *w, ftree_time now, ftree_time waits)
{
    enum ftree_link link;
    uint64_t downs;

    if (!w->port[0] || waits < WAITED || (w->port_seen && now - w->port_seen < PORT_EVERY))
        return;
    w->port_seen = now;
    link = faultloc_port_link(w->sys_root, w->port);
    downs = count_downs(w);
    if (link == FTREE_LINK_UNKNOWN)
        return;
    if (link == FTREE_LINK_UP && !w->lost && downs != UINT64_MAX && downs > w->downs)
        note_flap(w, now);
    w->downs = downs;
    w->port_link = (uint8_t) link;
    note(w, now);
}

static bool is_own(const struct faultloc_link_watch *w, const struct nlmsghdr *h)
{
    const struct ifinfomsg *m = NLMSG_DATA(h);
    uint32_t len = h->nlmsg_len - (uint32_t) NLMSG_LENGTH(sizeof(*m));

    for (const struct rtattr *a = IFLA_RTA(m); RTA_OK(a, len); a = RTA_NEXT(a, len))
        if (a->rta_type == IFLA_IFNAME)
            return strnlen(RTA_DATA(a), RTA_PAYLOAD(a)) < RTA_PAYLOAD(a) &&
                   !strcmp(RTA_DATA(a), w->iface);
    return false;
}

static void take_link(struct faultloc_link_watch *w, ftree_time now, const struct nlmsghdr *h)
{
    const struct ifinfomsg *m = NLMSG_DATA(h);

    if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) ||
        h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) || m->ifi_family != AF_UNSPEC || !is_own(w, h))
        return;
    if (h->nlmsg_type == RTM_DELLINK)
        faultloc_link_watch_note(w, now, FTREE_LINK_GONE);
    else if (!(m->ifi_flags & IFF_UP))
        faultloc_link_watch_note(w, now, FTREE_LINK_DOWN);
    else
        faultloc_link_watch_note(
            w, now, m->ifi_flags & IFF_RUNNING ? FTREE_LINK_UP : FTREE_LINK_NO_CARRIER);
}

/* Messages were lost; those before them have been read by now. */
static void look_again(struct faultloc_link_watch *w, ftree_time now)
{
    enum ftree_link link = w->missed ? faultloc_iface_link(w->iface) : FTREE_LINK_UNKNOWN;

    if (link == FTREE_LINK_UNKNOWN)
        return;
    w->missed = false;
    faultloc_link_watch_note(w, now, (uint8_t) link);
}

void faultloc_link_watch_hear(struct faultloc_link_watch *w, ftree_time now)
{
    union {
        struct nlmsghdr h;
        char bytes[16384];
    } buffer;
    struct sockaddr_nl from;

    for (int i = 0; w->fd >= 0 && i < MESSAGES_MAX; i++) {
        socklen_t size = sizeof(from);
        ssize_t n = recvfrom(w->fd, &buffer, sizeof(buffer), 0, (struct sockaddr *) &from, &size);
        if (n < 0 && errno == ENOBUFS) {
            w->missed = true;
            continue;
        }
        if (n < 0) {
            look_again(w, now);
            return;
        }
        if (size < sizeof(from) || from.nl_pid != 0)
            continue; /* not of the kernel */
        const struct nlmsghdr *h = &buffer.h;
        for (uint32_t left = (uint32_t) n; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left))
            take_link(w, now, h);
    }
}

static bool is_flapping(const struct faultloc_link_watch *w, ftree_time now)
{
    return w->back[1] && !w->flaps_told && now - w->back[1] <= FLAPS_WITHIN;
}

static ftree_time lasts(const struct faultloc_link_watch *w)
{
    return w->by_carrier ? LASTS : DOWN_LASTS;
}

static bool is_lost(const struct faultloc_link_watch *w, ftree_time now, ftree_time waits)
{
    return w->lost && now - w->lost >= lasts(w) && waits >= WAITED &&
           (!w->reported || now - w->reported >= AGAIN);
}

/* The speed, if that is too low and not reported yet; 0: it is not. */
static uint32_t find_slow(struct faultloc_link_watch *w, ftree_time now)
{
    uint32_t mbps;

    if (!w->due_mbps || w->lost || (w->speed_seen && now - w->speed_seen < SPEED_EVERY))
        return 0;
    w->speed_seen = now;
    mbps = w->port[0] ? faultloc_port_speed(w->sys_root, w->port)
                      : faultloc_iface_speed(w->sys_root, w->iface);
    if (!mbps || mbps >= w->due_mbps || mbps == w->slow_reported)
        return 0;
    w->slow_reported = mbps;
    return mbps;
}

static void fill(struct ftree_symptom *s, enum ftree_symptom_kind kind, int32_t self,
                 ftree_time first, ftree_time last)
{
    ftree_symptom_init(s, kind, self, FTREE_NONE, self, first, last);
    s->about.kind = ftree_symptom_info(kind)->kind;
}

static const char *name_of(const struct faultloc_link_watch *w)
{
    return w->port[0] ? w->port : w->iface;
}

static void describe_port(const struct faultloc_link_watch *w, struct ftree_symptom *s)
{
    char words[64];

    faultloc_port_words(w->sys_root, w->port, words, sizeof(words));
    snprintf(s->detail, sizeof(s->detail), "%s is %s", w->port, words[0] ? words : "gone");
}

bool faultloc_link_watch_symptom(struct faultloc_link_watch *w, ftree_time now, int32_t self,
                                 ftree_time waits, struct ftree_symptom *s)
{
    uint32_t slow;

    look_at_port(w, now, waits);
    slow = find_slow(w, now);
    if (slow) {
        fill(s, FTREE_SYMPTOM_LINK_SLOW, self, now, now);
        snprintf(s->detail, sizeof(s->detail), "%.32s has %u Mbit/s instead of %u", name_of(w),
                 (unsigned) slow, (unsigned) w->due_mbps);
    } else if (is_flapping(w, now)) {
        w->flaps_told = true;
        fill(s, FTREE_SYMPTOM_CARRIER_FLAPS, self, w->back[1], now);
        snprintf(s->detail, sizeof(s->detail),
                 "%.32s was lost and came back %u times, %.1f s apart", name_of(w),
                 (unsigned) w->flaps, (double) (w->back[0] - w->back[1]) / 1e9);
    } else if (is_lost(w, now, waits)) {
        w->reported = now;
        fill(s,
             w->link == FTREE_LINK_NO_CARRIER ? FTREE_SYMPTOM_CARRIER_LOST
                                              : FTREE_SYMPTOM_INTERFACE_DOWN,
             self, w->lost, now);
        if (w->iface_link == FTREE_LINK_UP)
            describe_port(w, s);
    } else {
        return false;
    }
    return true;
}

ftree_time faultloc_link_watch_deadline(const struct faultloc_link_watch *w, ftree_time now)
{
    if (is_flapping(w, now))
        return now;
    return w->lost && now < w->lost + lasts(w) ? w->lost + lasts(w) : FTREE_NEVER;
}
