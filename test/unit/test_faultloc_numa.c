/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * hwloc's view of a node, on machines that hwloc is told of: two NUMA nodes of two CPUs, with one
 * network interface by each and one that the firmware says nothing about.  Built without hwloc,
 * nothing is known, which is a test, too.
 */

#include "faultloc/node/numa.h"
#include "process.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An object of number `id` that covers `cpus` and `nodes`, two masks; not closed. */
#define OBJECT(type, os, id, cpus, nodes) \
    "<object type='" type "' os_index='" os "' gp_index='" id "' cpuset='" cpus \
    "' complete_cpuset='" cpus "' allowed_cpuset='" cpus "' nodeset='" nodes \
    "' complete_nodeset='" nodes "' allowed_nodeset='" nodes "'"

#define NIC(id, bus, name) \
    "<object type='Bridge' gp_index='" id "0' bridge_type='0-1' depth='0' bridge_pci='0000:[" bus \
    "-" bus "]'><object type='PCIDev' gp_index='" id "1' pci_busid='0000:" bus ":00.0'" \
    " pci_type='0200 [8086:1572] [0000:0000] 01' pci_link_speed='0.000000'>" \
    "<object type='OSDev' gp_index='" id "2' name='" name "' osdev_type='2'/></object></object>"

static const char machine[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n"
    "<topology version='2.0'>"
    OBJECT("Machine", "0", "1", "0xf", "0x3") ">"
    OBJECT("Package", "0", "2", "0x3", "0x1") ">"
    OBJECT("NUMANode", "0", "3", "0x3", "0x1") " local_memory='1048576'/>"
    OBJECT("PU", "0", "4", "0x1", "0x1") "/>"
    OBJECT("PU", "1", "5", "0x2", "0x1") "/>"
    NIC("10", "01", "eth0") "</object>"
    OBJECT("Package", "1", "6", "0xc", "0x2") ">"
    OBJECT("NUMANode", "1", "7", "0xc", "0x2") " local_memory='1048576'/>"
    OBJECT("PU", "2", "8", "0x4", "0x2") "/>"
    OBJECT("PU", "3", "9", "0x8", "0x2") "/>"
    NIC("20", "81", "eth1") "</object>"
    NIC("30", "41", "eth2") "</object>"
    "</topology>\n";

static struct faultloc_numa *load(const char *xml)
{
    char path[] = "/tmp/test_faultloc_numa.XXXXXX";
    struct faultloc_numa *numa;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    for (const char *c = xml; *c; c++) /* hwloc wants the quotes that C makes unreadable */
        ck_assert_int_eq(write(fd, *c == '\'' ? "\"" : c, 1), 1);
    close(fd);
    setenv("HWLOC_XMLFILE", path, 1);
    numa = faultloc_numa_load();
    ck_assert_int_eq(faultloc_numa_wait(numa, -1), numa != NULL);
    unlink(path);
    return numa;
}

START_TEST(without_a_topology_nothing_is_known)
{
    ck_assert_int_eq(faultloc_numa_of_cpu(NULL, 0), -1);
    ck_assert_int_eq(faultloc_numa_has_nic(NULL, 0, "eth0"), -1);
    faultloc_numa_free(NULL);
}
END_TEST

#ifdef HAVE_HWLOC

START_TEST(cpus_have_their_nodes)
{
    static const int node_of[] = {0, 0, 1, 1, -1};
    struct faultloc_numa *numa = load(machine);

    ck_assert_ptr_nonnull(numa);
    for (int cpu = 0; cpu < COUNT(node_of); cpu++)
        ck_assert_int_eq(faultloc_numa_of_cpu(numa, cpu), node_of[cpu]);
    ck_assert_int_eq(faultloc_numa_of_cpu(numa, -1), -1);
    ck_assert_int_eq(faultloc_numa_of_cpu(numa, 100000), -1);
    faultloc_numa_free(numa);
}
END_TEST

START_TEST(interfaces_have_their_places)
{
    static const struct {
        const char *name;
        int node, local;
    } rows[] = {{"eth0", 0, 1}, {"eth0", 1, 0},  {"eth1", 0, 0},  {"eth1", 1, 1}, {"eth0", -1, -1},
                {"eth2", 0, -1}, {"eth2", 1, -1}, {"br0", 0, -1}, {"", 0, -1}};
    struct faultloc_numa *numa = load(machine);

    ck_assert_ptr_nonnull(numa);
    for (int i = 0; i < COUNT(rows); i++)
        ck_assert_msg(faultloc_numa_has_nic(numa, rows[i].node, rows[i].name) == rows[i].local,
                      "%s by node %d: %d", rows[i].name, rows[i].node,
                      faultloc_numa_has_nic(numa, rows[i].node, rows[i].name));
    faultloc_numa_free(numa);
}
END_TEST

START_TEST(this_machine)
{
    struct faultloc_numa *numa;

    unsetenv("HWLOC_XMLFILE");
    numa = faultloc_numa_load();
    ck_assert_ptr_nonnull(numa);
    ck_assert(faultloc_numa_wait(numa, -1));
    ck_assert_int_eq(faultloc_numa_of_cpu(numa, 0), 0);
    ck_assert_int_eq(faultloc_numa_has_nic(numa, 0, "lo"), -1);
    faultloc_numa_free(numa);
}
END_TEST

/* Whoever waits for a writer of the pipe has one for a moment. */
static bool is_loaded(struct faultloc_numa *numa, const char *fifo)
{
    int fd = open(fifo, O_WRONLY | O_NONBLOCK);

    if (fd >= 0)
        close(fd);
    return faultloc_numa_wait(numa, 0);
}

/* hwloc's file does not come: whoever opens a pipe without a writer is held in the kernel. */
START_TEST(a_file_that_hangs_holds_up_nobody)
{
    char path[] = "/tmp/test_faultloc_numa.XXXXXX";
    struct faultloc_numa *numa;

    close(mkstemp(path));
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    setenv("HWLOC_XMLFILE", path, 1);
    numa = faultloc_numa_load();
    ck_assert_ptr_nonnull(numa);
    ck_assert(!faultloc_numa_wait(numa, 0));
    ck_assert_int_eq(faultloc_numa_of_cpu(numa, 0), -1);
    if (_i)
        faultloc_numa_free(numa); /* returns */
    if (!_i) {
        UNTIL(is_loaded(numa, path));
        ck_assert_int_eq(faultloc_numa_of_cpu(numa, 0), -1);
        faultloc_numa_free(numa);
    }
    UNTIL(is_loaded(NULL, path) || process_threads(getpid(), "faultloc-hwloc") == 0);
    unlink(path);
}
END_TEST

SUITE("faultloc_numa")
{
    TEST_ROWS(a_file_that_hangs_holds_up_nobody, 2);
    TEST(without_a_topology_nothing_is_known);
    TEST(cpus_have_their_nodes);
    TEST(interfaces_have_their_places);
    TEST(this_machine);
}

#else /* HAVE_HWLOC */

START_TEST(built_without_hwloc_there_is_no_topology)
{
    ck_assert_ptr_null(load(machine));
}
END_TEST

SUITE("faultloc_numa")
{
    TEST(without_a_topology_nothing_is_known);
    TEST(built_without_hwloc_there_is_no_topology);
}

#endif /* HAVE_HWLOC */
