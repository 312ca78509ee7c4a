/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The handler of the node that it runs on: trees like those of /proc and /sys, and what it says of them. */

#include "faultloc/site/site.h"
#include "files.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define NOTHING "{\"text\":\"nothing is wrong\"}\n"

static const char *ranks;

static const char *ask(long long since_ms)
{
    static char text[8192];
    struct json_object *request = json_object_new_object();
    char *out = NULL, path[128];
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);

    json_object_object_add(request, "since_unix_ms", json_object_new_int64(since_ms));
    json_object_object_add(request, "proc_root", json_object_new_string(files_root));
    json_object_object_add(request, "sys_root", json_object_new_string(files_root));
    snprintf(path, sizeof(path), "%s/kmsg", files_root);
    json_object_object_add(request, "kernel_log", json_object_new_string(path));
    if (ranks)
        json_object_object_add(request, "ranks", json_object_new_string(ranks));
    site_os(request, f);
    fclose(f);
    json_object_put(request);
    snprintf(text, sizeof(text), "%s", out);
    free(out);
    return text;
}

BEFORE_EACH
{
    files_begin();
    ranks = NULL;
    files_write("stat", "cpu 1 2 3\nbtime 1000000\n");
    files_write("kmsg", "");
    files_write("pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=1\n");
    files_write("devices/system/edac/mc/mc0/ue_count", "0\n");
    files_write("devices/system/edac/mc/mc0/ce_count", "0\n");
}

TEST_CASE(of_a_node_that_is_well)
{
    ck_assert_str_eq(ask(0), NOTHING);
}

#define ZONE "class/thermal/thermal_zone0/"
#define CHIP "class/hwmon/hwmon2/"
#define MC "devices/system/edac/mc/mc0/"

/* Up to five files, and the one line that they make. */
static const struct {
    const char *file[10], *said;
} trees[] = {
    {{MC "ue_count", "3\n", MC "seconds_since_reset", "7200\n", MC "dimm1/dimm_ue_count", "3\n",
      MC "dimm1/dimm_label", "CPU0_DIMM_B1\n", MC "dimm0/dimm_ue_count", "0\n"},
     "{\"symptom\":\"memory-uncorrected\",\"text\":\"memory CPU0_DIMM_B1: 3 uncorrected errors in 7200 s\"}\n"},
    {{MC "ce_count", "12\n"},
     "{\"symptom\":\"memory-corrected\",\"text\":\"memory mc0: 12 corrected errors\"}\n"},
    {{MC "ue_count", "-1\n"}, NOTHING},
    {{MC "ue_count", "99999999999999999999\n"}, NOTHING},
    {{MC "ue_count", "three\n"}, NOTHING},
    {{ZONE "type", "x86_pkg_temp\n", ZONE "temp", "99000\n", ZONE "trip_point_0_type", "critical\n",
      ZONE "trip_point_0_temp", "98000\n"},
     "{\"symptom\":\"temperature-high\",\"text\":\"zone x86_pkg_temp is at 99 degrees C, critical are 98\"}\n"},
    {{ZONE "type", "x86_pkg_temp\n", ZONE "temp", "99000\n", ZONE "trip_point_0_type", "passive\n",
      ZONE "trip_point_0_temp", "98000\n"},
     NOTHING},
    {{CHIP "name", "coretemp\n", CHIP "temp1_input", "101000\n", CHIP "temp1_crit", "100000\n"},
     "{\"symptom\":\"temperature-high\",\"text\":\"sensor 1 of coretemp is at 101 degrees C: critical\"}\n"},
    {{CHIP "name", "coretemp\n", CHIP "temp1_input", "60000\n", CHIP "temp1_crit", "100000\n",
      CHIP "temp1_crit_alarm", "1\n"},
     NOTHING}, /* it was */
    {{CHIP "name", "lm75\n", CHIP "temp1_input", "60000\n", CHIP "temp1_crit_alarm", "1\n"},
     "{\"symptom\":\"temperature-high\",\"text\":\"sensor 1 of lm75 is at 60 degrees C: critical\"}\n"},
    {{CHIP "name", "nct6775\n", CHIP "fan2_input", "0\n", CHIP "fan2_alarm", "1\n"},
     "{\"symptom\":\"fan-failed\",\"text\":\"fan 2 of nct6775 has an alarm, at 0 revolutions a minute\"}\n"},
    {{CHIP "name", "nct6775\n", CHIP "fan2_input", "0\n", CHIP "fan2_alarm", "0\n"}, NOTHING},
    {{"devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n"}, NOTHING}, /* since its start */
    {{"pressure/memory", "some avg10=41.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=1.00\n"},
     "{\"symptom\":\"memory-pressure\",\"text\":\"tasks have waited for memory 41 % of the last 10 s\"}\n"},
    {{"pressure/io", "some avg10=nonsense\n"}, NOTHING},
    {{"self/cgroup", "0::/slurm/job_7/step_0/task_1\n", "fs/cgroup/slurm/job_7/memory.events",
      "low 0\nmax 9\noom 2\noom_kill 2\n"},
     "{\"text\":\"the kernel has killed 2 processes of the job's control group\"}\n"},
    {{"self/cgroup", "4:memory:/user/7\n1:cpu:/\n0::/\n", "fs/cgroup/memory/user/7/memory.oom_control",
      "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"},
     "{\"text\":\"the kernel has killed 1 processes of the job's control group\"}\n"},
    {{"fs/ext4/sda1/errors_count", "4\n", "fs/ext4/sda1/last_error_time", "1000500\n"},
     "{\"symptom\":\"io-error\",\"text\":\"the file system on sda1 has had 4 errors\"}\n"},
    {{"block/md0/md/degraded", "1\n"}, "{\"text\":\"array md0 lacks 1 disks\"}\n"},
    {{"devices/system/clocksource/clocksource0/current_clocksource", "hpet\n",
      "devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm \n"},
     "{\"symptom\":\"clock-changed\",\"text\":\"the clock source is hpet: that of the processor was given up\"}\n"},
    {{"devices/system/clocksource/clocksource0/current_clocksource", "hpet\n",
      "devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n"},
     NOTHING}, /* somebody has chosen it */
    {{"kmsg", "6,1,5000000,-;usb 1-1: new device\n"}, NOTHING},
    {{"kmsg", "3,1,5000000,-;INFO: task cp:42 blocked for more than 120 seconds.\n"},
     "{\"symptom\":\"kernel-error\",\"text\":\"kernel: INFO: task cp:42 blocked for more than 120 seconds.\"}\n"},
    {{"kmsg", "3,1,5,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n SUBSYSTEM=pci\n"},
     "{\"symptom\":\"gpu-failed\",\"text\":\"kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the "
     "bus.\"}\n"},
    {{"kmsg", "11,1,5,-;BUG: a user has written this\n"}, NOTHING}, /* its facility is not the kernel's */
    {{"kmsg", "4,1,5,-;nfs: server fs1 not responding, still trying\n"},
     "{\"symptom\":\"mount-silent\",\"text\":\"kernel: nfs: server fs1 not responding, still trying\"}\n"},
    {{"kmsg", "4,1,5,-;nfs: server fs1 not responding, still trying\n4,2,9,-;nfs: server fs1 OK\n"}, NOTHING},
    {{"kmsg", "3,1,5,-;blk_update_request: I/O error, dev sda, sector 0\n3,2,9,-;EXT4-fs error (device sda1)\n"},
     "{\"symptom\":\"io-error\",\"text\":\"kernel: EXT4-fs error (device sda1)\"}\n"},
    {{"kmsg", "4,1,5,-;nfs: server fs1 not responding, still trying\n4,2,9,-;nfs: server fs12 OK\n"},
     "{\"symptom\":\"mount-silent\",\"text\":\"kernel: nfs: server fs1 not responding, still trying\"}\n"},
    {{"kmsg", "4,1,5,-;usb 1-1: Device not responding to setup address.\n"}, NOTHING},
    {{"kmsg", "3,1,5,-;I/O error, dev sr0, sector 0\n3,2,9,-;I/O error, dev loop1, sector 0\n"}, NOTHING},
    {{"kmsg", "3,1,5,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
              "3,2,9,-;NVRM: Xid (PCI:0000:3b:00): 13, pid=42, Graphics Exception\n"},
     "{\"symptom\":\"gpu-failed\",\"text\":\"kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the "
     "bus.\"}\n{\"text\":\"kernel: NVRM: Xid (PCI:0000:3b:00): 13, pid=42, Graphics Exception\"}\n"},
    {{"kmsg", "4,1,5,-;EDAC MC0: 1 CE memory read error on DIMM_A1\n"},
     "{\"symptom\":\"memory-corrected\",\"text\":\"kernel: EDAC MC0: 1 CE memory read error on DIMM_A1\"}\n"},
    {{"kmsg", "2,1,5,-;EDAC MC0: 1 UE memory read error on DIMM_A1\n"},
     "{\"symptom\":\"memory-uncorrected\",\"text\":\"kernel: EDAC MC0: 1 UE memory read error on DIMM_A1\"}\n"},
    {{"kmsg", "6,1,5,-;mce: [Hardware Error]: Machine check events logged\n"
              "4,2,6,-;{1}[Hardware Error]: event severity: corrected\n"
              "2,3,7,-;[Hardware Error]: Corrected error, no action required.\n"},
     NOTHING},
    {{"kmsg", "0,1,5,-;mce: [Hardware Error]: CPU 0: Machine Check Exception: 5 Bank 4: b2\n"},
     "{\"symptom\":\"kernel-error\",\"text\":\"kernel: mce: [Hardware Error]: CPU 0: Machine Check Exception: 5 "
     "Bank 4: b2\"}\n"},
    {{"uptime", "700.00 1.00\n", "kmsg", "3,1,99000000,-;BUG: soft\n3,2,101000000,-;EXT4-fs error (x)\n"},
     "{\"text\":\"kernel: BUG: soft\"}\n{\"symptom\":\"io-error\",\"age_s\":599,\"text\":\"kernel: EXT4-fs error (x)\"}\n"},
    {{"self/mountinfo", "32 1 0:45 / / rw - nfs4 fs1:/home rw\n",
      "kmsg", "4,1,5,-;nfs: server fs1 not responding, still trying\n"},
     "{\"text\":\"kernel: nfs: server fs1 not responding, still trying\"}\n"}, /* but it answers */
    {{"kmsg", "garbage\n,,,;\n3;BUG: x\n;;;\n\n3,1\n"}, NOTHING},
};

TEST_CASES(of_a_tree, COUNT(trees))
{
    for (int i = 0; i < 10 && trees[_i].file[i]; i += 2)
        files_write(trees[_i].file[i], trees[_i].file[i + 1]);
    ck_assert_str_eq(ask(0), trees[_i].said);
}

TEST_CASE(what_was_before_the_job_is_no_symptom_of_it)
{
    long long began = (long long) time(NULL) * 1000 - 3600 * 1000;

    files_write(MC "ue_count", "3\n");
    files_write(MC "seconds_since_reset", "7200\n");
    files_write("kmsg", "3,1,5,-;BUG: soft\n");
    files_write("fs/ext4/sda1/errors_count", "4\n");
    files_write("fs/ext4/sda1/last_error_time", "1000500\n");
    ck_assert_str_eq(ask(began), "{\"text\":\"memory mc0: 3 uncorrected errors in 7200 s\"}\n");
    files_write(MC "seconds_since_reset", "1800\n");
    ck_assert_ptr_nonnull(strstr(ask(began), "\"symptom\":\"memory-uncorrected\""));
}

TEST_CASE(what_cannot_be_read_is_said_with_the_remedy)
{
    ck_assert_int_eq(unlink(files_path("kmsg")), 0);
    ck_assert_int_eq(unlink(files_path("pressure/cpu")), 0);
    ck_assert_int_eq(unlink(files_path(MC "ue_count")), 0);
    ck_assert_int_eq(unlink(files_path(MC "ce_count")), 0);
    ck_assert_str_eq(
        ask(0),
        "{\"text\":\"not known: memory errors (no EDAC driver: load that of the memory controller)\"}\n"
        "{\"text\":\"not known: the kernel's log (there is none here)\"}\n"
        "{\"text\":\"not known: shortage (no PSI: boot with psi=1)\"}\n");
}

/* A file system of a process that never answers. */
TEST_CASE(a_mount_that_is_silent_is_named)
{
    int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[80], line[512], point[300];

    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
    snprintf(point, sizeof(point), "%s", files_path("mnt/"));
    if (fuse < 0 || mount("fs1:/home", point, "fuse", 0, options)) {
        close(fuse);
        return; /* no /dev/fuse, or not root */
    }
    snprintf(line, sizeof(line), "31 1 0:5 / /proc rw - proc proc rw\n"
                                 "32 1 0:45 / %s rw shared:1 - nfs4 fs1:/home rw\n", point);
    files_write("self/mountinfo", line);
    snprintf(line, sizeof(line), "%.40s of fs1 (nfs4) has not answered within 600 ms", point);
    ck_assert_ptr_nonnull(strstr(ask(0), line));
    ck_assert_ptr_null(strstr(ask(0), "mount-silent"));
    ranks = "4710,4711"; /* one of them uses it */
    files_write("4711/stat", "");
    ck_assert_int_eq(symlink(point, files_path("4711/cwd")), 0);
    ck_assert_ptr_nonnull(strstr(ask(0), "{\"symptom\":\"mount-silent\""));
    close(fuse); /* this ends the waiting */
    umount2(point, MNT_DETACH);
}
