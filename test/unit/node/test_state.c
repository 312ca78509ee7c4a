/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * How a node is, from trees of /proc and /sys that the test makes up: whole, empty, and with every
 * kind of garbage in every file.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/node/state.h"
#include "faultloc/base/iface.h"
#include "suite.h"

#include "files.h"
#include "ftree/wire/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW (5000 * FTREE_MS)
#define PATIENT (60000 * FTREE_MS) /* no test hangs on how fast the machine is */
#define SLOTS 20
#define U32 UINT32_MAX
#define U64 UINT64_MAX

static char proc[80], sys[80];
static struct faultloc_board *board;
static struct faultloc_seen seen[SLOTS];
static struct faultloc_watch watch;
static struct faultloc_losses losses;
static struct faultloc_state state;
static struct ftree_node_state s;

/* ---- trees --------------------------------------------------------------------------------- */

/* Where a file is; the folders above it are made. */
static const char *place(const char *path)
{
    static char full[512];

    snprintf(full, sizeof(full), "%s/%s", files_root, path);
    for (char *p = full + strlen(files_root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    return full;
}

static void put_bytes(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(place(path), "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
    fclose(f);
}

static void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static const struct {
    const char *path, *text;
} whole[] = {
    {"proc/loadavg", "12.75 3.10 1.00 3/812 4711\n"},
    {"proc/pressure/cpu", "some avg10=1.50 avg60=2.00 avg300=0.10 total=12345\n"
                          "full avg10=99.00 avg60=0.00 avg300=0.00 total=0\n"},
    {"proc/pressure/memory", "some avg10=0.07 avg60=0.00 avg300=0.00 total=1\n"},
    {"proc/pressure/io", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n"},
    {"proc/meminfo", "MemTotal:       24681012 kB\nMemFree:          111 kB\n"
                     "MemAvailable:   12340000 kB\nSwapCached:            5 kB\n"
                     "SwapTotal:       2097148 kB\nSwapFree:        1048576 kB\n"},
    {"proc/self/net/dev",
     "Inter-|   Receive                            |  Transmit\n"
     " face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo "
     "colls carrier compressed\n"
     "    lo:  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
     "  eth0: 1000 20 31 42 0 0 0 0 2000 30 53 64 0 0 0 0\n"
     " eth01: 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7\n"},
    {"proc/40/stat", "40 (app) S 1 42 42 0 -1 4194560 96 0 0 0 11 22 0 0 20 0 5 0 777 1 2 3 4 5 6 "
                     "7 8 9 10 11 12 13 14 15 16 3 0 0\n"},
    {"proc/41/stat", "41 (app) T 1 42 42 0 -1 4194560 96 0 0 0 11 22 0 0 20 0 5 0 777 1 2 3\n"},
    {"sys/devices/system/cpu/online", "0-1,3\n"},
    {"sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2600000\n"},
    {"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n"},
    {"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400123\n"},
    {"sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "800000\n"},
    {"sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "1\n"}, /* it is off */
    {"sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "3400000\n"},
    {"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5\n"},
    {"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "0\n"},
    {"sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count", "37\n"},
};

static void put_whole(void)
{
    for (int i = 0; i < COUNT(whole); i++)
        put(whole[i].path, whole[i].text);
    faultloc_losses_begin(&losses, NOW);
}

BEFORE_EACH
{
    int fd;

    files_begin();
    snprintf(proc, sizeof(proc), "%s/proc", files_root);
    snprintf(sys, sizeof(sys), "%s/sys", files_root);
    ck_assert_int_eq(faultloc_board_make(1, 64, SLOTS, 0, &board, &fd), 0);
    close(fd);
    board->slots = 2;
    for (int32_t i = 0; i < SLOTS; i++) {
        struct faultloc_slot *slot = faultloc_board_slot(board, i);
        slot->rank = 10 + i;
        slot->pid = 40 + i;
        slot->start = 777;
        slot->state = FAULTLOC_SLOT_RUNNING;
    }
    watch = (struct faultloc_watch){.board = board, .seen = seen, .proc_root = proc};
    state = (struct faultloc_state){
        .watch = &watch, .sys_root = sys, .iface = "eth0", .losses = &losses, .patience = PATIENT};
    losses = (struct faultloc_losses){.proc_root = proc, .sys_root = sys, .iface = "eth0"};
}

AFTER_EACH
{
    free(losses.first);
    faultloc_board_unmap(board);
}

static void read_state(void)
{
    memset(&s, 'x', sizeof(s));
    faultloc_state_read(&state, NOW, &s);
}

/* Whatever was read, a peer takes it. */
static void require_valid(void)
{
    static const struct ftree_job job = {.nodes = 1, .size = 64, .fanout = 2};
    struct wire_message m = {.type = WIRE_STATE, .u.state.state = s}, back;
    uint8_t bytes[FTREE_MESSAGE_MAX];

    REQUIRE(!ftree_wire_decode(&job, NOW, bytes, ftree_wire_encode(&m, NOW, bytes), &back));
}

/* ---- a whole one, and an empty one --------------------------------------------------------- */

TEST_CASE(a_whole_tree_is_read)
{
    put_whole();
    read_state();
    ck_assert_uint_eq(s.cpus, 3);
    ck_assert_uint_eq(s.load_centi, 1275);
    ck_assert_uint_eq(s.cpu_pressure_centi, 150);
    ck_assert_uint_eq(s.memory_pressure_centi, 7);
    ck_assert_uint_eq(s.io_pressure_centi, 10000);
    ck_assert_uint_eq(s.memory_total, 24681012ull * 1024);
    ck_assert_uint_eq(s.memory_available, 12340000ull * 1024);
    ck_assert_uint_eq(s.swap_total, 2097148ull * 1024);
    ck_assert_uint_eq(s.swap_free, 1048576ull * 1024);
    ck_assert_uint_eq(s.frequency_max_mhz, 3400);
    ck_assert_uint_eq(s.frequency_nominal_mhz, 2600);
    ck_assert_uint_eq(s.throttles, 42);
    ck_assert_int_eq(s.link, faultloc_iface_link("eth0"));
    ck_assert_uint_eq(s.link_errors, 0);
    ck_assert_uint_eq(s.link_drops, 0);
    ck_assert_str_eq(s.losses, "");
    ck_assert_int_eq(s.ranks, 2);
    ck_assert_int_eq(s.rank[0].rank, 10);
    ck_assert_int_eq(s.rank[0].pid, 40);
    ck_assert_int_eq(s.rank[0].proc_state, 'S');
    ck_assert_int_eq(s.rank[0].phase, FTREE_PHASE_OUTSIDE);
    ck_assert_int_eq(s.rank[1].rank, 11);
    ck_assert_int_eq(s.rank[1].proc_state, 'T');
    require_valid();
    put("proc/40/wchan", "get_signal");
    read_state();
    ck_assert_int_eq(s.rank[0].proc_state, FTREE_PROC_FROZEN);
    require_valid();
}

static void require_nothing_known(void)
{
    ck_assert_uint_eq(s.cpus, U32);
    ck_assert_uint_eq(s.load_centi, U32);
    ck_assert_uint_eq(s.cpu_pressure_centi, U32);
    ck_assert_uint_eq(s.memory_pressure_centi, U32);
    ck_assert_uint_eq(s.io_pressure_centi, U32);
    ck_assert_uint_eq(s.memory_total, U64);
    ck_assert_uint_eq(s.memory_available, U64);
    ck_assert_uint_eq(s.swap_total, U64);
    ck_assert_uint_eq(s.swap_free, U64);
    ck_assert_uint_eq(s.frequency_max_mhz, U32);
    ck_assert_uint_eq(s.frequency_nominal_mhz, U32);
    ck_assert_uint_eq(s.throttles, U64);
    ck_assert_uint_eq(s.link_errors, U64);
    ck_assert_uint_eq(s.link_drops, U64);
    ck_assert_str_eq(s.losses, "");
}

/* No /proc and no /sys at all: the ranks are then gone, as far as can be seen. */
TEST_CASE(without_any_file_nothing_is_known)
{
    read_state();
    require_nothing_known();
    ck_assert_int_eq(s.ranks, 2);
    ck_assert_int_eq(s.rank[0].rank, 10);
    ck_assert_int_eq(s.rank[0].proc_state, 0);
    ck_assert_int_eq(s.rank[0].phase, FTREE_PHASE_GONE);
    require_valid();
}

/* ---- single values ------------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct ftree_node_state, name), sizeof(s.name)

static const struct {
    const char *path, *text;
    size_t at, size;
    uint64_t value;
} values[] = {
    {"proc/loadavg", "0.00 ", FIELD(load_centi), 0},
    {"proc/loadavg", "7", FIELD(load_centi), 700},
    {"proc/loadavg", "7.", FIELD(load_centi), 700},
    {"proc/loadavg", "7.5 1", FIELD(load_centi), 750},
    {"proc/loadavg", "7.059", FIELD(load_centi), 705},
    {"proc/loadavg", "42949671.99 1", FIELD(load_centi), 4294967199u},
    {"proc/loadavg", "42949673.00 1", FIELD(load_centi), U32},
    {"proc/loadavg", "-1.00", FIELD(load_centi), U32},
    {"proc/loadavg", ".5", FIELD(load_centi), U32},
    {"proc/pressure/cpu", "full avg10=1.00\n", FIELD(cpu_pressure_centi), U32},
    {"proc/pressure/cpu", "full avg10=1.00\nsome avg10=2.0\n", FIELD(cpu_pressure_centi), 200},
    {"proc/pressure/cpu", "some avg60=1.00", FIELD(cpu_pressure_centi), U32},
    {"proc/pressure/cpu", "some avg10=", FIELD(cpu_pressure_centi), U32},
    {"proc/pressure/io", "awesome avg10=1.00\n", FIELD(io_pressure_centi), U32},
    {"proc/meminfo", "MemTotal: 1 kB", FIELD(memory_total), 1024},
    {"proc/meminfo", "MemTotal: 1 MB\n", FIELD(memory_total), U64},
    {"proc/meminfo", "MemTotal: 1\n", FIELD(memory_total), U64},
    {"proc/meminfo", "xMemTotal: 1 kB\n", FIELD(memory_total), U64},
    {"proc/meminfo", "MemTotal: 18014398509481983 kB\n", FIELD(memory_total), U64},
    {"proc/meminfo", "MemTotal: 18014398509481982 kB\n", FIELD(memory_total),
     18014398509481982ull * 1024},
    {"proc/meminfo", "MemTotal: 99999999999999999999 kB\n", FIELD(memory_total), U64},
    {"proc/meminfo", "SwapTotal:\t0 kB\n", FIELD(swap_total), 0},
    {"sys/devices/system/cpu/online", "0", FIELD(cpus), 1},
    {"sys/devices/system/cpu/online", "0-127\n", FIELD(cpus), 128},
    {"sys/devices/system/cpu/online", "0-1,1-3,2\n", FIELD(cpus), 4},
    {"sys/devices/system/cpu/online", "0-99999999999\n", FIELD(cpus), 8192},
    {"sys/devices/system/cpu/online", "3-1\n", FIELD(cpus), U32},
    {"sys/devices/system/cpu/online", "0-1,\n", FIELD(cpus), U32},
    {"sys/devices/system/cpu/online", "0-1 \n", FIELD(cpus), U32},
    {"sys/devices/system/cpu/online", "0--1\n", FIELD(cpus), U32},
    {"sys/devices/system/cpu/online", "\n", FIELD(cpus), U32},
    {"sys/devices/system/cpu/online", "9000\n", FIELD(cpus), U32},
    {"sys/devices/system/cpu/online", "x\n", FIELD(throttles), U64},
    {"sys/devices/system/cpu/online", "x\n", FIELD(frequency_max_mhz), U32},
    {"sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "x\n", FIELD(frequency_nominal_mhz),
     3500},
    {"sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "<unknown>\n",
     FIELD(frequency_max_mhz), 2400},
    {"sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "9999999999999\n",
     FIELD(frequency_max_mhz), 3400},
    {"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "x\n", FIELD(throttles),
     42},
    {"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "18446744073709551614\n",
     FIELD(throttles), 42},
};

static uint64_t field_of(size_t at, size_t size)
{
    uint32_t narrow;
    uint64_t wide;

    memcpy(&narrow, (const char *) &s + at, sizeof(narrow));
    memcpy(&wide, (const char *) &s + at, sizeof(wide));
    return size == sizeof(narrow) ? narrow : wide;
}

TEST_CASES(a_value_is_what_the_file_says_or_not_known, COUNT(values))
{
    put_whole();
    put(values[_i].path, values[_i].text);
    read_state();
    ck_assert_msg(field_of(values[_i].at, values[_i].size) == values[_i].value, "%s: %s gave %llu",
                  values[_i].path, values[_i].text,
                  (unsigned long long) field_of(values[_i].at, values[_i].size));
    require_valid();
}

/* ---- garbage ------------------------------------------------------------------------------- */

static uint8_t noise[100000];

/* Puts the i-th kind of garbage where a file is to be; false: there are no more. */
static bool put_garbage(const char *path, int i)
{
    static const char *const texts[] = {"", "\n", "x", "-1\n", "999999999999999999999999999999\n",
                                        "1e9\n", "0x\n", "%s%n%s\n", " \t ", "some avg10=-", ":::"};
    uint64_t random = 88172645463325252u;
    char full[512];

    snprintf(full, sizeof(full), "%s", place(path));
    unlink(full);
    rmdir(full);
    if (i < COUNT(texts)) {
        put(path, texts[i]);
        return true;
    }
    for (size_t n = 0; n < sizeof(noise); n++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        noise[n] = i == COUNT(texts) ? (uint8_t) random : i == COUNT(texts) + 1 ? '1' : ' ';
    }
    switch (i - COUNT(texts)) {
        case 0: /* noise */
        case 1: /* one number that does not end */
        case 2: /* blanks */
            put_bytes(path, noise, sizeof(noise));
            return true;
        case 3:
            put_bytes(path, "\0\0\0\0", 4);
            return true;
        case 4:
            return mkdir(full, 0700) == 0;
        case 5:
            return symlink(full, full) == 0; /* to itself */
        case 6:
            return mkfifo(full, 0600) == 0; /* nobody will ever write */
        case 7:
            return symlink("/dev/zero", full) == 0; /* it has no end */
        default:
            return false;
    }
}

/* Whatever is in one file, it is survived, and the others say what they said. */
TEST_CASES(garbage_in_a_file_is_survived, COUNT(whole))
{
    struct ftree_node_state good;

    put_whole();
    read_state();
    good = s;
    for (int i = 0; put_garbage(whole[_i].path, i); i++) {
        memset(seen, 0, sizeof(seen)); /* who was gone is there again */
        read_state();
        require_valid();
        if (strcmp(whole[_i].path, "proc/loadavg"))
            REQUIRE(s.load_centi == good.load_centi);
        if (strcmp(whole[_i].path, "proc/meminfo"))
            REQUIRE(s.memory_available == good.memory_available);
        if (strncmp(whole[_i].path, "sys/devices", 11))
            REQUIRE(s.throttles == good.throttles && s.cpus == good.cpus);
    }
}

TEST_CASE(garbage_in_all_files_at_once_is_survived)
{
    bool more = true;

    for (int i = 0; more; i++) {
        for (int f = 0; f < COUNT(whole); f++)
            more = put_garbage(whole[f].path, i);
        read_state();
        require_valid();
    }
}

/* ---- the interface ------------------------------------------------------------------------- */

TEST_CASE(an_interface_that_is_not_there_is_gone)
{
    put_whole();
    state.iface = "no-such-iface";
    read_state();
    ck_assert_int_eq(s.link, FTREE_LINK_GONE);
}

TEST_CASE(a_name_that_is_none_is_not_looked_for)
{
    static const char *const names[] = {NULL, "", ".", "..", "../../devices", "/etc"};

    put_whole();
    for (int i = 0; i < COUNT(names); i++) {
        state.iface = names[i];
        read_state();
        ck_assert_int_eq(s.link, FTREE_LINK_UNKNOWN);
    }
}

/* ---- ranks --------------------------------------------------------------------------------- */

TEST_CASE(the_first_ranks_of_many)
{
    char path[64], text[256];

    put_whole();
    board->slots = SLOTS;
    for (int pid = 40; pid < 40 + SLOTS; pid++) {
        snprintf(path, sizeof(path), "proc/%d/stat", pid);
        snprintf(text, sizeof(text),
                 "%d (app) R 1 42 42 0 -1 4194560 96 0 0 0 11 22 0 0 20 0 5 0 777 1 2 3\n", pid);
        put(path, text);
    }
    read_state();
    ck_assert_int_eq(s.ranks, FTREE_STATE_RANKS_MAX);
    for (int i = 0; i < s.ranks; i++) {
        ck_assert_int_eq(s.rank[i].rank, 10 + i);
        ck_assert_int_eq(s.rank[i].proc_state, 'R');
    }
    require_valid();
}

TEST_CASE(phases_and_ends)
{
    put_whole();
    board->slots = 4; /* of the last two there is no process */
    faultloc_board_slot(board, 0)->call = 5; /* in a call */
    faultloc_board_slot(board, 2)->state = FAULTLOC_SLOT_LEFT;
    read_state();
    ck_assert_int_eq(s.ranks, 4);
    ck_assert_int_eq(s.rank[0].phase, FTREE_PHASE_INSIDE);
    ck_assert_int_eq(s.rank[1].phase, FTREE_PHASE_OUTSIDE);
    ck_assert_int_eq(s.rank[2].phase, FTREE_PHASE_LEFT);
    ck_assert_int_eq(s.rank[3].phase, FTREE_PHASE_GONE);
    ck_assert_int_eq(s.rank[3].proc_state, 0);
}

TEST_CASE(a_slot_with_nonsense_is_left_out)
{
    put_whole();
    board->slots = 4;
    faultloc_board_slot(board, 0)->rank = 64;
    faultloc_board_slot(board, 2)->rank = -1;
    faultloc_board_slot(board, 3)->pid = -4;
    read_state();
    ck_assert_int_eq(s.ranks, 1);
    ck_assert_int_eq(s.rank[0].rank, 11);
    require_valid();
}

/* ---- bounded ------------------------------------------------------------------------------- */

/* Without time, the core that the first rank is on is all that is looked at, and what would be a
 * sum over some of the cores is not known. */
TEST_CASE(cores_take_no_longer_than_allowed)
{
    put_whole();
    put("sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "1000000\n");
    state.patience = 1;
    read_state();
    ck_assert_uint_eq(s.cpus, 3);
    ck_assert_uint_eq(s.frequency_max_mhz, 1000);
    ck_assert_uint_eq(s.throttles, U64);
    ck_assert_uint_eq(s.memory_available, 12340000ull * 1024); /* not of the cores */
}

/* ---- the adapter's port ---------------------------------------------------------------------- */

#define PORT "sys/class/infiniband/mlx5_0/ports/1/"

static const struct {
    const char *iface, *state;
    enum ftree_link link;
} ports[] = {{"lo", "4: ACTIVE\n", FTREE_LINK_UP},
             {"lo", "1: DOWN\n", FTREE_LINK_NO_CARRIER},
             {"lo", "", FTREE_LINK_UP},
             {"", "1: DOWN\n", FTREE_LINK_NO_CARRIER},
             {"no-such-iface", "4: ACTIVE\n", FTREE_LINK_GONE}};

TEST_CASES(link_of_interface_and_port, COUNT(ports))
{
    if (faultloc_iface_link("lo") != FTREE_LINK_UP)
        return;
    put_whole();
    files_write(PORT "state", ports[_i].state);
    state.iface = ports[_i].iface;
    state.port = "mlx5_0:1";
    read_state();
    ck_assert_int_eq(s.link, ports[_i].link);
}

/* ---- the real thing ------------------------------------------------------------------------ */

TEST_CASE(this_machine)
{
    watch.proc_root = state.sys_root = NULL;
    state.iface = "lo";
    faultloc_board_slot(board, 0)->pid = (int32_t) getpid();
    faultloc_board_slot(board, 0)->start = 0;
    read_state();
    ck_assert_uint_ne(s.memory_total, U64);
    ck_assert_uint_le(s.memory_available, s.memory_total);
    ck_assert_uint_ne(s.load_centi, U32);
    ck_assert(s.link == FTREE_LINK_UP || faultloc_iface_link("lo") != FTREE_LINK_UP);
    ck_assert_int_eq(s.rank[0].proc_state, 'R');
    require_valid();
    state.iface = "no-such-iface";
    read_state();
    ck_assert_int_eq(s.link, FTREE_LINK_GONE);
}
