/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Ports of adapters, as sysfs has them. */

#include "faultloc/base/port.h"
#include "files.h"
#include "suite.h"

#include <string.h>

#define PORT "class/infiniband/mlx5_0/ports/1/"

BEFORE_EACH
{
    files_begin();
    files_write(PORT "state", "4: ACTIVE\n");
}

static const struct {
    const char *state;
    enum ftree_link link;
} states[] = {{"1: DOWN\n", FTREE_LINK_NO_CARRIER},    {"2: INIT\n", FTREE_LINK_NO_CARRIER},
              {"3: ARMED\n", FTREE_LINK_NO_CARRIER},   {"4: ACTIVE\n", FTREE_LINK_UP},
              {"5: ACTIVE_DEFER\n", FTREE_LINK_UP},    {"0: NOP\n", FTREE_LINK_UNKNOWN},
              {"ACTIVE\n", FTREE_LINK_UNKNOWN},        {"", FTREE_LINK_UNKNOWN}};

TEST_CASES(its_link, COUNT(states))
{
    files_write(PORT "state", states[_i].state);
    ck_assert_int_eq(faultloc_port_link(files_root, "mlx5_0:1"), states[_i].link);
}

static const struct {
    const char *rate;
    uint32_t mbps;
} rates[] = {{"100 Gb/sec (4X EDR)\n", 100000}, {"2.5 Gb/sec (1X SDR)\n", 2500},
             {"400 Gb/sec (4X NDR)", 400000},   {"10 Gb/sec", 10000},
             {"2. Gb/sec\n", 0},                {"100\n", 0},
             {"-1 Gb/sec\n", 0},                {"99999999999999999999 Gb/sec\n", 0},
             {"", 0}};

TEST_CASES(its_speed, COUNT(rates))
{
    files_write(PORT "rate", rates[_i].rate);
    ck_assert_uint_eq(faultloc_port_speed(files_root, "mlx5_0:1"), rates[_i].mbps);
}

static const char *const bad[] = {"", "mlx5_0", "mlx5_0:", ":1", "mlx5_0:0", "mlx5_0:256",
                                  "mlx5_0:1x", "mlx5_0:2", "mlx5_1:1", "../infiniband/mlx5_0:1",
                                  "..:1", "a_name_that_is_longer_than_any_device:1",
                                  "mlx5_0:00000000001"};

TEST_CASES(what_is_not_there, COUNT(bad))
{
    char name[FAULTLOC_PORT_SIZE], words[64];

    files_write(PORT "rate", "100 Gb/sec (4X EDR)\n");
    ck_assert_int_ne(faultloc_port_link(files_root, bad[_i]), FTREE_LINK_UP);
    ck_assert_uint_eq(faultloc_port_speed(files_root, bad[_i]), 0);
    ck_assert(faultloc_port_counter(files_root, bad[_i], "link_downed") == UINT64_MAX);
    ck_assert(!faultloc_port_is_infiniband(files_root, bad[_i]));
    faultloc_port_words(files_root, bad[_i], words, sizeof(words));
    ck_assert_str_eq(words, "");
    faultloc_port_named(files_root, bad[_i], name);
    ck_assert_str_eq(name, "");
}

TEST_CASE(one_that_was_taken_out_is_gone)
{
    ck_assert_int_eq(faultloc_port_link(files_root, "mlx5_1:1"), FTREE_LINK_GONE);
}

static const struct {
    const char *devices, *port;
} named[] = {{"mlx5_0:1", "mlx5_0:1"},         {"ib0,mlx5_9:1,mlx5_0:1", "mlx5_0:1"},
             {"mlx5_0:01", "mlx5_0:1"},        {"^mlx5_0:1", ""},
             {"all", ""},                      {",,", ""},
             {NULL, ""}};

TEST_CASES(named_for_ucx, COUNT(named))
{
    char name[FAULTLOC_PORT_SIZE];

    faultloc_port_named(files_root, named[_i].devices, name);
    ck_assert_str_eq(name, named[_i].port);
}

TEST_CASE(of_an_interface)
{
    char name[FAULTLOC_PORT_SIZE];

    faultloc_port_of_iface(files_root, "ib0", name);
    ck_assert_str_eq(name, "");
    files_write("class/net/ib0/device/infiniband/mlx5_0/node_type", "1: CA\n");
    faultloc_port_of_iface(files_root, "ib0", name);
    ck_assert_str_eq(name, "mlx5_0:1");
    files_write("class/net/ib0/dev_port", "1\n"); /* the second, which is not there */
    faultloc_port_of_iface(files_root, "ib0", name);
    ck_assert_str_eq(name, "");
    files_write("class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
    faultloc_port_of_iface(files_root, "ib0", name);
    ck_assert_str_eq(name, "mlx5_0:2");
    faultloc_port_of_iface(files_root, "../net/ib0", name);
    ck_assert_str_eq(name, "");
}

static const struct {
    const char *lid, *gid;
    unsigned lid_is;
    uint64_t guid;
} numbers[] = {
    {"0x11\n", "fe80:0000:0000:0000:506b:4b03:00c3:b1a2\n", 17, 0x506b4b0300c3b1a2},
    {"0x0\n", "0000:0000:0000:0000:0000:0000:0000:0000\n", 0, 0},
    {"0x1ffff\n", "fe80:0000:0000:0000:506b:4b03:00c3\n", 0, 0},
    {"x\n", "fe80::1\n", 0, 0},
    {"", "", 0, 0},
};

TEST_CASES(numbers_of_a_subnet_manager, COUNT(numbers))
{
    files_write(PORT "lid", numbers[_i].lid);
    files_write(PORT "gids/0", numbers[_i].gid);
    files_write(PORT "link_layer", "InfiniBand\n");
    ck_assert_uint_eq(faultloc_port_lid(files_root, "mlx5_0:1"), numbers[_i].lid_is);
    ck_assert(faultloc_port_guid(files_root, "mlx5_0:1") == numbers[_i].guid);
    ck_assert_uint_eq(faultloc_port_lid(files_root, "mlx5_0:2"), 0);
    files_write(PORT "link_layer", "Ethernet\n"); /* RoCE's is made of an address */
    ck_assert(faultloc_port_guid(files_root, "mlx5_0:1") == 0);
}

TEST_CASE(counters_and_words)
{
    char words[64];

    files_write(PORT "counters/symbol_error", "17\n");
    files_write(PORT "counters/link_downed", "17x\n");
    files_write(PORT "phys_state", "2: Polling\n");
    files_write(PORT "state", "1: DOWN\n");
    files_write(PORT "link_layer", "InfiniBand\n");
    ck_assert(faultloc_port_counter(files_root, "mlx5_0:1", "symbol_error") == 17);
    ck_assert(faultloc_port_counter(files_root, "mlx5_0:1", "link_downed") == UINT64_MAX);
    ck_assert(faultloc_port_is_infiniband(files_root, "mlx5_0:1"));
    faultloc_port_words(files_root, "mlx5_0:1", words, sizeof(words));
    ck_assert_str_eq(words, "DOWN, Polling");
}
