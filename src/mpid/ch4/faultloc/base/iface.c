/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/iface.h"
#include "faultloc/base/sock.h"
#include "faultloc/base/text_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DATA_CVAR "MPIR_CVAR_FAULTLOC_DATA_IFACE"
#define MGMT_CVAR "MPIR_CVAR_FAULTLOC_MGMT_IFACE"

struct list {
    const struct faultloc_iface *at;
    size_t count;
};

/* ---- addresses ----------------------------------------------------------------------------- */

static unsigned inet_bits(const struct faultloc_inet *inet)
{
    return inet->family == AF_INET ? 32 : inet->family == AF_INET6 ? 128 : 0;
}

/* Whether two addresses agree in their first `prefix` bits. */
static bool same_subnet(const struct faultloc_inet *a, const struct faultloc_inet *b,
                        unsigned prefix)
{
    unsigned bytes = prefix / 8, bits = prefix % 8;

    if (a->family != b->family || prefix > inet_bits(a) || memcmp(a->bytes, b->bytes, bytes) != 0)
        return false;
    return bits == 0 || ((a->bytes[bytes] ^ b->bytes[bytes]) >> (8 - bits)) == 0;
}

static bool is_link_local(const struct faultloc_inet *inet)
{
    if (inet->family == AF_INET)
        return inet->bytes[0] == 169 && inet->bytes[1] == 254;
    return inet->family == AF_INET6 && inet->bytes[0] == 0xfe && (inet->bytes[1] & 0xc0) == 0x80;
}

/* A link-local IPv6 address means something only together with an interface: no peer can use it. */
static bool is_usable(const struct faultloc_iface *i)
{
    return i->inet.family == AF_INET || (i->inet.family == AF_INET6 && !is_link_local(&i->inet));
}

/* "10.1.0.0/16", "fd00::/64" or an address alone.  Returns false when it is none of these. */
static bool parse_subnet(const char *text, struct faultloc_inet *inet, unsigned *prefix)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchrnul(text, '/');
    char *end;

    memset(inet, 0, sizeof(*inet));
    if ((size_t) (slash - text) >= sizeof(address))
        return false;
    memcpy(address, text, (size_t) (slash - text));
    address[slash - text] = '\0';
    inet->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    if (inet_pton(inet->family, address, inet->bytes) != 1)
        return false;
    *prefix = inet_bits(inet);
    if (*slash == '\0')
        return true;
    unsigned long bits = strtoul(slash + 1, &end, 10);
    if (slash[1] < '0' || slash[1] > '9' || *end || bits > *prefix)
        return false;
    *prefix = (unsigned) bits;
    return true;
}

/* ---- errors for people --------------------------------------------------------------------- */

/* Appends to text[size], which always ends with a zero. */
static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t len = strnlen(text, size);
    va_list args;

    if (len >= size)
        return;
    va_start(args, format);
    vsnprintf(text + len, size - len, format, args);
    va_end(args);
}

static void append_interfaces(char *text, size_t size, struct list list)
{
    char address[FAULTLOC_ADDRESS_TEXT];

    append(text, size, "; this host has");
    for (size_t i = 0; i < list.count; i++) {
        const struct faultloc_iface *f = &list.at[i];
        append(text, size, "%s %s ", i ? "," : "", f->name);
        if (f->inet.family)
            append(text, size, "%s/%u", faultloc_inet_text(&f->inet, address, sizeof(address)),
                   (unsigned) f->prefix);
        else
            append(text, size, "(no address)");
        if (!f->up)
            append(text, size, " (down)");
    }
    if (list.count == 0)
        append(text, size, " no interfaces");
}

static int complain(char *error, size_t size, const char *cvar, const char *value, const char *why,
                    struct list list)
{
    if (size > 0)
        error[0] = '\0';
    append(error, size, "%s=%s: %s", cvar, value, why);
    append_interfaces(error, size, list);
    return EINVAL;
}

/* ---- policy -------------------------------------------------------------------------------- */

static bool is_given(const char *text)
{
    return text && *text;
}

/* An interface's best address: the first IPv4, else the first that can be used. */
static const struct faultloc_iface *by_name(struct list list, const char *name, size_t len)
{
    const struct faultloc_iface *found = NULL;

    for (size_t i = 0; i < list.count; i++) {
        const struct faultloc_iface *f = &list.at[i];
        if (strlen(f->name) != len || memcmp(f->name, name, len) != 0 || !is_usable(f))
            continue;
        if (f->inet.family == AF_INET)
            return f;
        if (!found)
            found = f;
    }
    return found;
}

static const struct faultloc_iface *by_subnet(struct list list, const struct faultloc_inet *inet,
                                              unsigned prefix)
{
    for (size_t i = 0; i < list.count; i++)
        if (is_usable(&list.at[i]) && same_subnet(&list.at[i].inet, inet, prefix))
            return &list.at[i];
    return NULL;
}

static bool has_name(struct list list, const char *name)
{
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.at[i].name, name) == 0)
            return true;
    return false;
}

/* What the user named in a variable. */
static int find_named(struct list list, const char *cvar, const char *value,
                      const struct faultloc_iface **found, char *error, size_t size)
{
    struct faultloc_inet inet;
    unsigned prefix;

    *found = by_name(list, value, strlen(value));
    if (*found)
        return 0;
    if (has_name(list, value))
        return complain(error, size, cvar, value, "that interface has no address to use", list);
    if (parse_subnet(value, &inet, &prefix)) {
        *found = by_subnet(list, &inet, prefix);
        return *found ? 0
                      : complain(error, size, cvar, value, "no interface is in that subnet", list);
    }
    return complain(error, size, cvar, value, "no interface has that name, and it is not a subnet",
                    list);
}

static const struct faultloc_iface *by_port(struct list list, const char *name, size_t len)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct faultloc_iface *f = &list.at[i];
        if (f->port[0] && strlen(f->port) == len && !memcmp(f->port, name, len) && is_usable(f))
            return f;
    }
    return NULL;
}

static const struct faultloc_iface *by_address(struct list list, const char *text, size_t len)
{
    char address[INET6_ADDRSTRLEN];
    struct faultloc_inet inet;
    unsigned prefix;

    if (len >= sizeof(address))
        return NULL;
    memcpy(address, text, len);
    address[len] = '\0';
    return parse_subnet(address, &inet, &prefix) ? by_subnet(list, &inet, prefix) : NULL;
}

/* Interfaces that containers and virtual machines on this host use among themselves. */
static bool is_virtual(const char *name)
{
    static const char *const prefixes[] = {"docker", "br-",  "virbr",  "veth",    "vnet",
                                           "cni",    "cali", "podman", "flannel", "lxc",
                                           "lxdbr",  "kube", "vmnet",  "tunl"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Whether an address may be taken without being asked for. */
static bool is_good(const struct faultloc_iface *f)
{
    return is_usable(f) && !is_link_local(&f->inet) && f->up && f->running && !f->loopback;
}

/* The first interface that a list like UCX_NET_DEVICES names.  A port number may follow a name.  What the
 * user has named is meant, what the transport has taken by itself must be good. */
static const struct faultloc_iface *find_device(struct list list, const char *devices, bool meant)
{
    const struct faultloc_iface *found = NULL;

    while (devices && *devices && *devices != '^' && !found) {
        size_t len = strcspn(devices, ",");
        size_t name = strcspn(devices, ":,");
        found = by_name(list, devices, len);
        if (!found)
            found = by_name(list, devices, name);
        if (!found)
            found = by_port(list, devices, len);
        if (!found)
            found = by_address(list, devices, len);
        if (found && !meant && (!is_good(found) || is_virtual(found->name)))
            found = NULL;
        devices += len + (devices[len] == ',');
    }
    return found;
}

/* Whether UCX_NET_DEVICES excludes the interface: "^eth0,eth1". */
static bool is_excluded(const char *devices, const char *name)
{
    size_t length = strlen(name);

    if (!devices || *devices != '^')
        return false;
    for (devices++; *devices; devices += strspn(devices, ",")) {
        size_t len = strcspn(devices, ",");
        if (length == strcspn(devices, ":,") && memcmp(devices, name, length) == 0)
            return true;
        devices += len;
    }
    return false;
}

/* The lower the better; see the head of base/iface.h. */
static unsigned data_rank(const struct faultloc_iface *f)
{
    return 4u * !f->infiniband + 2u * is_virtual(f->name) + (f->inet.family != AF_INET);
}

static const struct faultloc_iface *find_data(struct list list, const char *devices)
{
    const struct faultloc_iface *found = NULL;

    for (size_t i = 0; i < list.count; i++) {
        const struct faultloc_iface *f = &list.at[i];
        if (is_good(f) && !is_excluded(devices, f->name) &&
            (!found || data_rank(f) < data_rank(found)))
            found = f;
    }
    return found;
}

static const struct faultloc_iface *find_loopback(struct list list)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i].loopback && list.at[i].inet.family == AF_INET)
            return &list.at[i];
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i].loopback && is_usable(&list.at[i]))
            return &list.at[i];
    return NULL;
}

/* Whether f can be a way of its own beside the data path. */
static bool is_apart(const struct faultloc_iface *f, const struct faultloc_iface *data)
{
    unsigned prefix = f->prefix < data->prefix ? f->prefix : data->prefix;

    return strcmp(f->name, data->name) != 0 && !same_subnet(&f->inet, &data->inet, prefix);
}

static const struct faultloc_iface *find_mgmt(struct list list, const struct faultloc_iface *data)
{
    const struct faultloc_iface *found = NULL;

    for (size_t i = 0; i < list.count && !data->loopback; i++) {
        const struct faultloc_iface *f = &list.at[i];
        if (!is_good(f) || is_virtual(f->name) || !is_apart(f, data))
            continue;
        if (f->inet.family == data->inet.family)
            return f;
        if (!found)
            found = f;
    }
    return found;
}

static int choose_data(struct list list, const struct faultloc_iface_wish *wish,
                       const struct faultloc_iface **data, char *error, size_t size)
{
    if (is_given(wish->data))
        return find_named(list, DATA_CVAR, wish->data, data, error, size);
    *data = find_device(list, wish->taken, false);
    if (!*data)
        *data = find_device(list, wish->ucx_net_devices, true);
    if (!*data)
        *data = find_data(list, wish->ucx_net_devices);
    if (!*data)
        *data = find_loopback(list);
    if (*data)
        return 0;
    if (size > 0)
        error[0] = '\0';
    append(error, size, "no interface has an address to use");
    append_interfaces(error, size, list);
    return ENODEV;
}

static int choose_mgmt(struct list list, const struct faultloc_iface_wish *wish,
                       const struct faultloc_iface *data, const struct faultloc_iface **mgmt,
                       char *error, size_t size)
{
    int rc;

    *mgmt = NULL;
    if (!is_given(wish->mgmt)) {
        *mgmt = find_mgmt(list, data);
        return 0;
    }
    if (strcmp(wish->mgmt, "none") == 0)
        return 0;
    rc = find_named(list, MGMT_CVAR, wish->mgmt, mgmt, error, size);
    if (rc == 0 && faultloc_inet_equal(&(*mgmt)->inet, &data->inet)) {
        *mgmt = NULL;
        rc = complain(error, size, MGMT_CVAR, wish->mgmt, "that is the data path", list);
    }
    return rc;
}

int faultloc_iface_choose(const struct faultloc_iface *list, size_t count,
                          const struct faultloc_iface_wish *wish,
                          const struct faultloc_iface *chosen[FTREE_PATHS], char *error,
                          size_t size)
{
    const struct list all = {list, count};
    const struct faultloc_iface *data = NULL, *mgmt = NULL;
    int rc = choose_data(all, wish, &data, error, size);

    if (rc == 0)
        rc = choose_mgmt(all, wish, data, &mgmt, error, size);
    chosen[FTREE_PATH_DATA] = rc ? NULL : data;
    chosen[FTREE_PATH_MGMT] = rc ? NULL : mgmt;
    return rc;
}

/* ---- this host ----------------------------------------------------------------------------- */

static uint8_t prefix_of(const struct sockaddr *mask, uint16_t family)
{
    struct faultloc_inet inet;
    struct sockaddr_storage sa;
    uint16_t port;
    uint8_t bits = 0;

    if (!mask)
        return 0;
    /* The kernel may leave a mask's family unset; it is that of the address. */
    memset(&sa, 0, sizeof(sa));
    memcpy(&sa, mask, family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    sa.ss_family = family;
    faultloc_sockaddr_split((struct sockaddr *) &sa, &inet, &port);
    while (bits < inet_bits(&inet) && (inet.bytes[bits / 8] >> (7 - bits % 8) & 1))
        bits++;
    return bits;
}

static void fill_entry(const char *sys_root, const struct ifaddrs *from, struct faultloc_iface *to)
{
    uint16_t port;

    memset(to, 0, sizeof(*to));
    snprintf(to->name, sizeof(to->name), "%s", from->ifa_name);
    to->index = if_nametoindex(from->ifa_name);
    to->loopback = from->ifa_flags & IFF_LOOPBACK;
    to->up = from->ifa_flags & IFF_UP;
    to->running = from->ifa_flags & IFF_RUNNING;
    if (from->ifa_addr)
        faultloc_sockaddr_split(from->ifa_addr, &to->inet, &port);
    if (to->inet.family)
        to->prefix = prefix_of(from->ifa_netmask, to->inet.family);
    faultloc_port_of_iface(sys_root, to->name, to->port);
    to->infiniband = to->port[0] && faultloc_port_is_infiniband(sys_root, to->port);
}

static bool has_address(const struct ifaddrs *all, const char *name)
{
    for (const struct ifaddrs *a = all; a; a = a->ifa_next)
        if (a->ifa_addr && strcmp(a->ifa_name, name) == 0 &&
            (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6))
            return true;
    return false;
}

/* getifaddrs() lists each address, and each interface once more without one (AF_PACKET). */
static bool is_wanted(const struct ifaddrs *all, const struct ifaddrs *a)
{
    int family = a->ifa_addr ? a->ifa_addr->sa_family : AF_UNSPEC;

    return family == AF_INET || family == AF_INET6 || !has_address(all, a->ifa_name);
}

/* By index; addresses of one interface stay in the kernel's order. */
static void sort_by_index(struct faultloc_iface *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct faultloc_iface moving = list[i];
        size_t j = i;
        for (; j > 0 && list[j - 1].index > moving.index; j--)
            list[j] = list[j - 1];
        list[j] = moving;
    }
}

int faultloc_iface_list(const char *sys_root, struct faultloc_iface *list, size_t room,
                        size_t *count)
{
    struct ifaddrs *all;

    *count = 0;
    if (getifaddrs(&all) < 0)
        return errno;
    for (const struct ifaddrs *a = all; a && *count < room; a = a->ifa_next)
        if (is_wanted(all, a))
            fill_entry(sys_root, a, &list[(*count)++]);
    freeifaddrs(all);
    sort_by_index(list, *count);
    return 0;
}

int faultloc_iface_find(const struct faultloc_iface_wish *wish,
                        struct faultloc_iface found[FTREE_PATHS], char *error, size_t size)
{
    struct faultloc_iface list[FAULTLOC_IFACES_MAX];
    const struct faultloc_iface *chosen[FTREE_PATHS];
    size_t count;
    int rc = faultloc_iface_list(wish->sys_root, list, FAULTLOC_IFACES_MAX, &count);

    memset(found, 0, FTREE_PATHS * sizeof(*found));
    if (rc) {
        snprintf(error, size, "cannot list this host's interfaces: %s", strerror(rc));
        return rc;
    }
    rc = faultloc_iface_choose(list, count, wish, chosen, error, size);
    for (unsigned path = 0; path < FTREE_PATHS; path++)
        if (chosen[path])
            found[path] = *chosen[path];
    if (!found[FTREE_PATH_DATA].port[0])
        faultloc_port_named(wish->sys_root, wish->taken, found[FTREE_PATH_DATA].port);
    if (!found[FTREE_PATH_DATA].port[0])
        faultloc_port_named(wish->sys_root, wish->ucx_net_devices, found[FTREE_PATH_DATA].port);
    return rc;
}

/* It becomes part of a path. */
static bool is_name(const char *name)
{
    return name[0] && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

uint32_t faultloc_iface_speed(const char *sys_root, const char *name)
{
    const char *sys = sys_root ? sys_root : "/sys";
    uint64_t mbps = is_name(name) ? faultloc_text_number(sys, "class/net/%s/speed", name) : 0;

    return mbps < INT32_MAX ? (uint32_t) mbps : 0; /* "-1": not known */
}

/* The only one that more than half of the others can have (Boyer and Moore's vote). */
static uint32_t speed_of_most(const struct faultloc_address *table, int32_t nodes, int32_t self)
{
    uint32_t most = 0;
    int32_t ahead = 0;

    for (int32_t n = 0; n < nodes; n++) {
        if (n == self)
            continue;
        if (ahead == 0)
            most = table[n].mbps;
        ahead += table[n].mbps == most ? 1 : -1;
    }
    return most;
}

uint32_t faultloc_iface_speed_due(const struct faultloc_address *table, int32_t nodes, int32_t self)
{
    uint32_t most = speed_of_most(table, nodes, self);
    int64_t same = 0;

    for (int32_t n = 0; n < nodes; n++)
        same += n != self && table[n].mbps == most;
    return most && same >= 3 && same * 4 >= ((int64_t) nodes - 1) * 3 ? most : table[self].mbps;
}

enum ftree_link faultloc_iface_link(const char *name)
{
    struct ifreq request;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int rc;

    if (fd < 0)
        return FTREE_LINK_UNKNOWN;
    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    rc = ioctl(fd, SIOCGIFFLAGS, &request) < 0 ? errno : 0;
    close(fd);
    if (rc)
        return rc == ENODEV ? FTREE_LINK_GONE : FTREE_LINK_UNKNOWN;
    if (!(request.ifr_flags & IFF_UP))
        return FTREE_LINK_DOWN;
    return request.ifr_flags & IFF_RUNNING ? FTREE_LINK_UP : FTREE_LINK_NO_CARRIER;
}
