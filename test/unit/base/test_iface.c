/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Which interfaces become the two paths.  A host is a string, an interface a word:
 *
 *     NAME=ADDRESS/PREFIX[/FLAGS]     flags: d down, n no carrier, l loopback, i on InfiniBand port
 *                                     mlx5_0:1, r on another port, rxe0:1
 *
 * so that each rule is one line of a table.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/iface.h"
#include "faultloc/base/sock.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>

#define LO "lo=127.0.0.1/8/l lo=::1/128/l "
#define TWO LO "eth0=10.0.0.1/24 eth1=10.1.0.1/24"

/* "NAME=ADDRESS/PREFIX[/FLAGS]" or "NAME=/0" for an interface without an address. */
static void parse_iface(char *word, unsigned index, struct faultloc_iface *f)
{
    char *address = strchr(word, '='), *prefix, *flags;

    memset(f, 0, sizeof(*f));
    *address++ = '\0';
    prefix = strchr(address, '/');
    *prefix++ = '\0';
    flags = strchrnul(prefix, '/');
    snprintf(f->name, sizeof(f->name), "%s", word);
    f->index = index;
    f->up = !strchr(flags, 'd');
    f->running = f->up && !strchr(flags, 'n');
    f->loopback = strchr(flags, 'l') != NULL;
    f->infiniband = strchr(flags, 'i');
    if (f->infiniband || strchr(flags, 'r'))
        snprintf(f->port, sizeof(f->port), "%s", f->infiniband ? "mlx5_0:1" : "rxe0:1");
    f->prefix = (uint8_t) atoi(prefix);
    if (*address) {
        f->inet.family = strchr(address, ':') ? AF_INET6 : AF_INET;
        ck_assert_int_eq(inet_pton(f->inet.family, address, f->inet.bytes), 1);
    }
}

static size_t parse_host(const char *host, struct faultloc_iface *list, size_t room)
{
    char text[1024], *rest = text, *word;
    size_t count = 0;

    snprintf(text, sizeof(text), "%s", host);
    while ((word = strsep(&rest, " ")) && count < room)
        if (*word) {
            parse_iface(word, (unsigned) count + 1, &list[count]);
            count++;
        }
    return count;
}

/* "eth0 10.0.0.1" */
static const char *text_of(const struct faultloc_iface *f, char *text, size_t size)
{
    char address[FAULTLOC_ADDRESS_TEXT];

    if (f)
        snprintf(text, size, "%s %s", f->name,
                 faultloc_inet_text(&f->inet, address, sizeof(address)));
    else
        snprintf(text, size, "none");
    return text;
}

static const struct {
    const char *host;
    const char *data_wish, *mgmt_wish, *ucx;
    const char *data, *mgmt; /* data NULL: an error that says `mgmt` */
} choose_table[] = {
    /* found by itself */
    {TWO, NULL, NULL, NULL, "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO, "", "", "", "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {LO "eth0=10.0.0.1/24", NULL, NULL, NULL, "eth0 10.0.0.1", "none"},
    {LO, NULL, NULL, NULL, "lo 127.0.0.1", "none"},
    {"lo=::1/128/l", NULL, NULL, NULL, "lo ::1", "none"},
    {LO "eth0=fd00::1/64 eth1=10.1.0.1/24", NULL, NULL, NULL, "eth1 10.1.0.1", "eth0 fd00::1"},
    {LO "eth0=fd00::1/64 eth1=fd01::1/64", NULL, NULL, NULL, "eth0 fd00::1", "eth1 fd01::1"},
    {LO "eth0=fe80::1/64 eth0=10.0.0.1/24", NULL, NULL, NULL, "eth0 10.0.0.1", "none"},
    {LO "eth0=fe80::1/64", NULL, NULL, NULL, "lo 127.0.0.1", "none"},
    {LO "eth0=169.254.3.4/16 eth1=10.1.0.1/24", NULL, NULL, NULL, "eth1 10.1.0.1", "none"},
    {LO "eth0=10.0.0.1/24/d eth1=10.1.0.1/24", NULL, NULL, NULL, "eth1 10.1.0.1", "none"},
    {LO "eth0=10.0.0.1/24/n eth1=10.1.0.1/24", NULL, NULL, NULL, "eth1 10.1.0.1", "none"},
    {LO "eth0=/0 eth1=10.1.0.1/24", NULL, NULL, NULL, "eth1 10.1.0.1", "none"},
    /* containers' interfaces come last, and never are the management path */
    {LO "docker0=172.17.0.1/16 eth0=10.0.0.1/24", NULL, NULL, NULL, "eth0 10.0.0.1", "none"},
    {LO "virbr0=192.168.122.1/24 eth0=10.0.0.1/24 veth12=10.9.0.1/24 br-77=172.18.0.1/16", NULL,
     NULL, NULL, "eth0 10.0.0.1", "none"},
    {LO "docker0=172.17.0.1/16 eth0=fd00::1/64", NULL, NULL, NULL, "eth0 fd00::1", "none"},
    {LO "docker0=172.17.0.1/16", NULL, NULL, NULL, "docker0 172.17.0.1", "none"},
    {LO "br0=10.0.0.1/24 eth1=10.1.0.1/24", NULL, NULL, NULL, "br0 10.0.0.1", "eth1 10.1.0.1"},
    /* the management path is apart from the data path */
    {LO "eth0=10.0.0.1/24 eth1=10.0.0.2/24 eth2=10.2.0.1/24", NULL, NULL, NULL, "eth0 10.0.0.1",
     "eth2 10.2.0.1"},
    {LO "eth0=10.0.0.1/24 eth0=10.7.0.1/24", NULL, NULL, NULL, "eth0 10.0.0.1", "none"},
    {LO "eth0=10.0.0.1/8 eth1=10.1.0.1/24", NULL, NULL, NULL, "eth0 10.0.0.1", "none"},
    {LO "eth0=10.0.0.1/24 eth1=fd01::1/64 eth2=10.2.0.1/24", NULL, NULL, NULL, "eth0 10.0.0.1",
     "eth2 10.2.0.1"},
    {LO "eth0=10.0.0.1/24 eth1=10.1.0.1/24/d eth2=10.2.0.1/24/n", NULL, NULL, NULL, "eth0 10.0.0.1",
     "none"},
    /* UCX_NET_DEVICES */
    {TWO, NULL, NULL, "eth1", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, NULL, NULL, "all", "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO, NULL, NULL, "mlx5_0:1", "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO, NULL, NULL, "mlx5_0:1,eth1", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, NULL, NULL, "eth1:1,eth0", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, NULL, NULL, ",,,eth1", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, NULL, NULL, "eth", "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO, NULL, NULL, "eth11", "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO, NULL, NULL, "^eth0", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, NULL, NULL, "^mlx5_0:1,eth0:1", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, NULL, NULL, "lo", "lo 127.0.0.1", "none"},
    {LO "docker0=172.17.0.1/16 eth0=10.0.0.1/24", NULL, NULL, "docker0", "docker0 172.17.0.1",
     "eth0 10.0.0.1"},
    /* adapters */
    {TWO " ib0=10.2.0.1/24/i", NULL, NULL, NULL, "ib0 10.2.0.1", "eth0 10.0.0.1"},
    {TWO " ib0=10.2.0.1/24/i", NULL, NULL, "eth1", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO " ib0=10.2.0.1/24/in", NULL, NULL, NULL, "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO " eth2=10.2.0.1/24/r", NULL, NULL, NULL, "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO " eth2=10.2.0.1/24/r", NULL, NULL, "rxe0:1", "eth2 10.2.0.1", "eth0 10.0.0.1"},
    {TWO " eth2=10.2.0.1/24/r", NULL, NULL, "rxe0", "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO " ib0=/0/i", NULL, NULL, "mlx5_0:1", "eth0 10.0.0.1", "eth1 10.1.0.1"},
    /* by name, by subnet, by address */
    {TWO, "eth1", NULL, "eth0", "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, "10.1.0.0/16", NULL, NULL, "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, "10.1.0.1", NULL, NULL, "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, "0.0.0.0/0", NULL, NULL, "lo 127.0.0.1", "none"},
    {TWO, "10.0.0.0/23", "10.1.0.0/31", NULL, "eth0 10.0.0.1", "eth1 10.1.0.1"},
    {TWO, "eth1", "eth0", NULL, "eth1 10.1.0.1", "eth0 10.0.0.1"},
    {TWO, NULL, "none", NULL, "eth0 10.0.0.1", "none"},
    {TWO, "lo", "eth0", NULL, "lo 127.0.0.1", "eth0 10.0.0.1"},
    {LO "eth0=fd00::1/64 eth0=10.0.0.1/24", "eth0", NULL, NULL, "eth0 10.0.0.1", "none"},
    {LO "eth0=fd00::1/64 eth0=10.0.0.1/24", "fd00::/16", NULL, NULL, "eth0 fd00::1", "none"},
    {LO "eth0=fd00:a::1/64 eth1=fd00:b::1/64", "fd00:b::/33", NULL, NULL, "eth1 fd00:b::1",
     "eth0 fd00:a::1"},
    {LO "eth0=169.254.3.4/16", "eth0", NULL, NULL, "eth0 169.254.3.4", "none"},
    {LO "eth0=10.0.0.1/24/d", "eth0", NULL, NULL, "eth0 10.0.0.1", "none"},
    /* errors */
    {"", NULL, NULL, NULL, NULL, "no interface has an address to use; this host has no interfaces"},
    {"eth0=/0 eth1=fe80::1/64/d", NULL, NULL, NULL, NULL,
     "no interface has an address to use; this host has eth0 (no address), eth1 fe80::1/64 "
     "(down)"},
    {TWO, "ib0", NULL, NULL, NULL,
     "MPIR_CVAR_FAULTLOC_DATA_IFACE=ib0: no interface has that name, and it is not a subnet; this "
     "host has lo 127.0.0.1/8, lo ::1/128, eth0 10.0.0.1/24, eth1 10.1.0.1/24"},
    {"eth0=10.0.0.1/24", NULL, "ib0", NULL, NULL,
     "MPIR_CVAR_FAULTLOC_MGMT_IFACE=ib0: no interface has that name, and it is not a subnet; this "
     "host has eth0 10.0.0.1/24"},
    {"eth0=10.0.0.1/24", "10.9.0.0/16", NULL, NULL, NULL,
     "MPIR_CVAR_FAULTLOC_DATA_IFACE=10.9.0.0/16: no interface is in that subnet; this host has "
     "eth0 10.0.0.1/24"},
    {"eth0=10.0.0.1/24", NULL, "eth0", NULL, NULL,
     "MPIR_CVAR_FAULTLOC_MGMT_IFACE=eth0: that is the data path; this host has eth0 "
     "10.0.0.1/24"},
    {"eth0=/0", "eth0", NULL, NULL, NULL,
     "MPIR_CVAR_FAULTLOC_DATA_IFACE=eth0: that interface has no address to use; this host has "
     "eth0 (no address)"},
    {"eth0=fe80::1/64", "eth0", NULL, NULL, NULL,
     "MPIR_CVAR_FAULTLOC_DATA_IFACE=eth0: that interface has no address to use; this host has "
     "eth0 fe80::1/64"},
#define NONE_OF(text) \
    { \
        "eth0=10.0.0.1/24", text, NULL, NULL, NULL, \
            "MPIR_CVAR_FAULTLOC_DATA_IFACE=" text \
            ": no interface has that name, and it is not a subnet; this host has eth0 10.0.0.1/24" \
    }
    NONE_OF("10.0.0.0/33"),
    NONE_OF("10.0.0.0/"),
    NONE_OF("10.0.0.0/ 8"),
    NONE_OF("10.0.0.0/-8"),
    NONE_OF("10.0.0.0/8x"),
    NONE_OF("10.0.0/8"),
    NONE_OF("/8"),
    NONE_OF("eth0 "),
    NONE_OF("::/129"),
    NONE_OF("1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111/8"),
};

TEST_CASES(choose, COUNT(choose_table))
{
    struct faultloc_iface list[16];
    const struct faultloc_iface *chosen[FTREE_PATHS];
    struct faultloc_iface_wish wish = {.data = choose_table[_i].data_wish,
                                       .mgmt = choose_table[_i].mgmt_wish,
                                       .ucx_net_devices = choose_table[_i].ucx};
    size_t count = parse_host(choose_table[_i].host, list, 16);
    char error[512] = "", text[128];
    int rc = faultloc_iface_choose(list, count, &wish, chosen, error, sizeof(error));

    if (choose_table[_i].data) {
        ck_assert_msg(rc == 0, "%s", error);
        ck_assert_str_eq(text_of(chosen[FTREE_PATH_DATA], text, sizeof(text)),
                         choose_table[_i].data);
        ck_assert_str_eq(text_of(chosen[FTREE_PATH_MGMT], text, sizeof(text)),
                         choose_table[_i].mgmt);
    } else {
        ck_assert_int_ne(rc, 0);
        ck_assert_ptr_null(chosen[FTREE_PATH_DATA]);
        ck_assert_str_eq(error, choose_table[_i].mgmt);
    }
}

static const struct {
    const char *host, *data_wish, *taken, *ucx, *data;
} taken_table[] = {
    {TWO, NULL, "eth1", "eth0", "eth1 10.1.0.1"},
    {TWO, "eth0", "eth1", NULL, "eth0 10.0.0.1"}, /* who names one means it */
    {TWO, NULL, "memory,self,eth1,eth0", NULL, "eth1 10.1.0.1"},
    {TWO, NULL, "10.1.0.1,eth0", NULL, "eth1 10.1.0.1"},
    {TWO, NULL, "10.1.0.9,psm2", "eth1", "eth1 10.1.0.1"}, /* none of this host's */
    {TWO, NULL, "", "eth1", "eth1 10.1.0.1"},
    {TWO, NULL, "lo,eth1", NULL, "eth1 10.1.0.1"}, /* no other host is reached by it */
    {TWO, NULL, "127.0.0.1,lo", NULL, "eth0 10.0.0.1"},
    {TWO, NULL, "lo", "lo", "lo 127.0.0.1"},
    /* nor by these, nor is one that is down a way to anybody */
    {TWO " ib0=10.2.0.1/24/di", NULL, "mlx5_0:1,eth1", NULL, "eth1 10.1.0.1"},
    {TWO " ib0=10.2.0.1/24/ni", NULL, "mlx5_0:1", NULL, "eth0 10.0.0.1"},
    {TWO " docker0=172.17.0.1/16", NULL, "docker0,eth1", NULL, "eth1 10.1.0.1"},
    {TWO " docker0=172.17.0.1/16", NULL, "docker0", "docker0", "docker0 172.17.0.1"},
    {TWO " idrac=169.254.0.2/16", NULL, "idrac,eth1", NULL, "eth1 10.1.0.1"},
    {TWO " idrac=169.254.0.2/16", NULL, "169.254.0.2,idrac", NULL, "eth0 10.0.0.1"},
    {TWO " ib0=fd00::1/64/i", NULL, "fd00::1,mlx5_0", NULL, "ib0 fd00::1"},
    {TWO " ib0=10.2.0.1/24/i", NULL, "mlx5_0:1,eth0", NULL, "ib0 10.2.0.1"},
    {TWO, NULL, "1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111", NULL, "eth0 10.0.0.1"},
};

TEST_CASES(what_the_transport_has_taken, COUNT(taken_table))
{
    struct faultloc_iface list[16];
    const struct faultloc_iface *chosen[FTREE_PATHS];
    struct faultloc_iface_wish wish = {.data = taken_table[_i].data_wish,
                                       .taken = taken_table[_i].taken,
                                       .ucx_net_devices = taken_table[_i].ucx};
    size_t count = parse_host(taken_table[_i].host, list, 16);
    char error[512] = "", text[128];

    ck_assert_int_eq(faultloc_iface_choose(list, count, &wish, chosen, error, sizeof(error)), 0);
    ck_assert_str_eq(text_of(chosen[FTREE_PATH_DATA], text, sizeof(text)), taken_table[_i].data);
}

/* A text that does not fit is cut, not written past its end. */
TEST_CASE(error_that_does_not_fit)
{
    struct faultloc_iface list[16];
    const struct faultloc_iface *chosen[FTREE_PATHS];
    struct faultloc_iface_wish wish = {.data = "ib0"};
    size_t count = parse_host(TWO, list, 16);
    char whole[512];

    ck_assert_int_eq(faultloc_iface_choose(list, count, &wish, chosen, whole, sizeof(whole)),
                     EINVAL);
    for (size_t size = 0; size < sizeof(whole); size++) {
        char *error = malloc(size ? size : 1);
        ck_assert_int_eq(faultloc_iface_choose(list, count, &wish, chosen, error, size), EINVAL);
        if (size > 0) {
            ck_assert_uint_lt(strlen(error), size);
            ck_assert_int_eq(strncmp(error, whole, strlen(error)), 0);
        }
        free(error);
    }
}

TEST_CASE(this_host)
{
    struct faultloc_iface list[FAULTLOC_IFACES_MAX], found[FTREE_PATHS];
    struct faultloc_iface_wish wish = {.data = "lo", .mgmt = "none"};
    bool loopback = false;
    char error[512];
    size_t count;

    ck_assert_int_eq(faultloc_iface_list(NULL, list, FAULTLOC_IFACES_MAX, &count), 0);
    for (size_t i = 0; i < count; i++) {
        ck_assert(i == 0 || list[i - 1].index <= list[i].index);
        loopback |= list[i].loopback && list[i].inet.family == AF_INET && list[i].prefix == 8;
    }
    ck_assert(loopback);
    ck_assert_int_eq(faultloc_iface_find(&wish, found, error, sizeof(error)), 0);
    ck_assert_str_eq(found[FTREE_PATH_DATA].name, "lo");
    ck_assert_int_eq(found[FTREE_PATH_DATA].inet.family, AF_INET);
    ck_assert_int_eq(found[FTREE_PATH_DATA].inet.bytes[0], 127);
    ck_assert_int_eq(found[FTREE_PATH_MGMT].inet.family, 0);
    wish.data = "nosuchiface";
    ck_assert_int_eq(faultloc_iface_find(&wish, found, error, sizeof(error)), EINVAL);
    ck_assert_ptr_nonnull(strstr(error, "lo 127.0.0.1/8"));
    ck_assert_int_eq(faultloc_iface_list(NULL, list, 1, &count), 0);
    ck_assert_uint_eq(count, 1);
}

TEST_CASE(state_of_an_interface)
{
    ck_assert_int_eq(faultloc_iface_link("lo"), FTREE_LINK_UP);
    ck_assert_int_eq(faultloc_iface_link("nosuchiface"), FTREE_LINK_GONE);
    ck_assert_int_eq(faultloc_iface_link("a name longer than any interface has"),
                     FTREE_LINK_GONE);
    ck_assert_int_eq(faultloc_iface_link(""), FTREE_LINK_GONE);
}

/* ---- the speed ------------------------------------------------------------------------------- */

static const struct {
    const char *what;
    uint32_t mbps[5]; /* of node 0, which asks, and of the others */
    uint32_t due;
} speeds[] = {
    {"as the others", {100, 100, 100, 100, 100}, 100},
    {"trained low before the job", {50, 100, 100, 100, 100}, 100},
    {"three of four", {50, 100, 25, 100, 100}, 100},
    {"half of them", {50, 100, 25, 25, 100}, 50},
    {"of many kinds", {50, 100, 25, 10, 40}, 50},
    {"faster than the others", {100, 50, 50, 50, 50}, 50},
    {"not known of the others", {100, 0, 0, 0, 0}, 100},
    {"not known", {0, 0, 0, 0, 0}, 0},
};

TEST_CASES(the_speed_that_a_port_should_have, COUNT(speeds))
{
    struct faultloc_address table[5];

    for (int n = 0; n < 5; n++)
        table[n] = (struct faultloc_address){.mbps = speeds[_i].mbps[n]};
    ck_assert_msg(faultloc_iface_speed_due(table, 5, 0) == speeds[_i].due, "%s", speeds[_i].what);
    /* two others are too few */
    ck_assert_uint_eq(faultloc_iface_speed_due(table, 3, 0), speeds[_i].mbps[0]);
}
