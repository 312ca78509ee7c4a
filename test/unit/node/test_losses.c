/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What an interface has lost since the job began: from a driver that the test makes up, from made-up
 * files, and of this machine.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/node/losses.h"
#include "suite.h"

#include "files.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <stdlib.h>

#define NOW (5000 * FTREE_MS)
#define LATER (17000 * FTREE_MS)
#define MOST 1100 /* more than are kept */
#define PORT "sys/class/infiniband/mlx5_0/ports/1/"

static char proc[80], sys[80];
static struct faultloc_losses losses;
static uint8_t link;
static struct ftree_node_state s;

/* ---- a driver ---------------------------------------------------------------------------------- */

static struct {
    int asked; /* how often */
    int error; /* what asking returns */
    uint64_t mask; /* which sets it says it has */
    uint32_t says, strings, values; /* how many there are, as each command has it */
    char name[MOST][ETH_GSTRING_LEN];
    uint64_t value[MOST];
} driver;

static int ethtool(const char *iface, void *command)
{
    struct ethtool_sset_info *info = command;
    struct ethtool_gstrings *strings = command;
    struct ethtool_stats *stats = command;

    ck_assert_str_eq(iface, "eth0");
    driver.asked++;
    if (info->cmd == ETHTOOL_GSSET_INFO) {
        info->sset_mask = driver.mask;
        memcpy((char *) command + sizeof(*info), &driver.says, sizeof(driver.says));
    } else if (strings->cmd == ETHTOOL_GSTRINGS) {
        ck_assert_uint_eq(strings->string_set, ETH_SS_STATS);
        strings->len = driver.strings;
        memcpy(strings->data, driver.name, sizeof(driver.name));
    } else {
        ck_assert_uint_eq(stats->cmd, ETHTOOL_GSTATS);
        stats->n_stats = driver.values;
        memcpy(stats->data, driver.value, sizeof(driver.value));
    }
    return driver.error;
}

static void counts(int i, const char *name, uint64_t value)
{
    memcpy(driver.name[i], name, strnlen(name, ETH_GSTRING_LEN));
    driver.value[i] = value;
    if (driver.says < (uint32_t) i + 1)
        driver.says = driver.strings = driver.values = (uint32_t) i + 1;
}

BEFORE_EACH
{
    files_begin();
    snprintf(proc, sizeof(proc), "%s/proc", files_root);
    snprintf(sys, sizeof(sys), "%s/sys", files_root);
    memset(&driver, 0, sizeof(driver));
    driver.mask = 1ull << ETH_SS_STATS;
    link = FTREE_LINK_UP;
    losses = (struct faultloc_losses){.proc_root = proc,
                                      .sys_root = sys,
                                      .iface = "eth0",
                                      .port = "",
                                      .link = &link,
                                      .ethtool = ethtool,
                                      .patience = 600000 * FTREE_MS};
}

static const char *told(void)
{
    memset(&s, 'x', sizeof(s));
    faultloc_losses_read(&losses, LATER, &s);
    free(losses.first);
    losses.first = NULL;
    return s.losses;
}

/* ---- names --------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *meaning; /* NULL: it is no loss; "": none is given */
} names[] = {
    /* mlx5 */
    {"rx_crc_errors_phy", "frames damaged on the wire"},
    {"rx_symbol_err_phy", "frames damaged on the wire"},
    {"rx_pcs_symbol_err_phy", "frames damaged on the wire"},
    {"rx_discards_phy", "no room for frames"},
    {"rx_out_of_buffer", "no room for frames"},
    {"rx_oversize_pkts_phy", "frames larger than this end takes"},
    {"link_down_events_phy", "the link was lost"},
    {"rx_prio3_pause", NULL},
    {"rx_err_lane_2_phy", NULL},
    {"rx_corrected_bits_phy", NULL},
    {"rx_arfs_err", NULL},
    {"tx_tls_drop_bypass_req", NULL},
    {"tx_hwtstamp_timeouts", NULL},
    {"rx_steer_missed_packets", NULL},
    {"rx3_xdp_drop", NULL},
    {"rx_packets_phy", NULL},
    {"tx_bytes", NULL},
    /* i40e, ice */
    {"port.rx_crc_errors", "frames damaged on the wire"},
    {"rx_crc_errors.nic", "frames damaged on the wire"},
    {"illegal_bytes.nic", "frames damaged on the wire"},
    {"port.mac_local_faults", "the link was lost"},
    {"mac_remote_faults.nic", "the link was lost"},
    {"port.rx_oversize", "frames larger than this end takes"},
    {"port.link_xoff_rx", NULL},
    {"rx_dropped.nic", "no room for frames"},
    {"port.tx_timeout", ""},
    {"rx_fec_uncorrectable_err.nic", "frames damaged on the wire"},
    {"rx_csum_err", NULL},
    {"adminq_timeouts", NULL},
    {"port.rx_size_64", NULL},
    /* bnxt */
    {"rx_fec_uncorrectable_blocks", "frames damaged on the wire"},
    {"rx_fcs_err_frames", "frames damaged on the wire"},
    {"rx_jbr_frames", "frames damaged on the wire"},
    {"[0]: rx_discards", "no room for frames"},
    {"rx_ovrsz_frames", "frames larger than this end takes"},
    {"rx_good_frames", NULL},
    /* ena, virtio_net, veth */
    {"bw_in_allowance_exceeded", ""},
    {"queue_0_tx_missed_tx", NULL},
    {"queue_3_tx_unmask_interrupt", NULL},
    {"total_missed_irqs", NULL},
    {"rx_missed_errors", "no room for frames"},
    {"dot3StatsDeferredTransmissions", NULL},
    {"rx_queue_0_drops", "no room for frames"},
    {"rx_queue_0_xdp_drops", NULL},
    {"peer_ifindex", NULL},
    {"rx_errors", ""},
};

TEST_CASES(a_name_means, COUNT(names))
{
    char text[128];

    counts(0, "rx_packets", 7);
    counts(1, names[_i].name, 1000);
    faultloc_losses_begin(&losses, NOW);
    driver.value[0] += 500;
    driver.value[1] += 41;
    snprintf(text, sizeof(text), "eth0: 41 %s in 12 s%s%s%s", names[_i].name,
             names[_i].meaning && *names[_i].meaning ? " (" : "",
             names[_i].meaning ? names[_i].meaning : "",
             names[_i].meaning && *names[_i].meaning ? ")" : "");
    ck_assert_str_eq(told(), names[_i].meaning ? text : "");
}

/* ---- figures ------------------------------------------------------------------------------------- */

TEST_CASE(what_was_counted_before_is_not_told)
{
    counts(0, "rx_crc_errors_phy", 1000);
    counts(1, "rx_discards_phy", 5);
    faultloc_losses_begin(&losses, NOW);
    ck_assert_str_eq(told(), "");
    ck_assert_uint_eq(s.link_errors, UINT64_MAX); /* the driver's own are in no sum */
}

TEST_CASE(the_worst_kind_comes_first)
{
    counts(0, "rx_errors", 0);
    counts(1, "rx_discards_phy", 0);
    counts(2, "rx_crc_errors_phy", 0);
    counts(3, "rx_symbol_err_phy", 0);
    counts(4, "link_down_events_phy", 0);
    faultloc_losses_begin(&losses, NOW);
    for (int i = 0; i < 4; i++)
        driver.value[i] = 1000;
    driver.value[2] = 41;
    ck_assert_str_eq(told(), "eth0: 1000 rx_symbol_err_phy, 41 rx_crc_errors_phy in 12 s"
                             " (frames damaged on the wire)");
}

static void put_kernels(const char *line)
{
    char text[512];

    snprintf(text, sizeof(text), "Inter-|\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n%s",
             line);
    files_write("proc/self/net/dev", text);
}

/* The driver's words say more, and count the same.  What is received and dropped may have been wanted by
 * nobody. */
TEST_CASE(the_kernels_own_where_the_driver_has_none)
{
    put_kernels("  eth0: 1000 20 31 42 0 0 0 0 2000 30 53 64 0 0 0 0\n");
    counts(0, "rx_crc_errors_phy", 0);
    faultloc_losses_begin(&losses, NOW);
    put_kernels("  eth0: 1000 20 33 49 0 0 0 0 2000 30 54 66 0 0 0 0\n");
    faultloc_losses_read(&losses, LATER, &s);
    ck_assert_str_eq(s.losses, "eth0: 2 tx_dropped, 2 rx_errors, 1 tx_errors in 12 s");
    ck_assert_uint_eq(s.link_errors, 3);
    ck_assert_uint_eq(s.link_drops, 2);
    driver.value[0] = 2;
    losses.looked = 0;
    ck_assert_str_eq(told(), "eth0: 2 rx_crc_errors_phy in 12 s (frames damaged on the wire)");
}

static const char *const bad_lines[] = {
    "",
    "  eth0: 1000 20 33 49 0 0 0 0 2000 30 54 66 0 0 0\n",
    "  eth0: 1000 20 33 49 0 0 0 0 2000 30 54 66 0 0 0 0",
    " eth01: 1000 20 33 49 0 0 0 0 2000 30 54 66 0 0 0 0\n",
    " xeth0: 1000 20 33 49 0 0 0 0 2000 30 54 66 0 0 0 0\n",
};

TEST_CASES(a_line_that_makes_no_sense_is_not_known, COUNT(bad_lines))
{
    put_kernels("  eth0: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n");
    faultloc_losses_begin(&losses, NOW);
    put_kernels(bad_lines[_i]);
    ck_assert_str_eq(told(), "");
    ck_assert_uint_eq(s.link_errors, UINT64_MAX);
    ck_assert_uint_eq(s.link_drops, UINT64_MAX);
}

TEST_CASE(an_adapters_port)
{
    losses.iface = "";
    losses.port = "mlx5_0:1";
    files_write(PORT "counters/symbol_error", "1000\n");
    files_write(PORT "counters/port_xmit_discards", "0\n");
    files_write(PORT "counters/link_downed", "1\n");
    faultloc_losses_begin(&losses, NOW);
    files_write(PORT "counters/symbol_error", "1041\n");
    files_write(PORT "counters/port_xmit_discards", "7\n");
    ck_assert_str_eq(told(), "mlx5_0:1: 41 symbol_error, 7 port_xmit_discards in 12 s"
                             " (frames damaged on the wire)");
    ck_assert_uint_eq(s.link_errors, 41);
    ck_assert_uint_eq(s.link_drops, 7);
}

/* The data pass a port that no interface is on, and the data path is another's. */
TEST_CASE(an_interface_beside_the_port)
{
    losses.port = "mlx5_0:1";
    files_write(PORT "counters/symbol_error", "1000\n");
    files_write(PORT "counters/link_downed", "0\n");
    counts(0, "rx_crc_errors", 0);
    faultloc_losses_begin(&losses, NOW);
    files_write(PORT "counters/symbol_error", "1007\n");
    driver.value[0] = 41;
    faultloc_losses_read(&losses, LATER, &s);
    ck_assert_str_eq(s.losses, "eth0: 41 rx_crc_errors in 12 s (frames damaged on the wire)");
    files_write(PORT "counters/link_downed", "1\n");
    losses.looked = 0;
    ck_assert_str_eq(told(), "mlx5_0:1: 1 link_downed, 7 symbol_error in 12 s (the link was lost)");
}

/* ---- what a driver may do ------------------------------------------------------------------------ */

static void refuses(void) { driver.error = EOPNOTSUPP; }
static void has_no_such_set(void) { driver.mask = 0; }
static void has_none(void) { driver.says = 0; }
static void has_far_too_many(void) { driver.says = driver.strings = driver.values = UINT32_MAX; }
static void has_more_names(void) { driver.strings = UINT32_MAX; }
static void has_more_values(void) { driver.values = UINT32_MAX; }
static void has_more_than_before(void) { driver.says = driver.strings = MOST; }
static void begins_anew(void) { driver.value[0] = 3; }
static void has_another_name(void) { counts(0, "rx_crc_errors_of_old", 2000); }
static void has_no_end_of_a_name(void) { memset(driver.name[0], 'e', ETH_GSTRING_LEN); }

static void (*const odd[])(void) = {
    refuses, has_no_such_set, has_none, has_far_too_many, has_more_names,
    has_more_values, has_more_than_before, begins_anew, has_another_name, has_no_end_of_a_name};

/* Now, and when the job began. */
TEST_CASES(a_driver_that_is_odd_is_not_believed, 2 * COUNT(odd))
{
    counts(0, "rx_crc_errors_phy", 1000);
    if (_i % 2) {
        odd[_i / 2]();
        faultloc_losses_begin(&losses, NOW);
        memset(&driver, 0, sizeof(driver));
        counts(0, "rx_crc_errors_phy", 1000);
    } else {
        faultloc_losses_begin(&losses, NOW);
        driver.value[0] += 41;
        odd[_i / 2]();
    }
    ck_assert_str_eq(told(), "");
}

TEST_CASE(names_move)
{
    counts(0, "rx_crc_errors_phy", 10);
    counts(1, "rx_discards_phy", 20);
    faultloc_losses_begin(&losses, NOW);
    memset(driver.name, 0, sizeof(driver.name));
    counts(0, "rx_discards_phy", 20);
    counts(1, "tx_discards_phy", 5000); /* a new one: since when is not known */
    counts(2, "rx_crc_errors_phy", 12);
    ck_assert_str_eq(told(), "eth0: 2 rx_crc_errors_phy in 12 s (frames damaged on the wire)");
}

/* After ethtool -L a driver has no such counter any more, and the kernel has one of its name. */
TEST_CASE(one_that_is_called_the_same)
{
    put_kernels("  eth0: 1 2 500 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    counts(0, "rx_queue_0_drops", 0);
    counts(1, "rx_errors", 3);
    faultloc_losses_begin(&losses, NOW);
    memset(&driver.name, 0, sizeof(driver.name));
    counts(0, "tx_errors", 500000);
    driver.says = driver.strings = driver.values = 1;
    ck_assert_str_eq(told(), "");
}

TEST_CASE(a_port_finds_room_whatever_a_driver_counts)
{
    char name[ETH_GSTRING_LEN];

    losses.port = "mlx5_0:1";
    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof(name), "rx%d_err", i);
        counts(i, name, 0);
    }
    files_write(PORT "counters/symbol_error", "1000\n");
    faultloc_losses_begin(&losses, NOW);
    files_write(PORT "counters/symbol_error", "1041\n");
    ck_assert_str_eq(told(), "mlx5_0:1: 41 symbol_error in 12 s (frames damaged on the wire)");
}

TEST_CASE(a_link_that_is_not_up_is_left_alone)
{
    counts(0, "rx_crc_errors_phy", 1000);
    faultloc_losses_begin(&losses, NOW);
    driver.asked = 0;
    driver.value[0] += 41;
    link = FTREE_LINK_NO_CARRIER;
    faultloc_losses_read(&losses, LATER, &s);
    ck_assert_str_eq(s.losses, "");
    ck_assert_int_eq(driver.asked, 0);
    link = FTREE_LINK_UP;
    losses.looked = 0;
    ck_assert_str_eq(told(), "eth0: 41 rx_crc_errors_phy in 12 s (frames damaged on the wire)");
}

TEST_CASE(a_driver_that_takes_long_is_asked_once)
{
    losses.patience = 1;
    counts(0, "rx_crc_errors_phy", 1000);
    faultloc_losses_begin(&losses, NOW);
    driver.asked = 0;
    driver.value[0] += 41;
    ck_assert_str_eq(told(), "");
    ck_assert_int_eq(driver.asked, 0);
}

TEST_CASE(who_asks_again_soon_has_the_same)
{
    counts(0, "rx_crc_errors_phy", 1000);
    faultloc_losses_begin(&losses, NOW);
    driver.value[0] += 41;
    faultloc_losses_read(&losses, LATER, &s);
    driver.asked = 0;
    driver.value[0] += 1;
    faultloc_losses_read(&losses, LATER + 999 * FTREE_MS, &s);
    ck_assert_str_eq(s.losses, "eth0: 41 rx_crc_errors_phy in 12 s (frames damaged on the wire)");
    ck_assert_int_eq(driver.asked, 0);
    faultloc_losses_read(&losses, LATER + 1000 * FTREE_MS, &s);
    ck_assert_str_eq(s.losses, "eth0: 42 rx_crc_errors_phy in 13 s (frames damaged on the wire)");
    free(losses.first);
}

TEST_CASE(what_is_not_printable_is_not_shown)
{
    counts(0, "rx_err\033[2J", 0);
    faultloc_losses_begin(&losses, NOW);
    driver.value[0] = 1;
    ck_assert_str_eq(told(), "eth0: 1 rx_err?[2J in 12 s");
}

static const char *const no_names[] = {"", NULL};

TEST_CASES(without_an_interface_nothing_is_asked, COUNT(no_names))
{
    losses.iface = no_names[_i];
    losses.port = NULL;
    counts(0, "rx_err", 0);
    faultloc_losses_begin(&losses, NOW);
    driver.value[0] = 1;
    ck_assert_str_eq(told(), "");
}

TEST_CASE(before_it_begins_nothing_is_known)
{
    ck_assert_str_eq(told(), "");
    ck_assert_uint_eq(s.link_errors, UINT64_MAX);
}

/* ---- this machine -------------------------------------------------------------------------------- */

/* What its own drivers say is read, whatever it is. */
TEST_CASE(this_machine)
{
    struct if_nameindex *all = if_nameindex();

    for (int i = 0; all && all[i].if_index; i++) {
        losses = (struct faultloc_losses){.iface = all[i].if_name};
        faultloc_losses_begin(&losses, NOW);
        ck_assert_int_gt(losses.n, 0);
        told();
        ck_assert_uint_ne(s.link_errors, UINT64_MAX);
    }
    if_freenameindex(all);
}
