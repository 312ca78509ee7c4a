/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/losses.h"

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
#define SHOWN 3

enum kind { LINK, WIRE, SIZE, ROOM, ALLOWED, STUCK, HELD, ERRORS, NONE };

static const char *const meanings[NONE] = {
    [LINK] = "the link was lost",
    [WIRE] = "frames damaged on the wire",
    [SIZE] = "frames larger than this end takes",
    [ROOM] = "no room for frames",
    [ALLOWED] = "beyond what the cloud allows",
    [STUCK] = "the adapter does not send",
    [HELD] = "frames held back by flow control",
};

/* What a part of a name means; the first row that fits holds. */
static const struct {
    const char *part;
    enum kind kind;
} names[] = {
    {"xdp", NONE}, /* a program wants it so */
    {"_bytes_", NONE},
    {"duration", NONE},
    {"corrected", NONE},
    {"steer", NONE}, /* of a group that nobody here has joined */
    {"link_down", LINK},
    {"local_fault", LINK},
    {"remote_fault", LINK},
    {"crc_err", WIRE},
    {"fcs_err", WIRE},
    {"symbol_err", WIRE},
    {"align_err", WIRE},
    {"code_err", WIRE},
    {"illegal_bytes", WIRE},
    {"err_lane", WIRE},
    {"jabber", WIRE},
    {"jbr_", WIRE},
    {"fragments", WIRE},
    {"undersize", WIRE},
    {"runt_", WIRE},
    {"port_rcv_errors", WIRE}, /* this and the next two: InfiniBand's */
    {"link_error_recovery", WIRE},
    {"link_integrity_err", WIRE},
    {"oversize", SIZE},
    {"ovrsz_", SIZE},
    {"out_of_range_len", SIZE},
    {"allowance_exceeded", ALLOWED},
    {"timeout", STUCK},
    {"pause", HELD},
    {"xoff", HELD},
    {"discard", ROOM},
    {"drop", ROOM},
    {"out_of_buffer", ROOM},
    {"missed", ROOM},
    {"no_dma", ROOM},
    {"alloc_err", ROOM},
    {"overrun", ROOM},
    {"err", ERRORS},
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
        if (strstr(name, names[i].part))
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

/* ---- the kernel's own -------------------------------------------------------------------------- */

/* The line of an interface in net/dev: "  eth0: 1 2 3 ...". */
static const char *counters_of(const char *text, const char *iface)
{
    size_t len = strlen(iface);

    while (text) {
        text += strspn(text, " \t");
        if (strncmp(text, iface, len) == 0 && text[len] == ':')
            return text + len + 1;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return NULL;
}

/* A number at *at, which is moved behind it. */
static bool take(const char **at, uint64_t *n)
{
    const char *p = *at + strspn(*at, " \t");
    char *end;

    errno = 0;
    *n = strtoull(p, &end, 10);
    *at = end;
    return *p >= '0' && *p <= '9' && !errno;
}

#define COLUMNS 16

/* From /proc, where it is the network namespace's own, whatever is mounted on /sys. */
static void add_kernels(const struct faultloc_losses *l, struct list *list)
{
    static const char *const names_of[COLUMNS] = {
        [2] = "rx_errors", [3] = "rx_dropped", [10] = "tx_errors", [11] = "tx_dropped"};
    uint64_t n[COLUMNS];
    char *text = malloc(NET_DEV_MAX);
    const char *at = NULL;

    if (text && faultloc_text_read(l->proc_root, text, NET_DEV_MAX, "self/net/dev"))
        at = counters_of(text, l->iface);
    for (int i = 0; at && i < COLUMNS; i++)
        if (!take(&at, &n[i]))
            at = NULL;
    for (int i = 0; at && *at == '\n' && i < COLUMNS; i++) /* else it was cut off */
        if (names_of[i])
            add(list, KERNEL, names_of[i], n[i]);
    free(text);
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

/* The kernel writes as many as there are then, whatever it is told that there is room for: there may be
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

static void add_drivers(const struct faultloc_losses *l, struct list *list)
{
    uint32_t n = count(l);
    struct ethtool_gstrings *s = command(ETHTOOL_GSTRINGS, sizeof(*s), ETH_GSTRING_LEN);
    struct ethtool_stats *v = command(ETHTOOL_GSTATS, sizeof(*v), sizeof(v->data[0]));

    if (n && s && v) {
        s->string_set = ETH_SS_STATS;
        s->len = v->n_stats = n;
        if (!ask(l, s) && !ask(l, v) && s->len == n && v->n_stats == n)
            add_named(s, v, list);
    }
    free(s);
    free(v);
}

/* ---- since the job began ----------------------------------------------------------------------- */

static bool is_name(const char *iface)
{
    return iface && iface[0] && strlen(iface) < IF_NAMESIZE;
}

/* All of them; to be freed. */
static struct list gather(const struct faultloc_losses *l)
{
    struct list list = {.at = malloc(KEPT_MAX * sizeof(*list.at))};

    if (list.at && is_name(l->iface)) {
        add_kernels(l, &list);
        add_drivers(l, &list);
    }
    if (list.at)
        add_ports(l, &list);
    return list;
}

void faultloc_losses_begin(struct faultloc_losses *l, ftree_time now)
{
    struct list list = gather(l);

    l->since = now;
    l->n = list.n;
    l->first = list.at;
}

void faultloc_losses_end(struct faultloc_losses *l)
{
    free(l->first);
    l->first = NULL;
    l->n = 0;
}

/* It is mostly where it was. */
static const struct faultloc_loss *find(const struct faultloc_losses *l, int32_t at, const char *name)
{
    if (at < l->n && !strcmp(l->first[at].name, name))
        return &l->first[at];
    for (int32_t i = 0; i < l->n; i++)
        if (!strcmp(l->first[i].name, name))
            return &l->first[i];
    return NULL;
}

/* What was not there when the job began, or has begun anew, is not known. */
static struct list since_began(const struct faultloc_losses *l)
{
    struct list list = gather(l);
    int32_t n = 0;

    for (int32_t i = 0; i < list.n; i++) {
        const struct faultloc_loss *was = find(l, i, list.at[i].name);
        if (!was || list.at[i].n < was->n)
            continue;
        list.at[n] = list.at[i];
        list.at[n++].n -= was->n;
    }
    list.n = n;
    return list;
}

/* What says most first: the driver's own words before the kernel's, and then by kind and number. */
static int compare(const void *a, const void *b)
{
    const struct faultloc_loss *x = a, *y = b;

    if (!x->n != !y->n)
        return x->n ? -1 : 1;
    if ((x->source == KERNEL) != (y->source == KERNEL))
        return x->source == KERNEL ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->n > y->n ? -1 : x->n < y->n;
}

/* "eth0: 41 rx_crc_errors_phy, 3 rx_discards_phy in 12 s (frames damaged on the wire)" */
static void tell(const struct faultloc_losses *l, ftree_time now, const struct list *list, char *text,
                 size_t room)
{
    const char *meaning =
        list->n && list->at[0].source != KERNEL ? meanings[list->at[0].kind] : NULL;
    char piece[64];

    *text = '\0';
    for (int32_t i = 0; i < list->n && i < SHOWN && list->at[i].n; i++) {
        if (list->at[i].source == KERNEL && list->at[0].source != KERNEL)
            break; /* it counts the same */
        snprintf(piece, sizeof(piece), "%s%" PRIu64 " %s", i ? ", " : "", list->at[i].n,
                 list->at[i].name);
        if (i == 0)
            ftree_text_add(text, room, "%s: ", l->port && *l->port ? l->port : l->iface);
        if (i == 0 || strlen(text) + strlen(piece) < room / 2)
            ftree_text_add(text, room, "%s", piece);
    }
    if (*text)
        ftree_text_add(text, room, " in %.0f s", (double) (now - l->since) / 1e9);
    if (*text && meaning && strlen(text) + strlen(meaning) + 4 < room)
        ftree_text_add(text, room, " (%s)", meaning);
}

/* Of the driver's statistics none: they count what the kernel's do, each in its way. */
static void add_up(const struct list *list, struct ftree_node_state *s)
{
    for (int32_t i = 0; i < list->n; i++) {
        const struct faultloc_loss *c = &list->at[i];
        uint64_t *sum = c->kind == ROOM ? &s->link_drops : &s->link_errors;
        if (c->source != DRIVER && c->kind != LINK)
            *sum = *sum == UINT64_MAX ? c->n : *sum + c->n;
    }
}

void faultloc_losses_read(const struct faultloc_losses *l, ftree_time now, struct ftree_node_state *s)
{
    struct list list = {0};

    s->link_errors = s->link_drops = UINT64_MAX;
    s->losses[0] = '\0';
    if (!l->first)
        return;
    list = since_began(l);
    add_up(&list, s);
    if (list.n)
        qsort(list.at, (size_t) list.n, sizeof(list.at[0]), compare);
    tell(l, now, &list, s->losses, sizeof(s->losses));
    free(list.at);
}
