/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/losses.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/port.h"
#include "faultloc/base/text_file.h"
#include "ftree/base/base.h"
#include "ftree/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NET_DEV_MAX 32768 /* bytes of net/dev: about 200 interfaces */
#define KEPT_MAX 1024 /* counters of losses */
#define STATISTICS_MAX 16384 /* of a driver; an adapter with 128 queues has some 10,000 */
#define AGAIN (1000 * FTREE_MS) /* who asks before has what was read last */
#define PATIENCE (100 * FTREE_MS) /* for a driver, which may ask the device */

enum kind { LINK, WIRE, SIZE, ROOM, ERRORS, NONE };

static const char *const meanings[NONE] = {
    [LINK] = "the link was lost",
    [WIRE] = "frames damaged on the wire",
    [SIZE] = "frames larger than this end takes",
    [ROOM] = "no room for frames",
};

/* What a part of a name means; the first that fits holds.  What is here as NONE is no loss: bits that
 * were corrected, frames that a program or nobody wanted, what the host does with itself. */
static const struct {
    enum kind kind;
    const char *part[20];
} names[] = {
    {WIRE, {"uncorrect"}},
    {NONE, {"xdp", "_bytes_", "duration", "correct", "err_lane", "steer", "interrupt", "irq",
            "eferred", "hwtstamp", "admin", "arfs", "tls", "csum", "missed_tx"}},
    {LINK, {"link_down", "local_fault", "remote_fault"}},
    {WIRE, {"crc_err", "fcs_err", "symbol_err", "align_err", "code_err", "illegal_bytes", "jabber",
            "jbr_", "fragments", "undersize", "runt_"}},
    {WIRE, {"port_rcv_errors", "link_error_recovery", "link_integrity_err"}}, /* InfiniBand's */
    {SIZE, {"oversize", "ovrsz_", "out_of_range_len"}},
    {ROOM, {"discard", "drop", "out_of_buffer", "missed", "no_dma", "alloc_err", "overrun"}},
    {ERRORS, {"err", "timeout", "allowance_exceeded"}}, /* the last: of the cloud */
};

enum source { DRIVER, PORT, KERNEL };

/* One counter. */
struct faultloc_loss {
    char name[ETH_GSTRING_LEN];
    uint8_t kind; /* enum kind */
    uint8_t source; /* enum source */
    uint64_t n;
};

struct list {
    struct faultloc_loss *at;
    int32_t n;
};

static enum kind kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (const char *const *part = names[i].part; *part; part++)
            if (strstr(name, *part))
                return names[i].kind;
    return NONE;
}

static void add(struct list *list, enum source source, const char *name, uint64_t n)
{
    enum kind kind = kind_of(name);
    struct faultloc_loss *to = &list->at[list->n];

    if (kind == NONE || list->n == KEPT_MAX || n == UINT64_MAX)
        return;
    list->n++;
    snprintf(to->name, sizeof(to->name), "%s", name);
    to->kind = (uint8_t) kind;
    to->source = (uint8_t) source;
    to->n = n;
}

/* From /proc, where it is the network namespace's own, whatever is mounted on /sys: "  eth0: 1 2 3 ...".
 * rx_dropped is left out: among them are frames that nobody wanted. */
static void add_kernels(const struct faultloc_losses *l, struct list *list)
{
    uint64_t rx_errors, tx_errors, tx_dropped;
    char text[NET_DEV_MAX], key[32], end;
    const char *at;

    faultloc_text_read(l->proc_root, text, sizeof(text), "self/net/dev");
    snprintf(key, sizeof(key), "%6s:", l->iface);
    at = faultloc_text_line(text, key);
    if (!at || sscanf(at,
                      "%*u %*u %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                      " %*u %*u %*u %*u%c",
                      &rx_errors, &tx_errors, &tx_dropped, &end) != 4 || end != '\n')
        return; /* cut off, or not there */
    add(list, KERNEL, "rx_errors", rx_errors);
    add(list, KERNEL, "tx_errors", tx_errors);
    add(list, KERNEL, "tx_dropped", tx_dropped);
}

static void add_ports(const struct faultloc_losses *l, struct list *list)
{
    static const char *const counters[] = {"link_downed",
                                           "symbol_error",
                                           "port_rcv_errors",
                                           "link_error_recovery",
                                           "local_link_integrity_errors",
                                           "excessive_buffer_overrun_errors",
                                           "port_xmit_discards"};

    for (size_t i = 0; l->port && *l->port && i < sizeof(counters) / sizeof(counters[0]); i++)
        add(list, PORT, counters[i], faultloc_port_counter(l->sys_root, l->port, counters[i]));
}

/* ---- the driver's ------------------------------------------------------------------------------ */

static int ask_kernel(const char *iface, void *command)
{
    struct ifreq request = {.ifr_data = command};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

    if (fd < 0)
        return errno;
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", iface);
    rc = ioctl(fd, SIOCETHTOOL, &request) < 0 ? errno : 0;
    close(fd);
    return rc;
}

static int ask(const struct faultloc_losses *l, void *command)
{
    return (l->ethtool ? l->ethtool : ask_kernel)(l->iface, command);
}

/* How many it has; 0: none, or too many. */
static uint32_t count(const struct faultloc_losses *l)
{
    union {
        struct ethtool_sset_info info;
        char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
    } u = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_STATS}};
    uint32_t n;

    if (ask(l, &u) || u.info.sset_mask != 1ull << ETH_SS_STATS)
        return 0;
    memcpy(&n, u.room + sizeof(u.info), sizeof(n));
    return n <= STATISTICS_MAX ? n : 0;
}

/* The kernel writes as many as there are then, whatever room it is given: there may be
 * twice as many.  What is not used costs no memory. */
static void *command(uint32_t cmd, size_t head, size_t each)
{
    uint32_t *c = malloc(head + 2 * STATISTICS_MAX * each);

    if (c) {
        memset(c, 0, head);
        *c = cmd;
    }
    return c;
}

static void add_named(const struct ethtool_gstrings *s, const struct ethtool_stats *v, struct list *list)
{
    char name[ETH_GSTRING_LEN + 1] = "";

    for (uint32_t i = 0; i < s->len && i < v->n_stats && i < STATISTICS_MAX; i++) {
        memcpy(name, s->data + (size_t) i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
        ftree_text_ascii(name);
        add(list, DRIVER, name, v->data[i]);
    }
}

/* Some drivers ask the device, which may be broken, and meanwhile this process does nothing else: not of
 * a link that is not up, and never again after one has taken long. */
static void add_drivers(struct faultloc_losses *l, struct list *list)
{
    uint64_t until = faultloc_now() + (l->patience ? l->patience : PATIENCE);
    uint32_t n = l->slow || (l->link && *l->link != FTREE_LINK_UP) ? 0 : count(l);
    struct ethtool_gstrings *s = command(ETHTOOL_GSTRINGS, sizeof(*s), ETH_GSTRING_LEN);
    struct ethtool_stats *v = command(ETHTOOL_GSTATS, sizeof(*v), sizeof(v->data[0]));

    if (n && s && v) {
        s->string_set = ETH_SS_STATS;
        s->len = v->n_stats = n;
        if (!ask(l, s) && !ask(l, v) && s->len == n && v->n_stats == n)
            add_named(s, v, list);
    }
    l->slow |= faultloc_now() > until;
    free(s);
    free(v);
}

/* ---- since the job began ----------------------------------------------------------------------- */

/* All of them; to be freed. */
static struct list gather(struct faultloc_losses *l)
{
    struct list list = {.at = malloc(KEPT_MAX * sizeof(*list.at))};
    bool named = l->iface && *l->iface;

    if (list.at && named)
        add_kernels(l, &list);
    if (list.at)
        add_ports(l, &list);
    if (list.at && named)
        add_drivers(l, &list);
    return list;
}

void faultloc_losses_begin(struct faultloc_losses *l, ftree_time now)
{
    struct list list = gather(l);

    l->since = now;
    l->n = list.n;
    l->first = list.at;
}

static const struct faultloc_loss *find(const struct faultloc_losses *l, const struct faultloc_loss *c)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->first[i].source == c->source && !strcmp(l->first[i].name, c->name))
            return &l->first[i];
    return NULL;
}

/* Of the driver's statistics none: they count what the kernel's do, each in its way. */
static void add_up(struct faultloc_losses *l, const struct faultloc_loss *c)
{
    uint64_t *sum = c->kind == ROOM ? &l->drops : &l->errors;

    if (c->source != DRIVER && c->kind != LINK)
        *sum = *sum == UINT64_MAX ? c->n : *sum + c->n;
}

/* What was not there when the job began, or has begun anew, is not known. */
static struct list since_began(struct faultloc_losses *l)
{
    struct list list = gather(l);
    int32_t n = 0;

    for (int32_t i = 0; i < list.n; i++) {
        struct faultloc_loss c = list.at[i];
        const struct faultloc_loss *was = find(l, &c);
        if (!was || c.n < was->n)
            continue;
        c.n -= was->n;
        add_up(l, &c);
        if (c.n)
            list.at[n++] = c;
    }
    list.n = n;
    return list;
}

/* What says most first: the kernel's own last, and then by kind and number. */
static int compare(const void *a, const void *b)
{
    const struct faultloc_loss *x = a, *y = b;

    if ((x->source == KERNEL) != (y->source == KERNEL))
        return x->source == KERNEL ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->n > y->n ? -1 : x->n < y->n;
}

/* "eth0: 41 rx_crc_errors_phy, 3 rx_symbol_err_phy in 12 s (frames damaged on the wire)".  What is
 * counted elsewhere than the first is counted of something else, or again. */
static void tell(struct faultloc_losses *l, ftree_time now, const struct list *list)
{
    const struct faultloc_loss *first = list->at;
    const char *meaning = first->source == KERNEL ? NULL : meanings[first->kind];
    char piece[64];

    ftree_text_add(l->text, sizeof(l->text), "%s:", first->source == PORT ? l->port : l->iface);
    for (int32_t i = 0; i < list->n; i++) {
        snprintf(piece, sizeof(piece), "%s %" PRIu64 " %s", i ? "," : "", first[i].n, first[i].name);
        if (i == 0 || (first[i].source == first->source &&
                       strlen(l->text) + strlen(piece) < sizeof(l->text) / 2))
            ftree_text_add(l->text, sizeof(l->text), "%s", piece);
    }
    ftree_text_add(l->text, sizeof(l->text), " in %.0f s", (double) (now - l->since) / 1e9);
    if (meaning && strlen(l->text) + strlen(meaning) + 4 < sizeof(l->text))
        ftree_text_add(l->text, sizeof(l->text), " (%s)", meaning);
}

static void look(struct faultloc_losses *l, ftree_time now)
{
    struct list list;

    l->looked = now;
    l->errors = l->drops = UINT64_MAX;
    l->text[0] = '\0';
    list = since_began(l);
    if (list.n) {
        qsort(list.at, (size_t) list.n, sizeof(list.at[0]), compare);
        tell(l, now, &list);
    }
    free(list.at);
}

void faultloc_losses_read(struct faultloc_losses *l, ftree_time now, struct ftree_node_state *s)
{
    if (l->first && (!l->looked || now - l->looked >= AGAIN))
        look(l, now);
    s->link_errors = l->first ? l->errors : UINT64_MAX;
    s->link_drops = l->first ? l->drops : UINT64_MAX;
    memcpy(s->losses, l->text, sizeof(s->losses));
}
